# SPDX-License-Identifier: MIT
"""What each schedule set of a file with one GEMM kernel takes by itself, over shapes drawn at random, and the constants that the file's
cost formula should have for it.

    prepare   here: one entry for each set for sm_90a, without its condition
    run       on a GPU: microseconds of each set and of cublasLt as .csv, a row for each shape
    fit       anywhere: constants of `fn time` and of the sets' costs for one or more such files, printed, or written

The formula is the file's own. Of its numbers those that are no power of two, and not 100, are constants to be fitted, and so are the
arguments behind the last name in each set's cost. A choice is as good as the geometric mean of (best set's time / chosen set's time); half of the shapes are kept
back, and say how good it is on shapes that the fit has not seen."""
import argparse
import csv
import json
import math
import os
import random
import re
import subprocess

import numpy

from build import PROGRAMS, ROOT, buildable, compile_tk, link, program_command, run
from run import ensure

SOURCE = os.path.join(ROOT, "examples", "gemm", "gemm.tk")
SET = re.compile(r"^schedule (\w+) of gemm for [^{\n]*sm_90a[^{\n]*\{\n(.*?)^\}\n", re.M | re.S)
BAR = 10  # as many shapes as one with a bar counts for
SMS = 132  # multiprocessors of the cards that are measured, H100 and H200
ROOM = {4: 120, 8: 104}  # how many of them clusters of so many blocks fill; it differs from card to card
MODEL_DIMS = (768, 1024, 2048, 3072, 3584, 4096, 4608, 5120, 6144, 6208, 8192, 8960, 10240, 11008, 13824, 14336, 18944, 28672)


def prepare(tkc, out, source=SOURCE):
    os.makedirs(out, exist_ok=True)
    text = open(source).read()
    kernel = text[: text.index("// How it runs")]
    names = []
    for name, items in SET.findall(text):
        body = "".join(line + "\n" for line in items.splitlines() if not line.strip().startswith("cost ="))
        path = os.path.join(out, f"gemm_{name}.tk")
        with open(path, "w") as f:
            f.write(kernel.replace("kernel gemm<", f"kernel gemm_{name}<") + f"schedule alone of gemm_{name} for sm_90a {{\n{body}}}\n")
        problem = compile_tk(tkc, path, out, f"gemm_{name}")
        print(f"gemm_{name:20s} {problem or 'ready'}", flush=True)
        names += [f"gemm_{name}"] if buildable(out, f"gemm_{name}") else []
    problems = [link(out, "sets.so", names)]
    for program in PROGRAMS:
        rc, text = run(program_command(program, out))
        problems += [f"{program}: {text[-300:]}"] if rc else []
    print("".join(problem + "\n" for problem in problems if problem), end="")
    with open(os.path.join(out, "plan.json"), "w") as f:
        json.dump({"target": "sm_90a", "libraries": {"sets.so": names}}, f, indent=1)


def draw_shapes(count, seed):
    """Rows from 1 to 16384, many of them some hundred; columns and terms of models, and others in multiples of 8, some of which end inside
    of lines."""
    generator, shapes = random.Random(seed), []
    while len(shapes) < count:
        m = int(2 ** generator.uniform(*generator.choice(((0, 14), (6, 10.5)))))
        m = generator.choice((m, m, m // 64 * 64, m // 8 * 8)) or m
        n, k = (generator.choice(MODEL_DIMS) if generator.random() < 0.5 else int(2 ** generator.uniform(7, 14)) // 8 * 8 for _ in range(2))
        if generator.random() < 0.6:
            n, k = n // 64 * 64, k // 64 * 64
        if min(n, k) >= 64 and m * n * k < 3e12 and max(m * k, k * n, m * n) < 1 << 29:
            shapes.append((m, n, k))
    return shapes


def measure(folder, shapes, is_survey, ms, rounds, out):
    """Of these shapes, or, if there are none, of those that gemm_bench has bars for, or of its survey."""
    plan = json.load(open(os.path.join(folder, "plan.json")))
    library = os.path.join(os.path.abspath(folder), "sets.so")
    entries = [f"{name}:{library}:{name}:NN" for name in plan["libraries"]["sets.so"]]
    arguments = [word for m, n, k in shapes for word in ("--shape", f"{m}x{n}x{k}")]
    arguments += ["--survey"] if is_survey else []
    times = {}
    with subprocess.Popen([os.path.join(folder, "gemm_bench"), "--ms", str(ms), "--rounds", str(rounds), *arguments, *entries], stdout=subprocess.PIPE, text=True) as bench:
        card = bench.stdout.readline().split(",")[0]
        for line in bench.stdout:
            found = re.match(r"gemm_(\w+) +NN (\S+) .*blas +([\d.]+) us .*ratio ([\d.]+)", line)
            if found:  # clocks fall while the sets take their turns: what was measured beside cublasLt counts, not the time
                row = times.setdefault(found[2], {"cublasLt": found[3]})
                row[found[1]] = f"{float(row['cublasLt']) / float(found[4]):.3f}"
    if bench.returncode or not times:
        raise SystemExit(f"gemm_bench ended with status {bench.returncode}, after {len(times)} shapes")
    sets = [name[len("gemm_"):] for name in plan["libraries"]["sets.so"]]
    with open(out, "w", newline="") as f:
        writer = csv.writer(f)
        writer.writerow(["M", "N", "K", "cublasLt", *sets])
        for shape, row in times.items():
            writer.writerow([*shape.split("x"), row["cublasLt"], *(row.get(name, "") for name in sets)])
    print(f"{card}: {len(times)} shapes, {len(sets)} sets: {out}")


class Formula:
    """`fn time` of a .tk file and the sets' calls of it, as functions of arrays. `numbers` are the constants that can be fitted: those of
    the function, and then those of each set, in `places`; `owner` says for each number whose it is."""

    NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.])")

    def __init__(self, source):
        self.text = open(source).read()
        function = re.search(r"^fn time\(([^)]*)\) \{\n(.*?)^\}\n", self.text, re.M | re.S)
        self.parameters, self.body = [word.strip() for word in function[1].split(",")], function[2]
        self.numbers = [int(n) for n in self.NUMBER.findall(self.body) if self.is_constant(n)]
        self.shared = len(self.numbers)
        self.sets, self.places, self.owner = {}, {}, [None] * self.shared
        for name, items in SET.findall(self.text):
            call = re.search(r"cost = time\((.*[A-Za-z])((?:, \d+)+)\)", items)
            if not call:
                raise SystemExit(f"{source}: the set `{name}` has no cost = time(.., NAME, NUMBER ..)")
            tile = {"BM": 128, "BN": 256, **{k: int(v) for k, v in re.findall(r"\b(BM|BN) = (\d+)", items)}}
            tile["blocks"] = max(int(n) for n in ["1", *re.findall(r"^ +(?:split|cluster) = (?:\(1, )?(\d+)", items, re.M)])
            when = re.search(rf"^schedule {name} of gemm for [^{{\n]*? when ([^{{\n]*) \{{", self.text, re.M)
            self.sets[name] = ([word.strip() for word in call[1].split(",")], tile, when and when[1])
            own = [int(n) for n in call[2].split(",")[1:]]
            self.places[name] = slice(len(self.numbers), len(self.numbers) + len(own))
            self.numbers += own
            self.owner += [name] * len(own)
        counter = iter(range(self.shared))
        code = self.NUMBER.sub(lambda n: f"c[{next(counter)}]" if self.is_constant(n[0]) else n[0], self.body)
        code = re.sub(r"([-+*/,(])\s*\n\s*", r"\1 ", code).replace("/", "//")
        lines = [line.strip() for line in code.splitlines() if line.strip()]
        self.code = compile("\n".join(line[4:] if line.startswith("let ") else f"result = {line}" for line in lines), source, "exec")

    @staticmethod
    def is_constant(number):
        value = int(number)
        return value != 100 and value & (value - 1) != 0

    def cost(self, name, numbers, shapes):
        arguments, tile, _ = self.sets[name]
        known = {"M": shapes[:, 0], "N": shapes[:, 1], "K": shapes[:, 2], "sms": SMS, **tile}
        known["room"] = ROOM.get(tile["blocks"], SMS)
        values = [known[a] if a in known else int(a) for a in arguments] + list(numbers[self.places[name]])
        scope = {**dict(zip(self.parameters, values)), "c": numbers, "cdiv": lambda a, b: -(-a // b), "min": numpy.minimum, "max": numpy.maximum}
        exec(self.code, scope)
        return scope["result"]

    def may_run(self, name, shapes):
        when = self.sets[name][2]
        terms = [f"({term})" for term in when.split(" and ")] if when else ["M > 0"]
        return eval(" & ".join(terms), {"M": shapes[:, 0], "N": shapes[:, 1], "K": shapes[:, 2], "sms": SMS, "cdiv": lambda a, b: -(-a // b)})

    def text_with(self, numbers):
        shared = iter(numbers[: self.shared])
        body = self.NUMBER.sub(lambda n: str(next(shared)) if self.is_constant(n[0]) else n[0], self.body)
        text = self.text.replace(self.body, body)
        for name, place in self.places.items():
            own = "".join(f", {n}" for n in numbers[place])
            text = re.sub(rf"(^schedule {name} of gemm .*?cost = time\([^)]*[A-Za-z])[, \d]*\)", rf"\g<1>{own})", text, count=1, flags=re.M | re.S)
        return text


class Fit:
    """Numbers for which the sets chosen over some shapes are good: one is changed at a time, by less and less."""

    def __init__(self, formula, shapes, times, weights):
        self.formula, self.shapes, self.weights = formula, shapes, weights / weights.sum()
        allowed = numpy.stack([formula.may_run(name, shapes) for name in formula.sets], 1)
        self.times = numpy.where(allowed & (times > 0), times, numpy.inf)
        self.best = self.times.min(1)
        self.near = numpy.exp(-3 * numpy.log(self.times / self.best[:, None])) * (self.times < 1.75 * self.best[:, None]) * weights[:, None]

    def costs(self, numbers):
        return numpy.stack([self.formula.cost(name, numbers, self.shapes) for name in self.formula.sets], 1)

    def chosen(self, costs):
        return numpy.where(numpy.isfinite(self.times), costs, numpy.inf).argmin(1)

    def lost(self, costs):
        return numpy.log(self.times[numpy.arange(len(self.shapes)), self.chosen(costs)] / self.best)

    def loss(self, costs):
        """What the choice loses, and a little of how far costs are from times: else nothing holds what no choice depends on."""
        lost = (self.lost(costs) * self.weights).sum()
        off = numpy.where(self.near > 0, numpy.log(costs / numpy.where(self.near > 0, self.times * 1000, 1)), 0)
        return lost + 0.1 * (self.near * off * off).sum() / self.near.sum()

    def run(self, numbers, tries):
        """From the given numbers, and from others near the best found so far."""
        generator, best = random.Random(1), self.descend(numbers)
        for _ in range(tries):
            other = self.descend([max(1, round(number * math.exp(generator.gauss(0, 0.12)))) for number in best])
            if self.loss(self.costs(other)) < self.loss(self.costs(best)):
                best = other
        return best

    def descend(self, numbers):
        numbers, names = list(numbers), list(self.formula.sets)
        costs = self.costs(numbers)
        loss = self.loss(costs)
        for step in (1.3, 1.12, 1.05, 1.02, 1.3, 1.12, 1.05, 1.02, 1.01):
            for _ in range(12):
                before = loss
                for i in range(len(numbers)):
                    for factor in (step, 1 / step):
                        changed = list(numbers)
                        changed[i] = max(1, round(numbers[i] * factor))
                        if changed[i] == numbers[i]:
                            changed[i] += 1 if factor > 1 else -1
                        if owner := self.formula.owner[i]:
                            new = costs.copy()
                            new[:, names.index(owner)] = self.formula.cost(owner, changed, self.shapes)
                        else:
                            new = self.costs(changed)
                        if changed[i] > 0 and (other := self.loss(new)) < loss:
                            numbers, costs, loss = changed, new, other
                            break
                if loss > before - 1e-6:
                    break
        return numbers


def fit(paths, bars, tries, source=SOURCE, write=False):
    formula = Formula(source)
    shapes, times, peers, is_drawn = [], [], [], []
    for path in [*paths, *bars]:
        for row in csv.DictReader(open(path)):
            shapes.append([int(row[d]) for d in "MNK"])
            times.append([float(row.get(name) or 0) for name in formula.sets])
            peers.append(float(row["cublasLt"]))
            is_drawn.append(path not in bars)
    shapes, times, peers, is_drawn = numpy.array(shapes), numpy.array(times), numpy.array(peers), numpy.array(is_drawn)
    weights, seen = numpy.where(is_drawn, 1, BAR), numpy.arange(len(shapes)) % 2 == 0
    half, whole = Fit(formula, shapes[seen], times[seen], weights[seen]), Fit(formula, shapes, times, weights)

    def mean(logarithms):
        return f"{numpy.exp(logarithms.mean()):.4f}" if len(logarithms) else "none"

    def report(what, numbers):
        lost = whole.lost(whole.costs(numbers))
        print(f"{what}: {mean(-lost[seen & is_drawn])} of the best set's speed on one half of {is_drawn.sum()} shapes, {mean(-lost[~seen & is_drawn])} on the other; "
              f"{mean((numpy.log(peers / whole.best) - lost)[is_drawn])} of cublasLt's; of those with bars {mean(-lost[~is_drawn])}")

    print(f"the best set for each shape: {mean(numpy.log(peers / whole.best)[is_drawn])} of cublasLt's")
    report("as the file says   ", formula.numbers)
    report("fitted to one half ", half.run(formula.numbers, tries))
    numbers = whole.run(formula.numbers, tries)
    report("fitted to all      ", numbers)
    for name, was, number in zip(formula.owner, formula.numbers, numbers):
        print(f"  {name or 'fn time':16s} {was:6d} -> {number}")
    chosen = whole.chosen(whole.costs(numbers))
    for shape, lost, set_, peer, best in zip(shapes[~is_drawn], whole.lost(whole.costs(numbers))[~is_drawn], chosen[~is_drawn], peers[~is_drawn], whole.best[~is_drawn]):
        print(f"  {'x'.join(map(str, shape)):18s} {list(formula.sets)[set_]:16s} {numpy.exp(-lost):.3f} of the best set's speed, {peer / best * numpy.exp(-lost):.3f} of cublasLt's")
    if write:
        with open(source, "w") as f:
            f.write(formula.text_with(numbers))


def main(tkc, prepare_in, run_in, rest):
    parser = argparse.ArgumentParser(prog="tools/bench --costs")
    parser.add_argument("--source", default=SOURCE)
    parser.add_argument("--shapes", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--survey", action="store_true")
    parser.add_argument("--ms", type=float, default=0.4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", default="times.csv")
    parser.add_argument("--fit", nargs="+", metavar="FILE.csv")
    parser.add_argument("--bars", nargs="+", default=[], metavar="FILE.csv")
    parser.add_argument("--tries", type=int, default=6)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args(rest)
    if prepare_in:
        prepare(tkc, prepare_in, options.source)
    if run_in:
        ensure(run_in, json.load(open(os.path.join(run_in, "plan.json"))))
        measure(run_in, [] if options.survey else draw_shapes(options.shapes, options.seed), options.survey, options.ms, options.rounds, options.out)
    if options.fit:
        fit(options.fit, options.bars, options.tries, options.source, options.write)
    return 0
