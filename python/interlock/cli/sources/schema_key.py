"""``--schema-key``: a schema inside a larger JSON document, together with what it refers to there.

The key is one of the top (``schema``), or a JSON Pointer to any place (``/components/schemas/User`` of an OpenAPI
document). References of the schema to other places of the document (``#/components/schemas/Address``) lead out of it,
so those places are put into the schema under the same pointers, where they assert nothing.
"""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import unquote

from interlock.cli.terminal.exits import InputError, UsageError
from interlock.cli.terminal.suggest import near_file
from interlock.schema_hints import KEYWORDS
from interlock.util.json_pointer import escaped, unescaped, value_at
from interlock.util.near_words import nearest
from interlock.util.verbatim_json import dump, parse, read

PLACES = ("$defs", "definitions")
"""Keywords that hold schemas and assert nothing."""


def in_file(word: str, key: str | None) -> tuple[str, str] | None:
    """The file and the place of ``order.json#/$defs/item``, as references name a schema in a file; ``None`` for other
    words. ``key`` is that of ``--schema-key``, beside which no place may stand.
    """
    name = word.removeprefix("schema:@")
    file, mark, inside = name.partition("#")
    is_name = bool(mark) and file.lower().endswith((".json", ".schema")) and not set(file) & set(':{"*')
    if not is_name or os.path.exists(name):
        return None
    if not os.path.isfile(file):
        meant = near_file(file)
        raise UsageError(
            f"no file is named {file!r}", f"did you mean {meant}{mark}{inside}?" if meant else "", no_source=True
        )
    if key:
        raise UsageError(f"{word} names a place in the file, and --schema-key another: leave out one of the two")
    return file, f"#{inside}" if inside.startswith("/") else inside


def is_json(data: bytes) -> bool:
    """Whether a text is JSON, or nested too deeply to tell."""
    try:
        read(data)
    except RecursionError:
        return True
    except ValueError:
        return False
    return True


def take(data: bytes, key: str) -> str:
    """The text of the schema at ``key``, numbers and the order of keys kept. ``InputError`` if nothing is there."""
    document = parse(data)
    schema = find(document, key)
    return dump(_with_targets(schema, document, _is_pointer(document, key)))


def pointer(data: bytes, key: str) -> str:
    """The JSON Pointer that a key stands for."""
    steps = _steps(key) if _is_pointer(parse(data), key) else [key]
    return "".join("/" + escaped(step) for step in steps)


def find(document: Any, key: str) -> Any:
    """What stands at a key of the top or a JSON Pointer. ``InputError``, with what was meant, if nothing does."""
    if not _is_pointer(document, key):
        if not isinstance(document, dict):
            raise UsageError(f"the file is no JSON object, so it has no key {key!r} (see --schema-key)")
        if key not in document:
            instead = _instead(key, document)
            if inside := _pointer_meant(document, key):
                instead = f", did you mean {inside}?"
            if "." in key and value_at(document, key.split("."), _NOTHING) is not _NOTHING:
                instead = f"; for what is inside, write --schema-key /{key.replace('.', '/')}"
            raise UsageError(f"the file has no key {key!r} at its top{instead} (see --schema-key)")
        return document[key]
    steps = _steps(key)
    for depth, step in enumerate(steps):
        place = "/" + "/".join(steps[:depth]) if depth else "the top of the file"
        outer = value_at(document, steps[:depth], _NOTHING)
        if value_at(outer, [step], _NOTHING) is _NOTHING:
            if isinstance(outer, dict):
                raise UsageError(
                    f"nothing is at {key}: {place} has no key {step!r}{_instead(step, outer)} (--schema-key)"
                )
            what = f"a list of {len(outer)}" if isinstance(outer, list) else "no object"
            raise UsageError(f"nothing is at {key}: at {place} is {what}, which has no {step!r} (--schema-key)")
    return value_at(document, steps, _NOTHING)


_NOTHING = object()


def _is_pointer(document: Any, key: str) -> bool:
    is_key = isinstance(document, dict) and key in document
    return key.startswith(("/", "#/")) and not is_key


def _steps(pointer: str) -> list[str]:
    """The keys of a JSON Pointer, or of a reference that begins with ``#``."""
    pointer = unquote(pointer[1:]) if pointer.startswith("#") else pointer
    return [unescaped(step) for step in pointer.split("/")[1:]]


def definition_meant(reference: str, schema: Any) -> str:
    """The reference to a definition of the schema that has the name, or a near one, of what a reference leads to;
    empty if none.
    """
    address, mark, fragment = reference.partition("#")
    if mark and address or ":" in address or "." in address:
        return ""
    name = unescaped(unquote((fragment or address).rpartition("/")[2]))
    places = [
        (steps, value_at(schema, steps, _NOTHING)) for steps in (["$defs"], ["definitions"], ["components", "schemas"])
    ]
    held = [(steps, there) for steps, there in places if isinstance(there, dict)]
    for steps, there in held:
        if (meant := name if name in there else nearest(name, there)) and f"#/{'/'.join(steps)}/{meant}" != reference:
            return "#/" + "/".join(escaped(step) for step in [*steps, meant])
    return ""


def schemas_of(document: Any) -> list[str]:
    """The pointers of the schemas that an API's document names (OpenAPI, or Swagger's ``definitions``)."""
    for steps in (["components", "schemas"], ["definitions"], ["$defs"]):
        there = value_at(document, steps, _NOTHING)
        if isinstance(there, dict) and there:
            return ["".join("/" + escaped(step) for step in [*steps, name]) for name in there]
    return []


def _pointer_meant(document: dict[str, Any], key: str) -> str:
    """The pointer that a name of a schema, or a pointer without its first slash, stands for; empty if none."""
    if "/" in key and value_at(document, _steps("/" + key), _NOTHING) is not _NOTHING:
        return f"/{key}"
    return next((place for place in schemas_of(document) if place.endswith("/" + escaped(key))), "")


class OuterFile:
    """The file that a schema was taken out of, to say where in it a place of the schema is."""

    def __init__(self, text: str, inside: str) -> None:
        self._document, self._inside = parse(text.encode()), inside

    def place(self, where: str) -> str:
        """The JSON Pointer in the file. What the schema refers to outside of itself has the same pointer in both."""
        whole = self._inside + where
        return whole if value_at(self._document, _steps(whole), _NOTHING) is not _NOTHING else where


def _instead(key: str, there: dict[str, Any]) -> str:
    """The key that was probably meant, or those that are there."""
    if meant := nearest(key, there):
        return f", did you mean {meant!r}?"
    some = ", ".join(map(repr, list(there)[:8])) or "none"
    return f"; it has {some}" + (", …" if len(there) > 8 else "")


def _with_targets(schema: Any, document: Any, is_pointer: bool) -> Any:
    """A schema with the places of the document that it refers to, and that those refer to."""
    if not isinstance(schema, dict):
        return schema
    whole = dict(schema)
    ways: list[Any] = [schema]
    for part in ways:
        if isinstance(part, list):
            ways += part
        elif isinstance(part, dict):
            ways += part.values()
            reference = part.get("$ref")
            if isinstance(reference, str) and reference.startswith("#/"):
                steps = _steps(reference)
                there, here = value_at(document, steps, _NOTHING), value_at(whole, steps, _NOTHING)
                if here is not _NOTHING:
                    if is_pointer and there is not _NOTHING and dump(there) != dump(here):
                        raise InputError(
                            f"{reference} names one thing in the file and another in the schema at --schema-key: "
                            "rename one of the two"
                        )
                elif there is not _NOTHING:
                    _put(whole, steps, document, reference)
                    ways.append(there)
    return whole


def _put(whole: dict[str, Any], steps: list[str], document: Any, reference: str) -> None:
    if steps[0] in KEYWORDS - {*PLACES}:
        raise InputError(
            f"{reference} leads to the keyword {steps[0]} of the file, outside of the schema at --schema-key",
            "move what it names to $defs of the file",
        )
    inner, outer = whole, document
    for step in steps[:-1]:
        outer = value_at(outer, [step], _NOTHING)
        if isinstance(outer, list):
            inner[step] = outer
            return
        inner[step] = dict(inner.get(step, {}))  # The file's own objects stay as they are.
        inner = inner[step]
    inner[steps[-1]] = value_at(outer, steps[-1:], _NOTHING)
