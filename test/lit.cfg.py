# SPDX-License-Identifier: MIT
# The tests that are files: `lit test --param build=build/release`, from the root of the repository; tools/test does it.
#
#   %tkc           the compiler
#   %errors %s ..  compiles the file, wants status 1 and exactly the text of the file's `.expected` on standard error;
#                  with `// APPLY` in the file the edits that the helps carry must mend it (test/errors.py, --update there)
#   %fails CMD     wants exit status 1: a diagnostic, not an internal error
import os
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

python = sys.executable
config.substitutions += [
    ("%errors", f"{python} {config.test_source_root}/errors.py {tkc}"),
    ("%fails", f"{python} {config.test_source_root}/fails.py"),
    ("%tkc", tkc),
    ("%root", root),
]
if lit_config.params.get("nvcc"):
    config.available_features.add("nvcc")
