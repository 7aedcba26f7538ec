"""How a ``response_format`` of each type is written, for errors about one that lacks something."""

from __future__ import annotations

__all__ = ["SCHEMA_GOES", "WRITTEN", "missing", "missing_schema", "path_of"]

SCHEMA_GOES = '{"type": "json_schema", "json_schema": {"name": …, "schema": …}}'
_FLAT = '{"type": "json_schema", "name": …, "schema": …}'
"""How the Responses API writes it: its ``text.format`` is the envelope itself."""

WRITTEN = {
    "json": SCHEMA_GOES,
    "json_schema": SCHEMA_GOES,
    "regex": '{"type": "regex", "pattern": …}',
    "choice": '{"type": "choice", "choices": […]}',
    "grammar": '{"type": "grammar", "grammar": …}',
    "ebnf": '{"type": "grammar", "syntax": "ebnf", "grammar": …}',
    "structural_tag": '{"type": "structural_tag", "format": …}',
    "text": '{"type": "text"}',
    "json_object": '{"type": "json_object"}',
}
"""How an object of each type is written, for clients that sent the type alone."""


def path_of(pointer: str, field: str) -> str:
    """A field of the object at ``pointer``, as programs write it.

    >>> path_of("/text/format", "schema")
    'text.format.schema'
    """
    return f"{pointer}/{field}"[1:].replace("/", ".")


def missing(field: str, kind: str, pointer: str) -> str:
    """What is said of an object of this type at ``pointer`` that lacks ``field``.

    >>> missing("pattern", "regex", "/response_format")
    'response_format.pattern is missing: write {"type": "regex", "pattern": …}'
    """
    return f"{path_of(pointer, field)} is missing: write {WRITTEN[kind]}"


def missing_schema(pointer: str) -> str:
    """The same for one that lacks its schema.

    >>> missing_schema("/text/format")
    'text.format.schema is missing: write {"type": "json_schema", "name": …, "schema": …}'
    """
    if pointer.endswith("/format"):
        return f"{path_of(pointer, 'schema')} is missing: write {_FLAT}"
    return missing("json_schema/schema", "json_schema", pointer)
