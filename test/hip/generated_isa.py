#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What clang makes of kernels that tkc prints for gfx942 and gfx950: nothing spilt, registers for the planned waves, no bank conflict,
and in loops with matrix instructions as many of them as the algorithm has, loads at full width from shared memory, and counted waits.

    test/hip/generated_isa.py BUILD [--all] [FILE.tk ...]     BUILD: a build folder with bin/tkc; --all: every example"""
import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import isa
import planned

CHIPS = ("gfx942", "gfx950")
# By kernel: least share of the matrix unit that one wave keeps busy, though two share it; and that those of a SIMD ask for together.
LEAST_OF_ONE_WAVE = {"gemm_wide": 0.8, "gemm_broad": 0.8}
LEAST_TOGETHER = {"gemm_wide": 1.6, "gemm_broad": 1.6, "gemm_half": 1.2, "gemm_flat": 1.3}
# Kernels whose main loop waits for all loads or copies: two slots of the largest tile; and one without a pipe, where nothing runs ahead.
DRAINS = {"gemm_wide", "gemm_no_pipe_kernel"}
SAMPLE = ("gemm/gemm.tk", "chained/chained.tk")
FULL_WIDTH = {"gfx942": r"ds_read_(b128|b64|u16)", "gfx950": r"ds_read_b128|ds_read_b64"}


def figure_of(kernel, table):
    """The entry whose name the kernel's mangled one holds, or 0."""
    return next((value for name, value in table.items() if re.search(rf"\d{name}E", kernel.name)), 0)


def problems_of(kernel, chip, one, products, resident):
    """What a kernel breaks. `one`: a wave's share of the matrix unit; `products`, `resident`: by kernel, what is planned."""
    groups = max(1, -(-kernel.number("max_flat_workgroup_size") // 256))  # waves of a block on each SIMD
    blocks = figure_of(kernel, resident) or 1
    most = 512 // (groups * blocks)
    problems = []
    if kernel.spills:
        problems.append(f"{kernel.spills} registers or bytes spilt")
    if kernel.registers > most:
        problems.append(f"{kernel.registers} registers, {most} for {groups} waves of {blocks} blocks")
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
    if figure_of(kernel, LEAST_OF_ONE_WAVE) > one:
        problems.append(f"a wave keeps {one:.2f} of the matrix unit busy, expected {figure_of(kernel, LEAST_OF_ONE_WAVE)}")
    if figure_of(kernel, LEAST_TOGETHER) > one * groups:
        problems.append(f"the waves of a SIMD ask for {one * groups:.2f} of the matrix unit, expected {figure_of(kernel, LEAST_TOGETHER)}")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--chip", choices=CHIPS)
    parser.add_argument("files", nargs="*", type=Path)
    args = parser.parse_args()
    examples = isa.ROOT / "examples"
    files = args.files or sorted(examples.rglob("*.tk")) if args.all or args.files else [examples / name for name in SAMPLE]
    failed = 0
    for file in files:
        if "kernel " not in file.read_text():
            continue  # functions only
        for chip in [args.chip] if args.chip else CHIPS:
            with tempfile.TemporaryDirectory() as scratch:
                source = Path(scratch) / "kernel.hip"
                made = subprocess.run([args.build / "bin" / "tkc", "--target", chip, file, "-o", source], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                if made.returncode != 0:
                    print(f"failed: {file.name} for {chip}: {made.stdout.splitlines()[0] if made.stdout else made.returncode}")
                    failed += 1
                    continue
                tkc, resident = args.build / "bin" / "tkc", planned.resident(source.read_text())
                products, conflicts = planned.products(tkc, chip, file), planned.conflicts(tkc, chip, file)
                if conflicts:
                    print(f"failed: {file.name} for {chip}: bank conflicts of degree {', '.join(conflicts)}")
                    failed += 1
                try:
                    kernels = isa.kernels(isa.compile_to_assembly(source, chip, include=[scratch]))
                except RuntimeError as error:
                    print(f"failed: {file.name} for {chip}: {str(error)[:1500]}")
                    failed += 1
                    continue
            for kernel in kernels:
                loop = kernel.main_loop()
                share = isa.mca_share(loop, chip) if loop else 0.0
                problems = problems_of(kernel, chip, share, products, resident)
                failed += bool(problems)
                print(f"{chip} {file.stem} {kernel.name[:60]}: {isa.describe(kernel, chip, share)}" + "".join(f"\nfailed: {p}" for p in problems))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(isa.run(main))
