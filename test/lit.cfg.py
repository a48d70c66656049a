# SPDX-License-Identifier: MIT
# The tests that are files: `lit test --param build=build/release`, from the root of the repository; tools/test does it.
#
#   %tkc           the compiler
#   %build         the folder of its build
#   %errors %s ..  compiles the file, wants status 1 and exactly the text of the file's `.expected` on standard error;
#                  with `// APPLY` in the file the edits that the helps carry must mend it (test/errors.py, --update there)
#   %run %s        executes the file's kernel on the reference interpreter and compares with its comments (test/spec/check_run.py)
#   %fails CMD     wants exit status 1: a diagnostic, not an internal error
import os
import shutil
import subprocess
import sys

import lit.formats

config.name = "tkc"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".tk", ".ir", ".test"]
config.excludes = ["gpu", "unit", "fuzz", "runtime", "inputs", "consumer"]

config.test_source_root = os.path.dirname(os.path.abspath(__file__))
root = os.path.dirname(config.test_source_root)
build = os.path.join(root, lit_config.params.get("build", "build/release"))
config.test_exec_root = os.path.join(build, "test-output")

tkc = os.path.join(build, "bin", "tkc")
if not os.path.exists(tkc):
    lit_config.fatal(f"no compiler at {tkc}: build it first, or name its build folder with --param build=DIR")

llvm = [p for p in ("/usr/lib/llvm-22/bin",) if os.path.isdir(p)]
config.environment["PATH"] = os.pathsep.join([os.path.join(build, "bin")] + llvm + [os.environ["PATH"]])
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "UPDATE"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

# A python3 before Debian's on the path may not see its packages; NumPy is needed.
python = sys.executable
if subprocess.run([python, "-c", "import numpy"], capture_output=True).returncode != 0 and os.path.exists("/usr/bin/python3"):
    python = "/usr/bin/python3"
config.substitutions += [
    ("%errors", f"{python} {config.test_source_root}/errors.py {tkc}"),
    ("%fails", f"{python} {config.test_source_root}/fails.py"),
    ("%run", f"{python} {config.test_source_root}/spec/check_run.py {tkc}"),
    ("%python", python),
    ("%tkc", tkc),
    ("%root", root),
    ("%build", build),
]

# What tests compile for the simulator is kept apart from the user's cache.
config.environment["XDG_CACHE_HOME"] = os.path.join(config.test_exec_root, "cache")
if os.path.exists(os.path.join(build, "bin", "tkc-sim")):
    config.available_features.add("simulator")

# Tests may demand `simulator`, `nvcc`, `clang`, or `optimized`: no sanitizers, so that what takes long runs once. What says `long`, too,
# takes several seconds: tools/test runs one in five of these for a change. Tests that are lists of cases take `%draw`, by which they try one
# in five for a change (`--param draw=SEED`), else all.
nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
if os.path.exists(nvcc):
    config.available_features.add("nvcc")
    config.substitutions.append(("%nvcc", nvcc))
if shutil.which("clang++-22"):
    config.available_features.add("clang")
if os.path.basename(os.path.normpath(build)) != "debug":
    config.available_features.add("optimized")
config.available_features.add("long")
draw = lit_config.params.get("draw")
config.substitutions.append(("%draw", f"--draw {draw}" if draw else ""))
