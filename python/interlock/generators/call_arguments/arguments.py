"""Arguments of a call of a generator, checked before anything is asked of a model."""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, get_origin

from interlock._core import ArgumentError
from interlock.generators.call_arguments.sampling_options import check_sampling
from interlock.output_types.python_types.type_names import name_of
from interlock.util.near_words import SLIP, meant, nearest
from interlock.util.quoting import quoted

__all__ = [
    "DEFAULT_MAX_TOKENS",
    "MISSING",
    "OTHER_METHODS",
    "Message",
    "Prompt",
    "as_messages",
    "check_max_tokens",
    "check_options",
    "check_prompt",
    "is_batch",
    "refuse_more",
    "refuse_of_calls",
]

DEFAULT_MAX_TOKENS = 512
"""The budget of a call that names none."""


class _Missing:
    """In signatures, ``help`` shows it for an argument that has to be passed."""

    def __repr__(self) -> str:
        return "<missing>"


MISSING: Any = _Missing()
"""In the place of a prompt that was not passed."""

Message = Mapping[str, Any]
"""A turn of a chat: ``{"role": "user", "content": "..."}``."""

Prompt = str | Sequence[Message]
"""A text, or the turns of a chat."""

ROLES = ("system", "user", "assistant", "tool", "developer", "model", "function", "tools")
"""Roles that chat templates have."""

_ROLES_OF_PAIRS = ("system", "user", "assistant", "human", "ai")

# Names that other packages give to what has another name here.
OTHER_NAMES = {
    "max_new_tokens": "max_tokens",
    "max_length": "max_tokens",
    "max_completion_tokens": "max_tokens",
    "n_predict": "max_tokens",
    "response_model": "output_type",
    "response_format": "output_type",
    "type": "output_type",
    "schema": "output_type",
    "json_schema": "output_type",
    "regex": "re.compile(...) as the output_type",
    "pattern": "re.compile(...) as the output_type",
    "choices": "output_type",
    "guided_json": "output_type",
    "guided_regex": "re.compile(...) as the output_type",
    "guided_choice": "output_type",
    "temp": "temperature",
    "messages": "prompt",
}
_OWN = ("max_tokens", "stream", "errors", "output_type", "seed", "chat", "describe", "on_tight", "on_unsupported",
        "attempts", "context", "details")  # fmt: skip
# What becomes of values: streams and traces have none of these.
_OF_CALLS = ("attempts", "details", "errors", "stream")
_LISTS = ("logits_processor", "logits_processors", "stopping_criteria")
# Names for how many answers there are to one prompt.
_SEVERAL = ("num_return_sequences", "n")
# What is said elsewhere than in a call, and where.
_ELSEWHERE = {
    "whitespace": "blanks of JSON are an option of a generator and of its calls, gen(prompt, User, "
    "whitespace='compact'), where the model is in this process. A server chooses its own",
    "syntax": "the notation belongs to the grammar: interlock.Grammar(text, syntax='gbnf')",
    "limits": "limits belong to an index: pass gen(prompt, Index.from_type(output_type, gen.vocabulary, limits=...))",
    "property_order": "an option of an index: pass Index.from_json_schema(schema, gen.vocabulary, property_order=...)",
    "documents": 'a schema brings its documents along: put each under "$defs" of the schema, with its URI as its "$id"',
    "sampler": "its parts are options of a call: temperature, top_p, top_k, min_p",
    "do_sample": "temperature=0 is greedy search, and a temperature above it samples",
    "grammar": "a grammar is an output type: gen(prompt, interlock.Grammar(text))",
    "trace": "gen.trace(prompt, output_type) returns the value with each token's reasons",
    "system": "what the system says is a message: pass "
    '[{"role": "system", "content": "..."}, {"role": "user", "content": "..."}]',
    "on_tight": "a server does not end a value in time: what its budget cuts is an InvalidOutputError",
    "max_retries": "attempts=3 asks again, twice at most, where a value is refused",
    **dict.fromkeys(
        ("logprobs", "top_logprobs", "return_logprobs", "output_scores", "output_logits"),
        "gen.trace(prompt, output_type).steps has the probability of each token and of others, and details=True of a "
        "call its tokens and their number; with transformers logprobs=True adds their log-probabilities",
    ),
    "tools": "gen.tool_loop(prompt, tools) runs functions that a model in this process calls",
}
_STOP = (
    "texts that end free text belong to a call that returns it, gen(prompt, str, stop=...), and to a part of a program"
)


# Methods of other packages' objects, and how the same is said here.
OTHER_METHODS = {
    **dict.fromkeys(
        ("generate", "complete", "create", "invoke", "predict", "run", "chat", "ask"),
        "a generator is called, gen(prompt, output_type)",
    ),
    **dict.fromkeys(
        ("json", "choice", "regex", "text", "cfg", "format", "structured", "select"),
        "the output type says it, gen(prompt, output_type): a class, a list of texts, re.compile(...), Grammar(...)",
    ),
    "generate_stream": "pass stream=True, or call gen.stream(prompt, output_type)",
    "astream": "async for reads gen.stream(prompt, output_type)",
    # Only asked for where the model is elsewhere.
    "trace": "a trace needs the model in this process, which from_transformers, from_llama_cpp and from_mlx_lm have",
    **dict.fromkeys(
        ("tool_loop", "atool_loop"),
        "a tool loop needs the model in this process, which from_transformers, from_llama_cpp and from_mlx_lm have; a "
        "server's client takes tools itself",
    ),
    "program": "a program needs the model in this process: from_transformers, from_llama_cpp or from_mlx_lm",
    **dict.fromkeys(
        ("vocabulary", "index", "warm_up", "cached_model"),
        "the server makes the masks; for masks in this process, interlock.Vocabulary.from_tokenizer(tokenizer)",
    ),
}


def check_options(
    options: Mapping[str, Any],
    known: Collection[str],
    backend: str,
    *,
    elsewhere: Mapping[str, str] = {},
    is_open: bool = False,
) -> None:
    """``ArgumentError`` for an option that the backend does not have, with the name that is probably meant, and for a
    value of an option of sampling that is out of range.

    ``elsewhere`` says of names where they belong. ``is_open`` takes any name that is not nearly a known one: the
    backend may know it.
    """
    for name in options:
        if name in _SEVERAL:
            raise ArgumentError(
                f"there is no option {name!r}, since each prompt has one value: for several values of one prompt pass "
                "it several times, gen([prompt] * 4, output_type, temperature=0.8), which returns a list"
            )
        other = OTHER_NAMES.get(name)
        if other is not None and (other != "temperature" or name not in known):
            raise ArgumentError(f"{name!r} has another name here: pass {other}")
        if name not in known:
            if name == "on_tight" and backend == "a program":
                raise ArgumentError(
                    "a program takes no on_tight: it warns (TightBudgetWarning) where max_tokens ended a part, and "
                    "warnings.simplefilter('error', interlock.TightBudgetWarning) makes that an error"
                )
            if name in _ELSEWHERE:
                raise ArgumentError(f"a call has no option {name!r}: {_ELSEWHERE[name]}")
            if name in elsewhere:
                raise ArgumentError(f"{backend} has no option {name!r}: {elsewhere[name]}")
            if name in ("stop", "stop_strings", "stop_sequences", "stop_at"):
                raise ArgumentError(f"{backend} has no option {name!r}: {_STOP}")
            if name in _OWN:
                raise ArgumentError(f"{backend} has no option {name!r}: it belongs to a call that returns a value")
            hint = meant(name, [*known, *_OWN], 0.8 if is_open else SLIP)
            if is_open and not hint:
                continue
            raise ArgumentError(f"{backend} has no option {name!r}{hint}")
        _check_list(name, options[name])
    check_sampling(options)


def _check_list(name: str, value: Any) -> None:
    """``ArgumentError`` for a function where a list of functions is needed."""
    if name in _LISTS and value is not None and not isinstance(value, list | tuple):
        raise ArgumentError(f"{name} is a list, not {_kind(value)}: write it in brackets, {name}=[...]")


def check_prompt(prompt: Any, options: Mapping[str, Any]) -> None:
    """``ArgumentError`` for a call without a prompt; ``options`` may have it under another name."""
    if isinstance(prompt, str):
        _check_unicode(prompt)
    if prompt is not MISSING:
        return
    named = next((name for name in ("messages", "text", "input", "inputs", "prompts") if name in options), None)
    if named is None:
        raise ArgumentError("the prompt is missing: the first argument is a text or a list of messages")
    raise ArgumentError(
        f"{named!r} has another name here: the first argument, prompt, takes a text or a list of messages, "
        f"as in gen({named}, output_type)"
    )


def _check_unicode(text: str) -> None:
    """``ArgumentError`` for half of a surrogate pair, which no tokenizer reads."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ArgumentError(
            f"the prompt is no Unicode text: character {error.start} is {text[error.start]!a}, half of a surrogate "
            "pair. text.encode('utf-8', 'replace').decode() puts a question mark in its place"
        ) from None


def refuse_more(output_type: Any, more: Sequence[Any]) -> None:
    """``ArgumentError`` for arguments behind the output type: two types, or a budget without its name."""
    if not more:
        return
    if isinstance(more[0], int) and not isinstance(more[0], bool):
        raise ArgumentError(f"max_tokens is passed by name: write max_tokens={more[0]}")
    if isinstance(more[0], type) or get_origin(more[0]) is not None:
        names = [name_of(one) for one in (output_type, *more)]
        raise ArgumentError(
            f"{len(names)} output types: write {' | '.join(names)}, or tuple[{', '.join(names)}] for all"
        )
    raise ArgumentError(
        f"a call has two arguments without a name, prompt and output type, and {quoted(more[0])} comes behind them: "
        "pass it by its name"
    )


def refuse_of_calls(options: dict[str, Any], what: str) -> None:
    """``ArgumentError`` for options that only calls have which return a value; ``what`` is a stream or a trace.
    ``None`` stands for the default, and is taken out of ``options``.
    """
    for name in _OF_CALLS:
        if options.pop(name, None) is not None:
            way = "; stream.details is the same at the end" if (name, what) == ("details", "a stream") else ""
            raise ArgumentError(f"{what} has no option {name!r}: it belongs to a call that returns a value{way}")


def check_max_tokens(max_tokens: Any) -> int:
    """The budget; ``TypeError`` for what is no ``int``, ``ArgumentError`` for one that is not positive."""
    if isinstance(max_tokens, bool) or not hasattr(max_tokens, "__index__"):
        raise TypeError(f"max_tokens must be an int, a number of tokens, not {type(max_tokens).__name__}")
    number: int = operator.index(max_tokens)
    if number < 1:
        raise ArgumentError(
            f"max_tokens is the most tokens that an output may have, at least 1, not {quoted(max_tokens)}"
        )
    return number


def is_batch(prompt: Any) -> bool:
    """Whether ``prompt`` is a list of prompts. ``ArgumentError`` for what is no prompt at all."""
    if isinstance(prompt, str):
        return False
    first: Any = prompt[0] if isinstance(prompt, list) and prompt else prompt
    if _is_pair(first):
        raise ArgumentError(f'a message is a dict, not a pair: write [{{"role": {first[0]!r}, "content": "..."}}]')
    if isinstance(prompt, Mapping) and "role" in prompt:
        raise ArgumentError("a chat is a list of messages, and this is a single one: write it in brackets, [message]")
    if isinstance(prompt, Iterable) and not isinstance(prompt, type | bytes | Mapping | Sequence):
        if "int" in str(getattr(prompt, "dtype", "")):
            raise ArgumentError(
                f"a prompt is a text or a list of messages, and token ids are not taken, as here in {_kind(prompt)}: "
                "pass the text, or tokenizer.decode(ids)"
            )
        way = "prompts.tolist()" if hasattr(prompt, "tolist") else "list(prompts)"
        raise ArgumentError(f"prompts are a list, whose values have an order, and not {_kind(prompt)}: pass {way}")
    if isinstance(prompt, type) or isinstance(prompt, bytes) or not isinstance(prompt, Sequence):
        raise ArgumentError(
            f"a prompt is a text or a list of messages, not {_kind(prompt)}: the prompt comes first, then the output "
            "type"
        )
    if not prompt or isinstance(prompt[0], Mapping):
        return not prompt
    for i, one in enumerate(prompt):
        try:
            is_list = is_batch(one)
        except ArgumentError as error:
            error.args = (f"prompt {i} of the batch: {error}",)
            raise
        if is_list:
            raise ArgumentError("a list of prompts holds texts and lists of messages, and no further lists")
    return True


def _is_pair(value: Any) -> bool:
    """Whether a value is a message as some packages write it, ``("user", "...")``."""
    return isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str) and value[0] in _ROLES_OF_PAIRS


def as_messages(prompt: Prompt) -> list[dict[str, Any]]:
    """The turns of a chat; a text is what the user says. ``ArgumentError`` for a turn without role or content."""
    if isinstance(prompt, str):
        return [{"role": "user", "content": prompt}]
    made: list[dict[str, Any]] = []
    for i, message in enumerate(prompt):
        if not isinstance(message, Mapping):
            raise ArgumentError(f"message {i} is a dict with role and content, not {_kind(message)}")
        if "role" not in message or not ({"content", "tool_calls"} & set(message)):
            raise ArgumentError(
                f'message {i} has the keys {list(message)}: a message is {{"role": "user", "content": "..."}}'
            )
        _check_role(i, message["role"])
        if message.get("content") is None and "tool_calls" not in message:
            raise ArgumentError(f"the content of message {i} is None: a message without tool calls has a text")
        made.append(dict(message))
    return made


def _check_role(i: int, role: Any) -> None:
    """``ArgumentError`` for a slip of a usual role. Chat templates have other roles too, and leave out in silence what
    they do not know.
    """
    if not isinstance(role, str):
        raise ArgumentError(f"the role of message {i} is a str, not {_kind(role)}")
    if role in ROLES:
        return
    if near := nearest(role, ROLES, 0.75):
        raise ArgumentError(f"message {i} has the role {quoted(role)}: did you mean {near!r}?")


def _kind(value: Any) -> str:
    return f"the type {value.__name__}" if isinstance(value, type) else type(value).__name__
