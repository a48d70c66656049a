# SPDX-License-Identifier: MIT
"""Prints the kernel of a .tk file and, on its right, the last kernel of the generated CUDA, cut to the width of the terminal."""
import re
import shutil
import sys
import textwrap


def section(lines, begin):
    """From the line that matches `begin` to the closing brace at the start of a line."""
    first = next(i for i, line in enumerate(lines) if re.match(begin, line))
    last = next(i for i in range(first, len(lines)) if lines[i].startswith("}"))
    return lines[first : last + 1]


source = open(sys.argv[1], encoding="utf-8").read().split("\n")
generated = open(sys.argv[2], encoding="utf-8").read().split("\n")
left = section(source, "kernel ")
starts = [i for i, line in enumerate(generated) if re.match(r"TK_(CLUSTER_)?KERNEL", line)]
right = section(generated[starts[-1] :], "TK_") if starts else ["(no kernel found)"]

columns = max(100, min(220, shutil.get_terminal_size((180, 40)).columns))
width = 66
left = [piece for line in left for piece in (textwrap.wrap(line, width - 2, subsequent_indent="        ") or [""])]
for i in range(max(len(left), len(right))):
    a = left[i] if i < len(left) else ""
    b = right[i] if i < len(right) else ""
    print(f"{a:<{width}}| {b[: columns - width - 2]}".rstrip())
print(f"\n{len(source)} lines of .tk with schedules; {len(generated)} lines of CUDA, {len(starts)} kernels; the last one is shown")
