# SPDX-License-Identifier: MIT
"""long_kernel.py COUNT: a kernel of so many statements, each of which uses what the one before has made; COUNT loops: of so many
loops, each over the same range; COUNT branches: of so many branches with a send and a receive; COUNT loads: of so many loads, a hundred
of them in use at once."""
import sys

count = int(sys.argv[1])
if sys.argv[2:] == ["loops"]:
    print("kernel loops<BN = 32>(X: f32[M, N], Y: out f32[M]) {")
    print("    grid m in M by 16\n    pipe p: f32[16, BN]\n    worker load {")
    print("        for n in N by BN { p <- X[m, n] }\n" * count)
    print("    }\n    worker rows {\n        var total: f32[16, 1] = 0")
    print("        for n in N by BN {\n            let x = <-p\n            total += rowsum(x)\n        }\n" * count)
    print("        Y[m] <- total\n    }\n}")
    sys.exit()
if sys.argv[2:] == ["branches"]:
    print("kernel branches<BM = 64>(X: f32[M], Y: out f32[M]) {\n    grid m in M by BM\n    pipe p: f32[BM, 1]\n    worker load {")
    print("\n".join(f"        if M > {i} {{ p <- X[m] }}" for i in range(count)))
    print("    }\n    worker sum {\n        var total: f32[BM, 1] = 0")
    print("\n".join(f"        if M > {i} {{ total += <-p }}" for i in range(count)))
    print("        Y[m] <- total\n    }\n}")
    sys.exit()
if sys.argv[2:] == ["loads"]:
    print("kernel loads<BM = 64>(X: f32[M], Y: out f32[M]) {\n    grid m in M by BM\n    worker sum {\n        var total: f32[BM, 1] = 0")
    for first in range(0, count, 100):
        print("\n".join(f"        let x{i} = X[m] * {i}" for i in range(first, first + 100)))
        print("\n".join(f"        total += x{i}" for i in range(first, first + 100)))
    print("        Y[m] <- total\n    }\n}")
    sys.exit()
print("kernel long<BM = 64, BN = 128>(X: bf16[M, N], Y: out bf16[M, N]) {")
print("    grid m in M by BM, n in N by BN")
print("    worker chain {\n        let t0 = f32(X[m, n])")
for i in range(1, count):
    print(f"        let t{i} = t{i - 1} * 1.5 + {i}.0")
print(f"        Y[m, n] <- bf16(t{count - 1})\n    }}\n}}")
