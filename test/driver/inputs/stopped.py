# SPDX-License-Identifier: MIT
"""stopped.py SIGNAL COMMAND..: runs the command, which slow_rename.c sends the signal; wants the status 128 + signal, or 0: what was stopped may
have come to its end."""
import os
import signal
import subprocess
import sys

number = int(sys.argv[1])
# A test runner in the background may ignore signals, and what ignores them stays so: that is not what is tested here.
run = subprocess.run(sys.argv[2:], env={**os.environ, "STOP": str(number)}, stderr=subprocess.PIPE, text=True, timeout=60,
                     preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
assert run.returncode == 0 or (run.returncode == 128 + number and "stopped" in run.stderr), run
