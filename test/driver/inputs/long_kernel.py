# SPDX-License-Identifier: MIT
"""long_kernel.py COUNT: a kernel of so many statements, each of which uses what the one before has made."""
import sys

count = int(sys.argv[1])
print("kernel long<BM = 64, BN = 128>(X: bf16[M, N], Y: out bf16[M, N]) {")
print("    grid m in M by BM, n in N by BN")
print("    worker chain {\n        let t0 = f32(X[m, n])")
for i in range(1, count):
    print(f"        let t{i} = t{i - 1} * 1.5 + {i}.0")
print(f"        Y[m, n] <- bf16(t{count - 1})\n    }}\n}}")
