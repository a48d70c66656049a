#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""integers.py TKC [--first SEED] [--count N] [--target T]: random kernels that compute with places of blocks, dimensions, launch scalars and
elements of tensors near the ends of their types, in ranges, conditions, places of reads and variables, on the simulator against the reference,
which computes without a width. The last line is `N kernels, N differ`; of those that differ the command is printed."""
import argparse
import pathlib
import random
import subprocess
import sys
import tempfile

import numpy as np

NAMES = ("m.start", "m.end", "m.number", "N", "M", "q", "u", "w", "off[0]", "off[1]", "off[2]", "v[0]", "v[3]",
         "0", "1", "2", "7", "64", "65536", "2147483647", "400000")
FORMS = ("({0} + {1})", "({0} - {1})", "({0} + {1})", "({0} - {1})", "({0} * {2})", "min({0}, {1})", "max({0}, {1})", "abs({0})", "(-({0}))",
         "({0} / {3})", "({0} % {3})", "({0} / max({1}, 1))", "({0} % max({1}, 1))", "({0} / min({1}, -1))", "({0} % min({1}, -1))")


def expression(r, depth):
    if depth == 0 or r.random() < 0.2:
        return r.choice(NAMES)
    factor = r.choice(("2", "3", "-5", "1000", r.choice(NAMES)))
    return r.choice(FORMS).format(expression(r, depth - 1), expression(r, depth - 1), factor, r.choice((2, 3, 7, 64, 1000)))


def source(r):
    first = expression(r, 2)
    return f"""kernel k(X: bool[N, Z], A: f32[M], off: i32[E], v: u32[F], Y: out i64[M], B: out f32[M], q: i32, u: u32, w: i64) {{
    grid m in M by 64
    worker s {{
        let a = {expression(r, 3)}
        var c = {expression(r, 3)}
        var n: f32[64, 1] = 0
        for j in {first} .. min({first} + 200, {first} + 100 + q % 64) by 64 {{ n += f32(pos(m) * 0) + 1 }}
        if a < {expression(r, 1)} {{ n += 4 }}
        c = c - {expression(r, 1)}
        Y[m] <- i64(a) + i64(c)
        B[m] <- n + A[a :+ 64]
    }}
}}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tkc")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--target", help="by default one is drawn for each kernel")
    options = parser.parse_args()
    differ = 0
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        np.save(folder / "off.npy", np.array([2147483647, -2147483648, 5, -7], np.int32))
        np.save(folder / "v.npy", np.array([4294967295, 0, 5, 2147483648], np.uint32))
        for seed in range(options.first, options.first + options.count):
            r = random.Random(seed)
            (folder / "program.tk").write_text(source(r))
            target = options.target or r.choice(("sm_90a", "sm_80", "gfx950"))
            dims = f"M={r.choice((0, 1, 70, 130))},N={r.choice((2147418112, 2147418111, 5))},Z=0,E=4,F=4"
            q, u = r.choice((2147483647, -2147483648, 0, 5, -1, 100)), r.choice((4294967295, 0, 3))
            command = [options.tkc, "run", folder / "program.tk", "--target", target, "--dims", dims, "--in", f"off={folder / 'off.npy'}",
                       "--in", f"v={folder / 'v.npy'}", "--scalar", f"q={q},u={u},w={r.choice((5000000000, -5000000000, 0, 17))}", "--compare"]
            done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=300)
            if done.returncode != 0:
                differ += 1
                print(f"seed {seed}: {' '.join(map(str, command))}\n{source(random.Random(seed))}{done.stdout}{done.stderr}")
    print(f"{options.count} kernels, {differ} differ")
    sys.exit(differ > 0)


if __name__ == "__main__":
    main()
