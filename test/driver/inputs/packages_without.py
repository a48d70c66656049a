# SPDX-License-Identifier: MIT
"""packages_without.py TOOLS_PACKAGES FOLDER PACKAGE: runs `tools/packages test` where the optional programs are missing and an apt-get
that installs nothing can't have PACKAGE. Prints what the script says, its status, and the packages that apt-get was given with
success."""
import pathlib
import shutil
import subprocess
import sys

script, folder, refused = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
programs, log = folder / "bin", folder / "log"
programs.mkdir()
log.touch()
for name in ("bash", "env", "id", "mktemp", "rm", "tail", "grep", "ls", "g++", "cmake", "ninja", "addr2line"):
    if found := shutil.which(name):
        (programs / name).symlink_to(found)
(programs / "python3").symlink_to(sys.executable)
for name, text in {"sudo": 'exec "$@"',
                   "apt-get": f'case " $* " in *" {refused} "*) echo "E: no {refused}"; exit 100 ;; esac; echo "$@" >> {log}'}.items():
    (programs / name).write_text(f"#!{programs}/bash\n{text}\n")
    (programs / name).chmod(0o755)
result = subprocess.run([programs / "bash", script, "test"], env={"PATH": str(programs)}, capture_output=True, text=True)
print(result.stdout + result.stderr)
print(f"status {result.returncode}")
for line in log.read_text().splitlines():
    words = line.split()
    if "install" in words:
        print("\n".join(f"got: {word}" for word in words[words.index("install") + 1:] if not word.startswith("-")))
