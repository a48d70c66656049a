# SPDX-License-Identifier: MIT
"""The table of lang-spec/targets.md is what `tkc --list-targets` prints. Arguments: tkc, the page."""
import pathlib
import subprocess
import sys

printed = subprocess.run([sys.argv[1], "--list-targets"], capture_output=True, text=True, check=True).stdout
table = printed[printed.index("|"):]
if table not in pathlib.Path(sys.argv[2]).read_text():
    sys.exit(f"{sys.argv[2]} has another table than `tkc --list-targets` prints:\n{table}")
