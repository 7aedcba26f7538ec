"""JSON texts back to values of pydantic, with the digits that the model wrote.

pydantic reads a number of JSON through ``float``, so ``7.50`` would become ``Decimal("7.5")``, and digits behind the
seventeenth would be lost. A string it reads digit by digit. So numbers in the place of a ``Decimal`` are put into
quotes first.
"""

from __future__ import annotations

import contextvars
import decimal
import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from pydantic import TypeAdapter, ValidationError

from interlock.output_types.errors import InvalidOutputError, raised_by_class
from interlock.output_types.python_types.field_places import parts_of_core_schema
from interlock.util.json_pointer import escaped

__all__ = ["parser_of", "with_context"]

_context: contextvars.ContextVar[Any] = contextvars.ContextVar("interlock_validation_context", default=None)

# The core schemas that pydantic passes in are plain dicts.
_CoreSchema = Any
# What reads the value that another schema describes, and where that schema stands in it. A validator that runs before
# pydantic's own is none of them: it is called with the number that it expects.
_AROUND = {
    "nullable": "schema",
    "default": "schema",
    "function-after": "schema",
    "model": "schema",
    "dataclass": "schema",
    "model-field": "schema",
    "dataclass-field": "schema",
    "typed-dict-field": "schema",
    "call": "arguments_schema",
    "json-or-python": "json_schema",
}
_OBJECTS = ("model-fields", "typed-dict", "dataclass-args", "named-tuple", "arguments")
_LISTS = ("list", "set", "frozenset")
# Members of a union that read no string with a number in it.
_READ_NO_NUMBER = frozenset(("none", "bool", "dict", "tuple", *_OBJECTS, *_LISTS))
_KNOWN = _READ_NO_NUMBER | set("int float decimal str literal enum date datetime time timedelta uuid url".split())
_STRING_OR_NUMBER = re.compile(r'"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*')


def parser_of(adapter: TypeAdapter[Any], name: str) -> Callable[[str], Any]:
    """From JSON to a value. ``InvalidOutputError`` if a validator of the class refuses it."""
    has_decimals = any(part.get("type") == "decimal" for part in parts_of_core_schema(adapter.core_schema))

    def parse(text: str) -> Any:
        exact = _with_quoted_decimals(text, adapter.core_schema) if has_decimals else text
        try:
            return adapter.validate_json(exact, context=_context.get())
        except ValidationError as error:
            first = error
        except Exception as error:
            raise raised_by_class(error, name, text) from error
        try:
            again = _with_plain_integers(exact)
            if again is not None:
                return adapter.validate_json(again, context=_context.get())
        except ValueError:
            pass
        except Exception as error:
            raise raised_by_class(error, name, text) from error
        problems = first.errors()
        said = "; ".join(f"{'.'.join(map(str, one['loc'])) or 'the value'}: {one['msg']}" for one in problems)
        refused = InvalidOutputError(f"the text that was generated is no {name}: {said}", text)
        # Where the first of them stands in the output.
        steps = problems[0]["loc"] if problems else ()
        refused.pointer = "".join("/" + escaped(step) for step in steps)
        raise refused from first

    return parse


def with_context(parse: Callable[[str], Any], context: Any) -> Callable[[str], Any]:
    """``parse``, a function of ``parser_of`` or one that calls such a function, with what validators of the class find
    as ``info.context``.
    """

    def parse_within(text: str) -> Any:
        before = _context.set(context)
        try:
            return parse(text)
        finally:
            _context.reset(before)

    return parse_within


def _with_plain_integers(text: str) -> str | None:
    """``text`` with ``5.0`` as ``5``: a strict int refuses what is an integer in JSON Schema. ``None`` if it has no
    such number: validators are not called again for the same values."""
    integers = []

    def shortest(literal: str) -> int | float:
        exact = decimal.Decimal(literal)
        if exact != exact.to_integral_value() or exact.adjusted() >= 400:
            return float(literal)
        integers.append(literal)
        return int(exact)

    document = json.loads(text, parse_float=shortest)
    return json.dumps(document) if integers else None


class _Number(int):
    """In the place of a number with a point or an exponent: how many such numbers stand in front of it."""

    __slots__ = ()


def _with_quoted_decimals(text: str, core_schema: _CoreSchema) -> str:
    """``text`` with the numbers that become a ``Decimal`` in quotes; ``text`` itself if it is no JSON."""
    found = itertools.count()
    try:
        document = json.loads(text, parse_float=lambda literal: _Number(next(found)))
        decimals = _decimals(core_schema, document, {})
    except (ValueError, RecursionError):
        return text
    numbers = itertools.count()

    def quoted(part: re.Match[str]) -> str:
        is_string, literal = part[0][0] == '"', part[0]
        if is_string or literal.lstrip("-").isdigit() or next(numbers) not in decimals:
            return literal
        return f'"{literal}"'

    return _STRING_OR_NUMBER.sub(quoted, text) if decimals else text


def _decimals(schema: _CoreSchema, value: Any, definitions: Mapping[str, _CoreSchema]) -> frozenset[int]:
    """Which numbers of ``value``, which ``schema`` reads, become a ``Decimal``; none of which that is open."""
    if not isinstance(value, _Number | dict | list):
        return frozenset()
    schema, definitions = _inner(schema, definitions)
    kind = schema.get("type")
    if kind == "decimal":
        return frozenset((int(value),) if isinstance(value, _Number) else ())
    if kind in ("union", "tagged-union"):
        return _decimals_of_union(schema, value, definitions)
    pairs: Iterable[tuple[_CoreSchema, Any]] = ()
    if isinstance(value, dict) and kind in _OBJECTS:
        fields = dict(_fields(schema))
        pairs = ((fields[name], one) for name, one in value.items() if name in fields)
    elif isinstance(value, dict) and kind == "dict":
        pairs = ((schema.get("values_schema") or {}, one) for one in value.values())
    elif isinstance(value, list) and kind in _LISTS:
        pairs = ((schema.get("items_schema") or {}, one) for one in value)
    elif isinstance(value, list) and kind == "tuple":
        items = schema["items_schema"]
        pairs = zip(items, value)
        if schema.get("variadic_item_index") is not None:
            pairs = ((items[0], one) for one in value) if len(items) == 1 else ()
    return frozenset().union(*(_decimals(inner, one, definitions) for inner, one in pairs))


def _inner(
    schema: _CoreSchema, definitions: Mapping[str, _CoreSchema]
) -> tuple[_CoreSchema, Mapping[str, _CoreSchema]]:
    """What reads the value itself, behind references and what stands around it, and the definitions there."""
    while True:
        kind = schema.get("type")
        if kind == "definitions":
            definitions = {**definitions, **{part["ref"]: part for part in schema["definitions"]}}
            schema = schema["schema"]
        elif kind == "definition-ref" and schema["schema_ref"] in definitions:
            schema = definitions[schema["schema_ref"]]
        elif kind in _AROUND:
            schema = schema[_AROUND[kind]]
        else:
            return schema, definitions


def _decimals_of_union(schema: _CoreSchema, value: Any, definitions: Mapping[str, _CoreSchema]) -> frozenset[int]:
    """The decimals that all members of a union agree about that may read ``value``."""
    choices = schema["choices"]
    tag = schema.get("discriminator")
    if isinstance(choices, dict) and isinstance(tag, str) and isinstance(value, dict):
        chosen = choices.get(value.get(tag))
        return frozenset() if not isinstance(chosen, dict) else _decimals(chosen, value, definitions)
    members = [
        _inner(one[0] if isinstance(one, tuple) else one, definitions)
        for one in (choices.values() if isinstance(choices, dict) else choices)
        if not isinstance(one, str)
    ]
    kinds = {member.get("type") for member, _ in members}
    if isinstance(value, _Number):
        return frozenset((int(value),) if "decimal" in kinds and kinds <= _READ_NO_NUMBER | {"decimal"} else ())
    shapes = ("dict", *_OBJECTS) if isinstance(value, dict) else ("tuple", *_LISTS)
    read = {
        _decimals(member, value, own)
        for member, own in members
        if member.get("type") in shapes
        if member.get("type") not in _OBJECTS or value.keys() <= dict(_fields(member)).keys()
    }
    return read.pop() if len(read) == 1 and kinds <= _KNOWN else frozenset()


def _fields(schema: _CoreSchema) -> Iterator[tuple[str, _CoreSchema]]:
    """The keys of an object of a class, and what reads their values. A field with an alias has both names here."""
    listed = schema.get("fields", schema.get("arguments_schema"))
    for name, field in listed.items() if isinstance(listed, Mapping) else ((field["name"], field) for field in listed):
        inner = field["schema"]
        yield name, inner
        alias = field.get("validation_alias", field.get("alias"))
        if isinstance(alias, str):
            yield alias, inner
