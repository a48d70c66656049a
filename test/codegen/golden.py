# SPDX-License-Identifier: MIT
"""golden.py TKC KERNEL.tk TARGET: the CUDA of KERNEL.tk is, byte for byte, test/codegen/golden/KERNEL.tk.expected.TARGET.cu.

UPDATE=1 in the environment rewrites the golden; read the difference as code before it is committed."""
import difflib
import os
import pathlib
import subprocess
import sys
import tempfile

LINES = 60  # of a difference shown


def main():
    tkc, kernel, target = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    golden = pathlib.Path(__file__).parent / "golden" / f"{kernel.name}.expected.{target}.cu"
    with tempfile.TemporaryDirectory(prefix="golden.") as folder:
        output = pathlib.Path(folder) / kernel.with_suffix(".cu").name
        done = subprocess.run([tkc, kernel, "--target", target, "-o", output], capture_output=True, text=True, timeout=120)
        if done.returncode != 0 or done.stderr:
            sys.exit(f"status {done.returncode}\n{done.stderr}")
        found = output.read_bytes()
    if os.environ.get("UPDATE") == "1":
        golden.write_bytes(found)
    if not golden.exists():
        sys.exit(f"{golden} is missing; UPDATE=1 writes it")
    expected = golden.read_bytes()
    if found != expected:
        lines = [data.decode("utf-8").splitlines(True) for data in (expected, found)]
        sys.stderr.writelines(list(difflib.unified_diff(*lines, golden.name, "found"))[:LINES])
        sys.exit("UPDATE=1 rewrites the golden")


main()
