"""Stop texts: a ``Reply`` ends an output before one, holds back what may be the beginning of one, and says so."""

from __future__ import annotations

import doctest
import random

import pytest

import interlock
from interlock.explain import byte_vocabulary
from interlock.serving import RequestCompiler, event_stops, stop_texts
from interlock.serving.stop_texts import StopReader, StopTexts, WholeOutputs

END = 256
VOCABULARY = byte_vocabulary()
NOTE = {"type": "object", "properties": {"note": {"type": "string"}}, "required": ["note"]}
TOOL = {"type": "function", "function": {"name": "say", "parameters": {**NOTE, "additionalProperties": False}}}
CALL = '<tool_call>\n{"name": "say", "arguments": {"note":"a###b"}}\n</tool_call>'
WORDS = interlock.Vocabulary(
    [bytes([i]) for i in range(256)] + [b"", b"one##", b"#two", b"ab###cd", b"\xe2\x80"], [END]
)


def first_end(text, stops):
    """The output before the stop text that is whole first; of several that end at once, before the longest."""
    for end in range(len(text) + 1):
        found = [stop for stop in stops if text[:end].endswith(stop)]
        if found:
            return text[: end - max(map(len, found))]
    return None


def written(request, pieces, guide=None):
    """The text of the deltas of each piece until the output has ended, and the reply."""
    guide = request.guide if guide is None else guide
    reply, found = request.reply(guide, new_id=lambda: "call_0"), []
    for piece in pieces:
        tokens = [piece] if isinstance(piece, int) else list(piece.encode() if isinstance(piece, str) else piece)
        if guide is not None:
            assert guide.advance_many(tokens) == len(tokens), piece
        found.append("".join(delta.get("content") or "" for delta in reply.deltas(tokens)))
    return found, reply


def test_a_text_is_cut_wherever_its_tokens_end():
    choose = random.Random(7)
    for _ in range(2000):
        stops = ["".join(choose.choices("ab#", k=choose.randint(1, 4))) for _ in range(choose.randint(1, 4))]
        text = "".join(choose.choices("ab#", k=choose.randint(0, 12)))
        reader, at, shown = StopReader(StopTexts(stops)), 0, []
        while at < len(text):
            end = at + choose.randint(1, 4)
            shown.append(reader.read(text[at:end]))
            at = end
        wanted = first_end(text, stops)
        assert (reader.found is None) == (wanted is None), (stops, text)
        assert "".join(shown) + reader.release() == (text if wanted is None else wanted), (stops, text)


def test_no_more_is_held_back_than_may_begin_a_stop_text():
    for stops, text, held in (
        (["###"], "a##", "##"),
        (["###"], "##a", ""),
        (["abc", "bd"], "xab", "ab"),
        (["a"], "b", ""),
    ):
        reader = StopReader(StopTexts(stops))
        assert reader.read(text) == text[: len(text) - len(held)] and reader.held == held
    # A stop text that ends nothing is not held back for its own sake.
    reader = StopReader(StopTexts(["#"]), WholeOutputs(interlock.Index.from_regex('"[#a]*"', VOCABULARY)))
    assert [reader.read(piece) for piece in ('"a', "#", "#", '"')] == ['"a', "#", "#", '"']


def test_a_stop_text_spans_tokens():
    request = RequestCompiler(WORDS).compile({"stop": ["###"]})
    found, reply = written(request, [257, 258, 97])
    assert found == ["one", "", ""] and reply.has_ended and reply.stop_text == "###"
    assert reply.choice() == {
        "index": 0,
        "message": {"role": "assistant", "content": "one"},
        "finish_reason": "stop",
    }
    # One that lies inside of a token cuts it.
    assert written(request, [259])[0] == ["ab"]


def test_a_stop_text_is_cut_inside_of_a_character():
    request = RequestCompiler(WORDS).compile({"stop": ["…!"]})
    for pieces, shown in (
        (["a", 260, 0xA6, "!"], ["a", "", "", ""]),
        (["a", 260, 0xA6, "?"], ["a", "", "", "…?"]),
        (["a", 260, 0xA5, "!"], ["a", "", "‥", "!"]),
    ):
        found, reply = written(request, pieces)
        assert found == shown and reply.has_ended == (shown[-1] == "")


def test_the_stop_text_that_is_whole_first_counts():
    request = RequestCompiler(VOCABULARY).compile({"stop": ["bcde", "c", "bc"]})
    for pieces in (["abcde"], list("abcde"), ["ab", "cde"]):
        found, reply = written(request, pieces)
        assert "".join(found) == "a" and reply.stop_text == "bc"
    assert request.cut_at_stop("abcde") == "a"


def test_what_is_held_back_comes_at_the_end():
    request = RequestCompiler(VOCABULARY).compile({"stop": "###"})
    found, reply = written(request, ["a##", END])
    assert found == ["a", "##"] and reply.finish_reason == "stop" and reply.stop_text is None
    # Without a stop token the server says that it is over.
    found, reply = written(request, ["a##"])
    assert found == ["a"] and reply.choice()["message"]["content"] == "a##" and reply.close() == [{"content": "##"}]
    assert reply.close() == [] and reply.choice()["message"]["content"] == "a##" and reply.finish_reason == "length"
    with pytest.raises(interlock.ArgumentError, match="behind close"):
        reply.deltas([97])
    # So does a character that is cut off.
    found, reply = written(RequestCompiler(VOCABULARY).compile({}), ["né".encode()[:2]])
    assert found == ["n"] and reply.close() == [{"content": "\ufffd"}]


def test_tokens_behind_a_stop_text_are_left_out():
    """They were on their way already."""
    reply = written(RequestCompiler(VOCABULARY).compile({"stop": "#"}), ["a#b"])[1]
    assert reply.deltas([*b"more", END]) == [] and reply.close() == []
    assert reply.choice()["message"]["content"] == "a"


def test_a_text_with_a_format_is_cut_where_it_is_whole():
    compiler = RequestCompiler(VOCABULARY, format="hermes", reasoning="optional")
    text = '{"note":"a###b"}'
    for extra in ({}, {"tools": [TOOL]}):
        body = {"response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": NOTE}}, **extra}
        for reasoning in ("none", "optional"):
            request = compiler.compile({**body, "stop": ["###", '"}']}, reasoning=reasoning)
            found, reply = written(request, [*text, END])
            assert "".join(found) == text and reply.stop_text is None and reply.finish_reason == "stop", (
                body,
                reasoning,
            )
    # Behind the whole value of a pattern it is cut.
    request = compiler.compile({"guided_regex": "x+a*", "stop": ["aa"]}, reasoning="none")
    assert written(request, ["x", "aaa"])[0] == ["x", ""]


def test_calls_and_reasoning_hold_no_stop_text():
    compiler = RequestCompiler(VOCABULARY, format="hermes", reasoning="optional")
    request = compiler.compile({"tools": [TOOL], "stop": ["###", "\n", "say"]})
    found, reply = written(request, ["<think>", "say\n### that", "</think>", "\n\n", "Well.", CALL, "\n", CALL, END])
    assert "".join(found).strip() == "Well." and reply.finish_reason == "tool_calls"
    message = reply.choice()["message"]
    assert [call["function"]["arguments"] for call in message["tool_calls"]] == ['{"note":"a###b"}'] * 2
    assert message["reasoning_content"] == "say\n### that"


def test_the_text_beside_calls_is_cut():
    compiler = RequestCompiler(VOCABULARY, format="hermes")
    request = compiler.compile({"tools": [TOOL], "stop": ["###"]})
    found, reply = written(request, ["We", "ll.#", "##", CALL])
    assert "".join(found) == "Well." and reply.finish_reason == "stop" and reply.has_ended
    assert reply.choice()["message"] == {"role": "assistant", "content": "Well."}
    # A call ends a text, so a stop text does not go on behind it.
    found, reply = written(compiler.compile({"tools": [TOOL], "stop": ["###"]}), ["Well.##", CALL, "#"])
    assert "".join(found).startswith("Well.##") and reply.stop_text is None
    # Calls that are whole are calls.
    found, reply = written(compiler.compile({"tools": [TOOL], "stop": ["###"]}), [CALL, "Done.###"])
    assert reply.finish_reason == "tool_calls" and reply.choice()["message"]["content"] == "Done."


def test_what_is_held_back_before_the_end_of_an_output_with_tools():
    request = RequestCompiler(VOCABULARY, format="hermes").compile({"tools": [TOOL], "stop": ["###"]})
    found, reply = written(request, ["Well.##"])
    assert "".join(found) == "Well." and reply.choice()["message"]["content"] == "Well.##"
    assert reply.close() == [{"content": "##"}] and reply.finish_reason == "length"
    assert reply.choice()["message"]["content"] == "Well.##"


def test_no_stop_text_counts_before_min_tokens():
    request = RequestCompiler(VOCABULARY).compile({"stop": "#", "min_tokens": 3})
    found, reply = written(request, ["a#b#c"])
    assert found == ["a#b"] and reply.stop_text == "#"


def test_a_copy_goes_on_by_itself():
    request = RequestCompiler(VOCABULARY, format="hermes").compile({"tools": [TOOL], "stop": ["###"]})
    found, reply = written(request, ["Well.##"])
    fork = request.guide.fork()
    other = reply.copy(fork)
    fork.advance_many(b"# No")
    assert other.deltas(b"# No") == [] and other.has_ended and not reply.has_ended
    request.guide.advance_many(b"!")
    assert reply.deltas(b"!") == [{"content": "##!"}]
    assert [one.choice()["message"]["content"] for one in (reply, other)] == ["Well.##!", "Well."]
    free = RequestCompiler(VOCABULARY).compile({"stop": "##"}).reply()
    free.deltas(b"a#\xc3")
    twin = free.copy()
    assert twin.deltas(b"\xa9")[-1] == {"content": "#é"} and free.deltas(b"b")[-1] == {"content": "#\ufffdb"}


def test_very_many_characters_of_stop_texts_are_refused():
    compiler = RequestCompiler(VOCABULARY)
    for stop in ("a" * 16_385, ["ab"] * 8_193):
        with pytest.raises(interlock.RequestError, match="at most 16384 characters") as caught:
            compiler.compile({"stop": stop})
        assert caught.value.pointer == "/stop"
    reply = compiler.compile({"stop": "a" * 16_384}).reply()
    assert reply.deltas(b"a" * 16_383) == [] and reply.deltas(b"b")[-1] == {"content": "a" * 16_383 + "b"}


def test_docstrings():
    for module in (stop_texts, event_stops):
        assert doctest.testmod(module).failed == 0, module.__name__
