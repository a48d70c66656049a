# SPDX-License-Identifier: MIT
"""many_tensors.py N: a kernel that adds up N tensors, each through a pipe of its own."""
import sys


def main():
    numbers = range(int(sys.argv[1]))
    print(f"kernel sum_of_many({', '.join(f'X{i}: f32[M, N]' for i in numbers)}, Y: out f32[M, N]) {{")
    print("    grid m in M by 8, n in N by 32")
    for i in numbers:
        print(f"    pipe p{i}[1]: f32[8, 32]")
    print("    worker load {")
    for i in numbers:
        print(f"        p{i} <- X{i}[m, n]")
    print("    }\n    worker compute {\n        var sum: f32[8, 32] = 0")
    for i in numbers:
        print(f"        sum += <-p{i}")
    print("        Y[m, n] <- sum\n    }\n}")


main()
