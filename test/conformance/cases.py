# SPDX-License-Identifier: MIT
"""The conformance cases: how they are declared (case.h), their inputs, the simulator's half, and how outputs are compared."""
import json
import math
import os
import re
import shutil
import struct
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
DECLARATION = re.compile(r"^// case: (\w+) in (\d+) out (\d+) (exact|print|within (\S+)(?: absolute (\S+))?) covers (.*)$", re.M)


class Case:
    def __init__(self, file, found):
        self.file, self.name = file, found.group(1)
        self.inputs, self.outputs = int(found.group(2)), int(found.group(3))
        self.mode = found.group(4).split()[0]
        self.relative, self.absolute = (power(found.group(n)) if found.group(n) else 0.0 for n in (5, 6))
        self.covers = [name.strip() for name in found.group(7).split(",")]


def power(text):
    base, _, exponent = text.partition("^")
    return float(base) ** float(exponent or 1)


def read_cases(folder=HERE / "cases"):
    """All cases, by file and place in it."""
    return [Case(file, found) for file in sorted(folder.glob("*.cu")) for found in DECLARATION.finditer(file.read_text())]


def input_words(case):
    """Random words that depend on the name alone."""
    state = 0
    for byte in case.name.encode():
        state = (state * 131 + byte) % (1 << 64)
    words = []
    for _ in range(case.inputs):  # splitmix64
        state = (state + 0x9E3779B97F4A7C15) % (1 << 64)
        z = state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % (1 << 64)
        z = (z ^ z >> 27) * 0x94D049BB133111EB % (1 << 64)
        words.append((z ^ z >> 31) & 0xFFFFFFFF)
    return words


def write_words(path, words):
    path.write_bytes(struct.pack(f"<{len(words)}I", *words))


def read_words(path):
    data = Path(path).read_bytes()
    return struct.unpack(f"<{len(data) // 4}I", data)


def as_float(word):
    return struct.unpack("<f", struct.pack("<I", word))[0]


def wrong(case, out, expected):
    """Indices at which `out` is not what it must be; `print` cases compare exactly, too."""
    if len(out) != len(expected):
        return list(range(max(len(out), len(expected))))
    bad = []
    for i, (x, y) in enumerate(zip(out, expected)):
        if x == y:
            continue
        if case.mode == "within":
            a, b = as_float(x), as_float(y)
            if math.isnan(a) and math.isnan(b):
                continue
            if math.isfinite(a) and math.isfinite(b) and abs(a - b) <= max(case.relative * abs(b), case.absolute) and (a != 0 or b == 0 or case.absolute):
                continue
        bad.append(i)
    return bad


def describe(case, bad, out, expected, most=4):
    """What is wrong, shortly."""
    if len(out) != len(expected):
        return f"{len(out)} words, expected {len(expected)}"
    shown = ", ".join(f"[{i}] {out[i]:08x} ({as_float(out[i]):.9g}) for {expected[i]:08x} ({as_float(expected[i]):.9g})" for i in bad[:most])
    return f"{len(bad)} of {len(out)} words differ: {shown}{', ...' if len(bad) > most else ''}"


def build_simulated(root, out, cases):
    """One library for each file of the cases, by $CXX or c++; returns what went wrong, or ''."""
    for file in sorted({case.file for case in cases}):
        command = [os.environ.get("CXX", "c++"), "-std=c++20", "-x", "c++", "-DTK_SIM", "-O1", "-g1", "-fno-omit-frame-pointer", "-fPIC", "-shared", "-Wall", "-Wextra", "-Werror",
                   "-I", root / "runtime" / "include", "-I", root, file, "-o", out / f"{file.stem}.so"]
        if shutil.which("ccache"):
            command = ["ccache", *command]
        done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            return f"{file.name}: {done.stdout[-2000:]}"
    return ""


def simulate(simulator, libraries, case, out, entry, seed):
    """Runs an entry of the case; (words or None, what went wrong)."""
    result, final, initial = out / f"{entry}.json", out / f"{entry}.{seed}.bin", out / f"{case.name}.in"
    if not initial.exists():
        write_words(initial, input_words(case))
    tensor = lambda name, words, **more: {"name": name, "dtype": 4, "rank": 1, "extent": [words], "stride": [1], "bytes": 4 * words, "offset": 0, "align": 256, **more}
    job = {"library": str(libraries / f"{case.file.stem}.so"), "entry": entry, "seed": seed, "sms": 4, "trace": None, "max_findings": 5, "result": str(result),
           "tensors": [tensor("in", case.inputs, initial=str(initial), final=None, written=False), tensor("out", case.outputs, initial=None, final=str(final), written=True)],
           "scalars": [], "workspace": True}
    path = out / f"{entry}.job"
    path.write_text(json.dumps(job))
    result.unlink(missing_ok=True)
    try:
        done = subprocess.run([str(simulator), str(path)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        return None, "no end within 120 s"
    if not result.exists():
        return None, f"status {done.returncode}: {done.stdout[-500:]}"
    answer = json.loads(result.read_text())
    if answer["status"]["code"] != 0:
        return None, answer["status"]["message"]
    if answer["findings"]:
        first = answer["findings"][0]
        places = "; ".join(f"{site['role']}: " + ", ".join(f"{os.path.basename(f['file'])}:{f['line']}" for f in site["frames"][:3]) for site in first["sites"])
        return None, f"finding: {first['kind']}: {first['text']} [{places}]"
    return read_words(final), ""
