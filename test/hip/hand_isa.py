#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What clang makes of the product by hand (gemm_by_hand.cu): matrix instructions as many as the algorithm has, no spills, registers
and shared memory within the planned occupancy, counted waits in the main loop, loads at full width."""
import sys

import isa

# chip, BM, BN, BK, slots, workers; least share of the matrix unit that the waves of one SIMD ask for together.
SHAPES = [("gfx950", 256, 256, 32, 4, 2, 1.15), ("gfx950", 256, 256, 64, 2, 2, 1.4), ("gfx950", 128, 128, 64, 3, 1, 0.55),
          ("gfx942", 256, 256, 32, 2, 2, 1.05), ("gfx942", 128, 128, 32, 3, 1, 0.4)]
SHARED_BYTES = {"gfx942": 65536, "gfx950": 163840}
FULL_WIDTH = {"gfx942": r"ds_read_(b128|u16)", "gfx950": r"ds_read_b128|ds_read_b64_tr_b16"}
COPY = {"gfx942": "buffer_load_dword ", "gfx950": "buffer_load_dwordx4 "}


def problems_of(kernel, chip, bm, bn, bk, slots, workers, least):
    loop, waves = kernel.main_loop(), 4 * workers
    products = bm * bn * bk // (16 * 16 * (32 if chip == "gfx950" else 16)) // waves
    copies = (bm + bn) * bk * 2 // ((16 if chip == "gfx950" else 4) * 64 * waves)
    shared, share = slots * (bm + bn) * bk * 2, isa.mca_share(loop, chip) * workers  # waves of a SIMD: a quarter of the block's
    checks = [
        (kernel.spills == 0, f"{kernel.spills} registers or bytes spilt"),
        (kernel.registers <= 512 // workers, f"{kernel.registers} registers, {512 // workers} for {workers} waves a SIMD"),
        (shared <= SHARED_BYTES[chip], f"{shared} bytes of shared memory"),
        (isa.count(loop, "mfma") == products, f"{isa.count(loop, 'mfma')} MFMA in the main loop, the algorithm has {products}"),
        (isa.count(loop, "lds$") == copies and isa.count(loop, COPY[chip]) == copies, f"{isa.count(loop, 'lds$')} copies in the main loop, {copies} are meant"),
        (isa.count(loop, "ds_read") == isa.count(loop, FULL_WIDTH[chip]), "narrow loads from shared memory"),
        (isa.waits(loop, "vmcnt") == [(slots - 2) * copies], f"waits for vmcnt {isa.waits(loop, 'vmcnt')}, meant is {(slots - 2) * copies}"),
        (isa.count(loop, "s_barrier") == 1, "one barrier in the main loop"),
        (isa.count(loop, "scratch_|flat_|global_") == 0, "other memory in the main loop"),
        (share >= least, f"the waves of a SIMD ask for {share:.2f} of the matrix unit, expected {least}"),
    ]
    return [text for holds, text in checks if not holds]


def main():
    failed = 0
    for chip, *shape, least in SHAPES:
        assembly = isa.compile_to_assembly(isa.ROOT / "test" / "hip" / "gemm_by_hand.cu", chip,
                                           [f'HAND_FOR="tk/{chip}.h"', "HAND_SHAPE=" + ",".join(str(n) for n in shape)])
        (kernel,) = isa.kernels(assembly)
        problems = problems_of(kernel, chip, *shape, least)
        print(f"{chip} {shape}: {isa.describe(kernel, chip)}" + "".join(f"\nfailed: {p}" for p in problems))
        failed += bool(problems)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(isa.run(main))
