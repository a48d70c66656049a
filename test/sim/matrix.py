#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""matrix.py [BUILD] [--target T,..] [--shapes N] [--seeds N] [-k WORD] [--jobs N]: every kernel of examples/ on many shapes and seeds, as
compiled for each target, the simulator against the reference interpreter within the rounding of lang-spec, bit for bit on integer-valued
data. Prints a table; exit status 1 if any run differs, has a finding, or was left out. tools/test --all runs it with 30 shapes and 3 seeds."""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


# Files whose kernels take longest: begun last, one of them would run alone at the end.
SLOW = ("attention", "norm_backward", "chained", "conv_silu")


def kernels(tkc, only):
    """(file, kernel) of everything under examples/ whose path holds the word `only`: the entries that the generated header declares."""
    for source in sorted((ROOT / "examples").glob("*/*.tk")):
        if source.parent.name != "lib" and only in str(source):
            header = subprocess.run([tkc, source, "--emit", "header"], stdout=subprocess.PIPE, text=True, timeout=600, check=True).stdout
            yield from ((source, kernel) for kernel in re.findall(r"^tk_status (\w+)\(", header, re.M))


def check(tkc, source, kernel, target, shapes, seeds):
    """The report of one kernel, None if there is none, and what was said besides."""
    command = [tkc, "check", source, "--kernel", kernel, "--target", target, "--shapes", str(shapes), "--seeds", str(seeds)]
    command += ["--time", "900", "--json", "--no-gpu"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=3600)
    reports = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return (reports[0] if len(reports) == 1 else None), done.returncode, done.stderr


def faults(report, shapes):
    """What is wrong with a report, a line each."""
    if report["failure"]:
        messages = "; ".join(d["message"] for d in report["failure"]["diagnostics"])
        return [f"{messages}\n    {report['failure']['repeat']}"]
    found = []
    if report["runs"] != report["planned"] or report["shapes"] != shapes:
        found.append(f"{report['runs']} of {report['planned']} runs, {report['shapes']} of {shapes} shapes")
    return found + [f"no run came to the set `{name or 'own'}`" for name, runs in report["schedules"].items() if runs == 0]


def main():
    parser = argparse.ArgumentParser(description="the simulator against the reference on all examples")
    parser.add_argument("build", nargs="?", default="build/release")
    parser.add_argument("--shapes", type=int, default=30)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("-k", dest="only", default="", help="only examples whose path holds this word")
    parser.add_argument("--target", default="sm_90a", help="one, or several with commas between them")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    tkc = ROOT / args.build / "bin" / "tkc"
    start, wrong, total, exact = time.time(), 0, 0, 0
    work = [(source, kernel, target) for source, kernel in kernels(tkc, args.only) for target in args.target.split(",")]
    work.sort(key=lambda item: item[0].stem not in SLOW)
    print(f"{'kernel':<30}{'target':<8}{'shapes':>7}{'runs':>6}{'exact':>7}{'s':>7}  runs of each set")
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        running = {pool.submit(check, tkc, source, kernel, target, args.shapes, args.seeds): (kernel, target) for source, kernel, target in work}
        for done in concurrent.futures.as_completed(running):
            kernel, target = running[done]
            r, status, errors = done.result()
            found = faults(r, args.shapes) if r else []
            if r is None or (status != 0 and not r["failure"]):
                found.append(f"status {status}: {errors[:2000]}")
            if r:
                total, exact = total + r["runs"], exact + r["exact"]
                sets = ", ".join(f"{name or 'own'} {runs}" for name, runs in r["schedules"].items()) if len(r["schedules"]) > 1 else ""
                print(f"{kernel:<30}{target:<8}{r['shapes']:>7}{r['runs']:>6}{r['exact']:>7}{r['seconds']:>7.1f}  {sets}", flush=True)
            for fault in found:  # at once: a run that is cut short has said so, too
                print(f"WRONG {kernel} for {target}: {fault}", flush=True)
            wrong += len(found)
    print(f"{total} runs, {exact} compared bit for bit, {wrong} wrong, {time.time() - start:.0f} s")
    sys.exit(1 if wrong else 0)


main()
