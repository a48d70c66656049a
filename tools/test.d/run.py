# SPDX-License-Identifier: MIT
"""Builds and tests; see tools/test. Every step adds to the counts of passed and failed, or to the list of what was skipped.

The release build and all tests come first. The same with sanitizers follows if the time is there: TKC_TEST_MINUTES (14) from the start
of tools/test; what does not fit is skipped, by name, so that a slow machine says so instead of being cut off. --all has no such limit, adds
the full matrices and what needs a GPU, and prints a table of the steps."""
import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
LLVM = pathlib.Path("/usr/lib/llvm-22/bin")
# Leaks are no fault in a program that ends; the fibers of the interpreter confuse nothing else.
# The compiler's tests that run with sanitizers, too; what runs long or has nothing to do with memory runs once, in release.
SANITIZED = ("lex", "parse", "sema", "spec", "ir", "passes", "driver", "interp")
START = float(os.environ.get("TKC_TEST_START", time.time()))
MINUTES = float(os.environ.get("TKC_TEST_MINUTES", 14))
SCRIPTS = [[f"tools/{name}"] for name in ("check_includes", "check_format", "check_tidy", "check_runtime", "check_conformance", "check_diagnostics", "check_spec")]
SCRIPTS += [["test/runtime/run"], ["test/conformance/simulate.py", "build/release"], ["test/consumer/run", "build/release"]]
MATRICES = (["test/sim/matrix.py"], ["test/mutants/run", "--all"])
ON_GPU = (["test/conformance/run.py", "build/conformance", "--prepare", "build/release"],
          ["tools/gpu-test", "--random", "40"], ["tools/gpu-test", "--run", "build/gpu", "--sanitizer", "memcheck"],
          ["tools/gpu-test", "--run", "build/gpu", "--sanitizer", "synccheck"], ["tools/bench", "--quick"])
SANITIZER = {"ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "print_stacktrace=1"}


class Report:
    def __init__(self):
        self.passed, self.failed, self.skipped, self.rows = 0, [], [], []

    def add(self, passed, failed):
        self.passed += passed
        self.failed += failed

    def timed(self, title, function, *arguments, **named):
        """One line of the table: what this step added to the counts, and its seconds."""
        before, start = (self.passed, len(self.failed), len(self.skipped)), time.time()
        function(*arguments, **named)
        after = (self.passed, len(self.failed), len(self.skipped))
        self.rows.append((title, *(b - a for a, b in zip(before, after)), time.time() - start))

    def table(self):
        width = max(len(row[0]) for row in self.rows)
        print(f"\n{'':{width}}  passed  failed  skipped  seconds")
        for title, passed, failed, skipped, seconds in self.rows:
            print(f"{title:{width}}  {passed:6}  {failed:6}  {skipped:7}  {seconds:7.0f}")


def step(title):
    print(f"\n== {title}", flush=True)


def run(command, env=None, timeout=3000):
    """Runs the command; one that does not end in time is ended with all that it has started, and has status 124."""
    process = subprocess.Popen([str(part) for part in command], cwd=ROOT, env={**os.environ, **(env or {})}, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True)
    try:
        output, errors = process.communicate(timeout=timeout)
        return subprocess.CompletedProcess(command, process.returncode, output, errors)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, errors = process.communicate()
        return subprocess.CompletedProcess(command, 124, output, f"{errors}no end after {timeout:.0f} s")
    except KeyboardInterrupt:
        os.killpg(process.pid, signal.SIGKILL)
        raise


def time_left():
    return START + 60 * MINUTES - time.time()


def build(preset, timeout=3000):
    """Exit status of the build; 124 if it did not end in time."""
    step(f"build {preset}")
    start = time.time()
    for command in (["cmake", "--preset", preset], ["cmake", "--build", "--preset", preset]):
        result = run(command, timeout=timeout)
        if result.returncode != 0:
            print("\n".join((result.stdout + result.stderr).splitlines()[-60:]))
            return result.returncode
    print(f"built in {time.time() - start:.0f} s")
    return 0


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


def file_tests(preset, report, only=None, folders=(), timeout=3000):
    step(f"tests that are files, {preset}")
    lit = LLVM / "lit" if (LLVM / "lit").exists() else shutil.which("lit")
    if not lit:
        report.failed.append(f"tests that are files, {preset}: no lit")
        return
    output = ROOT / "build" / preset / "lit.json"
    output.unlink(missing_ok=True)
    command = [lit, "-q", "-v", "--param", f"build=build/{preset}", "-o", output]
    command += [f"test/{folder}" for folder in folders] or ["test"]
    if only:
        command += ["--filter", only]
    result = run(command, SANITIZER, timeout)
    print(result.stdout[-20000:] + result.stderr[-4000:], end="")
    if result.returncode == 124 and preset != "release":
        report.skipped.append(f"tests that are files, {preset}: no time")
        return
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


def script(command, report, env=None, timeout=3000):
    """A script counts as one test, or as many as its last line says: `N passed, N failed`."""
    name = " ".join(str(part) for part in command)
    step(name)
    if not (ROOT / command[0]).exists():
        report.failed.append(f"{name}: not there")
        return
    result = run(command, env, timeout)
    text = result.stdout + result.stderr
    report.skipped += [f"{command[0]}: {line.strip()}" for line in text.splitlines() if "skipped" in line and result.returncode == 0]
    counts = re.search(r"(\d+) passed, (\d+) failed\s*$", result.stdout)
    passed, failed = (int(counts.group(1)), int(counts.group(2))) if counts else (int(result.returncode == 0), 0)
    report.add(passed, [name] * max(failed, int(result.returncode != 0)))
    print(text[-8000:] if result.returncode else "passed: " + (result.stdout.strip().splitlines() or ["-"])[-1])


def matrices(report):
    """What takes too long for every change: scripts that judge build/release."""
    for command in MATRICES:
        title = " ".join(command)
        if (ROOT / command[0]).exists():
            report.timed(title, script, command, report, timeout=7200)
        else:
            report.skipped.append(f"{title}: not there")


def on_gpu(report):
    present = shutil.which("nvidia-smi") or os.path.exists("/dev/nvidia0")
    for command in ON_GPU:
        if present:
            report.timed(" ".join(command), script, command, report)
        else:
            report.skipped.append(f"{' '.join(command)}: there is no GPU here")


def sanitized(report):
    """The debug build and its tests, in the time that is left."""
    status = build("debug", max(time_left() - 60, 1))
    if status == 124:
        report.skipped.append(f"tests with sanitizers: no time for the build in {MINUTES:.0f} minutes; TKC_TEST_MINUTES=60 tools/test")
    elif status != 0:
        report.failed.append("build debug")
    else:
        unit_tests("debug", report)
        file_tests("debug", report, folders=SANITIZED, timeout=max(time_left(), 1))


def main():
    parser = argparse.ArgumentParser(description="builds and tests tkc")
    parser.add_argument("--quick", action="store_true", help="release only")
    parser.add_argument("--all", action="store_true", help="full matrices and, where there is one, the GPU; no limit of time")
    parser.add_argument("-k", dest="only", help="only .tk tests whose path matches, nothing else")
    args = parser.parse_args()
    if args.all:
        global MINUTES
        MINUTES = float(os.environ.get("TKC_TEST_MINUTES", 600))
    report = Report()
    if build("release") != 0:
        report.failed.append("build release")
    elif args.only:
        file_tests("release", report, args.only)
    else:
        report.timed("unit tests", unit_tests, "release", report)
        report.timed("tests that are files", file_tests, "release", report)
        for command in SCRIPTS:
            report.timed(" ".join(command), script, command, report)
        if args.all:
            matrices(report)
    if not args.quick and not args.only:
        report.timed("with sanitizers", sanitized, report)
    if args.all:
        on_gpu(report)
    elif not args.only:
        report.skipped.append("tests on a GPU, full matrices: tools/test --all runs them")
    if args.all:
        report.table()
    print()
    for name in report.skipped:
        print(f"skipped: {name}")
    for name in report.failed:
        print(f"failed: {name}")
    print(f"{time.time() - START:.0f} s")
    print(f"{report.passed} passed, {len(report.failed)} failed")
    sys.exit(1 if report.failed else 0)


main()
