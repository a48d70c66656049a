# SPDX-License-Identifier: MIT
"""interrupt.py SIGNAL FOLDER COMMAND..: starts the command, waits until FOLDER/started says that the simulator runs, sends the signal.
Wants: the status 128 + signal, the simulator's process gone, nothing in FOLDER/tmp, no FOLDER/y.npy."""
import os
import signal
import subprocess
import sys
import time

number, folder, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
os.makedirs(folder + "/tmp", exist_ok=True)
started = folder + "/started"
if os.path.exists(started):
    os.remove(started)
# A test runner in the background may ignore signals, and what ignores them stays so: that is not what is tested here.
process = subprocess.Popen(command, env={**os.environ, "TMPDIR": folder + "/tmp", "STARTED": started, "FAKE": "sleep"}, stderr=subprocess.PIPE,
                           text=True, preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
child = 0
try:
    end = time.time() + 60
    while time.time() < end and not (os.path.exists(started) and open(started).read()):
        time.sleep(0.02)
    child = int(open(started).read())
    assert os.listdir(folder + "/tmp"), "no temporary folder while it runs"
    process.send_signal(number)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 128 + number, process.returncode
    assert "stopped" in errors, errors
    end = time.time() + 10
    while os.path.exists(f"/proc/{child}") and time.time() < end:
        time.sleep(0.02)
    assert not os.path.exists(f"/proc/{child}"), "the simulator still runs"
    assert not os.listdir(folder + "/tmp"), os.listdir(folder + "/tmp")
    assert not os.path.exists(folder + "/y.npy")
finally:
    for pid in [process.pid] if process.poll() is None else []:
        os.kill(pid, signal.SIGKILL)
    if child and os.path.exists(f"/proc/{child}"):
        os.kill(child, signal.SIGKILL)
