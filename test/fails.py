# SPDX-License-Identifier: MIT
"""fails.py CMD ARG..: runs CMD and succeeds if it ends with status 1. A crash or an internal error (70) is no success."""
import subprocess
import sys

status = subprocess.run(sys.argv[1:]).returncode
if status != 1:
    print(f"expected exit status 1, found {status}", file=sys.stderr)
sys.exit(0 if status == 1 else 1)
