"""Whether JSON in the place of a schema is a schema, or an answer that came into the wrong place.

Any object is a schema by the letter of JSON Schema, and answers have keys that are names of keywords, too: ``items`` of
an order, ``minimum`` of a setting. Such an answer would compile, and accept nearly everything. So the known keys are
counted against the unknown ones, and a keyword counts only where it holds what a keyword of that name can hold.
"""

from __future__ import annotations

from typing import Any

from interlock.schema_hints import ANNOTATIONS, ELSEWHERE, KEYWORDS, TYPE_WORDS, no_schema, suggestion
from interlock.schema_hints.schema_keywords import MAPS
from interlock.util.near_words import nearest

SCALARS = frozenset(
    "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems minProperties "
    "maxProperties minContains maxContains uniqueItems pattern format contentEncoding contentMediaType".split()
)
"""Keywords with a plain value, as fields of answers have: one of them alone does not make a schema."""
TEXTS = frozenset("pattern format contentEncoding contentMediaType $ref $dynamicRef $recursiveRef".split())
"""Keywords that hold a text."""
SWITCHES = frozenset("uniqueItems exclusiveMinimum exclusiveMaximum".split())
"""Keywords that hold true or false; the last two do in draft 4."""
LISTS = frozenset("allOf anyOf oneOf prefixItems".split())
"""Keywords that hold a list of schemas."""
SHOWN = 4


def is_answer(document: Any) -> str:
    """Why a parsed JSON document is most likely no schema; empty if it may be one.

    >>> is_answer({"name": "x", "minimum": 3})
    'of its keys (name, minimum) only minimum is a keyword of JSON Schema'
    >>> is_answer({"name": "x", "items": [{"sku": 1}]})
    'of its keys (name, items) only items is a keyword of JSON Schema, and what it holds is no schema'
    >>> is_answer({"type": "array", "order": 3}), is_answer({"minimum": 3}), is_answer({"x-unit": "m", "minimum": 3})
    ('', '', '')
    """
    if reason := no_schema(document, annotations=False):
        return reason
    if not isinstance(document, dict):
        return ""
    known = [key for key in document if key in KEYWORDS - ANNOTATIONS]
    fitting = [key for key in known if _fits(key, document[key])]
    if any(key not in SCALARS for key in fitting):
        return ""
    others = [key for key in document if key not in KEYWORDS and not _is_slip(key)]
    others += [key for key in ("items",) if key in known and key not in fitting and _holds_answers(document[key])]
    if len(fitting) > len(others) or not others:
        return ""
    shown = ", ".join(list(document)[:SHOWN]) + (" ..." if len(document) > SHOWN else "")
    many = len(known) > 1
    words = ", ".join(known[:SHOWN])
    why = f"of its keys ({shown}) only {words} {'are keywords' if many else 'is a keyword'} of JSON Schema"
    if fitting:
        return why
    return f"{why}, and what {'they hold' if many else 'it holds'} is no schema"


def is_doubtful(document: Any) -> bool:
    """Whether most keys of what may be a schema are no keywords, so that an answer with a ``type`` may look like it."""
    if not isinstance(document, dict):
        return False
    others = [key for key in document if key not in KEYWORDS and not _is_slip(key)]
    return len(others) > len(document) - len(others)


def _is_slip(key: str) -> bool:
    """Whether an unknown key is an extension, a keyword of another language, or a slip of a keyword."""
    return key.startswith(("x-", "x_", "$")) or key in ELSEWHERE or suggestion(key) not in ("", "const", "items")


def _fits(keyword: str, value: Any) -> bool:
    """Whether a keyword of this name may hold the value. Slips in it (a misspelt type) are the engine's to say."""
    if keyword == "type":
        words = value if isinstance(value, list) else [value]
        return all(isinstance(word, str) and nearest(word, TYPE_WORDS) for word in words)
    if keyword in MAPS:
        return isinstance(value, dict) and all(isinstance(part, dict | bool) for part in value.values())
    if keyword in LISTS:
        return isinstance(value, list) and all(isinstance(part, dict | bool) for part in value)
    if keyword in ("enum", "required"):
        return isinstance(value, list)
    if keyword in TEXTS:
        return isinstance(value, str)
    if isinstance(value, bool) and keyword in SCALARS:
        return keyword in SWITCHES
    if keyword in SCALARS:
        return isinstance(value, int | float) and keyword != "uniqueItems"
    if keyword in ("const", "dependencies", "dependentRequired") or keyword.startswith("$"):
        return True
    if keyword == "items" and isinstance(value, list):
        return all(map(_may_be_schema, value))
    return _may_be_schema(value)


def _may_be_schema(value: Any) -> bool:
    """Whether a part is a schema by its own keys; what is nested in it is not looked at, however deep it is."""
    if not isinstance(value, dict):
        return isinstance(value, bool)
    known = KEYWORDS & value.keys()
    others = [key for key in value if key not in known and not _is_slip(key)]
    return not value or len(known) > len(others) or bool(known - ANNOTATIONS - SCALARS)


def _holds_answers(value: Any) -> bool:
    """Whether a list or an object holds what is no schema: then its name is no keyword here, but a field."""
    return isinstance(value, dict | list) and bool(value)


TOOLS = (
    "--tool-format NAME says how the model writes calls (hermes, qwen3_coder, llama3_json, ...), and makes a source of "
    "them; --schema-key POINTER takes the parameters of one tool alone"
)
"""What to do about a list of tools in the place of a schema."""


def tools_in(document: Any) -> str:
    """What a document is that holds a list of tools; empty if it holds none."""
    if _are_tools(document):
        return "is a list of tools"
    if isinstance(document, dict) and _are_tools(document.get("tools")):
        return "is a request with a list of tools"
    return ""


def _are_tools(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(tool, dict) and (isinstance(tool.get("function"), dict) or "name" in tool) for tool in value)
    )
