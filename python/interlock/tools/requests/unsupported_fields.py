"""Fields of a request's body that mean a constraint, and that nobody here would read.

A body has fields of many kinds, and a server leaves alone what it does not know. A constraint must not be lost that
way: the client would get an output that nothing held to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from interlock.tools.errors import RequestError
from interlock.util.json_pointer import escaped
from interlock.util.near_words import nearest

__all__ = ["plain", "refuse_slips", "refuse_unsupported_fields"]

_LIKE = 0.8
"""How like the name of a constraint a field is (``interlock.util.near_words``) that is taken for a slip of it."""
_MOST_FIELDS = 1_000
"""Fields of an object that is looked through for slips. Each takes up to a tenth of a millisecond."""
_SCHEMA = 'write "response_format": {"type": "json_schema", "json_schema": {"name": …, "schema": …}}'
_TOOLS = 'write "tools": [{"type": "function", "function": …}]'
_ANY_OBJECT = 'write "response_format": {"type": "json_object"}'
_OF_TRT = f'this is TensorRT-LLM\'s field: {_SCHEMA}, or "structured_outputs" with "regex" or "grammar"'
_BESIDE_JSON = 'write it into "structured_outputs", beside "json"'
_BESIDE_GUIDED = 'beside "guided_json" this is called "guided_whitespace_pattern"'
_ELSEWHERE = {
    "format": f"this is Ollama's field: {_SCHEMA}",
    "output_format": f"this is Anthropic's field: {_SCHEMA}",
    "output_schema": _SCHEMA,
    "response_schema": f"this is Gemini's field: {_SCHEMA}",
    "response_mime_type": f"this is Gemini's field: {_ANY_OBJECT}",
    "schema": _SCHEMA,
    "json": 'write "guided_json", or "response_format"',
    "choice": 'write "guided_choice"',
    "guided_decoding": 'write "structured_outputs"',
    "guided_decoding_params": _OF_TRT,
    "guided_decoding_guide": _OF_TRT,
    "guided_decoding_guide_type": _OF_TRT,
    "structural_tag": 'write "response_format": {"type": "structural_tag", "format": …}',
    "disable_additional_properties": _BESIDE_JSON,
    "disable_any_whitespace": _BESIDE_JSON,
    "whitespace_pattern": _BESIDE_JSON,
    "json_mode": _ANY_OBJECT,
    "json_object": _ANY_OBJECT,
    "tool_config": f'this is a field of Gemini and Bedrock: {_TOOLS} and "tool_choice"',
    "functions": f"this is the older name of tools: {_TOOLS}",
    "function_call": 'this is the older name of tool_choice: write "tool_choice"',
}
"""Constraints of other interfaces, and what to write in their place."""
_OF_VLLM = "guided_"
"""How the names of vLLM's older constraints begin."""
_ANY_TEXT = "text/plain"
"""The ``response_mime_type`` that asks for nothing."""
_NOTHING = {"function_call": ("auto", "none"), "response_mime_type": (_ANY_TEXT,)}
"""Values of these fields that ask for nothing."""
_INTO_THE_BODY = "write {lost!r} into the body"
_OF_A_BATCH = "this looks like a line of a batch file, whose request is in {name!r}: send, or pass, what {name!r} holds"
_HOLDERS = {
    "extra_body": f"OpenAI's Python client puts what is in extra_body into the body itself: {_INTO_THE_BODY}",
    "nvext": f"nvext is not read here: {_INTO_THE_BODY}",
    "sampling_params": f"sampling_params are not read here: {_INTO_THE_BODY}",
    "body": _OF_A_BATCH,  # OpenAI's
    "params": _OF_A_BATCH,  # Anthropic's
}
"""Objects in which a constraint is lost, and what to do."""
_OF_GEMINI = ("response_schema", "response_json_schema", "response_format", "response_mime_type", "tool_config")
_CONFIGS = {
    "generation_config": ("Gemini's", _OF_GEMINI),
    "config": ("Gemini's", _OF_GEMINI),
    "output_config": ("Anthropic's", ("format", "schema")),
    "parameters": ("TGI's", ("grammar", "response_format")),
}
"""Objects of other interfaces: whose they are, and which of their fields are constraints."""
_SCHEMAS = frozenset(
    "format guided_json json json_schema output_schema response_format response_json_schema response_schema "
    "schema".split()
)
"""Fields that may hold a JSON Schema, where an empty object is the schema of any value."""
_SWITCH = "parallel_tool_calls"
"""The one field that asks for something where it is false."""
_TOOL_FIELDS = ("tools", "tool_choice", "parallel_tool_calls")
_ORDINARY = ("tool_calls", "stop", "text", "tool_call_id", "parse_tool_calls")
"""Fields that are no slip, however like a constraint they look."""


def refuse_unsupported_fields(body: Mapping[Any, Any], constraints: Iterable[str], place: str = "") -> None:
    """``RequestError`` for a constraint in a field that is not one of ``constraints``. ``place`` is that of ``body``.

    >>> for body in ({"guided_jsn": True}, {"temperature": 1, "format": "json"}, {"function_call": "none"}):
    ...     try:
    ...         refuse_unsupported_fields(body, ["guided_json", "response_format"])
    ...     except RequestError as error:
    ...         print(str(error)[:60])
    at /guided_jsn: there is no field 'guided_jsn'; did you mean
    at /format: this is Ollama's field: write "response_format":
    """
    known = (*constraints, *_TOOL_FIELDS)
    _check_number(body, place)
    _refuse_foreign(body, known, place)
    for name, way in _HOLDERS.items():
        if isinstance(inner := body.get(name), Mapping):
            _check_number(inner, f"{place}/{name}")
            lost = next((key for key in inner if _is_lost(key, inner, known)), None)
            if lost is not None:
                raise RequestError(way.format(name=name, lost=lost), f"{place}/{name}/{escaped(lost)}")
            _refuse_foreign(inner, known, f"{place}/{name}")
    refuse_slips(body, known, place)
    _refuse_unknown_guided(body, known, place)


def _refuse_unknown_guided(body: Mapping[Any, Any], known: Iterable[str], place: str) -> None:
    """``RequestError`` for a field that asks for a constraint by vLLM's prefix, and that nobody knows."""
    for name, value in body.items():
        if isinstance(name, str) and name.startswith(_OF_VLLM) and name not in known and _asks(name, value):
            fields = ", ".join(field for field in known if field.startswith(_OF_VLLM))
            raise RequestError(f"there is no field {name!r}; there are {fields}", f"{place}/{escaped(name)}")


def _refuse_foreign(body: Mapping[Any, Any], known: Iterable[str], place: str) -> None:
    """``RequestError`` for a constraint in a field of another interface."""
    for name, value in body.items():
        if name in known or not isinstance(name, str):
            continue
        ours, pointer = plain(name), f"{place}/{escaped(name)}"
        if not _asks(ours, value):
            continue
        if ours in _ELSEWHERE and value not in _NOTHING.get(ours, ()):
            if ours == "whitespace_pattern" and body.get("guided_json") is not None:
                raise RequestError(_BESIDE_GUIDED, pointer)
            raise RequestError(_ELSEWHERE[ours], pointer)
        if ours in _CONFIGS and isinstance(value, Mapping):
            _check_number(value, pointer)
            whose, theirs = _CONFIGS[ours]
            lost = next((key for key in value if value[key] != _ANY_TEXT and _is_lost(key, value, theirs)), None)
            if lost is not None:
                way = _ELSEWHERE["tool_config"] if plain(lost) == "tool_config" else f"this is {whose} field: {_SCHEMA}"
                raise RequestError(way, f"{pointer}/{escaped(lost)}")


def refuse_slips(fields: Mapping[Any, Any], known: Iterable[str], pointer: str) -> None:
    """``RequestError`` for a field that is none of ``known``, and looks like a slip of one, and for an object of more
    fields than are looked through.
    """
    known = tuple(known)
    _check_number(fields, pointer)
    for name in fields:
        if name not in known and _is_lost(name, fields, known):
            meant = _means(name, known)
            raise RequestError(f"there is no field {name!r}; did you mean {meant!r}?", f"{pointer}/{escaped(name)}")


def _check_number(fields: Mapping[Any, Any], pointer: str) -> None:
    if len(fields) > _MOST_FIELDS:
        # A body has no name: the place is the first field that is one too many.
        first = next(islice(fields, _MOST_FIELDS, None))
        said = f"an object has at most {_MOST_FIELDS:,} fields here, not {len(fields):,}"
        raise RequestError(said, f"{pointer}/{escaped(str(first))}")


def _is_lost(name: Any, fields: Mapping[Any, Any], constraints: Iterable[str]) -> bool:
    """Whether the field ``name`` asks for something, and is one of ``constraints`` or a slip of one."""
    meant = _means(name, constraints)
    return bool(meant) and (_asks(meant, fields[name]) or fields[name] is False and meant == _SWITCH)


def _asks(name: str, value: Any) -> bool:
    """Whether the field ``name`` asks for something: clients write out what they do not use as ``null``, ``false`` or
    empty. So does an object of which no field asks for anything, unless it may be a schema.
    """
    if name == "structural_tag" and value:  # Whatever it holds, it is no tag that may be left out.
        return True
    todo = [(name, value)]
    seen: set[int] = set()  # An object of a program may hold itself.
    for inside, held in todo:
        if id(held) in seen:
            continue
        if isinstance(held, Mapping) and inside not in _SCHEMAS:
            seen.add(id(held))
            todo += [(plain(str(key)), inner) for key, inner in held.items()]
        elif held is not None and held is not False and held not in ("", []):
            return True
    return False


def _means(name: Any, known: Iterable[str]) -> str:
    """The constraint that a name is or is a slip of; empty if it is neither."""
    if not isinstance(name, str) or name in _ORDINARY:
        return ""
    return nearest(plain(name), known, _LIKE)


def plain(name: str) -> str:
    """``name`` as the fields are written here.

    >>> plain("responseFormat"), plain("response-format")
    ('response_format', 'response_format')
    """
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in name).replace("-", "_")
