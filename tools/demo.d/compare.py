# SPDX-License-Identifier: MIT
"""`make FOLDER M N K`: random bf16 matrices as .npy (bits in uint16) and .bin. `check FOLDER simulator|gpu`: the result against NumPy."""
import sys

import numpy as np


def to_bf16(x):
    """Bits of the nearest bf16, ties to even."""
    bits = x.astype(np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def from_bf16(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


def main():
    action, folder = sys.argv[1], sys.argv[2]
    if action == "make":
        m, n, k = (int(x) for x in sys.argv[3:6])
        random = np.random.default_rng(1)
        for name, shape in (("a", (m, k)), ("b", (k, n))):
            bits = to_bf16(random.standard_normal(shape))
            np.save(f"{folder}/{name}.npy", bits)
            bits.tofile(f"{folder}/{name}.bin")
        return 0
    a, b = (from_bf16(np.load(f"{folder}/{name}.npy")).astype(np.float64) for name in "ab")
    exact = a @ b
    bits = np.load(f"{folder}/c.npy") if sys.argv[3] == "simulator" else np.fromfile(f"{folder}/c.bin", np.uint16).reshape(exact.shape)
    error = np.linalg.norm(from_bf16(bits) - exact) / np.linalg.norm(exact)
    rounding = np.linalg.norm(from_bf16(to_bf16(exact)) - exact) / np.linalg.norm(exact)
    print(f"{sys.argv[3]}: {a.shape} @ {b.shape}, relative error {error:.3e}; rounding the exact product to bf16 gives {rounding:.3e}")
    if not error <= 1.05 * rounding:
        print("that is more than rounding explains")
        return 1
    return 0


sys.exit(main())
