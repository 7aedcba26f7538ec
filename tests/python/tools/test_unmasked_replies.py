"""Replies that were written without masks: whole calls are found in every format, whatever stands around them."""

import random

import pytest
from interlock.events import CallEnded, End, Event, Reasoning, Text
from interlock.tools import (
    Call,
    RequestError,
    ToolFormatError,
    chat_completion_choice,
    format_names,
    parse_reply,
    render,
    tool_format,
)

SCHEMAS = {
    "get_weather": {
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "days": {"type": "integer"},
            "opts": {"type": "object", "properties": {"deep": {"type": "boolean"}, "x": {}}},
            "zip": {"type": "string"},
        },
    },
    "add": {
        "type": "object",
        "properties": {"a": {"type": "number"}, "b": {"type": "array", "items": {"type": "string"}}},
    },
    "now": {"type": "object", "properties": {}},
}
TOOLS = [{"name": name, "parameters": schema} for name, schema in SCHEMAS.items()]
CALLS = [
    Call("get_weather", {"city": 'São "P"', "days": 3, "opts": {"deep": True, "x": None}, "zip": "0123"}),
    Call("now", {}),
    Call("add", {"a": -1.5e3, "b": ["x", "true"]}),
]
FORMATS = format_names()


def calls_in(events: list[Event]) -> list[Call]:
    return [event.call for event in events if isinstance(event, CallEnded)]


def text_in(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, Text))


def written(format, **options):
    reasoning = "Rome?" if tool_format(format).reasoning else None
    return render(format, CALLS, "Well, it is so.", reasoning, **options), reasoning


@pytest.mark.parametrize("whitespace", ["flexible", "compact"])
@pytest.mark.parametrize("format", FORMATS)
def test_what_a_model_writes_by_the_book_is_read(format, whitespace):
    text, reasoning = written(format, whitespace=whitespace)
    events = parse_reply(text, format=format, tools=TOOLS)
    assert calls_in(events) == CALLS and text_in(events) == "Well, it is so." and events[-1] == End()
    assert [event.text for event in events if isinstance(event, Reasoning)] == ([reasoning] if reasoning else [])
    assert [call.name for call in calls_in(parse_reply(text, format=format))] == [call.name for call in CALLS]


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("format", FORMATS)
def test_a_text_that_is_cut_anywhere_has_the_first_of_its_calls(format, known):
    data = written(format)[0].encode()
    tools = TOOLS if known else None
    whole = calls_in(parse_reply(data, format=format, tools=tools))
    most = 0
    for end in range(len(data) + 1):
        found = calls_in(parse_reply(data[:end], format=format, tools=tools, partial=True))
        assert found == whole[: len(found)], data[:end]
        assert len(found) >= most, data[:end]
        most = len(found)
    assert most == len(CALLS)


@pytest.mark.parametrize("format", FORMATS)
def test_a_text_that_is_damaged_anywhere_never_raises(format):
    generator = random.Random(format)
    text = written(format)[0]
    for _ in range(150):
        at, length = generator.randrange(len(text)), generator.randrange(8)
        inserted = generator.choice(
            ["", text[: generator.randrange(40)], '"', "{", "[", "<", "\n", "1e999", "\0", "\ud800"]
        )
        damaged = text[:at] + inserted + text[at + length :]
        events = parse_reply(damaged, format=format, tools=generator.choice([None, TOOLS]))
        assert events[-1] == End()
        chat_completion_choice(events, format=format)


@pytest.mark.parametrize("format", FORMATS)
def test_text_behind_the_calls_is_text(format):
    if tool_format(format).layout.kind != "text":
        return
    text = written(format)[0]
    assert calls_in(parse_reply(text + "\n", format=format, tools=TOOLS)) == CALLS
    events = parse_reply(text + "\nThat is all.", format=format, tools=TOOLS)
    assert calls_in(events) == CALLS and text_in(events).endswith("\nThat is all.")


ROME = Call("get_weather", {"city": "Rome"})


@pytest.mark.parametrize(
    ("format", "reply", "text"),
    [
        ("hermes", '<tool_call>{"name": "get_weather", "arguments": {"city": "Rome"}}</tool_call>\n', "\n"),
        ("hermes", '<tool_call> { "name" : "get_weather" , "arguments" :\t{ "city":"Rome" } } </tool_call>', ""),
        ("hermes", '<tool_call>\n{"arguments": {"city": "Rome"}, "name": "get_weather"}\n</tool_call>', ""),
        ("hermes", '<tool_call>\n{"arguments": {"city": "Rome"}, "name": "get_weather"}\n</tool_c', ""),
        ("hermes", '<tool_call>{"name": "get_weather", "arguments": "{\\"city\\": \\"Rome\\"}"}</tool_call>', ""),
        ("hermes", '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome"}', ""),
        ("hermes", '<tool_call>{"name": "get_weather", "parameters": {"city": "Rome"}}</tool_call>', ""),
        ("llama3_json", '{"name": "get_weather", "arguments": {"city": "Rome"}}', ""),
        (
            "hermes",
            'A <tool_call> is:<tool_call>{"name": "get_weather", "arguments": {"city": "Rome"}}',
            "A <tool_call> is:",
        ),
        ("llama3_json", 'Ok {"parameters": {"city": "Rome"}, "name": "get_weather"} {"a": 1}', 'Ok  {"a": 1}'),
        ("pythonic", '[ get_weather( city = "Rome" ) ]', ""),
        ("mistral", '[TOOL_CALLS] get_weather [ARGS] {"city": "Rome"}</s>', "</s>"),
        ("qwen3_coder", "<tool_call><function=get_weather><parameter=city>Rome</parameter></function></tool_call>", ""),
        ("qwen3_coder", "<tool_call>\n<function=get_weather>\n<parameter=city>\nRome\n</parameter>\n</function>\n", ""),
        ("glm_4_5", "<tool_call>get_weather<arg_key>city</arg_key><arg_value>Rome</arg_value></tool_call>", ""),
        (
            "harmony",
            '<|channel|>commentary to=functions.get_weather<|constrain|>json<|message|>{"city": "Rome"}',
            "",
        ),
        ("xlam", '[{"name": "get_weather", "arguments": {"city": "Rome"}}', ""),
    ],
)
def test_replies_that_deviate_a_little(format, reply, text):
    for tools in (TOOLS, None):
        events = parse_reply(reply, format=format, tools=tools)
        assert calls_in(events) == [ROME] and text_in(events) == text


def test_what_is_no_whole_call_is_text():
    for reply in (
        '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Ro',
        '<tool_call>\n{"name": "get_weather", "arguments": [1]}\n</tool_call>',
        '<tool_call>\n{"name": "get_weather", "arguments": {"city": NaN}}\n</tool_call>',
        '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome"}, oops</tool_call>',
        '<tool_call>\n{"name": "get_weather", "args": {"city": "Rome"}}\n</tool_call>',
        '{"name": "get_weather", "arguments": {"city": "Rome"}}',
    ):
        assert parse_reply(reply, format="hermes") == [Text(reply), End()]
    null = '<tool_call>{"name": "now", "arguments": null}</tool_call>'
    assert calls_in(parse_reply(null, format="hermes")) == [Call("now")]
    other = '<tool_call>\n{"name": "other", "arguments": {}}\n</tool_call>'
    assert parse_reply(other, format="hermes", tools=TOOLS) == [Text(other), End()]
    assert calls_in(parse_reply(other, format="hermes")) == [Call("other")]
    assert parse_reply("", format="hermes", partial=True) == []


def test_reasoning_holds_no_calls():
    call = '<tool_call>\n{"name": "now", "arguments": {}}\n</tool_call>'
    thought = f"Perhaps {call}?"
    assert parse_reply(f"<think>{thought}", format="hermes") == [Reasoning(thought), End()]
    assert parse_reply(thought, format="hermes", reasoning_is_open=True) == [Reasoning(thought), End()]
    assert parse_reply("Hm.</think>Well.", format="hermes") == [Reasoning("Hm."), Text("Well."), End()]
    closed = parse_reply(f"Hm.</think>{call}", format="hermes", reasoning_is_open=False)
    assert closed[0] == Text("Hm.</think>") and calls_in(closed) == [Call("now")]


def test_a_choice_is_made_of_a_reply():
    reply = 'Ok.\n<tool_call>{"name": "now", "arguments": {}}</tool_call>'
    cut = chat_completion_choice(parse_reply(reply + '<tool_call>{"na', format="hermes", partial=True), format="hermes")
    assert cut["finish_reason"] == "length" and len(cut["message"]["tool_calls"]) == 1
    assert cut["message"]["content"] == 'Ok.<tool_call>{"na'
    whole = chat_completion_choice(parse_reply(reply, format="hermes"), format="hermes")
    assert whole["finish_reason"] == "tool_calls" and whole["message"]["content"] == "Ok."


def test_slips_of_the_caller_are_errors():
    with pytest.raises(ToolFormatError, match="no tool format has the name 'hermse'"):
        parse_reply("", format="hermse")
    with pytest.raises(RequestError, match="at /tools"):
        parse_reply("", format="hermes", tools="now")
    with pytest.raises(TypeError, match="reply must be a str or bytes, not list"):
        parse_reply([1], format="hermes")


@pytest.mark.parametrize("format", FORMATS)
def test_begins_without_an_end_are_text(format):
    text = written(format)[0]
    for piece in (text[: len(text) // 2], text[:20], "{", "[", '{"a":', "[[ ", "\n "):
        assert parse_reply(piece * 200, format=format)[-1] == End()
