"""Python's own types to JSON Schema, and JSON back to them, without any package.

Where pydantic is installed it does this work (``pydantic_schema``). This module does it for an installation that has
nothing but NumPy: numbers, strings, ``None``, ``Literal``, ``Enum``, collections, unions, ``Annotated`` bounds,
dataclasses, ``TypedDict``, ``NamedTuple``, and the types of ``datetime``, ``decimal`` and ``uuid``. Objects that come
from classes are closed, and their keys come in the order of the fields.
"""

from __future__ import annotations

import dataclasses
import datetime
import inspect
import json
import math
import sys
import types
import typing
from collections import abc
from collections.abc import Callable, Mapping
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from interlock._core import UnsupportedError
from interlock.output_types.python_types import type_patterns
from interlock.output_types.python_types.field_places import pointer_of_place
from interlock.output_types.python_types.scalars import SCALARS, Mismatch, anything
from interlock.output_types.python_types.type_names import WITHOUT_JSON, name_of
from interlock.output_types.python_types.unresolved_names import unresolved_name
from interlock.util.plurals import counted

__all__ = ["Converter", "json_schema_of"]

Converter = Callable[[Any], Any]
Node = tuple[dict[str, Any], Converter]

_LISTS = (list, abc.Sequence, abc.MutableSequence, abc.Iterable, abc.Collection)
_SETS: dict[Any, Callable[[Any], Any]] = {set: set, abc.Set: set, abc.MutableSet: set, frozenset: frozenset}
_DICTS = (dict, abc.Mapping, abc.MutableMapping)
_BOUNDS = {
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf",
    "pattern": "pattern",
}
_LENGTHS = {"string": "Length", "array": "Items", "object": "Properties"}


def json_schema_of(hint: Any) -> Node:
    """The schema of ``hint``, and what turns a value that follows it into a value of the type.

    The converter raises ``Mismatch`` for a value of another type. ``UnsupportedError`` for a type that JSON cannot
    hold; the message says where in ``hint`` it stands, and what to use instead.
    """
    builder = _Builder()
    schema, convert = builder.node(hint, "")
    if builder.definitions:
        schema = {**schema, "$defs": builder.definitions}
    return schema, convert


def refused_place(hint: Any, is_it: Callable[[Any], bool]) -> tuple[str, str] | None:
    """Where in ``hint`` the type stands that is refused here, if ``is_it`` says so of that type: in words, and the
    JSON Pointer.
    """
    try:
        json_schema_of(hint)
    except UnsupportedError as error:
        refused, place = getattr(error, "_refused", (None, ""))
        if place and is_it(refused):
            return place if place[0] in "[{ " else f".{place}", pointer_of_place(place)
    return None


def is_of_pydantic(error: UnsupportedError) -> bool:
    """Whether the type that an error of ``json_schema_of`` is about is one that pydantic alone reads."""
    refused = getattr(error, "_refused", (None, ""))[0]
    return hasattr(refused, "model_fields") or getattr(refused, "__module__", "").partition(".")[0] == "pydantic"


class _Builder:
    """One schema: classes become definitions, so that they may refer to themselves."""

    def __init__(self) -> None:
        self.definitions: dict[str, Any] = {}
        self._converters: dict[type, Converter] = {}
        self._names: dict[type, str] = {}

    def node(self, hint: Any, place: str) -> Node:
        """Schema and converter of one type."""
        if hint is Any or hint is object:
            return {}, anything
        if hint is None:
            hint = type(None)
        try:
            known = SCALARS.get(hint)
        except TypeError:
            known = None
        if known is not None:
            schema, convert = known
            return dict(schema), convert
        if isinstance(hint, typing.NewType):
            return self.node(hint.__supertype__, place)
        if hasattr(hint, "__value__") and type(hint).__name__ == "TypeAliasType":
            return self.node(hint.__value__, place)
        origin = get_origin(hint)
        if origin is Annotated:
            return self._annotated(hint, place)
        if origin in (typing.Required, typing.NotRequired, typing.Final, typing.ClassVar):
            return self.node(get_args(hint)[0], place)
        if origin is Literal:
            return self._literal(get_args(hint), place)
        if origin in (Union, types.UnionType):
            return self._union(get_args(hint), place)
        made = self._collection(hint, origin or hint, get_args(hint), place)
        if made is not None:
            return made
        if isinstance(hint, type):
            return self._class(hint, place)
        raise self._unsupported(hint, place)

    def _unsupported(self, hint: Any, place: str, why: str = "") -> UnsupportedError:
        error = self._refusal(hint, place, why)
        error.__dict__["_refused"] = (hint, place)
        if place:
            error.pointer = pointer_of_place(place)
        return error

    def _refusal(self, hint: Any, place: str, why: str) -> UnsupportedError:
        at = f" (at {place})" if place else ""
        if why:
            return UnsupportedError(f"{name_of(hint)}{at}: {why}")
        if isinstance(hint, str | typing.ForwardRef):
            return UnsupportedError(f"the name {hint!r}{at} cannot be resolved to a type: pass the type itself")
        hints = "use a dataclass, a TypedDict, a NamedTuple or a pydantic model for a class of your own"
        if isinstance(hint, type) and hasattr(hint, "model_fields"):
            hints = "it looks like a pydantic model, and pydantic cannot be imported here: pip install pydantic"
        elif hint is bytes:
            hints = "JSON has no bytes; use str, or install pydantic, which reads them from a string"
        elif hint in WITHOUT_JSON:
            hints = WITHOUT_JSON[hint]
        elif getattr(hint, "__module__", "").startswith("pydantic"):
            hints = "it is a type of pydantic, and pydantic cannot be imported here: pip install pydantic"
        elif isinstance(hint, type) and hint.__module__.partition(".")[0] in sys.stdlib_module_names:
            hints = "use str, or install pydantic, which knows more types of Python's library"
        elif get_origin(hint) is not None:
            hints = "use list, tuple, dict, set, a union, or install pydantic, which knows more types"
        elif callable(hint) and not isinstance(hint, type):
            hints = "pass a type, not a function"
        return UnsupportedError(f"no JSON can be made for the type {name_of(hint)}{at}: {hints}")

    def _annotated(self, hint: Any, place: str) -> Node:
        inner, *metadata = get_args(hint)
        schema, convert = self.node(inner, place)
        flat: list[Any] = []
        for item in metadata:
            grouped = getattr(item, "__is_annotated_types_grouped_metadata__", False)
            inner_items = item if grouped else getattr(item, "metadata", None)
            flat.extend([item] if inner_items is None else inner_items)
        added: dict[str, Any] = {}
        for item in flat:
            if callable(getattr(item, "func", None)):
                raise self._unsupported(
                    hint, place, "a predicate in Python cannot be enforced; write a pattern or a bound"
                )
            for attribute, keyword in _BOUNDS.items():
                value = getattr(item, attribute, None)
                if value is not None:
                    self._check_fit(hint, place, attribute, value, schema)
                    added[keyword] = getattr(value, "pattern", value)
            for attribute, word in (("min_length", "min"), ("max_length", "max")):
                value = getattr(item, attribute, None)
                if value is not None:
                    self._check_fit(hint, place, attribute, value, schema)
                    added[word + _LENGTHS.get(schema.get("type", ""), "Length")] = value
        if not added:
            return schema, convert
        if schema == SCALARS[datetime.date][0] and all(type(v) is datetime.date for v in added.values()):
            return self._bounded_date(hint, place, added), convert
        if any(key not in ("pattern",) and not isinstance(value, int | float) for key, value in added.items()):
            raise self._unsupported(
                hint, place, "its bounds are neither numbers nor dates; only numbers, dates and lengths can be bounded"
            )
        if schema.get("type") not in ("string", "integer", "number", "array", "object"):
            raise self._unsupported(hint, place, "bounds belong to a number, a string or a collection, not around this")
        return ({**schema, **added} if not added.keys() & schema.keys() else {"allOf": [schema, added]}), convert

    def _check_fit(self, hint: Any, place: str, name: str, bound: Any, schema: Mapping[str, Any]) -> None:
        """``UnsupportedError`` for a bound that is of another kind than the type with the schema ``schema``."""
        kind = schema.get("type")
        if kind is None:
            return
        scalars = [known for known, _ in SCALARS.values() if known != {"type": "string"}]
        of_text = kind == "string" and schema not in scalars
        if name == "pattern":
            fits, is_fit = "texts", of_text
        elif name in ("min_length", "max_length"):
            fits, is_fit = "texts and collections", of_text or kind in ("array", "object")
        else:
            fits, is_fit = "numbers", kind in ("integer", "number") or not isinstance(bound, int | float)
        if not is_fit:
            shown = f"{name}={getattr(bound, 'pattern', bound)!r:.40}"
            raise self._unsupported(hint, place, f"the bound {shown} is for {fits}, and does not fit this type")

    def _bounded_date(self, hint: Any, place: str, bounds: Mapping[str, datetime.date]) -> dict[str, Any]:
        first, last = type_patterns.days_within(
            {name: bounds[keyword] for name, keyword in _BOUNDS.items() if keyword in bounds}
        )
        if first > last:
            raise self._unsupported(hint, place, "no date lies within its bounds")
        return type_patterns.whole(type_patterns.date_range(first, last))

    def _literal(self, values: tuple[Any, ...], place: str) -> Node:
        plain = [value.value if isinstance(value, Enum) else value for value in values]
        for given, value in zip(values, plain):
            if not _is_json(value):
                named = f"{type(given).__name__}.{given.name}" if isinstance(given, Enum) else f"{value!r:.60}"
                raise self._unsupported(
                    type(given),
                    place,
                    f"{named} has a value of the type {type(value).__name__}, which JSON does not have: give it a text "
                    f"or a number of its own, and look the {type(value).__name__} up by it",
                )
        return {"enum": plain}, self._chosen([(value, p) for value, p in zip(values, plain)])

    @staticmethod
    def _chosen(pairs: list[tuple[Any, Any]]) -> Converter:
        def convert(value: Any) -> Any:
            read = json.dumps(anything(value), sort_keys=True)
            for given, plain in pairs:
                is_same = plain == value and isinstance(plain, bool) is isinstance(value, bool)
                if is_same if isinstance(value, int) else json.dumps(plain, sort_keys=True) == read:
                    return given
            raise Mismatch(f"{value!r} is none of {[plain for _, plain in pairs]}")

        return convert

    def _union(self, members: tuple[Any, ...], place: str) -> Node:
        nodes = [self.node(member, place) for member in members]

        def convert(value: Any) -> Any:
            # A value that is already of a member's own type is that member's; otherwise the first that takes it.
            own = float if isinstance(value, Decimal) else type(value)
            if own in members and own not in (list, dict):
                return anything(value)
            for _, one in nodes:
                try:
                    return one(value)
                except Mismatch:
                    continue
            raise Mismatch(f"{value!r} is of none of the types {', '.join(map(name_of, members))}")

        return {"anyOf": [schema for schema, _ in nodes]}, convert

    def _collection(self, hint: Any, origin: Any, args: tuple[Any, ...], place: str) -> Node | None:
        if origin is tuple:
            return self._tuple(args, place)
        if origin in _LISTS or origin in _SETS:
            item, one = self.node(args[0] if args else Any, f"{place}[]")
            made = _SETS.get(origin, list)
            if origin in _SETS and item.get("type", "") in ("array", "object"):
                raise self._unsupported(hint, place, "its elements must be hashable: take list in the place of set")
            if origin in _SETS and not item:
                item = {"type": ["string", "number", "boolean", "null"]}
            schema: dict[str, Any] = {"type": "array", "items": item}
            if origin in _SETS:
                schema["uniqueItems"] = True
            return schema, lambda value: made([one(element) for element in _checked(value, list)])
        if origin in _DICTS:
            key, inner = args if args else (str, Any)
            key_schema, key_of = self.node(key, f"{place} keys")
            if key_schema.get("type", "string") != "string" or "anyOf" in key_schema:
                raise self._unsupported(hint, place, "keys of a JSON object are strings: use dict[str, ...]")
            value_schema, value_of = self.node(inner, f"{place}{{}}")
            schema = {"type": "object", "additionalProperties": value_schema}
            if set(key_schema) - {"type"}:
                schema["propertyNames"] = key_schema
            return schema, lambda value: {key_of(k): value_of(v) for k, v in _checked(value, dict).items()}
        return None

    def _tuple(self, args: tuple[Any, ...], place: str) -> Node:
        if not args:
            return {"type": "array"}, lambda value: tuple(map(anything, _checked(value, list)))
        if len(args) == 2 and args[1] is Ellipsis:
            item, one = self.node(args[0], f"{place}[]")
            return {"type": "array", "items": item}, lambda value: tuple(one(e) for e in _checked(value, list))
        if args == ((),):
            args = ()
        nodes = [self.node(arg, f"{place}[{i}]") for i, arg in enumerate(args)]
        schema = {
            "type": "array",
            "prefixItems": [schema for schema, _ in nodes],
            "minItems": len(nodes),
            "maxItems": len(nodes),
        }

        def convert(value: Any) -> Any:
            if len(_checked(value, list)) != len(nodes):
                are = "is" if len(nodes) == 1 else "are"
                raise Mismatch(f"{counted(len(nodes), 'item')} {are} needed, not {len(value)}")
            return tuple(one(element) for (_, one), element in zip(nodes, value))

        return schema, convert

    def _class(self, cls: type, place: str) -> Node:
        if issubclass(cls, Enum):
            members = list(cls)
            if not members:
                raise self._unsupported(cls, place, "an Enum without members has no values")
            schema, _ = self._literal(tuple(members), place)
            return schema, self._chosen([(member, member.value) for member in members])
        if cls not in self._names:
            fields = self._fields(cls, place)
            name = cls.__name__
            while name in self.definitions:
                name += "_"
            self._names[cls] = name
            self.definitions[name] = {}
            nodes = {key: self.node(hint, f"{place}.{key}".lstrip(".")) for key, (hint, _) in fields.items()}
            self.definitions[name] = {
                "type": "object",
                "properties": {key: schema for key, (schema, _) in nodes.items()},
                "required": [key for key, (_, required) in fields.items() if required],
                "additionalProperties": False,
            }
            required = frozenset(key for key, (_, needed) in fields.items() if needed)
            converters = {key: convert for key, (_, convert) in nodes.items()}
            self._converters[cls] = _object_converter(cls, converters, required)
        return {"$ref": f"#/$defs/{self._names[cls]}"}, lambda value: self._converters[cls](value)

    def _fields(self, cls: type, place: str) -> dict[str, tuple[Any, bool]]:
        """The type of every field, and whether it must be there."""
        typed_dict = hasattr(cls, "__required_keys__")
        named_tuple = issubclass(cls, tuple) and hasattr(cls, "_fields")
        if not (typed_dict or named_tuple or dataclasses.is_dataclass(cls)):
            raise self._unsupported(cls, place)
        try:
            hints = get_type_hints(cls, include_extras=True)
        except NameError as error:
            if (found := unresolved_name(cls, place)) is not None:
                raise found from error
            raise self._unsupported(cls, place, f"{error}: its annotations must be importable names") from error
        if typed_dict:
            # Annotations that are text hide from the class which keys may be left out.
            needed: frozenset[str] = getattr(cls, "__required_keys__")  # noqa: B009
            marks = {key: get_origin(hint) for key, hint in hints.items()}
            return {
                key: (hint, marks[key] is not typing.NotRequired and (key in needed or marks[key] is typing.Required))
                for key, hint in hints.items()
            }
        if named_tuple:
            defaults: Mapping[str, Any] = getattr(cls, "_field_defaults")  # noqa: B009
            names: tuple[str, ...] = getattr(cls, "_fields")  # noqa: B009
            return {key: (hints.get(key, Any), key not in defaults) for key in names}
        made = [field for field in dataclasses.fields(cls) if field.init]
        unknown = set(inspect.signature(cls).parameters) - {field.name for field in made}
        if unknown:
            raise self._unsupported(cls, place, f"its argument {sorted(unknown)[0]!r} is no field; JSON cannot give it")
        empty = dataclasses.MISSING
        return {f.name: (hints[f.name], f.default is empty and f.default_factory is empty) for f in made}


def _is_json(value: Any) -> bool:
    """Whether JSON has a value, and gives the same value back."""
    if isinstance(value, list):
        return type(value) is list and all(map(_is_json, value))
    if isinstance(value, dict):
        return type(value) is dict and all(isinstance(key, str) and _is_json(one) for key, one in value.items())
    return value is None or isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))


def _checked(value: Any, kind: type) -> Any:
    if not isinstance(value, kind):
        raise Mismatch(f"a {kind.__name__} is needed, not {value!r}")
    return value


def _object_converter(cls: type, converters: Mapping[str, Converter], required: frozenset[str]) -> Converter:
    def convert(value: Any) -> Any:
        given = _checked(value, dict)
        if required - given.keys() or given.keys() - converters.keys():
            raise Mismatch(f"the keys {list(given)} are not those of {cls.__name__}")
        return cls(**{key: converters[key](one) for key, one in given.items()})

    return convert
