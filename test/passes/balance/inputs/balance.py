# SPDX-License-Identifier: MIT
"""balance.py TKC FOLDER..: in the schedule of every kernel under the folders, each block of each role turns every ring as often as it
waits on it and gives every slot that it waited for to the other side.

Counted block by block: what stands in a loop, a branch or a role's body must come out even on its own, as a branch may not be taken and a
loop may run any number of times. A loop that keeps a product in flight gives what the last one reads back an iteration later (`.previous`,
under a condition): those in it count for its body, the one behind it for none. Where the first iteration stands in front of its loop, in a
branch, and keeps a slot, a branch behind the loop gives one back (`.previous`). Parts that fill one slot arrive more often than once.
An instance that receives the slot that it has just sent waits for it empty and full, and turns its ring once; else it has a ring for
what it sends and one for what it receives. In a tile of another instance (`if whose == ..` and its `else`) slots are only passed over,
as many as the certificate says. Of pipes that instances have for themselves (`["p[u]"]`) all rings turn together, behind the loop that fills
a slot of each. What the first block of a cluster does for all (`if @cluster::rank.i32() == 0`) counts for the body around it. Slots that
are filled once have no barrier to be given back at, and where there is one of
them its ring stays there."""
import pathlib
import re
import subprocess
import sys

WAIT = re.compile(r'wait_(full|empty) (\w+)_(?:full|empty)\["?(\w+)(?:\[(\w+)\])?')
GIVE = re.compile(r'(?:arrive|expect) (\w+)_(full|empty)\["?\w+(?:\[\w+\])?(\.previous)?"?\]')
EMPTY = re.compile(r"barrier (\w+)_empty ")
TURN = re.compile(r"advance (\w+)$")


class Block:
    def __init__(self, head, parent, returned, passes_over=False):
        self.head, self.parent, self.returned = head, parent, returned
        self.passes_over = passes_over or (parent is not None and parent.passes_over)
        self.waits, self.ring_waits, self.turns, self.gives = {}, {}, {}, {}
        self.kept = {}  # slots that a branch in here keeps for one behind it
        self.holds_previous = False
        self.is_of_first_block = head.startswith("if @cluster::rank.i32() == 0")

    def add(self, counts, key):
        counts[key] = counts.get(key, 0) + 1

    def count_for_parent(self):
        for mine, its in (self.waits, self.parent.waits), (self.ring_waits, self.parent.ring_waits):
            for key, count in mine.items():
                its[key] = its.get(key, 0) + count

    def keep_for_parent(self):
        for pipe, kind in list(self.waits):
            is_given = pipe not in self.returned or (pipe, "empty") in self.gives
            if kind == "full" and not is_given and self.waits[pipe, kind] == self.turns.get(pipe) == 1:
                del self.waits[pipe, kind]
                self.add(self.parent.kept, pipe)

    def faults(self):
        found = [f"keeps {count} slots of {pipe} for ever" for pipe, count in self.kept.items() if count > 0]
        if self.passes_over:
            return found
        for ring in {r for r, _ in self.ring_waits} | set(self.turns):
            kinds = [n for (r, _), n in self.ring_waits.items() if r == ring]
            turns = self.turns.get(ring, 0)
            # Of slots that are filled once a sender waits for none, and the ring of a single one stays there.
            if ring not in self.returned and (sum(kinds) == 0 or (sum(kinds), turns) == (1, 0)):
                continue
            if turns != sum(kinds) and kinds != [turns, turns]:
                found.append(f"waits {sum(kinds)} times on the ring {ring}, turns it {turns} times")
        for (pipe, kind), waits in self.waits.items():
            other = "empty" if kind == "full" else "full"
            if kind == "full" and pipe not in self.returned:
                continue
            gives = self.gives.get((pipe, other), 0)
            if gives < waits or (kind == "full" and gives != waits):
                found.append(f"waits for {waits} {kind} slots of {pipe}, gives {gives} back")
        return found


def check(text):
    faults, block, returned = [], None, set()  # pipes whose slots are given back, in the kernel at hand
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if line.startswith("comment "):
            continue
        if line.startswith("kernel "):
            returned = set()
        if match := EMPTY.match(line):
            returned.add(match[1])
        if line.endswith("{"):
            is_else = line.startswith("} else")
            passes_over = is_else and block.head.startswith("if whose == ")
            if is_else:
                faults += [f"{number}: `{block.head}` {fault}" for fault in block.faults()]
                block = block.parent
            block = Block(line, block, returned, passes_over)
        elif line == "}":
            if not block.head.startswith("if"):
                faults += [f"{number}: `{block.head}` {fault}" for fault in block.faults()]
            elif block.is_of_first_block:
                block.count_for_parent()
            elif not block.holds_previous and not block.head.startswith("if_elected"):
                if not block.passes_over:
                    block.keep_for_parent()
                faults += [f"{number}: `{block.head}` {fault}" for fault in block.faults()]
            block = block.parent
        if match := WAIT.match(line):
            block.add(block.waits, (match[2], match[1]))
            turning = block.parent if match[4] and block.head.startswith(f"unroll {match[4]} times") else block
            turning.add(turning.ring_waits, (match[3], match[1]))
        if match := TURN.match(line):
            block.add(block.turns, match[1])
        if match := GIVE.match(line):
            place = block
            if match[3] and block.head.startswith("if"):
                block.holds_previous = True
                place = block.parent
                if place.kept.get(match[1]):
                    place.kept[match[1]] -= 1
                    continue
                if " > " not in block.head:
                    continue
            elif block.head.startswith("if_elected"):
                place = block.parent
            place.add(place.gives, (match[1], match[2]))
    return faults


def main():
    tkc, faults, kernels = sys.argv[1], [], 0
    for file in sorted(f for folder in sys.argv[2:] for f in pathlib.Path(folder).rglob("*.tk")):
        result = subprocess.run([tkc, str(file), "--emit=schedule"], capture_output=True, text=True, timeout=60)
        if result.returncode != 0:
            continue  # tests of what does not compile
        kernels += result.stdout.count("\nkernel ")
        faults += [f"{file.name}: {fault}" for fault in check(result.stdout)]
    print(f"{kernels} kernels")
    if faults or not kernels:
        sys.exit("\n".join(faults) or "no kernels")


main()
