"""Structural tags built from tools: what each format's own notation writes is accepted, and what breaks the request is
not. The slow matcher of tests/python/support/structural_tag_matcher.py judges."""

from __future__ import annotations

import dataclasses
import json

import pytest

import interlock
from interlock.tools import (
    Call,
    RequestError,
    ToolFormatError,
    format_names,
    render,
    spec,
    structural_tag,
    tool_format,
)

pytest.importorskip("jsonschema_rs", reason="jsonschema-rs judges values")

from structural_tag_matcher import Matcher

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city"],
            "additionalProperties": False,
        },
    },
}
ADD = {"name": "add", "parameters": {"type": "object", "properties": {"a": {"type": "number"}}, "required": ["a"]}}
TOOLS = [WEATHER, ADD]
ROME = Call("get_weather", {"city": "Rome", "days": 3})
ONE = Call("add", {"a": 1.5})
SCHEMAS = {"get_weather": WEATHER["function"]["parameters"], "add": ADD["parameters"]}

FORMATS = format_names()
#: Layouts in which every part has a frame of its own.
FRAMED = [name for name in FORMATS if tool_format(name).layout.kind != "text"]
PLAIN = [name for name in FORMATS if name not in FRAMED]


def matcher(format, **options):
    tag = structural_tag(TOOLS, format=format, **options)
    assert spec.write(spec.read(json.dumps(tag))) == tag
    return Matcher(tag, tool_format(format).special_tokens)


def turn(format, calls, text="", reasoning=None):
    """A rendered turn, without the reasoning's begin where the prompt has opened it."""
    written = render(format, calls, text, reasoning)
    form = tool_format(format)
    if form.layout.kind == "blocks" and reasoning is None and form.reasoning.opened_by_prompt:
        return written.removeprefix(form.layout.text_begin)
    if reasoning is not None and form.reasoning.opened_by_prompt:
        return written.removeprefix(form.reasoning.begin)
    return written


@pytest.mark.parametrize("format", FORMATS)
def test_calls_are_accepted_as_the_format_writes_them(format):
    auto, required = matcher(format), matcher(format, tool_choice="required")
    both = turn(format, [ROME, ONE])
    assert auto.accepts(both)
    assert required.accepts(both)
    assert required.accepts(turn(format, [ONE]))
    assert not required.accepts(turn(format, [], "Rome is sunny."))
    assert auto.accepts(turn(format, [], "Rome is sunny."))
    assert auto.accepts(turn(format, [ROME], "Let me see."))
    if format in PLAIN:
        assert not required.accepts(turn(format, [ROME], "Let me see."))


@pytest.mark.parametrize("format", FORMATS)
def test_every_notation_of_a_format_is_accepted(format):
    required = matcher(format, tool_choice="required")
    form = tool_format(format)
    for index in range(len(form.notations)):
        shown = dataclasses.replace(form, notations=(form.notations[index],))
        assert required.accepts(turn(shown, [ROME])), index


@pytest.mark.parametrize("format", FORMATS)
def test_wrong_calls_are_refused(format):
    required = matcher(format, tool_choice="required")
    assert not required.accepts(turn(format, [Call("get_weather", {"days": 3})])), "city is required"
    assert not required.accepts(turn(format, [Call("get_weather", {"city": "Rome", "days": "many"})]))
    assert not required.accepts(turn(format, [Call("get_weather", {"city": "Rome", "unit": "C"})]))
    assert not required.accepts(turn(format, [Call("add", {"a": None})]))
    assert not required.accepts(turn(format, [Call("subtract", {"a": 1})]))
    written = turn(format, [ROME])
    for length in range(len(written)):
        assert not required.accepts(written[:length]), written[:length]


@pytest.mark.parametrize("format", FORMATS)
def test_one_call_at_most_without_parallel(format):
    for choice in ("auto", "required"):
        single = matcher(format, tool_choice=choice, parallel=False)
        assert single.accepts(turn(format, [ROME]))
        assert not single.accepts(turn(format, [ROME, ONE]))


@pytest.mark.parametrize("format", FORMATS)
def test_one_named_tool(format):
    for choice in ({"name": "add"}, {"type": "function", "function": {"name": "add"}}):
        named = matcher(format, tool_choice=choice)
        assert named.accepts(turn(format, [ONE]))
        assert not named.accepts(turn(format, [ROME]))
        assert not named.accepts(turn(format, [ONE, ONE]))
    allowed = matcher(format, tool_choice=["add"])
    assert allowed.accepts(turn(format, [ONE, ONE]))
    assert not allowed.accepts(turn(format, [ONE, ROME]))


@pytest.mark.parametrize("format", FORMATS)
def test_no_call_can_begin_where_there_is_none(format):
    none = matcher(format, tool_choice="none")
    assert none.accepts(turn(format, [], "Rome is sunny."))
    assert not none.accepts(turn(format, [ROME]))
    assert not none.accepts(turn(format, [ROME], "Let me see."))


@pytest.mark.parametrize("format", FORMATS)
def test_bounds_on_calls(format):
    two = matcher(format, tool_choice="required", min_calls=2, max_calls=3)
    for count in range(1, 5):
        assert two.accepts(turn(format, [ONE] * count)) == (2 <= count <= 3), count
    auto = matcher(format, min_calls=2, max_calls=3)
    assert auto.accepts(turn(format, [], "Rome is sunny."))
    for count in range(1, 5):
        assert auto.accepts(turn(format, [ONE] * count)) == (2 <= count <= 3), count
    once = matcher(format, tool_choice="required", unique=True)
    assert once.accepts(turn(format, [ONE, ROME]))
    assert not once.accepts(turn(format, [ONE, ROME, ONE]))
    assert not matcher(format, unique=True).accepts(turn(format, [ONE, ONE]))


@pytest.mark.parametrize("format", [name for name in FORMATS if tool_format(name).reasoning])
def test_reasoning(format):
    form = tool_format(format)
    required = matcher(format, reasoning="required")
    assert required.accepts(turn(format, [ROME], "Let me see.", "Rome, they say."))
    assert not required.accepts(turn(format, [ROME], "Let me see."))
    optional = matcher(format, reasoning="optional")
    assert optional.accepts(render(format, [ROME], "Let me see.", "Rome, they say."))
    assert optional.accepts(render(format, [ROME], "Let me see."))
    if form.layout.kind == "text":
        opened = matcher(format, reasoning="required", reasoning_is_open=True)
        written = render(format, [ROME], "", "Rome").removeprefix(form.reasoning.begin)
        assert opened.accepts(written)
        assert not opened.accepts(written.replace(form.reasoning.end, ""))
    assert not matcher(format).accepts(render(format, [ROME], "", "Rome, they say.")) or format == "harmony"


@pytest.mark.parametrize("format", FORMATS)
def test_arguments_are_free_where_nobody_is_strict(format):
    free = matcher(format, tool_choice="required", strict=False)
    assert free.accepts(turn(format, [Call("get_weather", {"unit": "C", "deep": True})]))
    own = structural_tag([{**ADD, "strict": False}], format=format, tool_choice="required")
    assert Matcher(own, tool_format(format).special_tokens).accepts(turn(format, [Call("add", {"b": 2})]))
    own = structural_tag([{**ADD, "strict": False}], format=format, tool_choice="required", strict=True)
    assert not Matcher(own, tool_format(format).special_tokens).accepts(turn(format, [Call("add", {"b": 2})]))


@pytest.mark.parametrize("format", FORMATS)
def test_custom_tools_hold_a_pattern(format):
    tool = {
        "type": "custom",
        "name": "dial",
        "format": {"type": "grammar", "syntax": "regex", "definition": "[0-9]{3}"},
    }
    tag = Matcher(structural_tag([tool], format=format, tool_choice="required"), tool_format(format).special_tokens)
    assert tag.accepts(turn(format, [Call("dial", {"input": "112"})]))
    assert not tag.accepts(turn(format, [Call("dial", {"input": "11"})]))


def test_custom_tools_keep_their_grammar():
    tool = {"type": "custom", "custom": {"name": "sql", "format": {"type": "grammar", "grammar": {}}}}
    tool["custom"]["format"]["grammar"] = {"syntax": "lark", "definition": 'start: "SELECT" /[a-z ]+/'}
    tag = structural_tag([tool], format="qwen3_coder", tool_choice="required")
    call = tag["format"]["elements"][0]["tags"][0]
    assert call["content"]["begin"] == "<parameter=input>\n"
    assert call["content"]["content"]["content"] == {
        "type": "grammar",
        "grammar": 'start: "SELECT" /[a-z ]+/',
        "syntax": "lark",
    }


def test_text_that_only_looks_like_a_call_of_python():
    auto = matcher("pythonic")
    assert auto.accepts("See [1] and [foo(a=1)].")
    assert not auto.accepts("[get_weather(a=1)]")
    assert auto.accepts('[get_weather(city="Rome"), add(a=2)] and [add(a=1)]')


@pytest.mark.parametrize(
    ("schema", "written"),
    [
        ({"type": "string"}, "'a{}'"),
        ({"type": "string", "pattern": "^a"}, "'a{}'"),
        ({"type": "object"}, "{{'a{}': 1}}"),
    ],
)
def test_strings_of_python_hold_no_zero_byte(schema, written):
    tool = {"name": "f", "parameters": {"type": "object", "properties": {"s": schema}}}
    vocabulary = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[256])
    index = interlock.Index.from_tools([tool], vocabulary, format="pythonic", tool_choice="required")
    for more, is_accepted in (("b", True), ("\0", False)):
        data = f"[f(s={written.format(more)})]".encode()
        assert (index.guide().advance_many(list(data)) == len(data)) is is_accepted


def test_names_that_begin_like_another():
    tools = [{"name": "get"}, {"name": "get_weather", "parameters": SCHEMAS["get_weather"]}]
    for format in FORMATS:
        tag = Matcher(structural_tag(tools, format=format, tool_choice="required"), tool_format(format).special_tokens)
        assert tag.accepts(turn(format, [ROME, Call("get")])), format
        assert not tag.accepts(turn(format, [Call("get_weather", {"x": 1})])), format


def test_names_with_quotes_and_line_ends():
    tools = [{"name": 'say "hi"\nnow'}]
    tag = Matcher(structural_tag(tools, format="hermes", tool_choice="required"))
    assert tag.accepts('<tool_call>\n{"name": "say \\"hi\\"\\nnow", "arguments": {}}\n</tool_call>')
    for format in ("qwen3_coder", "pythonic", "glm_4_5", "deepseek_v4"):
        with pytest.raises(RequestError, match="/tools"):
            structural_tag([{"name": 'a">\n<b'}], format=format)


def test_classes_and_functions_are_tools():
    pydantic = pytest.importorskip("pydantic")

    class Booking(pydantic.BaseModel):
        city: str
        nights: int

    def add(a: float, b: float = 0) -> float: ...

    def now() -> str: ...

    tag = Matcher(structural_tag([Booking, add, now], format="hermes", tool_choice="required"))
    assert tag.accepts(render("hermes", [Call("Booking", {"city": "Rome", "nights": 2}), Call("now")]))
    assert tag.accepts(render("hermes", [Call("add", {"a": 1})]))
    assert not tag.accepts(render("hermes", [Call("Booking", {"city": "Rome"})]))
    assert not tag.accepts(render("hermes", [Call("now", {"zone": "CET"})]))


@pytest.mark.parametrize(
    ("tools", "options", "pointer"),
    [
        ("get_weather", {}, "/tools"),
        ([{"name": "a"}, {"name": "a"}], {}, "/tools/1/name"),
        ([{"type": "function", "function": {"name": ""}}], {}, "/tools/0/function/name"),
        ([{"name": "a", "parameters": 3}], {}, "/tools/0/parameters"),
        ([{"type": "web_search"}], {}, "/tools/0/type"),
        ([3], {}, "/tools/0"),
        (
            [{"type": "custom", "name": "a", "format": {"type": "grammar", "syntax": "abnf"}}],
            {},
            "/tools/0/format/syntax",
        ),
        ([], {"tool_choice": "required"}, "/tools"),
        ([{"name": "a"}], {"tool_choice": {"name": "b"}}, "/tool_choice/name"),
        ([{"name": "a"}], {"tool_choice": ["a", "b"]}, "/tool_choice/1"),
        ([{"name": "a"}], {"tool_choice": "always"}, "/tool_choice"),
        ([{"name": "a"}], {"reasoning": "enabled"}, "/reasoning"),
        ([{"name": "a"}], {"reasoning": "required"}, "/reasoning"),
        ([{"name": "a"}], {"max_calls": 0}, "/max_calls"),
        ([{"name": "a"}], {"min_calls": 2, "parallel": False}, "/max_calls"),
        ([{"name": "a"}], {"min_calls": 2, "unique": True}, "/min_calls"),
        ([{"name": "a"}], {"parallel": 1}, "/parallel_tool_calls"),
        ([{"name": "a", "parameters": False}], {}, "/tools/0/parameters"),
        ([{"name": "a"}, {"type": "function", "function": {"name": "b</tool_call>"}}], {}, "/tools/1/function/name"),
    ],
)
def test_requests_that_make_no_sense(tools, options, pointer):
    with pytest.raises(RequestError) as caught:
        structural_tag(tools, **{"format": "functionary_v3_1", **options})
    assert caught.value.pointer == pointer


def test_a_format_of_a_user(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(
        'name = "mine"\n[[notation]]\nsection_begin = "<<CALLS>>"\nsection_end = "<<END>>"\nseparator = "|"\n'
        'begin = "${name} -> "\nend = ";"\n[arguments]\nencoding = "tagged"\nbegin = "${key}: "\nend = "\\n"\n'
    )
    tag = Matcher(structural_tag(TOOLS, format=file))
    written = render(file, [ROME, ONE], text="Well. ")
    assert written == "Well. <<CALLS>>get_weather -> city: Rome\ndays: 3\n;|add -> a: 1.5\n;<<END>>"
    assert tag.accepts(written)
    assert not tag.accepts(written.replace("<<END>>", ""))
    with pytest.raises(ToolFormatError, match="ends a string"):
        render(file, [Call("get_weather", {"city": "Rome\nItaly"})])


def test_many_tools_are_linear():
    tools = [{"name": f"tool_{index}", "parameters": {"type": "object"}} for index in range(2000)]
    for format in ("hermes", "pythonic", "kimi_k2", "harmony"):
        small, large = (len(json.dumps(structural_tag(tools[:count], format=format))) for count in (200, 2000))
        assert large < 12 * small


@pytest.mark.parametrize("name", format_names())
@pytest.mark.parametrize(
    "wrong",
    [{"type": "strnig"}, {"minLength": -1}, {"pattern": "("}, {"$ref": "#/nowhere"}, {"items": {"type": "intger"}}],
    ids=str,
)
def test_parameters_that_are_no_schema_are_refused_in_every_notation(name, wrong):
    tool = {"type": "function", "function": {"name": "a", "parameters": {"properties": {"x": wrong}}}}
    with pytest.raises(interlock.InterlockError) as caught:
        interlock.check_tools([tool], format=name)
    assert caught.value.pointer.startswith("/tools/0/function/parameters/properties/x")
    if name == "minimax_m3":
        return  # Repeats names behind values, so it can't write arguments that nobody declared.
    loose = {"type": "function", "function": {**tool["function"], "strict": False}}
    interlock.check_tools([loose], format=name)
