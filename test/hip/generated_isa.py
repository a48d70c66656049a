#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What clang makes of kernels that tkc prints for gfx942 and gfx950: nothing spilt, registers for the planned waves, no bank conflict,
and in loops with matrix instructions as many of them as the algorithm has, loads at full width from shared memory, and counted waits;
where waves alternate, nothing but products in their part of the loop, and as long a one as what loads.

    test/hip/generated_isa.py BUILD [--all] [FILE.tk ...]     BUILD: a build folder with bin/tkc; --all: every example"""
import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import isa
import planned

CHIPS = ("gfx942", "gfx950")
# By kernel: least share of the matrix unit that two waves keep busy of which one loads while the other multiplies.
LEAST_ALTERNATING = {"gemm_wide": 0.85, "gemm_broad": 0.9, "gemm_half": 0.8, "gemm_flat": 0.8}
# A kernel whose main loop waits for all loads: it has no pipe, and nothing runs ahead.
DRAINS = {"gemm_no_pipe_kernel"}
SAMPLE = ("gemm/gemm.tk", "chained/chained.tk", "attention/attention.tk")
FULL_WIDTH = {"gfx942": r"ds_read_(b128|b64|u16)", "gfx950": r"ds_read_b128|ds_read_b64"}


def figure_of(kernel, table):
    """The entry whose name the kernel's mangled one holds, or 0."""
    return next((value for name, value in table.items() if re.search(rf"\d{name}E", kernel.name)), 0)


def alternation_problems(kernel, chip, loop):
    """What a loop breaks whose waves alternate, or should."""
    parts = isa.alternation(loop)
    least = figure_of(kernel, LEAST_ALTERNATING)
    if parts is None:
        return ["its waves do not alternate"] if least or isa.count(loop, "s_setprio") else []
    problems = []
    products = parts[0]
    begin, end = (next(n for n, i in enumerate(products) if re.match(rf"s_setprio {level}", i)) for level in (1, 0))
    between = products[begin + 1 : end]
    if isa.count(between, "mfma") != isa.count(loop, "mfma") or isa.count(between, "s_wait|ds_|buffer_|global_|s_load"):
        problems.append("the products are not alone in their part of the loop")
    if isa.count(products, "ds_|buffer_|global_|s_load"):
        problems.append("loads beside the products of the same wave")
    share = isa.alternating_share(parts, chip)
    if share < least:
        problems.append(f"two waves that alternate keep {share:.2f} of the matrix unit busy, expected {least}")
    return problems


def problems_of(kernel, chip, products, resident):
    """What a kernel breaks. `products`, `resident`: by kernel, what is planned."""
    groups = max(1, -(-kernel.number("max_flat_workgroup_size") // 256))  # waves of a block on each SIMD
    blocks = figure_of(kernel, resident) or 1
    most = 512 // (groups * blocks)
    problems = []
    if kernel.spills:
        problems.append(f"{kernel.spills} registers or bytes spilt")
    if kernel.registers > most:
        problems.append(f"{kernel.registers} registers, {most} for {groups} waves of {blocks} blocks")
    if early := isa.early_copies([i for block in kernel.blocks for i in block.instructions]):
        problems.append(f"copies too close behind what writes their scalar registers: {early}")
    loop = kernel.main_loop()
    if loop is None:
        return problems + (["no loop with matrix instructions"] if figure_of(kernel, products) else [])
    name = next((name for name in DRAINS if re.search(rf"\d{name}E", kernel.name)), None)
    if isa.count(loop, "mfma") != figure_of(kernel, products):
        problems.append(f"{isa.count(loop, 'mfma')} matrix instructions, the algorithm has {figure_of(kernel, products)}")
    if isa.count(loop, "ds_read") != isa.count(loop, FULL_WIDTH[chip]):
        problems.append("narrow loads from shared memory in the main loop")
    if isa.count(loop, "scratch_|flat_"):
        problems.append("scratch or flat accesses in the main loop")
    if name is None and 0 in isa.waits(loop, "vmcnt"):
        problems.append("the main loop waits for all loads and copies")
    return problems + alternation_problems(kernel, chip, loop)


def judge(tkc, file, chip):
    """What is to be printed of a file's kernels for a chip, and how many of them are not as planned."""
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch) / "kernel.hip"
        made = subprocess.run([tkc, "--target", chip, file, "-o", source], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if made.returncode != 0:
            return [f"failed: {file.name} for {chip}: {made.stdout.splitlines()[0] if made.stdout else made.returncode}"], 1
        resident = planned.resident(source.read_text())
        products, conflicts = planned.products(tkc, chip, file), planned.conflicts(tkc, chip, file)
        lines, failed = [], bool(conflicts)
        if conflicts:
            lines.append(f"failed: {file.name} for {chip}: bank conflicts of degree {', '.join(conflicts)}")
        try:
            kernels = isa.kernels(isa.compile_to_assembly(source, chip, include=[scratch]))
        except RuntimeError as error:
            return [*lines, f"failed: {file.name} for {chip}: {str(error)[:1500]}"], failed + 1
    for kernel in kernels:
        loop = kernel.main_loop()
        share = isa.mca_share(loop, chip) if loop else 0.0
        problems = problems_of(kernel, chip, products, resident)
        failed += bool(problems)
        lines.append(f"{chip} {file.stem} {kernel.name[:60]}: {isa.describe(kernel, chip, share)}" + "".join(f"\nfailed: {p}" for p in problems))
    return lines, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--chip", choices=CHIPS)
    parser.add_argument("files", nargs="*", type=Path)
    args = parser.parse_args()
    examples = isa.ROOT / "examples"
    files = args.files or sorted(examples.rglob("*.tk")) if args.all or args.files else [examples / name for name in SAMPLE]
    cases = [(file, chip) for file in files if "kernel " in file.read_text() for chip in ([args.chip] if args.chip else CHIPS)]  # not functions only
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for lines, count in pool.map(lambda case: judge(args.build / "bin" / "tkc", *case), cases):
            print("\n".join(lines), flush=True)
            failed += count
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(isa.run(main))
