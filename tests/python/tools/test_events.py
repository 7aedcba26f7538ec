"""Events: what an output says, while it is written and as a whole, for every format of tool calls."""

from __future__ import annotations

import pickle
import random

import numpy as np
import pytest

import interlock
from interlock import events as ev
from interlock.tools import Call, ToolFormatError, format_names, render, tool_format

EOS = 256
VOCABULARY = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[EOS])

TOOLS = [
    {
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "days": {"type": "integer"},
                "exact": {"type": "boolean"},
                "tags": {"type": "array", "items": {"type": "string"}},
                "place": {"type": "object", "properties": {"lat": {"type": "number"}}, "additionalProperties": False},
                "unit": {"enum": ["C", "F"]},
            },
            "required": ["city"],
            "additionalProperties": False,
        },
    },
    {"name": "now", "parameters": {"type": "object", "properties": {}, "additionalProperties": False}},
    {
        "name": "now_later",
        "parameters": {
            "type": "object",
            "properties": {"days": {"type": "integer"}},
            "required": ["days"],
            "additionalProperties": False,
        },
    },
]
CALLS = [
    [Call("get_weather", {"city": "Rome", "days": 3}), Call("now")],
    [Call("now_later", {"days": -2})],
    [Call("get_weather", {"city": "12"})],
    [Call("get_weather", {"city": "a 'b' \\ é 漢", "exact": True, "unit": "F"}), Call("now_later", {"days": 0})],
    [Call("get_weather", {"city": "x", "tags": ["a", "b c"], "place": {"lat": 1.5}})],
]


def index_of(name, **request):
    form = tool_format(name)
    reasoning = "optional" if form.reasoning else "none"
    return interlock.Index.from_tools(TOOLS, VOCABULARY, **{"format": name, "reasoning": reasoning, **request})


def merged(events):
    """Events with pieces that follow each other as one."""
    out = []
    for event in events:
        if out and type(out[-1]) is type(event):
            if isinstance(event, ev.Text | ev.Reasoning):
                out[-1] = type(event)(out[-1].text + event.text)
                continue
            if isinstance(event, ev.ArgumentBytes) and out[-1].call == event.call:
                out[-1] = ev.ArgumentBytes(event.call, out[-1].data + event.data)
                continue
        out.append(event)
    return out


def calls_of(events):
    return [event.call for event in events if isinstance(event, ev.CallEnded)]


def written(name, calls, **parts):
    """What a model of the format would write, or None where the notation cannot hold it."""
    try:
        return render(name, calls, **parts)
    except ToolFormatError:
        return None


@pytest.mark.parametrize("name", format_names())
def test_calls_that_are_written_are_read_again(name):
    form = tool_format(name)
    index = index_of(name)
    seen = 0
    for calls in CALLS:
        output = written(name, calls, text="I will look.", reasoning="Rome." if form.reasoning else None)
        if output is None:
            continue
        events = merged(index.parse(output))
        assert calls_of(events) == calls, output
        # Where calls stand in text, so does what is written between them.
        texts = [e.text.strip() for e in events if isinstance(e, ev.Text)]
        assert [text for text in texts if text.strip("; \n")] == ["I will look."]
        assert [e.text for e in events if isinstance(e, ev.Reasoning)] == (["Rome."] if form.reasoning else [])
        assert [e for e in events if isinstance(e, ev.NameKnown)] == [
            ev.NameKnown(i, call.name) for i, call in enumerate(calls)
        ]
        assert events[-1] == ev.End()
        seen += 1
    assert seen >= 3


@pytest.mark.parametrize("name", format_names())
def test_events_come_token_by_token_and_never_too_early(name):
    """The events of all beginnings are the beginnings of the events of the whole."""
    form = tool_format(name)
    index = index_of(name)
    calls = CALLS[0]
    output = render(name, calls, text="Is 1 < 2? [x", reasoning="a < b" if form.reasoning else None).encode()
    whole = merged(index.parse(output))
    guide, events, begun, ended = index.guide(), [], [], []
    for at, byte in enumerate(output):
        guide.advance(byte)
        new = guide.events()
        events += new
        begun += [at for event in new if isinstance(event, ev.NameKnown)]
        ended += [at for event in new if isinstance(event, ev.CallEnded)]
        assert len(merged(events)) <= len(whole)
    guide.advance(EOS)
    events += guide.events()
    assert merged(events) == whole
    # A call is known when it is whole, and not only when something follows it.
    assert len(begun) == len(ended) == 2
    if form.layout.kind == "text" and form.notations[0].end and not form.notations[0].section_begin:
        assert ended[-1] == len(output) - 1


def shown(events):
    """An output as a client sees it: its events with their texts, as one list of characters."""
    found = []
    for event in merged(events):
        text = getattr(event, "text", getattr(event, "data", None))
        kind = (type(event).__name__, getattr(event, "call", None))
        found += [kind] if text is None else [(kind, character) for character in text]
    return found


@pytest.mark.parametrize("name", ["hermes", "qwen3_coder", "pythonic", "gemma_4"])
def test_a_history_says_which_characters_a_rollback_changes(name):
    rng = random.Random(name)
    index = index_of(name)
    output = render(name, CALLS[0], text="Well. ").encode()
    guide, history = index.guide(), ev.EventHistory()
    seen, at, cut = [], 0, 0
    for _ in range(400):
        if at and rng.random() < 0.3:
            back = rng.randint(1, min(at, 30))
            guide.rollback(back)
            at -= back
        elif at < len(output):
            guide.advance(output[at])
            at += 1
        if rng.random() < 0.5:
            continue
        removed, added = history.take(guide.events())
        gone, new = shown(removed), shown(added)
        # The least change: what is removed and what is added begin with another character.
        assert not gone or not new or gone[0] != new[0]
        assert seen[len(seen) - len(gone) :] == gone
        cut += 0 < len(gone) < len(seen)
        seen = seen[: len(seen) - len(gone)] + new
        fresh = index.guide()
        fresh.advance_many(list(output[:at]))
        assert seen == shown(fresh.events()) == shown(history.events)
    assert cut > 10
    with pytest.raises(interlock.ArgumentError, match="2 events are taken back, and only 0 given"):
        ev.EventHistory().take([ev.TakenBack(2)])


def test_text_may_be_spelled_like_a_special_token_and_is_no_token():
    """Arguments hold the characters of DeepSeek's mark in other tokens, and never the token."""
    properties = {"a": {"type": "string"}, "b": {"type": "object"}}
    mark, tool = "｜DSML｜", {"name": "say", "parameters": {"type": "object", "properties": properties}}
    special = [mark.encode(), b"<think>", b"</think>"]
    vocabulary = interlock.Vocabulary(
        [bytes([i]) for i in range(256)] + [b"", *special, b"x" + special[0]],
        eos_token_ids=[256],
        special_token_ids=[257, 258, 259],
    )
    index = interlock.Index.from_tools([tool], vocabulary, format="deepseek_v4", tool_choice="required")

    def tokens(*parts):
        return [one for part in parts for one in ([part] if isinstance(part, int) else part.encode())]

    def call(*argument):
        begin = ["\n\n<", 257, "tool_calls>\n<", 257, 'invoke name="say">\n<', 257]
        end = ["</", 257, "parameter>\n</", 257, "invoke>\n</", 257, "tool_calls>"]
        return tokens(*begin, *argument, *end)

    text = 'parameter name="a" string="true">'
    for inside in (mark, f"</{mark}parameter>", f'<{mark}invoke name="say">', f"</{mark}"):
        ended = index.parse(call(text, inside))[-2]
        assert ended == ev.CallEnded(0, Call("say", {"a": inside}))
    # A token of text whose bytes end as the mark does is text.
    assert index.parse(call(text, 260))[-2].call.arguments == {"a": f"x{mark}"}
    value = 'parameter name="b" string="false">{"k": "'
    assert index.parse(call(value, mark, '"}'))[-2].call.arguments == {"b": {"k": mark}}
    for parts in ((text, "a", 257, "b"), (text, "<", 257, "parameter"), (value, 257, '"}')):
        with pytest.raises(interlock.TokenRejected):
            index.parse(call(*parts))
    # The delimiters are the token alone.
    assert index.guide().advance_many(f"\n\n<{mark}".encode()) == 3


@pytest.mark.parametrize("name", ["hermes", "qwen3_coder", "pythonic", "harmony", "gemma_4", "minimax_m3"])
def test_going_back_takes_events_back(name):
    rng = random.Random(name)
    index = index_of(name)
    output = render(name, CALLS[0], text="Well. ").encode()
    whole = merged(index.parse(output))
    guide, given = index.guide(), []
    at, steps = 0, 0
    while at < len(output):
        steps += 1
        if at and steps < 400 and rng.random() < 0.15:
            back = rng.randint(1, min(at, 30))
            guide.rollback(back)
            at -= back
        else:
            guide.advance(output[at])
            at += 1
        if rng.random() < 0.5:
            continue
        new = guide.events()
        if new and isinstance(new[0], ev.TakenBack):
            assert 0 < new[0].count <= len(given)
            del given[len(given) - new[0].count :]
            new = new[1:]
        assert not any(isinstance(event, ev.TakenBack) for event in new)
        given += new
        fresh = index.guide()
        fresh.advance_many(list(output[:at]))
        assert merged(given) == merged(fresh.events())
        if rng.random() < 0.2:
            other = guide.fork()
            assert merged(given + other.events()) == merged(given)
    guide.advance(EOS)
    new = guide.events()
    if isinstance(new[0], ev.TakenBack):
        del given[len(given) - new[0].count :]
        new = new[1:]
    assert merged(given + new) == whole


def test_a_tool_named_like_the_beginning_of_another_is_known_when_it_must_be():
    index = index_of("functionary_v3_1", tool_choice="required")
    guide = index.guide()
    known = []
    for byte in b"<function=now>{":
        guide.advance(byte)
        known.append((chr(byte), [type(event).__name__ for event in guide.events()]))
    assert known[0] == ("<", ["CallBegun"])
    assert known[-2] == (">", ["NameKnown"])


def test_special_tokens_are_terminals():
    names = [b"<tool_call>", b"</tool_call>", b"<think>", b"</think>"]
    vocabulary = interlock.Vocabulary(
        [bytes([i]) for i in range(256)] + names + [b""], eos_token_ids=[260], special_token_ids=range(256, 260)
    )
    index = interlock.Index.from_tools(TOOLS, vocabulary, format="glm_4_7", reasoning="optional")
    text = render("glm_4_7", CALLS[0], text="Hi.", reasoning="Hm.")
    assert calls_of(index.parse(text)) == CALLS[0]
    guide = index.guide()
    guide.advance(258)
    guide.advance_many(list(b"Hm."))
    guide.advance(259)
    guide.advance_many(list(b"Hi."))
    guide.advance(256)
    assert merged(guide.events()) == [ev.Reasoning("Hm."), ev.Text("Hi."), ev.CallBegun(0)]


def test_captures_of_grammars():
    grammar = r"""
start: sum
sum[capture]: sum "+" product | product
product[capture="p"]: product "*" atom | atom
atom: NUMBER | "(" sum ")"
NUMBER: /[0-9]+/
%ignore " "
"""
    index = interlock.Index.from_grammar(grammar, VOCABULARY)
    found = [(e.name, e.data) for e in index.parse("1 + 2*3") if isinstance(e, ev.Captured)]
    assert found == [
        ("p", b"1"),
        ("sum", b"1"),
        ("p", b"2"),
        ("p", b"2*3"),
        ("sum", b"1 + 2*3"),
    ]
    found = [e.data for e in index.parse("((1)+ 2 )") if isinstance(e, ev.Captured) and e.name == "sum"]
    assert found == [b"1", b"(1)", b"(1)+ 2", b"((1)+ 2 )"]


@pytest.mark.parametrize("lexer", ["any", "dynamic", "contextual"])
def test_the_earliest_alternative_is_preferred(lexer):
    grammar = 'start: (a | b) "."\na[capture]: W\nb[capture]: W\nW: /[a-z]+/'
    index = interlock.Index.from_grammar(grammar, VOCABULARY, lexer=lexer)
    assert index.parse("xy.") == [ev.Captured("a", b"xy"), ev.End()]
    split = "start: a b\na[capture]: /x+/\nb[capture]: /x+/"
    if lexer == "any":
        index = interlock.Index.from_grammar(split, VOCABULARY, lexer=lexer)
        assert index.parse("xxxx") == [ev.Captured("a", b"xxx"), ev.Captured("b", b"x"), ev.End()]


def test_what_is_not_certain_is_not_given():
    index = interlock.Index.from_grammar('start: a "!" | b "?"\na[capture]: /[a-z]+/\nb[capture]: /[a-z]+/', VOCABULARY)
    guide = index.guide()
    guide.advance_many(list(b"word"))
    assert guide.events() == []
    guide.advance(ord("?"))
    assert guide.events() == [ev.Captured("b", b"word")]


def test_long_outputs_take_linear_time():
    import time

    index = interlock.Index.from_grammar('start: (item ",")*\nitem[capture]: /[a-z]+/', VOCABULARY)

    def seconds(count):
        guide = index.guide()
        guide.advance_many(list(b"ab," * count))
        begin = time.thread_time()
        assert len(guide.events()) == count
        return time.thread_time() - begin

    seconds(100)
    # Of the processor, in turn, so that what else the machine does counts for neither.
    pairs = [(seconds(1000), seconds(8000)) for _ in range(5)]
    short, long = (min(times) for times in zip(*pairs, strict=True))
    assert long < 30 * short


def test_deep_nesting_is_read():
    index = interlock.Index.from_grammar('start: x\nx[capture]: "(" x ")" | "y"', VOCABULARY)
    depth = 3000
    found = [e for e in index.parse("(" * depth + "y" + ")" * depth) if isinstance(e, ev.Captured)]
    assert len(found) == depth + 1
    assert found[0].data == b"y" and found[1].data == b"(y)"


def test_an_index_without_captures_is_text():
    index = interlock.Index.from_regex("[a-zé]+", VOCABULARY)
    guide = index.guide()
    guide.advance_many(list("aé".encode())[:2])
    assert guide.events() == [ev.Text("a")]
    guide.advance(list("é".encode())[1])
    guide.advance(EOS)
    assert guide.events() == [ev.Text("é"), ev.End()]
    guide.rollback(2)
    assert guide.events() == [ev.TakenBack(2)]


def test_a_structural_tag_without_tags_is_text():
    tag = {"type": "or", "elements": [{"type": "const_string", "value": "yes"}, {"type": "regex", "pattern": "no+"}]}
    index = interlock.Index.from_structural_tag(tag, VOCABULARY)
    assert index.parse("nooo") == [ev.Text("nooo"), ev.End()]
    assert index.guide(max_tokens=3).allowed_token_ids().tolist() == [ord("n"), ord("y")], "it is still regular"


def test_tags_without_an_event_are_captured():
    tag = {
        "type": "triggered_tags",
        "triggers": ["<f="],
        "tags": [{"begin": "<f=add>", "content": {"type": "regex", "pattern": "[0-9]+"}, "end": "</f>"}],
    }
    index = interlock.Index.from_structural_tag(tag, VOCABULARY)
    assert index.parse("x <f=add>12</f> y") == [
        ev.Text("x "),
        ev.Captured("<f=add>", b"12"),
        ev.Text(" y"),
        ev.End(),
    ]


def test_an_output_that_is_not_whole_is_refused():
    index = index_of("hermes")
    text = render("hermes", CALLS[0])
    with pytest.raises(interlock.TokenRejected):
        index.parse(text[:-3])
    assert calls_of(index.parse(text[:-3], partial=True)) == CALLS[0][:1]
    with pytest.raises(interlock.TokenRejected, match="at its byte"):
        index.parse("<tool_call>nothing")


def test_custom_tools_and_identifiers():
    dial = {
        "type": "custom",
        "name": "dial",
        "format": {"type": "grammar", "syntax": "regex", "definition": "[0-9]{3}"},
    }
    for name in ("hermes", "qwen3_coder", "gemma_4", "lfm2", "mistral_call_id"):
        index = interlock.Index.from_tools([dial], VOCABULARY, format=name)
        call = Call("dial", {"input": "110"}, "abcdefghi")
        (found,) = calls_of(index.parse(render(name, [call])))
        assert found == call
        assert found.id == ("abcdefghi" if name == "mistral_call_id" else "")


def test_text_from_outside_is_taken_and_the_grammar_goes_on():
    index = index_of("hermes")
    text = render("hermes", CALLS[1]).encode()
    guide = index.guide()
    guide.advance_many(list(text))
    assert isinstance(guide.events()[-1], ev.CallEnded)
    before = guide.state
    guide.force(b"<result>4</result>")
    assert guide.state != before and not guide.is_accepting
    assert guide.forced_tokens() == list(b"<result>4</result>")
    assert guide.forced_text() == "<result>4</result>"
    assert guide.allowed_token_ids().tolist() == [ord("<")]
    assert not guide.try_advance(ord("x"))
    assert "forced" in guide.explain(ord("x"))
    fork = guide.fork()
    assert guide.advance_many(list(b"<result>4</result>")) == 18
    assert guide.state == before and guide.is_accepting
    assert guide.events() == [ev.Forced(b"<result>4</result>")]
    assert guide.advance_many(list(b"It is 4.")) == 8
    assert guide.events() == [ev.Text("It is 4.")]
    guide.rollback(8 + 18 - 2)
    assert guide.allowed_token_ids().tolist() == [ord("e")]
    assert guide.events() == [ev.TakenBack(2)]
    copy = pickle.loads(pickle.dumps(guide))
    assert copy.tokens == guide.tokens and copy.forced_tokens() == guide.forced_tokens()
    guide.rollback(3)
    assert guide.allowed_token_ids().tolist() != [ord("<")], "going back before the place drops it"
    assert fork.forced_text() == "<result>4</result>"
    rows = interlock.allocate_bitmask(4, VOCABULARY)
    assert fork.fill_draft_bitmasks([ord("<"), ord("r"), ord("x")], rows) == 2


def test_text_from_outside_costs_nothing_of_a_budget():
    index = interlock.Index.from_regex("[a-z]{3}", VOCABULARY)
    guide = index.guide(max_tokens=3)
    guide.advance(ord("a"))
    guide.force("0123456789")
    assert guide.advance_many(list(b"0123456789bc")) == 12
    assert guide.allowed_token_ids().tolist() == [EOS]
    guide.rollback(5)
    assert guide.allowed_token_ids().tolist() == [ord("7")]


def test_what_cannot_be_forced():
    guide = interlock.Index.from_regex("[a-z]{3}", VOCABULARY).guide()
    with pytest.raises(interlock.ArgumentError):
        guide.force([999])
    small = interlock.Vocabulary([b"a", b"b", b""], eos_token_ids=[2])
    with pytest.raises(interlock.ArgumentError, match="spell"):
        interlock.Index.from_regex("a*", small).guide().force("abc")
    guide.force("")
    guide.force([])
    assert guide.advance_many(list(b"abc")) == 3
    guide.advance(EOS)
    with pytest.raises(interlock.ArgumentError, match="ended"):
        guide.force("x")


def test_names_of_captures_hold_no_control_characters():
    with pytest.raises(interlock.GrammarError, match="control"):
        interlock.Index.from_grammar('start[capture="a\x01"]: "a"', VOCABULARY)


def test_a_text_that_lost_its_special_tokens_is_told_so():
    names = [b"<tool_call>", b"</tool_call>", b"<|end|>"]
    vocabulary = interlock.Vocabulary(
        [bytes([i]) for i in range(256)] + names, eos_token_ids=[258], special_token_ids=[256, 257]
    )
    index = interlock.Index.from_tools([{"name": "f"}], vocabulary, format="hermes", tool_choice="required")
    text = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
    tokens = [256, *text.removeprefix("<tool_call>").removesuffix("</tool_call>").encode(), 257, 258]
    assert vocabulary.decode(tokens, skip_special_tokens=False).decode() == text + "<|end|>"
    assert index.parse(text) == index.parse(tokens)
    bare = vocabulary.decode(tokens).decode()
    for lost, named in ((bare, "<tool_call>"), ("<tool_call>" + bare, "</tool_call>")):
        with pytest.raises(interlock.TokenRejected, match="the text may lack its special tokens") as caught:
            index.parse(lost)
        assert f"a special token may come here ({named})" in caught.value.hint
    for other in ([0], [256, *b"x"]):
        with pytest.raises(interlock.TokenRejected) as caught:
            index.parse(other)
        assert caught.value.hint is None
    with pytest.raises(interlock.TokenRejected) as caught:
        index.parse("<tool_call>x")
    assert caught.value.hint is None


def test_special_tokens_are_decoded_where_they_are_asked_for():
    tokens = [b"a", b"<|call|>", b"<|end|>", b"<0x00>"]
    vocabulary = interlock.Vocabulary(tokens, eos_token_ids=[2], special_token_ids=[1], size=8)
    for ids in ([1, 0, 2], (1, 0, 2), iter([1, 0, 2]), np.array([1, 0, 2])):
        assert vocabulary.decode(ids, skip_special_tokens=False) == b"<|call|>a<|end|>"
    assert vocabulary.decode([1, 0, 2]) == vocabulary.decode([1, 0, 2], True) == b"a"
    assert vocabulary.decode([7, 0], skip_special_tokens=False) == b"a"
    with pytest.raises(interlock.VocabularyError, match="token id -1 is out of range"):
        vocabulary.decode([0, -1], skip_special_tokens=False)
    for wrong in ("a", 5, ["a"]):
        with pytest.raises(TypeError, match="ids"):
            vocabulary.decode(wrong, skip_special_tokens=False)
    with pytest.raises(TypeError, match="skip_special_tokens must be True or False"):
        vocabulary.decode([0], skip_special_tokens=0)
