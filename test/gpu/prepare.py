# SPDX-License-Identifier: MIT
"""Where there is tkc but perhaps no GPU: makes a folder that test/gpu/run.py needs nothing else for.

For each kernel of manifest.json: the generated .cu, a shared library if nvcc is here, and for each case inputs and the
reference interpreter's outputs as .npy. Then the GEMM entries, a set of random schedules of gemm, and the test programs.
Only the standard library is used.
"""
import array
import json
import os
import random
import re
import shutil
import struct
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
NVCC = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
os.environ["LD_LIBRARY_PATH"] = os.environ.get("LD_LIBRARY_PATH", "") + ":" + os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(NVCC))), "lib64")
ARCH = ["-gencode=arch=compute_90a,code=sm_90a"]


def run(command, timeout=600):
    """(exit status, stdout and stderr together)"""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout)
        return done.returncode, done.stdout.decode(errors="replace")
    except subprocess.TimeoutExpired:
        return 124, f"no end within {timeout} s"
    except OSError as error:
        return 127, str(error)


def parameters(source, kernel):
    """[(name, mode, dtype, dims or None)] as `kernel NAME<..>(..)` of a .tk file declares them; dims are strings."""
    text = re.sub(r"//[^\n]*", "", open(source).read())
    found = re.search(r"\bkernel\s+" + (re.escape(kernel) if kernel else r"\w+") + r"\s*(<[^>]*>)?\s*\(([^)]*)\)", text)
    if not found:
        raise SystemExit(f"{source}: no kernel {kernel or ''}")
    result = []
    for part in re.findall(r"(\w+)\s*:\s*((?:out|inout|in)\s+)?(\w+)\s*(\[[^\]]*\])?", found.group(2)):
        dims = [d.strip() for d in part[3].strip("[]").split(",")] if part[3] else None
        result.append((part[0], (part[1] or "in").strip(), part[2], dims))
    return result


def kernel_name(source):
    return re.search(r"\bkernel\s+(\w+)", re.sub(r"//[^\n]*", "", open(source).read())).group(1)


def write_npy(path, dtype, extents, generator):
    """Random values around zero: normal floats, small integers."""
    count = 1
    for e in extents:
        count *= e
    if dtype == "bf16":
        code, data = "<u2", array.array("H", (struct.unpack("<I", struct.pack("<f", generator.gauss(0, 1)))[0] >> 16 for _ in range(count)))
    elif dtype == "f16":
        code, data = "<f2", array.array("H", (struct.unpack("<H", struct.pack("<e", generator.gauss(0, 1)))[0] for _ in range(count)))
    elif dtype == "f32":
        code, data = "<f4", array.array("f", (generator.gauss(0, 1) for _ in range(count)))
    else:
        code, data = "<i4", array.array("i", (generator.randint(0, 7) for _ in range(count)))
    shape = "(" + ", ".join(str(e) for e in extents) + ("," if len(extents) == 1 else "") + ")"
    header = f"{{'descr': '{code}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(10 + len(header) + 1) % 64) + "\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data.tobytes())


def compile_library(cu, so, log):
    """nvcc with the checks of ptxas: a spill or a serialised wgmma is a failure of its own."""
    if not os.path.exists(NVCC):
        return "not compiled: no nvcc"
    rc, text = run([NVCC, "-std=c++20", "-O3", "-shared", "-Xcompiler", "-fPIC", *ARCH, "-I", os.path.join(ROOT, "runtime", "include"),
                    "-Xptxas", "-v,--warn-on-spills", "-o", so, cu])
    with open(log, "w") as f:
        f.write(text)
    if rc:
        return "nvcc: " + next((line for line in text.splitlines() if "error" in line), text[-200:])
    if re.search(r"\(C75\d\d\)", text):
        return "ptxas: " + next(line for line in text.splitlines() if "(C75" in line)[:160]
    spills = sum(int(n) for n in re.findall(r"(\d+) bytes spill stores", text))
    return f"ptxas: {spills} bytes spilled" if spills else ""


def compile_tk(tkc, source, out, name, define=()):
    """tkc and nvcc for one file; ("" or what went wrong, library)."""
    cu, so = os.path.join(out, name + ".cu"), os.path.join(out, name + ".so")
    rc, text = run([tkc, source, "-o", cu, *[f"-D{k}={v}" for k, v in define]])
    if rc:
        return "tkc: " + (text.splitlines() or ["no message"])[0], None
    return compile_library(cu, so, os.path.join(out, name + ".log")), so


def prepare_cases(tkc, source, kernel, item, cases, out, name):
    declared = parameters(source, kernel)
    define = item.get("define", {})
    result = []
    for number, dims in enumerate(cases):
        extent = lambda d: int(d) if d.isdigit() else int({**define, **dims}[d])
        generator = random.Random(f"{name} {number}")
        command = [tkc, "run", "--on", "reference", source, "--kernel", kernel]
        command += [f"-D{k}={v}" for k, v in define.items()]
        command += ["--dims", ",".join(f"{k}={v}" for k, v in dims.items())]
        case = {"dims": dims, "parameters": []}
        for parameter, mode, dtype, axes in declared:
            entry = {"name": parameter, "mode": mode, "dtype": dtype}
            if axes is None:
                value = item.get("scalars", {}).get(parameter, 0.5)
                entry["value"] = value
                command += ["--scalar", f"{parameter}={value}"]
            else:
                entry["extents"] = [extent(a) for a in axes]
                entry["file"] = f"{name}.{number}.{parameter}.npy"
                path = os.path.join(out, entry["file"])
                if mode == "in":
                    write_npy(path, dtype, entry["extents"], generator)
                    command += ["--in", f"{parameter}={path}"]
                else:
                    command += ["--out", f"{parameter}={path}"]
            case["parameters"].append(entry)
        rc, text = run(command, 120)
        if rc:
            return result, "reference: " + (text.splitlines() or ["no message"])[0]
        result.append(case)
    return result, ""


def random_schedules(tkc, out, count, seed):
    """Random legal-looking parameter sets of gemm; those that tkc refuses must be refused with a message."""
    generator = random.Random(seed)
    text = open(os.path.join(ROOT, "examples", "gemm", "gemm.tk")).read()
    body = text[: text.index("// How it runs")] if "// How it runs" in text else text.split("schedule")[0]
    plan = []
    for number in range(count):
        bm, bn, bk = generator.choice((64, 128, 192, 256)), generator.choice((64, 96, 128, 192, 256)), generator.choice((32, 64, 96, 128))
        workers, slots = generator.randint(1, 3), generator.randint(1, 6)
        extra = generator.choice(("", "    persistent\n", "    persistent\n    order = grouped(4)\n", "    cluster = 2\n", "    persistent\n    cluster = 2\n"))
        label = f"BM{bm} BN{bn} BK{bk} W{workers} slots{slots} {' '.join(extra.split())}".strip()
        source = os.path.join(out, f"random{number}.tk")
        with open(source, "w") as f:
            f.write(f"{body}\nschedule tried of gemm for sm_90a {{\n    BM = {bm}; BN = {bn}; BK = {bk}; W = {workers}\n    slots ab = {slots}\n{extra}}}\n")
        problem, so = compile_tk(tkc, source, out, f"random{number}")
        plan.append({"label": label, "library": so and os.path.basename(so), "problem": problem})
    return plan


def build_programs(out):
    """gemm_bench and gemm_check; they may load on the GPU machine, else run.py builds them there."""
    problems = []
    for name, library in (("gemm_bench", "-lcublasLt"), ("gemm_check", "-lcublas")):
        rc, text = run(program_command(name, library, out))
        if rc:
            problems.append(f"{name}: {text[-300:]}")
    return problems


def program_command(name, library, out):
    return [NVCC, "-O2", "-std=c++17", *ARCH, "-I", os.path.join(ROOT, "runtime", "include"), os.path.join(HERE, name + ".cu"), "-o",
            os.path.join(out, name), library, "-ldl", "-Xlinker", "-rpath,/usr/local/cuda/lib64"]


def prepare(tkc, out, only=(), generality=0, seed=1, cases=True):
    os.makedirs(out, exist_ok=True)
    manifest = json.load(open(os.path.join(HERE, "manifest.json")))
    plan = {"tolerance": manifest["tolerance"], "kernels": [], "gemm": [], "random": [], "problems": []}
    libraries = {}
    for item in manifest["kernels"] if cases else []:
        source = os.path.join(ROOT, item["source"])
        kernel = item.get("kernel") or kernel_name(source)
        entry = item.get("entry", kernel)
        if only and entry not in only:
            continue
        if source not in libraries:
            libraries[source] = compile_tk(tkc, source, out, os.path.splitext(os.path.basename(source))[0])
        problem, so = libraries[source]
        cases_of = item["cases"] if isinstance(item["cases"], list) else manifest["case_sets"][item["cases"]]
        made, trouble = prepare_cases(tkc, source, kernel, item, cases_of, out, entry)
        plan["kernels"].append({"entry": entry, "library": so and os.path.basename(so), "problem": problem or trouble, "cases": made})
        print(f"{entry:20s} {problem or trouble or 'ready'}, {len(made)} cases", flush=True)
    for item in manifest["gemm_entries"]:
        source = os.path.join(ROOT, item["source"])
        if only and item["entry"] not in only:
            continue
        if source not in libraries:
            libraries[source] = compile_tk(tkc, source, out, os.path.splitext(os.path.basename(source))[0])
        problem, so = libraries[source]
        plan["gemm"].append({"entry": item["entry"], "layout": item["layout"], "library": so and os.path.basename(so), "problem": problem})
        print(f"{item['entry']:20s} {problem or 'ready'} for bench and check", flush=True)
    if generality:
        plan["random"] = random_schedules(tkc, out, generality, seed)
        ready = sum(not p["problem"] for p in plan["random"])
        print(f"random schedules: {ready} compiled, {generality - ready} refused or failed")
        for p in plan["random"]:
            if p["problem"]:
                print(f"  {p['label']}: {p['problem']}")
    plan["problems"] = build_programs(out)
    for problem in plan["problems"]:
        print(problem)
    with open(os.path.join(out, "plan.json"), "w") as f:
        json.dump(plan, f, indent=1)
    return plan
