"""Questions about what an index accepts: errors of the core's methods that say what to do, and ``Index.sample``."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from interlock._core import ArgumentError, BudgetError, Index, LimitError, UnsatisfiableError, UnsupportedError
from interlock.samples.random_walks import random_walk
from interlock.util.argument_types import require
from interlock.util.client_messages import of_program, with_hint, without_hint

if TYPE_CHECKING:
    from interlock._core import CancelToken

__all__ = ["attach"]

_QUESTIONS = (
    *("language_size", "shortest_member", "random_member", "automaton"),
    *("witness_not_in", "witness_in_both", "is_subset_of", "is_equivalent_to"),
)


def sample(self: Index, seed: int | None = None, max_tokens: int = 200, cancel: CancelToken | None = None) -> list[int]:
    """A random output of at most ``max_tokens`` tokens, drawn token by token from the masks: for tests of a server, and
    to see what an index allows. The same ``seed`` gives the same one.

    Every index can be drawn from: those of tools and grammars, of ``json_object``, and of vocabularies without tokens
    for some bytes, which ``random_member`` refuses. The tokens have no stop token at their end.
    ``Vocabulary.decode(tokens, skip_special_tokens=False)`` is their text.

    The cost is that of one mask a token, with a budget: microseconds for a token whose mask is known, milliseconds at
    most places of a source that is new, and more near the end of the budget. ``max_tokens`` bounds it. Nothing else
    does, so pass ``CancelToken.after(seconds)`` for a source from a stranger.

    ``BudgetError`` if no output is so short; ``CancelledError`` between two tokens, once ``cancel`` is cancelled or its
    deadline has passed: a mask that is being made is finished first.

    >>> import interlock
    >>> vocabulary = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[256])
    >>> index = interlock.Index.from_grammar('start: "(" start ")" | /[ab]/', vocabulary)
    >>> vocabulary.decode(index.sample(seed=3)).strip(b"()") in (b"a", b"b")
    True
    """
    require(seed=(seed, "count?"), max_tokens=(max_tokens, "count"), cancel=(cancel, "cancel?"))
    if max_tokens < 0:
        raise ArgumentError(f"max_tokens cannot be negative: {max_tokens}")
    try:
        guide = self.guide(max_tokens=max_tokens)
    except BudgetError as error:
        raise of_program(error) from None
    random_walk(guide, random.Random(seed), max_tokens // 2, max_tokens + 1, cancel)
    stops = set(self.vocabulary.eos_token_ids)
    tokens = guide.tokens
    return tokens[:-1] if tokens and tokens[-1] in stops else tokens


def _with_remedies(name: str, ask: Callable[..., Any]) -> Callable[..., Any]:
    """A question of the core. Where it has no answer, the program that asks is at fault, and not the client that sent
    the source, which was compiled.
    """

    @functools.wraps(ask)
    def asked(self: Index, /, *args: Any, **options: Any) -> Any:
        try:
            return ask(self, *args, **options)
        except (LimitError, UnsupportedError, UnsatisfiableError) as error:
            way = ""
            if name == "random_member":
                is_short = isinstance(error, UnsatisfiableError)
                way = "give a larger max_bytes" if is_short else "Index.sample() draws from every index, by its masks"
            known = error.hint
            error.args = (without_hint(error), *error.args[1:])
            hint = "; ".join(part for part in (known, way) if part)
            raise of_program(with_hint(error, hint) if hint else error) from None

    return asked


def attach() -> None:
    """Put the functions of this file into ``Index``, as the stubs say."""
    for name in _QUESTIONS:
        setattr(Index, name, _with_remedies(name, getattr(Index, name)))
    sample.__qualname__ = "Index.sample"
    Index.sample = sample  # type: ignore[method-assign]
