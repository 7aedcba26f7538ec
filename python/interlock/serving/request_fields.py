"""The fields of a request's body that say how many outputs it has, how long they may be and where they end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from interlock._core import Vocabulary
from interlock.tools.errors import RequestError
from interlock.tools.requests.unsupported_fields import plain
from interlock.tools.spec.fields import is_unicode, kind_of
from interlock.util.json_pointer import escaped
from interlock.util.near_words import nearest
from interlock.util.plurals import counted

__all__ = [
    "AboveMost",
    "Ending",
    "budget_field",
    "check_number_of_tools",
    "check_switches",
    "ending_of",
    "is_the_clients",
    "number_of_outputs",
    "refuse_grammars",
    "said_of_budget",
]

AboveMost: TypeAlias = Literal["lower", "error"]
"""What becomes of a number of tokens that is above the server's."""

_BUDGETS = ("max_completion_tokens", "max_output_tokens", "max_tokens")
"""OpenAI's newer name, that of its Responses API, and the older name: of several the first one counts."""

_BUDGETS_ELSEWHERE = {
    "max_new_tokens": "TGI's and SGLang's",
    "max_tokens_to_sample": "Anthropic's older",
    "max_gen_toks": "lm-eval's",
    "num_predict": "Ollama's",
    "n_predict": "llama.cpp's",
    "max_length": "transformers'",
}
"""What other interfaces call the number, and whose name it is."""
_LIKE = 0.9
"""How like the name of the number a field is (``interlock.util.near_words``) that is taken for a slip of it."""

_MOST_STOP = 16_384
"""Characters of all stop texts: what looks for them is built for each request."""


@dataclass(frozen=True)
class Ending:
    """How long an output may be and where it ends, as a request says it."""

    max_tokens: int
    asked_max_tokens: int | None
    """The number in the body, which may be above ``max_tokens``."""
    min_tokens: int
    stop: tuple[str, ...]
    stop_token_ids: tuple[int, ...]


def budget_field(body: Any) -> str:
    """What a request calls its number of tokens; ``"max_tokens"`` where it has none.

    >>> budget_field({"max_tokens": None, "max_output_tokens": 5})
    'max_output_tokens'
    """
    given = (name for name in _BUDGETS if isinstance(body, Mapping) and body.get(name) is not None)
    return next(given, "max_tokens")


def is_the_clients(body: Any, most: int) -> bool:
    """Whether the number of tokens that counts is the one in the body, and not the server's.

    >>> is_the_clients({"max_tokens": 5}, 9), is_the_clients({"max_tokens": 50}, 9), is_the_clients({}, 9)
    (True, False, False)
    """
    asked = body.get(budget_field(body)) if isinstance(body, Mapping) else None
    return isinstance(asked, int) and asked <= most


def said_of_budget(message: str, name: str, body: Any, most: int) -> str:
    """The message of a ``BudgetError``, with a word where its number is the server's and not the client's.

    >>> said_of_budget("max_tokens is 9, but it needs 12", "max_tokens", {}, 9)
    'max_tokens is at most 9 on this server, but it needs 12'
    """
    if is_the_clients(body, most):
        return message
    return message.replace(f"{name} is {most}", f"{name} is at most {most} on this server", 1)


def ending_of(body: Mapping[str, Any], vocabulary: Vocabulary, most: int, above: AboveMost = "lower") -> Ending:
    """The fields ``max_tokens`` and its other names, ``min_tokens``, ``stop`` and ``stop_token_ids``. ``null`` is the
    same as nothing. Of ``max_completion_tokens``, ``max_output_tokens`` and ``max_tokens`` the first one that is given
    counts. A number of tokens above ``most`` is ``most``, or an error with ``above="error"``.

    ``RequestError`` for another type, a number out of range, an empty text, an id outside the vocabulary, and for a
    number of tokens under the name of another interface, or a misspelt one, which would be lost.

    >>> from interlock.explain import byte_vocabulary
    >>> ending_of({"max_tokens": 500, "stop": "###"}, byte_vocabulary(), 100)
    Ending(max_tokens=100, asked_max_tokens=500, min_tokens=0, stop=('###',), stop_token_ids=())
    """
    name = budget_field(body)
    _refuse_other_budgets(body)
    for other in _BUDGETS:
        _number(body, other, 1)  # What does not count is a number, too.
    asked = _number(body, name, 1, most if above == "error" else None)
    max_tokens = most if asked is None else min(asked, most)
    min_tokens = _number(body, "min_tokens", 0) or 0
    if min_tokens > max_tokens:
        raise RequestError(f"min_tokens is at most {max_tokens}, the tokens that the output may have", "/min_tokens")
    return Ending(max_tokens, asked, min_tokens, _stop(body.get("stop")), _stop_token_ids(body, vocabulary))


def _refuse_other_budgets(body: Mapping[str, Any]) -> None:
    for name, value in body.items():
        if not isinstance(name, str) or name in _BUDGETS or value is None or not name.startswith(("max", "n")):
            continue
        if name in _BUDGETS_ELSEWHERE:
            raise RequestError(f"this is {_BUDGETS_ELSEWHERE[name]} name: write max_tokens", f"/{name}")
        if meant := nearest(plain(name), _BUDGETS, _LIKE):
            raise RequestError(f"there is no field {name!r}; did you mean {meant!r}?", f"/{escaped(name)}")


def number_of_outputs(body: Mapping[str, Any], most: int) -> int:
    """The field ``n``, 1 where a body has none. ``RequestError`` for what is no number of outputs, for more than
    ``most``, and for a ``best_of`` that is another number: nobody would choose the best ones.

    >>> number_of_outputs({"n": 2}, 8), number_of_outputs({"n": None, "best_of": 1}, 8)
    (2, 1)
    """
    asked = _number(body, "n", 1, most)
    found = 1 if asked is None else asked
    best_of = body.get("best_of")
    if best_of is not None and (isinstance(best_of, bool) or best_of != found):
        said = f"best_of is the number of outputs, {found}, or left out: no output is chosen among others"
        raise RequestError(said, "/best_of")
    return found


def check_number_of_tools(body: Mapping[str, Any], most: int) -> None:
    """``RequestError`` for more than ``most`` tools.

    >>> check_number_of_tools({"tools": [{"name": "now"}]}, 1)
    """
    tools = body.get("tools")
    if isinstance(tools, list | tuple) and len(tools) > most:
        raise RequestError(f"a request has at most {counted(most, 'tool')}, not {len(tools)}", "/tools")


def check_switches(body: Mapping[str, Any]) -> None:
    """``RequestError`` where ``stream``, ``include_usage`` of ``stream_options`` or ``parallel_tool_calls`` has another
    type, also where there are no tools.
    """
    options = body.get("stream_options")
    if options is not None and not isinstance(options, Mapping):
        raise RequestError(f"stream_options is an object, not {kind_of(options)}", "/stream_options")
    for fields, name, place in (
        (body, "parallel_tool_calls", ""),
        (body, "stream", ""),
        (options or {}, "include_usage", "/stream_options"),
    ):
        asked = fields.get(name)
        if asked is not None and not isinstance(asked, bool):
            raise RequestError(f"{name} is true or false, not {kind_of(asked)}", f"{place}/{name}")


def _number(body: Mapping[str, Any], name: str, least: int, most: int | None = None) -> int | None:
    number = body.get(name)
    if number is None:
        return None
    is_number = isinstance(number, int) and not isinstance(number, bool)
    if not is_number or number < least or (most is not None and number > most):
        bounds = f"from {least}" if most is None else f"from {least} to {most}"
        raise RequestError(f"{name} is a whole number {bounds}", f"/{name}")
    return int(number)


def _stop(given: Any) -> tuple[str, ...]:
    if given is None:
        return ()
    if isinstance(given, str):
        texts, places = [given], ["/stop"]
    elif isinstance(given, list | tuple):
        texts, places = list(given), [f"/stop/{at}" for at in range(len(given))]
    else:
        raise RequestError(f"stop is a text or a list of texts, not {kind_of(given)}", "/stop")
    for text, place in zip(texts, places, strict=True):
        if not isinstance(text, str):
            raise RequestError(f"a stop text is a text, not {kind_of(text)}", place)
        if not is_unicode(text):
            raise RequestError("a stop text holds a lone surrogate, which is not text", place)
        if not text:
            raise RequestError("a stop text is not empty: it would end every output at once", place)
    if (length := sum(map(len, texts))) > _MOST_STOP:
        raise RequestError(f"stop has at most {_MOST_STOP} characters in all, not {length}", "/stop")
    return tuple(texts)


def refuse_grammars(kind: str, place: str, *sources: Any) -> None:
    """``RequestError`` if a request has a grammar: as its form, or inside of a structural tag or a custom tool.

    >>> refuse_grammars("regex", "/guided_regex", {"type": "regex"}, None)
    >>> refuse_grammars("tools", "/tools", None, [{"type": "custom", "format": {"type": "grammar", "syntax": "lark"}}])
    Traceback (most recent call last):
      ...
    interlock.RequestError: at /tools: this server takes no grammars: send a JSON Schema, a pattern or choices
    """
    if kind == "grammar" or any(_has_grammar(source) for source in sources):
        raise RequestError("this server takes no grammars: send a JSON Schema, a pattern or choices", place)


def _has_grammar(source: Any) -> bool:
    open_parts = [source]
    while open_parts:
        part = open_parts.pop()
        if isinstance(part, Mapping):
            if part.get("type") in ("grammar", "ebnf", "lark") and not {"properties", "items"} & part.keys():
                return True
            open_parts.extend(part.values())
        elif isinstance(part, list | tuple):
            open_parts.extend(part)
    return False


def _stop_token_ids(body: Mapping[str, Any], vocabulary: Vocabulary) -> tuple[int, ...]:
    given = body.get("stop_token_ids")
    if given is None:
        return ()
    if not isinstance(given, list | tuple):
        raise RequestError(f"stop_token_ids are a list of token ids, not {kind_of(given)}", "/stop_token_ids")
    for at, token in enumerate(given):
        if not isinstance(token, int) or isinstance(token, bool) or not 0 <= token < len(vocabulary):
            raise RequestError(f"a token id is a whole number from 0 to {len(vocabulary) - 1}", f"/stop_token_ids/{at}")
    return tuple(given)
