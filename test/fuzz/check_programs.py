#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_programs.py [BUILD] [--families F,..] [--first SEED] [--count N] [--targets T,..] [--all | --compile] [--gpu] [--reduce]:
random programs (programs.py) through the whole compiler, and the simulator against the reference on a few shapes.

Every program is compiled for all targets, with the certificate, and executed for one of them, with --all for each, with --compile for
none; with --gpu on this machine's GPU, too, if it runs the target's code. A refusal that lang-spec foresees is counted and is no
failure; so is one of workers that are out of step, where theirs were exchanged (deadlocks.py says which of them would get stuck). A
wrong value, a finding of the simulator, a certificate that can't be had, a crash and a compile of more than --slow seconds are: their
programs stand in the folder --keep, with --reduce also as few of their lines as still fail alike. The last line is
`N passed, N failed`."""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import programs  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGETS = ("sm_90a", "sm_80", "sm_120", "gfx942", "gfx950")
# What a target has no room for, what is not there yet, and masks that programs.py does not see the need of.
REFUSALS = ("shared-memory-overflow", "register-overflow", "too-many-threads", "matrix-shape", "not-implemented", "fill-not-neutral",
            "too-few-slots")


def execute(command, limit):
    """Exit status (124: no end), standard output and errors, seconds."""
    start = time.time()
    try:
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True, errors="replace", timeout=limit)
        return done.returncode, done.stdout, done.stderr, time.time() - start
    except subprocess.TimeoutExpired:
        return 124, "", f"no end after {limit} s", time.time() - start


def compiled(args, path, target):
    """What becomes of it (`right`, `refused: ..`, or a failure) and what was said."""
    status, _, errors, seconds = execute([args.tkc, path, "--target", target, "-o", os.devnull], 10 * args.slow)
    if status not in (0, 1):
        return "no end" if status == 124 else f"status {status}", errors
    if seconds > args.slow:
        return "slow", f"{seconds:.1f} s to compile"
    codes = re.findall(r"^error: .* \[([\w-]+)\]$", errors, re.M)
    if status == 0 or not codes:
        return ("right" if status == 0 else "status 1"), errors
    unforeseen = [code for code in codes if code not in REFUSALS]
    return (unforeseen[0] if unforeseen else f"refused: {codes[0]}"), errors


def executed(args, path, target):
    command = [args.tkc, "check", path, "--target", target, "--shapes", args.shapes, "--seeds", 1, "--time", 60, "--json"]
    command += [] if args.gpu else ["--no-gpu"]
    status, output, errors, _ = execute(command, 600)
    reports = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    failures = [report["failure"] for report in reports if report["failure"]]
    if failures:
        said = "\n".join(d["message"] for d in failures[0]["diagnostics"])
        return failures[0]["problem"], f"{said}\n{failures[0]['repeat']}"
    return ("right" if status == 0 and reports else f"status {status}"), output + errors


def outcome(args, path, target, executes):
    kind, text = compiled(args, path, target)
    return executed(args, path, target) if kind == "right" and executes else (kind, text)


def reduced(args, path, target, kind):
    """How many lines are left of the program that still ends in `kind`: without loops and branches, in all workers at once, and without
    all that names something."""
    def attempt(lines):
        path.with_suffix(".reduced.tk").write_text("\n".join(lines) + "\n")
        return outcome(args, path.with_suffix(".reduced.tk"), target, not args.compile)[0] == kind

    lines, changed = path.read_text().splitlines(), True
    while changed:
        changed = False
        headers = {line.strip() for line in lines if re.match(r"\s+(for|if|grid|worker) ?.*\{$", line)}
        names = set(re.findall(r"\b(?:[a-z]+\d+|Y\d+)\b", "\n".join(lines)))
        for cut in sorted(headers) + sorted(names):
            shorter = without(lines, cut)
            if len(shorter) < len(lines) and attempt(shorter):
                lines, changed = shorter, True
    attempt(lines)
    return len(lines)


def without(lines, cut):
    """The lines without the blocks that `cut` begins, or without the statements that name it."""
    kept, depth = [], 0
    for line in lines:
        if depth == 0 and line.strip() == cut:
            depth = 1
        elif depth > 0:
            depth += line.count("{") - line.count("}")
        elif line.strip().endswith("{") or not re.search(rf"\b{re.escape(cut)}\b", line):
            kept.append(line)
    return [re.sub(rf", {re.escape(cut)}: [^:]*\](?: = 0)?(?=[,)])", "", line) for line in kept]


def one(args, family, seed):
    """What became of each target's part, and the failures' texts."""
    path = args.keep / f"{family}{seed}.tk"
    path.write_text(programs.program(seed, family))
    kinds, failures = collections.Counter(), []
    for i, target in enumerate(args.targets):
        kind, text = outcome(args, path, target, args.all or not args.compile and i == seed % len(args.targets))
        if kind == "traffic-mismatch" and programs.is_out_of_step(seed, family):
            kind = "refused: traffic-mismatch" + ("" if programs.gets_stuck(seed, family) else ", but not stuck")
        kinds[kind] += 1
        if kind == "right" or kind.startswith("refused: "):
            continue
        failures.append(f"{path} for {target}: {kind}\n    " + text.strip()[:1000].replace("\n", "\n    "))
        if args.reduce:
            failures[-1] += f"\n    {reduced(args, path, target, kind)} lines of it in {path.with_suffix('.reduced.tk')}"
    return kinds, failures


def main():
    parser = argparse.ArgumentParser(description="random programs through the whole compiler")
    parser.add_argument("build", nargs="?", default="build/release")
    parser.add_argument("--families", default=",".join(programs.FAMILIES))
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=4)
    parser.add_argument("--shapes", type=int, default=5)
    parser.add_argument("--slow", type=float, default=10)
    parser.add_argument("--targets", default=",".join(TARGETS))
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--gpu", action="store_true")
    parser.add_argument("--reduce", action="store_true")
    args = parser.parse_args()
    args.tkc = ROOT / args.build / "bin" / "tkc"
    args.targets = args.targets.split(",")
    args.keep = args.keep or ROOT / args.build / "programs"
    args.keep.mkdir(parents=True, exist_ok=True)
    kinds, failed = collections.Counter(), 0
    with concurrent.futures.ThreadPoolExecutor(max(os.cpu_count() // 2, 1)) as pool:
        seeds = [(family, seed) for seed in range(args.first, args.first + args.count) for family in args.families.split(",")]
        for more, failures in pool.map(lambda each: one(args, *each), seeds):
            kinds += more
            failed += bool(failures)
            for failure in failures:
                print(f"FAILED {failure}", flush=True)
    print(", ".join(f"{count} {kind}" for kind, count in kinds.most_common()))
    print(f"{len(seeds) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


main()
