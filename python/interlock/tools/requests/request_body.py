"""The format that the body of a request asks for, in whichever field it does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interlock.tools.errors import RequestError
from interlock.tools.requests.unsupported_fields import refuse_slips, refuse_unsupported_fields
from interlock.tools.spec.fields import kind_of
from interlock.util.client_messages import with_hint

__all__ = ["format_of_request", "is_of_body"]

_BESIDE = ("guided_whitespace_pattern", "guided_decoding_backend")
"""Fields that go with a constraint and are none."""
_OF_A_FORMAT = ("type", "schema", "json_schema")
"""Fields of a format, which are lost beside it."""
FIELDS = (
    *("response_format", "structured_outputs"),
    *("guided_json", "guided_regex", "guided_choice", "guided_grammar", "guided_json_object"),  # vLLM's older names
    *("json_schema", "regex", "ebnf", "grammar"),  # SGLang's and llama.cpp's
)
"""Fields of a body that constrain its output."""


def format_of_request(body: Any) -> dict[str, Any] | None:
    """What the JSON body of a request asks of its output, for ``Index.from_response_format``, ``request_kind`` and the
    ``response_format`` of ``Index.from_tools``; ``None`` where it asks for nothing.

    It is ``response_format``, or what servers take in its place: ``text.format`` of the Responses API,
    ``structured_outputs``, ``guided_json`` and its like of vLLM, ``json_schema``, ``regex``, ``ebnf`` and ``grammar``
    of SGLang and llama.cpp. Places in errors lead into the body. ``null`` is the same as nothing, and
    ``false`` is where the field is a flag (``guided_json_object``): elsewhere it is a schema that accepts nothing, or
    no value of the field. An object without anything in it is nothing in a field of other servers that holds no JSON
    Schema (``toolConfig``).

    ``RequestError`` for a body that is no object, for two constraints at once, for a constraint in a field that other
    servers have (``format`` of Ollama, ``functions``), and for a name that looks like a slip of a constraint's
    (``guided_jsn``). Other fields are left alone. A body, and an object in it that is looked through for slips, has at
    most 1,000 fields: more take seconds. ``pointer`` is that of the first field that is one too many.

    >>> format_of_request({"messages": [], "guided_choice": ["yes", "no"], "response_format": None})
    {'guided_choice': ['yes', 'no']}
    >>> format_of_request({"input": "Well?", "text": {"format": {"type": "json_object"}, "verbosity": "low"}})
    {'text': {'format': {'type': 'json_object'}}}
    """
    if not isinstance(body, Mapping):
        error = RequestError(f"the body of a request is a JSON object, not {kind_of(body)}")
        way = "json.loads reads a text" if isinstance(body, str | bytes) else ""
        way = "pass what its model_dump() returns" if callable(getattr(body, "model_dump", None)) else way
        raise with_hint(error, way) if way else error
    refuse_unsupported_fields(body, (*FIELDS, *_BESIDE))
    found = {name: body[name] for name in FIELDS if body.get(name) is not None}
    if found.get("guided_json_object") is False:
        del found["guided_json_object"]
    found |= _of_responses(body.get("text"))
    if len(found) > 1:
        raise RequestError(f"{' and '.join(found)} are given at once: an output has one constraint", f"/{[*found][-1]}")
    if any(name.startswith("guided_") for name in found):
        found |= {name: body[name] for name in _BESIDE if body.get(name) is not None}
    return found or None


def _of_responses(text: Any) -> dict[str, Any]:
    """The format in ``text`` of the Responses API. Other servers have a prompt in this field."""
    if not isinstance(text, Mapping):
        return {}
    refuse_slips(text, ("format", "verbosity"), "/text")
    asked = text.get("format")
    bare = next((name for name in _OF_A_FORMAT if text.get(name) is not None), None)
    if asked is None and bare is not None:
        raise RequestError(f'{bare} stands in a format: write "text": {{"format": {{…}}}}', f"/text/{bare}")
    if asked is not None and not isinstance(asked, Mapping):
        raise RequestError(f"a format is a JSON object, not {kind_of(asked)}", "/text/format")
    return {} if asked is None else {"text": {"format": asked}}


def is_of_body(value: Any) -> bool:
    """Whether a value is what ``format_of_request`` returns, so that places in it are places in the body."""
    return isinstance(value, Mapping) and bool(value) and set(value) <= {*FIELDS, *_BESIDE, "text"}
