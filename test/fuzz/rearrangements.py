# SPDX-License-Identifier: MIT
"""Sections that rearrange tiles: cut, joined and turned ones, single rows and columns, masks treated like what they choose from,
variables that loops rearrange; stored where their elements come from, or beside."""
from expressions import EXACT, MANY, typed, typed_constant
from sections import Section
from values import Axis, Size, Value, broadcast, combine, constant, convert, fits, scaled


def joint(*missing):
    """What is missing where either may be."""
    return next((kind for kind in ("?", "0") if kind in missing), "no")


class Rearrangements(Section):
    def draw_axes(self):
        self.wholes, self.odd = {}, self.r.random() < 0.25  # most programs have sizes of powers of two, for which there is room
        super().draw_axes()

    def weights(self, scope, budget):
        return {"fetch": 1.5, "let": 2.5, "cut": 2, "cat": 2, "reshaped": 3, "turn": 1, "sums": 0.8, "reduce": 1.5, "spread": 1.5,
                "mask": 1.5, "chain": 2, "product": 2 * self.p.products, "store": 1, "ask": 0.3,
                "loop": 3 * (budget > 1 and len(self.path) < 2), "if": 0.5 * (budget > 1), "hand": 0.7 * (len(self.workers) > 1)}

    def most(self, budget):
        return 4 + 2 * max(1, budget)

    def whole(self, size, start="0", extent=None, origin=None):
        """The axis of a tile whose elements stand behind `start` in a tensor; the same for the same ones, so that they fit together."""
        key = (start, extent or size.text, int(size))
        if key not in self.wholes:
            axis = Axis(":", size)
            axis.start, axis.dim, axis.origin = start, extent or size.text, origin
            self.wholes[key] = axis
        return self.wholes[key]

    def begin(self, scope, value, d):
        """Where the elements along an axis begin in a tensor, how many such there are, and the index that tells it."""
        axis = value.axes[d]
        if axis.is_whole():
            return axis.start, axis.dim, axis.origin
        own = scope.instances and axis is self.main and value.differs
        return f"{axis.name}.start" + (f" + w * {value.sizes[d].text}" if own else ""), axis.dim, axis

    def pick(self, scope):
        """A value to rearrange; now and then with its missing elements chosen."""
        value = self.some(scope)
        if value.far or value.dtype == "bool" or self.r.random() < 0.5:
            return value
        for d in (0, 1):
            value = self.masked(scope, value, d, "0") or value
        return value

    def cut_of(self, scope, value, d, first, count):
        """`count` rows or columns of the value from `first` on."""
        text = f"{first} :+ {count}"
        result = value.renamed(f"{value.atom()}[{text if d == 0 else ':, ' + text}]")
        result.sizes[d] = Size(count)
        axis, missing = None, "no" if value.missing[d] == "no" else "?"
        if count > 1 and value.axes[d]:
            start, extent, origin = self.begin(scope, value, d)
            axis, missing = self.whole(Size(count), f"{start} + {first}" if first else start, extent, origin), value.missing[d]
        result.axes = tuple(axis if i == d else a for i, a in enumerate(value.axes))
        result.missing = tuple(missing if i == d else m for i, m in enumerate(value.missing))
        return result

    def cut(self, scope):
        value = self.pick(scope)
        if result := self.some_cut(scope, value, self.r.randint(0, 1)):
            self.let(scope, result)

    def some_cut(self, scope, value, d):
        r, size = self.r, int(value.sizes[d])
        if size < 2 or value.dtype == "bool" or self.p.products and size <= 16:
            return None
        powers = [count for count in (1, size // 2, size // 2, size // 4, size // 8) if count]
        count = r.choice((size // 2, 1, min(3, size - 1), size - 1) if self.odd or r.random() < 0.1 else powers)
        if self.p.products:
            count = max(count // 16 * 16, 16)
        return self.cut_of(scope, value, d, r.choice((0, size - count, count if 2 * count <= size else 0, r.randint(0, size - count))), count)

    def turned(self, value):
        result = value.renamed(f"{value.atom()}.T")
        result.sizes.reverse()
        result.axes, result.missing = value.axes[::-1], value.missing[::-1]
        return result

    def turn(self, scope):
        self.let(scope, self.turned(self.pick(scope)))

    def reshape_of(self, scope, value, rows, columns):
        """The same elements in rows of another length."""
        result = value.renamed(f"reshape({value.text}, {rows}, {columns})")
        (mr, mc), old = value.missing, value.rows
        result.sizes = [Size(rows), Size(columns)]
        result.missing = (joint(mr, mc), mc) if rows > old else (mr, joint(mr, mc))
        first = None
        if rows > 1 and value.axes[0]:
            start, extent, origin = self.begin(scope, value, 0)
            sums = f"({start})" if " " in start else start
            if rows > old:
                first = self.whole(Size(rows), f"{sums} * {rows // old}", f"{extent} * {rows // old}" if extent.isidentifier() else str(rows),
                                   origin if extent.isidentifier() else None)
            elif extent.isidentifier() and old % rows == 0 and start.isidentifier():
                first = self.whole(Size(rows), f"{sums} / {old // rows}", f"cdiv({extent}, {old // rows})", origin)
            if first is None or not extent.isidentifier():
                first = self.whole(Size(rows))
        elif rows > 1:
            first = self.whole(Size(rows))
        result.axes = (first, self.whole(Size(columns)) if columns > 1 else None)
        if value.differs and first is None:
            result.differs = True
        return result

    def some_reshape(self, scope, value):
        rows, columns = int(value.rows), int(value.columns)
        shapes = [(rows * f, columns // f) for f in (2, 3, 4, 8, columns) if columns % f == 0 and f <= columns and f > 1]
        shapes += [(rows // f, columns * f) for f in (2, 3, 4, rows) if rows % f == 0 and f <= rows and f > 1]
        shapes = [(r, c) for r, c in shapes if (self.odd or not max(r, rows) // min(r, rows) % 3 == 0) and r <= 512 and c <= 512]
        return self.reshape_of(scope, value, *self.r.choice(shapes)) if shapes and value.dtype != "bool" else None

    def reshaped(self, scope):
        if result := self.some_reshape(scope, self.pick(scope)):
            self.let(scope, result)

    def cat_of(self, values):
        """Tiles of equal rows side by side."""
        dtype = "i32" if values[0].dtype == "i32" else "f32"
        if len({v.dtype for v in values}) > 1:
            values = [convert(v, dtype) for v in values]
        columns = sum(int(v.columns) for v in values)
        result = values[0].renamed(f"cat({', '.join(v.text for v in values)})")
        for other in values[1:]:
            both = combine("max", result, other)
            both.text, both.dtype, both.missing = result.text, result.dtype, tuple(map(joint, result.missing, other.missing))
            result = both
        result.sizes = [values[0].rows, Size(columns)]
        result.axes = (values[0].axes[0], self.whole(Size(columns)))
        return result

    def cat(self, scope):
        value = self.pick(scope)
        if value.dtype == "bool":
            return
        found = [v for v in scope.values() + [value] if v.rows == value.rows and v.axes[0] is value.axes[0] and v.dtype != "bool"
                 and (v.dtype == "i32") == (value.dtype == "i32") and v.differs == value.differs]
        others = [self.r.choice(found) for _ in range(self.r.choice((1, 1, 2, 3)))]
        columns = sum(int(v.columns) for v in others) + value.columns
        fits_lanes = columns & (columns - 1) == 0 or self.odd or self.r.random() < 0.1
        if fits_lanes and columns <= 256 and columns * value.rows <= 4096:
            self.let(scope, self.cat_of([value, *others]))

    def spread(self, scope):
        """A row or a column of the tile, or what it is reduced to, spread over it again."""
        value, d = self.some(scope), self.r.randint(0, 1)
        if value.dtype == "bool" or value.sizes[d] < 2 or not fits(value, EXACT / 64):
            return
        if self.r.random() < 0.4:
            first = self.r.randint(0, value.sizes[d] - 1)
            line = self.cut_of(scope, value, d, first, 1)
        else:
            self.reduce(scope)
            line = scope.values()[-1]
        if broadcast(line, value) and (line.dtype == "i32") == (value.dtype == "i32") and line.dtype != "bool":
            result = combine(self.r.choice(("+", "-", "max", "min", "*")), *self.r.sample((value, line), 2))
            if fits(result, EXACT) and result.sizes == value.sizes:
                self.let(scope, result)

    def mask(self, scope):
        """A mask and what it chooses from, rearranged alike."""
        value = self.pick(scope)
        if value.dtype == "bool" or value.rough or value.wild:
            return
        test = value.renamed(f"{value.text} {self.r.choice(('<', '>', '>=', '==', '!='))} {self.r.choice((0, 1, 2))}")
        if self.r.random() < 0.4:
            for d in (0, 1):
                if (place := self.place(scope, value, d)) and not value.far:
                    test.text += f" and valid{place}{'.T' if d else ''}"
        test.text = f"({test.text})"
        kind = self.r.choice((self.some_reshape, lambda s, v: self.turned(v), lambda s, v: self.some_cut(s, v, 0),
                              lambda s, v: self.some_cut(s, v, 1)))
        state, rearranged = self.r.getstate(), []
        for each in (test, value):
            self.r.setstate(state)
            rearranged.append(kind(scope, each))
        if None in rearranged:
            return
        condition, chosen = rearranged
        neutral = constant(self.r.choice((0, 1, -3)), chosen.dtype)
        result = combine("where", chosen, neutral)
        result.dtype = "f32" if chosen.is_float() else chosen.dtype
        result.text = f"where({condition.text}, {typed(chosen)}, {typed_constant(neutral, chosen)})"
        self.let(scope, result)

    def same_shape(self, scope, value):
        """The value with its elements elsewhere, in a tile of the same shape."""
        r, rows, columns = self.r, int(value.rows), int(value.columns)
        if not value.text.isidentifier():
            value = self.let(scope, value)
        kinds = ["join"]
        if columns > 1:
            at = r.choice((1, columns // 2, columns - 1))
            parts = [self.cut_of(scope, value, 1, at, columns - at), self.cut_of(scope, value, 1, 0, at)]
            kinds += ["rotate"] * 2
        if rows > 1:
            kinds += ["rotate rows"]
        kind = r.choice(kinds)
        if kind == "rotate":
            text = f"cat({', '.join(p.text for p in parts)})"
        elif kind == "rotate rows":
            at = r.choice((1, rows // 2, rows - 1))
            turned = value.atom() + ".T"
            text = f"cat({turned}[:, {at} :+ {rows - at}], {turned}[:, 0 :+ {at}]).T"
        else:
            shape = self.some_reshape(scope, value)
            if shape is None:
                return None
            inner = shape.renamed(f"({shape.text})")
            if r.random() < 0.6:
                inner = self.same_shape(scope, inner) or shape
            text = f"reshape({inner.text}, {rows}, {columns})"
        result = value.renamed(text)
        result.missing = tuple("?" if m != "no" else m for m in value.missing)
        if "?" in result.missing:
            result.missing = ("?", "?")
        result.far = True  # no mask of its axes says what is missing
        return result

    def chain(self, scope):
        value = self.pick(scope)
        if value.dtype == "bool":
            return
        for _ in range(self.r.randint(1, 3)):
            other = self.same_shape(scope, value)
            if other is None:
                return
            value = other
            if self.r.random() < 0.5:
                value = self.let(scope, value)
        self.let(scope, value)

    def variable(self, scope, axis):
        """Of the shape of a tile that was rearranged, too."""
        shaped = [v for v in scope.values() if v.dtype != "bool" and not v.is_static() and v.rows * v.columns > 1]
        if not shaped or self.r.random() < 0.4:
            return super().variable(scope, axis)
        like = self.r.choice(shaped)
        value = Value(self.p.name("acc"), *like.sizes, "f32", like.axes, like.missing, 0.0)
        value.differs, value.far = like.differs, like.far
        self.emit(scope, f"var {value.text}: f32[{value.rows.text}, {value.columns.text}] = 0")
        return scope, value

    def term(self, scope, value):
        """Tensors have no tiles of some shapes."""
        if value.axes[0] is None or any(a and a.is_whole() for a in value.axes):
            found = [v for v in scope.values() if v.is_float() and broadcast(v, value) and not v.wild and (value.differs or not v.differs)]
            return convert(self.r.choice(found), "f32") if found else constant(1, "f32")
        return super().term(scope, value)

    def product_of(self, scope, contracted, column):
        return None if column.is_whole() and column.dim != column.step.text else super().product_of(scope, contracted, column)

    def update(self, scope, value, axis, times):
        if self.r.random() < 0.5 and (moved := self.same_shape(scope, value)):
            term = self.term(scope, value)
            if fits(scaled(term, times), EXACT / 4) and broadcast(term, value):
                self.emit(scope, f"{value.text} = {moved.text} {self.r.choice('+-')} {term.text}")
                value.largest += term.largest * min(times, MANY)
                value.grain, value.rough = max(value.grain, term.grain), value.rough or term.rough
                value.differs, value.far = value.differs or term.differs, value.far or term.far
                value.missing = tuple("?" if "no" not in (m, n) or m != n else m for m, n in zip(moved.missing, term.missing))
                return
        super().update(scope, value, axis, times)
