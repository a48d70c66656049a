# SPDX-License-Identifier: MIT
"""occupied_names.py TKC CXX [CLANG]: kernels and parameters may have the names that C, C++, CUDA and the runtime have taken.

Parses the header of such kernels as C and C++ behind other headers, and the code for the simulator; with CLANG the host's side of the CUDA. The runtime's own names are read from its headers."""
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUNTIME = ROOT / "runtime/include"
NAMES = """main printf malloc free memcpy sin cos exp log pow abs min max exit abort read write open close send recv select signal time clock
rand std tk cudaMalloc cudaLaunchKernel cuInit curand hipMalloc dim3 uint4 float2 int32_t size_t uint8_t ssize_t pid_t div_t x_t wchar_t atomicAdd
threadIdx blockIdx gridDim warpSize class template typename new delete operator this namespace auto register volatile inline static extern restrict
alignas concept requires co_await export tk_tensor tk_status tk_code tk_dtype TK_OK TK_BF16 stop_workspace stop workspace workspace_bytes stream
call check choose launch sms schedule tiles shared arguments index rindex remove rename random y0 j0 gamma lgamma environ errno stdin stdout unix
linux assert NULL INFINITY NAN EOF major minor makedev I complex double int long short char void signed unsigned struct union enum typedef goto
switch case default break continue do while return sizeof const FILE va_list nullptr_t cudaStream_t CUstream_st hipStream_t accept connect kill
access chown getpid nice sync truncate pthread_self _start _x x_ a__b""".split()
CUDA = ["-x", "cuda", "--cuda-host-only", "--cuda-path=/usr/local/cuda", "-nocudalib", "--cuda-gpu-arch=sm_90a", "-Wno-unknown-cuda-version",
        "-std=c++20"]
INCLUDES = ["stdio.h", "math.h", "string.h", "stdlib.h", "unistd.h", "signal.h", "sys/socket.h", "time.h", "fcntl.h", "pthread.h"]


def runtime_names():
    declared = re.compile(r"^(?:template <.*> *)?(?:struct|class|enum class|namespace|using|concept|inline constexpr \w+) (\w+)\b", re.M)
    found = set()
    for header in sorted(RUNTIME.rglob("*.h")):
        found |= set(declared.findall(header.read_text(encoding="utf-8")))
    assert {"tensor", "divisor", "arch", "warp", "is_half", "e4m3"} <= found, found
    return sorted(found)


def kernels(names):
    for name in names:
        if name.endswith("_workspace") and name.removesuffix("_workspace") in names:
            continue  # a function of that other kernel (ab-1)
        yield f"kernel {name}(X: f32[M], Y: out f32[M]) {{\n    grid m in M by 128\n    worker w {{ Y[m] <- X[m] }}\n}}\n"


def parameters(names):
    """Each name once as that of a tensor, a dimension, an index, a worker, an output and a scalar."""
    for i, name in enumerate(names):
        b, c, d, e, f = (names[(i + k) % len(names)] for k in range(1, 6))
        yield (f"kernel k{i}({name}: f32[{b}], {c}: out f32[{b}], {f}: f32, {name}_c: f32[{b}]) {{\n    grid {d} in {b} by 128\n"
               f"    worker {e} {{ {c}[{d}] <- {name}[{d}] * {f} + {name}_c[{d}] }}\n}}\n")


def run(*command, folder):
    done = subprocess.run([str(part) for part in command], cwd=folder, capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        sys.exit(f"{' '.join(str(part) for part in command)}:\n{(done.stdout + done.stderr)[:6000]}")


def check(tkc, source, target, commands):
    with tempfile.TemporaryDirectory(prefix="names.") as folder:
        (pathlib.Path(folder) / "k.tk").write_text(source)
        run(tkc, "k.tk", "--target", target, "-o", "k.cu" if target == "sm_90a" else "k.hip", folder=folder)
        user = "".join(f"#include <{header}>\n" for header in INCLUDES) + '#include "k.h"\n'
        (pathlib.Path(folder) / "user.c").write_text("#include <complex.h>\n" + user)
        (pathlib.Path(folder) / "user.cpp").write_text("#include <complex>\n#include <algorithm>\n#include <vector>\n" + user)
        for command in commands:
            run(*command[:-1], "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I", RUNTIME, command[-1], folder=folder)


def main():
    tkc, cxx, *clang = sys.argv[1:]
    reserved = set("bf16 e4m3 e5m2 f16 f32 bool i32 u32 i64 u64 i8 u8 f64".split())
    words = set("kernel worker grid pipe for in by let var if else true false and or not fn import require schedule instance work inf pi tiny".split())
    names = [name for name in dict.fromkeys(NAMES + runtime_names()) if name not in reserved | words]
    for source in "".join(kernels(names)), "".join(parameters(names)):
        if clang:
            check(tkc, source, "sm_90a", [[*clang, *CUDA, "k.cu"]])
            continue
        for target, code in ("sm_90a", "k.cu"), ("gfx950", "k.hip"):
            check(tkc, source, target, [[cxx, "-x", "c", "-std=gnu11", "user.c"], [cxx, "-std=c++17", "user.cpp"],
                                        [cxx, "-x", "c++", "-std=c++20", "-DTK_SIM", code]])


main()
