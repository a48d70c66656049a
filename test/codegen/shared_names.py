# SPDX-License-Identifier: MIT
"""shared_names.py NM A.o B.o TKC: how many functions of tk::host both objects offer to the linker, all of which must name TKC's version"""
import re
import subprocess
import sys


def offered(nm, path):
    lines = subprocess.run([nm, "--defined-only", path], capture_output=True, text=True, check=True).stdout.splitlines()
    return {name for _, kind, name in (line.split() for line in lines) if kind in "WVuT" and "2tk4host" in name}


def main():
    nm, first, second, tkc = sys.argv[1:]
    a, b = offered(nm, first), offered(nm, second)
    version = re.search(r"\d+\.\d+\.\d+", subprocess.run([tkc, "--version"], capture_output=True, text=True, check=True).stdout).group()
    for name in sorted(a & b):
        print(name)
    for name in sorted(a | b):
        if f"_v{version.replace('.', '_')}_on" not in name:
            sys.exit(f"without the version {version}: {name}")
    print(f"names of the host's side: {len(a | b)}, shared: {len(a & b)}")


main()
