"""Response templates of transformers as structural tags, beside the parser that transformers has for them."""

from __future__ import annotations

import random

import interlock
import pytest
from interlock import events as ev
from interlock.tools import Call, RequestError, StructuralTagError, structural_tag

try:
    from transformers.utils.chat_parsing import parse_response
except ImportError:  # Older, or not there: then the events alone are looked at.
    parse_response = None

TOOLS = [
    {
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "pattern": "^[A-Z][a-z]{2,5}$"},
                "days": {"type": "integer", "minimum": 0, "maximum": 99},
                "units": {"type": "array", "items": {"enum": ["C", "F"]}, "maxItems": 2},
            },
            "required": ["city"],
            "additionalProperties": False,
        },
    },
    {"name": "get", "parameters": {"type": "object", "properties": {}, "additionalProperties": False}},
]
FUNCTION = {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}}
TEMPLATES = {
    "one JSON object": {
        "start_anchor": "<|assistant|>",
        "fields": {
            "thinking": {"open": "<think>", "close": "</think>"},
            "content": {"open": "<response>\n", "close": "\n</response>"},
            "tool_calls": {
                "open": "<tool_call>",
                "close": "</tool_call>",
                "content": "json",
                "repeats": True,
                "transform": {"type": "function", "function": "{content}"},
            },
        },
    },
    "an array": {
        "start_anchor": "<|chatbot|>",
        "fields": {
            "thinking": {"open": "<|START_THINKING|>", "close": "<|END_THINKING|>"},
            "content": {"open": "<|START_RESPONSE|>", "close": "<|END_RESPONSE|>"},
            "tool_calls": {
                "open": "<|START_ACTION|>",
                "close": "<|END_ACTION|>",
                "content": "json",
                "transform_each": True,
                "transform": {"type": "function", "function": {"name": "{tool_name}", "arguments": "{parameters}"}},
            },
        },
    },
    "messages": {
        "start_anchor": "<|start|>assistant",
        "fields": {
            "thinking": {"open": "<|channel|>analysis<|message|>", "close": "<|end|>"},
            "content": {"open": "<|channel|>final<|message|>", "close": ["<|end|>", "<|return|>"]},
            "tool_calls": {
                "open_pattern": r"<\|channel\|>commentary to=functions\.(?P<name>\w+).*?<\|message\|>",
                "close": "<|call|>",
                "content": "json",
                "repeats": True,
                "transform": FUNCTION,
            },
        },
    },
    "parameters": {
        "start_anchor": "<|im_start|>assistant\n",
        "fields": {
            "thinking": {"open_pattern": r"<think>\n?", "close_pattern": r"\n?</think>\s*"},
            "content": {},
            "tool_calls": {
                "open_pattern": r"<tool_call>\s*<function=(?P<name>[^>]+)>\s*",
                "close_pattern": r"\s*</function>\s*</tool_call>",
                "content": "xml-inline",
                "content_args": {"tag_pattern": r"<parameter=(?P<key>\w+)>\n(?P<value>.*?)\n</parameter>"},
                "repeats": True,
                "transform": FUNCTION,
            },
        },
    },
    "quotes of its own": {
        "start_anchor": "<|turn>model\n",
        "fields": {
            "thinking": {"open": "<|channel>thought\n", "close": "<channel|>"},
            "content": {},
            "tool_calls": {
                "open_pattern": r"<\|tool_call>call:(?P<name>\w+)",
                "close": "<tool_call|>",
                "content": "json",
                "content_args": {"string_delims": [['<|"|>', '<|"|>']], "unquoted_keys": True},
                "repeats": True,
                "transform": FUNCTION,
            },
        },
    },
    "lines": {
        "start_anchor": "<|assistant|>",
        "fields": {
            "content": {},
            "tool_calls": {
                "open_pattern": r"\[call (?P<name>\w+)\]\n",
                "close": "[end]",
                "content": "kv-lines",
                "content_args": {"kv_sep": ": "},
                "repeats": True,
                "transform": FUNCTION,
            },
        },
    },
}
ROME, GET = Call("get_weather", {"city": "Rome", "days": 3}), Call("get")
TEXTS = {
    "one JSON object": '<think>hm</think>\n<tool_call>\n{"name": "get_weather", '
    '"arguments": {"city": "Rome", "days": 3}}\n</tool_call>\n<tool_call>{"name":"get","arguments":{}}</tool_call>',
    "an array": '<|START_THINKING|>hm<|END_THINKING|><|START_ACTION|>[\n  {"tool_name": "get_weather", "parameters": '
    '{"city": "Rome", "days": 3}},\n  {"tool_name": "get", "parameters": {}}\n]<|END_ACTION|>',
    "messages": "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>commentary "
    'to=functions.get_weather <|constrain|>json<|message|>{"city": "Rome", "days": 3}<|call|>'
    "<|start|>assistant<|channel|>commentary to=functions.get<|message|>{}<|call|>",
    "parameters": "<think>\nhm</think>\n\nLet me see.<tool_call>\n<function=get_weather>\n"
    "<parameter=city>\nRome\n</parameter>\n<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>\n<tool_call>\n<function=get>\n</function>\n</tool_call>",
    "quotes of its own": "<|channel>thought\nhm<channel|>Let me see.<|tool_call>"
    'call:get_weather{city:<|"|>Rome<|"|>,days:3}'
    "<tool_call|><|tool_call>call:get{}<tool_call|>",
    "lines": "Let me see.[call get_weather]\ncity: Rome\ndays: 3\n[end][call get]\n[end]",
}
SPECIALS = (
    *("<think>", "</think>", "<|channel|>", "<|message|>", "<|call|>", "<|end|>", "<|constrain|>", "<|start|>"),
    *("<tool_call>", "</tool_call>", '<|"|>', "<|tool_call>", "<tool_call|>", "<|START_ACTION|>", "<|return|>"),
)


def vocabulary(specials=()):
    tokens = [bytes([byte]) for byte in range(256)] + [text.encode() for text in specials] + [b""]
    last = 256 + len(specials)
    return interlock.Vocabulary(tokens, eos_token_ids=[last], special_token_ids=range(256, last))


def ids_of(text, specials):
    found, at, data = [], 0, text.encode()
    while at < len(data):
        special = next((one for one in specials if data.startswith(one.encode(), at)), None)
        found.append(data[at] if special is None else 256 + specials.index(special))
        at += len(special or "x")
    return found


def calls_of(events):
    return [(event.call.name, event.call.arguments) for event in events if isinstance(event, ev.CallEnded)]


def read_by_transformers(name, text):
    functions = [{"type": "function", "function": tool} for tool in TOOLS]
    found = parse_response(text, TEMPLATES[name], prefix="", tools=functions)
    return [(call["function"]["name"], call["function"]["arguments"]) for call in found.get("tool_calls", [])]


@pytest.mark.parametrize("specials", [(), SPECIALS], ids=["texts", "special tokens"])
@pytest.mark.parametrize("name", TEMPLATES)
def test_outputs_are_read(name, specials):
    index = interlock.Index.from_tools(TOOLS, vocabulary(specials), format=TEMPLATES[name], reasoning="optional")
    ids = ids_of(TEXTS[name], specials)
    guide = index.guide()
    assert guide.advance_many(ids) == len(ids) and guide.is_accepting
    events = index.parse(ids)
    assert calls_of(events) == [(ROME.name, ROME.arguments), (GET.name, {})]
    if "thinking" in TEMPLATES[name]["fields"]:
        assert [event.text.strip() for event in events if isinstance(event, ev.Reasoning)] == ["hm"]
    if not TEMPLATES[name]["fields"]["content"]:
        assert "".join(event.text for event in events if isinstance(event, ev.Text)).strip() == "Let me see."
    if parse_response is not None:
        assert read_by_transformers(name, TEXTS[name]) == calls_of(events)
    # What the schema forbids cannot be written.
    wrong = ids_of(TEXTS[name].replace("3", "x"), specials)
    guide = index.guide()
    assert guide.advance_many(wrong) < len(wrong)


@pytest.mark.parametrize("name", TEMPLATES)
def test_random_calls_are_read_alike(name):
    index = interlock.Index.from_tools(
        TOOLS, vocabulary(), format=TEMPLATES[name], tool_choice="required", max_calls=None if "[" in name else 3
    )
    for seed in range(40):
        draw, guide = random.Random(f"{name} {seed}"), index.guide(max_tokens=250)
        while not guide.is_terminated:
            allowed = guide.allowed_token_ids().tolist()
            assert allowed
            if 256 in allowed and (len(allowed) == 1 or draw.random() < 0.5):
                guide.advance(256)
                break
            few = [token for token in allowed if token < 256 and chr(token) in "[]{}<>/\"':,|=\nabcRomedit07"]
            guide.advance(draw.choice(few or [token for token in allowed if token != 256]))
        text = bytes(token for token in guide.tokens if token < 256).decode()
        made = calls_of(index.parse(guide.tokens))
        assert made, text
        if parse_response is not None:
            assert read_by_transformers(name, text) == made, text


def test_the_tokenizer_says_it():
    class Tokenizer:
        chat_template = None
        response_template = TEMPLATES["parameters"]

    tag = structural_tag(TOOLS, tokenizer=Tokenizer(), tool_choice={"name": "get"})
    guide = interlock.Index.from_structural_tag(tag, vocabulary()).guide()
    assert guide.advance_many(list(b"<tool_call><function=get")) == 24
    assert guide.forced_text() == ">"
    for choice, text, good in (
        ("required", "Hello", False),
        ("none", "Hello", True),
        ("none", "<tool_call>\n<function=get>", False),
        ("auto", "Hello <tool_call>", True),
        ("auto", "Hello", True),
    ):
        index = interlock.Index.from_tools(TOOLS, vocabulary(), tokenizer=Tokenizer(), tool_choice=choice)
        guide = index.guide()
        assert (guide.advance_many(list(text.encode())) == len(text)) == good, (choice, text)


def test_calls_are_counted():
    template = TEMPLATES["one JSON object"]
    call = '<tool_call>{"name": "get", "arguments": {}}</tool_call>'
    for options, most in (({"parallel": False}, 1), ({"max_calls": 3}, 3), ({"min_calls": 2, "max_calls": 2}, 2)):
        index = interlock.Index.from_tools(TOOLS, vocabulary(), format=template, tool_choice="required", **options)
        for count in range(5):
            guide, data = index.guide(), (call * count).encode()
            whole = guide.advance_many(list(data)) == len(data) and guide.is_accepting
            assert whole == (options.get("min_calls", 1) <= count <= most), (options, count)


def test_reasoning_is_bounded():
    template = TEMPLATES["one JSON object"]
    index = interlock.Index.from_tools(
        TOOLS, vocabulary(), format=template, reasoning="required", reasoning_is_open=True, max_reasoning_tokens=5
    )
    guide = index.guide()
    assert guide.advance_many(list(b"abcde")) == 5
    assert guide.forced_text() == "</think>"


@pytest.mark.parametrize(
    ("change", "error", "place"),
    [
        ({"version": 2}, StructuralTagError, "/format/version"),
        ({"start": "x"}, StructuralTagError, "/format/start"),
        ({"fields": {"answer": {}}}, interlock.UnsupportedError, "/format/fields/answer"),
        ({"fields": {"content": {"open": ""}}}, StructuralTagError, "/format/fields/content/open"),
        (
            {"fields": {"content": {"open": "a", "open_pattern": "a"}}},
            StructuralTagError,
            "/format/fields/content/open",
        ),
        ({"fields": {"content": {"open_pattern": "(a"}}}, StructuralTagError, "/format/fields/content/open_pattern"),
        (
            {"fields": {"content": {}, "tool_calls": {"open": "a", "close": "b"}}},
            interlock.UnsupportedError,
            "/format/fields/tool_calls/transform",
        ),
    ],
)
def test_mistakes_have_places(change, error, place):
    with pytest.raises(error) as caught:
        structural_tag(TOOLS, format={**TEMPLATES["lines"], **change})
    assert str(caught.value).startswith(f"at {place}: ")


def test_names_that_the_pattern_of_names_has_no_room_for():
    with pytest.raises(RequestError, match="does not match the group 'name'"):
        structural_tag([{"name": "get weather"}], format=TEMPLATES["messages"])
    with pytest.raises(RequestError, match="does not match the group key"):
        tools = [{"name": "get", "parameters": {"properties": {"a b": {}}}}]
        structural_tag(tools, format=TEMPLATES["parameters"])
