#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""conflicts.py TKC: the bank conflicts that tkc predicts (--emit=report) are those that the simulator counts (run --counters).

For each statement and kind of access: wavefronts and ideal wavefronts of one instruction. Where one line has several accesses of a
kind, the counted figures are sums over them, so they must lie between the smallest and the largest prediction, and on it where all agree.
An access that is predicted and never counted, or counted and not predicted, is a failure, too."""
import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
from fractions import Fraction

ROOT = pathlib.Path(__file__).resolve().parents[2]
PREDICTED = re.compile(r"line (\S+) +(\w+) +(\w+) +(\S+) +width (\d+) +instructions (\d+) +wavefronts (\d+) +ideal (\d+) +degree (\S+)(?: if rows are aligned to (\d+))?")
COUNTED = re.compile(r"^\S+?:(\d+) .* (shared_load|shared_store|ldmatrix|stmatrix) +(\d+) +(\d+) +(\d+)")
KINDS = ("shared_load", "shared_store", "ldmatrix", "stmatrix")

# file, arguments, alignment of the rows of tensors that guarded copies see, kernel function (where there are several)
CASES = [
    ("examples/gemm/gemm.tk", "--dims M=64,N=128,K=256 --schedule decode", 16, "gemm_decode"),
    ("examples/gemm/gemm.tk", "--dims M=128,N=256,K=128 --schedule turns_128x128", 16, "gemm_turns_128x128"),
    ("examples/gemm/gemm.tk", "--dims M=64,N=130,K=64 --schedule tile_64x128", 4, "gemm_tile_64x128"),
    ("examples/gemm_f32_out/gemm_f32_out.tk", "--dims M=128,N=128,K=128", 16, None),
    ("examples/gemm_f32_out/gemm_f32_out.tk", "--dims M=70,N=65,K=64", 4, None),
    ("examples/gemm_no_pipe/gemm_no_pipe.tk", "--dims M=64,N=64,K=128", 16, None),
    ("examples/gemm_no_pipe/gemm_no_pipe.tk", "--dims M=64,N=68,K=68", 8, None),
    ("examples/gemm_no_pipe/gemm_no_pipe.tk", "--dims M=64,N=65,K=65", 2, None),
    ("test/run/column_sum.tk", "--dims M=64,N=128", 16, None),
    ("test/run/column_sum_loop.tk", "--dims M=128,N=64", 16, None),
    ("test/run/running_sum.tk", "", 16, None),
    ("test/run/transpose.tk", "--dims M=64,N=64", 16, None),
    ("test/run/three_workers.tk", "--dims M=128,N=128,K=64", 16, None),
    ("test/run/relay.tk", "", 16, None),
    ("test/run/attention_64.tk", "--dims H=1,N=128,S=128 --scalar scale=0.125", 16, None),
    ("test/run/narrow_8.tk", "", 16, None),
    ("test/run/narrow_24.tk", "", 16, None),
    ("test/passes/conflicts/bank_conflict.tk", "--dims M=64,N=64", 16, None),
]


def run(command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}: status {done.returncode}\n{done.stderr[-2000:]}{done.stdout[-2000:]}")
    return done.stdout + done.stderr


def dims_of(path):
    """`// dims: M=70, N=150` of a test."""
    match = re.search(r"^// dims: (.*)$", path.read_text(), re.M)
    return ["--dims", match[1].replace(" ", "")] if match else []


def predictions(text, kernel, aligned):
    found, inside = {}, kernel is None
    for line in text.splitlines():
        if line.startswith("kernel "):
            inside = kernel is None or line.split()[1] == kernel
        match = PREDICTED.search(line)
        if not match or not inside or match[2] not in KINDS or match[10] and int(match[10]) != aligned:
            continue
        found.setdefault((match[1], match[2]), []).append(tuple(Fraction(int(match[i]), int(match[6])) for i in (7, 8)))
    return found


def counts(text):
    found = {}
    for line in text.splitlines():
        match = COUNTED.match(line)
        if match:
            have = found.setdefault((match[1], match[2]), [0, 0, 0])
            for i in range(3):
                have[i] += int(match[3 + i])
    return found


def faults_of(tkc, case):
    file, arguments, aligned, kernel = case
    path = ROOT / file
    arguments = arguments.split() or dims_of(path)
    include = ["-I", ROOT / "examples"]
    predicted = predictions(run([tkc, path, "--emit=report", *include]), kernel, aligned)
    counted = counts(run([tkc, "run", path, "--counters", *arguments, *include]))
    name, faults = f"{file} {' '.join(arguments)}", []
    kernels = {str(number) for number, line in enumerate(path.read_text().splitlines(), 1) if line.startswith("kernel ")}
    for key, (accesses, wavefronts, ideal) in sorted(counted.items()):
        # Rows that are zero from the start are cleared before any statement, where some are missing: in order, so without conflicts.
        if key not in predicted and key[0] in kernels and key[1] == "shared_store" and wavefronts == ideal:
            continue
        if key not in predicted:
            faults.append(f"{name}: line {key[0]} {key[1]} is counted and not predicted")
            continue
        for what, value, which in (("wavefronts", wavefronts, 0), ("ideal wavefronts", ideal, 1)):
            wanted = [p[which] for p in predicted[key]]
            if not min(wanted) <= Fraction(value, accesses) <= max(wanted):
                faults.append(f"{name}: line {key[0]} {key[1]}: {value / accesses:.3f} {what} an instruction counted, "
                              f"{'..'.join(str(float(w)) for w in sorted({min(wanted), max(wanted)}))} predicted")
    # A guarded store stands beside the copy engine's, for tensors that rule it out: one of the two is never executed.
    faults += [f"{name}: line {key[0]} {key[1]} is predicted and never counted" for key in predicted if key not in counted and key[1] != "shared_load"]
    return faults, len(counted)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tkc")
    parser.add_argument("--only", default="", help="cases whose file has this in its name")
    options = parser.parse_args()
    cases = [case for case in CASES if options.only in case[0]]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda case: faults_of(options.tkc, case), cases))
    faults = [fault for found, _ in results for fault in found]
    print("\n".join(faults) or f"{sum(n for _, n in results)} accesses in {len(cases)} runs: counted as predicted")
    if not any(n for _, n in results):
        faults.append("nothing was counted")
    sys.exit(1 if faults else 0)


main()
