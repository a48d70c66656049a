# SPDX-License-Identifier: MIT
"""Whether workers of a random program can get stuck: their traffic alone, run for drawn numbers of iterations and drawn conditions.
Workers with pipes are a Kahn network: one run in any order tells."""
import random
import re

SLOTS = 4   # of a pipe that does not name a number
RUNS = 24   # with other numbers of iterations


def events(nest, worker, instance, place, chosen):
    """Sends and receives of one instance, in its order: (kind, pipe, instance's part). `place` is the iteration of each loop around."""
    for node in nest:
        if node[0] == "for":
            for i in range(chosen(node[1], place, 9)):
                yield from events(node[2], worker, instance, (*place, i), chosen)
        elif node[0] == "if":
            yield from events(node[2 if chosen(node[1], place, 2) else 3], worker, instance, place, chosen)
        elif node[0] == worker:
            yield from events_of(node[1], instance)


def events_of(text, instance):
    if ring := re.fullmatch(r"for (u\d+) in (\d+|\w+) \{ (p\d+)\[u\d+\] <- .*\}", text):
        yield "ring", ring[3], ring[2]
        return
    if text.startswith("if w == 0 {"):
        if instance != 0:
            return
        text = text[len("if w == 0 {"):].strip()
    if sent := re.match(r"(p\d+)(\.rows\(w\))? <- ", text):
        yield ("part" if sent[2] else "send"), sent[1], None
    if received := re.search(r"<-(p\d+)(\[w\])?", text):
        yield "receive", f"{received[1]}[{instance}]" if received[2] else received[1], None


def gets_stuck(section, seed):
    """For some numbers of iterations."""
    return any(is_stuck(section, seed * RUNS + run) for run in range(RUNS))


def is_stuck(section, seed):
    def chosen(header, place, below):
        return random.Random(f"{seed} {header} {place}").choice((0, 1, 2, below, 20 * (below > 2)))

    counts = {scope.name: int(scope.instances or 1) for scope in section.readers() + section.workers}
    actors = {}
    for name, count in counts.items():
        for w in range(count):
            actors[name, w] = [each for event in events(section.nest_of(name), name, w, (), chosen) for each in spread(event, count, section)]
    slots, receivers = {}, {}
    for text in section.pipes:
        name, number = re.match(r"pipe (p\d+)(?:\[(\d+)\])?", text).groups()
        slots[name] = int(number or SLOTS)
    for actor, own in actors.items():
        for kind, pipe, _ in own:
            if kind == "receive":
                receivers.setdefault(pipe, set()).add(actor)
    sent, got, at = {}, {}, dict.fromkeys(actors, 0)
    moved = True
    while moved:
        moved = False
        for actor, own in actors.items():
            while at[actor] < len(own):
                kind, pipe, parts = own[at[actor]]
                if kind == "receive":
                    if sent.get(pipe, 0) <= got.get((pipe, actor), 0):
                        break
                    got[pipe, actor] = got.get((pipe, actor), 0) + 1
                else:
                    number = sent.get((pipe, actor), 0)
                    freed = min((got.get((pipe, r), 0) for r in receivers.get(pipe, ())), default=number)
                    if number - freed >= slots[pipe.split("[")[0]]:
                        break
                    sent[pipe, actor] = number + 1
                    senders = [sent.get((pipe, a), 0) for a in actors if kind == "send" and a == actor or kind == "part" and a[0] == actor[0]]
                    sent[pipe] = min(senders)
                at[actor] += 1
                moved = True
    return any(at[actor] < len(own) for actor, own in actors.items())


def spread(event, count, section):
    """A send to the ring of each instance, one by one."""
    kind, pipe, number = event
    if kind != "ring":
        return [event]
    instances = int(section.p.statics.get(number, 0) or number)
    return [("send", f"{pipe}[{i}]", None) for i in range(instances)]
