"""Types to JSON Schema by pydantic: its own schema, closed, and true to what pydantic reads back.

pydantic's schema of a class leaves objects open, because pydantic ignores keys that it does not know. Nobody who passes
a class wants such keys written, so objects of classes are closed here unless the class says ``extra="allow"``. The
schema also says less in places than pydantic checks when it reads the value: the second 60, the version of a UUID, keys
that are integers, and so on. Those places are made exact here.
"""

from __future__ import annotations

import decimal
import math
import re
from collections.abc import Callable, Mapping
from typing import Any, cast

from pydantic import PydanticUserError, TypeAdapter
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticSchemaGenerationError, PydanticUndefinedAnnotation
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import PydanticOmit, SchemaError

from interlock._core import UnsupportedError
from interlock.output_types.pydantic_models.mismatched_bounds import fit_bounds
from interlock.output_types.pydantic_models.python_checks import check_alias, read_by_function, text_checks
from interlock.output_types.pydantic_models.unenforced_bounds import warn_unenforced
from interlock.output_types.python_types import type_hints, type_patterns
from interlock.output_types.python_types.enum_members import check_values
from interlock.output_types.python_types.field_places import (
    Place,
    place_in_core_schema,
    place_of_pointer,
    pointer_of_place,
)
from interlock.output_types.python_types.type_names import WITHOUT_JSON, name_of
from interlock.output_types.python_types.unresolved_names import unresolved_name
from interlock.schema_hints.schema_keywords import VALUES
from interlock.util.json_pointer import escaped

__all__ = ["PlainTypedDict", "json_schema_of"]

# The core schemas that pydantic passes in are plain dicts.
_CoreSchema = Any
_JsonSchema = dict[str, Any]
# Strings that pydantic checks in Python, by the formats that its schema gives them, which are nobody's but its own.
_OPAQUE_FORMATS = frozenset(
    "ipv4network ipv6network ipv4interface ipv6interface ipvanyaddress ipvanyinterface ipvanynetwork multi-host-uri "
    "file-path directory-path color json-string".split()
)
_INSTEAD = {
    "file-path": "take pathlib.Path, and look in your program whether there is such a file",
    "directory-path": "take pathlib.Path, and look in your program whether there is such a folder",
    "json-string": "take the type of its content",
}
# Types whose values pydantic has read by another package, which need not be there.
_ASK_OTHERS = frozenset(("EmailStr", "NameEmail"))
_OFFSETS = {"naive": "", "aware": type_patterns.OFFSET}


def _closed(schema: _JsonSchema) -> _JsonSchema:
    """``schema``, closed if it is an object of a class and does not say anything else."""
    if "properties" in schema or schema.get("type") == "object":
        schema.setdefault("additionalProperties", False)
    return schema


class _ClosedJsonSchema(GenerateJsonSchema):
    """pydantic's generator, with closed objects and strings that pydantic reads without fail."""

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}
    #: What only the class checks, in words, with its core schema; ``None`` where that is refused.
    left_out: list[tuple[str, _CoreSchema]] | None = None
    #: The core schemas that others refer to.
    definition_schemas: Mapping[str, _CoreSchema] = {}

    def generate_inner(self, schema: _CoreSchema) -> _JsonSchema:
        """pydantic's, and what is refused is remembered by the error: the innermost part."""
        refused = None
        try:
            if schema.get("type") in ("model-field", "dataclass-field", "typed-dict-field"):
                check_alias(schema, self._takes_names())
            made: _JsonSchema = read_by_function(schema, super().generate_inner(schema))
        except PydanticInvalidForJsonSchema as error:
            error.__dict__.setdefault("refused_part", schema)
            raise
        except PydanticOmit as error:
            if schema.get("type") not in ("union", "tagged-union"):
                raise
            refused = error
        if refused is None and made.get("anyOf") != []:
            try:
                fit_bounds(schema, made, self.definition_schemas)
            except PydanticInvalidForJsonSchema as error:
                error.__dict__["refused_part"] = schema
                raise
            return type_patterns.exact(made)
        # Every member was left out.
        empty = PydanticInvalidForJsonSchema("no member of the union can be written as JSON")
        empty.__dict__["refused_part"] = schema
        raise empty from refused

    def _takes_names(self) -> bool:
        """Whether the class at hand reads fields that have an alias by their own names too."""
        # Versions of pydantic before 2.11 have one of the names.
        return any(getattr(self._config, name, None) for name in ("validate_by_name", "populate_by_name"))

    def str_schema(self, schema: _CoreSchema) -> _JsonSchema:
        """With what pydantic checks and changes of a text, such as blanks that are stripped."""
        made = super().str_schema(schema)
        strips = schema.get("strip_whitespace", self._config.str_strip_whitespace)
        return text_checks(schema, made, bool(strips))

    def definitions_schema(self, schema: _CoreSchema) -> _JsonSchema:
        """The definitions are kept, so that others are found by their names."""
        self.definition_schemas = {**self.definition_schemas, **{part["ref"]: part for part in schema["definitions"]}}
        return super().definitions_schema(schema)

    def enum_schema(self, schema: _CoreSchema) -> _JsonSchema:
        """An error for members that JSON cannot write."""
        check_values(schema, schema["members"])
        return super().enum_schema(schema)

    def literal_schema(self, schema: _CoreSchema) -> _JsonSchema:
        """An error for values that JSON cannot write."""
        check_values(schema, schema["expected"])
        return super().literal_schema(schema)

    def model_schema(self, schema: _CoreSchema) -> _JsonSchema:
        """Closed: without properties that the class does not take."""
        return _closed(super().model_schema(schema))

    def dataclass_schema(self, schema: _CoreSchema) -> _JsonSchema:
        """Closed: without properties that the class does not take."""
        return _closed(super().dataclass_schema(schema))

    def dataclass_args_schema(self, schema: _CoreSchema) -> _JsonSchema:
        """Without the fields that ``__init__`` does not take: pydantic drops what is written for them."""
        taken = [field for field in schema["fields"] if field.get("init", True)]
        without: Any = {**schema, "fields": taken}
        return super().dataclass_args_schema(without)

    def typed_dict_schema(self, schema: _CoreSchema) -> _JsonSchema:
        """Closed: without keys that the class does not take."""
        return _closed(super().typed_dict_schema(schema))

    def named_tuple_schema(self, schema: _CoreSchema) -> _JsonSchema:
        """An object, since a model writes better what has names; pydantic reads both."""
        fields = {field["name"]: field["schema"] for field in schema["fields"]}
        made: _JsonSchema = {
            "type": "object",
            "properties": {name: self.generate_inner(inner) for name, inner in fields.items()},
            "additionalProperties": False,
        }
        required = [name for name, inner in fields.items() if inner["type"] != "default"]
        return {**made, "required": required} if required else made

    def arguments_schema(self, schema: _CoreSchema) -> _JsonSchema:
        """By names too, where older versions of pydantic make named tuples of arguments."""
        metadata = {**schema.get("metadata", {}), "pydantic_js_prefer_positional_arguments": False}
        named: Any = {**schema, "metadata": metadata}
        return super().arguments_schema(named)

    def dict_schema(self, schema: _CoreSchema) -> _JsonSchema:
        """With the pattern of the keys, where they are no plain texts."""
        return self._with_keys(super().dict_schema(schema), schema)

    def counter_schema(self, schema: _CoreSchema) -> _JsonSchema:
        """With the pattern of the keys, where they are no plain texts."""
        return self._with_keys(super().counter_schema(schema), schema)

    def _with_keys(self, made: _JsonSchema, schema: _CoreSchema) -> _JsonSchema:
        """The schema of a dict with that of its keys."""
        inner = schema.get("keys_schema", {})
        inner = self.definition_schemas.get(inner.get("schema_ref"), inner)
        keys = inner.get("type")
        if keys == "int":
            made["propertyNames"] = {"pattern": f"^(?:{type_patterns.INTEGER_KEY})$"}
        elif keys == "enum" and inner.get("sub_type") == "int":
            # Of a text pydantic makes the integer.
            made["propertyNames"] = {"enum": [str(int(member.value)) for member in inner["members"]]}
        elif keys not in (None, "str", "any"):
            # What pydantic's schema says of other keys, it says of values in general.
            names = self.generate_inner(schema["keys_schema"])
            if names.get("type", "string") != "string":
                raise PydanticInvalidForJsonSchema("keys of a JSON object are strings or integers")
            made["propertyNames"] = {key: value for key, value in names.items() if key != "title"}
        if "patternProperties" in made:
            made.setdefault("additionalProperties", False)
        return made

    def date_schema(self, schema: _CoreSchema) -> _JsonSchema:
        """The days within its bounds. An error where no day lies within, and for bounds by today's date."""
        first, last = type_patterns.days_within(schema)
        if first > last:
            raise PydanticInvalidForJsonSchema("no date lies within its bounds")
        self._no_bounds({"now_op": schema.get("now_op"), "type": "date"}, "date", schema)
        return type_patterns.whole(type_patterns.date_range(first, last))

    def time_schema(self, schema: _CoreSchema) -> _JsonSchema:
        """The times of day that pydantic reads. An error for bounds, which cannot be enforced."""
        self._no_bounds(schema, "time")
        return self._clock(type_patterns.TIME, schema)

    def datetime_schema(self, schema: _CoreSchema) -> _JsonSchema:
        """The times that pydantic reads. An error for bounds, which cannot be enforced."""
        self._no_bounds(schema, "datetime")
        return self._clock(type_patterns.DATETIME, schema)

    def timedelta_schema(self, schema: _CoreSchema) -> _JsonSchema:
        """The durations that pydantic reads. An error for bounds, which cannot be enforced."""
        self._no_bounds(schema, "timedelta")
        return type_patterns.whole(type_patterns.DURATION)

    def set_schema(self, schema: _CoreSchema) -> _JsonSchema:
        """An error for elements that Python cannot hash."""
        return self._hashable(super().set_schema(schema), schema, "set", "list")

    def frozenset_schema(self, schema: _CoreSchema) -> _JsonSchema:
        """An error for elements that Python cannot hash."""
        return self._hashable(super().frozenset_schema(schema), schema, "frozenset", "tuple")

    def _hashable(self, made: _JsonSchema, schema: _CoreSchema, kind: str, other: str) -> _JsonSchema:
        """The schema of a set, whose elements Python must be able to hash."""
        items = schema.get("items_schema", {})
        if items.get("type", "any") == "any":
            made["items"] = {"type": ["string", "number", "boolean", "null"]}
        elif items["type"] in ("list", "set", "dict", "typed-dict"):
            error = PydanticInvalidForJsonSchema(f"a {kind} holds no {items['type'].replace('typed-', '')}s")
            error.__dict__["way"] = f"its elements must be hashable: take {other} in the place of {kind}"
            raise error
        return made

    def uuid_schema(self, schema: _CoreSchema) -> _JsonSchema:
        """The UUIDs of the version that is asked for, any without one."""
        return type_patterns.whole(type_patterns.uuid_pattern(schema.get("version")))

    def bytes_schema(self, schema: _CoreSchema) -> _JsonSchema:
        """A text of which pydantic makes as many bytes as its length says."""
        # Lengths count bytes, so every character is one.
        is_base64 = self._config.val_json_bytes == "base64"
        made = type_patterns.whole(type_patterns.BY_FORMAT["base64url"] if is_base64 else type_patterns.PRINTABLE)
        self.update_with_validations(made, schema, self.ValidationsMapping.bytes)
        return made

    def decimal_schema(self, schema: _CoreSchema) -> _JsonSchema:
        """A number, not the string that it may be as well: one way to write it is enough."""
        made: _JsonSchema = {"type": "number"}
        bounds = {key: _inward(key, v) if isinstance(v, decimal.Decimal) else v for key, v in schema.items()}
        self.update_with_validations(made, bounds, self.ValidationsMapping.numeric)
        places, digits = schema.get("decimal_places"), schema.get("max_digits")
        if places is not None and digits is not None:
            places = min(places, digits)
        if places is not None and "multipleOf" not in made:
            made["multipleOf"] = float(f"1e-{places}")
        if digits is not None:
            made = {"allOf": [made, _within_digits(digits, schema.get("decimal_places"))]}
        return made

    def url_schema(self, schema: _CoreSchema) -> _JsonSchema:
        """Of URLs with a scheme of certain names those that every reader agrees about: ASCII, without a user and a
        password, and with a host that is a name or an IPv4 address.
        """
        schemes = schema.get("allowed_schemes")
        if not schemes:
            return super().url_schema(schema)
        after_scheme = f"(?:{'|'.join(schemes)}){type_patterns.AFTER_SCHEME}"
        made = type_patterns.whole(type_patterns.FILE_URL if schemes == ["file"] else after_scheme)
        self.update_with_validations(made, schema, self.ValidationsMapping.string)
        return made

    def json_schema(self, schema: _CoreSchema) -> _JsonSchema:
        """Always an error: a text cannot be held to what is inside of it."""
        raise PydanticInvalidForJsonSchema("a string with JSON inside: use the type of its content")

    def complex_schema(self, schema: _CoreSchema) -> _JsonSchema:
        """Always an error: JSON has no complex numbers."""
        raise PydanticInvalidForJsonSchema("JSON has no complex numbers: use a NamedTuple of two floats")

    def _clock(self, pattern: str, schema: _CoreSchema) -> _JsonSchema:
        offset = _OFFSETS.get(schema.get("tz_constraint"))
        if offset is None:
            return type_patterns.whole(pattern)
        return type_patterns.whole(pattern.removesuffix(f"{type_patterns.OFFSET}?") + offset)

    def _no_bounds(self, schema: _CoreSchema, what: str, part: _CoreSchema = None) -> None:
        """Bounds of times have no keyword in JSON Schema. ``part`` is the core schema to name, if it is another."""
        named = [name for name in ("ge", "gt", "le", "lt", "now_op") if schema.get(name) is not None]
        if named:
            said = f"cannot say that a {what} lies in the {schema.get('now_op')}"
            if named != ["now_op"]:
                said = f"has no word for the bounds of a {what} ({', '.join(named)})"
            if self.left_out is not None:
                self.left_out.append((said, part or schema))
                return
            error = PydanticInvalidForJsonSchema(f"JSON Schema {said}")
            error.__dict__["way"] = (
                f"pass on_unsupported='warn', and the class alone checks the bound when the text is complete; or take "
                f"{what}, and check the bound in your program"
            )
            raise error


def _within_digits(digits: int, places: int | None) -> _JsonSchema:
    """Numbers of at most so many digits, before the point and behind it. With ``places`` so many of them are kept for
    what stands behind the point, and pydantic counts the 0 in front of the point as none, unless it is the number.
    """
    if places is not None and places < digits:
        bound = 10 ** (digits - places)
        return {"exclusiveMinimum": -bound, "exclusiveMaximum": bound}
    if places is not None:
        return {
            "anyOf": [
                {"exclusiveMinimum": 0, "exclusiveMaximum": 1},
                {"exclusiveMinimum": -1, "exclusiveMaximum": 0},
            ]
        }
    return {
        "anyOf": [
            {
                "multipleOf": float(f"1e-{behind}") if behind else 1,
                "exclusiveMinimum": -(10 ** (digits - behind)),
                "exclusiveMaximum": 10 ** (digits - behind),
            }
            for behind in range(digits + 1)
        ]
    }


def _inward(keyword: str, bound: decimal.Decimal) -> float:
    """A bound as a ``float`` that permits nothing which the bound itself forbids."""
    near = float(bound)
    exact = decimal.Decimal(repr(near))
    if keyword in ("ge", "gt") and exact < bound:
        return math.nextafter(near, math.inf)
    if keyword in ("le", "lt") and exact > bound:
        return math.nextafter(near, -math.inf)
    return near


def _unsupported(hint: Any, error: Exception, adapter: TypeAdapter[Any] | None = None) -> UnsupportedError:
    what = name_of(hint)
    if getattr(error, "code", None) in ("class-not-fully-defined", "undefined-annotation"):
        if (found := unresolved_name(hint)) is not None:
            return found
        return UnsupportedError(
            f"{what} has annotations in quotes, or all of them by 'from __future__ import annotations', that cannot be "
            "resolved from here: define the class, and what it names, at the top level of a module"
        )
    said = str(getattr(error, "message", error)).partition("\n")[0].strip().rstrip(".")
    said = re.sub(r"core_schema\.(\w+)Schema", lambda found: f"a {found[1].lower()}", said)
    way = getattr(error, "way", None) or (
        "give the field a type that JSON has, or a schema of its own with pydantic's WithJsonSchema"
        if isinstance(error, PydanticInvalidForJsonSchema)
        else "use a dataclass, a TypedDict, a NamedTuple or a pydantic model for a class of your own"
    )
    for known, remedy in WITHOUT_JSON.items():
        if f"schema for {known!r}" in said or f"({known!r})" in said:
            way = remedy
    part = getattr(error, "refused_part", None)
    place = place_in_core_schema(adapter.core_schema, part) if adapter is not None and part is not None else None
    if adapter is None:
        place = type_hints.refused_place(hint, lambda refused: repr(refused) in said)
    # The rest of the message is about the inside of pydantic.
    unknown = re.match(r"Unable to generate pydantic-core schema for (?:<class '(?:[^']*\.)?([^']+)'>)?", said)
    named = f" as {unknown[1]}" if unknown and unknown[1] else ""
    shown = f"pydantic knows no such type{named}" if unknown else said
    return _at(hint, place or ("", ""), lambda where: f"no JSON can be made for {where}: {shown} ({way})")


def _at(hint: Any, place: Place, message: Callable[[str], str]) -> UnsupportedError:
    """The error that ``message`` makes of the words for a place in the type ``hint``."""
    words, pointer = place
    what = name_of(hint)
    if not words:
        where = f"the type {what}"
    elif words[0] == "." and what.isidentifier():
        where = f"{what}{words}"
    else:
        where = f"{words.lstrip('.')} in {what}" if words[0] in ".[{ " else words
    error = UnsupportedError(message(where))
    if words:
        error.pointer = pointer
    return error


def _not_built(hint: Any, error: SchemaError) -> UnsupportedError:
    """The error for a type of which pydantic builds no validator: most often its regex engine refuses a pattern."""
    said = str(error)
    words = "".join(f".{name}" for name in re.findall(r"Field ['\"](.+?)['\"]:", said))
    why = said.strip().splitlines()[-1].strip().removeprefix("error: ").removeprefix("SchemaError: ")
    way = ""
    if "regex parse error" in said:
        why = f"pydantic's own engine refuses the pattern: {why}"
        way = (
            ' (Python\'s engine reads it: model_config = ConfigDict(regex_engine="python-re") in a pydantic model, '
            "__pydantic_config__ with the same in a dataclass or a TypedDict)"
        )
    place = (words, pointer_of_place(words.lstrip(".")))
    return _at(hint, place, lambda where: f"no values can be made of {where}: {why}{way}")


class PlainTypedDict(Exception):
    """pydantic takes no ``typing.TypedDict`` on a Python before 3.12: somebody else has to."""


def adapter_of(hint: Any) -> TypeAdapter[Any]:
    """What reads and writes ``hint``. ``UnsupportedError`` where pydantic knows no way."""
    if isinstance(hint, TypeAdapter):
        return hint
    try:
        return TypeAdapter(hint)
    except (PydanticSchemaGenerationError, PydanticUndefinedAnnotation, PydanticUserError) as error:
        if getattr(error, "code", None) == "typed-dict-version":
            raise PlainTypedDict from error
        raise _unsupported(hint, error) from error
    except SchemaError as error:
        raise _not_built(hint, error) from error
    except ImportError as error:
        # A type that asks another package, such as EmailStr.
        asks = type_hints.refused_place(hint, lambda refused: getattr(refused, "__name__", "") in _ASK_OTHERS)
        said = str(error)
        raise _at(hint, asks or ("", ""), lambda where: f"no values can be made of {where}: {said}") from error


def json_schema_of(hint: Any, on_unsupported: str = "error") -> tuple[_JsonSchema, TypeAdapter[Any]]:
    """The closed schema of a type, or of a ``TypeAdapter``, and the adapter that reads its values.

    With ``on_unsupported="warn"`` bounds that no schema can say are left to the adapter, with a
    ``UnenforcedBoundWarning`` that names them.
    """
    adapter = adapter_of(hint)
    left_out: list[tuple[str, _CoreSchema]] = []

    # Pydantic makes the instance, so what it collects is an attribute of a class of its own.
    kept = {"left_out": left_out if on_unsupported == "warn" else None}
    generator = cast("type[_ClosedJsonSchema]", type("Generator", (_ClosedJsonSchema,), kept))
    try:
        schema = adapter.json_schema(schema_generator=generator)
    except (PydanticInvalidForJsonSchema, PydanticUserError) as error:
        raise _unsupported(hint, error, adapter) from error
    except SchemaError as error:
        # A class with defer_build=True is built here.
        raise _not_built(hint, error) from error
    _check_formats(hint, schema, "")
    if left_out:
        warn_unenforced(name_of(hint), [_said_of(said, adapter, part) for said, part in left_out])
    return schema, adapter


def _said_of(said: str, adapter: TypeAdapter[Any], part: _CoreSchema) -> str:
    """Which bound is left out, and where: ``.day (JSON Schema cannot say that a date lies in the past)``."""
    place = place_in_core_schema(adapter.core_schema, part)
    return f"{(place and place[0]) or 'the value itself'} (JSON Schema {said})"


def _check_formats(hint: Any, schema: Any, pointer: str) -> None:
    """``UnsupportedError`` for a string whose form only pydantic knows: a mask would accept any string there."""
    if isinstance(schema, list):
        for i, part in enumerate(schema):
            _check_formats(hint, part, f"{pointer}/{i}")
    elif isinstance(schema, dict):
        form = schema.get("format")
        if isinstance(form, str) and form in _OPAQUE_FORMATS:
            raise _at(
                hint,
                (place_of_pointer(pointer), pointer),
                lambda where: (
                    f"no JSON can be made for {where}: strings of the format {form!r} are checked by pydantic "
                    f"alone ({_INSTEAD.get(form, 'give the field a pattern, Annotated[str, Field(pattern=...)]')})"
                ),
            )
        for key, part in schema.items():
            if key not in VALUES:
                _check_formats(hint, part, f"{pointer}/{escaped(key)}")
