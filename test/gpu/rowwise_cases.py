# SPDX-License-Identifier: MIT
"""The kernels of examples/rowwise as test/gpu/rowwise_bench.py runs them: shapes, data, what a result should be, what PyTorch does."""
import torch
import torch.nn.functional as F

BF16, F32, I32, F8 = torch.bfloat16, torch.float32, torch.int32, torch.float8_e4m3fn
MB = 1 << 20


def normal(*shape, dtype=BF16):
    return torch.randn(*shape, device="cuda").to(dtype)


class Case:
    """`inputs(dims)`, and `outputs(dims)` as (shape, dtype), in the order of the entry's parameters, outputs last. `reference` takes the
    inputs in float64 and `peer` as they are; both return as many results as there are outputs (`peer` may return one). `terms`, of the
    same inputs, is what the first output is a difference of: where that cancels to less than 2^-10, an error is measured by it."""

    def __init__(self, name, inputs, outputs, reference, peer, shapes, check_shapes, scalars=(), of_copy=0.95, of_compile=1.0, tolerance=None, terms=None):
        self.name, self.inputs, self.outputs, self.peer = name, inputs, outputs, peer
        self.reference = lambda *a: (lambda r: r if isinstance(r, tuple) else (r,))(reference(*a))
        self.shapes, self.check_shapes, self.scalars = shapes, check_shapes, scalars
        self.of_copy, self.of_compile, self.terms = of_copy, of_compile, terms
        self.tolerance = {BF16: 4e-3, F32: 2e-5, torch.float8_e4m3fn: 4e-2, **(tolerance or {})}

    def order(self, inputs, outputs):
        return [*inputs, *outputs]

    def bytes(self, dims):
        """Each input read once, each output written once."""
        total = sum(t.numel() * t.element_size() for t in self.inputs(dims))
        for shape, dtype in self.outputs(dims):
            count = 1
            for extent in shape:
                count *= extent
            total += count * torch.empty(0, dtype=dtype).element_size()
        return total


def rows(*pairs):
    return [{"M": m, "N": n} for m, n in pairs]


# 256 MB and more in rows of all kinds, a long odd row at 1 GB, then few rows.
LARGE = rows((65536, 1024), (16384, 4096), (8192, 8192), (4096, 16384), (2048, 32768), (262144, 256), (524288, 128), (2688, 100003))
SMALL = rows((4, 512), (4, 8192), (16, 1024), (16, 4096), (64, 512), (64, 2048), (64, 8192))
ODD = rows((1, 1), (3, 1), (1000, 1), (5, 7), (67, 129), (33, 255), (66, 257), (9, 1001), (5, 1024), (3, 4097), (2, 8192), (2, 9001), (3, 100003), (140, 100003), (0, 5))
ODD_SHORT = [d for d in ODD if d["N"] <= 2048]  # what the norms' way back takes


def matrix(dims, dtype=BF16):
    return normal(dims["M"], dims["N"], dtype=dtype)


def same(dims, dtype=BF16):
    return (dims["M"], dims["N"]), dtype


def masked(x, length):
    mask = torch.arange(x.shape[1], device=x.device)[None] < length[:, None]
    return torch.where(mask, x.float() if x.dtype == BF16 else x, float("-inf")).softmax(1).nan_to_num(0).to(x.dtype)


def rms(x, r, g):
    h = (x.float() + r.float()).to(BF16)
    wide = h.double() if x.dtype == torch.float64 else h.float()
    return (h, (wide * torch.rsqrt((wide * wide).mean(1, keepdim=True) + 1e-5) * g).to(x.dtype))


def layer(x, g, b):
    wide = x if x.dtype == torch.float64 else x.float()
    mean, var = wide.mean(1), wide.var(1, correction=0)
    rstd = torch.rsqrt(var + 1e-5)
    return (((wide - mean[:, None]) * rstd[:, None] * g + b).to(x.dtype), mean, rstd)


def turn(a, b, c, s):
    c, s = c[:, None], s[:, None]
    return a * c - b * s, b * c + a * s


def halves(x, c, s):
    a, b = x.double().chunk(2, 2) if x.dtype == torch.float64 else x.float().chunk(2, 2)
    return torch.cat(turn(a, b, c, s), 2).to(x.dtype)


def interleaved(x, c, s):
    wide = x if x.dtype == torch.float64 else x.float()
    return torch.stack(turn(wide[..., 0], wide[..., 1], c, s), 3).to(x.dtype)


def swiglu(x):
    g, u = x.unbind(1)
    return (F.silu(g if g.dtype == torch.float64 else g.float()) * u).to(x.dtype)


def gelu(x, b):
    return F.gelu((x if x.dtype == torch.float64 else x.float()) + b, approximate="tanh").to(x.dtype)


def loss(x, target):
    wide = x if x.dtype == torch.float64 else x.float()
    lse = wide.logsumexp(1)
    return lse - wide.gather(1, target.long()[:, None])[:, 0], lse


def loss_backward(x, target, lse):
    wide = x if x.dtype == torch.float64 else x.float()
    p = torch.exp(wide - lse[:, None])
    hot = torch.arange(x.shape[1], device=x.device)[None] == target[:, None]
    return ((p - hot.to(p.dtype)) * 0.5).to(x.dtype)


def convolve(x, w, b):
    wide = x if x.dtype == torch.float64 else x.float()
    padded = F.pad(wide, (0, 0, 3, 0))
    y = sum(padded[:, i : i + x.shape[1]] * w[i] for i in range(4)) + b
    return F.silu(y).to(x.dtype)


def scaled(x, dim):
    """448 / the largest number along `dim`, and what it is of."""
    wide = x if x.dtype == torch.float64 else x.float()
    return wide, wide.abs().amax(dim, keepdim=True).clamp(min=448 * 1.1754943508222875e-38)


def quantise(x):
    wide, largest = scaled(x, 1)
    return (wide * (448 / largest)).to(F8 if x.dtype == BF16 else x.dtype), largest[:, 0] / 448


def quantise_blocks(x):
    blocks = F.pad(x, (0, -x.shape[1] % 128)).unflatten(1, (-1, 128))
    wide, largest = scaled(blocks, 2)
    y = (wide * (448 / largest)).flatten(1)[:, : x.shape[1]]
    return y.to(F8 if x.dtype == BF16 else x.dtype), largest[..., 0] / 448


def high_product(a, m):
    """The upper and the lower 32 bits of a * m, all numbers of 32 bits in an int64."""
    low, high = (a & 0xFFFF) * m, (a >> 16) * m
    total = (low >> 16) + high
    return total >> 16, ((total & 0xFFFF) << 16) | (low & 0xFFFF)


def uniform(seed, count):
    """Philox4x32-10 at 0 .. count-1, as lang-spec/semantics.md has it: the upper 24 bits of each word, from 0 to 1."""
    block = torch.arange(-(-count // 4), device="cuda", dtype=torch.int64)
    a, b, c, d = block & 0xFFFFFFFF, block >> 32, torch.zeros_like(block), torch.zeros_like(block)
    key0, key1 = seed & 0xFFFFFFFF, seed >> 32
    for _ in range(10):
        (high0, low0), (high1, low1) = high_product(a, 0xD2511F53), high_product(c, 0xCD9E8D57)
        a, b, c, d = high1 ^ b ^ key0, low1, high0 ^ d ^ key1, low0
        key0, key1 = (key0 + 0x9E3779B9) & 0xFFFFFFFF, (key1 + 0xBB67AE85) & 0xFFFFFFFF
    return (torch.stack((a, b, c, d), 1).flatten()[:count] >> 8).double() * 2.0**-24


SEED, KEEP = 0x123456789ABCDEF0, 0.875


def kept(x):
    return (uniform(SEED, x.numel()) < KEEP).view(x.shape)


def dropout_add(x, r):
    """Double: the same numbers as the kernel draws; else as many of PyTorch's own."""
    if x.dtype == torch.float64:
        return r + torch.where(kept(x), x / KEEP, 0)
    return (r.float() + F.dropout(x.float(), 1 - KEEP)).to(x.dtype)


def dropout_backward(dy):
    if dy.dtype == torch.float64:
        return torch.where(kept(dy), dy / KEEP, 0)
    return torch.where(torch.rand(dy.shape, device="cuda") < KEEP, dy.float() / KEEP, 0).to(dy.dtype)


def normed_backward(d, away, scale):
    """The gradient through away = (x - mean) * scale, of its gradient d."""
    return scale * (d - d.mean(1, keepdim=True) - away * (d * away).mean(1, keepdim=True))


def layer_backward(x, g, mean, rstd, dy):
    """In float32 or float64, whatever x is of."""
    kind = x.dtype if x.dtype == torch.float64 else torch.float32
    x, g, dy = x.to(kind), g.to(kind), dy.to(kind)
    away = (x - mean[:, None]) * rstd[:, None]
    return normed_backward(dy * g, away, rstd[:, None]).to(BF16 if kind == torch.float32 else kind), (dy * away).sum(0), dy.sum(0)


def layer_backward_inputs(dims):
    x = matrix(dims)
    wide = x.float()
    return [x, normal(dims["N"]), wide.mean(1), torch.rsqrt(wide.var(1, correction=0) + 1e-5), matrix(dims)]


def rms_backward(x, g, dy):
    kind = x.dtype if x.dtype == torch.float64 else torch.float32
    x, g, dy = x.to(kind), g.to(kind), dy.to(kind)
    scale = torch.rsqrt((x * x).mean(1, keepdim=True) + 1e-5)
    d = dy * g
    dx = scale * (d - x * scale * scale * (d * x).mean(1, keepdim=True))
    return dx.to(BF16 if kind == torch.float32 else kind), (dy * x * scale).sum(0)


def targets(dims):
    return torch.randint(0, dims["N"], (dims["M"],), device="cuda", dtype=I32)


def heads(dims, *more):
    return [normal(dims["T"], dims["H"], *more), normal(dims["T"], 64, dtype=F32), normal(dims["T"], 64, dtype=F32)]


HEADS = [{"T": 16384, "H": 32}, {"T": 65536, "H": 8}, {"T": 4, "H": 32}, {"T": 64, "H": 8}]
HEADS_ODD = [{"T": 1, "H": 1}, {"T": 7, "H": 5}, {"T": 33, "H": 33}, {"T": 0, "H": 4}]
CHANNELS = [{"B": 8, "T": 4096, "C": 2048}, {"B": 1, "T": 64, "C": 4096}]
CHANNELS_ODD = [{"B": 1, "T": 1, "C": 1}, {"B": 2, "T": 19, "C": 77}, {"B": 3, "T": 33, "C": 520}]

CASES = [
    Case("softmax", lambda d: [matrix(d)], lambda d: [same(d)], lambda x: x.softmax(1), lambda x: x.softmax(1), LARGE + SMALL, ODD, of_compile=1.5),
    Case("softmax_masked", lambda d: [matrix(d), torch.randint(0, d["N"] + 1, (d["M"],), device="cuda", dtype=I32)], lambda d: [same(d)],
         masked, masked, LARGE + SMALL, ODD),
    Case("softmax_backward", lambda d: [matrix(d).softmax(1), matrix(d)], lambda d: [same(d)],
         lambda y, g: y * (g - (y * g).sum(1, keepdim=True)), lambda y, g: (y.float() * (g.float() - (y.float() * g.float()).sum(1, keepdim=True))).to(BF16),
         LARGE + SMALL, ODD, of_copy=0.9, tolerance={BF16: 8e-3}),
    Case("rms_norm", lambda d: [matrix(d), matrix(d), normal(d["N"])], lambda d: [same(d), same(d)], rms, rms, LARGE + SMALL, ODD,
         scalars=(1e-5,)),
    Case("layer_norm", lambda d: [matrix(d), normal(d["N"]), normal(d["N"])], lambda d: [same(d), ((d["M"],), F32), ((d["M"],), F32)],
         layer, layer, LARGE + SMALL, ODD, scalars=(1e-5,), tolerance={F32: 1e-3}),
    Case("rotary_halves_128", lambda d: heads(d, 128), lambda d: [((d["T"], d["H"], 128), BF16)], halves, halves, HEADS, HEADS_ODD, of_compile=1.1),
    Case("rotary_interleaved_128", lambda d: heads(d, 64, 2), lambda d: [((d["T"], d["H"], 64, 2), BF16)], interleaved, interleaved, HEADS,
         HEADS_ODD, of_compile=1.1),
    Case("swiglu", lambda d: [normal(d["M"], 2, d["N"])], lambda d: [same(d)], swiglu, swiglu, rows((16384, 4096), (8192, 14336), (1792, 100003), (64, 4096)), ODD),
    Case("gelu_bias", lambda d: [matrix(d), normal(d["N"])], lambda d: [same(d)], gelu, gelu, rows((16384, 4096), (2688, 100003), (64, 4096)), ODD),
    Case("cross_entropy", lambda d: [matrix(d), targets(d)], lambda d: [((d["M"],), F32), ((d["M"],), F32)], loss, loss,
         rows((4096, 32768), (2048, 131072), (5376, 100003), (65536, 1024), (64, 32768)), ODD, tolerance={F32: 1e-4}),
    Case("cross_entropy_backward", lambda d: [matrix(d), targets(d), normal(d["M"], dtype=F32) + 9], lambda d: [same(d)], loss_backward, loss_backward,
         rows((4096, 32768), (2688, 100003), (64, 32768)), ODD, scalars=(0.5,), of_copy=0.9),
    Case("quantise_rows", lambda d: [matrix(d)], lambda d: [((d["M"], d["N"]), F8), ((d["M"],), F32)], quantise, quantise,
         LARGE + rows((64, 4096)), ODD, tolerance={F8: 5e-2, F32: 1e-5}),
    Case("quantise_blocks", lambda d: [matrix(d)], lambda d: [((d["M"], d["N"]), F8), ((d["M"], -(-d["N"] // 128)), F32)],
         quantise_blocks, quantise_blocks, rows((16384, 4096), (2688, 100003), (64, 4096)), ODD, tolerance={F8: 5e-2, F32: 1e-5}),
    Case("dropout_add", lambda d: [matrix(d), matrix(d)], lambda d: [same(d)], dropout_add, dropout_add, rows((16384, 4096), (2688, 100003), (64, 4096)), ODD,
         scalars=(SEED, KEEP)),
    Case("dropout_backward", lambda d: [matrix(d)], lambda d: [same(d)], dropout_backward, dropout_backward, rows((16384, 4096), (2688, 100003), (64, 4096)), ODD,
         scalars=(SEED, KEEP), of_copy=0.9),
    Case("layer_norm_backward", layer_backward_inputs, lambda d: [same(d), ((d["N"],), F32), ((d["N"],), F32)], layer_backward, layer_backward,
         rows((65536, 1024), (32768, 2048), (16384, 4096), (64, 1024)), ODD_SHORT + rows((300, 1000), (5000, 1024), (700, 1500), (70, 4096), (9, 3000)), of_copy=0.9, tolerance={F32: 1e-4}),
    Case("rms_norm_backward", lambda d: [matrix(d), normal(d["N"]), matrix(d)], lambda d: [same(d), ((d["N"],), F32)], rms_backward, rms_backward,
         rows((65536, 1024), (32768, 2048), (16384, 4096), (64, 1024)), ODD_SHORT + rows((300, 1000), (5000, 1024), (700, 1500), (70, 4096), (9, 3000)), scalars=(1e-5,), of_copy=0.9, tolerance={F32: 1e-4},
         terms=lambda x, g, dy: dy * g * torch.rsqrt((x * x).mean(1, keepdim=True) + 1e-5)),
    Case("transpose", lambda d: [matrix(d)], lambda d: [((d["N"], d["M"]), BF16)], lambda x: x.t().contiguous(), lambda x: x.t().contiguous(),
         rows((8192, 8192), (16384, 4096), (512, 512)), ODD),
    Case("conv_silu", lambda d: [normal(d["B"], d["T"], d["C"]), normal(4, d["C"]), normal(d["C"])], lambda d: [((d["B"], d["T"], d["C"]), BF16)],
         convolve, convolve, CHANNELS, CHANNELS_ODD),
]
