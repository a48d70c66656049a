# SPDX-License-Identifier: MIT
"""Sends tkc the signals of a crash while it reads standard input, and prints its status and what it says first. Arguments: TKC"""
import signal
import subprocess
import sys

for name in ("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT"):
    tkc = subprocess.Popen([sys.argv[1], "-"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    tkc.stdin.write("// more than a pipe holds\n" * 10000)  # returns when tkc has begun to read
    tkc.stdin.flush()
    tkc.send_signal(getattr(signal, name))
    said = tkc.stderr.read().splitlines()
    print(name, tkc.wait(), said[0] if said else "")
