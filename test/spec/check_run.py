# SPDX-License-Identifier: MIT
"""Executes a kernel on the reference interpreter and compares every output with what its comments say, in NumPy.

  check_run.py TKC FILE.tk

A file has one or more cases, each a group of comment lines (a new `dims` line starts the next case):

  // dims: M=3, N=5                         extents of the dimensions; they are names in the expressions
  // kernel: name                           optional, where the file has several
  // define: BM=8                           optional, as -D
  // scalar s: f32 0.5                      a launch scalar
  // in X: bf16 arange(M * N).reshape(M, N) element type, then NumPy; what follows sees X as stored (rounded), in f64 or i64
  // out Y: f32 X.sum(axis=1)               what must come out, after rounding to the element type; those behind see it
  // close: 1e-6                            optional: relative tolerance instead of equality of every element
"""
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

DTYPES = {"f32": np.float32, "f16": np.float16, "i32": np.int32, "u32": np.uint32, "i64": np.int64, "u64": np.uint64, "bool": np.bool_,
          "i8": np.int8, "u8": np.uint8}


def bf16_bits(x):
    """Bits of the nearest bf16, ties to even; NaN stays NaN. From f64, so that nothing is rounded twice."""
    x = np.asarray(x, np.float64)
    f = x.astype(np.float32)
    # Rounding to f32 first must not decide a tie: round to odd there.
    bits = f.view(np.uint32).astype(np.int64)
    inexact = np.isfinite(f) & (f.astype(np.float64) != x)
    toward = np.abs(f.astype(np.float64)) > np.abs(x)
    bits = np.where(inexact & toward, bits - 1, bits)
    bits = np.where(inexact, bits | 1, bits)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16) & 0xFFFF
    return np.where(np.isnan(x), 0x7FC0, rounded).astype(np.uint16)


def bf16_values(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


def float8_values(dtype):
    """What the patterns 0 .. 127 stand for, from the definition of the format."""
    fraction, bias = (3, 7) if dtype == "e4m3" else (2, 15)
    bits = np.arange(128)
    exponent, low = bits >> fraction, bits & ((1 << fraction) - 1)
    values = np.where(exponent == 0, np.ldexp(low * 1.0, 1 - bias - fraction), np.ldexp((low | 1 << fraction) * 1.0, exponent - bias - fraction))
    if dtype == "e4m3":
        values[127] = np.nan
    else:
        values[124], values[125:] = np.inf, np.nan
    return values


def float8_bits(dtype, x):
    """Bits of the nearest number, ties to even, at most the largest; NaN stays NaN."""
    x = np.asarray(x, np.float64)
    values = float8_values(dtype)
    finite = values[np.isfinite(values)]
    middles = (finite[:-1] + finite[1:]) / 2
    below, above = np.searchsorted(middles, np.abs(x), "left"), np.searchsorted(middles, np.abs(x), "right")
    bits = np.where(below % 2 == 0, below, above)
    return np.where(np.isnan(x), 127, bits | np.where(np.signbit(x), 128, 0)).astype(np.uint8)


def to_stored(dtype, values):
    with np.errstate(all="ignore"):
        if dtype in ("e4m3", "e5m2"):
            return float8_bits(dtype, values)
        return bf16_bits(values) if dtype == "bf16" else np.asarray(values).astype(DTYPES[dtype])


def from_stored(dtype, stored):
    if dtype in ("e4m3", "e5m2"):
        stored = stored.view(np.uint8)
        return np.where(stored >= 128, -1.0, 1.0) * float8_values(dtype)[stored & 127]
    if dtype in ("i8", "u8"):
        return stored.astype(np.int64)
    values = bf16_values(stored) if dtype == "bf16" else stored
    return values.astype(np.float64) if dtype in ("bf16", "f16", "f32") else values


def philox(seed, index):
    """Word `index` mod 4 of Philox4x32-10 under the key `seed` at the counter `index` div 4."""
    index = np.asarray(index).astype(np.uint64)
    low, shift = np.uint64(0xFFFFFFFF), np.uint64(32)
    counter = [index >> np.uint64(2) & low, index >> np.uint64(34), index * np.uint64(0), index * np.uint64(0)]
    key = [np.uint64(seed & 0xFFFFFFFF), np.uint64(seed >> 32)]
    for _ in range(10):
        first, second = counter[0] * np.uint64(0xD2511F53), counter[2] * np.uint64(0xCD9E8D57)
        counter = [second >> shift ^ counter[1] ^ key[0], second & low, first >> shift ^ counter[3] ^ key[1], first & low]
        key = [key[0] + np.uint64(0x9E3779B9) & low, key[1] + np.uint64(0xBB67AE85) & low]
    return np.choose((index % np.uint64(4)).astype(int), counter).astype(np.uint32)


def cases(text):
    found = []
    for match in re.finditer(r"^// (dims|kernel|define|scalar|in|out|close)\b ?(\w*): (.*)$", text, flags=re.M):
        word, name, rest = match.groups()
        if word == "dims":
            found.append({"dims": rest, "define": [], "scalar": [], "in": [], "out": [], "kernel": None, "close": None})
        elif word in ("kernel", "close"):
            found[-1][word] = rest.strip()
        elif word == "define":
            found[-1]["define"].append(rest.strip())
        else:
            dtype, expression = rest.split(None, 1)
            found[-1][word].append((name, dtype, expression))
    return found


def run_case(tkc, path, case, number):
    names = {k: getattr(np, k) for k in dir(np) if not k.startswith("_")}
    names["np"] = np
    names["philox"] = philox
    names["float8_round"] = lambda dtype, x: from_stored(dtype, float8_bits(dtype, x))
    names["bf16_round"] = lambda x: bf16_values(bf16_bits(x)).astype(np.float64)
    dims = dict(part.split("=") for part in case["dims"].replace(" ", "").split(",") if part)
    names.update({k: int(v) for k, v in dims.items()})
    with tempfile.TemporaryDirectory(prefix="check_run.") as folder:
        command = [tkc, "run", "--on", "reference", path]
        if dims:
            command += ["--dims", ",".join(f"{k}={v}" for k, v in dims.items())]
        if case["kernel"]:
            command += ["--kernel", case["kernel"]]
        for define in case["define"]:
            command += ["-D", define]
        for name, _, value in case["scalar"]:
            command += ["--scalar", f"{name}={value}"]
            names[name] = eval(value, names)
        for name, dtype, expression in case["in"]:
            stored = to_stored(dtype, eval(expression, names))
            np.save(f"{folder}/{name}.npy", stored)
            names[name] = from_stored(dtype, stored)
            command += ["--in", f"{name}={folder}/{name}.npy"]
        for name, _, _ in case["out"]:
            command += ["--out", f"{name}={folder}/{name}.out.npy"]
        run = subprocess.run(command, capture_output=True, text=True, timeout=120)
        if run.returncode != 0:
            print(f"{path}: case {number}: tkc gives {run.returncode}\n{run.stdout}{run.stderr}")
            return False
        ok = True
        for name, dtype, expression in case["out"]:
            with np.errstate(all="ignore"):
                wanted = names[name] = from_stored(dtype, to_stored(dtype, eval(expression, names)))
            found = from_stored(dtype, np.load(f"{folder}/{name}.out.npy"))
            if found.shape != wanted.shape:
                print(f"{path}: case {number}: {name} has shape {found.shape}, expected {wanted.shape}")
                ok = False
            elif case["close"]:
                same = np.isclose(found, wanted, rtol=float(case["close"]), atol=0, equal_nan=True)
            else:
                same = (found == wanted) | ((found != found) & (wanted != wanted))
            if found.shape == wanted.shape and not np.all(same):
                at = tuple(int(i) for i in np.argwhere(~same)[0])
                print(f"{path}: case {number}: {name}{list(at)} is {found[at]}, expected {wanted[at]} ({np.sum(~same)} differ)")
                ok = False
        return ok


def main():
    tkc, path = sys.argv[1], sys.argv[2]
    found = cases(pathlib.Path(path).read_text(encoding="utf-8"))
    if not found or not all(case["out"] for case in found):
        print(f"{path}: a case without `dims` or `out` compares nothing")
        return 1
    return 0 if all([run_case(tkc, path, case, i + 1) for i, case in enumerate(found)]) else 1


if __name__ == "__main__":
    sys.exit(main())
