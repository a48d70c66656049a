# SPDX-License-Identifier: MIT
"""Sections in which workers talk: slots of several fields that several workers fill, questions and answers within a loop, values that
are held from one iteration to the next. In step by construction."""
from accesses import listed
from traffic import Traffic
from values import Value


class Dialogues(Traffic):
    again = 0.3

    def draw(self):
        super(Traffic, self).draw()
        self.misplaced = None

    def weights(self, scope, budget):
        return {**super().weights(scope, budget), "fields": 4, "dialogue": 4 * (budget > 1 and len(self.path) < 3), "held": 2 * (len(self.path) < 3)}

    def statement(self, kind, scope, budget):
        if kind == "dialogue":
            self.dialogue(budget)
        else:
            super().statement(kind, scope, budget)

    def fields(self, scope):
        """One slot of several fields, from one worker or a field from each; all receivers get all of it."""
        r = self.r
        name, sent, taken = self.p.name("p"), [], []
        for field in "abcd"[:r.randint(2, 4)]:
            sender = r.choice(self.workers)
            value = self.expression(sender, self.some(sender), 1)
            split = bool(value.differs and sender.instances)
            if value.dtype == "bool" or split and value.axes[0] is not self.main:
                return
            rows = value.rows * sender.instances if split else value.rows
            dtype = r.choice((value.dtype, "f32")) if value.is_float() else value.dtype
            sent.append((sender, f"{name}.{field}{'.rows(w)' if split else ''} <- {value.text}", split, value.text))
            whole = Value(field, rows, value.columns, dtype, value.axes, value.missing, value.largest)
            whole.grain, whole.rough, whole.wild, whole.far = value.grain, value.rough, value.wild, value.far
            taken.append(whole)
        types = [f"{v.text}: {v.dtype}[{v.rows.text}, {v.columns.text}]" for v in taken]
        self.pipes.append(f"pipe {name}{f'[{r.randint(1, 4)}]' if r.random() < 0.6 else ''}: {listed(types)}")
        self.p.pipes.append((name, self.number, listed(types), "", ""))
        is_one = all(sender is sent[0][0] and not split for sender, _, split, _ in sent)
        if is_one and r.random() < 0.5:
            sent = [(sent[0][0], f"{name} <- {listed([text for _, _, _, text in sent])}", False, "")]
        for sender, text, split, _ in r.sample(sent, len(sent)):
            self.emit(sender, f"if w == 0 {{ {text} }}" if sender.instances and not split else text)
        for receiver in r.sample(self.workers, r.randint(1, len(self.workers))):
            names = [self.p.name("s") for _ in taken]
            self.emit(receiver, f"let {listed(names)} = <-{name}")
            receiver.blocks[-1] += [self.part(receiver, v.renamed(n), False) for v, n in zip(taken, names)]

    def dialogue(self, budget):
        """A loop in which one worker asks, and goes on with what another answers."""
        r = self.r
        asks, answers = r.choice(self.workers), r.choice(self.workers)
        axis, header, times = self.range()
        variable = self.variable(asks, axis)

        def exchange():
            self.hand_on(asks, answers)
            self.hand_on(answers, asks)

        def body():
            self.path.append(axis)
            self.partial += 1
            for _ in range(r.randint(1, 2)):
                if r.random() < 0.3:
                    where = r.choice(self.axes + self.path)
                    self.inside("if", f"if {self.condition_of(where, self.p.scalar('i32').text)}", exchange,
                                exchange if r.random() < 0.3 else None)
                else:
                    exchange()
            if r.random() < 0.4:
                self.statements(budget - 1)
            self.update(*variable, axis, times)
            for worker in (asks, answers):
                if worker.blocks[-1] and r.random() < 0.3:
                    self.store(worker, worker.blocks[-1][-1])
            self.path.pop()
            self.partial -= 1

        self.inside("for", header, body)
        asks.blocks[-1].append(variable[1])

    def held(self, scope):
        """What was received in the iteration before is used beside what comes now."""
        r = self.r
        sender = r.choice(self.workers)
        value = self.some(sender)
        if not value.is_float() or value.differs or value.wild or value.rough or value.is_static() or value.largest > 1024:
            return
        axis, header, _ = self.range()
        kept = value.renamed(self.p.name("h"))
        pipe = self.pipe([f"f32[{value.rows.text}, {value.columns.text}]"], sender, scope)
        self.emit(scope, f"var {kept.text}: f32[{value.rows.text}, {value.columns.text}] = 0")

        def body():
            self.path.append(axis)
            self.partial += 1
            text = f"{pipe} <- {value.atom()} + f32({axis.number_text()} % 8)"
            self.emit(sender, f"if w == 0 {{ {text} }}" if sender.instances else text)
            now = self.p.name("s")
            self.emit(scope, f"let {now} = <-{pipe}")
            both = value.renamed(f"{kept.text} {r.choice('+-')} {now}")
            both.dtype, both.missing, both.far, both.largest = "f32", tuple("no" if m == "no" else "?" for m in value.missing), True, 4096
            if r.random() < 0.8:
                self.store(scope, self.part(scope, self.let(scope, both), False))
            self.emit(scope, f"{kept.text} = {now}")
            self.path.pop()
            self.partial -= 1

        self.inside("for", header, body)
