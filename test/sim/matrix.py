#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""matrix.py [BUILD] [--target T] [--shapes N] [--seeds N] [-k WORD]: every kernel of examples/ on many shapes and seeds, as compiled for
the target, the simulator against the reference interpreter within the rounding of lang-spec, bit for bit on integer-valued data. Prints
a table; exit status 1 if any run differs, has a finding, or was left out. tools/test --all runs it with 30 shapes and 3 seeds."""
import argparse
import json
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


def check(tkc, source, target, shapes, seeds):
    """The reports of all kernels of a file, and what was said besides."""
    command = [tkc, "check", source, "--target", target, "--shapes", str(shapes), "--seeds", str(seeds), "--time", "900", "--json", "--no-gpu"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=3600)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")], done.returncode, done.stderr


def main():
    parser = argparse.ArgumentParser(description="the simulator against the reference on all examples")
    parser.add_argument("build", nargs="?", default="build/release")
    parser.add_argument("--shapes", type=int, default=30)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("-k", dest="only", default="", help="only examples whose path holds this word")
    parser.add_argument("--target", default="sm_90a")
    args = parser.parse_args()
    tkc = ROOT / args.build / "bin" / "tkc"
    start, wrong, total, exact = time.time(), [], 0, 0
    print(f"{'kernel':<24}{'shapes':>7}{'runs':>6}{'exact':>7}{'s':>7}  runs of each set")
    for source in sorted((ROOT / "examples").glob("*/*.tk")):
        if source.parent.name == "lib" or args.only not in str(source):
            continue
        reports, status, errors = check(tkc, source, args.target, args.shapes, args.seeds)
        if not reports or (status != 0 and not any(r["failure"] for r in reports)):
            wrong.append(f"{source.relative_to(ROOT)}: status {status}: {errors[:2000]}")
        for r in reports:
            total, exact = total + r["runs"], exact + r["exact"]
            sets = ", ".join(f"{name or 'own'} {runs}" for name, runs in r["schedules"].items()) if len(r["schedules"]) > 1 else ""
            print(f"{r['kernel']:<24}{r['shapes']:>7}{r['runs']:>6}{r['exact']:>7}{r['seconds']:>7.1f}  {sets}", flush=True)
            if r["failure"]:
                messages = "; ".join(d["message"] for d in r["failure"]["diagnostics"])
                wrong.append(f"{r['kernel']}: {messages}\n    {r['failure']['repeat']}")
            elif r["runs"] != r["planned"] or r["shapes"] != args.shapes:
                wrong.append(f"{r['kernel']}: {r['runs']} of {r['planned']} runs, {r['shapes']} of {args.shapes} shapes")
            for name, runs in r["schedules"].items():
                if runs == 0 and not r["failure"]:
                    wrong.append(f"{r['kernel']}: no run came to the set `{name or 'own'}`")
    for line in wrong:
        print("WRONG " + line)
    print(f"{total} runs, {exact} compared bit for bit, {len(wrong)} wrong, {time.time() - start:.0f} s")
    sys.exit(1 if wrong else 0)


main()
