# SPDX-License-Identifier: MIT
"""round_trip.py TKC EXAMPLES FOLDER: print(read(x)) == x for both levels of the IR of every kernel under EXAMPLES; files go to FOLDER."""
import pathlib
import subprocess
import sys


def run(*command):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=60)
    if result.returncode != 0:
        sys.exit(f"status {result.returncode}: {' '.join(map(str, command))}\n{result.stderr}")
    return result.stdout


def main():
    tkc, examples, folder = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    files = sorted(f for f in examples.glob("*/*.tk") if "kernel " in f.read_text(encoding="utf-8"))
    if not files:
        sys.exit(f"no kernels under {examples}")
    faults = []
    for file in files:
        printed = {}
        for level in ("tile", "schedule"):
            text = folder / f"{file.stem}.{level}.ir"
            printed[level] = run(tkc, file, f"--emit={level}")
            text.write_text(printed[level], encoding="utf-8")
            if run(tkc, f"--from={level}", text, f"--emit={level}") != printed[level]:
                faults.append(f"{file.name}: the {level} level reads back as something else: {text}")
        if run(tkc, "--from=tile", folder / f"{file.stem}.tile.ir", "--emit=schedule") != printed["schedule"]:
            faults.append(f"{file.name}: text of the tile level becomes another schedule")
    if faults:
        sys.exit("\n".join(faults))


main()
