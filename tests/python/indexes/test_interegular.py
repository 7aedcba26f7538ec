"""The automata of patterns against those of interegular, state by state, where it can read the pattern."""

import json
import random
from pathlib import Path

import pytest

import interlock

interegular = pytest.importorskip("interegular", reason="needs the package interegular")

DATA = Path(__file__).parents[2] / "data" / "regex" / "python.json"
# One character of each width in UTF-8 stands for all that a pattern does not name.
WIDE = ["\u0416", "\u30c4", "\U0001f984"]
# What the two define differently: Unicode classes and case, anchors and line ends of ``re``, flags inside.
DIFFERENT = (
    "\\d",
    "\\w",
    "\\s",
    "\\D",
    "\\W",
    "\\S",
    "\\b",
    "\\B",
    "(?",
    "^",
    "$",
    "\\A",
    "\\Z",
    "*+",
    "++",
    "?+",
    "}+",
)


def generated(count):
    """Random patterns over few letters."""
    rng = random.Random(1)

    def part(depth):
        kind = rng.randrange(9 if depth else 4)
        if kind < 3:
            return rng.choice("abc")
        if kind == 3:
            return rng.choice(["[ab]", "[^a]", "[b-d]", ".", "\u00e9"])
        inner = part(depth - 1)
        if kind == 4:
            return f"(?:{inner})" + rng.choice(["*", "+", "?", "{2}", "{1,3}", "{2,}"])
        if kind == 5:
            return f"({inner}|{part(depth - 1)})"
        return inner + part(depth - 1)

    return [part(5) for _ in range(count)]


def patterns():
    recorded = [row[0] for row in json.loads(DATA.read_text()) if not row[1]]
    return [p for p in recorded if not any(d in p for d in DIFFERENT)] + generated(300)


def steps(automaton):
    """Successors by state and byte."""
    table = [{} for _ in automaton.accepting]
    for source, target, ranges in automaton.edges:
        for first, last in ranges:
            table[source].update(dict.fromkeys(range(first, last + 1), target))
    return table


def differs(automaton, fsm):
    """A shortest text that only one of them accepts, or ``None``."""
    table = steps(automaton)
    named = [c for c in fsm.alphabet if isinstance(c, str)]
    letters = sorted({*map(chr, range(128)), *named, *(c for c in WIDE if c not in named)})
    live = {state for state in fsm.states if fsm.islive(state)}

    def ours(state, letter):
        for byte in letter.encode():
            state = None if state is None else table[state].get(byte)
        return state

    def theirs(state, letter):
        state = None if state is None else fsm.map.get(state, {}).get(fsm.alphabet[letter])
        return state if state in live else None

    start = (0, fsm.initial)
    known, queue = {start: ""}, [start]
    for pair in queue:
        a, b = pair
        if (a is not None and automaton.accepting[a]) != (b is not None and b in fsm.finals):
            return known[pair]
        for letter in letters:
            after = (ours(a, letter), theirs(b, letter))
            if after != (None, None) and after not in known:
                known[after] = known[pair] + letter
                queue.append(after)
    return None


@pytest.mark.filterwarnings("ignore::interlock.PosixClassWarning")  # Some patterns look like POSIX's.
def test_equivalence(byte_vocabulary):
    compared = 0
    for pattern in patterns():
        try:
            fsm = interegular.parse_pattern(pattern).to_fsm()
        except Exception:  # Whatever it raises, it cannot read the pattern.
            continue
        if fsm.empty():
            continue
        try:
            automaton = interlock.Index.from_regex(pattern, byte_vocabulary).automaton(max_states=2_000)
        except interlock.LimitError:
            continue
        text = differs(automaton, fsm)
        assert text is None, (pattern, text)
        compared += 1
    print(compared, "patterns compared")
    assert compared > 250
