"""A generation with its reasons: each token, what the model would rather have written, and why that was not allowed."""

from __future__ import annotations

import html
import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from interlock._core import ArgumentError, Guide, Index, Vocabulary
from interlock.drawing.trace import Alternative, Step, Trace, trace
from interlock.drawing.trace_page import trace_page
from interlock.integrations._number_end import NumberEnd
from interlock.masks import allocate_bitmask, apply_padded
from interlock.programs.sampling import Sampler
from interlock.util.argument_types import require
from interlock.util.plurals import counted

if TYPE_CHECKING:
    from interlock.programs.cached_model import CachedModel

__all__ = ["GenerationTrace", "sampled_runs", "trace_of", "wishes_of"]

T = TypeVar("T")

_SHOWN = 9
"""So many of a model's likeliest tokens are kept for each place."""


@dataclass(frozen=True)
class GenerationTrace(Generic[T]):
    """What a model wrote and what it was not allowed to write; ``generator.trace(prompt, output_type)`` makes one.

    A notebook shows it as a page, token by token. ``save("trace.html")`` writes that page, ``print`` shows the places
    where the model wanted something else, and ``steps`` has everything as data.
    """

    value: T
    """The value, as the call itself returns it."""
    text: str
    """The text that was generated."""
    token_ids: list[int]
    """Its tokens, without the stop token."""
    walk: Trace
    """The text's walk through the index."""

    @property
    def steps(self) -> list[Step]:
        """The tokens in turn. ``allowed`` counts the tokens that were allowed, ``forced`` says that there was no
        choice of text (several tokens may spell it), and ``probability`` is the model's before masking.
        ``alternatives`` are the tokens that it found likely, each with ``allowed``, and with the ``reason`` if it was
        refused.
        """
        return self.walk.steps

    @property
    def refused(self) -> list[tuple[Step, Alternative]]:
        """Where the model wanted something that was not allowed: each step with the likeliest token that was refused,
        if that was likelier than the token that was taken.
        """
        found: list[tuple[Step, Alternative]] = []
        for step in self.steps:
            other = next((one for one in step.alternatives if not one.allowed), None)
            if other is not None and (other.probability or 0.0) > (step.probability or 0.0):
                found.append((step, other))
        return found

    def __str__(self) -> str:
        """The text and, a line each, where the model wanted something that was not allowed."""
        lines = [
            self.text,
            f"{counted(len(self.steps), 'token')}, {self.walk.forced} of them forced",
        ]
        for step, other in self.refused:
            likely = f" ({other.probability:.0%})" if other.probability is not None else ""
            reason = f": {other.reason}" if other.reason else ""
            lines.append(f"  wrote {step.text!r}, not {other.text!r}{likely}{reason}")
        return "\n".join(lines)

    def html(self) -> str:
        """A page in one file: the text token by token, how many tokens were allowed, and each token in detail."""
        return trace_page(self.walk)

    def save(self, path: str | Path) -> None:
        """Write the page to a file, whose name ends in ``.html``; anything else is an ``ArgumentError``."""
        require(path=(path, "path"))
        if Path(path).suffix.lower() not in (".html", ".htm"):
            raise ArgumentError(f"{str(path)!r}: a trace is a page; let the name end in .html")
        Path(path).write_text(self.html(), encoding="utf-8")

    def _repr_html_(self) -> str:
        page = html.escape(self.html(), quote=True)
        return f'<iframe srcdoc="{page}" style="width:100%;height:640px;border:0" title="trace"></iframe>'


def trace_of(
    index: Index,
    ids: Sequence[int],
    value: T,
    title: str,
    max_tokens: int,
    wishes: list[dict[int, float]] | None,
    given: Sequence[int] = (),
) -> GenerationTrace[T]:
    """The trace of an output that was generated. ``wishes`` are what the model found likely at each of its tokens.
    ``given`` are the tokens in front of it that were the prompt's, and are no part of the trace.
    """
    text = index.vocabulary.decode(list(ids)).decode("utf-8", "replace")
    return GenerationTrace(value, text, list(ids), trace(index, ids, title, max_tokens, wishes, given))


def wishes_of(model: CachedModel, prompt_ids: Sequence[int], ids: Sequence[int]) -> list[dict[int, float]]:
    """For each token of an output the log-probabilities of the model's likeliest tokens there, and of the token itself.
    A call of the model for each.
    """
    found: list[dict[int, float]] = []
    for count, token in enumerate(ids):
        logits = model.logits([*prompt_ids, *ids[:count]]).astype(np.float64)
        top = float(logits.max())
        total = top + math.log(float(np.exp(logits - top).sum()))
        likely = np.argpartition(-logits, min(_SHOWN, len(logits) - 1))[:_SHOWN]
        found.append({int(i): float(logits[i]) - total for i in (*likely, token)})
    return found


def sampled_runs(
    model: CachedModel,
    vocabulary: Vocabulary,
    guide: Guide,
    prompt_ids: Sequence[int],
    sampling: dict[str, Any],
    number_end: NumberEnd,
) -> Generator[list[int], None, None]:
    """The tokens of an output that ``guide`` permits, without the stop token, chosen by ``Sampler``: each as soon as it
    is chosen, and those that are forced with it.
    """
    sampler = Sampler(**{name: value for name, value in sampling.items() if value is not None})
    bits = allocate_bitmask(1, vocabulary)
    ids: list[int] = []
    while not guide.must_stop and not guide.is_terminated:
        run = guide.forced_tokens() or _spelled(model, guide)
        if not run:
            wanted = model.logits([*prompt_ids, *ids])
            masked = wanted[None, :].copy()
            guide.fill_bitmask(bits)
            apply_padded(masked, bits)
            if number_end.is_open(guide):
                ending = number_end.ending(guide, wanted, vocabulary.eos_token_ids)
                if ending is not None:
                    ending.apply(masked[0])
            run = [sampler.choose(masked[0])]
        if run[0] in vocabulary.eos_token_ids:
            break
        guide.advance_many(run)
        ids.extend(run)
        yield run


def _spelled(model: CachedModel, guide: Guide) -> list[int]:
    """Forced bytes as the model's tokenizer spells them. The last token is left out: what follows might join it."""
    data = guide.forced_bytes()
    if len(data) < 2:
        return []
    try:
        ids = model.encode(data.decode())[:-1]
    except UnicodeDecodeError:
        return []
    return ids[: guide.validate(ids)]
