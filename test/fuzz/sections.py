# SPDX-License-Identifier: MIT
"""A grid section of a random program, drawn as its master nest (lang-spec, wp-15): loops and branches whose statements belong to
workers. Each worker is printed as its projection, so that traffic is in step by construction."""
from accesses import Accesses
from expressions import EXACT, MANY, Expressions
from values import Axis, Value, broadcast, constant, convert, fits, missing, scaled


class Scope:
    """What one worker can name, innermost block last."""

    def __init__(self, name, instances=None):
        self.name, self.instances, self.blocks = name, instances, [[]]

    def values(self):
        return [v for block in self.blocks for v in block]


class Section(Accesses, Expressions):
    def __init__(self, program, number, sources):
        self.p, self.r, self.number, self.sources = program, program.r, number, sources
        self.pipes, self.path = [], []
        self.nest, self.partial, self.in_turn = [], 0, False
        self.block = self.nest
        self.draw_axes()
        self.draw_workers()

    def draw_axes(self):
        r, p = self.r, self.p
        self.axes = []
        shapes = (["M", "N"], ["M", "N"], ["B", "M", "N"]) + (() if p.products else (["M"], ["B", "M"]))
        dims = list(self.sources[0].extents) if self.sources else r.choice(shapes)
        for i, dim in enumerate(dims):
            if (dim == "B" or r.random() < 0.05) and i + 1 < len(dims) or p.products and len(dims) > 2 and i == 0:
                self.axes.append(Axis(p.name("b"), dim, None))
            else:
                use = "columns" if any(axis.step for axis in self.axes) else "rows"
                self.axes.append(Axis(p.name("m" if i + 1 < len(dims) or i == 0 else "n"), dim, p.size(use)))
        if not any(axis.step for axis in self.axes):
            self.axes[-1].step = p.size("rows")

    def draw_workers(self):
        r = self.r
        main = next(axis for axis in self.axes if axis.step)
        self.main = main
        instances = None
        if self.p.instances and main.step % self.p.instances == 0:
            instances = self.p.instances
        if r.random() < 0.3:
            self.workers = [Scope("only", instances if r.random() < 0.5 else None)]
            self.loader = None
        else:
            self.loader = Scope("load")
            self.workers = [Scope("compute", instances)]
            if instances is None and r.random() < 0.1:
                self.in_turn = True
            elif r.random() < 0.25:
                self.workers.append(Scope("finish", instances if r.random() < 0.3 else None))

    def text(self):
        head = "persistent " if self.p.chance(0.1) else ""
        lines = [f"    grid {head}{', '.join(axis.range() for axis in self.axes)} {{"]
        lines += [f"        {pipe}" for pipe in self.pipes]
        for scope in self.readers() + self.workers:
            body = self.project(self.nest_of(scope.name), scope.name, 3)
            if body:
                instances = f"[{scope.instances.text}] as w" if scope.instances else ""
                if self.in_turn and scope is self.workers[0]:
                    instances = "[2] in turn"
                lines += [f"        worker {scope.name}{instances} {{", *body, "        }"]
        return "\n".join([*lines, "    }"])

    def readers(self):
        """The workers that only load."""
        return [self.loader] if self.loader else []

    def nest_of(self, worker):
        """The nest of which the worker is a projection."""
        return self.nest

    def header(self, text):
        """A loop's or a branch's, as a worker has it."""
        return text

    def project(self, nest, worker, depth):
        lines, pad = [], "    " * depth
        for node in nest:
            if node[0] == worker:
                lines.append(pad + node[1])
            elif node[0] == "for" and (body := self.project(node[2], worker, depth + 1)):
                lines += [f"{pad}{self.header(node[1])} {{", *body, pad + "}"]
            elif node[0] == "if":
                body, other = (self.project(part, worker, depth + 1) for part in node[2:])
                if body or other:
                    lines += [f"{pad}{self.header(node[1])} {{", *body, *([pad + "} else {", *other] if other else []), pad + "}"]
        return lines

    def emit(self, scope, text):
        self.block.append((scope.name, text))

    def let(self, scope, value):
        name = self.p.name("v")
        self.emit(scope, f"let {name} = {value.text}")
        named = value.renamed(name)
        scope.blocks[-1].append(named)
        return named

    def inside(self, kind, header, fill, other=None):
        """A loop or branch whose parts `fill` and `other` draw."""
        outer, parts = self.block, []
        for draw in (fill, other):
            self.block = []
            parts.append(self.block)
            for scope in self.workers:
                scope.blocks.append([])
            if draw:
                draw()
            for scope in self.workers:
                scope.blocks.pop()
        self.block = outer
        self.block.append((kind, header, *parts) if kind == "if" else (kind, header, parts[0]))

    def draw(self):
        if self.loader and self.p.chance(0.1) and not self.p.has_later:
            self.in_place()
        self.statements(self.p.budget)
        for scope in self.workers:
            values = [v for v in scope.values() if not v.is_static()]
            kept = [v for v in values if v.text.startswith("acc")][-2:]
            for value in kept + self.r.sample(values, min(len(values), 2)):
                self.store(scope, value if value.rough else self.expression(scope, value, 1))
            if not any(node_of(self.nest, scope.name)):
                self.store(scope, self.fetch(scope, self.tile_axes(scope)))

    def weights(self, scope, budget):
        """How often each kind of statement is drawn."""
        return {"fetch": 4, "let": 5, "slice": 0.6, "reduce": 2, "product": 3 * self.p.products, "store": 1,
                "ask": 0.5, "reshape": 0.3, "gather": 0.3, "sums": 0.3,
                "loop": 3 * (budget > 1 and len(self.path) < 3), "if": budget > 1,
                "hand": len(self.workers) > 1 or scope.instances is not None}

    def most(self, budget):
        """How many statements one block has at most."""
        return 2 + max(1, budget)

    def statements(self, budget):
        r = self.r
        for i in range(r.randint(2, self.most(budget))):
            scope = r.choice(self.workers)
            if self.p.products and i == 0 and not self.path:
                kind = r.choice(("loop", "loop", "product"))
            else:
                weights = self.weights(scope, budget)
                kind = r.choices(list(weights), list(weights.values()))[0]
            self.statement(kind, scope, budget)

    def statement(self, kind, scope, budget):
        if kind == "fetch":
            self.fetch(scope, self.tile_axes(scope))
        elif kind == "let":
            self.let(scope, self.operation(scope, self.expression(scope, self.some(scope), 2)))
        elif kind == "sums":
            self.running_sum(scope)
        elif kind == "loop":
            self.loop(budget)
        elif kind == "if":
            self.branch(budget)
        elif kind == "store":
            self.store(scope, self.expression(scope, self.some(scope), 1))
        elif kind == "hand":
            self.hand_on()
        else:
            getattr(self, kind)(scope)

    def loop(self, budget):
        r = self.r
        axis, header, times = self.range()
        variables = [self.variable(scope, axis) for scope in self.workers if r.random() < 0.9]

        def body():
            self.path.append(axis)
            self.partial += 1
            if r.random() < 0.7 or not variables:
                self.statements(budget - 1)
            for scope, value in variables:
                self.update(scope, value, axis, times)
            for scope in self.workers:
                if scope.blocks[-1] and r.random() < 0.3:
                    self.store(scope, r.choice(scope.blocks[-1]))
            self.path.pop()
            self.partial -= 1

        self.inside("for", header, body)
        for scope, value in variables:
            scope.blocks[-1].append(value)

    def range(self):
        r, p = self.r, self.p
        name = p.name("k")
        pick = r.random()
        if pick < 0.5 or p.products and pick < 0.75:
            axis = Axis(name, r.choice(("K", "K", "J")), p.size("depth"))
            return axis, f"for {axis.range()}", MANY / axis.step
        if pick < 0.62:
            count = r.choice((2, 3))
            return Axis(name, str(count), None), f"for {name} in {count}", count
        if pick < 0.72:
            step = p.size("depth")
            return Axis(name, f"cdiv(K, {step.text})", None), f"for {name} in cdiv(K, {step.text})", MANY / step
        block = r.choice(self.blocks())
        axis = Axis(name, block.dim, p.size("depth"))
        if pick < 0.76:
            start, end = f"{block.name}.start", f"{block.name}.end"
            c = p.scalar("i32").text
            span = r.choice((f"{start} + 3 .. {block.dim}", f"{c} .. {end}", f"{start} .. {end} + 5", f"min({start}, {c}) .. {end} - 1",
                             f"{start} .. max({end}, {c})"))
            return axis, f"for {name} in {span} by {axis.step.text}", MANY / axis.step
        if pick < 0.84:
            return axis, f"for {name} in 0 .. {block.name}.end by {axis.step.text}", MANY / axis.step
        if pick < 0.92:
            return axis, f"for {name} in {block.name}.start .. {block.dim} by {axis.step.text}", MANY / axis.step
        axis.dim = "K"
        return axis, f"for {name} in {p.scalar('i32').text} .. K by {axis.step.text}", MANY / axis.step

    def variable(self, scope, axis):
        """A variable in front of a loop, of the shape of a tile that does not depend on the loop."""
        axes = self.tile_axes(scope)
        if self.p.products:
            axes = (self.main, axes[1] if axes[0] is self.main else axes[0])
        pick = self.r.random()
        if pick < 0.2:
            axes = (axes[0], None)
        sizes = [self.shape(scope, a) for a in axes]
        value = Value(self.p.name("acc"), *sizes, "f32", axes, missing(axes), 0.0)
        value.differs = bool(scope.instances) and self.main in axes
        start = self.r.choice(("0", "0", "0", "1"))
        if start == "1":
            value.missing, value.largest = tuple("?" if m == "0" else m for m in value.missing), 1.0
        self.emit(scope, f"var {value.text}: f32[{sizes[0].text}, {sizes[1].text}] = {start}")
        return scope, value

    def update(self, scope, value, axis, times):
        """One change in each iteration: what the variable holds stays exact however often."""
        r = self.r
        term = None
        if self.p.products and axis.step and value.axes[0] is self.main and value.axes[1] not in (None, axis) and r.random() < 0.7:
            term = self.product_of(scope, axis, value.axes[1])
        if term is None:
            term = self.term(scope, value)
        if not fits(scaled(term, times), EXACT / 4):
            term = self.small(term)
            if not fits(scaled(term, times), EXACT / 4):
                return
        kind = r.choice(("+=", "+=", "+=", "-=", "max=", "="))
        self.emit(scope, f"{value.text} {'+=' if kind == '=' and term.sizes != value.sizes else kind} {term.text}")
        value.largest += term.largest * times
        value.grain = max(value.grain, term.grain)
        value.rough |= term.rough
        value.differs |= term.differs
        value.far |= term.far
        keeps = kind in ("+=", "-=", "=")
        value.missing = tuple(m if keeps and (n in ("0", "no") or m == "no") else "?" for m, n in zip(value.missing, term.missing))

    def term(self, scope, value):
        """Something that can be added to the variable: what is there, or a tile of a tensor."""
        found = [v for v in scope.values() if v.is_float() and broadcast(v, value) and not v.wild and (value.differs or not v.differs)]
        term = convert(self.r.choice(found) if found else self.part(scope, *self.read(value.axes)), "f32")
        if not self.p.products:
            term = self.expression(scope, term, 1)
        is_spread = term.sizes != value.sizes and self.r.random() < 0.5
        return constant(1, "f32") if is_spread or not broadcast(term, value) or not term.is_float() else term

    def branch(self, budget):
        r = self.r
        axis = r.choice(self.axes + self.path)
        condition = self.condition_of(axis, self.p.scalar("i32").text)
        changed = [(scope, v) for scope in self.workers for v in scope.values() if v.text.startswith("acc")][-2:]

        def body():
            self.partial += 1
            if r.random() < 0.6 or not changed:
                self.statements(budget - 2)
            self.partial -= 1
            for scope, value in changed:
                term = constant(r.choice((1, 2)), "f32")
                self.emit(scope, f"{value.text} {r.choice(('+=', 'max='))} {term.text}")
                value.largest = value.largest * 2 + MANY * 2
                value.missing = tuple("?" if m != "no" else m for m in value.missing)

        self.inside("if", f"if {condition}", body, body if r.random() < 0.4 else None)

    def condition_of(self, axis, scalar):
        """Of numbers that all workers know."""
        name = axis.number_text()
        return self.r.choice((f"{name} == 0", f"{name} > 0", f"{name} % 2 == 0", f"{scalar} > 0", f"{name} < {scalar}"))

    def ask(self, scope):
        """A variable changes where some or all elements of a tile are so: in instances that find different things, too."""
        r, value = self.r, self.some(scope)
        if value.dtype == "bool" or value.rough or value.wild:
            return
        for d in (0, 1):
            value = value and self.masked(scope, value, d, "0")
        changed = [v for v in scope.values() if v.text.startswith("acc") and value and (v.differs or not value.differs)][-2:]
        if not changed or value.is_static():
            return
        test = r.choice((f"any({value.text} > {r.choice((0, 1, 2))})", f"not any({value.text} < -1)", f"all({value.text} <= {r.choice((0, 1))})"))

        def change(variable):
            value, by = variable, r.choice((1, 2))
            self.emit(scope, f"{value.text} {r.choice(('+=', 'max='))} {by}")
            value.largest = value.largest * 2 + MANY * 2
            value.missing = tuple("?" if m != "no" else m for m in value.missing)

        self.inside("if", f"if {test}", lambda: change(r.choice(changed)), (lambda: change(r.choice(changed))) if r.random() < 0.4 else None)

    def store(self, scope, value):
        """Into a tensor of its own, whose indices tell the tile of work, the iteration and the instance."""
        r, p = self.r, self.p
        if value.is_static():
            return
        if value.dtype == "bool":
            value = convert(value, "f32")
        adds = r.random() < 0.12 and not value.wild and not value.rough and fits(scaled(value, 256 * 64), EXACT)
        indices, part = self.target(scope, value, adds)
        if len(indices) > 8:  # of a tensor at most
            return
        order = [axis for _, _, axis in indices if axis]
        turned = order[0] is not value.axes[0] if len(order) == 2 else value.axes[1] is not None
        if value.dtype == "i32" or adds:
            dtype = "i32" if value.dtype == "i32" else "f32"
        else:
            dtype = r.choice(("f32", "f32", "bf16", "f16") if value.largest < 60000 else ("f32", "bf16"))
        tensor = p.output(tuple(extent for _, extent, _ in indices), dtype, adds)
        of_block = any(axis and axis.is_whole() and axis.dim != axis.step.text for _, _, axis in indices)
        tensor.is_whole = not self.partial and not of_block
        if tensor.mode == "work " and not tensor.is_whole:
            tensor.preset = " = 0"
        target = f"{tensor.name}[{', '.join(text for text, _, _ in indices)}]{'.T' if turned else ''}{part}"
        text = f"{target} {'+=' if adds else '<-'} {value.text}"
        self.emit(scope, f"if w == 0 {{ {text} }}" if scope.instances and not value.differs else text)
        tensor.largest, tensor.grain, tensor.rough, tensor.wild = value.largest, value.grain, value.rough, value.wild

    def target(self, scope, value, adds):
        """For each axis of the tensor its index, its extent and the value's axis there; and the part that an instance stores."""
        r, indices, part = self.r, [], ""
        for axis in self.axes + self.path:
            if axis in value.axes:
                indices.append((axis.name, axis.dim, axis))
            elif any(a and a.origin is axis for a in value.axes) and r.random() < 0.8:
                continue
            elif not adds or r.random() < 0.5:
                count = f"cdiv({axis.dim}, {axis.step.text})" if axis.step else axis.dim
                indices.append((axis.number_text(), count, None))
        for axis in value.axes:
            if axis and axis.is_whole():
                indices.append((f"{axis.start} :+ {axis.step.text}", axis.dim, axis))
        if r.random() < 0.2:
            r.shuffle(indices)
        if scope.instances and value.differs:
            if self.main in value.axes and value.sizes[value.axes.index(self.main)] * scope.instances == self.main.step:
                part = f".{'cols' if value.axes.index(self.main) == 1 else 'rows'}(w)"
            elif not adds:
                indices.insert(0, ("w", scope.instances.text, None))
        if not any(axis for _, _, axis in indices):
            indices.append(("0 :+ 1", "1", None))
        return indices, part


def node_of(nest, worker):
    """The worker's statements."""
    for node in nest:
        if node[0] == worker:
            yield node
        elif node[0] in ("for", "if"):
            for part in node[2:]:
                yield from node_of(part, worker)
