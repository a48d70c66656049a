# SPDX-License-Identifier: MIT
"""Random .tk programs: `program(seed, family)` is the text of one, the same for the same seed on every machine. Nearly all are legal.
Of the families, `mixed` has something of everything (sections.py), `rearrangements` cuts, joins and turns tiles, `traffic` has many
workers and pipes, now and then out of step, in `dialogues` workers answer each other and slots have several fields.

Of each value is known how large it gets and of what it is a multiple, so that sums stay exact in f32 and the simulator can be compared
with the reference bit for bit; and along each axis, whether elements may be missing and what they hold then, so that reductions are
masked where the rules on fills ask for it."""
import random
import re

import deadlocks
from dialogues import Dialogues
from rearrangements import Rearrangements
from sections import Section
from traffic import Traffic
from values import Size, Tensor, Value


FAMILIES = {"mixed": Section, "rearrangements": Rearrangements, "traffic": Traffic, "dialogues": Dialogues}


class Program:
    def __init__(self, seed, family):
        self.family = FAMILIES[family]
        self.r = random.Random(seed)
        r = self.r
        self.seed, self.names, self.tensors, self.scalars, self.statics, self.pipes = seed, {}, [], {}, {}, []
        self.products = r.random() < 0.5
        self.rough = r.random() < 0.2
        self.element = r.choice(("bf16", "bf16", "f16"))
        self.named = r.random() < 0.5
        self.budget = r.choice((1, 2, 2, 3, 3, 4))
        self.instances = None
        if r.random() < 0.35:
            self.instances = self.static("W", 2)
        self.functions = r.sample([("leaky", "fn leaky(x: f32[R, C]) -> f32[R, C] { max(x, 0) - max(-x, 0) * 0.25 }"),
                                   ("fold", "fn fold(x) { let y = abs(x)\n    y + min(x, 1) }")], r.randint(0, 2))
        if self.family is Rearrangements:
            self.products, self.named = r.random() < 0.15, False
        if issubclass(self.family, Traffic):
            self.products = r.random() < 0.3
            if self.instances is None and r.random() < 0.4:
                self.instances = self.static("W", r.choice((2, 2, 3, 4)))
        self.has_later, self.least_block = r.random() < 0.15, 1
        self.sections = []
        self.add_section([])
        sources = [t for t in self.tensors if t.mode == "work " or t.mode == "out " and t.is_whole and not t.preset and len(t.extents) < 4]
        if self.has_later and sources:
            self.products, self.least_block = False, 16  # the tiles of a check are counted by the first section
            self.add_section(r.sample(sources, min(len(sources), 2)))
        self.schedules = [self.schedule(i) for i in range(r.choice((0, 0, 0, 1, 2)))]

    def add_section(self, sources):
        self.sections.append(self.family(self, len(self.sections), sources))
        self.sections[-1].draw()

    def schedule(self, number):
        r = self.r
        items = []
        in_extents = " ".join(extent for tensor in self.tensors for extent in tensor.extents)
        for name, value in self.statics.items():
            if name in in_extents:
                continue
            rows = (64 if self.products else 1) * int(self.instances or 1)
            least = {"BM": rows, "BN": 8, "BK": 16}.get(name[:2], 1 << 20)
            if r.random() < 0.3 and value >= least:
                values = [v for v in (value // 2, value, value * 2) if v >= least and (name[:2] != "BM" or v % least == 0)]
                items.append(f"{name} = {r.choice(values)}")
        walk = r.random()
        if walk < 0.5:
            items.append("persistent" if walk < 0.3 else "persistent = false")
        if r.random() < 0.3:
            items.append(f"order = {r.choice(('rows', 'columns', 'grouped(2)'))}")
        pipes = [pipe[0] for pipe in self.pipes if pipe[1] == 0]
        if pipes and r.random() < 0.4:
            items.append(f"slots {r.choice(pipes)} = {r.randint(1, 4)}")
        if r.random() < 0.15:
            items.append(r.choice(("cluster = 2", "cluster = 2", "split = 2", "resident = 2", "depth = 1", "depth = 0")))
        if issubclass(self.family, Traffic):
            items += [item for item in ("cluster = 4", "split = 4", "dynamic", "depth = 2") if r.random() < 0.12 and item[:4] not in str(items)]
        where = r.choice(("M <= 64", "M % 8 == 0 and aligned", "M > 40", "aligned", "contiguous", "cdiv(M, 16) > sms"))
        return f"schedule s{number} of k{self.seed} when {where} {{ {'; '.join(items or ['persistent'])} }}\n"

    def chance(self, probability):
        return self.r.random() < probability

    def name(self, stem):
        self.names[stem] = self.names.get(stem, -1) + 1
        return stem + str(self.names[stem])

    def static(self, name, value):
        self.statics[name] = value
        return Size(value, name)

    def size(self, use):
        """How many elements a block has, as a number or by the name of a parameter."""
        r = self.r
        if self.products:
            value = r.choice({"rows": (64, 64, 64, 128), "columns": (16, 32, 64, 64, 48, 128), "depth": (16, 32, 32, 64, 64)}[use])
        else:
            columns = (8, 16, 32, 32, 64, 64, 128, 24, 40, 10)
            value = r.choice({"rows": (2, 4, 8, 16, 16, 32, 3), "columns": columns, "depth": (4, 8, 16, 32, 12)}[use])
            value = max(value, self.least_block)
        if use == "rows" and self.instances:
            value *= int(self.instances)
        return self.static(self.name({"rows": "BM", "columns": "BN", "depth": "BK"}[use]), value) if self.named else Size(value)

    def tensor(self, extents, dtype):
        known = [t for t in self.tensors if t.extents == extents and t.mode == "" and (dtype is None or t.dtype == dtype)]
        if known and self.r.random() < (0.3 if len(self.tensors) < 8 else 0.9):
            return self.r.choice(known)
        tensor = Tensor(self.name("X"), dtype or self.r.choice(("f32", "bf16", "f16", "bf16", "i32", "f16", "f32", "e4m3")), extents)
        if tensor.dtype == "i32":
            tensor.largest = 8.0
        self.tensors.append(tensor)
        return tensor

    def output(self, extents, dtype, adds):
        is_work = self.has_later and len(self.sections) == 1 and not adds and "w" not in extents and self.r.random() < 0.4
        has_preset = adds or is_work and self.r.random() < 0.3
        tensor = Tensor(self.name("T" if is_work else "Y"), dtype, extents, "work " if is_work else "out ", " = 0" if has_preset else "")
        self.tensors.append(tensor)
        return tensor

    def scalar(self, dtype):
        name = {"f32": "alpha", "i32": "c"}[dtype]
        self.scalars[name] = dtype
        value = Value(name, Size(1), Size(1), dtype, (None, None), ("no", "no"), 3.0)
        value.grain = 1 if dtype == "f32" else 0
        return value

    def text(self):
        statics = ", ".join(f"{name} = {value}" for name, value in self.statics.items())
        body = "\n".join(section.text() for section in self.sections)
        works = "".join(f"    work {t.declaration().replace('work ', '')}\n" for t in self.tensors if t.mode == "work ")
        parameters = [tensor.declaration() for tensor in self.tensors if tensor.mode != "work "]
        parameters += [f"{name}: {dtype}" for name, dtype in self.scalars.items()]
        alone = {extent for tensor in self.tensors for extent in tensor.extents if tensor.mode != "work "}
        used = set(re.findall(r"[A-Za-z_]\w*", " ".join([*parameters, works, body, *self.schedules])))
        parameters += [f"of_{dim}: bf16[{dim}]" for dim in "BMNKJ" if dim in used and dim not in alone]
        functions = "".join(f"{text}\n\n" for _, text in self.functions)
        head = f"kernel k{self.seed}{f'<{statics}>' if statics else ''}({', '.join(parameters)})"
        return f"{functions}{head} {{\n{works}{body}\n}}\n{''.join(self.schedules)}"


def is_out_of_step(seed, family):
    """Whether the statements of a worker were exchanged, so that there may be no master nest."""
    return any(getattr(section, "misplaced", None) for section in Program(seed, family).sections)


def gets_stuck(seed, family):
    """Whether its workers wait for each other, for some numbers of iterations."""
    return any(deadlocks.gets_stuck(section, seed) for section in Program(seed, family).sections)


def program(seed, family="mixed"):
    return Program(seed, family).text()
