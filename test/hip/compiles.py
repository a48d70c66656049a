#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The wrappers' cases, a launcher, and host code beside device code compile for their chips without warnings; an instruction of
gfx950 is refused on gfx942."""
import subprocess
import sys

import isa


def compile_for(chip, source, *more):
    """What the compiler says, '' if nothing; host and device code unless `more` asks for one of them."""
    command = [isa.CLANG, "-x", "hip", f"--offload-arch={chip}", "-std=c++20", "-nogpuinc", "-nogpulib", "-isystem", isa.SHIM, "-I", isa.ROOT / "runtime" / "include",
               "-I", isa.ROOT, "-O1", "-Wall", "-Wextra", "-Werror", *more, "-o", "/dev/null", source]
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.stdout[-2000:] if done.returncode != 0 else ""


def main():
    problems, hip = [], isa.ROOT / "test" / "hip"
    for source in sorted((isa.ROOT / "test" / "conformance" / "hip").glob("*.cu")):
        problems.append(compile_for("gfx950" if source.stem == "gfx950" else "gfx942", source, "--cuda-device-only", "-S"))
    for chip in ("gfx942", "gfx950"):
        problems.append(compile_for(chip, hip / "launcher.cu", "-c", f'-DLAUNCHER_FOR="tk/{chip}.h"'))
    problems = [problem for problem in problems if problem]
    if "gfx950" not in compile_for("gfx942", isa.ROOT / "test" / "conformance" / "hip" / "gfx950.cu", "--cuda-device-only", "-S"):
        problems.append("instructions of gfx950 are not refused on gfx942")
    print("\n".join(problems) or "HIP files compile for gfx942 and gfx950")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(isa.run(main))
