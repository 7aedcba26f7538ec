"""The automaton of a source over characters, and its compressed form.

``Index.automaton`` finds the states over bytes and merges equal ones, so the result is minimal. Three rewritings
make it readable:

* ``characters``: a state inside a UTF-8 sequence is no state of the text; edges carry code points instead of bytes.
* ``counted``: states one after the other that differ by how many more characters of a class may follow become one
  state with a loop that says how often it is taken at most.
* ``jumps``: a state with one way on and that way one character is *forced*; chains of them become one edge with the
  whole text. This is the compressed automaton of jump-forward decoding.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import interlock

Ranges = tuple[tuple[int, int], ...]

FEWEST = 4
"""States that are worth a loop with a number."""


@dataclass
class Edge:
    """From ``src`` to ``dst`` by any of ``ranges``, or, with ``run``, by this text.

    ``forced`` is how many of the last characters of ``run`` have no alternative. A loop with ``most`` is taken at most
    so often each time its state is reached.
    """

    src: int
    dst: int
    ranges: Ranges
    run: str = ""
    forced: int = 0
    most: int = 0


@dataclass
class Graph:
    """States are numbers, 0 is the start."""

    accepting: set[int]
    edges: list[Edge]

    @property
    def states(self) -> list[int]:
        """All states, ascending."""
        return sorted({0, *self.accepting, *(e.src for e in self.edges), *(e.dst for e in self.edges)})

    def onward(self) -> dict[int, list[Edge]]:
        """The edges that leave each state."""
        onward: dict[int, list[Edge]] = {s: [] for s in self.states}
        for edge in self.edges:
            onward[edge.src].append(edge)
        return onward


def bytewise(automaton: interlock.Automaton) -> tuple[list[dict[int, int]], set[int]]:
    """Rows (byte to state) and accepting states of an automaton."""
    rows: list[dict[int, int]] = [{} for _ in automaton.accepting]
    for src, dst, ranges in automaton.edges:
        for low, high in ranges:
            rows[src].update((byte, dst) for byte in range(low, high + 1))
    return rows, {state for state, accepts in enumerate(automaton.accepting) if accepts}


def characters(rows: list[dict[int, int]], accepting: set[int]) -> Graph:
    """The automaton over code points. A state all of whose ways are continuation bytes is inside a character."""
    inside = {
        s for s, row in enumerate(rows) if s and row and s not in accepting and all(0x80 <= b <= 0xBF for b in row)
    }
    known: dict[tuple[int, int], list[tuple[int, int, int]]] = {}

    def rest(state: int, left: int) -> list[tuple[int, int, int]]:
        """Where the last ``left`` bytes of a character lead from ``state``: ranges of their bits, each with a state."""
        if (state, left) not in known:
            parts = [part for byte, dst in rows[state].items() for part in onward(dst, byte & 0x3F, left - 1)]
            known[state, left] = _joined(parts)
        return known[state, left]

    def onward(dst: int, value: int, left: int) -> list[tuple[int, int, int]]:
        if left == 0 or dst not in inside:
            return [(value << 6 * left, (value + 1 << 6 * left) - 1, dst)]
        return [(low | value << 6 * left, high | value << 6 * left, end) for low, high, end in rest(dst, left)]

    edges: list[Edge] = []
    for src, row in enumerate(rows):
        if src in inside:
            continue
        found: dict[int, list[tuple[int, int]]] = {}
        parts = [part for byte, dst in row.items() for part in onward(dst, *_lead(byte))]
        for low, high, dst in _joined(parts):
            found.setdefault(dst, []).append((low, high))
        edges.extend(Edge(src, dst, tuple(ranges)) for dst, ranges in sorted(found.items()))
    return _reachable(Graph(set(accepting), edges))


def _lead(byte: int) -> tuple[int, int]:
    """The bits of a code point that its first byte has, and how many bytes follow."""
    if byte < 0x80:
        return byte, 0
    if byte < 0xE0:
        return byte & 0x1F, 1
    return (byte & 0x0F, 2) if byte < 0xF0 else (byte & 0x07, 3)


def _joined(parts: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Ascending ranges, neighbours that lead to the same state as one."""
    out: list[tuple[int, int, int]] = []
    for low, high, dst in sorted(parts):
        if out and low <= out[-1][1] + 1 and dst == out[-1][2]:
            out[-1] = (out[-1][0], max(high, out[-1][1]), dst)
        else:
            out.append((low, high, dst))
    return out


def _reachable(graph: Graph) -> Graph:
    onward = graph.onward()
    order = {0: 0}
    for state in (queue := [0]):
        for edge in onward[state]:
            if edge.dst not in order:
                order[edge.dst] = len(order)
                queue.append(edge.dst)
    edges = [replace(e, src=order[e.src], dst=order[e.dst]) for state in queue for e in onward[state]]
    return Graph({order[s] for s in graph.accepting if s in order}, edges)


def counted(graph: Graph) -> Graph:
    """States that differ by how many more characters of one class may follow as one state, which counts them."""
    onward = {s: {(e.dst, e.ranges): e for e in edges} for s, edges in graph.onward().items()}
    entries = Counter(edge.dst for edge in graph.edges)
    # Where a chain was seen to break off; those that begin inside it break off there, too.
    broken: set[tuple[int, Ranges]] = set()

    def chain(step: Edge) -> list[int]:
        """The states that ``step`` leads through, one by one, to one that has all ways but it."""
        others = onward[step.src].keys() - {(step.dst, step.ranges)}
        states, accepts = [step.src], step.src in graph.accepting
        if (step.src, step.ranges) in broken or any(dst == step.src for dst, _ in others):
            return states
        while entries[step.dst] == 1 and step.dst and (step.dst in graph.accepting) == accepts:
            more = onward[step.dst].keys() - others
            if len(onward[step.dst]) != len(others) + len(more) or any(r != step.ranges for _, r in more):
                break
            states.append(step.dst)
            if not more:
                return states
            step = onward[step.dst][more.pop()]
        broken.update((state, step.ranges) for state in states)
        return states[:1]

    edges: list[Edge] = []
    passed: set[int] = set()
    for state in graph.states:
        if state in passed:
            continue
        longest = max(map(chain, onward[state].values()), key=len, default=[])
        if len(longest) < FEWEST:
            edges += onward[state].values()
            continue
        passed.update(longest[1:])
        for edge in onward[state].values():
            counts = edge.dst == longest[1]
            edges.append(replace(edge, dst=state, most=len(longest) - 1) if counts else edge)
    return _reachable(Graph(graph.accepting - passed, edges))


def jumps(graph: Graph) -> Graph:
    """The compressed form: edges of one character go on along what is forced after them."""
    onward = graph.onward()

    def single(edge: Edge) -> bool:
        return len(edge.ranges) == 1 and edge.ranges[0][0] == edge.ranges[0][1]

    def is_forced(state: int) -> bool:
        return state not in graph.accepting and len(onward[state]) == 1 and single(onward[state][0])

    edges = []
    keep, queue = {0}, [0]
    for state in queue:
        for edge in onward[state]:
            dst, run, forced = edge.dst, "", 0
            if edge.most:
                edges.append(edge)
                continue
            if single(edge):
                run, forced = chr(edge.ranges[0][0]), int(is_forced(state))
                passed = {state}
                while is_forced(dst) and dst not in passed:
                    passed.add(dst)
                    step = onward[dst][0]
                    run, forced, dst = run + chr(step.ranges[0][0]), forced + 1, step.dst
            edges.append(Edge(state, dst, edge.ranges, run, forced))
            if dst not in keep:
                keep.add(dst)
                queue.append(dst)
    return _reachable(Graph(graph.accepting & keep, edges))


def label(edge: Edge, most: int = 36) -> str:
    """What is written at an edge: the run, or its characters as ranges; at most ``most`` characters."""
    text = "".join(map(_name, map(ord, edge.run))) if edge.run else ranges_label(edge.ranges)
    text += f", at most {edge.most} times" if edge.most else ""
    return text if len(text) <= most else text[: most - 1] + "…"


def ranges_label(ranges: Ranges, most: int = 3) -> str:
    """Code points as ranges: ``a-z 0-9``; ``any``; ``any but " \\``. Beyond ASCII, ``most`` are named."""
    gaps, at = [], 0
    for low, high in ranges:
        if at < low and (at, low) != (0xD800, 0xE000):
            gaps.append((at, low - 1))
        at = high + 1
    if at < 0x110000:
        gaps.append((at, 0x10FFFF))
    if not gaps:
        return "any"
    plain = _named(ranges, most)
    but = "any but " + _named(tuple(gaps), most)
    return but if at == 0x110000 and len(but) < len(plain) else plain


def _named(ranges: Ranges, most: int) -> str:
    beyond = [pair for pair in ranges if pair[0] > 0x7E]
    if len(beyond) <= most:
        return " ".join(map(_range, ranges))
    count = sum(high - low + 1 for low, high in beyond)
    words = [*map(_range, (pair for pair in ranges if pair[0] <= 0x7E)), f"and {count} more"]
    return " ".join(words)


def _range(pair: tuple[int, int]) -> str:
    low, high = pair
    if high - low < 2:
        return " ".join(_name(c) for c in range(low, high + 1))
    return f"{_name(low)}-{_name(high)}"


def _name(c: int) -> str:
    if c == 0x20:
        return "␣"
    named = {0x09: r"\t", 0x0A: r"\n", 0x0D: r"\r"}.get(c)
    if named:
        return named
    if 0xD800 <= c < 0xE000 or not chr(c).isprintable():
        return f"\\x{c:02x}" if c < 0x80 else f"U+{c:04X}"
    return chr(c)
