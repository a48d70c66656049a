# SPDX-License-Identifier: MIT
"""Draws a timeline that `tkc trace` wrote as JSON with letters: a row for each worker (its first warp), copies, products, stores."""
import json
import shutil
import sys

events = json.load(open(sys.argv[1]))["traceEvents"]
names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
spans = [e for e in events if e["ph"] == "X" and e["pid"] == 0]
end = max(e["ts"] + e["dur"] for e in spans)
columns = max(40, min(150, shutil.get_terminal_size((120, 40)).columns - 30))
LETTER = {"wait": ".", "instruction": "i", "copy in": "=", "matrix": "#", "copy out": ">"}

rows = {}
for e in spans:
    name = names[(e["pid"], e["tid"])]
    if "warp " in name:
        worker, warp = name.rsplit(" ", 1)
        if warp != "0" and int(warp) % 4:
            continue
    elif name.startswith("copies"):
        name = name.rstrip("0123456789 ")
    row = rows.setdefault(name, [" "] * columns)
    for x in range(int(e["ts"] / end * columns), min(columns, int((e["ts"] + e["dur"]) / end * columns) + 1)):
        if row[x] in " .":
            row[x] = LETTER[e["cat"]]
for name, row in rows.items():
    print(f"{name:<26} {''.join(row)}")
print(f"{'':<26} 0 {'cycles':^{columns - 10}} {end * 1000:>6.0f}")
print("= copies into shared memory, # matrix products, > copies to global memory, i instructions, . waiting")
