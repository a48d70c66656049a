# SPDX-License-Identifier: MIT
"""check_generated.py parse TKC CXX FILE.tk..   what tkc makes of each file parses as C++, without CUDA
check_generated.py ptxas TKC NVCC FILE.tk..  ptxas keeps its products asynchronous and spills nothing"""
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What careful projects ask of their own code, and of what is generated among it.
PARSE = ["-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wno-sign-conversion", "-Wold-style-cast", "-Wundef", "-Werror",
         "-fsyntax-only", "-DTK_SIM", "-x", "c++"]
PTXAS = ["-gencode=arch=compute_90a,code=sm_90a", "-std=c++20", "-Xptxas", "-v,--warn-on-spills", "-c", "-o", "kernel.o"]
# C75xx: what ptxas says of a product that it makes synchronous.
FAULTS = re.compile(r"^.*(?:C75\d\d|warning|[1-9]\d* bytes spill).*$", re.M)


def fault_of(mode, tkc, compiler, kernel, folder):
    made = subprocess.run([tkc, kernel, "-o", f"{folder}/kernel.cu"], capture_output=True, text=True, timeout=120)
    if made.returncode != 0:
        return made.stderr
    command = [compiler, *(PARSE if mode == "parse" else PTXAS), "-I", ROOT / "runtime/include", "kernel.cu"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=900)
    said = done.stdout + done.stderr
    if done.returncode != 0:
        return said
    return "" if mode == "parse" else "\n".join(FAULTS.findall(said))


def main():
    mode, tkc, compiler, files = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
    kernels = [f for f in files if "kernel " in pathlib.Path(f).read_text(encoding="utf-8")]  # not what others import
    failed = 0
    for kernel in kernels:
        with tempfile.TemporaryDirectory(prefix="generated.") as folder:
            fault = fault_of(mode, tkc, compiler, kernel, folder)
        if fault:
            print(f"{kernel}: {compiler}:\n{fault[:4000]}")
            failed += 1
    sys.exit(1 if failed or not kernels else 0)


main()
