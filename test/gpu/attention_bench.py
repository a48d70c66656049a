# SPDX-License-Identifier: MIT
"""Checks generated forward attention against float32 and times it beside cuDNN in one process.

Both sides run as CUDA graphs in rounds of A B B A over the same random data; the figure is the median over the rounds of
(cuDNN time / our time). Arguments: LIBRARY.so (or the folder that `tools/bench --attention --prepare` made) .. [--check] [--bench] [--quick] [--rounds N] [--n N ...]; entries `attention_forward_64`,
`attention_forward_causal_64` and the same of 128, of the generated ABI. Needs PyTorch with CUDA.
"""
import argparse
import ctypes
import math
import os
import statistics
import sys

from build import ROOT, compile_object, compile_tk, link

import tkc

try:
    import torch
    import torch.nn.functional as F
    from torch.nn.attention import SDPBackend, sdpa_kernel

    from graphs import graph, time_graphs
except ImportError:  # where tkc is, to prepare
    torch = None

LIBRARY = "attention.so"
PARAMETERS = (("Q", None), ("K", None), ("V", None), ("O", None), ("scale", "f32"))


def prepare(compiler, out):
    """examples/attention/attention.tk through tkc and nvcc; needs neither PyTorch nor a GPU."""
    os.makedirs(out, exist_ok=True)
    problem = compile_tk(compiler, os.path.join(ROOT, "examples", "attention", "attention.tk"), out, "attention") or link(out, LIBRARY, ["attention"])
    print(problem or f"{LIBRARY}: ready")


def ensure(folder):
    """The library, built here from the generated file where that of the other machine does not load. Returns its path."""
    path = os.path.abspath(os.path.join(folder, LIBRARY))
    try:
        ctypes.CDLL(path)
    except OSError:
        print(compile_object(os.path.join(folder, "attention.cu")) or link(folder, LIBRARY, ["attention"]) or f"{LIBRARY}: built here", flush=True)
    return path


def reference(q, k, v, causal, scale):
    """Float32 from the definition; heads one at a time, so that the scores fit."""
    out = torch.empty(q.shape, dtype=torch.float32, device=q.device)
    for b in range(q.shape[0]):
        for h in range(q.shape[1]):
            s = (q[b, h].double() @ k[b, h].double().T) * scale
            if causal:
                s.masked_fill_(torch.ones_like(s, dtype=torch.bool).triu(1), -math.inf)
            out[b, h] = (s.softmax(-1) @ v[b, h].double()).float()
    return out


def guarded(shape):
    """An output between two guard bands, all poisoned."""
    count = math.prod(shape)
    whole = torch.full((count + 16384,), float("nan"), dtype=torch.bfloat16, device="cuda")
    return whole, whole[8192 : 8192 + count].view(shape)


def check(kernels, d):
    bad = 0
    shapes = [(1, 1, 1), (1, 2, 7), (2, 1, 63), (1, 2, 64), (1, 3, 127), (2, 2, 128), (1, 2, 129), (1, 2, 175), (1, 2, 176),
              (1, 1, 177), (1, 2, 255), (1, 2, 257), (2, 3, 352), (1, 2, 353), (3, 5, 768), (1, 2, 1009), (2, 16, 1536), (1, 140, 384)]
    worst = 0.0
    for causal, kernel in kernels.items():
        for b, h, n in shapes:
            q, k, v = (torch.randn(b, h, n, d, device="cuda", dtype=torch.bfloat16) for _ in range(3))
            if n % 3 == 0:  # batch-sequence-head-depth storage: the strides a framework hands over
                q, k, v = (t.transpose(1, 2).contiguous().transpose(1, 2) for t in (q, k, v))
            scale = 1 / math.sqrt(d) if n % 2 else 0.17
            whole, o = guarded((b, h, n, d))
            kernel(q, k, v, o, scale)
            torch.cuda.synchronize()
            ref = reference(q, k, v, causal, scale)
            theirs = F.scaled_dot_product_attention(q, k, v, is_causal=causal, scale=scale).float()
            error = ((o.float() - ref).norm() / ref.norm()).item()
            base = max(((theirs - ref).norm() / ref.norm()).item(), ((ref.bfloat16().float() - ref).norm() / ref.norm()).item())
            guards = torch.cat((whole[:8192], whole[8192 + o.numel() :])).isnan().all().item()
            ok = guards and error == error and error <= max(1.25 * base, 4e-3)
            worst = max(worst, error if error == error else math.inf)
            if not ok:
                bad += 1
                print(f"WRONG D{d} causal={causal} B{b} H{h} N{n}: error {error:.2e}, PyTorch {base:.2e}, guards {'kept' if guards else 'OVERWRITTEN'}")
    print(f"attention D{d}: {2 * len(shapes) - bad} of {2 * len(shapes)} right, worst relative error {worst:.2e}")
    return bad


def bench(kernels, d, lengths, rounds):
    for causal, kernel in kernels.items():
        for n in lengths:
            q, k, v = (torch.randn(16, 16, n, d, device="cuda", dtype=torch.bfloat16) for _ in range(3))
            o = torch.empty_like(q)
            scale = 1 / math.sqrt(d)
            flops = 4 * 16 * 16 * n * n * d / (2 if causal else 1)
            repeats = max(1, round(3e-3 / (flops / 550e12)))
            with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
                theirs = graph([lambda: F.scaled_dot_product_attention(q, k, v, is_causal=causal)] * repeats)
            ours = graph([lambda: kernel(q, k, v, o, scale)] * repeats)
            time_graphs([ours, theirs, theirs, ours])
            ratios, own, other = [], [], []
            for _ in range(rounds):
                t = time_graphs([ours, theirs, theirs, ours])
                own.append((t[0] + t[3]) / 2 / repeats)
                other.append((t[1] + t[2]) / 2 / repeats)
                ratios.append(other[-1] / own[-1])
            with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
                difference = ((o - F.scaled_dot_product_attention(q, k, v, is_causal=causal)).float().norm() / o.float().norm()).item()
            a, c, r = statistics.median(own), statistics.median(other), statistics.median(ratios)
            print(f"attention D{d:<3} {'causal' if causal else 'full  '} N{n:6d}: {a:8.3f} ms {flops / a / 1e9:5.0f} TF | cuDNN {c:8.3f} ms "
                  f"{flops / c / 1e9:5.0f} TF | ratio {r:.3f} ({min(ratios):.3f}..{max(ratios):.3f}) "
                  f"{'ok' if r >= 0.95 else 'MISS'}{'' if difference < 1e-2 else f' WRONG RESULT {difference:.1e}'}", flush=True)
            del q, k, v, o, ours, theirs
            torch.cuda.empty_cache()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library", nargs="+")
    parser.add_argument("--check", action="store_true", help="check only")
    parser.add_argument("--bench", action="store_true", help="no check; the comparison with cuDNN's result remains")
    parser.add_argument("--quick", action="store_true", help="N = 6144 only")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--n", type=int, nargs="*")
    options = parser.parse_args()
    torch.manual_seed(0)
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, cuDNN {torch.backends.cudnn.version()}")
    bad = 0
    for path in options.library:
        if len(options.library) > 1:
            print(os.path.basename(path))
        library = ctypes.CDLL(ensure(path) if os.path.isdir(path) else os.path.abspath(path))
        for d in (128, 64):
            if not hasattr(library, f"attention_forward_{d}"):  # of the program written by hand
                continue
            kernels = {causal: tkc.Kernel(library, f"attention_forward{'_causal' if causal else ''}_{d}", PARAMETERS) for causal in (False, True)}
            if not options.bench:
                bad += check(kernels, d)
            if not options.check:
                bench(kernels, d, options.n or ((6144,) if options.quick else (768, 1536, 3072, 6144, 12288)), options.rounds)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
