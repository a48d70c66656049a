# SPDX-License-Identifier: MIT
"""Where there is a GPU: runs what test/gpu/prepare.py made and compares. Needs PyTorch (for device memory) and NumPy.

Each case runs with tensors dense; with rows padded to a multiple of 16 bytes; with everything off by one element and odd
padding; and each of these several times, as a race may need more than one. Outputs are poisoned with NaN and stand between guard bands. An output is right if its relative Frobenius error and
its largest element error (relative to the largest element of the reference) are within the tolerance of its type.
"""
import concurrent.futures
import ctypes
import json
import os
import re
import sys
import time

from build import PROGRAMS, compile_object, link, program_command, run
from prepare import write_npy

import tkc

# Elements before and after each tensor. Under a sanitizer there are none, so that it sees an access outside.
GUARD = int(os.environ.get("TKC_TEST_GUARD", 4096))
REPEATS = 10


def strides(extents, pad):
    result, step = [], 1
    for i, e in enumerate(reversed(extents)):
        result.insert(0, step)
        step *= max(e, 1)
        if i == 0:
            step += pad
    return result, step


class Placed:
    """A tensor in device memory, with poison around and between its elements."""

    def __init__(self, torch, dtype, extents, pad, offset, values=None):
        self.torch, self.dtype, self.extents, self.offset = torch, dtype, extents, offset
        kind = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32, "i32": torch.int32, "i8": torch.int8,
                "u8": torch.uint8}[dtype]
        self.stride, span = strides(extents, pad)
        self.poison = float("nan") if kind.is_floating_point else -77 if kind.is_signed else 179
        self.whole = torch.full((max(span + 2 * GUARD + offset, 1),), self.poison, dtype=kind, device="cuda")
        self.view = torch.as_strided(self.whole, extents, self.stride, GUARD + offset)
        if values is not None:
            self.view.copy_(values)

    def description(self):
        return tkc.tensor(self.view.data_ptr() if self.view.numel() else self.whole.data_ptr(), self.dtype, self.extents, self.stride)

    def trespassed(self):
        copy = self.whole.clone()
        self.torch.as_strided(copy, self.extents, self.stride, GUARD + self.offset).fill_(self.poison)
        untouched = copy.isnan() if copy.dtype.is_floating_point else copy == self.poison
        return int((~untouched).sum())


def load(torch, numpy, path, dtype):
    data = numpy.load(path)
    if dtype == "bf16":
        return torch.from_numpy(data.astype(numpy.int32)).to(torch.int32).bitwise_left_shift(16).view(torch.float32)
    return torch.from_numpy(data)


def run_case(torch, numpy, folder, library, name, case, plan, pad, offset):
    """"" or what is wrong."""
    kernel = tkc.Kernel(library, name, [(p["name"], p["dtype"] if "value" in p else None) for p in case["parameters"]])
    arguments, outputs, keep = [], [], []
    for p in case["parameters"]:
        if "value" in p:
            arguments.append(p["value"])
            continue
        before = None
        if "before" in p:
            path = os.path.join(folder, p["before"])
            if not os.path.exists(path):
                write_npy(path, p["dtype"], p["extents"], plan["integers"])
            before = load(torch, numpy, path, p["dtype"])
        placed = Placed(torch, p["dtype"], p["extents"], pad, offset, before)
        keep.append(placed)  # the memory must outlive the call
        arguments.append(placed.description())
        if p["mode"] != "in":
            outputs.append((p["name"], placed, load(torch, numpy, os.path.join(folder, p["file"]), p["dtype"])))
    bytes_needed = kernel.workspace_bytes(arguments)
    workspace = torch.full((bytes_needed // 4 + GUARD,), float("nan"), dtype=torch.float32, device="cuda")
    stream = torch.cuda.current_stream().cuda_stream
    poisoned = [placed.whole.clone() for _, placed, _ in outputs]
    for number in range(REPEATS):
        for (_, placed, _), poison in zip(outputs, poisoned):
            placed.whole.copy_(poison)
        try:
            kernel.launch(arguments, workspace.data_ptr(), bytes_needed, stream)
        except tkc.Error as refused:
            return f"status {refused.code}: {refused}"
        torch.cuda.synchronize()
        problem = compare(plan, outputs, workspace, bytes_needed)
        if problem:
            return problem + (f" (run {number + 1})" if number else "")
    return ""


def compare(plan, outputs, workspace, bytes_needed):
    """"" or what is wrong with the outputs: (name, where it is, what it should be)."""
    if bytes_needed % 4 == 0 and not workspace[bytes_needed // 4 :].isnan().all():
        return "wrote past the workspace"
    for parameter, placed, expected in outputs:
        trespassed = placed.trespassed()
        if trespassed:
            return f"{parameter}: {trespassed} elements outside written"
        if expected.numel() == 0:
            continue
        got, want = placed.view.double().cpu(), expected.double()
        if got.isnan().any() and not want.isnan().any():
            return f"{parameter}: {int(got.isnan().sum())} of {got.numel()} elements NaN or never written"
        limits = plan["tolerance"].get(placed.dtype, {"frobenius": 0, "element": 0})
        frobenius = ((got - want).norm() / want.norm().clamp_min(1e-30)).item()
        element = ((got - want).abs().max() / want.abs().max().clamp_min(1e-30)).item()
        if frobenius > limits["frobenius"] or element > limits["element"]:
            return f"{parameter}: relative error {frobenius:.2e}, largest {element:.2e}"
    return ""


def open_library(folder, name):
    return ctypes.CDLL(os.path.abspath(os.path.join(folder, name)))


def ensure(folder, plan):
    """What does not load here is built here: the libraries from their .cu files, and the programs."""
    for library, names in plan["libraries"].items():
        if not names:
            continue
        try:
            open_library(folder, library)
        except OSError:
            with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
                problems = dict(zip(names, pool.map(lambda n: compile_object(os.path.join(folder, n + ".cu"), plan["target"]), names)))
            built = [n for n in names if os.path.exists(os.path.join(folder, n + ".o"))]
            print("".join(f"{n}: {problem}\n" for n, problem in problems.items() if problem), end="")
            print(link(folder, library, built) or f"{library}: built here", flush=True)
    for name in PROGRAMS:
        rc, text = run([os.path.join(folder, name), "--no-such-option"], 60)
        if rc != 2 or "what is" not in text:
            rc, text = run(program_command(name, folder))
            if rc:
                print(f"{name} can't be built: {text[-500:]}")


def specs(folder, entries):
    """What gemm_bench and gemm_check are told of these entries."""
    present = [e for e in entries if e["library"] and os.path.exists(os.path.join(folder, e["library"]))]
    return [":".join([e["entry"], os.path.join(os.path.abspath(folder), e["library"]), e["entry"], e["layout"], *([e["blocks"]] if "blocks" in e else [])])
            for e in present]


def gemm_specs(folder, plan):
    return specs(folder, plan["gemm"])


def run_kernels(folder, plan):
    import numpy
    import torch

    wrong = 0
    for item in plan["kernels"]:
        if not item["library"]:
            print(f"{item['entry']:20s} SKIPPED: {item['problem']}")
            continue
        try:
            library = open_library(folder, item["library"])
        except OSError as error:
            print(f"{item['entry']:20s} SKIPPED: {error}")
            continue
        bad = []
        placements = ((0, 0), (8, 8), (1, 1))
        for case in item["cases"]:
            for pad, offset in placements:
                problem = run_case(torch, numpy, folder, library, item["entry"], case, plan, pad, offset)
                if problem:
                    bad.append(f"{case['dims']} pad {pad} offset {offset}: {problem}")
        runs = len(item["cases"]) * len(placements)
        note = f" ({item['problem']})" if item["problem"] else ""
        print(f"{item['entry']:20s} {runs - len(bad)} of {runs} right{note}", flush=True)
        for line in bad[:4]:
            print("   " + line)
        wrong += len(bad)
    return wrong


def run_random(folder, plan):
    """Each parameter set in a process of its own, so that a hang or a fault costs only itself."""
    wrong, done = 0, 0
    start = time.time()
    for item in plan["random"]:
        spec = specs(folder, [item])
        if not spec:
            continue
        done += 1
        rc, text = run([os.path.join(folder, "gemm_check"), *spec], 30)
        lines = text.strip().splitlines() or ["no output"]
        if rc:
            wrong += 1
            print(f"  WRONG {item['label']}: {' | '.join(lines[:3])[:400]}{' (HANGS)' if rc == 124 else ''}", flush=True)
        else:
            print(f"  {item['label']}{' (' + item['problem'] + ')' if item['problem'] else ''}: {lines[-1].split(': ', 1)[-1][:100]}")
    kinds = [r["kind"] for r in plan["refused"]]
    refused = ", ".join(f"{kinds.count(k)} {k}" for k in sorted(set(kinds)))
    print(f"parameter sets of gemm: {done - wrong} of {done} right; {len(kinds)} refused: {refused}; {time.time() - start:.0f} s")
    return wrong


# Only what tkc generated, by a namespace in its arguments: instrumenting PyTorch's and cuBLAS's kernels would take minutes.
SANITIZER = ["--error-exitcode", "9", "--kernel-regex", "kns=N2tk", "--print-limit", "20"]


def sanitize(folder, plan, tool, parts):
    """compute-sanitizer over the whole matrix, fewer shapes of each GEMM: at most 2 minutes for each tool."""
    program = os.path.join(folder, "gemm_check")
    jobs = []
    if "kernels" in parts:
        here = os.path.dirname(os.path.abspath(__file__))
        again = os.path.join(os.path.dirname(os.path.dirname(here)), "tools", "gpu-test")
        jobs.append(("kernels", [sys.executable, again, "--run", folder, "--part", "kernels"]))
    if "gemm" in parts and plan["gemm"]:
        jobs.append(("gemm", [program, "--every", "8", *gemm_specs(folder, plan)]))
    if "random" in parts and plan["random"]:
        jobs.append(("parameter sets of gemm", [program, "--every", "4", *specs(folder, plan["random"])]))
    wrong = 0
    for name, command in jobs:
        start = time.time()
        rc, text = run(["compute-sanitizer", "--tool", tool, *SANITIZER, *command], 110,
                       {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1", "TKC_TEST_GUARD": "0"})
        lines = text.splitlines()
        right = [[int(n) for n in re.findall(r"(\d+) of (\d+) right", line)[0]] for line in lines if re.search(r"\d+ of \d+ right", line)]
        summary = [line.strip("= ") for line in lines if "ERROR SUMMARY" in line] or [f"no summary: {' | '.join(lines[-3:])[:300]}"]
        print(f"{tool}, {name}: {'clean' if rc == 0 else f'FAILED, status {rc}'}; {sum(r for r, _ in right)} of {sum(n for _, n in right)} runs right; "
              f"{summary[0]}; {time.time() - start:.0f} s", flush=True)
        if rc:
            wrong += 1
            print("\n".join("   " + line[:200] for line in lines if line.startswith("=========") or "FAIL" in line or "WRONG" in line)[:4000], flush=True)
    return wrong


def main(folder, parts, big, sanitizer=None):
    plan = json.load(open(os.path.join(folder, "plan.json")))
    if not os.environ.get("TKC_TEST_GUARD"):
        ensure(folder, plan)
    if sanitizer:
        return finish(sanitize(folder, plan, sanitizer, parts))
    wrong = run_kernels(folder, plan) if "kernels" in parts else 0
    entries = gemm_specs(folder, plan)
    if "gemm" in parts and entries:
        rc, text = run([os.path.join(folder, "gemm_check"), "--overhead", *(["--big"] if big else []), *entries], 300)
        print(text, end="", flush=True)
        wrong += rc != 0
    if "random" in parts and plan["random"]:
        wrong += run_random(folder, plan)
    return finish(wrong)


def finish(wrong):
    print("gpu-test: " + ("all right" if not wrong else f"{wrong} WRONG"))
    return 1 if wrong else 0
