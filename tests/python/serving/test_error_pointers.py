"""Where a refused body is wrong: the pointer leads to a value of the body, with a store and without."""

from __future__ import annotations

import json

import pytest

import interlock
from interlock import Store, Vocabulary
from interlock.serving import RequestCompiler

TOKENS = [bytes([i]) for i in range(256)]
SPECIAL = [b"<|im_start|>", b"<tool_call>", b"</tool_call>", b"<think>", b"</think>", b"<|im_end|>"]
VOCABULARY = Vocabulary(TOKENS + SPECIAL, 261, [256, 257, 258, 259, 260])
ROLE = {"type": "token", "token": "<|im_start|>"}
NO_TOKEN = {"type": "token", "token": "<nope>"}
SCHEMA = {"properties": {"a": {"type": "objekt"}}}


def tag(format, **fields):
    return {"response_format": {"type": "structural_tag", "format": format, **fields}}


def in_tag(content, **fields):
    return tag({"type": "tag", "begin": "<a>", "content": content, "end": "</a>", **fields})


def old_tag(**fields):
    structure = {"begin": "<a>", "schema": {}, "end": "</a>", **fields}
    return {"response_format": {"type": "structural_tag", "structures": [structure], "triggers": ["<a"]}}


def function(**fields):
    return {"tools": [{"type": "function", "function": {"name": "f", **fields}}]}


def custom(definition, syntax="regex"):
    grammar = {"definition": definition, "syntax": syntax}
    return {"tools": [{"type": "custom", "custom": {"name": "c", "format": {"type": "grammar", "grammar": grammar}}}]}


def flat_custom(definition, syntax="regex"):
    format = {"type": "grammar", "definition": definition, "syntax": syntax}
    return {"tools": [{"type": "custom", "name": "c", "format": format}]}


def chosen(choice):
    return {**function(), "tool_choice": choice}


def allowed(**fields):
    return chosen({"type": "allowed_tools", "allowed_tools": {"mode": "auto", **fields}})


ALL = "hermes", "glm_4_7", "pythonic", "qwen3_coder"
TAG = "/response_format/format"
FUNCTION = "/tools/0/function"
# The formats of a server, a body, and the place of its error.
BODIES = [
    # Tokens of structural tags.
    (ALL, tag(ROLE), f"{TAG}/token"),
    (ALL, tag(NO_TOKEN), f"{TAG}/token"),
    (ALL, tag({"type": "token", "token": 99_999}), f"{TAG}/token"),
    (ALL, tag({"type": "sequence", "elements": [{"type": "any_text"}, ROLE]}), f"{TAG}/elements/1/token"),
    (ALL, tag({"type": "exclude_token", "exclude_tokens": ["<nope>"]}), f"{TAG}/exclude_tokens/0"),
    (ALL, in_tag({"type": "any_text"}, begin=ROLE), f"{TAG}/begin/token"),
    (ALL, in_tag({"type": "any_text"}, end=ROLE), f"{TAG}/end/token"),
    (ALL, in_tag({"type": "grammar", "grammar": "root ::= x"}), f"{TAG}/content/grammar"),
    (ALL, in_tag({"type": "grammar", "syntax": "lark", "grammar": "start: <|im_start|>"}), f"{TAG}/content/grammar"),
    (
        ALL,
        {"structured_outputs": {"structural_tag": {"type": "structural_tag", "format": ROLE}}},
        "/structured_outputs/structural_tag/format/token",
    ),
    # Parts of structural tags.
    (ALL, in_tag({"type": "json_schema", "json_schema": SCHEMA}), f"{TAG}/content/json_schema/properties/a"),
    (ALL, in_tag({"type": "regex", "pattern": "a("}), f"{TAG}/content/pattern"),
    (ALL, in_tag({"type": "nope"}), f"{TAG}/content/type"),
    (ALL, in_tag({"type": "any_text", "excludes": ["a", 5]}), f"{TAG}/content/excludes/1"),
    (ALL, old_tag(schema=SCHEMA), "/response_format/structures/0/schema/properties/a"),
    (ALL, old_tag(begin=5), "/response_format/structures/0/begin"),
    (ALL, tag({"type": "any_text"}, special_tokens=5), "/response_format/special_tokens"),
    # Grammars and patterns.
    (ALL, {"guided_grammar": "start: <|im_start|>"}, "/guided_grammar"),
    (ALL, {"grammar": "root ::= x"}, "/grammar"),
    (ALL, {"guided_regex": "a("}, "/guided_regex"),
    (ALL, {"guided_json": {"a": 1, **SCHEMA}}, "/guided_json/properties/a"),
    (ALL, {"structured_outputs": {"json": {"properties": {"a~/b": {"type": 5}}}}}, None),
    # Names of tools.
    (ALL, {"tools": [{}]}, "/tools/0"),
    (ALL, {"tools": [{"type": "function", "function": {}}]}, FUNCTION),
    (ALL, function(name=""), f"{FUNCTION}/name"),
    (ALL, function(name=5), f"{FUNCTION}/name"),
    (("hermes",), function(name="<tool_call>"), f"{FUNCTION}/name"),
    (("hermes",), {"tools": [{"name": "a</tool_call>"}]}, "/tools/0/name"),
    (("hermes",), {"tools": [{"name": "a</tool_call>", "input_schema": {}}]}, "/tools/0/name"),
    (("hermes",), {"tools": [{"type": "custom", "custom": {"name": "</tool_call>"}}]}, "/tools/0/custom/name"),
    (("hermes",), {"tools": [{"type": "custom", "name": "</tool_call>"}]}, "/tools/0/name"),
    (("glm_4_7",), function(name="</arg_key>"), f"{FUNCTION}/name"),
    (("qwen3_coder",), function(name="a>b"), f"{FUNCTION}/name"),
    (("pythonic",), function(name="a b"), f"{FUNCTION}/name"),
    (ALL, {"tools": [*function()["tools"], {"name": "f"}]}, "/tools/1/name"),
    # What else tools have.
    (ALL, function(parameters=False), f"{FUNCTION}/parameters"),
    (ALL, function(parameters={"type": "array"}), f"{FUNCTION}/parameters/type"),
    (ALL, function(parameters=SCHEMA), f"{FUNCTION}/parameters/properties/a"),
    (ALL, function(strict=5), f"{FUNCTION}/strict"),
    (ALL, {"tools": [{**function()["tools"][0], "strict": 5}]}, "/tools/0/strict"),
    (ALL, custom("a("), "/tools/0/custom/format/grammar/definition"),
    (ALL, custom("a)("), "/tools/0/custom/format/grammar/definition"),
    (ALL, flat_custom("a)("), "/tools/0/format/definition"),
    (ALL, flat_custom(5), "/tools/0/format/definition"),
    (ALL, flat_custom("a", "nope"), "/tools/0/format/syntax"),
    (ALL, {"tools": [{"type": "custom", "name": "c", "format": {"type": "grammar"}}]}, "/tools/0/format"),
    (("pythonic",), function(parameters={"properties": {"a b": {}}}), f"{FUNCTION}/parameters/properties/a b"),
    # Choices among tools.
    (ALL, chosen("g"), "/tool_choice"),
    (ALL, chosen(["f", "g"]), "/tool_choice/1"),
    (ALL, chosen({"type": "function", "function": {"name": "g"}}), "/tool_choice/function/name"),
    (ALL, chosen({"type": "function", "function": {"name": 5}}), "/tool_choice/function/name"),
    (ALL, chosen({"type": "function", "function": {}}), "/tool_choice/function"),
    (ALL, chosen({"name": "g"}), "/tool_choice/name"),
    (ALL, allowed(tools=5), "/tool_choice/allowed_tools/tools"),
    (ALL, allowed(tools=[]), "/tool_choice/allowed_tools/tools"),
    (ALL, allowed(), "/tool_choice/allowed_tools"),
    (ALL, allowed(mode="often", tools=[]), "/tool_choice/allowed_tools/mode"),
    (ALL, allowed(tools=[{"type": "function", "name": "g"}]), "/tool_choice/allowed_tools/tools/0/name"),
    (ALL, chosen({"type": "allowed_tools", "mode": "auto", "tools": [{}]}), "/tool_choice/tools/0"),
    (ALL, chosen({"type": "allowed_tools", "allowed_tools": 5}), "/tool_choice/allowed_tools"),
    # Schemas.
    (
        ALL,
        {"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema_": SCHEMA}}},
        "/response_format/json_schema/schema_/properties/a",
    ),
    (("hermes",), {"guided_json": {"const": float("nan")}}, None),
    (("hermes",), {"structured_outputs": {"json": {"items": {"minimum": float("inf")}}}}, None),
    (
        ALL,
        {"structured_outputs": {"structural_tag": {"format": {"type": "any_text"}}}},
        "/structured_outputs/structural_tag",
    ),
    # Formats beside tools.
    (ALL, {**function(), "guided_regex": "a("}, "/guided_regex"),
    (ALL, {**function(), "grammar": "root ::= x"}, "/grammar"),
    (ALL, {**function(), "guided_grammar": "start: <|im_start|>"}, "/guided_grammar"),
    (ALL, {**function(), "structured_outputs": {"json": SCHEMA}}, "/structured_outputs/json/properties/a"),
]


def resolved(body, pointer):
    value = body
    for part in pointer.split("/")[1:]:
        part = part.replace("~1", "/").replace("~0", "~")
        value = value[int(part)] if isinstance(value, list) else value[part]
    return value


@pytest.fixture(scope="module")
def compilers(tmp_path_factory):
    store = Store(tmp_path_factory.mktemp("store"))
    kinds = ({}, {"store": store}, {"reasoning": "optional"}, {"store": store, "reasoning": "optional"})
    return {
        name: [
            RequestCompiler(VOCABULARY, format=name, **kind)
            for kind in (kinds if name in ("hermes", "glm_4_7") else kinds[:2])
        ]
        for name in ALL
    }


@pytest.mark.parametrize(("formats", "body", "place"), BODIES, ids=range(len(BODIES)))
def test_the_pointer_of_a_refusal_leads_to_what_is_wrong(compilers, formats, body, place):
    for compiler in [compiler for name in formats for compiler in compilers[name]]:
        with pytest.raises(interlock.InterlockError) as caught:
            compiler.compile(body)
        answer = compiler.refusal(caught.value, body)
        found = answer.body["error"]["param"]
        assert answer.status == 400
        assert place is None or found == place, answer.message
        resolved(body, found)  # KeyError or IndexError where it leads nowhere.
        assert answer.message.startswith(f"at {found}: ")


def test_a_tag_in_a_text_has_places_inside_of_it(compilers):
    inner = {"type": "structural_tag", "format": ROLE}
    body = {"structured_outputs": {"structural_tag": json.dumps(inner)}}
    for compiler in compilers["hermes"]:
        with pytest.raises(interlock.StructuralTagError) as caught:
            compiler.compile(body)
        assert caught.value.pointer == "/structured_outputs/structural_tag/format/token"


@pytest.mark.parametrize("format", ALL[:2])
def test_a_parameter_without_a_name_is_written(compilers, format):
    body = function(parameters={"type": "object", "properties": {"": {"type": "string"}}, "required": [""]})
    request = compilers[format][0].compile({**body, "tool_choice": "required"})
    assert request.kind == "tools"
