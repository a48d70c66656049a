# SPDX-License-Identifier: MIT
"""How a worker of a random program computes: elementwise chains, masks, reductions and products of what it can name. Part of
sections.Section."""
from values import Axis, Size, Value, broadcast, combine, constant, convert, fits, missing, scaled

EXACT = 1 << 22  # f32 has 24 bits; schedule sets may make tiles larger than those drawn here
MANY = 2048      # no axis is longer in a check


class Expressions:
    """Draws from `r`; `p` is the program. What is missing here is in sections.py and accesses.py."""

    def some(self, scope):
        values = scope.values()
        if not values or self.r.random() < 0.1:
            return self.fetch(scope, self.tile_axes(scope))
        return self.r.choice(values[-6:])

    def like(self, scope, value):
        """Operands for an operation with `value`: of its shape, or that spread to it."""
        found = [v for v in scope.values() if broadcast(v, value) and v.text != value.text]
        if self.r.random() < 0.4 or not found:
            return self.leaf(scope, value)
        return self.r.choice(found)

    def leaf(self, scope, value):
        r = self.r
        pick = r.random()
        if value.dtype == "i32" or pick < 0.3:
            axis = value.axes[0]
            if axis and not axis.is_whole() and r.random() < 0.5:
                positions = Value(f"pos({axis.name})", axis.step, Size(1), "i32", (axis, None), ("?", "no"), MANY)
                return convert(self.part(scope, positions, False), value.dtype)
            return constant(r.choice((1, 2, 3, -1)), value.dtype)
        if pick < 0.5:
            return self.p.scalar("f32")
        if pick < 0.55 and value.rows > 1:
            numbers = Value(f"iota({value.rows.text})", value.rows, Size(1), "i32", (value.axes[0], None), ("?", "no"), value.rows)
            return convert(numbers, value.dtype)
        return constant(r.choice((0, 1, 2, 3, 0.5, -0.25, -1)), value.dtype)

    def expression(self, scope, value, depth):
        for _ in range(self.r.randint(0, depth)):
            value = self.operation(scope, value)
        return value

    def operation(self, scope, value):
        r = self.r
        if value.dtype == "bool":
            return value
        if not fits(value, EXACT / 64):
            value = scaled(value)
        kinds = ["+", "-", "*", "max", "min", "abs", "negative", "clamp", "where", "convert", "call", "function", "choice"]
        kind = r.choice(kinds)
        if kind in ("+", "-", "*", "max", "min"):
            other = self.like(scope, value)
            if other.dtype in ("bool", "i32") and value.dtype != "i32":
                other = convert(other, "f32")
            if value.dtype == "i32" and other.dtype != "i32":
                other = constant(3, "i32")
            result = combine(kind, value, other)
            return result if fits(result, EXACT) else value
        if kind == "choice":
            other = value.mapped(f"{value.atom()} + 1", keeps_zero=False, dtype="f32" if value.is_float() else None)
            other.text = f"if {self.p.scalar('i32').text} > {r.randint(0, 1)} {{ {typed(value)} }} else {{ {other.text} }}"
            other.largest += 1
            return other.renamed(f"({other.text})")
        if kind == "abs":
            return value.mapped(f"abs({value.text})", keeps_zero=True)
        if kind == "negative":
            return value.mapped(f"-{value.atom()}", keeps_zero=True, dtype="f32" if value.is_float() else None)
        if kind == "clamp":
            result = value.mapped(f"clamp({value.text}, -2, {r.choice((1, 4))})", keeps_zero=False)
            result.largest, result.wild = 4, False
            return result
        if kind == "where":
            condition = self.condition(scope, value)
            other = constant(r.choice((0, 1, -3)), value.dtype)
            result = combine("where", value, other)
            result.text = f"where({condition}, {typed(value)}, {typed_constant(other, value)})"
            result.dtype = "f32" if value.is_float() else value.dtype
            return result
        if kind == "convert":
            to = r.choice(("f32", "bf16", "f16", "f32") if value.is_float() else ("f32", "i32"))
            if value.is_float() and not value.rough and not value.wild and r.random() < 0.15:
                to = "i32"
            return convert(value, to)
        if kind == "call" and self.p.functions and value.dtype == "f32":
            result = value.mapped(f"{r.choice(self.p.functions)[0]}({value.text})", keeps_zero=False)
            result.largest, result.grain = result.largest * 2 + 2, result.grain + 2
            return result if fits(result, EXACT) else value
        if kind == "function" and self.p.rough and value.is_float() and not value.rough and not value.wild:
            return self.function(value)
        return value

    def function(self, value):
        text = self.r.choice(("exp2(clamp({}, -4, 4))", "sigmoid({})", "tanh({})", "sqrt(abs({}))", "rsqrt(abs({}) + 1)",
                              "1 / (abs({}) + 1)", "exp(min({}, 2))", "log2(abs({}) + 1)", "erf({})", "cos({})"))
        result = value.mapped(text.format(value.text), keeps_zero=False, dtype="f32")
        result.largest, result.rough = 16, True
        return result

    def place(self, scope, value, d):
        """What stands behind `pos` and `valid` for axis d of the value; None if its elements are not those of a block index."""
        axis = value.axes[d]
        if axis is None or axis.is_whole() or value.sizes[d] != self.shape(scope, axis):
            return None
        return f"({axis.name}){'.rows(w)' if scope.instances and axis is self.main else ''}"

    def condition(self, scope, value):
        r = self.r
        tests = []
        for d, turn in ((0, ""), (1, ".T")):
            if place := self.place(scope, value, d):
                tests += [f"valid{place}{turn}", f"pos{place}{turn} % {r.choice((2, 3, 5))} == 0",
                          f"pos{place}{turn} < {self.p.scalar('i32').text}"]
        if not value.rough and not value.wild:
            tests += [f"{value.text} {r.choice(('<', '>', '>=', '==', '!='))} {constant(r.choice((0, 1, 2)), value.dtype).text}"] * 2
        if not tests:
            return f"{self.p.scalar('i32').text} > 0"
        rows, columns = (self.place(scope, value, d) for d in (0, 1))
        if rows and columns and r.random() < 0.2:
            tests = [f"random({r.randint(0, 9)}, pos{rows} * 64 + pos{columns}.T) < {r.choice((1 << 30, 1 << 31, 3 << 30))}"]
        chosen = r.sample(tests, min(len(tests), r.choice((1, 1, 2))))
        text = f" {r.choice(('and', 'or'))} ".join(chosen)
        return f"not ({text})" if r.random() < 0.15 else text

    def masked(self, scope, value, d, neutral):
        """The value with `neutral` where elements along axis d are missing; None if nobody can tell where that is."""
        if value.missing[d] == "no" or neutral == "0" and value.missing[d] == "0" and not value.wild:
            return value
        place = self.place(scope, value, d)
        if value.far or place is None:
            return None
        result = value.mapped(f"where(valid{place}{'.T' if d else ''}, {typed(value)}, {neutral})", keeps_zero=False,
                              dtype="f32" if value.is_float() else None)
        result.missing = tuple("0" if i == d and neutral == "0" else m for i, m in enumerate(value.missing))
        return result

    def slice(self, scope):
        """Some rows or columns of a tile, or half of them."""
        value, d = self.some(scope), self.r.randint(0, 1)
        if value.sizes[d] < 2 or value.sizes[d] % (32 if self.p.products else 2) or value.dtype == "bool" or value.axes[d] is None:
            return
        half = value.sizes[d] // 2
        first = self.r.choice(("0", half.text, str(int(half) // 2)))
        text = f"{first} :+ {half.text}"
        result = value.renamed(f"{value.atom()}[{text if d == 0 else ':, ' + text}]")
        result.sizes[d] = half
        result.axes = tuple(Axis(":", half) if i == d else axis for i, axis in enumerate(value.axes))
        self.let(scope, result)

    def reshape(self, scope):
        """A tile as rows of another length, computed with, and as it was."""
        value = self.some(scope)
        if value.dtype == "bool" or value.columns % 2 or value.rough or not fits(value, EXACT / 4):
            return
        rows, columns = value.rows.text, value.columns.text
        cut = f"reshape({value.text}, {rows} * 2, {columns} / 2)"
        result = value.mapped("", keeps_zero=False, dtype="f32" if value.is_float() else None)
        result.text = f"reshape({self.r.choice((f'{cut} + 1', f'max({cut}, 1)', f'{cut} * 2'))}, {rows}, {columns})"
        result.largest = result.largest * 2 + 1
        self.let(scope, result)

    def gather(self, scope):
        """Elements that the numbers in another tensor choose, one for each row, or rows."""
        axis = self.r.choice([axis for axis in self.blocks()])
        others = [other for other in self.blocks() if other is not axis]
        if others and self.r.random() < 0.5:
            return self.gather_rows(scope, axis, self.r.choice(others))
        tensor, numbers = self.p.tensor((axis.dim, self.r.choice("KJ")), None), self.p.tensor((axis.dim,), "i32")
        value = Value(f"{tensor.name}[pos({axis.name}), {numbers.name}[{axis.name}]]", axis.step, Size(1), tensor.dtype, (axis, None),
                      ("?", "no"), tensor.largest)
        value.grain, value.rough, value.wild = tensor.grain, tensor.rough, tensor.wild
        self.let(scope, self.part(scope, value, False))

    def gather_rows(self, scope, rows, columns):
        tensor, numbers = self.p.tensor((self.r.choice("KJ"), columns.dim), None), self.p.tensor((rows.dim,), "i32")
        axes = (rows, columns)
        value = Value(f"{tensor.name}[{numbers.name}[{rows.name}], {self.index(columns)}]", rows.step, columns.step, tensor.dtype, axes,
                      ("?", missing(axes)[1]), tensor.largest)
        value.grain, value.rough, value.wild = tensor.grain, tensor.rough, tensor.wild
        self.let(scope, self.part(scope, value, False))

    def running_sum(self, scope):
        """Sums of all elements up to each one, down or along."""
        value, d = self.some(scope), self.r.randint(0, 1)
        if not value.is_float() or value.rough or value.wild or not fits(scaled(value, value.sizes[d]), EXACT):
            return
        if (value := self.masked(scope, value, d, "0")) is None:
            return
        result = value.mapped(f"cumsum({value.text}, {d})", keeps_zero=False, dtype="f32")
        result.largest *= value.sizes[d]
        self.let(scope, result)

    def reduce(self, scope):
        value = self.expression(scope, self.some(scope), 1)
        d = self.r.randint(0, 1)
        kind = self.r.choice(("sum", "sum", "max", "min"))
        if value.dtype == "bool" or value.sizes[d] == 1 or not fits(scaled(value, value.sizes[d]), EXACT) and kind == "sum":
            return
        if value.dtype == "i32" and kind != "sum":
            value = convert(value, "f32")
        value = self.masked(scope, value, d, {"sum": "0", "max": "-inf", "min": "inf"}[kind])
        if value is None:
            return
        result = value.mapped(f"{'col' if d == 0 else 'row'}{kind}({value.text})", keeps_zero=kind == "sum",
                              dtype="f32" if kind == "sum" and value.is_float() else None)
        result.sizes = [Size(1) if i == d else s for i, s in enumerate(value.sizes)]
        result.axes = tuple(None if i == d else a for i, a in enumerate(value.axes))
        result.missing = tuple("no" if i == d else m for i, m in enumerate(result.missing))
        if kind == "sum":
            result.largest *= value.sizes[d]
        else:
            result.wild = True
        self.let(scope, result)

    def operand(self, scope, axes, d):
        """A tile of 16-bit elements for a product, whose contracted axis is d: as it comes, turned, or computed."""
        r = self.r
        dtype = self.p.element
        sizes = [self.shape(scope, axis) for axis in axes]
        made = [v for v in scope.values() if v.axes == axes and v.sizes == sizes and v.is_float() and v.largest < 60000 and not v.wild]
        value = r.choice(made) if made and r.random() < 0.5 else self.fetch(scope, axes, dtype)
        if value.dtype != dtype or value.missing[d] == "?":
            value = self.masked(scope, convert(value, dtype), d, "0") or self.fetch(scope, axes, dtype)
            value = convert(value, dtype)
        if r.random() < 0.3:
            value = convert(self.expression(scope, value, 2), dtype)
            value = self.masked(scope, value, d, "0") or self.fetch(scope, axes, dtype)
            value = convert(value, dtype)
        return value

    def product(self, scope):
        """A product of two tiles, of single blocks along all axes."""
        others = [axis for axis in self.blocks() if axis is not self.main]
        if self.r.random() < 0.2:
            others.append(Axis(":", self.p.size("depth")))
        if len(others) > 1:
            contracted, column = self.r.sample(others, 2)
            if result := self.product_of(scope, contracted, column):
                self.let(scope, result)

    def product_of(self, scope, contracted, column):
        """Rows of the worker's share of the first axis; None if operands can't be had."""
        axes = (self.main, column)
        a, b = self.operand(scope, (self.main, contracted), 1), self.operand(scope, (contracted, column), 0)
        if a.wild or b.wild or a.dtype != b.dtype or a.rows != self.shape(scope, self.main):
            return None
        known = a.missing[0] != "?" and b.missing[1] != "?"
        result = Value(f"{a.atom()} @ {b.atom()}", a.rows, b.columns, "f32", axes, missing(axes) if known else ("?", "?"),
                       a.largest * b.largest * contracted.step)
        result.grain, result.rough, result.differs = a.grain + b.grain, a.rough or b.rough, a.differs
        return result

    @staticmethod
    def small(value):
        result = value.mapped(f"floor(clamp({value.text}, -1, 1))", keeps_zero=False, dtype="f32")
        result.largest, result.grain = 1.0, 0
        return result


def typed(value):
    return f"f32({value.text})" if value.is_float() and value.dtype != "f32" else value.text


def typed_constant(other, value):
    return f"i32({other.text})" if value.dtype == "i32" else other.text
