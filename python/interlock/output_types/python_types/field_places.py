"""Where in a Python type the part stands that cannot be an output: ``User.items[].when``, and a JSON Pointer.

pydantic says what it refuses, and of a large class one would have to guess which field it is about. A *place* is
written as one reads a value: ``.name`` is a field, ``[]`` an element of a list, ``[0]`` one of a tuple, ``{}`` a value
of a dictionary. The pointer leads into the JSON Schema that the type would have.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from interlock.util.json_pointer import escaped, unescaped

__all__ = ["Place", "parts_of_core_schema", "place_in_core_schema", "place_of_pointer", "pointer_of_place"]

Place = tuple[str, str]
"""The place in words and the JSON Pointer; empty for the type itself."""

# Parts of pydantic's core schemas that hold no schema of a part of the value.
_ASIDE = frozenset(("metadata", "serialization", "config", "default", "cls", "ref", "type"))


def place_in_core_schema(core_schema: Any, part: Any) -> Place | None:
    """Where the core schema ``part`` (that very object) stands inside of ``core_schema``; ``None`` if it does not."""
    for found, place in _parts(core_schema, "", "", {}, frozenset()):
        if found is part:
            return place
    return None


def parts_of_core_schema(core_schema: Any) -> Iterator[Any]:
    """All core schemas inside of one, each in the place where it is first met, and itself."""
    return (part for part, _ in _parts(core_schema, "", "", {}, frozenset()))


def _parts(
    schema: Any, words: str, pointer: str, definitions: dict[str, Any], open_: frozenset[str]
) -> Iterator[tuple[Any, Place]]:
    """All core schemas inside of one, with their places, in their order."""
    if isinstance(schema, list | tuple):
        for part in schema:
            yield from _parts(part, words, pointer, definitions, open_)
        return
    if not isinstance(schema, Mapping):
        return
    yield schema, (words, pointer)
    kind = schema.get("type")
    if kind == "definitions":
        definitions = definitions | {part["ref"]: part for part in schema["definitions"]}
        yield from _parts(schema["schema"], words, pointer, definitions, open_)
        return
    if kind == "definition-ref":
        name = schema["schema_ref"]
        if name not in open_:
            yield from _parts(definitions.get(name), words, pointer, definitions, open_ | {name})
        return
    for key, part in schema.items():
        if key in _ASIDE:
            continue
        if key in ("fields", "arguments_schema"):
            named = (
                part.items()
                if isinstance(part, Mapping)
                else (
                    # A dataclass has the names of its fields beside them.
                    (field["name"], field)
                    for field in part
                    if isinstance(field, Mapping)
                )
            )
            for name, field in named:
                step = f"{pointer}/properties/{escaped(name)}"
                yield from _parts(field, f"{words}.{name}", step, definitions, open_)
        elif key == "items_schema" and isinstance(part, list) and len(part) > 1:
            for i, item in enumerate(part):
                yield from _parts(item, f"{words}[{i}]", f"{pointer}/prefixItems/{i}", definitions, open_)
        elif key == "items_schema":
            yield from _parts(part, f"{words}[]", f"{pointer}/items", definitions, open_)
        elif key == "keys_schema":
            yield from _parts(part, f"{words} keys", f"{pointer}/propertyNames", definitions, open_)
        elif key == "values_schema":
            yield from _parts(part, f"{words}{{}}", f"{pointer}/additionalProperties", definitions, open_)
        elif key == "choices" and isinstance(part, Mapping):
            yield from _parts(list(part.values()), words, pointer, definitions, open_)
        else:
            yield from _parts(part, words, pointer, definitions, open_)


def place_of_pointer(pointer: str) -> str:
    """The place in words of a JSON Pointer into a type's schema. A definition's place begins with its name.

    >>> place_of_pointer("/properties/items/items/properties/when"), place_of_pointer("/$defs/Sub/properties/file")
    ('.items[].when', 'Sub.file')
    """
    words = ""
    steps = iter(unescaped(step) for step in pointer.split("/")[1:])
    for step in steps:
        if step in ("$defs", "definitions"):
            words = next(steps, "")
        elif step == "properties":
            words += f".{next(steps, '')}"
        elif step == "prefixItems":
            words += f"[{next(steps, '')}]"
        elif step == "items":
            words += "[]"
        elif step in ("additionalProperties", "patternProperties"):
            words += "{}"
        elif step == "propertyNames":
            words += " keys"
    return words


def pointer_of_place(words: str) -> str:
    """The JSON Pointer of a place in words, into the schema with every definition in its place.

    >>> pointer_of_place("items[].when"), pointer_of_place("[0]{}")
    ('/properties/items/items/properties/when', '/prefixItems/0/additionalProperties')
    """
    found = ""
    for step in re.finditer(r"\[(\d*)\]|(\{\})|( keys)|\.?([^.\[{ ]+)", words):
        index, is_value, is_key, name = step.groups()
        if name is not None:
            found += f"/properties/{escaped(name)}"
        elif is_value or is_key:
            found += "/additionalProperties" if is_value else "/propertyNames"
        else:
            found += f"/prefixItems/{index}" if index else "/items"
    return found
