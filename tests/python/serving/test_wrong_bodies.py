"""Wrong bodies of requests: each is a client's error that says in which field it lies, and none is the server's."""

from __future__ import annotations

import json
import math

import pytest

import interlock
from interlock.explain import byte_vocabulary
from interlock.serving import RequestCompiler

VOCABULARY = byte_vocabulary()
COMPILERS = {
    "plain": RequestCompiler(VOCABULARY),
    "tools": RequestCompiler(VOCABULARY, format="hermes"),
    "reasoning": RequestCompiler(VOCABULARY, format="hermes", reasoning="optional"),
}
HALF = "\ud800"
LONG = "a" * (2 << 20)
NUMBER = 10**5000
TOOL = {"type": "function", "function": {"name": "now", "parameters": {"type": "object"}}}


def deep(levels):
    value = 1
    for _ in range(levels):
        value = {"a": value}
    return value


def tool(**function):
    return {"tools": [{"type": "function", "function": {"name": "f", **function}}]}


def schema(value):
    return {"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": value}}}


def chosen(choice):
    return {"tools": [TOOL], "tool_choice": choice}


# A body, and how the place of its error begins.
BODIES = [
    # Types.
    ({"max_tokens": "5"}, "/max_tokens"),
    ({"max_tokens": 5.0}, "/max_tokens"),
    ({"max_tokens": True}, "/max_tokens"),
    ({"max_tokens": math.nan}, "/max_tokens"),
    ({"max_completion_tokens": []}, "/max_completion_tokens"),
    ({"max_output_tokens": {}}, "/max_output_tokens"),
    ({"n": "2"}, "/n"),
    ({"n": 2.0}, "/n"),
    ({"n": False}, "/n"),
    ({"n": [2]}, "/n"),
    ({"n": math.nan}, "/n"),
    ({"min_tokens": "1"}, "/min_tokens"),
    ({"min_tokens": math.inf}, "/min_tokens"),
    ({"stop": 5}, "/stop"),
    ({"stop": {"a": 1}}, "/stop"),
    ({"stop": ["a", 5]}, "/stop/1"),
    ({"stop": [["a"]]}, "/stop/0"),
    ({"stream": "yes"}, "/stream"),
    ({"stream": True, "stream_options": True}, "/stream_options"),
    ({"stream": True, "stream_options": {"include_usage": "yes"}}, "/stream_options/include_usage"),
    ({"stream": 1, "guided_choice": ["a"]}, "/stream"),
    ({"stop_token_ids": 5}, "/stop_token_ids"),
    ({"stop_token_ids": {"a": 1}}, "/stop_token_ids"),
    ({"stop_token_ids": ["5"]}, "/stop_token_ids/0"),
    ({"stop_token_ids": [256, True]}, "/stop_token_ids/1"),
    ({"stop_token_ids": [1.0]}, "/stop_token_ids/0"),
    ({"response_format": "json"}, "/response_format"),
    ({"response_format": []}, "/response_format"),
    ({"response_format": {"type": 5}}, "/response_format/type"),
    (schema("object"), "/response_format/json_schema/schema"),
    ({"text": {"format": 5}}, "/text/format"),
    ({"guided_regex": 5}, "/guided_regex"),
    ({"guided_choice": "yes"}, "/guided_choice"),
    ({"guided_choice": ["a", 5]}, "/guided_choice"),
    ({"guided_grammar": []}, "/guided_grammar"),
    ({"guided_json": []}, "/guided_json"),
    ({"structured_outputs": 5}, "/structured_outputs"),
    ({"structured_outputs": {"regex": 5}}, "/structured_outputs/regex"),
    ({"guided_json": {}, "guided_whitespace_pattern": 5}, "/guided_whitespace_pattern"),
    ({"tools": 5}, "/tools"),
    ({"tools": [5]}, "/tools/0"),
    (tool(name=5), "/tools/0"),
    (tool(parameters=5), "/tools/0"),
    (tool(strict="yes"), "/tools/0"),
    (chosen(5), "/tool_choice"),
    (chosen(["now", 5]), "/tool_choice/1"),
    (chosen({"type": "function", "function": {"name": None}}), "/tool_choice"),
    ({"tools": [TOOL], "parallel_tool_calls": 1}, "/parallel_tool_calls"),
    ({"parallel_tool_calls": "no"}, "/parallel_tool_calls"),
    ({"tools": [], "guided_json": {}, "parallel_tool_calls": 0}, "/parallel_tool_calls"),
    # Ranges.
    ({"max_tokens": 0}, "/max_tokens"),
    ({"max_tokens": -NUMBER}, "/max_tokens"),
    ({"n": 0}, "/n"),
    ({"n": -1}, "/n"),
    ({"n": 129}, "/n"),
    ({"n": NUMBER}, "/n"),
    ({"min_tokens": -1}, "/min_tokens"),
    ({"min_tokens": 5000}, "/min_tokens"),
    ({"stop": ""}, "/stop"),
    ({"stop": LONG}, "/stop"),
    ({"stop_token_ids": [-1]}, "/stop_token_ids/0"),
    ({"stop_token_ids": [257]}, "/stop_token_ids/0"),
    ({"stop_token_ids": [NUMBER]}, "/stop_token_ids/0"),
    ({"guided_choice": []}, "/guided_choice"),
    ({"guided_json": {"minLength": -1}}, "/guided_json"),
    ({"guided_json": {"multipleOf": 0}}, "/guided_json"),
    ({"guided_regex": "a{9}", "max_tokens": 5}, "/max_tokens"),
    ({"guided_regex": "a{9}", "max_completion_tokens": 5}, "/max_completion_tokens"),
    # Fields that contradict each other.
    ({"guided_json": {}, "guided_regex": "a"}, "/guided_regex"),
    ({"response_format": {"type": "json_object"}, "guided_choice": ["a"]}, "/guided_choice"),
    ({"structured_outputs": {"json": {}, "regex": "a"}}, "/structured_outputs"),
    ({"min_tokens": 9, "max_tokens": 5}, "/min_tokens"),
    ({"min_tokens": NUMBER, "max_tokens": NUMBER}, "/min_tokens"),
    ({"guided_regex": "[ab]", "stop_token_ids": [256, 97]}, "/stop_token_ids/1"),
    ({"guided_json": {}, "guided_whitespace_pattern": "x"}, "/guided_whitespace_pattern"),
    ({"guided_json": {}, "guided_whitespace_pattern": "("}, "/guided_whitespace_pattern"),
    ({"structured_outputs": {"json": {}, "whitespace_pattern": "\u2028"}}, "/structured_outputs/whitespace_pattern"),
    ({"guided_json": {"type": "integer", "minimum": 5, "maximum": 3}}, "/guided_json"),
    ({"tool_choice": "required"}, "/tool_choice"),
    (chosen("today"), "/tool_choice"),
    (chosen({"name": "today"}), "/tool_choice"),
    ({"tools": [TOOL, TOOL]}, "/tools/1"),
    ({"max_reasoning_tokens": 0}, "/max_reasoning_tokens"),
    # Fields that nobody reads.
    ({"guided_jsn": {}}, "/guided_jsn"),
    ({"guided_foo": "x"}, "/guided_foo"),
    ({"format": "json"}, "/format"),
    ({"functions": [{"name": "f"}]}, "/functions"),
    ({"response_format": {"type": "json_shema"}}, "/response_format/type"),
    ({"response_format": {"type": "json_object", "zz": 1}}, "/response_format"),
    ({"structured_outputs": {"zz": 1}}, "/structured_outputs/zz"),
    ({"reasoning_is_open": True}, "/reasoning_is_open"),
    # Huge and deep values.
    ({"guided_regex": LONG}, "/guided_regex"),
    ({"guided_json": {"const": LONG}}, "/guided_json"),
    ({"guided_grammar": "start: " + LONG}, "/guided_grammar"),
    (schema(deep(100_000)), "/response_format"),
    ({"response_format": {"type": deep(100_000)}}, "/response_format"),
    ({"structured_outputs": {"json": deep(5_000)}}, "/structured_outputs"),
    ({"guided_choice": [deep(5_000)]}, "/guided_choice"),
    (tool(parameters=deep(5_000)), "/tools"),
    (chosen({"type": "allowed_tools", "mode": deep(5_000)}), "/tool_choice"),
    ({"stop": deep(5_000)}, "/stop"),
    ({"response_format": {"type": NUMBER}}, "/response_format"),
    (chosen({"type": "allowed_tools", "mode": NUMBER}), "/tool"),
    ({"guided_json": {"minimum": NUMBER, "maximum": "a"}}, "/guided_json"),
    ({"text": {"format": {LONG: 1}}}, "/text"),
    # No numbers, and no text.
    ({"guided_json": {"minimum": math.nan}}, "/guided_json"),
    ({"guided_json": {"const": math.inf}}, "/guided_json"),
    (tool(parameters={"type": "object", "properties": {"a": {"const": math.nan}}}), "/tools/0"),
    ({"guided_regex": HALF}, "/guided_regex"),
    ({"guided_choice": [HALF]}, "/guided_choice"),
    ({"guided_grammar": f'start: "{HALF}"'}, "/guided_grammar"),
    ({"guided_json": {"pattern": HALF}}, "/guided_json"),
    ({"guided_json": {}, "guided_whitespace_pattern": HALF}, "/guided_whitespace_pattern"),
    ({"text": {"format": {HALF: 1}}}, "/text/format"),
    (tool(name=HALF), "/tools/0"),
    (chosen(HALF), "/tool_choice"),
    ({"stop": HALF}, "/stop"),
    ({"stop": ["a", "b" + HALF], "guided_json": {}}, "/stop/1"),
]


@pytest.mark.parametrize("which", COMPILERS)
@pytest.mark.parametrize(("body", "place"), BODIES, ids=range(len(BODIES)))
def test_a_wrong_body_is_a_clients_error_in_its_field(which, body, place):
    compiler = COMPILERS[which]
    with pytest.raises((interlock.InterlockError, ValueError, TypeError)) as caught:
        compiler.compile(body)
    answer = compiler.refusal(caught.value, body)
    assert answer.status in (400, 413), caught.value
    error = answer.body["error"]
    assert error["type"] == "invalid_request_error"
    # A model that calls no tools refuses all tools, whatever else is wrong with them.
    places = (place, "/tool") if which == "plain" and body.get("tools") else (place,)
    assert error["param"].startswith(places), answer.message
    # The message names the field, and the whole can be sent.
    field = error["param"].split("/")[1]
    assert field in answer.message and len(answer.message) < 3_000
    sent = json.dumps(answer.body, ensure_ascii=False).encode()
    assert len(sent) < 6_000


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (math.nan, "NaN and infinities are no JSON numbers"),
        (-math.inf, "the number is beyond the largest double, 1.8e308, or is infinite"),
        (HALF, "the text holds a lone surrogate, which is not text"),
        (NUMBER, "a number has too many digits: at most 4300 are read"),
        ({1}, "a value of JSON is needed, not set"),
    ],
    ids=["nan", "infinity", "surrogate", "long", "set"],
)
def test_a_value_that_json_has_not_is_found_in_tools_and_tags(value, said):
    wrong = {"type": "object", "properties": {"a": {"enum": [1, value]}}}
    inner = {"type": "json_schema", "json_schema": wrong}
    for body, place in (
        (tool(parameters=wrong), "/tools/0/function/parameters"),
        ({"response_format": {"type": "structural_tag", "format": inner}}, "/response_format/format/json_schema"),
        ({"tools": [TOOL], "guided_json": wrong, "tool_choice": "none"}, "/guided_json"),
    ):
        with pytest.raises(interlock.RequestError) as caught:
            COMPILERS["tools"].compile(body)
        answer = COMPILERS["tools"].refusal(caught.value, body)
        assert answer.place == place + "/properties/a/enum/1"
        assert answer.message == f"at {answer.place}: {said}"


@pytest.mark.parametrize(
    ("body", "place"),
    [
        (schema({"properties": {"a": {"const": HALF}}}), "/response_format/json_schema/schema/properties/a/const"),
        (schema({"anyOf": [True, {"pattern": HALF}]}), "/response_format/json_schema/schema/anyOf/1/pattern"),
        ({"guided_json": {"a/b": [{"description": HALF}]}}, "/guided_json/a~1b/0/description"),
        ({"guided_json": '{"enum": ["a", "\\ud800"]}'}, "/guided_json/enum/1"),
        ({"text": {"format": {"type": "json_schema", "schema": {"title": HALF}}}}, "/text/format/schema/title"),
    ],
)
def test_a_lone_surrogate_is_found_in_a_schema(body, place):
    with pytest.raises(interlock.SchemaError) as caught:
        COMPILERS["plain"].compile(body)
    answer = COMPILERS["plain"].refusal(caught.value, body)
    assert (answer.status, answer.place) == (400, place)
    assert answer.message == f"at {place}: the text holds a lone surrogate, which is not text"


def test_a_key_with_a_lone_surrogate_is_found_in_a_schema():
    with pytest.raises(interlock.SchemaError, match="a key holds a lone surrogate, which is not text") as caught:
        COMPILERS["plain"].compile(schema({"properties": {"a": True, HALF: {}}}))
    assert caught.value.pointer == "/response_format/json_schema/schema/properties"


def test_a_key_that_is_no_text_is_found_in_tools():
    body = tool(parameters={"type": "object", "properties": {HALF: {}}})
    with pytest.raises(interlock.RequestError, match="a key holds a lone surrogate, which is not text") as caught:
        COMPILERS["tools"].compile(body)
    assert caught.value.pointer == "/tools/0/function/parameters/properties"


@pytest.mark.parametrize("value", [b"x", {1, 2}, object(), 1j])
def test_a_value_that_json_has_not(value):
    for body in (
        {"guided_json": {"const": value}},
        {"guided_json": {"enum": [1, value]}, "guided_whitespace_pattern": None},
        tool(parameters={"type": "object", "properties": {"a": {"const": value}}}),
        {
            "response_format": {
                "type": "structural_tag",
                "format": {"type": "json_schema", "json_schema": {"const": value}},
            }
        },
    ):
        for name, compiler in COMPILERS.items():
            if name == "plain" and "tools" in body:
                continue
            with pytest.raises(interlock.InterlockError) as caught:
                compiler.compile(body)
            assert compiler.refusal(caught.value, body).status == 400
            assert "0x" not in str(caught.value)


def test_an_object_that_holds_itself_is_looked_through_once():
    own = {}
    own["properties"] = {"a": own}
    for body in ({"text": own}, {"extra": own}, {"response_format": own}, {"guided_json": own}):
        for compiler in COMPILERS.values():
            try:
                compiler.compile(body)
            except interlock.InterlockError as error:
                assert compiler.refusal(error, body).status == 400


@pytest.mark.parametrize("body", [None, 5, "{}", b"{}", [], [{}], True, math.nan, HALF, deep(3)["a"]["a"]["a"]])
def test_a_body_that_is_no_object(body):
    for compiler in COMPILERS.values():
        with pytest.raises(interlock.RequestError, match="the body of a request is a JSON object") as caught:
            compiler.compile(body)
        assert compiler.refusal(caught.value, body).status == 400


@pytest.mark.parametrize("place", ["", "/text", "/extra_body", "/generation_config"])
def test_a_body_of_a_hundred_thousand_names(place):
    """Each of them would be compared with all constraints: ten seconds."""
    many = {f"field{number}": 1 for number in range(100_000)}
    compiler = COMPILERS["plain"]
    body = {place[1:]: many} if place else many
    with pytest.raises(interlock.RequestError, match="has at most 1,000 fields here, not 100,000") as caught:
        compiler.compile(body)
    answer = compiler.refusal(caught.value, body)
    assert (answer.status, answer.body["error"]["param"]) == (400, f"{place}/field1000")  # The first one too many.
    assert compiler.compile(dict(list(many.items())[:1000])).kind == "text"


@pytest.mark.parametrize("wrong", [[], {}, [[]], 5, {"a": []}])
@pytest.mark.parametrize("field", ["guided_grammar", "grammar", "ebnf", "structural_tag", "regex", "response_format"])
def test_types_that_are_no_texts(field, wrong):
    body = {field: {"type": wrong}}
    with pytest.raises(interlock.InterlockError) as caught:
        COMPILERS["plain"].compile(body)
    answer = COMPILERS["plain"].refusal(caught.value, body)
    assert answer.status == 400 and answer.place.startswith(f"/{field}")


def test_no_body_makes_a_refusal_raise():
    for body in ({"response_format": {"type": {1: 2}}}, {"guided_grammar": {"type": []}}, object(), {1: 2}, None):
        assert COMPILERS["plain"].refusal(ValueError("x"), body).status == 500


@pytest.mark.parametrize(
    "field, said",
    [
        ("max_new_tokens", "this is TGI's and SGLang's name: write max_tokens"),
        ("n_predict", "this is llama.cpp's name: write max_tokens"),
        ("num_predict", "this is Ollama's name: write max_tokens"),
        ("max_token", "did you mean 'max_tokens'"),
        ("maxTokens", "did you mean 'max_tokens'"),
        ("max_completion_token", "did you mean 'max_completion_tokens'"),
    ],
)
def test_a_number_of_tokens_under_another_name_is_not_lost(field, said):
    with pytest.raises(interlock.RequestError, match=said) as caught:
        COMPILERS["plain"].compile({"guided_regex": "a+", field: 5})
    assert caught.value.pointer == f"/{field}"
    assert COMPILERS["plain"].compile({"guided_regex": "a+", field: None}).max_tokens > 5


def test_other_numbers_are_the_servers():
    names = (
        "max_prompt_tokens max_tool_calls max_thinking_tokens max_total_tokens max_images n_probs max_context_tokens"
    )
    for name in names.split():
        assert COMPILERS["plain"].compile({"guided_regex": "a+", name: 5}).kind == "regex"


def test_a_format_of_the_type_json_that_has_no_schema():
    with pytest.raises(interlock.RequestError, match='did you mean "json_object"') as caught:
        COMPILERS["plain"].compile({"response_format": {"type": "json"}})
    assert caught.value.pointer == "/response_format/type"


@pytest.mark.parametrize("body", [{}, {"guided_choice": ["a"]}, {"tools": [{"name": "now"}]}])
def test_deltas_of_what_is_no_token_ids(body):
    reply = COMPILERS["tools"].compile(body).reply()
    for wrong, said in (
        ("x", "tokens must be an iterable of token ids, not str"),
        (5, "tokens must be an iterable of token ids, not int"),
        ({1: 2}, "tokens must be an iterable of token ids, not dict"),
        ([97, "x"], r"tokens\[1\] must be an int, not str"),
        ([True], r"tokens\[0\] must be an int, not bool"),
    ):
        with pytest.raises(TypeError, match=said):
            reply.deltas(wrong)


def test_the_table_is_long_enough():
    assert len(BODIES) >= 60


def test_the_grammar_of_python_is_one_of_the_server_and_no_text_of_a_client():
    """As docs/servers/own.md says: JSON has no place for the lexer that it needs."""
    grammar = interlock.grammars.load("python")
    assert COMPILERS["plain"].compile({"guided_grammar": grammar}).guide.validate(b"if a:\n  b\n") == 10
    body = {"guided_grammar": str(grammar)}
    with pytest.raises(interlock.UnsupportedError, match="indentation needs lexer") as caught:
        COMPILERS["plain"].compile(body)
    assert COMPILERS["plain"].refusal(caught.value, body).place == "/guided_grammar"
