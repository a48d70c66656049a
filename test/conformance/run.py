#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the prepared conformance cases on the GPU and compares them, bit for bit, with the simulator and with host code.

    run.py [DIR]                    DIR: what prepare.py has made, the folder of this file by default
    run.py DIR --prepare BUILD      prepares DIR first, where there is both a GPU and BUILD/bin/tkc-sim

One line for each case. `print` cases, which show what documents leave open, never fail: their line says where GPU and
simulator differ. Outputs of the GPU stay in DIR/gpu.
"""
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import cases as conformance  # noqa: E402

NVCC = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"


def build(folder):
    """Builds folder/run_gpu from folder/source, four files at a time; what went wrong, or ''."""
    source = folder / "source"
    files = [source / "test" / "conformance" / "run_gpu.cu", *sorted((source / "test" / "conformance" / "cases").glob("*.cu"))]
    objects = folder / "objects"
    objects.mkdir(exist_ok=True)
    flags = ["-gencode=arch=compute_90a,code=sm_90a", "-std=c++20", "-O2", "-I", str(source), "-I", str(source / "runtime" / "include")]
    made, waiting, problem = [], list(files), ""
    running = []
    while waiting or running:
        while waiting and len(running) < min(4, os.cpu_count() or 1):
            file = waiting.pop(0)
            made.append(objects / f"{file.stem}.o")
            running.append((file, subprocess.Popen([NVCC, *flags, "-c", str(file), "-o", str(made[-1])], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)))
        file, process = running.pop(0)
        text = process.communicate()[0]
        if process.returncode != 0:
            problem = problem or f"{file.name}: {text[-1500:]}"
    if not problem:
        done = subprocess.run([NVCC, *flags, *map(str, made), "-o", str(folder / "run_gpu")], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        problem = done.stdout[-1500:] if done.returncode != 0 else ""
    shutil.rmtree(objects)
    return problem


class Listed:
    def __init__(self, entry):
        self.name, self.mode, self.relative, self.absolute = entry["name"], entry["mode"], entry["relative"], entry["absolute"]


def run_all(folder, entries, answers):
    """Runs what it can; after an error of the device the program starts again behind the case."""
    out = folder / "gpu"
    out.mkdir(exist_ok=True)
    rest = list(entries)
    while rest:
        arguments = []
        for e in rest:
            arguments += [e["name"], str(folder / "data" / f"{e['name']}.in"), str(e["out"]), str(out / f"{e['name']}.bin")]
        try:
            done = subprocess.run([str(folder / "run_gpu"), *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=30 + 2 * len(rest))
            text, ended = done.stdout, done.returncode
        except subprocess.TimeoutExpired as late:
            text, ended = (late.stdout or b"").decode() if isinstance(late.stdout, bytes) else late.stdout or "", "no end in time"
        lines = [line.split(": ", 1) for line in text.splitlines() if ": " in line]
        said = {line[0]: line[1] for line in lines}
        answers.update({name: answer for name, answer in said.items() if any(e["name"] == name for e in rest)})
        left = [e for e in rest if e["name"] not in answers]
        if left and ended != 3:  # it died, or hangs, in the first one that is missing
            answers[left[0]["name"]] = f"failed: the program ended with {ended}: {text[-200:]}"
            left = left[1:]
        rest = left


def main():
    here = Path(__file__).resolve().parent
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else here).resolve()
    if sys.argv[2:3] == ["--prepare"]:
        subprocess.run([str(here / "prepare.py"), str(folder), "--build", sys.argv[3]], check=True)
    entries = json.loads((folder / "cases.json").read_text())
    program = folder / "run_gpu"
    works = program.exists() and os.access(program, os.X_OK)
    if works:
        try:
            works = subprocess.run([str(program)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60).returncode == 0
        except OSError:
            works = False
    if not works:
        problem = build(folder)
        if problem:
            sys.exit(f"failed: the program can't be built: {problem}")
    answers = {}
    run_all(folder, entries, answers)
    passed = failed = shown = 0
    for entry in entries:
        case, answer = Listed(entry), answers[entry["name"]]
        if answer != "done":
            failed += 1
            print(f"{case.name}: {answer}")
            continue
        gpu = conformance.read_words(folder / "gpu" / f"{case.name}.bin")
        expected = conformance.read_words(folder / "data" / entry["expected"])
        simulated = conformance.read_words(folder / "data" / entry["simulated"]) if entry["simulated"] else ()
        if case.mode == "print":
            shown += 1
            bad = conformance.wrong(case, gpu, simulated)
            print(f"{case.name}: {'as simulated' if not bad else 'GPU and simulator: ' + conformance.describe(case, bad, gpu, simulated, 40)}")
            continue
        bad, unlike = conformance.wrong(case, gpu, expected), conformance.wrong(case, gpu, simulated)
        if bad or unlike:
            failed += 1
            print(f"{case.name}: failed: " + (f"against host code: {conformance.describe(case, bad, gpu, expected)}" if bad else f"against the simulator: {conformance.describe(case, unlike, gpu, simulated)}"))
        else:
            passed += 1
            print(f"{case.name}: passed, {entry['out']} words{' within the error' if case.mode == 'within' else ' bit for bit'}")
    print(subprocess.run([str(program), "--encode-time"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout.strip())
    print(f"{passed} passed, {failed} failed, {shown} shown of {len(entries)} cases")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
