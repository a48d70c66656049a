# SPDX-License-Identifier: MIT
"""Checks the kernels of examples/rowwise against float64 and times them beside a device copy of as many bytes and torch.compile.

All sides run as CUDA graphs of 2 ms or more in rounds of A B B A, over data of at least three times the L2 in turn; a figure is the
median over the rounds. Arguments: FOLDER [--quick] [--check] [--rounds N] [-k WORD]. Needs PyTorch with CUDA; FOLDER is what
`tools/bench --rowwise --prepare` made.
"""
import argparse
import glob
import json
import math
import os
import statistics
import sys

from build import ROOT, buildable, compile_object, compile_tk, link

import tkc

try:
    import torch

    import rowwise_cases
    from graphs import graph, time_graphs
except ImportError:  # where tkc is, to prepare
    torch = None

LIBRARY = "rowwise.so"


def prepare(compiler, out, target="sm_90a"):
    """Every kernel of examples/rowwise through tkc and nvcc, in one library; needs neither PyTorch nor a GPU."""
    os.makedirs(out, exist_ok=True)
    names = []
    for source in sorted(glob.glob(os.path.join(ROOT, "examples", "rowwise", "*.tk"))):
        name = os.path.splitext(os.path.basename(source))[0]
        problem = compile_tk(compiler, source, out, name, target=target)
        if buildable(out, name):
            names.append(name)
        print(f"{name:20s} {problem or 'ready'}", flush=True)
    problem = link(out, LIBRARY, names)
    with open(os.path.join(out, "rowwise.json"), "w") as f:
        json.dump({"names": names, "target": target}, f, indent=1)
    print(problem or f"{LIBRARY}: {len(names)} files")


def load(folder):
    """The kernels of the folder, whose library is built here where that of the other machine does not load."""
    plan = json.load(open(os.path.join(folder, "rowwise.json")))
    library, names = os.path.join(folder, LIBRARY), plan["names"]
    headers = [os.path.join(folder, name + ".h") for name in names]
    try:
        return tkc.load(library, *headers)
    except OSError:
        for name in names:
            print(compile_object(os.path.join(folder, name + ".cu"), plan["target"]) or f"{name}: compiled here", flush=True)
        print(link(folder, LIBRARY, names) or f"{LIBRARY}: built here", flush=True)
    return tkc.load(library, *headers)


def compare(a, b, repeats, rounds):
    """Median times of a and b for one launch in ms, and the median of b / a."""
    time_graphs([a, b, b, a])
    own, other = [], []
    for _ in range(rounds):
        t = time_graphs([a, b, b, a])
        own.append((t[0] + t[3]) / 2 / repeats)
        other.append((t[1] + t[2]) / 2 / repeats)
    return statistics.median(own), statistics.median(other), statistics.median(y / x for x, y in zip(own, other))


def guarded(shape, dtype):
    """An output between two guard bands, all poisoned."""
    count, band = math.prod(shape), 4096
    if dtype == torch.float8_e4m3fn:  # NaN as bits
        whole = torch.full((count + 2 * band,), 0x7F, dtype=torch.uint8, device="cuda").view(dtype)
    else:
        whole = torch.full((count + 2 * band,), float("nan"), dtype=dtype, device="cuda")
    return whole, whole[band : band + count].view(shape)


def check(case, call, dims):
    inputs = case.inputs(dims)
    held = [guarded(shape, dtype) for shape, dtype in case.outputs(dims)]
    call(case.order(inputs, [view for _, view in held]))
    torch.cuda.synchronize()
    problems = []
    exact = [t.double() if t.is_floating_point() else t for t in inputs]
    for number, ((whole, out), wanted) in enumerate(zip(held, case.reference(*exact))):
        bands = torch.cat((whole[:4096], whole[4096 + out.numel() :])).float()
        if not bands.isnan().all():
            problems.append(f"output {number}: guard bands overwritten")
        if out.numel() == 0:
            continue
        got = out.double()
        size = max(wanted.norm().item(), 2.0**-10 * case.terms(*exact).norm().item() if case.terms and number == 0 else 0, 1e-30)
        error = (got - wanted).norm().item() / size
        if not error <= case.tolerance.get(out.dtype, 4e-3):
            problems.append(f"output {number}: relative error {error:.1e}")
    return problems


def fastest_copy(moved, repeats, sets):
    """A graph of device copies that move about as many bytes each, how many they move, and the data, to be kept as long as the graph.

    The driver's copy node needs half as long again for numbers of bytes that are not whole pages of 2 MB, and for some numbers of pages
    (256, 257, 272, 512; not 255, 258, 264, 384). Which is not documented, so the fastest of a few sizes is the peer."""
    page = 2 << 20 if moved > 64 << 20 else 16
    pages = max(-(-moved // (2 * page)), 1)
    best = None
    for count in (pages, pages + 2, -(-pages // 24) * 24) if moved > 64 << 20 else (pages,):
        half = count * page
        data = [(torch.empty(half, dtype=torch.uint8, device="cuda").random_(), torch.empty(half, dtype=torch.uint8, device="cuda")) for _ in range(sets)]
        copy = graph([lambda s=data[i % sets]: s[1].copy_(s[0]) for i in range(repeats)])
        time_graphs([copy])
        speed = 2 * half / min(time_graphs([copy] * 3))
        if best is None or speed > best[0]:
            best = speed, copy, 2 * half, data
    return best[1], best[2], best[3]


def bench(case, call, dims, rounds, cache):
    inputs = case.inputs(dims)
    outputs = [torch.empty(shape, dtype=dtype, device="cuda") for shape, dtype in case.outputs(dims)]
    moved = case.bytes(dims)
    repeats = max(3, math.ceil(2.2e-3 / (moved / 4.3e12 + 1.5e-6)))
    sets = min(repeats, max(1, math.ceil(3 * cache / moved)))
    held = [([t.clone() for t in inputs], [t.clone() for t in outputs]) for _ in range(sets)]
    ours = graph([lambda s=held[i % sets]: call(case.order(*s)) for i in range(repeats)])
    torch._dynamo.reset()
    compiled = torch.compile(case.peer, dynamic=False)
    theirs = graph([lambda s=held[i % sets]: compiled(*s[0]) for i in range(repeats)])
    copy, size, _kept = fastest_copy(moved, repeats, sets)
    own, peer, ratio = compare(ours, theirs, repeats, rounds)
    _, copied, of_copy = compare(ours, copy, repeats, rounds)
    copied, of_copy = copied * moved / size, of_copy * moved / size
    name = " ".join(f"{k}={v}" for k, v in dims.items())
    is_small = moved < 32 << 20
    wanted = {"copy": 0, "compile": 1} if is_small else {"copy": case.of_copy, "compile": case.of_compile}
    ok = of_copy >= wanted["copy"] and (ratio >= wanted["compile"] or (not is_small and case.of_compile <= 1 and of_copy >= 0.97))
    print(f"{case.name:24s} {name:26s} {1e3 * own:9.2f} us {moved / own / 1e6:6.0f} GB/s | copy {1e3 * copied:9.2f} us {of_copy:6.3f} | "
          f"torch.compile {1e3 * peer:9.2f} us {ratio:6.3f} {'ok' if ok else 'MISS'}", flush=True)
    return ok


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--quick", action="store_true", help="one large size of each kernel")
    parser.add_argument("--check", action="store_true", help="results only")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("-k", default="", help="kernels whose name holds this word")
    options = parser.parse_args()
    if torch is None or not torch.cuda.is_available():
        print("rowwise: skipped, there is no PyTorch with a GPU here")
        return 0
    torch.manual_seed(0)
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}")
    cache = torch.cuda.get_device_properties(0).L2_cache_size
    kernels = load(options.folder)
    bad = missed = 0
    for case in rowwise_cases.CASES:
        if options.k not in case.name:
            continue
        kernel = getattr(kernels, case.name, None)
        if not kernel:
            print(f"{case.name:24s} not in the folder")
            bad += 1
            continue

        def call(tensors):
            kernel(*tensors, *case.scalars)

        problems = [f"{dims}: {p}" for dims in case.check_shapes for p in check(case, call, dims)]
        print(f"{case.name:24s} {len(case.check_shapes)} shapes, {len(problems)} problems")
        for problem in problems:
            print("  WRONG", problem)
        bad += len(problems)
        for dims in () if options.check else case.shapes[:1] if options.quick else case.shapes:
            missed += not bench(case, call, dims, options.rounds, cache)
            torch.cuda.empty_cache()
    print(f"rowwise: {bad} wrong, {missed} below their bar")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
