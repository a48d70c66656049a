#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A file for sm_80 and sm_90a on an H100 or H200: the part for which the program holds code is the part that runs.

  several_targets.py --prepare TKC DIR    where there is tkc: the file, into DIR
  several_targets.py --run DIR            where there are nvcc and the GPU: builds with the codes below, runs; exit status 1 if one is wrong"""
import os
import sys

from build import HERE, NVCC, ROOT, RUNTIME, run

# Codes in the program, and the part that must run.
BUILDS = [
    ("as the head of the file says", None, 90),
    ("PTX of sm_80 alone", ["-gencode=arch=compute_80,code=compute_80"], 80),
    ("machine code of sm_80 alone", ["-gencode=arch=compute_80,code=sm_80"], 0),
    ("PTX of something older", ["-gencode=arch=compute_75,code=compute_75"], 0),
    ("sm_90a without PTX of sm_80", ["-gencode=arch=compute_80,code=sm_80", "-gencode=arch=compute_90a,code=sm_90a"], 90),
]


def head_options(path):
    with open(path, encoding="utf-8") as file:
        return [word for line in file if line.startswith("//   -gencode") for word in line[2:].split()]


def build_and_run(folder, what, options, part):
    program = os.path.join(folder, "several_targets")
    command = [NVCC, "-std=c++20", "-O3", *(options or head_options(os.path.join(folder, "several.cu"))), *RUNTIME, "-I", folder,
               os.path.join(HERE, "several_targets.cu"), "-o", program]
    status, said = run(command)
    if status == 0:
        status, said = run([program, str(part)], timeout=120)
    print(f"{'ok  ' if status == 0 else 'FAIL'} {what}: {said.strip()[-400:]}", flush=True)
    return status == 0


def main():
    if sys.argv[1] == "--prepare":
        tkc, folder = sys.argv[2:4]
        os.makedirs(folder, exist_ok=True)
        status, said = run([tkc, os.path.join(ROOT, "examples/gemm/gemm.tk"), "--target", "sm_80,sm_90a", "-o", os.path.join(folder, "several.cu")])
        print(said, end="")
        return status
    folder = sys.argv[2]
    return 0 if all([build_and_run(folder, *build) for build in BUILDS]) else 1


if __name__ == "__main__":
    sys.exit(main())
