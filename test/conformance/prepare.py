#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prepares the conformance cases for a machine with a GPU, where there is no host compiler for the simulator.

    test/conformance/prepare.py DIR [--build BUILD]      then there: DIR/run.py

DIR gets the program of all cases (if nvcc is here), its sources, inputs, the simulator's outputs and what host code expects.
"""
import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import cases as conformance  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]


def copy_sources(to):
    """What nvcc needs to build the program again."""
    shutil.copytree(ROOT / "runtime" / "include", to / "runtime" / "include", dirs_exist_ok=True)
    folder = to / "test" / "conformance"
    (folder / "cases").mkdir(parents=True, exist_ok=True)
    for file in [*(ROOT / "test" / "conformance").glob("*.h"), ROOT / "test" / "conformance" / "run_gpu.cu"]:
        shutil.copy(file, folder)
    for file in (ROOT / "test" / "conformance" / "cases").glob("*.cu"):
        shutil.copy(file, folder / "cases")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dir", type=Path)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release", help="build folder with bin/tkc-sim")
    args = parser.parse_args()
    out = args.dir.resolve()
    data = out / "data"
    data.mkdir(parents=True, exist_ok=True)
    copy_sources(out / "source")
    simulator = args.build.resolve() / "bin" / "tkc-sim"
    listed, failed = [], 0
    with tempfile.TemporaryDirectory() as libraries:
        problem = conformance.build_simulated(ROOT, Path(libraries), conformance.read_cases())
        if problem:
            sys.exit(f"failed: {problem}")
        for case in conformance.read_cases():
            expected, problem = conformance.simulate(simulator, Path(libraries), case, data, f"{case.name}_expected", 0)
            simulated = None
            if not problem:
                simulated, problem = conformance.simulate(simulator, Path(libraries), case, data, case.name, 1)
            bad = [] if problem else conformance.wrong(case, simulated, expected)
            if problem or (bad and case.mode != "print"):
                failed += 1
                print(f"failed: {case.name}: {problem or conformance.describe(case, bad, simulated, expected)}")
            listed.append({"name": case.name, "file": case.file.name, "in": case.inputs, "out": case.outputs, "mode": case.mode, "relative": case.relative,
                           "absolute": case.absolute, "simulated": "" if simulated is None else f"{case.name}.1.bin", "expected": f"{case.name}_expected.0.bin"})
    for path in [*data.glob("*.job"), *data.glob("*.json")]:
        path.unlink()
    (out / "cases.json").write_text(json.dumps(listed, indent=1))
    for name in ("run.py", "cases.py"):
        shutil.copy(ROOT / "test" / "conformance" / name, out)
    sys.path.insert(0, str(out))
    import run as gpu_half
    problem = gpu_half.build(out) if shutil.which(gpu_half.NVCC) else "no nvcc here"
    if problem:
        print(f"the program is not built: {problem}")
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    print(f"{len(listed) - failed} of {len(listed)} cases passed on the simulator; {size / 2**20:.1f} MiB in {out}")
    sys.exit(1 if failed else 0)


main()
