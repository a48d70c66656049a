# SPDX-License-Identifier: MIT
"""How workers of a random program get tiles: what they read of tensors, and the pipes between them. Part of sections.Section."""
import re

from expressions import typed
from values import Axis, Size, Tensor, Value, missing


class Accesses:
    """Draws from `r`; `p` is the program. What is missing here is in sections.py and expressions.py."""
    again = 0.2  # how often a pipe is taken again

    def blocks(self):
        return [axis for axis in self.axes + self.path if axis.step]

    def tile_axes(self, scope):
        axes = self.blocks()
        if self.r.random() < 0.08:
            whole = Axis(":", self.p.size("depth"))
            return self.r.choice(((whole, axes[-1]), (axes[0], whole)))
        if len(axes) == 1 or self.r.random() < 0.15 and not self.p.products:
            return (self.r.choice(axes), None)
        row, column = self.r.sample(axes, 2)
        if self.r.random() < 0.7:
            row, column = sorted((row, column), key=axes.index)
        return row, column

    def shape(self, scope, axis):
        """Elements of a worker's tiles along the axis: instances share out those of the first one."""
        if axis is None:
            return Size(1)
        return axis.step // scope.instances if scope.instances and axis is self.main else axis.step

    def index(self, axis):
        """How a tensor is read along a block index, and what is known of it: neighbours, slices that are shifted."""
        r = self.r
        pick = r.random()
        if pick < 0.8 or axis.is_whole():
            return axis.name
        if pick < 0.87:
            return f"{axis.name} {r.choice('+-')} 1"
        return f"{axis.name}.start {r.choice('+-')} {min(r.choice((1, 3, 8)), int(axis.step) // 4)} :+ {axis.step.text}"

    def access(self, axes, dtype=None):
        """A new tensor, or one again, read at these axes and at integers besides."""
        r, p = self.r, self.p
        indices = [(self.index(axis), axis.dim) for axis in axes if axis]
        whole = [axis for axis in self.axes + self.path if not axis.step]
        for axis in whole:
            if r.random() < 0.6:
                indices.insert(r.randint(0, len(indices)), (axis.name, axis.dim))
        if len(indices) == 1 and axes[1] is None and r.random() < 0.3:
            others = [axis for axis in self.axes + self.path if axis.step and axis not in axes]
            if others:
                other = r.choice(others)
                indices.insert(0, (f"{other.name}.number", f"cdiv({other.dim}, {other.step.text})"))
        if self.sources and dtype is None and r.random() < 0.6 and (found := self.of_source(axes)):
            return found
        tensor = p.tensor(tuple(extent for _, extent in indices), dtype)
        return tensor, f"{tensor.name}[{', '.join(text for text, _ in indices)}]"

    def of_source(self, axes):
        """An access of what a section above has stored, if its axes are here."""
        source = self.r.choice(self.sources)
        here, texts, tile = self.axes + self.path, [], []
        for extent in source.extents:
            found = [axis for axis in here if axis.dim == extent and axis not in tile]
            if not found:
                return None
            axis = found[0]
            inside = axis in axes
            tile += [axis] if inside else []
            texts.append(self.index(axis) if inside else axis.name + (".start" if axis.step else ""))
        wanted = [axis for axis in axes if axis]
        return (source, f"{source.name}[{', '.join(texts)}]") if tile == wanted else None

    def read(self, axes, dtype=None):
        """The value of an access, of whole blocks: rows first, or turned."""
        turned = axes[1] is not None and self.r.random() < 0.2
        tensor, text = self.access(axes[::-1] if turned else axes, dtype)
        sizes = [axis.step if axis else Size(1) for axis in axes]
        value = Value(text, *sizes, tensor.dtype, axes, missing(axes), tensor.largest)
        value.grain, value.rough, value.wild = tensor.grain, tensor.rough, tensor.wild
        value.far = re.search(r" [+-] 1[,\]]", text) is not None
        if dtype is None and self.r.random() < 0.06:
            value.text = f"({text} else {self.r.choice((1, 2, -1))})"
            value.missing = tuple("?" if m == "0" else m for m in value.missing)
        return value, turned

    def fetch(self, scope, axes, dtype=None):
        """The worker gets tiles of tensors: through a pipe, alone or with others, or it reads them itself."""
        r = self.r
        if not self.loader or r.random() < 0.15:
            value, turned = self.read(axes, dtype)
            return self.let(scope, self.part(scope, value, turned))
        wanted = [axes] + [self.tile_axes(scope) for _ in range(r.choices((0, 1, 2), (6, 3, 1))[0])]
        reads = [self.read(each, dtype if i == 0 else None) for i, each in enumerate(wanted)]
        fields = [f"{v.dtype}[{', '.join(size.text for size in (v.sizes[::-1] if turned else v.sizes))}]" for v, turned in reads]
        pipe = self.pipe(fields, self.loader, scope)
        self.emit(self.loader, f"{pipe} <- {listed([v.text for v, _ in reads])}")
        names = [self.p.name("s") for _ in reads]
        self.emit(scope, f"let {listed(names)} = <-{pipe}")
        values = [self.part(scope, v.renamed(name), turned) for name, (v, turned) in zip(names, reads)]
        scope.blocks[-1] += values
        return values[0]

    def pipe(self, fields, sender, receiver):
        same = [pipe for pipe in self.p.pipes if pipe[1:] == (self.number, listed(fields), sender.name, receiver.name)]
        if same and self.r.random() < self.again:
            return same[0][0]
        name = self.p.name("p")
        slots = f"[{self.r.randint(1, 4)}]" if self.p.chance(0.2) else ""
        self.p.pipes.append((name, self.number, listed(fields), sender.name, receiver.name))
        self.pipes.append(f"pipe {name}{slots}: {listed(fields)}")
        return name

    def part(self, scope, value, turned):
        """What an instance takes of a tile, and the turn that puts its rows first."""
        text = value.text + (".T" if turned else "")
        value = value.renamed(text)
        if not scope.instances:
            return value
        for d, call in ((0, "rows"), (1, "cols")):
            if value.axes[d] is self.main:
                value.text += f".{call}(w)"
                value.sizes[d] = value.sizes[d] // scope.instances
                value.differs = True
        return value

    def hand_on(self, sender=None, receiver=None):
        """One worker sends another what it has made."""
        sender, receiver = sender or self.r.choice(self.workers), receiver or self.r.choice(self.workers)
        value = self.expression(sender, self.some(sender), 1)
        dtype = value.dtype if value.dtype in ("i32", "f32") else self.r.choice((value.dtype, "f32"))
        split = value.differs and sender.instances
        if split and value.axes[0] is not self.main:
            return
        rows = value.rows * sender.instances if split else value.rows
        pipe = self.pipe([f"{dtype}[{rows.text}, {value.columns.text}]"], sender, receiver)
        if split:
            self.emit(sender, f"{pipe}.rows(w) <- {value.text}")
        else:
            self.emit(sender, f"if w == 0 {{ {pipe} <- {value.text} }}" if sender.instances else f"{pipe} <- {value.text}")
        whole = Value(self.p.name("s"), rows, value.columns, dtype, value.axes, value.missing, value.largest)
        whole.grain, whole.rough, whole.wild, whole.far = value.grain, value.rough, value.wild, value.far
        self.emit(receiver, f"let {whole.text} = <-{pipe}")
        receiver.blocks[-1].append(self.part(receiver, whole, False))

    def in_place(self):
        """A tensor that is read, changed and stored by the same tile of work."""
        scope, axes = self.workers[0], [axis for axis in self.axes if axis.step][:2]
        if any(axis.step and axis not in axes for axis in self.axes):
            return
        tensor = Tensor("H", self.r.choice(("f32", "bf16", "f16")), tuple(axis.dim for axis in self.axes), "inout ")
        self.p.tensors.append(tensor)
        text = f"H[{', '.join(axis.name for axis in self.axes)}]"
        axes = tuple(axes + [None] * (2 - len(axes)))
        value = Value(text, *(axis.step if axis else Size(1) for axis in axes), tensor.dtype, axes, missing(axes), 2.0)
        pipe = self.pipe([f"{value.dtype}[{value.rows.text}, {value.columns.text}]"], self.loader, scope)
        self.emit(self.loader, f"{pipe} <- {text}")
        self.emit(scope, f"let h = <-{pipe}")
        held = self.part(scope, value.renamed("h"), False)
        scope.blocks[-1].append(held)
        result = self.let(scope, self.expression(scope, held, 3))
        stored = typed(result) if result.is_float() else f"f32({result.text})"
        self.emit(scope, f"{text}{'.rows(w)' if scope.instances else ''} <- {stored}")


def listed(texts):
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"
