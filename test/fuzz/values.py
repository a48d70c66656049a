# SPDX-License-Identifier: MIT
"""What programs.py knows of the values it draws: shapes, axes, what missing elements hold, how many bits they need."""
import copy


class Size(int):
    """A number with the text it has in the program."""

    def __new__(cls, value, text=None):
        size = int.__new__(cls, value)
        size.text = text or str(int(value))
        return size

    def __floordiv__(self, other):
        return Size(int(self) // int(other), str(int(self) // int(other)) if self.text.isdigit() else f"{self.text} / {text_of(other)}")

    def __mul__(self, other):
        both = self.text.isdigit() and text_of(other).isdigit()
        if self.text.endswith(f" / {text_of(other)}"):
            return Size(int(self) * int(other), self.text[:-len(f" / {text_of(other)}")])
        return Size(int(self) * int(other), None if both else f"{self.text} * {text_of(other)}")


def text_of(number):
    return getattr(number, "text", str(number))


class Axis:
    """An index of a grid or a loop; `step` is None where it runs over single integers. `:` is a whole axis."""

    def __init__(self, name, dim, step=None):
        self.name, self.dim, self.step = name, dim, step
        self.start, self.origin = "0", None  # of a whole axis: where a tensor has it, and the index that tells it
        if name == ":":
            self.dim, self.step = dim.text, dim

    def is_whole(self):
        """All of an axis whose extent is known."""
        return self.name == ":"

    def number_text(self):
        """How many indices come before it."""
        return self.name + (".number" if self.step else "")

    def range(self):
        return f"{self.name} in {self.dim}" + (f" by {self.step.text}" if self.step else "")


class Value:
    def __init__(self, text, rows, columns, dtype, axes, missing, largest):
        self.text, self.sizes, self.dtype = text, [rows, columns], dtype
        self.axes, self.missing = tuple(axes), tuple(missing)
        self.largest, self.grain = float(largest), 0  # |x| <= largest, a multiple of 2^-grain
        self.rough = False    # not the same bits everywhere
        self.wild = False     # may be infinite or no number
        self.far = False      # of other blocks than its axes
        self.differs = False  # from instance to instance

    rows = property(lambda self: self.sizes[0])
    columns = property(lambda self: self.sizes[1])

    def renamed(self, text):
        value = copy.copy(self)
        value.sizes, value.text = list(self.sizes), text
        return value

    def mapped(self, text, keeps_zero, dtype=None):
        value = self.renamed(text)
        value.dtype = dtype or self.dtype
        if not keeps_zero:
            value.missing = tuple("?" if m == "0" else m for m in self.missing)
        return value

    def atom(self):
        return self.text if self.text.replace("_", "a").isalnum() else f"({self.text})"

    def is_float(self):
        return self.dtype in ("f32", "bf16", "f16", "e4m3")

    def is_static(self):
        """A number that is written out."""
        return self.axes == (None, None) and self.sizes == [1, 1] and not any(c == "(" or c.isalpha() for c in self.text)


def constant(number, dtype):
    value = Value(str(number), Size(1), Size(1), dtype, (None, None), ("no", "no"), abs(number))
    while number * 2 ** value.grain % 1:
        value.grain += 1
    return value


def broadcast(value, to):
    """Whether it can be spread to the shape of the other one, its axes being the same."""
    return value.dtype != "bool" and all(v == 1 or v == t and va is ta for v, t, va, ta in zip(value.sizes, to.sizes, value.axes, to.axes))


def fits(value, limit):
    return value.largest * 2 ** value.grain <= limit or value.rough and value.largest < limit


def scaled(value, by=None):
    if by is None:
        result = value.mapped(f"clamp({value.text}, -4, 4)", keeps_zero=False)
        result.largest = 4.0
        if value.grain and value.is_float() and not value.rough:
            result = result.mapped(f"floor({result.text})", keeps_zero=False, dtype="f32")
            result.grain = 0
        return result
    result = value.renamed(value.text)
    result.largest *= by
    return result


def convert(value, dtype):
    if value.dtype == dtype:
        return value
    if dtype == "f16" and value.largest > 60000:
        dtype = "f32"
    result = value.mapped(f"{dtype}({value.text})", keeps_zero=True, dtype=dtype)
    if dtype == "i32":
        result.grain = 0
    return result


def combine(kind, a, b):
    """a kind b, elementwise; `where` chooses between them."""
    text = f"{kind}({a.text}, {b.text})" if kind in ("max", "min") else f"{a.atom()} {kind} {b.atom()}"
    if kind in ("max", "min") and a.dtype != b.dtype:
        text = f"{kind}(f32({a.text}), f32({b.text}))"
    result = a.renamed(text)
    result.sizes = [max(x, y, key=int) for x, y in zip(a.sizes, b.sizes)]
    result.axes = tuple(x if s == r else y for x, y, s, r in zip(a.axes, b.axes, a.sizes, result.sizes))
    result.missing = tuple(joined(kind, a, b, d) for d in (0, 1))
    result.dtype = "i32" if a.dtype == "i32" else a.dtype if kind in ("max", "min", "where") and a.dtype == b.dtype else "f32"
    both = a.largest + b.largest
    result.largest = {"*": a.largest * b.largest, "+": both, "-": both}.get(kind, max(a.largest, b.largest))
    result.grain = a.grain + b.grain if kind == "*" else max(a.grain, b.grain)
    result.rough, result.wild, result.differs = a.rough or b.rough, a.wild or b.wild, a.differs or b.differs
    result.far = a.far or b.far
    return result


def joined(kind, a, b, d):
    """What elements missing along axis d hold."""
    x, y = a.missing[d], b.missing[d]
    if x == "no" and y == "no":
        return "no"
    if kind == "*" and "0" in (x, y) and not (a.wild or b.wild):
        return "0"
    return "0" if x == "0" and y == "0" else "?"


def missing(axes):
    """What is known of blocks of tensors: where elements are missing they read as zero."""
    return tuple("no" if axis is None or axis.is_whole() else "0" for axis in axes)


class Tensor:
    def __init__(self, name, dtype, extents, mode="", preset=""):
        self.name, self.dtype, self.extents, self.mode, self.preset = name, dtype, extents, mode, preset
        self.largest, self.grain, self.rough, self.wild = 2.0, 0, False, False
        self.is_whole = True  # stored by every tile of work, under no condition

    def declaration(self):
        return f"{self.name}: {self.mode}{self.dtype}[{', '.join(self.extents)}]{self.preset}"
