# SPDX-License-Identifier: MIT
"""Parameter sets of examples/gemm drawn at random, for test/gpu/prepare.py: blocks of 16 to 256 rows and 64 to 256 columns, 32 to 128 of
K, 1 to 6 slots, 1 to 6 workers that share out rows, columns or both, with and without what a schedule set may add.

It draws until `count` of them compile. What tkc refuses is kept with the kind of its diagnostic; what tkc takes and nvcc or ptxas then
finds fault with is a fault of tkc."""
import collections
import concurrent.futures
import json
import os
import random

from build import ROOT, compile_object, run

ITEMS = ("", "persistent = false", "persistent", "persistent; order = grouped(4)", "persistent = false; cluster = 2", "persistent; cluster = 2", "split = 2", "persistent; split = 3",
         "persistent; order = columns; depth = 0", "resident = 2", "persistent; resident = 2")


def draw(generator):
    return {"BM": generator.choice((16, 48, 64, 88, 128, 160, 192, 208, 256)), "BN": generator.choice(range(64, 257, 16)), "BK": generator.choice(range(32, 129, 16)),
            "WM": generator.randint(1, 2), "WN": generator.randint(1, 3), "slots": generator.randint(1, 6), "items": generator.choice(ITEMS)}


def label(p):
    return f"BM {p['BM']} BN {p['BN']} BK {p['BK']} WM {p['WM']} WN {p['WN']} slots {p['slots']} {p['items']}".strip()


def source(p, name):
    text = open(os.path.join(ROOT, "examples", "gemm", "gemm.tk")).read()
    body = text[: text.index("// How it runs")].replace("kernel gemm<", f"kernel {name}<")
    items = "".join(f"    {item.strip()}\n" for item in p["items"].split(";") if item.strip())
    return (f"{body}\nschedule tried of {name} for sm_90a {{\n    BM = {p['BM']}; BN = {p['BN']}; BK = {p['BK']}; WM = {p['WM']}; WN = {p['WN']}\n"
            f"    slots ab = {p['slots']}\n{items}}}\n")


def generate(tkc, out, p, name):
    """"" where tkc makes NAME.cu of the set, else (kind, headline) of its first diagnostic."""
    path = os.path.join(out, name + ".tk")
    with open(path, "w") as f:
        f.write(source(p, name))
    rc, text = run([tkc, path, "-o", os.path.join(out, name + ".cu"), "--diagnostics=json"], 20)
    if rc == 0:
        return ""
    try:
        first = json.loads(text.splitlines()[0])
        return first["code"], first["message"]
    except (ValueError, IndexError, KeyError):
        return f"tkc ended with status {rc}", text[-200:]


def parameter_sets(tkc, out, count, seed):
    """(the sets that compile, each with the names that run.py needs; the refused ones)"""
    generator, taken, refused, seen = random.Random(seed), [], [], set()
    while len(taken) < count and len(taken) + len(refused) < 50 * count:
        p = draw(generator)
        if label(p) in seen:
            continue
        seen.add(label(p))
        name = f"gemm_{len(taken)}"
        problem = generate(tkc, out, p, name)
        if problem:
            refused.append({"label": label(p), "kind": problem[0], "headline": problem[1]})
        else:
            taken.append({"label": label(p), "entry": name, "layout": "NN", "blocks": f"{p['BM']}x{p['BN']}x{p['BK']}x{p['slots']}"})
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        problems = pool.map(lambda item: compile_object(os.path.join(out, item["entry"] + ".cu")), taken)
        for item, problem in zip(taken, problems):
            item["problem"] = problem
    for item in taken:
        os.remove(os.path.join(out, item["entry"] + ".tk"))
        os.remove(os.path.join(out, item["entry"] + ".h"))
    return taken, refused


def summary(taken, refused):
    lines = [f"parameter sets: {len(taken)} compiled by tkc, {sum(bool(t['problem']) for t in taken)} of them with a complaint of nvcc or ptxas; "
             f"{len(refused)} refused"]
    lines += [f"  {n:4d} {kind}" for kind, n in sorted(collections.Counter(r["kind"] for r in refused).items())]
    lines += [f"  {t['label']}: {t['problem']}" for t in taken if t["problem"]]
    return "\n".join(lines)
