# SPDX-License-Identifier: MIT
"""Builds and tests; see tools/test. Every step adds to the counts of passed and failed, or to the list of what was skipped.

The release build and its tests come first, then a sample of those that take long, which the last commit's hash draws, and the same with
sanitizers, in a drawn order. No step outlives TKC_TEST_MINUTES (14) from the start of tools/test, so that a slow machine says so instead
of being cut off: what of the release build does not fit has failed; of what takes long and of the sanitized build it is skipped, by name.
--all has no such limit, runs all tests and adds the full matrices and what needs a GPU. A table at the end says what took how long."""
import argparse
import concurrent.futures
import contextlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test"))
import drawing  # noqa: E402

LLVM = pathlib.Path("/usr/lib/llvm-22/bin")
# The compiler's tests that run with sanitizers, too; what runs long or has nothing to do with memory runs once, in release.
SANITIZED = ("lex", "parse", "sema", "spec", "ir", "passes", "certify", "driver", "interp")
# One in five of what takes long runs for a change, as test/drawing.py draws it: of the tests in these folders, each of which compiles what
# tkc generates before the simulator executes it, and of those that demand `long`.
DRAWN = ("run", "sim")
START = float(os.environ.get("TKC_TEST_START", time.time()))
MINUTES = float(os.environ.get("TKC_TEST_MINUTES", 14))
SCRIPTS = [[f"tools/{name}"] for name in ("check_includes", "check_format", "check_tidy", "check_runtime", "check_conformance", "check_diagnostics", "check_spec")]
SCRIPTS += [["test/runtime/run"], ["test/conformance/simulate.py", "build/release"], ["test/consumer/run", "build/release"]]
SCRIPTS += [["test/fuzz/check_programs.py", "build/release"]]
SCRIPTS += [["test/hip/compiles.py"], ["test/hip/hand_isa.py"], ["test/hip/generated_isa.py", "build/release"]]
UNIT_TESTS = {"release": ("tkc_unit_tests", "sim_tests", "sim_gfx942_tests", "sim_gfx950_tests"), "debug": ("tkc_unit_tests",)}
# What takes too long for every change.
MATRICES = (["test/sim/matrix.py", "--target", "sm_80,sm_89,sm_90a,sm_120,gfx942,gfx950"],
            ["test/fuzz/check_programs.py", "build/release", "--first", "100", "--count", "100"], ["test/mutants/run", "--all"],
            ["test/fuzz/integers.py", "build/release/bin/tkc", "--first", "100", "--count", "300"],
            ["test/codegen/spills.py", "build/release"])
ON_GPU = (["test/conformance/run.py", "build/conformance", "--prepare", "build/release"],
          ["tools/gpu-test", "--random", "40"], ["tools/gpu-test", "--run", "build/gpu", "--sanitizer", "memcheck"],
          ["tools/gpu-test", "--run", "build/gpu", "--sanitizer", "synccheck"], ["tools/bench", "--quick"])
BATCH, LONG_BATCH = 30, 6  # tests of one call of lit, where time may end: with sanitizers, and of those that take long
ENOUGH = 40  # seconds in which such a call is worth to begin
# Leaks are no fault in a program that ends; the fibers of the interpreter confuse nothing else.
SANITIZER = {"ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "print_stacktrace=1"}


class Report:
    def __init__(self):
        self.passed, self.failed, self.skipped, self.rows = 0, [], [], []

    def add(self, passed, failed):
        self.passed += passed
        self.failed += failed

    def no_time(self, what, may_be_left=False):
        """What a release build must show is not left out: that fails. Of the rest the time allows what it allows."""
        (self.skipped if may_be_left else self.failed).append(f"{what}: no time")

    def timed(self, title, function, *arguments, seconds=None, **named):
        """One line of the table: what this step added to the counts, and its seconds, or those that it took before."""
        before, start = (self.passed, len(self.failed), len(self.skipped)), time.time()
        function(*arguments, **named)
        after = (self.passed, len(self.failed), len(self.skipped))
        self.rows.append((title, *(b - a for a, b in zip(before, after)), time.time() - start if seconds is None else seconds))

    def table(self):
        width = max(len(row[0]) for row in self.rows)
        print(f"\n{'':{width}}  passed  failed  skipped  seconds")
        for title, passed, failed, skipped, seconds in self.rows:
            print(f"{title:{width}}  {passed:6}  {failed:6}  {skipped:7}  {seconds:7.0f}")


def step(title):
    print(f"\n== {title}", flush=True)


def time_left():
    """Seconds, less those that the summary may take."""
    return max(START + 60 * MINUTES - 5 - time.time(), 0)


def run(command, env=None, timeout=7200):
    """Runs the command; one that does not end in time, its own or what is left, is ended with all that it has started: status 124."""
    timeout = min(timeout, time_left())
    # Files: pipes would wait for what the command leaves running.
    with tempfile.TemporaryFile("w+", errors="replace") as said, tempfile.TemporaryFile("w+", errors="replace") as complained:
        status, why = ended(command, env, timeout, said, complained)
        said.seek(0)
        complained.seek(0)
        return subprocess.CompletedProcess(command, status, said.read(), complained.read() + why)


def ended(command, env, timeout, said, complained):
    """(status, why it is 124); what the command has started and left running has ended, too."""
    process = subprocess.Popen([str(part) for part in command], cwd=ROOT, env={**os.environ, **(env or {})}, stdin=subprocess.DEVNULL,
                               stdout=said, stderr=complained, start_new_session=True)
    try:
        return process.wait(timeout), ""
    except subprocess.TimeoutExpired:
        return 124, f"no end after {timeout:.0f} s"
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def sanitizing_compiler():
    """What builds with sanitizers: Clang takes half of GCC's time for it, and sees more."""
    program = "int main() {}"
    clang = shutil.which("clang++-22")
    test = [clang, "-fsanitize=address,undefined", "-x", "c++", "-", "-o", "/dev/null"]
    if clang and subprocess.run(test, input=program, text=True, capture_output=True).returncode == 0:
        return clang
    return os.environ.get("CXX") or shutil.which("g++") or "c++"


def configuration(preset):
    if preset != "debug":
        return ["cmake", "--preset", preset]
    compiler = sanitizing_compiler()
    cache = ROOT / "build" / preset / "CMakeCache.txt"
    is_other = cache.exists() and not re.search(rf"^CMAKE_CXX_COMPILER:\w+={re.escape(compiler)}$", cache.read_text(), re.M)
    return ["cmake", *(["--fresh"] if is_other else []), "--preset", preset, f"-DCMAKE_CXX_COMPILER={compiler}"]


def build(preset, targets=("all",)):
    """Exit status of the build; 124 if it did not end in time."""
    step(f"build {preset}")
    start = time.time()
    for command in (configuration(preset), ["cmake", "--build", "--preset", preset, "--target", *targets]):
        result = run(command)
        if result.returncode != 0:
            print("\n".join((result.stdout + result.stderr).splitlines()[-60:]))
            return result.returncode
    print(f"built in {time.time() - start:.0f} s")
    return 0


def unit_tests(preset, report):
    for name in UNIT_TESTS[preset]:
        gtest(ROOT / "build" / preset / "bin" / name, preset, report)


def gtest(binary, preset, report):
    """All tests of a program, in as many shards as there are cores."""
    title = f"{binary.name}, {preset}"
    step(title)
    if not binary.exists():
        report.failed.append(f"{title}: not built")
        return
    shards = os.cpu_count()
    with concurrent.futures.ThreadPoolExecutor(shards) as pool:
        results = list(pool.map(lambda i: run([binary, "--gtest_brief=1"], {**SANITIZER, "GTEST_TOTAL_SHARDS": str(shards), "GTEST_SHARD_INDEX": str(i)}),
                                range(shards)))
    text = "".join(result.stdout + result.stderr for result in results)
    passed = sum(int(n) for n in re.findall(r"\[  PASSED  \] (\d+) test", text))
    failed = sorted(set(re.findall(r"\[  FAILED  \] ([\w/]+\.[\w/]+)", text)))
    if any(result.returncode == 124 for result in results):
        report.no_time(f"{title}, some", may_be_left=preset == "debug")
    elif any(result.returncode for result in results) and not failed:
        failed = [f"{title}: ended with status {[result.returncode for result in results]}"]
    if failed:
        print(text[-6000:])
    print(f"{passed} passed, {len(failed)} failed")
    report.add(passed, failed)


def lit_program():
    return LLVM / "lit" if (LLVM / "lit").exists() else shutil.which("lit")


def lit(preset, report, tests, *options):
    """Runs these tests and adds them to the report, or returns their paths if there was no time for all of them."""
    program = lit_program()
    output = ROOT / "build" / preset / "lit.json"
    output.unlink(missing_ok=True)
    if not program:
        report.failed.append(f"tests that are files, {preset}: no lit")
        return []
    command = [program, "--param", f"build=build/{preset}", *options, *tests]
    result = run([*command, "-q", "-v", "-o", output], SANITIZER)
    text = result.stdout + result.stderr
    print("".join(line for line in text.splitlines(True) if not re.match(r"-- Testing|$|Total Discovered", line))[-20000:], end="", flush=True)
    if result.returncode == 124:
        return tests
    if not output.exists():
        report.failed.append(f"lit, {preset}: ended with status {result.returncode}")
        return []
    results = json.loads(output.read_text())["tests"]
    report.add(sum(t["code"] in ("PASS", "XFAIL") for t in results),
               [f"{t['name']} ({preset})" for t in results if t["code"] in ("FAIL", "XPASS", "UNRESOLVED", "TIMEOUT")])
    if preset == "release":
        report.skipped += [t["name"] for t in results if t["code"] == "UNSUPPORTED"]
    return []


def seed():
    """The last commit's hash, which draws the same again for the same commit."""
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True) if shutil.which("git") else None
    return commit.stdout.strip() if commit and commit.returncode == 0 else "no commit"


def takes_long(test):
    return test.startswith(tuple(f"{folder}/" for folder in DRAWN)) or re.search(r"REQUIRES:.*\blong\b", (ROOT / "test" / test).read_text(errors="replace"))


def all_tests():
    """Paths of the tests that are files: those that every change runs, and those that take long."""
    program = lit_program()
    if not program:
        return ["test"], []  # lit() reports it
    shown = run([program, "--param", "build=build/release", "--show-tests", "test"]).stdout
    tests = sorted(re.findall(r"^  tkc :: (.*)$", shown, re.M))
    long = {test for test in tests if takes_long(test)}
    return [f"test/{test}" for test in tests if test not in long], [f"test/{test}" for test in tests if test in long]


def in_batches(preset, report, tests, size, *options):
    """As many of the tests as the time allows; the paths of the others."""
    left = []
    for first in range(0, len(tests), size):
        batch = tests[first:first + size]
        left += lit(preset, report, batch, *options) if time_left() > ENOUGH else batch
    return left


def file_tests(title, report, tests, may_be_left=False):
    """`tests` runs them and says which it had no time for."""
    step(f"tests that are files, {title}")
    before = report.passed, len(report.failed)
    left = tests()
    if left:
        report.no_time(f"{len(left)} tests that are files, {title} ({' '.join(left)})", may_be_left)
    print(f"{report.passed - before[0]} passed, {len(report.failed) - before[1]} failed")


def draw():
    return ["--param", f"draw={seed()}"]


def long_tests(report, long):
    chosen = drawing.drawn(long, seed())
    report.skipped.append(f"{len(long) - len(chosen)} of {len(long)} tests that take long, and as many mutants and compiles of what is generated, "
                          "as the last commit's hash draws them: tools/test --all runs all")
    return in_batches("release", report, chosen, LONG_BATCH, *draw())


def sanitized_tests(report):
    tests = sorted(str(path.relative_to(ROOT)) for folder in SANITIZED for path in (ROOT / "test" / folder).rglob("*")
                   if path.suffix in (".tk", ".ir", ".test") and "inputs" not in path.parts)
    random.Random(seed()).shuffle(tests)
    return in_batches("debug", report, tests, BATCH)


def scripts(commands, report, at_once=1):
    """A script counts as one test, or as many as its last line says: `N passed, N failed`."""
    def result_of(command):
        start = time.time()
        return run(command) if (ROOT / command[0]).exists() else None, time.time() - start
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        for command, (result, seconds) in zip(commands, pool.map(result_of, commands)):
            report.timed(" ".join(command), judge, command, result, report, seconds=seconds)


def judge(command, result, report):
    name = " ".join(command)
    step(name)
    if result is None:
        report.failed.append(f"{name}: not there")
        return
    if result.returncode == 124:
        report.no_time(name)
        return
    text = result.stdout + result.stderr
    report.skipped += [f"{command[0]}: {line.strip()}" for line in text.splitlines() if "skipped" in line and result.returncode == 0]
    counts = re.search(r"(\d+) passed, (\d+) failed\s*$", result.stdout)
    passed, failed = (int(counts.group(1)), int(counts.group(2))) if counts else (int(result.returncode == 0), 0)
    report.add(passed, [name] * max(failed, int(result.returncode != 0)))
    print(text[-8000:] if result.returncode else "passed: " + (result.stdout.strip().splitlines() or ["-"])[-1])


def on_gpu(report):
    if shutil.which("nvidia-smi") or os.path.exists("/dev/nvidia0"):
        scripts(ON_GPU, report)
    else:
        report.skipped += [f"{' '.join(command)}: there is no GPU here" for command in ON_GPU]


def sanitized(report):
    """The debug build and its tests, in the time that is left."""
    status = build("debug", ("tkc", "tkc-sim", "tkc_unit_tests")) if time_left() > 60 else 124
    if status == 124:
        report.skipped.append(f"tests with sanitizers: no time for the build in {MINUTES:.0f} minutes; TKC_TEST_MINUTES=60 tools/test")
    elif status != 0:
        report.failed.append("build debug")
    else:
        unit_tests("debug", report)
        file_tests("with sanitizers", report, lambda: sanitized_tests(report), may_be_left=True)


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
        file_tests("release", report, lambda: lit("release", report, ["test"], "--filter", args.only))
    else:
        short, long = (["test"], []) if args.all else all_tests()
        report.timed("unit tests", unit_tests, "release", report)
        report.timed("tests that are files", file_tests, "release", report, lambda: lit("release", report, short, *(draw() if long else [])))
        scripts(SCRIPTS, report, at_once=os.cpu_count())  # most of them use one core
        if long:
            report.timed("of those that take long", file_tests, "those that take long", report, lambda: long_tests(report, long), may_be_left=True)
        if args.all:
            scripts(MATRICES, report)
    if not args.quick and not args.only:
        report.timed("with sanitizers", sanitized, report)
    if args.all:
        on_gpu(report)
    elif not args.only:
        report.skipped.append("tests on a GPU, full matrices: tools/test --all runs them")
    if report.rows:
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
