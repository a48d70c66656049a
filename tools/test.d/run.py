# SPDX-License-Identifier: MIT
"""Builds and tests; see tools/test. Every step adds to the counts of passed and failed, or to the list of what was skipped."""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
LLVM = pathlib.Path("/usr/lib/llvm-22/bin")
# Leaks are no fault in a program that ends; the fibers of the interpreter confuse nothing else.
SANITIZER = {"ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "print_stacktrace=1"}


class Report:
    def __init__(self):
        self.passed, self.failed, self.skipped = 0, [], []

    def add(self, passed, failed):
        self.passed += passed
        self.failed += failed


def step(title):
    print(f"\n== {title}", flush=True)


def run(command, env=None, timeout=3000):
    try:
        return subprocess.run([str(part) for part in command], cwd=ROOT, env={**os.environ, **(env or {})}, capture_output=True, text=True,
                              errors="replace", timeout=timeout)
    except subprocess.TimeoutExpired as expired:
        return subprocess.CompletedProcess(command, 124, "", f"no end after {expired.timeout} s")


def build(preset):
    step(f"build {preset}")
    start = time.time()
    for command in (["cmake", "--preset", preset], ["cmake", "--build", "--preset", preset]):
        result = run(command)
        if result.returncode != 0:
            print("\n".join((result.stdout + result.stderr).splitlines()[-60:]))
            return False
    print(f"built in {time.time() - start:.0f} s")
    return True


def unit_tests(preset, report):
    step(f"unit tests, {preset}")
    binary = ROOT / "build" / preset / "bin" / "tkc_unit_tests"
    if not binary.exists():
        report.skipped.append(f"unit tests, {preset}: none built")
        return
    result = run([binary, "--gtest_brief=1"], SANITIZER)
    text = result.stdout + result.stderr
    passed = sum(int(n) for n in re.findall(r"\[  PASSED  \] (\d+) test", text))
    failed = sorted(set(re.findall(r"\[  FAILED  \] ([\w/]+\.[\w/]+)", text)))
    if result.returncode != 0 and not failed:
        failed = [f"unit tests, {preset}: ended with status {result.returncode}"]
    if failed:
        print(text[-6000:])
    print(f"{passed} passed, {len(failed)} failed")
    report.add(passed, failed)


def file_tests(preset, report, only):
    step(f"tests that are files, {preset}")
    lit = LLVM / "lit" if (LLVM / "lit").exists() else shutil.which("lit")
    if not lit:
        report.skipped.append(f"tests that are files, {preset}: no lit")
        return
    output = ROOT / "build" / preset / "lit.json"
    output.unlink(missing_ok=True)
    command = [lit, "-q", "--param", f"build=build/{preset}", "-o", output, "test"]
    if shutil.which("nvcc") or os.path.exists("/usr/local/cuda/bin/nvcc"):
        command += ["--param", "nvcc=1"]
    if only:
        command += ["--filter", only]
    result = run(command, SANITIZER)
    print(result.stdout[-20000:] + result.stderr[-4000:], end="")
    if not output.exists():
        report.failed.append(f"lit, {preset}: ended with status {result.returncode}")
        return
    tests = json.loads(output.read_text())["tests"]
    failed = [f"{t['name']} ({preset})" for t in tests if t["code"] in ("FAIL", "XPASS", "UNRESOLVED", "TIMEOUT")]
    passed = sum(t["code"] in ("PASS", "XFAIL") for t in tests)
    for t in tests:
        if t["code"] == "UNSUPPORTED" and preset == "release":
            report.skipped.append(t["name"])
    print(f"{passed} passed, {len(failed)} failed")
    report.add(passed, failed)


def script(command, report, env=None):
    """A script counts as one test."""
    name = " ".join(str(part) for part in command)
    step(name)
    if not (ROOT / command[0]).exists():
        report.failed.append(f"{name}: not there")
        return
    result = run(command, env)
    text = result.stdout + result.stderr
    if result.returncode == 0:
        for line in text.splitlines():
            if "skipped" in line:
                report.skipped.append(f"{command[0]}: {line.strip()}")
        print("passed")
        report.passed += 1
    else:
        print(text[-8000:])
        report.failed.append(name)


def main():
    parser = argparse.ArgumentParser(description="builds and tests tkc")
    parser.add_argument("--quick", action="store_true", help="release only")
    parser.add_argument("-k", dest="only", help="only .tk tests whose path matches, nothing else")
    args = parser.parse_args()
    report = Report()
    if build("release"):
        if args.only:
            file_tests("release", report, args.only)
        else:
            unit_tests("release", report)
            file_tests("release", report, None)
            for tool in ("check_includes", "check_diagnostics", "check_spec"):
                script([f"tools/{tool}"], report)
            script(["test/runtime/run"], report)
            script(["test/consumer/run", "build/release"], report)
    else:
        report.failed.append("build release")
    if not args.quick and not args.only:
        if build("debug"):
            unit_tests("debug", report)
            file_tests("debug", report, None)
        else:
            report.failed.append("build debug")
    if not args.only:
        report.skipped.append("tests on a GPU: tools/gpu-test runs them")
    print()
    for name in report.skipped:
        print(f"skipped: {name}")
    for name in report.failed:
        print(f"failed: {name}")
    print(f"{report.passed} passed, {len(report.failed)} failed")
    sys.exit(1 if report.failed else 0)


main()
