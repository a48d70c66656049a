# SPDX-License-Identifier: MIT
"""Judges one mutant: does the verifier refuse it, does the certificate, does the simulator find anything or compute something else?"""
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
FLAGS = ["-std=c++20", "-x", "c++", "-DTK_SIM", "-O1", "-g1", "-ffp-contract=off", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls",
         "-fno-strict-aliasing", "-fPIC", "-shared", "-w"]
CODES = {"bf16": 0, "f16": 1, "f32": 2, "i32": 3}
SIZES = {"bf16": 2, "f16": 2, "f32": 4, "i32": 4}
SEEDS = (1, 2, 3, 4, 5)
TIME = 60  # seconds for one run of a mutant: a hang is found by the simulator itself, long before


def run(command, timeout):
    try:
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=timeout, errors="replace")
        return done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired:
        return 124, "", "no end"


def target_of(text):
    return "--target=" + re.search(r"(?m)^  target (\w+)", text)[1]


def static_verdict(tkc, text, folder, name):
    """`verifier`, `certificate: kind`, or `` where both accept; then the milliseconds that tkc took."""
    file = folder / f"{name}.ir"
    file.write_text(text)
    rc, _, errors = run([tkc, "--from=schedule", target_of(text), file, "--emit=certificate", "-o", folder / f"{name}.proof"], 60)
    if rc == 0:
        return ""
    kind = re.search(r"^error: .*\[([\w-]+)\]$", errors, re.M)
    if rc != 1 or not kind:
        return f"tkc itself: status {rc}"
    return "verifier" if kind[1] == "malformed-ir" else f"certificate: {kind[1].removeprefix('certificate-')}"


def element_bytes(dtype, count, seed):
    """Small integers: sums of products are exact, so that a right answer has the same bits at every seed."""
    numbers = random.Random(seed)
    values = [numbers.randint(-2, 2) for _ in range(count)]
    if dtype == "i32":
        return struct.pack(f"<{count}i", *values)
    table = {v: struct.pack("<f", v)[2:] if dtype == "bf16" else struct.pack("<e" if dtype == "f16" else "<f", v) for v in range(-2, 3)}
    return b"".join(table[v] for v in values)


def jobs(kernel, text, folder):
    """A job (without library, seed and result) for each shape of the kernel; inputs are written to `folder`."""
    declared = re.findall(r"(?m)^  tensor (\w+) : (\w+) (\w+)\[(.*?)\]", text)
    scalars = dict(kernel.scalars)
    made = []
    for number, (dims, sms) in enumerate(kernel.shapes):
        tensors = []
        for name, mode, dtype, extents in declared:
            extent = [dims.get(e.strip()) or int(e) for e in extents.split(",")]
            stride, count = [], 1
            for e in reversed(extent):
                stride.insert(0, count)
                count *= e
            initial = None
            if mode != "out":
                initial = folder / f"{kernel.name}.{number}.{name}.bin"
                initial.write_bytes(element_bytes(dtype, count, f"{kernel.name}{name}"))
            tensors.append({"name": name, "dtype": CODES[dtype], "rank": len(extent), "extent": extent, "stride": stride,
                            "bytes": count * SIZES[dtype], "offset": 0, "align": 256, "initial": initial and str(initial), "final": None,
                            "written": mode != "in"})
        entry = re.search(r"(?m)^entry (\w+)", text)[1]
        made.append({"entry": entry, "workspace_query": f"{entry}_workspace", "sms": sms, "trace": None, "max_findings": 4,
                     "tensors": tensors, "workspace": True,
                     "scalars": [{"name": n, "dtype": 2, "bits": hex(b)} for n, b in scalars.items()],
                     "arguments": [t["name"] for t in tensors] + list(scalars)})
    return made


class Simulator:
    """Builds and runs kernels of one canonical kernel, and knows the right answers."""

    def __init__(self, tkc, sim, kernel, text, folder):
        self.tkc, self.sim, self.kernel, self.folder = tkc, sim, kernel, folder
        self.jobs = jobs(kernel, text, folder)
        self.right = None
        library, why = self.build(text, f"{kernel.name}_itself")
        if not library:
            raise SystemExit(f"{kernel.name}: {why}")
        self.right = [self.one(library, job, seed=0) for job in self.jobs]
        for job, (verdict, answer) in zip(self.jobs, self.right):
            if verdict:
                raise SystemExit(f"{kernel.name} itself: {verdict}")
        for seed in SEEDS:
            for number, job in enumerate(self.jobs):
                verdict, _ = self.one(library, job, seed, number)
                if verdict:
                    raise SystemExit(f"{kernel.name} itself, seed {seed}: {verdict}")

    def build(self, text, name):
        base = self.folder / name
        base.with_suffix(".ir").write_text(text)
        rc, _, errors = run([self.tkc, "--from=schedule", target_of(text), "--no-certificate", base.with_suffix(".ir"), "-o", base.with_suffix(".cu")], 60)
        if rc:
            return None, "no source: " + errors.strip().splitlines()[0]
        compiler = shutil.which("c++") or "g++"
        rc, _, errors = run([compiler, *FLAGS, "-I", ROOT / "runtime/include", base.with_suffix(".cu"), "-o", base.with_suffix(".so")], 300)
        if rc:
            error = next((line for line in errors.splitlines() if " error: " in line), errors[:200])
            return None, "host compiler: " + error.split("error: ")[-1]
        return base.with_suffix(".so"), ""

    def one(self, library, job, seed, number=None):
        """(verdict, hash of the written tensors): verdict is empty, a finding's kind, or `wrong result`."""
        base = library.with_suffix("")
        job = json.loads(json.dumps(job))
        job.update(library=str(library), seed=seed, result=str(base) + ".json")
        finals = []
        for t in job["tensors"]:
            if t["written"]:
                t["final"] = f"{base}.{t['name']}.final"
                finals.append(t["final"])
        path = pathlib.Path(str(base) + ".job")
        path.write_text(json.dumps(job))
        result = pathlib.Path(job["result"])
        result.unlink(missing_ok=True)
        rc, _, errors = run([self.sim, path], TIME)
        if rc == 124:
            return "no end", None
        if not result.exists():
            return f"no result: status {rc} {errors.strip()[:120]}", None  # not this mutant's fault: a crash is a finding
        found = json.loads(result.read_text())
        if found["findings"]:
            return found["findings"][0]["kind"], None
        if found["status"]["code"]:
            return f"refused: {found['status']['message'][:60]}", None
        digest = hashlib.sha256(b"".join(open(f, "rb").read() for f in finals)).hexdigest()
        if number is not None and self.right is not None and digest != self.right[number][1]:
            return "wrong result", digest
        return "", digest

    def verdict(self, text, name):
        """`simulator: kind, seed n`, or `survives`."""
        library, why = self.build(text, name)
        if not library:
            return why
        try:
            for seed in SEEDS:
                for number, job in enumerate(self.jobs):
                    found, _ = self.one(library, job, seed, number)
                    if found:
                        return found if found.startswith("no result") else f"simulator: {found}, seed {seed}"
            return "survives"
        finally:
            for file in self.folder.glob(f"{name}.*"):
                file.unlink()
