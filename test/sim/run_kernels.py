#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run_kernels.py TKC [--target T,..] [--draw SEED] [--jobs N] [--shapes N] [--gpu]: the kernels of test/run, which lit executes on the reference
interpreter, as they are compiled for each target: the simulator against the reference on a few shapes; with --gpu this machine's GPU, too.

A refusal that lang-spec foresees on another target than the default one (no room, a schedule of another GPU) is counted and is no
failure. Exit status 1 for any other that refuses, for a wrong value, a finding of the simulator, and a file of which nothing was
compared. The last line is `N files right, N refused, N failed`."""
import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test"))
from drawing import drawn  # noqa: E402

DEFAULT = "sm_90a"
NEEDS_LARGE_SCALARS = {"scalars_of_64_bits.tk"}  # no shape is found that its `require` admits
REFUSALS = {"shared-memory-overflow", "register-overflow", "too-many-threads", "matrix-shape", "not-implemented", "schedule-target",
            "too-few-slots"}


def check(tkc, path, target, shapes, gpu):
    """`right`, `refused`, or what is wrong."""
    command = [tkc, "check", path, "--target", target, "--shapes", str(shapes), "--seeds", "1", "--time", "300"]
    command += [] if gpu else ["--no-gpu"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    text = done.stdout + done.stderr
    codes = set(re.findall(r"^error: .* \[([\w-]+)\]$", done.stderr, re.M))
    if done.returncode == 1 and codes and codes <= REFUSALS and target != DEFAULT:
        return "refused"
    agrees = "simulator and GPU agree" if gpu else "simulator agrees"
    return "right" if done.returncode == 0 and re.search(agrees + " with the reference in [1-9]", text) else text.strip()


def main():
    parser = argparse.ArgumentParser(description="the kernels of test/run on the simulator")
    parser.add_argument("tkc", type=pathlib.Path)
    parser.add_argument("--target", default=DEFAULT)
    parser.add_argument("--shapes", type=int, default=2)
    parser.add_argument("--draw")
    parser.add_argument("--gpu", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    files = sorted(path for path in (ROOT / "test" / "run").glob("*.tk")
                   if "%run %s" in path.read_text() and path.name not in NEEDS_LARGE_SCALARS)
    cases = [(path, target) for path in drawn(files, args.draw) for target in args.target.split(",")]
    counts = {"right": 0, "refused": 0, "failed": 0}
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        running = {pool.submit(check, args.tkc, *case, args.shapes, args.gpu): case for case in cases}
        for done in concurrent.futures.as_completed(running):
            (path, target), found = running[done], done.result()
            kind = found if found in counts else "failed"
            counts[kind] += 1
            if kind == "failed":
                print(f"{path.relative_to(ROOT)} for {target}:\n    " + found[:1500].replace("\n", "\n    "), flush=True)
    print(f"{counts['right']} files right, {counts['refused']} refused, {counts['failed']} failed")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
