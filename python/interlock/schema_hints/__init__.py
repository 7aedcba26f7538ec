"""Mistakes in schemas that no error shows: misspelt keywords, and an API's envelope in the place of the schema.

A keyword that JSON Schema does not know asserts nothing, so ``"minLenght": 3`` compiles to a schema without a bound.
Compiling warns of it (``UnknownKeywordWarning``), the report of an index names such keywords, and ``unknown_keywords``
adds what was probably meant. ``unwrap`` takes a schema out of the envelopes in which APIs send it.

>>> import interlock, interlock.explain, interlock.schema_hints
>>> vocabulary = interlock.explain.byte_vocabulary()
>>> with interlock.schema_hints.quiet():
...     index = interlock.Index.from_json_schema({"type": "string", "minLenght": 3}, vocabulary)
>>> print(interlock.schema_hints.unknown_keywords(index)[0])
`minLenght` is no keyword of JSON Schema, so it asserts nothing; did you mean minLength?
"""

from __future__ import annotations

import contextlib
import functools
import json
import re
import threading
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from interlock._core import ArgumentError, Index, PatternError, ReportRow, SchemaError, check_json_schema
from interlock.schema_hints.envelopes import ENVELOPES, SCHEMA_KEYS, Envelope, envelope, schema_key, unwrap
from interlock.schema_hints.known_names import (
    ANNOTATIONS,
    ELSEWHERE,
    HARMLESS,
    KEYWORDS,
    OF_PYDANTIC,
    OTHER_FORMATS,
    OTHERS,
    TYPE_WORDS,
)
from interlock.string_formats import FORMATS
from interlock.util.argument_types import require
from interlock.util.caller_warnings import warn_caller
from interlock.util.near_words import nearest
from interlock.util.quoting import quoted

__all__ = [
    "ANNOTATIONS",
    "ELSEWHERE",
    "ENVELOPES",
    "FORMATS",
    "KEYWORDS",
    "SCHEMA_KEYS",
    "TYPE_WORDS",
    "Envelope",
    "UnknownDraft",
    "UnknownFormat",
    "UnknownKeyword",
    "UnknownKeywordWarning",
    "envelope",
    "handling",
    "hint_of",
    "is_quiet",
    "no_schema",
    "place_of_schemas",
    "properties_meant",
    "quiet",
    "refuse_slip",
    "refuses_slips",
    "schema_at",
    "schema_key",
    "suggested_format",
    "suggestion",
    "tells_of_slips",
    "unknown_drafts",
    "unknown_formats",
    "unknown_keywords",
    "unwrap",
    "warn_of_slips",
    "warn_unknown_keywords",
]

UNKNOWN = "not a keyword of JSON Schema"
ALIKE = 0.78
"""From this likeness on (``difflib``), one word is taken for a slip of the other."""
MORE_ALIKE = 0.88
"""The same, of a name that has a word more than the keyword."""


def hint_of(keyword: str, suggestion: str) -> str:
    """What to do about an unknown keyword: another name, or what says the same.

    >>> hint_of("min", "minimum"), hint_of("optional", ELSEWHERE["optional"])
    ('did you mean minimum?', 'leave the name out of required')
    """
    if keyword == "optional":
        return suggestion
    return f"write {suggestion}" if keyword in OTHERS else f"did you mean {suggestion}?"


@dataclass(frozen=True)
class UnknownKeyword:
    """A keyword that asserts nothing because JSON Schema does not know it. ``suggestion`` is what was probably meant;
    empty where nothing is near, as with the extensions of other tools.
    """

    pointer: str
    keyword: str
    suggestion: str

    def __str__(self) -> str:
        meant = f"; {hint_of(self.keyword, self.suggestion)}" if self.suggestion else ""
        return f"`{self.keyword}`{_at(self.pointer)} is no keyword of JSON Schema, so it asserts nothing{meant}"


@dataclass(frozen=True)
class UnknownFormat:
    """A ``format`` that asserts nothing because JSON Schema does not know its name. ``suggestion`` is the format that
    was probably meant; empty where nothing is near, as with the formats of other tools (``int32``, ``password``).
    """

    pointer: str
    format: str
    suggestion: str

    def __str__(self) -> str:
        said = f"the format `{self.format}`{_at(self.pointer)} is not known to JSON Schema, so it asserts nothing"
        return said + _did_you_mean(self.suggestion)


def _at(pointer: str) -> str:
    return f" (at {pointer})" if pointer else ""


def _did_you_mean(suggestion: str) -> str:
    return f"; did you mean {suggestion}?" if suggestion else ""


_WAYS = ("warn", "ignore", "error")


class UnknownKeywordWarning(UserWarning):
    """A schema has a keyword that asserts nothing and looks like a slip, or no keyword at all.

    ``warnings.simplefilter("error", interlock.UnknownKeywordWarning)`` refuses such schemas, ``"ignore"`` is silent.
    For schemas of strangers, ``unknown_keywords`` of ``Index.from_response_format`` says what becomes of them.
    """

    __module__ = "interlock"  # Where programs find it, as tracebacks should say.


@functools.lru_cache(maxsize=1024)
def suggestion(keyword: str) -> str:
    """The keyword of JSON Schema that was probably meant; empty if none is near.

    >>> suggestion("minLenght"), suggestion("enumDescriptions"), suggestion("x-order")
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
    near = nearest(word, plain, ALIKE)
    if near and _words(keyword) > _words(plain[near]):  # Such a name is more often an extension than a slip.
        near = nearest(word, [near], MORE_ALIKE)
    return plain[near] if near else ""


def _words(name: str) -> int:
    """How many words a name is made of, as in ``minLength`` and ``min_length``."""
    return len(re.findall(r"[A-Z]*[a-z0-9]+|[A-Z]+", name))


def _slip(key: str) -> str:
    """The keyword of which a key of a document is most likely a slip: nearer than a key of another kind may be."""
    found = suggestion(key)
    return found if found in KEYWORDS and found not in ("const", "items") and key not in ELSEWHERE else ""


def unknown_keywords(index: Index | Iterable[ReportRow] | dict[str, Any] | str | bytes) -> list[UnknownKeyword]:
    """The keywords of a schema that JSON Schema does not know, in the order of the report; of an index, of its report,
    or of a schema, which is checked as ``check_json_schema`` does.

    Costs microseconds for each row of the report; of a schema, about as long as compiling takes.

    >>> from interlock.schema_hints import unknown_keywords
    >>> [found.suggestion for found in unknown_keywords({"type": "string", "minLenght": 2})]
    ['minLength']
    """
    if isinstance(index, Index):
        rows: Iterable[ReportRow] = index.report
    elif isinstance(index, dict | str | bytes):
        with quiet():
            rows = check_json_schema(index)
    else:
        rows = index
    unknown = [row for row in rows if row.enforcement == "annotation" and row.reason == UNKNOWN]
    return [UnknownKeyword(row.pointer, row.keyword, suggestion(row.keyword)) for row in unknown]


@functools.lru_cache(maxsize=1024)
def suggested_format(name: str) -> str:
    """The format of JSON Schema that was probably meant; empty if none is near.

    >>> suggested_format("date-tiem"), suggested_format("dateTime"), suggested_format("int32")
    ('date-time', 'date-time', '')
    """
    if name in FORMATS:  # Of a later draft than the schema's.
        return ""
    plain = {known.replace("-", ""): known for known in sorted(FORMATS)}
    word = name.lower().replace("-", "").replace("_", "").replace(" ", "")
    found = nearest(word, plain, ALIKE)
    return OTHER_FORMATS.get(word, plain[found] if found else "")


def unknown_formats(index: Index | Iterable[ReportRow]) -> list[UnknownFormat]:
    """The formats in a schema that JSON Schema does not know, in the order of the report; of an index or its report.

    >>> import interlock
    >>> [found.suggestion for found in unknown_formats(interlock.check_json_schema({"format": "emial"}))]
    ['email']
    """
    rows = index.report if isinstance(index, Index) else index
    found = [(row.pointer, _FORMAT_REASON.fullmatch(row.reason)) for row in rows if row.keyword == "format"]
    return [UnknownFormat(at, match[1], suggested_format(match[1])) for at, match in found if match]


_FORMAT_REASON = re.compile(r'the format "(.*)" is not known', re.DOTALL)

DRAFTS = (
    "http://json-schema.org/draft-04/schema#",
    "http://json-schema.org/draft-06/schema#",
    "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
)
"""What ``$schema`` says in the drafts that are known."""


@dataclass(frozen=True)
class UnknownDraft:
    """A ``$schema`` that names no draft, and looks like a slip of ``suggestion``, which does."""

    pointer: str
    schema: str
    suggestion: str

    def __str__(self) -> str:
        said = "names no draft of JSON Schema, so the schema is read as 2020-12 with the keywords of older drafts"
        return f"`$schema`{_at(self.pointer)} {said}{_did_you_mean(self.suggestion)}"


def unknown_drafts(rows: Iterable[ReportRow]) -> list[UnknownDraft]:
    """Each ``$schema`` in a report that names a draft which JSON Schema does not have, or one by its bare name.
    Dialects of others, under addresses of their own, are none of these.

    >>> import interlock
    >>> print(unknown_drafts(interlock.check_json_schema({"$schema": "draft-07"}))[0].suggestion)
    http://json-schema.org/draft-07/schema#
    """
    named = [(row.pointer, _DRAFT_REASON.fullmatch(row.reason)) for row in rows if row.keyword == "$schema"]
    return [UnknownDraft(at, uri[1], near) for at, uri in named if uri and (near := _draft_meant(uri[1]))]


def _draft_meant(uri: str) -> str:
    """The draft that was probably meant; empty where the name may be that of another dialect."""
    name = _BARE_DRAFT.fullmatch(uri)
    if not name and not re.search(r"\bjson-?schema\.org\b", uri, re.IGNORECASE):
        return ""
    if number := re.search(r"draft\W*v?0?([1-8])(?!\d)", uri, re.IGNORECASE):
        return DRAFTS[_BY_NUMBER[int(number[1])]]
    return nearest(name[1] if name else uri, DRAFTS, 0) if re.search(r"\d", uri) else DRAFTS[-1]


_BY_NUMBER = (0, 0, 0, 0, 0, 0, 1, 2, 3)
"""By the number of a draft, the place in ``DRAFTS`` of the next one there is; draft 5 changed no keyword of draft 4."""
_DRAFT_REASON = re.compile(r'"(.*)" is not known and was not passed .*', re.DOTALL)
_BARE_DRAFT = re.compile(
    r"(?:json[-_ ]?schema)?[-_/ ]*((?:draft)?[-_/ ]*20\d\d-\d\d|draft[-_/ ]*v?\d\d?)(?:/schema)?#?",
    re.IGNORECASE,
)

_handling = threading.local()


@contextlib.contextmanager
def handling(unknown_keywords: Literal["warn", "ignore", "error"]) -> Iterator[None]:
    """What becomes of slips in this thread meanwhile: ``"ignore"``, ``"error"`` (a ``SchemaError`` with the place), or
    ``"warn"``: what it was before, which is an ``UnknownKeywordWarning`` unless another ``handling`` is around it.
    A POSIX class in a pattern is a slip, too. ``ArgumentError`` for another word.

    >>> import interlock
    >>> try:
    ...     with handling("error"):
    ...         interlock.check_json_schema({"items": {"type": "string", "minLenght": 3}})
    ... except interlock.SchemaError as error:
    ...     print(error.pointer, error.keyword)
    /items minLenght
    """
    if unknown_keywords not in _WAYS:
        require(unknown_keywords=(unknown_keywords, "text"))
        known = ", ".join(map(repr, _WAYS))
        raise ArgumentError(f"unknown_keywords must be one of {known}, not {quoted(unknown_keywords)}")
    before = getattr(_handling, "way", "warn")
    _handling.way = before if unknown_keywords == "warn" else unknown_keywords
    try:
        yield
    finally:
        _handling.way = before


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """No warnings of slips in this thread meanwhile: for schemas of strangers, and for a source that is compiled again.

    Also a decorator of functions.
    """
    with handling("ignore"):
        yield


@contextlib.contextmanager
def schema_at(place: str) -> Iterator[None]:
    """Slips in schemas that are compiled meanwhile in this thread are told with places that begin with ``place``."""
    before = getattr(_handling, "place", "")
    _handling.place = place
    try:
        yield
    finally:
        _handling.place = before


def place_of_schemas() -> str:
    """Where a schema stands that is compiled now in this thread, as ``schema_at`` says."""
    place: str = getattr(_handling, "place", "")
    return place


def is_quiet() -> bool:
    """Whether nobody in this thread is warned of slips now: they are ignored, or they are errors."""
    return getattr(_handling, "way", "warn") != "warn"


def warn_unknown_keywords(index: Index) -> None:
    """Warn (``UnknownKeywordWarning``) of each unknown keyword that looks like a slip of a known one, and of a schema
    without any keyword. Compiling a schema does it already.
    """
    warn_of_slips(index.report)


def tells_of_slips(schemas: int) -> bool:
    """Whether so many schemas are looked through for slips alone: for an error always, for warnings if they are few."""
    way = getattr(_handling, "way", "warn")
    return way == "error" or (way == "warn" and schemas <= FEW_SCHEMAS and not _is_ignored())


FEW_SCHEMAS = 64
"""Of more tools nobody is warned: it would take longer than compiling them."""


def warn_of_slips(rows: Iterable[ReportRow], schema: str = "", place: str = "") -> None:
    """What compiling calls with the rows of unknown keywords, formats and drafts, and the schema's text; ``place`` is
    where the schema stands in what a client sent.
    """
    way = getattr(_handling, "way", "warn")
    if way == "ignore" or (way == "warn" and _is_ignored()):
        return
    place = place or place_of_schemas()
    tell = refuse_slip if way == "error" else _warn
    rows = list(rows)
    found = unknown_keywords(rows)
    if len(schema) <= MOST_READ and any(not one.pointer for one in found):
        reason = no_schema(json.loads(schema or "true", parse_int=_integer))
        if reason:
            tell(f"this schema{_at(place)} accepts every JSON value: {reason}", place, None)
            return
    for one in found:
        if one.suggestion and one.suggestion not in HARMLESS and one.keyword not in HARMLESS:
            there = UnknownKeyword(place + one.pointer, one.keyword, one.suggestion)
            tell(str(there), there.pointer, there.keyword)
    for each in unknown_formats(rows):
        if each.suggestion and each.format not in OF_PYDANTIC:
            written = UnknownFormat(place + each.pointer, each.format, each.suggestion)
            tell(str(written), written.pointer, "format")
    for draft in unknown_drafts(rows):
        tell(str(replace(draft, pointer=place + draft.pointer)), place + draft.pointer, "$schema")


MOST_READ = 1 << 16
"""Of longer texts nobody looks whether they have any keyword."""


def _is_ignored() -> bool:
    """Whether these warnings are off in general, so that the search for what was meant can be left out."""
    for action, message, category, module, _ in warnings.filters:
        if issubclass(UnknownKeywordWarning, category) and message is None and module is None:
            return action == "ignore"
    return False


def _warn(message: str, pointer: str, keyword: str | None) -> None:
    warn_caller(message, UnknownKeywordWarning)


def refuses_slips() -> bool:
    """Whether slips are errors now in this thread."""
    return getattr(_handling, "way", "warn") == "error"


def refuse_slip(
    message: str, pointer: str, keyword: str | None, kind: type[SchemaError | PatternError] = SchemaError
) -> None:
    """Raise ``kind``, for a slip at ``pointer``."""
    error = kind("".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in message[:MOST_SAID]))
    error.pointer, error.keyword = pointer, keyword
    raise error


MOST_SAID = 1_000
"""Characters of a refusal: a client wrote parts of it."""


def _integer(digits: str) -> float:
    """An integer of a document, or what stands for one of more digits than Python reads: names alone matter here."""
    return int(digits) if len(digits) < _MOST_DIGITS else float(digits)


def no_schema(document: Any, annotations: bool = True) -> str:
    """Why a parsed JSON document is most likely no schema; empty if it may be one.

    Any JSON object is a schema by the letter of the specification. One with keys, none of which is a keyword, asserts
    nothing; it is a document that came into the wrong place. With ``annotations=False``, keywords that only annotate
    (``title``, ``id``, ``default`` and so on) make no schema either, since documents have such keys, too: that is how
    the command line reads files.

    >>> no_schema({"title": "Dune", "pages": 412}, annotations=False)
    'none of its keys (title, pages) is a keyword of JSON Schema that asserts something'
    """
    if isinstance(document, bool):
        return ""
    if not isinstance(document, dict):
        kind = "null" if document is None else "an array" if isinstance(document, list) else "a single value"
        return f"it is {kind}; a schema is an object, true or false"
    if not document or (KEYWORDS if annotations else KEYWORDS - ANNOTATIONS) & document.keys():
        return ""
    keys = list(document)
    shown = ", ".join(keys[:4]) + (" ..." if len(keys) > 4 else "")
    unknown = [key for key in keys if key not in ANNOTATIONS]
    slips = [_slip(key) for key in unknown]
    meant = ", ".join(slips) if slips and all(slips) else properties_meant(document)
    if key := schema_key(document):
        meant = ""
    asserting = " that asserts something" if len(unknown) < len(keys) else ""
    why = f"none of its keys ({shown}) is a keyword of JSON Schema{asserting}"
    why += f"; its key {key} holds a schema" if key else ""
    return why + _did_you_mean(meant)


_MOST_DIGITS = 640
"""Digits that Python reads, however low a program sets its bound."""


def properties_meant(document: Mapping[str, Any]) -> str:
    """The schema of an object whose properties ``document`` names, if it maps names to types; else empty.

    >>> properties_meant({"name": "string", "age": {"type": "integer"}})
    '{"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}}'
    """
    properties: dict[str, Any] = {}
    for name, value in document.items():
        if isinstance(value, str) and value.lower() in TYPE_WORDS:
            properties[name] = {"type": TYPE_WORDS[value.lower()]}
        elif isinstance(value, Mapping) and KEYWORDS & value.keys():
            properties[name] = value
        else:
            return ""
    if not properties or len(properties) > 3:
        return '{"type": "object", "properties": {...}}' if properties else ""
    return json.dumps({"type": "object", "properties": properties}, default=str)
