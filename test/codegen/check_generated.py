# SPDX-License-Identifier: MIT
"""check_generated.py parse TKC CXX [--draw SEED] FILE.tk..   what tkc makes of each file parses as C++, without CUDA
check_generated.py ptxas TKC NVCC [--draw SEED] FILE.tk..  ptxas keeps its products asynchronous and spills nothing

With a seed: one file in five."""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test"))
import drawing  # noqa: E402

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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=("parse", "ptxas"))
    parser.add_argument("tkc")
    parser.add_argument("compiler")
    parser.add_argument("--draw")
    parser.add_argument("files", nargs="+")
    options = parser.parse_intermixed_args()
    kernels = [f for f in options.files if "kernel " in pathlib.Path(f).read_text(encoding="utf-8")]  # not what others import
    failed = 0
    for kernel in drawing.drawn(kernels, options.draw):
        with tempfile.TemporaryDirectory(prefix="generated.") as folder:
            fault = fault_of(options.mode, options.tkc, options.compiler, kernel, folder)
        if fault:
            print(f"{kernel}: {options.compiler}:\n{fault[:4000]}")
            failed += 1
    sys.exit(1 if failed or not kernels else 0)


main()
