# SPDX-License-Identifier: MIT
"""Where there is tkc but perhaps no GPU: makes a folder that test/gpu/run.py needs nothing else for.

For each kernel of manifest.json: the generated .cu, its machine code if nvcc is here, and for each case inputs and the reference
interpreter's outputs as .npy. Then the GEMM entries, parameter sets of gemm drawn at random (generality.py), and the test programs.
Only the standard library is used.
"""
import array
import json
import os
import random
import re
import struct

import generality
from build import HERE, PROGRAMS, ROOT, buildable, compile_tk, link, program_command, run


def parameters(source, kernel):
    """[(name, mode, dtype, dims or None)] as `kernel NAME<..>(..)` of a .tk file declares them; dims are strings. `kernel` may be the
    name of an instance, NAME_VALUE."""
    text = re.sub(r"//[^\n]*", "", open(source).read())
    declared = {name: list_ for name, list_ in re.findall(r"\bkernel\s+(\w+)\s*(?:<[^>]*>)?\s*\(([^)]*)\)", text)}
    found = max((name for name in declared if kernel == name or kernel.startswith(name + "_")), key=len, default=None)
    if not found:
        raise SystemExit(f"{source}: no kernel {kernel}")
    result = []
    for part in re.findall(r"(\w+)\s*:\s*((?:out|inout|in)\s+)?(\w+)\s*(\[[^\]]*\])?", declared[found]):
        dims = [d.strip() for d in part[3].strip("[]").split(",")] if part[3] else None
        result.append((part[0], (part[1] or "in").strip(), part[2], dims))
    return result


def kernel_name(source):
    return re.search(r"\bkernel\s+(\w+)", re.sub(r"//[^\n]*", "", open(source).read())).group(1)


def write_npy(path, dtype, extents, integers=False):
    """Random values around zero, drawn by the file's name: normal floats, small integers. `integers`: floats are -2 .. 2, too."""
    generator = random.Random(os.path.basename(path))
    draw = (lambda: float(generator.randint(-2, 2))) if integers else (lambda: generator.gauss(0, 1))
    count = 1
    for e in extents:
        count *= e
    if dtype == "bf16":
        code, data = "<u2", array.array("H", (struct.unpack("<I", struct.pack("<f", draw()))[0] >> 16 for _ in range(count)))
    elif dtype == "f16":
        code, data = "<f2", array.array("H", (struct.unpack("<H", struct.pack("<e", draw()))[0] for _ in range(count)))
    elif dtype == "f32":
        code, data = "<f4", array.array("f", (draw() for _ in range(count)))
    elif dtype == "i8":
        code, data = "|i1", array.array("b", (generator.randint(-128, 127) for _ in range(count)))
    elif dtype == "u8":
        code, data = "|u1", array.array("B", (generator.randint(0, 255) for _ in range(count)))
    else:
        code, data = "<i4", array.array("i", (generator.randint(0, 7) for _ in range(count)))
    shape = "(" + ", ".join(str(e) for e in extents) + ("," if len(extents) == 1 else "") + ")"
    header = f"{{'descr': '{code}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(10 + len(header) + 1) % 64) + "\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data.tobytes())


def prepare_cases(tkc, source, kernel, item, cases, out, name, on):
    declared = parameters(source, kernel)
    define, extents = item.get("define", {}), item.get("extents", {})  # extents: that the instance gives
    result = []
    for number, dims in enumerate(cases):
        extent = lambda d: int(d) if d.isdigit() else int({**define, **extents, **dims}[d])
        command = [tkc, "run", "--on", on, source, "--kernel", kernel]
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
                if mode != "out":
                    entry["before"] = entry["file"] if mode == "in" else f"{name}.{number}.{parameter}.before.npy"
                    path = os.path.join(out, entry["before"])
                    write_npy(path, dtype, entry["extents"], on == "simulator")
                    command += ["--in", f"{parameter}={path}"]
                if mode != "in":
                    command += ["--out", f"{parameter}={os.path.join(out, entry['file'])}"]
            case["parameters"].append(entry)
        rc, text = run(command, 120)
        if rc:
            return result, f"{on}: " + (text.splitlines() or ["no message"])[0]
        for entry in case["parameters"]:  # run.py draws them again: half of what had to be carried
            if "before" in entry:
                os.remove(os.path.join(out, entry["before"]))
        result.append(case)
    return result, ""


class Library:
    """kernels.so: each .tk file compiled once, whatever number of kernels of it are tested."""

    def __init__(self, tkc, out, target):
        self.tkc, self.out, self.target, self.problems = tkc, out, target, {}

    def problem(self, source):
        name = os.path.splitext(os.path.basename(source))[0]
        if name not in self.problems:
            self.problems[name] = compile_tk(self.tkc, source, self.out, name, target=self.target)
        return self.problems[name]

    def names(self):
        return [name for name in self.problems if buildable(self.out, name)]

    def holds(self, source):
        return os.path.splitext(os.path.basename(source))[0] in self.names()


def prepare(tkc, out, only=(), generality_sets=0, seed=1, cases=True, on="reference", target="sm_90a"):
    """`only`: the entries to prepare, all if empty. `cases`: with the examples' cases and the answers of the reference
    interpreter, or, on="simulator", of the simulator, for integers and the kernels that are exact on them: those must agree in each bit."""
    os.makedirs(out, exist_ok=True)
    manifest = json.load(open(os.path.join(HERE, "manifest.json")))
    exact = on == "simulator"
    plan = {"target": target, "tolerance": {} if exact else manifest["tolerance"], "integers": exact, "libraries": {}, "kernels": [], "gemm": [], "random": [], "refused": []}
    library, problems = Library(tkc, out, target), []
    for item in manifest["kernels"] if cases else []:
        source = os.path.join(ROOT, item["source"])
        kernel = item.get("kernel") or kernel_name(source)
        entry = item.get("entry", kernel)
        if only and entry not in only or exact and entry in manifest["not_exact"]:
            continue
        problem = library.problem(source)
        cases_of = item["cases"] if isinstance(item["cases"], list) else manifest["case_sets"][item["cases"]]
        made, trouble = prepare_cases(tkc, source, kernel, item, cases_of, out, entry, on)
        plan["kernels"].append({"entry": entry, "library": library.holds(source) and "kernels.so", "problem": problem or trouble, "cases": made})
        print(f"{entry:20s} {problem or trouble or 'ready'}, {len(made)} cases", flush=True)
    for item in manifest["gemm_entries"]:
        source = os.path.join(ROOT, item["source"])
        if only and item["entry"] not in only:
            continue
        problem = library.problem(source)
        plan["gemm"].append({"entry": item["entry"], "layout": item["layout"], "library": library.holds(source) and "kernels.so", "problem": problem})
        print(f"{item['entry']:20s} {problem or 'ready'} for bench and check", flush=True)
    plan["libraries"]["kernels.so"] = library.names()
    if generality_sets:
        plan["random"], plan["refused"] = generality.parameter_sets(tkc, out, generality_sets, seed)
        plan["libraries"]["random.so"] = [p["entry"] for p in plan["random"] if buildable(out, p["entry"])]
        for p in plan["random"]:
            p["library"] = p["entry"] in plan["libraries"]["random.so"] and "random.so"
        print(generality.summary(plan["random"], plan["refused"]))
    for name, objects in plan["libraries"].items():
        problems += [link(out, name, objects)] if objects else []
    for name in PROGRAMS:
        rc, text = run(program_command(name, out))
        problems += [f"{name}: {text[-300:]}"] if rc else []
    for problem in filter(None, problems):
        print(problem)
    with open(os.path.join(out, "plan.json"), "w") as f:
        json.dump(plan, f, indent=1)
    return plan
