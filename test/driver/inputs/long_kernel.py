# SPDX-License-Identifier: MIT
"""long_kernel.py COUNT: a kernel of so many statements, each of which uses what the one before has made; COUNT loops: of so many
loops, each over the same range."""
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
print("kernel long<BM = 64, BN = 128>(X: bf16[M, N], Y: out bf16[M, N]) {")
print("    grid m in M by BM, n in N by BN")
print("    worker chain {\n        let t0 = f32(X[m, n])")
for i in range(1, count):
    print(f"        let t{i} = t{i - 1} * 1.5 + {i}.0")
print(f"        Y[m, n] <- bf16(t{count - 1})\n    }}\n}}")
