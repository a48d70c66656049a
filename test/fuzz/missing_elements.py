#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""missing_elements.py TKC [--first SEED] [--count N] [--keep FOLDER]: random reductions with random fills and masks, on the reference.

How a tensor is cut into blocks says how many elements are missing in the last ones, and nothing else: what tkc accepts computes the
same with blocks of 2, which divide the extents, as with larger ones. Most programs are refused, as they should be. Results that are
no finite numbers are not compared: data counts as finite, and what is made of it here need not be. The last line is
`N accepted of N, N differ`; a program that differs is printed."""
import argparse
import pathlib
import random
import subprocess
import sys
import tempfile

import numpy as np

ROWS, COLUMNS = 6, 10
FLOAT_FILLS = ("", " else 1", " else -1", " else inf", " else -inf", " else 0.5")
INTEGER_FILLS = ("", " else 1", " else -1", " else 2147483647", " else -2147483648", " else 1073741824")
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
FUNCTIONS = ("abs", "exp", "sqrt", "tanh", "sigmoid", "floor", "finite", "exp2", "ceil", "rsqrt", "log", "erf", "cos", "sin")
RANGES = ("N", "N", "N", "1 .. N", "2 .. 9", "0 .. N + 2", "k .. N", "max(0, k - 3) .. min(N, k + 5)", "N - 3 .. N", "0 .. min(N, k)",
          "-1 .. N")
NEUTRAL = {"sum": "0", "max": "-inf", "min": "inf"}
VALUES_OF_K = (2, 5, 2**31 - 1, 0)


class Program:
    def __init__(self, seed):
        self.r = random.Random(seed)

    def number(self, depth):
        r = self.r
        if depth <= 0 or r.random() < 0.2:
            leaf = r.choice(("X[m, n]", "X[m, n]", "X[m, n]", "Y[m, n]", "c[m]", "b[n]", "pos", "integer", "literal"))
            if leaf == "pos":
                return r.choice(("f32(pos(n)).T", "f32(pos(m))"))
            if leaf == "integer":
                return f"f32(clamp({self.integer(depth - 1)}, -100, 100))"
            if leaf == "literal":
                return r.choice(("0.0", "1.0", "-1.0", "2.5", "-0.5"))
            return f"({leaf}{r.choice(FLOAT_FILLS)})" + (".T" if leaf == "b[n]" else "")
        kind = r.choice(("+", "+", "-", "*", "*", "*", "/", "max", "min", "where", "where", "where", "function", "abs"))
        if kind in "+-*/":
            return f"({self.number(depth - 1)} {kind} {self.number(depth - 1)})"
        if kind in ("max", "min"):
            return f"{kind}({self.number(depth - 1)}, {self.number(depth - 1)})"
        if kind == "where":
            return f"where({self.condition(depth - 1)}, {self.number(depth - 1)}, {self.number(depth - 1)})"
        return f"{r.choice(FUNCTIONS) if kind == 'function' else 'abs'}({self.number(depth - 1)})"

    def integer(self, depth):
        r = self.r
        if depth <= 0 or r.random() < 0.3:
            leaf = r.choice(("I[m, n]", "I[m, n]", "J[m]", "pos(n).T", "pos(m)"))
            return leaf if leaf.startswith("pos") else f"({leaf}{r.choice(INTEGER_FILLS)})"
        kind = r.choice(("+", "-", "*", "/", "%", "max", "min", "where", "i32", "abs", "-"))
        if kind in ("max", "min"):
            return f"{kind}({self.integer(depth - 1)}, {self.integer(depth - 1)})"
        if kind == "where":
            return f"where({self.condition(depth - 1)}, {self.integer(depth - 1)}, {self.integer(depth - 1)})"
        if kind == "i32":
            return f"i32({self.number(depth - 1)} + 0)"
        if kind == "abs":
            return f"abs({self.integer(depth - 1)})"
        return f"({self.integer(depth - 1)} {kind} {self.integer(depth - 1)})"

    def condition(self, depth):
        r = self.r
        kind = r.choice(("valid", "rows", "position", "and", "or", "not", "integers", "numbers"))
        if kind == "rows":
            return r.choice(("valid(m)", f"pos(m) {r.choice(COMPARISONS)} {r.choice(('M', 'M - 1', '3', 'M + 2', 'k'))}"))
        if kind == "position":
            return f"pos(n).T {r.choice(COMPARISONS)} {r.choice(('N', 'N - 1', '5', 'N + 2', 'k', 'J[0]'))}"
        if kind in ("and", "or") and depth > 0:
            return f"({self.condition(depth - 1)} {kind} {self.condition(depth - 1)})"
        if kind == "not" and depth > 0:
            return f"not ({self.condition(depth - 1)})"
        if kind == "integers":
            return f"{self.integer(depth - 1)} {r.choice(COMPARISONS)} {self.integer(depth - 1)}"
        if kind == "numbers":
            return f"{self.number(depth - 1)} {r.choice(COMPARISONS)} {self.number(depth - 1)}"
        return "valid(n).T"

    def tile(self, depth=1):
        """Of rows and columns of X: what is made of other things only has the size of a block."""
        value = self.number(depth)
        if "X[m, n]" not in value:
            value = f"({value} {self.r.choice('+*-')} (X[m, n]{self.r.choice(FLOAT_FILLS)}))"
        return value

    def masked(self, reduction, value=None):
        value = value or self.tile(self.r.choice((1, 1, 2)))
        if self.r.random() < 0.6:
            return value
        mask = self.r.choice(("valid(n).T", "pos(n).T < N and valid(n).T", "pos(n).T < min(N, k)", "valid(n).T and c[m] > 0"))
        return f"where({mask}, {value}, {NEUTRAL[reduction]})"

    @staticmethod
    def join(reduction, name, value):
        return f"{name} += {value}" if reduction == "sum" else f"{name} = {reduction}({name}, {value})"

    def source(self):
        r = self.r
        across, down, span = r.choice(tuple(NEUTRAL)), r.choice(tuple(NEUTRAL)), r.choice(RANGES)
        neutral = NEUTRAL[across]
        reduce = lambda value: self.join(across, "s", f"row{across}({value})")  # noqa: E731
        first = load = behind = ""
        kind = r.choice(("plain", "plain", "cat", "halves", "reshape", "turned", "carried", "mask carried", "pipe", "branch"))
        value = self.masked(across)
        body = reduce(value)
        if kind == "cat":
            body = reduce(f"cat({value}, {self.masked(across)})")
        elif kind == "halves":
            body = f"let w = {value}; {reduce('w[:, 0 :+ BN / 2]')}; {reduce('w[:, BN / 2 :+ BN / 2]')}"
        elif kind == "reshape":
            pairs = f"row{across}(reshape({value}, BM * BN / 2, 2))"
            body = reduce(f"reshape({pairs}, BM, BN / 2)")
        elif kind == "turned":
            body = self.join(across, "s", f"col{across}(({value}).T).T")
        elif kind == "carried":
            first, behind = f"var x: f32[BM, BN] = {neutral}", reduce("x")
            body = f"{reduce('x')}; x = {value}"
        elif kind == "mask carried":
            first = f"var x: f32[BM, BN] = {neutral}\n            var mask: bool[BM, BN] = false"
            behind = reduce(f"where(mask, x, {neutral})")
            body = f"{behind}; x = {self.tile()}; mask = valid(n).T and X[m, n] > -1000"
        elif kind == "pipe":
            sends = " ".join(f"for n in {span} by BN {{ p <- {self.masked(across)} }};" for _ in range(2))
            load = f"pipe p: f32[BM, BN]\n    worker load {{ for m in M by BM {{ {sends} }} }}"
            body = f"let v = <-p; {reduce(self.masked(across, r.choice(('v', 'v + 1', 'abs(v)', 'v * X[m, n]'))))}"
            behind = f"for n in {span} by BN {{ let v = <-p; {reduce(self.masked(across, r.choice(('v', '-v'))))} }}"
        elif kind == "branch":
            body = f"var y: f32[BM, BN] = {neutral}; if {r.choice(('J[1] < 3', 'k > 2'))} {{ y = {value} }}; {reduce('y')}"
        last = r.choice(("s", "exp(s)", "-s", "abs(s)", f"where(valid(m), s, {NEUTRAL[down]})", f"where(valid(m), s, {NEUTRAL[down]})"))
        return f"""kernel k<BM = 8, BN = 16>(X: f32[M, N], Y: f32[M, N], c: f32[M], b: f32[N], I: i32[M, N], J: i32[M], S: out f32[1], k: i32)
        require k >= 0 {{
    grid i in 1
    {load}
    worker w {{
        var t: f32[1, 1] = {NEUTRAL[down]}
        for m in M by BM {{
            var s: f32[BM, 1] = {NEUTRAL[across]}
            {first}
            for n in {span} by BN {{ {body} }}
            {behind}
            {self.join(down, 't', f'col{down}({last})')}
        }}
        S[0 :+ 1] <- t
    }}
}}
"""


def inputs():
    r = np.random.default_rng(1)
    halves = lambda *shape: (r.integers(1, 6, shape) / 2).astype(np.float32)  # noqa: E731
    ends = (2**31 - 1, -2**31)
    return {
        "X": halves(ROWS, COLUMNS) * r.choice((-1, 1), (ROWS, COLUMNS)).astype(np.float32),
        "Y": halves(ROWS, COLUMNS),
        "c": np.array([1, -1, 2, -2, 0.5, 3], np.float32),
        "b": halves(COLUMNS) * r.choice((-1, 1), COLUMNS).astype(np.float32),
        "I": r.choice((1, -1, 3, 7, -5, 100) + ends, (ROWS, COLUMNS)).astype(np.int32),
        "J": np.array(ends + (3, -1, 7, 1), np.int32),
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tkc")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--keep")
    options = parser.parse_args()
    accepted = differ = 0
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(options.keep or made)
        folder.mkdir(parents=True, exist_ok=True)
        for name, values in inputs().items():
            np.save(folder / f"{name}.npy", values)

        def result(rows, columns, k):
            command = [options.tkc, "run", folder / "program.tk", "--on", "reference", "-D", f"BM={rows}", "-D", f"BN={columns}"]
            command += ["--scalar", f"k={k}", "--out", f"S={folder / 'S.npy'}"]
            for name in inputs():
                command += ["--in", f"{name}={folder / name}.npy"]
            done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=60)
            if done.returncode not in (0, 1) or (done.returncode == 1 and "[fill-not-neutral]" not in done.stderr):
                sys.exit(f"{done.stdout}{done.stderr}\n{(folder / 'program.tk').read_text()}")
            return np.load(folder / "S.npy")[0] if done.returncode == 0 else None

        for seed in range(options.first, options.first + options.count):
            source = Program(seed).source()
            (folder / "program.tk").write_text(source)
            k = VALUES_OF_K[seed % len(VALUES_OF_K)]
            found = result(8, 16, k)
            if found is None:
                continue
            accepted += 1
            whole = result(2, 2, k)
            if whole is not None and (not np.isfinite(whole)):
                continue
            if whole is None or not abs(found - whole) <= 1e-2 * max(1, abs(whole)):
                differ += 1
                print(f"seed {seed}, k = {k}: {whole} in blocks of 2, {found} with missing elements\n{source}")
    print(f"{accepted} accepted of {options.count}, {differ} differ")
    sys.exit(differ > 0 or accepted == 0)  # what accepts nothing proves nothing


if __name__ == "__main__":
    main()
