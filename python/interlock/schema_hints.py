"""Mistakes in schemas that no error shows: misspelt keywords, and an API's envelope in the place of the schema.

A keyword that JSON Schema does not know asserts nothing, so ``"minLenght": 3`` compiles to a schema without a bound.
The report of an index names such keywords; ``unknown_keywords`` adds what was probably meant. ``unwrap`` takes a schema
out of the envelopes in which APIs send it.

>>> import interlock, interlock.explain, interlock.schema_hints
>>> vocabulary = interlock.explain.byte_vocabulary()
>>> index = interlock.Index.from_json_schema({"type": "string", "minLenght": 3}, vocabulary)
>>> print(interlock.schema_hints.unknown_keywords(index)[0])
`minLenght` is no keyword of JSON Schema, so it asserts nothing; did you mean minLength?
"""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from interlock._core import Index, ReportRow

KEYWORDS = frozenset(
    "$anchor $comment $defs $dynamicAnchor $dynamicRef $id $recursiveAnchor $recursiveRef $ref $schema $vocabulary "
    "additionalItems additionalProperties allOf anyOf const contains contentEncoding contentMediaType contentSchema "
    "default definitions dependencies dependentRequired dependentSchemas deprecated description else enum examples "
    "exclusiveMaximum exclusiveMinimum format id if items maxContains maxItems maxLength maxProperties maximum "
    "minContains minItems minLength minProperties minimum multipleOf not oneOf pattern patternProperties prefixItems "
    "properties propertyNames readOnly required then title type unevaluatedItems unevaluatedProperties uniqueItems "
    "writeOnly".split()
)
"""All keywords of drafts 4 to 2020-12."""
ELSEWHERE = {
    "nullable": '"type": ["string", "null"], since nullable is OpenAPI\'s',
    "discriminator": "a const in each alternative, since discriminator is OpenAPI's",
    "optional": "leave the name out of required",
    "extends": "allOf",
    "divisibleBy": "multipleOf",
    "disallow": "not",
    "values": "enum",
    "regex": "pattern",
    "min": "minimum",
    "max": "maximum",
    "options": "enum",
    "choices": "enum",
    "oneof": "oneOf",
}
"""What names that other languages have are called in JSON Schema."""
OTHERS = frozenset({"nullable", "discriminator", "optional"})
UNKNOWN = "not a keyword of JSON Schema"
ALIKE = 0.78
"""From this likeness on (``difflib``), one word is taken for a slip of the other."""


@dataclass(frozen=True)
class UnknownKeyword:
    """A keyword that asserts nothing because JSON Schema does not know it. ``suggestion`` is what was probably meant;
    empty where nothing is near, as with the extensions of other tools.
    """

    pointer: str
    keyword: str
    suggestion: str

    def __str__(self) -> str:
        where = f" (at {self.pointer})" if self.pointer else ""
        meant = f"; did you mean {self.suggestion}?" if self.suggestion else ""
        if self.keyword in OTHERS:
            meant = f"; write {self.suggestion}"
        return f"`{self.keyword}`{where} is no keyword of JSON Schema, so it asserts nothing{meant}"


class UnknownKeywordWarning(UserWarning):
    """A schema has a keyword that asserts nothing and looks like a slip."""


def suggestion(keyword: str) -> str:
    """The keyword of JSON Schema that was probably meant; empty if none is near.

    >>> suggestion("minLenght"), suggestion("required_properties"), suggestion("x-order")
    ('minLength', '', '')
    """
    if keyword in KEYWORDS:
        return keyword
    if keyword in ELSEWHERE:
        return ELSEWHERE[keyword]
    if keyword.startswith(("x-", "x_")):
        return ""
    plain = {known.lower().lstrip("$"): known for known in sorted(KEYWORDS, reverse=True)}
    word = keyword.lower().replace("_", "").replace("-", "").lstrip("$")
    if word in plain:
        return plain[word]
    near = difflib.get_close_matches(word, plain, n=1, cutoff=ALIKE)
    return plain[near[0]] if near else ""


def _slip(key: str) -> str:
    """The keyword of which a key of a document is most likely a slip: nearer than a key of another kind may be."""
    found = suggestion(key)
    return found if found in KEYWORDS and found not in ("const", "items") and key not in ELSEWHERE else ""


def unknown_keywords(index: Index | Iterable[ReportRow]) -> list[UnknownKeyword]:
    """The keywords of a schema that JSON Schema does not know, in the order of the report; of an index or its report.

    Costs microseconds for each row of the report.
    """
    rows = index.report if isinstance(index, Index) else index
    unknown = [row for row in rows if row.enforcement == "annotation" and row.reason == UNKNOWN]
    return [UnknownKeyword(row.pointer, row.keyword, suggestion(row.keyword)) for row in unknown]


def warn_unknown_keywords(index: Index, stacklevel: int = 2) -> None:
    """Warn (``UnknownKeywordWarning``) of each unknown keyword that looks like a slip of a known one."""
    for found in unknown_keywords(index):
        if found.suggestion:
            warnings.warn(str(found), UnknownKeywordWarning, stacklevel=stacklevel)


ENVELOPES: tuple[tuple[str, tuple[str, ...], frozenset[str]], ...] = (
    ("a chat-completions response_format", ("response_format", "json_schema", "schema"), frozenset()),
    ("a response_format", ("json_schema", "schema"), frozenset({"type"})),
    ("a responses text format", ("text", "format", "schema"), frozenset()),
    ("a responses format", ("format", "schema"), frozenset({"type"})),
    ("a tool", ("function", "parameters"), frozenset({"type"})),
    ("a tool", ("input_schema",), frozenset({"name"})),
    ("a tool", ("inputSchema",), frozenset({"name"})),
    ("a function", ("parameters",), frozenset({"name"})),
    ("structured-output parameters", ("structured_outputs", "json"), frozenset()),
    ("guided-decoding parameters", ("guided_json",), frozenset()),
    ("a named schema", ("schema",), frozenset({"name"})),
)
"""What it is, the keys on the way to the schema, and the keys that must stand beside the first of them."""


@dataclass(frozen=True)
class Envelope:
    """A schema that stands inside something else: what that is, and the keys on the way."""

    kind: str
    path: tuple[str, ...]
    schema: Any

    def __str__(self) -> str:
        return f"this is {self.kind}, an envelope around a schema; the schema is what {'.'.join(self.path)} holds"


def envelope(document: Any) -> Envelope | None:
    """The envelope that ``document`` (parsed JSON) is, or ``None`` if it is no known one.

    An object with any keyword of JSON Schema that asserts something is a schema, whatever its other keys are.

    >>> envelope({"name": "user", "strict": True, "schema": {"type": "object"}}).path
    ('schema',)
    """
    if not isinstance(document, dict):
        return None
    kind = document.get("type")
    marked = kind in ("json_schema", "function", "text")
    known = (KEYWORDS - {"title", "description", "id", "$schema", "format", "default"}) & document.keys()
    if known - ({"type"} if marked else set()):
        return None
    for name, path, beside in ENVELOPES:
        inner: Any = document
        for key in path:
            inner = inner.get(key) if isinstance(inner, dict) else None
        if not isinstance(inner, (dict, bool)) or not beside <= document.keys():
            continue
        if path[-1] == "schema" and len(path) == 1 and marked:
            name = "a responses format"
        return Envelope(name, path, inner)
    return None


def unwrap(document: Any) -> Any:
    """The schema in an API's envelope, or ``document`` itself where it is none. Nothing is copied.

    >>> unwrap({"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "integer"}}})
    {'type': 'integer'}
    """
    found = envelope(document)
    return document if found is None else found.schema


def no_schema(document: Any) -> str:
    """Why a parsed JSON document is most likely no schema; empty if it may be one.

    Any JSON object is a schema by the letter of the specification. One with keys, none of which is a keyword, asserts
    nothing; it is a document that came into the wrong place.
    """
    if isinstance(document, bool):
        return ""
    if not isinstance(document, dict):
        kind = "null" if document is None else "an array" if isinstance(document, list) else "a single value"
        return f"it is {kind}; a schema is an object, true or false"
    if not document or KEYWORDS & document.keys():
        return ""
    keys = list(document)
    shown = ", ".join(keys[:4]) + (" ..." if len(keys) > 4 else "")
    slips = [_slip(key) for key in keys]
    meant = f"; did you mean {', '.join(slips)}?" if all(slips) else ""
    return f"none of its keys ({shown}) is a keyword of JSON Schema{meant}"
