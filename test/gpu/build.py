# SPDX-License-Identifier: MIT
"""tkc, nvcc and the linker, for test/gpu/prepare.py; run.py builds again with it what does not load where the GPU is.

Every generated file becomes an object of its own, checked for what ptxas says, and the objects of a folder one shared library: the
CUDA runtime, a megabyte, is in it once."""
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
NVCC = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
os.environ["LD_LIBRARY_PATH"] = os.environ.get("LD_LIBRARY_PATH", "") + ":" + os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(NVCC))), "lib64")
sys.path.insert(0, os.path.join(ROOT, "runtime", "python"))  # for `import tkc`
RUNTIME = ["-I", os.path.join(ROOT, "runtime", "include")]


def architecture(target):
    """Machine code for the H200: of an older target, what its PTX becomes there."""
    return ["-gencode=arch=compute_90a,code=sm_90a" if target == "sm_90a" else f"-gencode=arch={target.replace('sm', 'compute')},code=sm_90"]


def run(command, timeout=600, env=None):
    """(exit status, stdout and stderr together)"""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout, env={**os.environ, **(env or {})})
        return done.returncode, done.stdout.decode(errors="replace")
    except subprocess.TimeoutExpired as late:
        return 124, f"{(late.stdout or b'').decode(errors='replace')}\nno end within {timeout} s"
    except OSError as error:
        return 127, str(error)


def ptxas_complaint(text):
    """"", or what ptxas found: a wgmma it serialises (C75xx) or registers in memory."""
    if re.search(r"\(C75\d\d\)", text):
        return "ptxas: " + next(line for line in text.splitlines() if "(C75" in line)[:160]
    spills = sum(int(n) for n in re.findall(r"(\d+) bytes spill stores", text))
    return f"ptxas: {spills} bytes spilled" if spills else ""


def compile_object(cu, target="sm_90a"):
    """"" or what is wrong; the object stands beside the source, what nvcc said in a .log."""
    if not os.path.exists(NVCC):
        return "not compiled: no nvcc"
    rc, text = run([NVCC, "-std=c++20", "-O3", "-Xcompiler", "-fPIC", *architecture(target), *RUNTIME, "-Xptxas", "-v,--warn-on-spills", "-c", "-o",
                    cu[:-3] + ".o", cu])
    with open(cu[:-3] + ".log", "w") as f:
        f.write(text)
    if rc:
        return "nvcc: " + next((line for line in text.splitlines() if "error" in line), text[-200:])
    return ptxas_complaint(text)


def compile_tk(tkc, source, out, name, define=(), target="sm_90a"):
    """tkc and nvcc for one file: "" or what went wrong. The .cu, and the .o unless tkc or nvcc refused, stand in `out`."""
    cu = os.path.join(out, name + ".cu")
    for stale in (cu, cu[:-3] + ".o"):
        if os.path.exists(stale):
            os.remove(stale)
    rc, text = run([tkc, source, f"--target={target}", "-o", cu, *[f"-D{k}={v}" for k, v in define]])
    if rc:
        return "tkc: " + (text.splitlines() or ["no message"])[0]
    return compile_object(cu, target)


def buildable(out, name):
    """tkc made NAME.cu, and nvcc, where there is one, took it."""
    return os.path.exists(os.path.join(out, name + (".o" if os.path.exists(NVCC) else ".cu")))


def link(out, library, names):
    """One library of the objects with these names; they are removed. "" or what went wrong."""
    if not os.path.exists(NVCC):
        return ""
    objects = [os.path.join(out, name + ".o") for name in names]
    rc, text = run([NVCC, "-shared", *architecture("sm_90a"), "-Xlinker", "-s", "-o", os.path.join(out, library), *objects])
    for path in objects if not rc else ():
        os.remove(path)
    return f"{library}: {text[-300:]}" if rc else ""


def program_command(name, out):
    library = {"gemm_bench": "-lcublasLt", "gemm_check": "-lcublas"}[name]
    return [NVCC, "-O2", "-std=c++17", *architecture("sm_90a"), *RUNTIME, os.path.join(HERE, name + ".cu"), "-o", os.path.join(out, name), library, "-ldl",
            "-Xlinker", "-s", "-Xlinker", "-rpath,/usr/local/cuda/lib64"]


PROGRAMS = ("gemm_bench", "gemm_check")
