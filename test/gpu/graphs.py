# SPDX-License-Identifier: MIT
"""CUDA graphs as the unit of timing, for the benchmarks that use PyTorch (gpu_common.h for the others)."""
import torch


def graph(steps):
    """All of `steps` as one graph; what they do first (a module that loads, a compilation) is done before."""
    for step in steps[:3]:
        step()
    torch.cuda.synchronize()
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g):
        for step in steps:
            step()
    return g


def time_graphs(order):
    """Milliseconds of each graph, replayed one behind the other."""
    marks = [torch.cuda.Event(enable_timing=True) for _ in range(len(order) + 1)]
    marks[0].record()
    for i, g in enumerate(order):
        g.replay()
        marks[i + 1].record()
    torch.cuda.synchronize()
    return [marks[i].elapsed_time(marks[i + 1]) for i in range(len(order))]
