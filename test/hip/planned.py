# SPDX-License-Identifier: MIT
"""What tkc says of the kernels of a file: matrix instructions of a wave in each loop, from the schedule level; blocks that share a compute
unit, from the generated file; bank conflicts, from the report."""
import re
import subprocess

DEFINED = re.compile(r"^\s*(%\w+) = .* : (left|right|reg) \w+\[(\d+), (\d+)\]$")
MULTIPLY = re.compile(r"^\s*multiply %\w+, (%\w+), (%\w+)")
LAYOUT = re.compile(r" layout \[4, 4, 1, 16, (\d+)(?:, (\d+))?, columns_first\]")


def emit(tkc, chip, file, what):
    return subprocess.run([tkc, "--target", chip, f"--emit={what}", file, "-o", "-"], stdout=subprocess.PIPE, text=True, check=True).stdout


def products(tkc, chip, file):
    """By kernel: matrix instructions that a wave issues in one iteration of the loop with most of them; 0 without such a loop."""
    most = {}
    for text in re.split(r"^kernel ", emit(tkc, chip, file, "schedule"), flags=re.M)[1:]:
        name, shapes, arrangement, loops = text.split()[0], {}, (1, 1), []
        most[name] = 0
        for line in text.split("\n"):
            depth = len(line) - len(line.lstrip())
            while loops and depth <= loops[-1][0]:
                most[name] = max(most[name], loops.pop()[1])
            if found := LAYOUT.search(line):
                arrangement = int(found.group(1)), int(found.group(2) or 1)
            if found := DEFINED.match(line):
                shapes[found.group(1)] = int(found.group(3)), int(found.group(4))
            if line.lstrip().startswith("for"):
                loops.append([depth, 0])
            if found := MULTIPLY.match(line):
                (rows, terms), (_, cols) = shapes[found.group(1)], shapes[found.group(2)]
                step = 32 if chip == "gfx950" and terms % 32 == 0 else 16
                for loop in loops:
                    loop[1] += rows // (16 * arrangement[0]) * (cols // (16 * arrangement[1])) * (terms // step)
    return most


def resident(source):
    """By kernel of a generated file: the blocks of one compute unit."""
    return {name: int(blocks or 1) for blocks, name in re.findall(r"^TK_KERNEL\(\d+(?:, (\d+))?\)\n(\w+)\(", source, flags=re.M)}


def conflicts(tkc, chip, file):
    """Accesses to shared memory, of those whose banks are known, that meet in a bank."""
    lines = re.findall(r"^ +line .* degree (\S+).*$", emit(tkc, chip, file, "report"), flags=re.M)
    return [degree for degree in lines if float(degree) > 1]
