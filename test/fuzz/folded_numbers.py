#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""folded_numbers.py TKC [--first SEED] [--count N] [--on WHERE] [--target T]: random expressions, once of numbers that stand in the source and
once of the same numbers, read from a tensor. What tkc computes by itself has the bits that a kernel computes: rounding, conversions out
of range, infinities, NaNs, signs of zeros, subnormals. Of operations with exact results only. The last line is
`N expressions, N differ`; those that differ are printed."""
import argparse
import pathlib
import random
import subprocess
import sys
import tempfile

import numpy as np

NUMBERS = ("0.0", "-0.0", "inf", "-inf", "(inf - inf)", "tiny", "1e-40", "-1e-40", "3.4e38", "-3.4e38", "1.5", "-2.5", "0.5", "-0.5", "2.5", "1e-3",
           "0.1", "-7.0", "3.0", "2047.0", "2049.0", "65519.0", "65520.0", "448.0", "464.0", "465.0", "57344.0", "61441.0", "1e-8", "1.0625",
           "1.1875", "0.0029296875", "16777217.0", "2147483648.0", "-2147483904.0", "4294967296.0", "9.3e18", "1.9e19", "-1e20")
ONE = ("abs({})", "sqrt({})", "floor({})", "ceil({})", "round({})", "finite({})", "-({})") + tuple(
    f"f32({dtype}({{}}))" for dtype in ("i32", "u32", "i64", "u64", "f16", "f16", "bf16", "bf16", "e4m3", "e5m2"))
NARROW = ("f16({})", "bf16({})", "e4m3({})", "e5m2({})")
# Which of two zeros is the smaller one is not said: the sum has one sign.
TWO = ("({} + {})", "({} - {})", "({} * {})", "({} / {})", "(min({}, {}) + 0.0)", "(max({}, {}) + 0.0)") + tuple(
    f"where({{}} {comparison} {{}}, f32(1), f32(2))" for comparison in ("<", "<=", "==", "!=", ">", ">="))


class Expression:
    """Its text of literals and of elements; `values` are those of the tensor."""

    def __init__(self, r, values):
        self.r, self.values = r, values
        self.literal, self.read = self.number(r.randint(1, 3))

    def number(self, depth):
        r = self.r
        if depth == 0:
            number = r.choice(NUMBERS)
            value = {"tiny": 2.0**-126, "(inf - inf)": np.nan}.get(number)
            self.values.append(np.float32(float(number) if value is None else value))
            return f"({number})", f"X[{len(self.values) - 1} :+ 1]"
        if r.random() < 0.4:
            return self.apply(r.choice(ONE), depth - 1)
        if r.random() < 0.2:  # narrow numbers meet
            narrow = r.choice(NARROW)
            return self.apply(r.choice(TWO[:1] + TWO[4:]).format(narrow, narrow), depth - 1)
        return self.apply(r.choice(TWO), depth - 1)

    def apply(self, form, depth):
        parts = [self.number(depth) for _ in range(form.count("{}"))]
        return form.format(*[literal for literal, _ in parts]), form.format(*[read for _, read in parts])


def source(expressions, count):
    def kernel(name, stores):
        lines = "\n".join(f"        Y[{i}{' :+ 1' if name == 'read' else ''}] <- f32({text})" for i, text in enumerate(stores))
        return f"kernel {name}(X: f32[{count}], Y: out f32[{len(stores)}]) {{\n    grid z in 1\n    worker w {{\n{lines}\n    }}\n}}\n"

    return kernel("literal", [e.literal for e in expressions]) + kernel("read", [e.read for e in expressions])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tkc")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--on", default="reference")
    parser.add_argument("--target", default="sm_90a")
    options = parser.parse_args()
    total = differ = 0
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        for seed in range(options.first, options.first + options.count):
            r, values = random.Random(seed), []
            expressions = [Expression(r, values) for _ in range(100)]
            (folder / "program.tk").write_text(source(expressions, len(values)))
            np.save(folder / "X.npy", np.array(values, np.float32))
            found = []
            for kernel in ("literal", "read"):
                command = [options.tkc, "run", folder / "program.tk", "--kernel", kernel, "--on", options.on, "--target", options.target,
                           "--in", f"X={folder / 'X.npy'}", "--out", f"Y={folder / 'Y.npy'}"]
                done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=300)
                if done.returncode != 0:
                    sys.exit(f"seed {seed}: {done.stdout}{done.stderr}")
                found.append(np.load(folder / "Y.npy"))
            for expression, folded, computed in zip(expressions, *found):
                total += 1
                if folded.view(np.uint32) == computed.view(np.uint32) or (np.isnan(folded) and np.isnan(computed)):
                    continue
                differ += 1
                print(f"seed {seed}: {expression.literal} is {folded!r}, of elements {computed!r}")
    print(f"{total} expressions, {differ} differ")
    sys.exit(differ > 0)


if __name__ == "__main__":
    main()
