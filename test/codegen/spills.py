#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""spills.py BUILD [--target NAME,..] [--draw SEED] [--frames] [FILE.tk ..]: ptxas spills nothing of any schedule set of these files, by default of all
examples, for any of these targets, by default all of NVIDIA's, but for what is ALLOWED. With --frames no array lies in memory, either. tools/test --all does it: minutes of nvcc. Needs a CUDA toolkit, and no GPU."""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test"))
import drawing  # noqa: E402

NVCC = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
KERNEL = re.compile(r"Compiling entry function '(\w+)'.*?(\d+) bytes stack frame, (\d+) bytes spill stores", re.S)
TARGETS = ("sm_80", "sm_86", "sm_89", "sm_90a", "sm_120")

# Bytes that may be spilled, of sets which all that fit are slower than. On an H200 softmax of 100003 columns reaches 0.913 of the copy
# with 12 bytes in memory; 0.84, 0.79 and 0.66 with shorter blocks or fewer of them.
ALLOWED = {("softmax_spread_seven", "sm_90a"): 12}


def allowed(name, target):
    return max((limit for (kernel, of), limit in ALLOWED.items() if of == target and kernel in name), default=0)


def spills_of(tkc, source, target, frames):
    """[what is wrong]: a line for each kernel that spills, or what tkc or nvcc said."""
    with tempfile.TemporaryDirectory(prefix="spills.") as folder:
        made = subprocess.run([tkc, source, f"--target={target}", "-o", f"{folder}/kernel.cu"], capture_output=True, text=True)
        if made.returncode != 0:
            return [made.stderr]
        architecture = f"-gencode=arch={target.replace('sm', 'compute')},code={target}"
        command = [NVCC, "-std=c++20", architecture, "-I", ROOT / "runtime/include", "-Xptxas", "-v", "-cubin", "-o", "kernel.cubin", "kernel.cu"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    said = done.stdout + done.stderr
    kernels = KERNEL.findall(said)
    if done.returncode != 0 or not kernels:
        return [said[:2000]]
    spilled = [f"{name}: {stored} bytes of registers spilled" for name, _, stored in kernels if int(stored) > allowed(name, target)]
    return spilled + [f"{name}: {frame} bytes of arrays in memory" for name, frame, _ in kernels if frames and int(frame) > 0]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build")
    parser.add_argument("--target", default=",".join(TARGETS))
    parser.add_argument("--draw", help="a seed: one file in five")
    parser.add_argument("--frames", action="store_true", help="nor are there arrays in memory")
    parser.add_argument("sources", nargs="*")
    options = parser.parse_intermixed_args()
    if not os.path.exists(NVCC):
        print("spills.py: skipped, there is no nvcc")
        return 0
    tkc = pathlib.Path(options.build).resolve() / "bin" / "tkc"
    sources = options.sources or sorted(f for f in (ROOT / "examples").rglob("*.tk") if "kernel " in f.read_text(encoding="utf-8"))
    jobs = [(source, target) for target in options.target.split(",") for source in drawing.drawn(sources, options.draw)]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for (source, target), faults in zip(jobs, pool.map(lambda job: spills_of(tkc, *job, options.frames), jobs)):
            for fault in faults:
                print(f"{source}, {target}: {fault}")
            failed += bool(faults)
    print(f"{len(jobs) - failed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
