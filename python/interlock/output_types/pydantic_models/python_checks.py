"""Types of pydantic whose values a function in Python reads: what it takes, as JSON Schema, or why no mask can say it.

pydantic's own schema of such a type says less than its function checks: a ``Base64Str`` must hold UTF-8, and the
unit of a ``ByteSize`` must be one that there is.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from pydantic.errors import PydanticInvalidForJsonSchema

from interlock.output_types.python_types import type_patterns

__all__ = ["check_alias", "read_by_function", "text_checks"]

_Schema = Mapping[str, Any]
_JsonSchema = dict[str, Any]

# Blanks as JavaScript and as Rust, in which pydantic strips, know them: of both the more.
_NO_BLANK = r"[^\s\u0085\u001c-\u001f]"


def text_checks(schema: _Schema, made: _JsonSchema, strips: bool) -> _JsonSchema:
    """``made``, the JSON Schema of a core schema of strings, with what it leaves out.

    Strings that pydantic strips before it looks at length and pattern (``strips``) are written without blanks at their
    ends, so that the mask and pydantic see the same.
    """
    more = []
    if strips and {"minLength", "pattern"} & made.keys():
        more.append(rf"^(?:{_NO_BLANK}(?:[\s\S]*{_NO_BLANK})?)?$")
    if schema.get("ascii_only"):
        more.append(r"^[\0-\x7f]*$")
    return {**made, "allOf": [*made.get("allOf", ()), *({"pattern": one} for one in more)]} if more else made


def read_by_function(schema: _Schema, made: _JsonSchema) -> _JsonSchema:
    """``made``, the JSON Schema of the core schema ``schema``, with what the function in ``schema`` takes.
    ``PydanticInvalidForJsonSchema`` where no schema can say that. What a class says with ``WithJsonSchema`` stays.
    """
    kind = schema.get("type")
    called = schema.get("function", {}).get("function") if kind in ("function-after", "function-plain") else None
    name = getattr(called, "__qualname__", "") if _is_of_pydantic(called) else ""
    if isinstance(called, functools.partial) and called.keywords.keys() & {"min_length", "max_length"}:
        return _with_length(schema["schema"], next(iter(called.keywords.items())), made)
    if name == "EncodedStr.decode_str" and made.get("format") in ("base64", "base64url"):
        return {**made, "format": f"{made['format']}-text"}
    if name == "ByteSize._validate" and "anyOf" in made:
        return {"anyOf": [type_patterns.whole(type_patterns.BYTE_SIZE), {"type": "integer", "minimum": 0}]}
    if name == "PathType.validate_new" and made.get("format") == "path":
        raise _refused(
            "pydantic looks whether there is such a file",
            "take pathlib.Path, and look in your program whether there is such a file",
        )
    if name == "import_string" and made == {"type": "string"}:
        raise _refused(
            "an ImportString imports what the model names",
            "take a Literal of the names that the model may choose, and look the objects up in a dict",
        )
    if kind == "is-subclass" and not made:
        raise _refused("JSON has no classes", "take a Literal of names, and look the classes up in a dict")
    if kind == "custom-error" and schema.get("custom_error_type") == "is_hashable" and not made:
        return {"type": ["string", "number", "boolean", "null"]}
    return made


def _with_length(inner: _Schema, bound: tuple[str, Any], made: _JsonSchema) -> _JsonSchema:
    """The same for a bound of the length of what ``inner`` reads."""
    if made.get("format") == "path":
        raise _refused(
            f"the bound {bound[0]}={bound[1]!r} is for texts and collections, and does not fit a path",
            "bound a text, Annotated[str, Field(max_length=...)], and make the path of it",
        )
    if inner.get("type") == "function-wrap" and inner["schema"].get("type") == "url" and "pattern" in made:
        # pydantic counts the characters of the URL in its normal form, so the model writes that.
        as_it_is = made["pattern"].replace(type_patterns.AFTER_SCHEME, type_patterns.AFTER_SCHEME_AS_IT_IS)
        return {**made, "pattern": as_it_is}
    return made


def check_alias(field: _Schema, takes_names: bool) -> None:
    """``PydanticInvalidForJsonSchema`` for a field whose value pydantic takes out of another one, with an ``AliasPath``
    alone. ``takes_names`` says whether the class reads the names of its fields too.
    """
    alias = field.get("validation_alias")
    if not isinstance(alias, list) or takes_names:
        return
    paths = alias if alias and isinstance(alias[0], list) else [alias]
    if not any(len(path) == 1 and isinstance(path[0], str) for path in paths):
        raise _refused(
            "its AliasPath takes the value out of another field",
            "write a class for that other field, or let the class have "
            "model_config = ConfigDict(validate_by_name=True), and the model writes the field by its own name",
        )


def _is_of_pydantic(called: Any) -> bool:
    return str(getattr(called, "__module__", "")).partition(".")[0] == "pydantic"


def _refused(why: str, way: str) -> PydanticInvalidForJsonSchema:
    error = PydanticInvalidForJsonSchema(why)
    error.__dict__["way"] = way
    return error
