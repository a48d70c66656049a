# SPDX-License-Identifier: MIT
"""Where there is a GPU: runs what test/gpu/prepare.py made and compares. Needs PyTorch (for device memory) and NumPy.

Each case runs three times: tensors dense; rows padded to a multiple of 16 bytes; everything off by one element with odd
padding. Outputs are poisoned with NaN and stand between guard bands. An output is right if its relative Frobenius error and
its largest element error (relative to the largest element of the reference) are within the tolerance of its type.
"""
import ctypes
import json
import os

from abi import SCALARS, load_entry, load_workspace, tensor
from prepare import compile_library, program_command, run

GUARD = 4096


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
        kind = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32, "i32": torch.int32}[dtype]
        self.stride, span = strides(extents, pad)
        poison = -77 if kind == torch.int32 else float("nan")
        self.whole = torch.full((span + 2 * GUARD + offset,), poison, dtype=kind, device="cuda")
        self.view = torch.as_strided(self.whole, extents, self.stride, GUARD + offset)
        if values is not None:
            self.view.copy_(values)

    def description(self):
        return tensor(self.view.data_ptr() if self.view.numel() else self.whole.data_ptr(), self.dtype, self.extents, self.stride)

    def trespassed(self):
        copy = self.whole.clone()
        poison = -77 if copy.dtype == self.torch.int32 else float("nan")
        self.torch.as_strided(copy, self.extents, self.stride, GUARD + self.offset).fill_(poison)
        untouched = copy == -77 if copy.dtype == self.torch.int32 else copy.isnan()
        return int((~untouched).sum())


def load(torch, numpy, path, dtype):
    data = numpy.load(path)
    if dtype == "bf16":
        return torch.from_numpy(data.astype(numpy.int32)).to(torch.int32).bitwise_left_shift(16).view(torch.float32)
    return torch.from_numpy(data)


def run_case(torch, numpy, folder, library, name, case, tolerance, pad, offset):
    """"" or what is wrong."""
    entry, query = load_entry(library, name), load_workspace(library, name)
    arguments, outputs, keep = [], [], []
    for p in case["parameters"]:
        if "value" in p:
            arguments.append(SCALARS[p["dtype"]](p["value"]))
            continue
        values = load(torch, numpy, os.path.join(folder, p["file"]), p["dtype"])
        placed = Placed(torch, p["dtype"], p["extents"], pad, offset, values if p["mode"] == "in" else None)
        description = placed.description()
        keep += [placed, description]  # the memory must outlive the call
        arguments.append(ctypes.byref(description))
        if p["mode"] != "in":
            outputs.append((p["name"], placed, values))
    bytes_needed = query(*arguments) if query else 64 << 20
    workspace = torch.full((bytes_needed // 4 + GUARD,), float("nan"), dtype=torch.float32, device="cuda")
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
    status = entry(*arguments, ctypes.c_void_p(workspace.data_ptr()), ctypes.c_size_t(bytes_needed), stream)
    if status.code:
        return status.text()
    torch.cuda.synchronize()
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
        limits = tolerance.get(placed.dtype, {"frobenius": 0, "element": 0})
        frobenius = ((got - want).norm() / want.norm().clamp_min(1e-30)).item()
        element = ((got - want).abs().max() / want.abs().max().clamp_min(1e-30)).item()
        if frobenius > limits["frobenius"] or element > limits["element"]:
            return f"{parameter}: relative error {frobenius:.2e}, largest {element:.2e}"
    return ""


def open_library(folder, name):
    """Loads a library made elsewhere; rebuilds it from its .cu where it does not load."""
    path = os.path.join(folder, name)
    try:
        return ctypes.CDLL(os.path.abspath(path))
    except OSError:
        problem = compile_library(path[:-3] + ".cu", path, path[:-3] + ".log")
        if problem.startswith("nvcc") or problem.startswith("not compiled"):
            raise RuntimeError(problem)
        return ctypes.CDLL(os.path.abspath(path))


def ensure(folder, plan):
    """What does not load here is built here: the programs and the libraries of the GEMM entries."""
    for item in plan["gemm"] + plan["random"]:
        if item["library"]:
            try:
                open_library(folder, item["library"])
            except (RuntimeError, OSError) as error:
                item["library"], item["problem"] = None, str(error)
    for name, library in (("gemm_bench", "-lcublasLt"), ("gemm_check", "-lcublas")):
        rc, text = run([os.path.join(folder, name), "--no-such-option"], 60)
        if rc != 2 or "what is" not in text:
            rc, text = run(program_command(name, library, folder))
            if rc:
                print(f"{name} can't be built: {text[-500:]}")


def gemm_specs(folder, plan):
    return [f"{g['entry']}:{os.path.join(os.path.abspath(folder), g['library'])}:{g['entry']}:{g['layout']}" for g in plan["gemm"] if g["library"]
            and os.path.exists(os.path.join(folder, g["library"]))]


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
        except (RuntimeError, OSError) as error:
            print(f"{item['entry']:20s} SKIPPED: {error}")
            continue
        bad = []
        placements = ((0, 0), (8, 8), (1, 1))
        for case in item["cases"]:
            for pad, offset in placements:
                problem = run_case(torch, numpy, folder, library, item["entry"], case, plan["tolerance"], pad, offset)
                if problem:
                    bad.append(f"{case['dims']} pad {pad} offset {offset}: {problem}")
        runs = len(item["cases"]) * len(placements)
        note = f" ({item['problem']})" if item["problem"] else ""
        print(f"{item['entry']:20s} {runs - len(bad)} of {runs} right{note}", flush=True)
        for line in bad[:4]:
            print("   " + line)
        wrong += len(bad)
    return wrong


def run_random(folder, plan, cases=40):
    """Each compiled random schedule in a process of its own, so that a hang or a fault costs only itself."""
    wrong = 0
    for item in plan["random"]:
        if not item["library"] or not os.path.exists(os.path.join(folder, item["library"])):
            continue
        spec = f"random:{os.path.join(os.path.abspath(folder), item['library'])}:gemm:NN"
        rc, text = run([os.path.join(folder, "gemm_check"), "--cases", str(cases), spec], 30)
        if rc:
            wrong += 1
            print(f"  WRONG {item['label']}: {(text.strip().splitlines() or ['no output'])[0][:200]}", flush=True)
    done = sum(bool(i["library"]) for i in plan["random"])
    print(f"random schedules: {done - wrong} of {done} right, {len(plan['random']) - done} refused by tkc")
    return wrong


def sanitize(folder, specs):
    wrong = 0
    for tool in ("memcheck", "synccheck"):
        rc, text = run(["compute-sanitizer", "--tool", tool, "--error-exitcode", "9", os.path.join(folder, "gemm_check"), "--cases", "24", *specs], 400)
        last = [line for line in text.splitlines() if "ERROR SUMMARY" in line or "right" in line]
        print(f"{tool}: {'clean' if rc == 0 else 'FAILED'} {' | '.join(last)[:300]}", flush=True)
        wrong += rc != 0
    return wrong


def main(folder, parts, big):
    plan = json.load(open(os.path.join(folder, "plan.json")))
    ensure(folder, plan)
    specs = gemm_specs(folder, plan)
    wrong = 0
    if "kernels" in parts:
        wrong += run_kernels(folder, plan)
    if "gemm" in parts and specs:
        rc, text = run([os.path.join(folder, "gemm_check"), "--overhead", *(["--big"] if big else []), *specs], 300)
        print(text, end="", flush=True)
        wrong += rc != 0
    if "random" in parts and plan["random"]:
        wrong += run_random(folder, plan)
    if "sanitize" in parts and specs:
        wrong += sanitize(folder, specs)
    print("gpu-test: " + ("all right" if not wrong else f"{wrong} WRONG"))
    return 1 if wrong else 0
