#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Stands for tkc-sim where a test wants a given result. FAKE says which: `copy` copies the first tensor to the second; `wrong` does,
too, but spoils element (4, 2) where there is one; others are below. Lines of the generated file are found by what stands in them."""
import json
import os
import struct
import sys
import time

job = json.load(open(sys.argv[1]))
mode = os.environ.get("FAKE", "copy")


def answer(findings=(), code=0, message=""):
    with open(job["result"], "w") as f:
        json.dump({"status": {"code": code, "message": message}, "blocks": 1, "lanes": 128, "cycles": 10, "seconds": 0.1,
                   "findings": list(findings), "counters": []}, f)
    sys.exit(0)


def copy(spoiled):
    x, y = job["tensors"][0], job["tensors"][1]
    data = bytearray(open(x["initial"], "rb").read())
    if spoiled and x["extent"][0] > 4 and x["extent"][1] > 2:
        at = y["offset"] + 2 * (4 * y["stride"][0] + 2 * y["stride"][1])
        data[at : at + 2] = struct.pack("<H", 0x4780)
    open(y["final"], "wb").write(data)


def frames(words):
    """A frame of the runtime around the call in the generated line that holds `words`."""
    folder = os.path.dirname(job["library"])
    name = next(n for n in sorted(os.listdir(folder)) if n.endswith(".cu"))
    lines = open(os.path.join(folder, name)).read().split("\n")
    line = next(i for i, text in enumerate(lines, 1) if words in text)
    return [{"file": "/include/tk/ops/x.h", "line": 7, "function": "tk::x"}, {"file": "/tmp/" + name, "line": line, "function": "copy_kernel"}]


def site(role, words):
    return {"role": role, "frames": frames(words)}


LOAD, STORE, SYNC = "load_shared", "store_async", "warpgroup::sync"

if mode == "copy" or mode == "wrong":
    copy(mode == "wrong")
    answer()
elif mode == "findings":
    first, second = os.environ["FIRST"], os.environ["SECOND"]
    kinds = os.environ["KINDS"].split(",")
    answer([{"kind": kind, "text": f"what `{kind}` says", "times": 3, "lanes": "0-31", "block": 2, "address": "shared memory + 64",
             "sites": [site("written", first), site("read", second)]} for kind in kinds])
elif mode == "runtime":
    answer([{"kind": "misaligned", "text": "a descriptor", "times": 1, "lanes": "", "block": -1, "address": "",
             "sites": [{"role": "read", "frames": [{"file": "/include/tk/host/repack.h", "line": 70, "function": "tk::host::repack_rows"}]}]}])
elif mode == "refuse":
    answer(code=4, message="copy: `Y` is written, but shares memory with `X`")
elif mode == "crash":
    print("a last word")
    sys.stdout.flush()
    os.kill(os.getpid(), 11)
elif mode == "silent":
    sys.exit(3)
elif mode == "garbled":
    open(job["result"], "w").write("{ no json")
elif mode == "sleep":
    open(os.environ["STARTED"], "w").write(str(os.getpid()))
    time.sleep(600)
