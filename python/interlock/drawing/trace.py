"""A generation token by token: how many tokens were allowed, which was taken, what was refused and why."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import interlock
from interlock._recipe import END, Recipe
from interlock.explain import explain
from interlock.explain.document import LineStarts
from interlock.util.plurals import counted

EVERYDAY = ("}", '"', ",", "]", "0", "null", "{", ":", "\n", "a", "true", "-", "[", "Sure", "```")
"""What a model may well want to write next; tried where nothing is known of a model's own wishes."""
ALTERNATIVES = 4
EXPLAINED = 600
"""Steps whose refused alternatives are explained."""
MOST_EXPECTED = 4
"""A reason names what had to come where no more than so many characters could."""


@dataclass
class Alternative:
    """A token that could have been taken instead: ``probability`` is the model's, where it is known."""

    id: int
    text: str
    allowed: bool
    reason: str = ""
    probability: float | None = None


@dataclass
class Step:
    """One token. ``allowed`` is how many tokens were allowed before it. ``forced`` says that its text had to come,
    whatever the model says; ``allowed`` may be larger than 1 even so, as ``{`` and ``{"`` both begin ``{"name": ``.
    Times are in microseconds. ``to_finish`` is a number of tokens that complete the output after it, and
    ``budget_left`` how many it may still have.
    """

    id: int
    text: str
    at: int
    allowed: int
    forced: bool
    refused: bool = False
    special: bool = False
    mask_us: float = 0.0
    advance_us: float = 0.0
    to_finish: int | None = None
    budget_left: int | None = None
    probability: float | None = None
    alternatives: list[Alternative] = field(default_factory=list)


@dataclass
class Place:
    """Where in the output a problem begins; ``pointer`` is a JSON Pointer to the value at fault, if there is one."""

    line: int
    column: int
    pointer: str = ""

    def __str__(self) -> str:
        """The place in words."""
        return f"line {self.line}, column {self.column}" + (f", at {self.pointer}" if self.pointer else "")


@dataclass
class Trace:
    """A whole generation. ``problems`` say why it ended where it was refused."""

    title: str
    vocabulary: int
    steps: list[Step]
    complete: bool
    max_tokens: int | None = None
    problems: list[str] = field(default_factory=list)
    rest: str = ""
    """What follows the token that was refused."""
    own_alternatives: bool = False
    places: list[Place] = field(default_factory=list)
    """Of each problem; empty where the text says nothing of them."""

    @property
    def forced(self) -> int:
        """Tokens for which no model has to be asked."""
        return sum(step.forced for step in self.steps)

    def machine(self) -> dict[str, Any]:
        """Everything, as JSON holds it."""
        return {**asdict(self), "forced": self.forced}


Wishes = Sequence[Mapping[int, float]]
"""For each token, what a model would have liked: ids and log-probabilities."""
Why = Callable[..., tuple[list[str], list[Place]]]
"""What says of a text why it is refused, and where; nothing of one that is accepted."""


def trace(
    index: interlock.Index,
    ids: Sequence[int],
    title: str = "",
    max_tokens: int | None = None,
    wishes: Wishes | None = None,
    given: Sequence[int] = (),
) -> Trace:
    """Walk ``ids`` through ``index`` and write down what happens, up to the first token that is refused.

    ``wishes[i]`` are the log-probabilities of a model's most likely tokens at ``ids[i]``; without them, everyday
    continuations are tried. ``given`` are tokens that the output begins with and that nobody chose: they are walked
    through first, cost nothing of ``max_tokens``, and are no steps. Costs a mask and an advance for each token, and a
    millisecond or so for each alternative.
    """
    vocabulary = index.vocabulary
    guide = index.guide(max_tokens=None if max_tokens is None else max_tokens + len(given))
    guide.advance_many(given)
    bits = interlock.allocate_bitmask(1, vocabulary)
    silent = {*vocabulary.special_token_ids, *vocabulary.eos_token_ids}
    everyday = _everyday(vocabulary, silent) if wishes is None else []
    steps: list[Step] = []
    prefix = vocabulary.decode(list(given))
    why, expected = _explainer(Recipe.of(index))
    problems: list[str] = []
    places: list[Place] = []
    rest = b""
    for number, token in enumerate(ids):
        data = vocabulary.token_bytes(token)
        allowed = set(guide.allowed_token_ids().tolist())
        forced_bytes = guide.forced_bytes()
        fits = bool(data) and token not in silent and forced_bytes.startswith(data)
        step = Step(token, _text(data), len(prefix), len(allowed), fits or allowed == {token})
        step.special = token in silent
        step.mask_us = min(_timed(lambda: guide.fill_bitmask(bits)) for _ in range(3))
        wish = wishes[number] if wishes is not None and number < len(wishes) else {}
        step.probability = math.exp(wish[token]) if token in wish else None
        step.alternatives = _alternatives(guide, token, allowed, everyday, wish)
        if number < EXPLAINED:
            for other in step.alternatives:
                other.reason = "" if other.allowed else _reason(guide, why, expected, prefix, other.id, silent)
        began = time.perf_counter_ns()
        taken = guide.try_advance(token)
        step.advance_us = (time.perf_counter_ns() - began) / 1e3
        step.refused = not taken
        if taken:
            step.to_finish = _to_finish(guide)
            if max_tokens is not None:
                step.budget_left = max_tokens + len(given) - guide.num_tokens + guide.is_terminated
        steps.append(step)
        if not taken:
            step.forced = False
            problems, places = why(prefix + vocabulary.decode(list(ids[number:])))
            problems = problems or [guide.explain(token)]
            rest = vocabulary.decode(list(ids[number + 1 :]))
            break
        prefix += b"" if token in silent else data
    complete = not problems and (guide.is_accepting or guide.is_terminated)
    if not problems and not complete:
        problems, places = why(prefix)
        problems = problems or ["the output ends too early"]
    own = wishes is not None
    return Trace(title, vocabulary.size, steps, complete, max_tokens, problems, _text(rest), own, places)


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter_ns()
    work()
    return (time.perf_counter_ns() - began) / 1e3


def _text(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")


def _to_finish(guide: interlock.Guide) -> int | None:
    if guide.is_terminated:
        return 0
    try:
        return guide.min_tokens_to_finish()
    except interlock.UnsupportedError:
        return None


def _everyday(vocabulary: interlock.Vocabulary, silent: set[int]) -> list[int]:
    wanted = {text.encode(): place for place, text in enumerate(EVERYDAY)}
    found: dict[int, int] = {}
    for i in range(vocabulary.size):
        place = wanted.get(vocabulary.token_bytes(i))
        if place is not None and i not in silent:
            found.setdefault(place, i)
    return [found[place] for place in sorted(found)] + list(vocabulary.eos_token_ids[:1])


def _alternatives(
    guide: interlock.Guide, token: int, allowed: set[int], everyday: list[int], wish: Mapping[int, float]
) -> list[Alternative]:
    vocabulary = guide.index.vocabulary

    def made(i: int, probability: float | None = None) -> Alternative:
        return Alternative(i, _text(vocabulary.token_bytes(i)), i in allowed, "", probability)

    if wish:
        likely = sorted((i for i in wish if i != token), key=lambda i: -wish[i])
        return [made(i, math.exp(wish[i])) for i in likely[: 2 * ALTERNATIVES]]
    return [made(i) for i in everyday if i != token and i not in allowed][:ALTERNATIVES]


def _explainer(recipe: Recipe) -> tuple[Why, Callable[[bytes], tuple[int, str]]]:
    """What says why a text is refused, and what says where, and what had to stand at that byte instead."""
    index = recipe.compile()

    def why(data: bytes, innermost_first: bool = False) -> tuple[list[str], list[Place]]:
        found = explain(index, data)
        starts = LineStarts(found.text)
        whole = [p for p in found.problems if p.schema or "the text ends" not in p.message] or found.problems
        if innermost_first:
            whole = sorted(whole, key=lambda p: p.until - p.start)
        places = [Place(*starts.line_column(min(p.start, len(found.text))), p.pointer) for p in whole]
        return [p.message for p in whole], places

    def expected(data: bytes) -> tuple[int, str]:
        guide = index.guide()
        at = guide.advance_many(list(data))
        if at == len(data) or guide.is_accepting:
            return at, ""
        forced = guide.forced_text()
        if forced:
            return at, _must_come([forced])
        allowed = [i for i in guide.allowed_token_ids().tolist() if i != END]
        if not 0 < len(allowed) <= MOST_EXPECTED or max(allowed) > 127:
            return at, ""
        words = []
        for byte in allowed:
            ahead = index.guide()
            ahead.advance_many([*data[:at], byte])
            word = chr(byte) + ahead.forced_text() if chr(byte).isalnum() else chr(byte)
            words.append(re.match(r"\w+|.", word, re.DOTALL)[0])  # type: ignore[index]
        return at, _must_come(words)

    return why, expected


_BLANKS = {" ": "a blank", "\n": "a line break", "\t": "a tab", "\r": "a carriage return"}
"""Characters that a reader does not see between quotes, in words."""


def _in_words(text: str) -> str:
    r"""A text as a reason names it: white space in words, and all else between quotes.

    >>> _in_words(" "), _in_words("\n\n"), _in_words("\n "), _in_words("true")
    ('a blank', '2 line breaks', "'\\n '", "'true'")
    """
    name = _BLANKS.get(text[:1])
    if name is None or text.strip(text[0]):
        return repr(text)
    return name if len(text) == 1 else counted(len(text), name.partition(" ")[2])


def _must_come(texts: list[str]) -> str:
    """That one of these texts has to come.

    >>> _must_come(["true"]), _must_come([" "]), _must_come([" ", "false", "true"])
    ("'true' must come next", 'only a blank may come next', "a blank, 'false' or 'true' must come next")
    """
    words = [_in_words(text) for text in texts]
    if len(words) == 1:
        return f"{words[0]} must come next" if words[0].startswith(("'", '"')) else f"only {words[0]} may come next"
    return f"{', '.join(words[:-1])} or {words[-1]} must come next"


def _reason(
    guide: interlock.Guide,
    why: Why,
    expected: Callable[[bytes], tuple[int, str]],
    prefix: bytes,
    token: int,
    silent: set[int],
) -> str:
    """Why a token is refused: what is wrong with the text and it, or what had to come at the byte that is refused."""
    if token in silent:
        return "the output is not complete"
    data = guide.index.vocabulary.token_bytes(token)
    reasons = [reason for reason in why(prefix + data, innermost_first=True)[0] if "ends" not in reason]
    if reasons and not reasons[0].startswith(("the engine", "not JSON")):
        return reasons[0]
    at, needed = expected(prefix + data)
    begun = data[: max(0, at - len(prefix))]
    if needed:
        return f"after {_in_words(_text(begun))}, {needed}" if begun else needed
    if forced := guide.forced_text():  # The budget, not the source, leaves nothing else.
        return _must_come([forced])
    said = guide.explain(token)
    return reasons[0] if reasons and not reasons[0].startswith("the engine") else said.partition("; ")[2] or said
