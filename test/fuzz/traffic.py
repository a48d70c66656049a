# SPDX-License-Identifier: MIT
"""Sections of many workers and pipes: several that load, several that compute and send on, rings of instances, loops whose ranges
depend on loops around them or on loaded integers, branches that all workers agree on."""
import re

from sections import Scope, Section, node_of
from values import Axis


class Traffic(Section):
    again = 0.6

    def draw_workers(self):
        r = self.r
        super().draw_workers()
        self.loaders = [Scope(name) for name in ("load", "bring", "feed")[:r.choices((0, 1, 2, 3), (1, 6, 5, 3))[0]]]
        self.loader = self.loaders[0] if self.loaders else None
        names = ("compute", "finish", "rest")[:r.choices((1, 2, 3), (5, 5, 2))[0]]
        instances = self.workers[0].instances
        self.workers = [Scope(name, instances if r.random() < (0.8 if name == "compute" else 0.4) else None) for name in names]
        self.in_turn = not self.workers[0].instances and r.random() < 0.1

    def readers(self):
        return self.loaders

    def draw(self):
        super().draw()
        self.misplaced = None
        if self.r.random() < 0.15:
            worker = self.r.choice(self.readers() + self.workers).name
            self.misplaced = worker, self.exchanged(self.nest, worker)

    def nest_of(self, worker):
        return self.misplaced[1] if self.misplaced and self.misplaced[0] == worker else self.nest

    def exchanged(self, nest, worker):
        """With two neighbouring statements of the worker the other way round: workers may then wait for each other."""
        def names(node, pattern):
            return set(re.findall(pattern, " ".join(n[1] for n in node_of([node], worker))))

        pipes = [names(node, r"\bp\d+(?=(?:\[\w+\]|\.rows\(w\))? <- )|(?<=<-)p\d+") for node in nest]
        values = [names(node, r"\b(?:s|v|acc)\d+\b|\bh\b") for node in nest]
        own = [i for i, found in enumerate(pipes) if found]
        inner = [i for i in own if nest[i][0] in ("for", "if")]
        apart = [(i, j) for i, j in zip(own, own[1:]) if not pipes[i] & pipes[j]
                 and not any(values[i] & values[k] or values[j] & values[k - 1] for k in range(i + 1, j + 1))]
        result = list(nest)
        if inner and (not apart or self.r.random() < 0.6):
            i = self.r.choice(inner)
            result[i] = (*nest[i][:2], self.exchanged(nest[i][2], worker), *nest[i][3:])
        elif apart:
            i, j = self.r.choice(apart)
            result[i], result[j] = nest[j], nest[i]
        return result

    def weights(self, scope, budget):
        return {"fetch": 5, "fetch_own": 1.5 * bool(scope.instances and self.loaders), "let": 2, "reduce": 0.7,
                "product": 3 * self.p.products, "store": 0.7, "ask": 0.2, "loop": 4 * (budget > 1 and len(self.path) < 3),
                "if": 1.5 * (budget > 1), "hand": 4 * (len(self.workers) > 1 or scope.instances is not None)}

    def fetch(self, scope, axes, dtype=None):
        if self.loaders:
            self.loader = self.r.choice(self.loaders)
        return super().fetch(scope, axes, dtype)

    def fetch_own(self, scope):
        """Each instance gets its rows or columns through a pipe of its own."""
        axes = self.tile_axes(scope)
        if self.main not in axes or self.main.is_whole():
            return
        value, turned = self.read(axes)
        if turned or " else " in value.text or f"{self.main.name} " in value.text or f"{self.main.name}.start " in value.text:
            return
        d, loader = axes.index(self.main), self.r.choice(self.loaders)
        value.sizes[d] = value.sizes[d] // scope.instances
        field = f"{value.dtype}[{value.rows.text}, {value.columns.text}]"
        name = self.p.name("p")
        slots = f"[{self.r.randint(1, 3)}]" if self.r.random() < 0.4 else ""
        self.p.pipes.append((name, self.number, field, loader.name, scope.name + " own"))
        self.pipes.append(f"pipe {name}{slots} per {scope.name}: {field}")
        index = self.p.name("u")
        text = re.sub(rf"\b{self.main.name}\b", f"{self.main.name}.start + {index} * ({value.sizes[d].text}) :+ {value.sizes[d].text}", value.text)
        self.emit(loader, f"for {index} in {scope.instances.text} {{ {name}[{index}] <- {text} }}")
        own = value.renamed(self.p.name("s"))
        self.emit(scope, f"let {own.text} = <-{name}[w]")
        own.differs = True
        scope.blocks[-1].append(own)

    def range(self):
        """Also ranges that depend on loops around, or on loaded integers."""
        r, p = self.r, self.p
        pick, here = r.random(), self.axes + self.path
        name, counted = p.name("k"), [axis for axis in here if not axis.step]
        if pick < 0.12:
            block = r.choice(self.blocks())
            return Axis(name, block.dim, None), f"for {name} in {block.number_text()} .. {block.number_text()} + {r.choice((1, 2, 3))}", 3
        if pick < 0.25 and counted:
            outer = r.choice(counted)
            return Axis(name, outer.dim, None), f"for {name} in {r.choice((f'0 .. {outer.name}', f'{outer.name} .. {outer.name} + 2', outer.name))}", 64
        if pick < 0.38:
            first, last = self.integer(), self.integer()
            return Axis(name, "K", None), f"for {name} in {r.choice((f'{first} .. {last}', last, f'0 .. min({last}, 3)', f'{first} .. {first} + 2'))}", 32
        if pick < 0.5:
            axis = Axis(name, r.choice("KJ"), p.size("depth"))
            span = r.choice((f"{self.integer()} .. {axis.dim}", f"{self.integer()} .. {self.integer()} + {axis.step.text}", f"0 .. {self.integer()} * 8"))
            return axis, f"for {name} in {span} by {axis.step.text}", 256
        if pick < 0.6 and not p.products:
            block = r.choice(self.blocks())
            step = block.step // 2 if block.step % 2 == 0 else block.step
            return Axis(name, block.dim, step), f"for {name} in {block.name} by {step.text}", 2
        return super().range()

    def integer(self):
        """An element of a tensor of integers, which an index of a grid or a loop chooses."""
        axis = self.r.choice(self.axes + self.path)
        extent = f"cdiv({axis.dim}, {axis.step.text})" if axis.step else axis.dim
        return f"{self.p.tensor((extent,), 'i32').name}[{axis.number_text()}]"

    def condition_of(self, axis, scalar):
        if self.r.random() < 0.5:
            number = self.integer()
            return self.r.choice((f"{number} > 0", f"{number} % 2 == 0", f"{number} < {axis.number_text()}", f"{number} != {scalar}"))
        return super().condition_of(axis, scalar)

    def header(self, text):
        """The same condition in other words, as another worker may have it."""
        other = {">": "<", "<": ">", ">=": "<=", "<=": ">="}
        turned = re.fullmatch(r"if ([\w.\[\]]+) ([<>]=?) ([\w.\[\]]+)", text)
        return f"if {turned[3]} {other[turned[2]]} {turned[1]}" if turned and self.r.random() < 0.2 else text
