#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the conformance cases on the simulator and compares them with what their host code expects.

    test/conformance/simulate.py BUILD [--seeds N] [-k NAME]      BUILD: a build folder with bin/tkc-sim
"""
import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import cases as conformance  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--seeds", type=int, default=2, help="timings to try: seeds 0 to N - 1")
    parser.add_argument("-k", dest="only", default="", help="only cases whose names contain this")
    parser.add_argument("--keep", type=Path, help="folder for inputs and outputs")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        out = args.keep or Path(scratch)
        out.mkdir(parents=True, exist_ok=True)
        problem = conformance.build_simulated(ROOT, out)
        if problem:
            sys.exit(f"failed: {problem}")
        failed = checked = 0
        for case in conformance.read_cases():
            if args.only not in case.name:
                continue
            checked += 1
            simulator = args.build.resolve() / "bin" / "tkc-sim"
            expected, problem = conformance.simulate(simulator, out, case, out, f"{case.name}_expected", 0)
            for seed in range(args.seeds):
                if problem:
                    break
                words, problem = conformance.simulate(simulator, out, case, out, case.name, seed)
                bad = [] if problem else conformance.wrong(case, words, expected)
                if bad and case.mode != "print":
                    problem = f"seed {seed}: {conformance.describe(case, bad, words, expected)}"
            if problem:
                failed += 1
                print(f"failed: {case.name}: {problem}")
        print(f"{checked - failed} of {checked} cases passed on the simulator")
        sys.exit(1 if failed else 0)


main()
