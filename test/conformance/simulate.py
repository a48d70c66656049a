#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the conformance cases on the simulator and compares them with what their host code expects.

    test/conformance/simulate.py BUILD [--seeds N] [-k NAME]      BUILD: a build folder with bin/tkc-sim
"""
import argparse
import concurrent.futures
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import cases as conformance  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]


def run_case(simulator, out, case, seeds):
    """What is wrong with the case, or ''."""
    expected, problem = conformance.simulate(simulator, out, case, out, f"{case.name}_expected", 0)
    for seed in range(seeds):
        if problem:
            break
        words, problem = conformance.simulate(simulator, out, case, out, case.name, seed)
        bad = [] if problem else conformance.wrong(case, words, expected)
        if bad and case.mode != "print":
            problem = conformance.describe(case, bad, words, expected)
        problem = problem and f"seed {seed}: {problem}"
    return problem


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--seeds", type=int, default=2, help="timings to try: seeds 0 to N - 1")
    parser.add_argument("-k", dest="only", default="", help="only cases whose names contain this")
    parser.add_argument("--keep", type=Path, help="folder for inputs and outputs")
    args = parser.parse_args()
    simulator = args.build.resolve() / "bin" / "tkc-sim"
    with tempfile.TemporaryDirectory() as scratch:
        out = (args.keep or Path(scratch)).resolve()
        out.mkdir(parents=True, exist_ok=True)
        cases = conformance.read_cases() + conformance.read_cases(conformance.HERE / "hip")
        chosen = [case for case in cases if args.only in case.name]
        problem = conformance.build_simulated(ROOT, out, chosen)
        if problem:
            sys.exit(f"failed: {problem}")
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            problems = list(pool.map(lambda case: run_case(simulator, out, case, args.seeds), chosen))
        for case, problem in zip(chosen, problems):
            if problem:
                print(f"failed: {case.name}: {problem}")
        passed = problems.count("")
        print(f"{passed} of {len(chosen)} cases passed on the simulator")
        sys.exit(0 if chosen and passed == len(chosen) else 1)


main()
