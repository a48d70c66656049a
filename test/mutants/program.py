# SPDX-License-Identifier: MIT
"""Text of the schedule level as a tree of statements, so that operations can be taken out, doubled and exchanged.

A statement is a line, or a line that opens a block with everything up to its closing brace. What is no role, and does not frame them, is left
as it is."""
import re
import subprocess

SYNC = ("wait_full", "wait_empty", "expect", "arrive", "advance", "mma_fence", "mma_commit", "mma_wait", "fence_async", "sync_role",
        "commit_stores", "wait_stores", "named_sync", "named_arrive", "cluster_sync", "split_send", "split_wait", "store_cluster", "cluster_wait", "wait_previous",
        "init_barrier", "fence_barrier_init", "cluster_arrive",
        "copy_async", "commit_copies", "wait_copies", "sync_block", "move_pieces", "draw_tile", "put_tile", "put_tile_cluster",
        "take_tile")
MUTATIONS = ("delete", "duplicate", "swap")
COUNTED = ("more", "fewer")  # of copies that a wait leaves unfinished
SLOTS = ("nearer", "further")  # than the slot that is filled ahead


class Statement:
    """`line` without indentation; of a block the head, and `regions` [[statements], ..] parted by `} else {`."""

    def __init__(self, line):
        self.line, self.regions = line, []

    def word(self):
        """The operation: `wait_full`, or behind `%x = `."""
        return re.sub(r"^%.*? = ", "", self.line).split()[0]

    def copy(self):
        twin = Statement(self.line)
        twin.regions = [[s.copy() for s in region] for region in self.regions]
        return twin


def parse_region(lines, at):
    """Statements from line `at` to the brace that closes their block; the index of that brace's line."""
    region = []
    while lines[at].strip() not in ("}", "} else {"):
        statement = Statement(lines[at].strip())
        at += 1
        if statement.line.endswith("{"):
            while True:
                inner, at = parse_region(lines, at)
                statement.regions.append(inner)
                at += 1
                if lines[at - 1].strip() == "}":
                    break
        region.append(statement)
    return region, at


def print_region(region, indent, out):
    for statement in region:
        out.append("  " * indent + statement.line)
        for number, inner in enumerate(statement.regions):
            if number:
                out.append("  " * indent + "} else {")
            print_region(inner, indent + 1, out)
        if statement.regions:
            out.append("  " * indent + "}")


def called(role):
    """What a role is called: `load` of `worker load ..`; what frames the roles, `setup` and `ending`."""
    return re.sub(r"^worker ", "", role.line).split()[0]


class Program:
    """One kernel: the lines up to its set-up, or its first role, then the roles and what frames them."""

    def __init__(self, text):
        lines = text.splitlines()
        start = next(i for i, line in enumerate(lines) if line.startswith(("  setup {", "  worker ")))
        self.head = lines[:start]
        self.roles, _ = parse_region(lines, start)

    def text(self):
        out = list(self.head)
        print_region(self.roles, 1, out)
        return "\n".join(out + ["}", ""])

    def role(self, name):
        return next(r for r in self.roles if called(r) == name)


def kernel_text(tkc, file, kernel=None, arguments=(), condition=False):
    """The schedule level of one kernel of a .tk file, as a module of its own that is always chosen, or where `condition` is to stay, by it;
    or what an .ir file holds."""
    if file.suffix == ".ir":
        return re.sub(r"(?m)^//.*\n", "", file.read_text())
    done = subprocess.run([str(tkc), str(file), "--emit=schedule", *map(str, arguments)], capture_output=True, text=True, timeout=60)
    if done.returncode:
        raise SystemExit(f"{file}: {done.stderr[-2000:]}")
    parts = re.split(r"(?m)^(?=kernel )", done.stdout)
    entry = parts[0].split()[1]
    chosen = next(p for p in parts[1:] if kernel is None or p.split()[1] == kernel)
    chosen = chosen.rstrip() + "\n"
    if not condition:
        chosen = re.sub(r"(?m)^  when .*\n", "", chosen)
    return f"entry {re.search(r'(?m)^  entry (.*)$', chosen)[1] if '  entry ' in chosen else entry} = [0]\n\n{chosen}"


def sites(program):
    """(path, region, index) of each synchronisation operation and each view of a slot ahead: path is `role/word#number in the role`."""
    for role in program.roles:
        seen = {}

        def walk(region):
            for index, statement in enumerate(region):
                if statement.word() in SYNC or slot_ahead(statement) is not None:
                    seen[statement.word()] = seen.get(statement.word(), 0) + 1
                    yield f"{called(role)}/{statement.word()}#{seen[statement.word()]}", region, index
                for inner in statement.regions:
                    yield from walk(inner)

        yield from walk(role.regions[0])


def slot_ahead(statement):
    """How a view names a slot ahead: `+2`, or `.previous`, the furthest; None."""
    found = re.search(r" view \w+\[\w+(\+\d+|\.previous)\]", statement.line)
    return found and found[1]


def counted(statement, mutation):
    """The statement with another number, or None."""
    twin = statement.copy()
    by = 1 if mutation in ("more", "further") else -1
    if mutation in SLOTS:
        ahead = slot_ahead(statement)
        slots = -1 if ahead is None else int(ahead[1:]) + by if ahead[0] == "+" else 0 if by > 0 else -1
        twin.line = statement.line.replace(f"{ahead}]", f"+{slots}]")
        return twin if slots >= 0 else None
    number = int(statement.line.split()[1]) if statement.word() == "wait_copies" else -1
    if number < 0 or number + by < 0:
        return None
    twin.line = f"wait_copies {number + by}"
    return twin


def mechanical(text):
    """{`role/op#n/delete`, ..`duplicate`, ..`swap`: text}; a swap is with the next statement of the block, comments aside. A wait for
    copies also leaves one more or one fewer unfinished, a view of a slot ahead is one further or nearer. Mutants that are the kernel
    itself, or another mutant, are left out."""
    found, known = {}, {Program(text).text()}
    paths = [path for path, _, _ in sites(Program(text))]
    for number, path in enumerate(paths):
        for mutation in MUTATIONS + COUNTED + SLOTS:
            program = Program(text)
            _, region, index = list(sites(program))[number]
            if mutation in COUNTED + SLOTS:
                twin = counted(region[index], mutation)
                if twin is None:
                    continue
                region[index] = twin
            elif region[index].word() not in SYNC:
                continue
            elif mutation == "delete":
                del region[index]
            elif mutation == "duplicate":
                region.insert(index, region[index].copy())
            else:
                other = next((i for i in range(index + 1, len(region)) if region[i].word() != "comment"), None)
                if other is None:
                    continue
                region[index], region[other] = region[other], region[index]
            mutant = program.text()
            if mutant not in known:
                known.add(mutant)
                found[f"{path}/{mutation}"] = mutant
    return found
