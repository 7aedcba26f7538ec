"""Output types as the fields that servers have for them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from interlock._core import ArgumentError
from interlock.generators.prompts.server_prefill import going_on, rest_of
from interlock.output_types import Grammar, InvalidOutputError, OutputType
from interlock.util.quoting import quoted

__all__ = ["Request", "openai_request", "pattern_text", "structured_fields"]

_FLAGS = {re.IGNORECASE: "i", re.MULTILINE: "m", re.DOTALL: "s", re.VERBOSE: "x", re.ASCII: "a"}

# What OpenAI's strict mode does not read: with one of these it is asked to do what it can.
_NOT_STRICT = frozenset(
    "allOf oneOf not if then else dependentSchemas dependentRequired patternProperties propertyNames minProperties "
    "maxProperties unevaluatedProperties unevaluatedItems contains minContains maxContains uniqueItems prefixItems "
    "minLength maxLength".split()
)


@dataclass(frozen=True)
class Request:
    """Keywords for a call of a server, and what turns its answer into the text that was meant."""

    fields: dict[str, Any]
    unwrap: Callable[[str], str]
    prefill: str = ""
    """What the answer is the rest of."""


def pattern_text(pattern: re.Pattern[str]) -> str:
    """A pattern's text, with its flags in front."""
    letters = "".join(letter for flag, letter in _FLAGS.items() if pattern.flags & flag)
    return f"(?{letters}){pattern.pattern}" if letters else pattern.pattern


def structured_fields(output: OutputType[Any]) -> dict[str, Any]:
    """Keywords of vLLM's ``StructuredOutputsParams``; none for free text. ``ArgumentError`` for an index."""
    if output.kind == "index":
        raise ArgumentError(
            "a server compiles its own masks and takes no Index: pass the type, the schema or the pattern"
        )
    if output.kind == "text":
        return {}
    if output.kind == "regex":
        return {"regex": pattern_text(output.source)}
    if output.kind == "choices":
        return {"choice": list(output.source)}
    if output.kind == "grammar":
        return {"grammar": _grammar_text(output.source)}
    schema = output.source
    return {"json": {} if schema is True else {"not": {}} if schema is False else schema}


def _grammar_text(grammar: Grammar) -> str:
    """The text of a grammar, which is all that servers have a field for."""
    others = [name for name in grammar.options if name != "syntax"]
    if others:
        raise ArgumentError(
            f"a server takes the text of a grammar alone, without {' and '.join(others)}: write a grammar that needs "
            "none of them"
        )
    return grammar.text


def _same(text: str) -> str:
    return text


def openai_request(output: OutputType[Any], server: str, prefill: str | None = None) -> Request:
    """The fields of a chat completion for one output type, by the kind of server. ``prefill`` is what a message of the
    assistant at the end of the chat says, which the server goes on with.
    """
    if prefill is not None:
        body = going_on(server)
        request = openai_request(rest_of(output, prefill) if prefill else output, server)
        fields = {**request.fields, "extra_body": {**request.fields.get("extra_body", {}), **body}}
        return Request(fields, lambda text: prefill + text, prefill)
    fields = structured_fields(output)
    if not fields:
        return Request({}, _same)
    if "grammar" in fields and server == "openai":
        raise ArgumentError(
            "OpenAI's chat completions take no grammar: use a server with vLLM's or SGLang's fields (server=...), or a "
            "JSON Schema"
        )
    if server == "vllm" and "json" not in fields:
        return Request({"extra_body": {"structured_outputs": fields}}, _same)
    if server == "sglang" and "grammar" in fields:
        return Request({"extra_body": {"ebnf": fields["grammar"]}}, _same)
    if server == "sglang" and "json" not in fields:
        pattern = fields.get("regex") or "|".join(map(re.escape, output.source))
        return Request({"extra_body": {"regex": f"(?:{pattern})" if "choice" in fields else pattern}}, _same)
    name = re.sub("[^A-Za-z0-9_-]", "_", output.name)[:64] or "output"
    if server != "openai":
        return Request({"response_format": _envelope(name, fields["json"], strict=True)}, _same)
    if "json" not in fields:
        schema = {"enum": fields["choice"]} if "choice" in fields else {"pattern": _whole(fields["regex"])}
        return _wrapped(name, {"type": "string", **schema}, _string_value)
    root = _root(fields["json"])
    if root.get("type") != "object" or "anyOf" in root:
        return _wrapped(name, root, _json_value)
    return Request({"response_format": _strict_envelope(name, root)}, _same)


def _whole(pattern: str) -> str:
    return f"^(?:{pattern})$"


def _wrapped(name: str, schema: dict[str, Any], unwrap: Callable[[str], str]) -> Request:
    """OpenAI's schemas are objects: anything else becomes the only property of one."""
    inner = dict(schema)
    root: dict[str, Any] = {
        "type": "object",
        "properties": {"value": inner},
        "required": ["value"],
        "additionalProperties": False,
    }
    if "$defs" in inner:
        root["$defs"] = inner.pop("$defs")
    return Request({"response_format": _strict_envelope(name, root)}, unwrap)


def _value(text: str) -> Any:
    try:
        return json.loads(text)["value"]
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidOutputError(
            f"the server's answer is not the object that it was asked for: {quoted(text, 200)}", text
        ) from error


def _string_value(text: str) -> str:
    return str(_value(text))


def _json_value(text: str) -> str:
    return json.dumps(_value(text))


def _root(schema: dict[str, Any]) -> dict[str, Any]:
    """A root that is a reference to a definition, replaced by that definition."""
    target = schema.get("$ref")
    definitions = schema.get("$defs", {})
    if isinstance(target, str) and target.startswith("#/$defs/") and target[8:] in definitions:
        return {**definitions[target[8:]], "$defs": definitions}
    return schema


def _envelope(name: str, schema: Any, strict: bool) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": name, "strict": strict, "schema": schema}}


def _strict_envelope(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    made, strict = _strict(schema)
    return _envelope(name, made if strict else schema, strict)


def _strict(schema: Any) -> tuple[Any, bool]:
    """The schema as OpenAI's strict mode wants it, which requires every property, and whether it can be said there."""
    if isinstance(schema, list):
        parts = [_strict(part) for part in schema]
        return [part for part, _ in parts], all(ok for _, ok in parts)
    if not isinstance(schema, dict):
        return schema, True
    strict = not _NOT_STRICT & schema.keys()
    made: dict[str, Any] = {}
    for key, part in schema.items():
        if key in ("properties", "$defs"):
            inner = {name: _strict(value) for name, value in part.items()}
            made[key] = {name: value for name, (value, _) in inner.items()}
            strict = strict and all(ok for _, ok in inner.values())
        elif key in ("items", "anyOf"):
            made[key], ok = _strict(part)
            strict = strict and ok
        elif key not in ("default", "discriminator", "examples"):
            made[key] = part
    if schema.get("type") == "object":
        strict = strict and schema.get("additionalProperties") is False
        made["required"] = list(made.get("properties", {}))
    return made, strict
