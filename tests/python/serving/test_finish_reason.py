"""``finish_reason`` of ``interlock.serving.Reply``: whether an output is whole. ``was_cut_by_budget``: whether its
budget may have shortened it.
"""

from __future__ import annotations

import pickle

import pytest

import interlock
from interlock.explain import byte_vocabulary
from interlock.serving import RequestCompiler

END = 256
NOTE = {"type": "object", "properties": {"note": {"type": "string"}}, "required": ["note"]}
NOTE["additionalProperties"] = False
SCHEMA = {"type": "json_schema", "json_schema": {"name": "note", "schema": NOTE}}
TOOL = {"name": "save", "parameters": NOTE}


def ended(body, text, **options):
    """The output that ``text`` begins, which the guide ends where the budget says so, and its reply at the end."""
    compiler = RequestCompiler(byte_vocabulary(), format="hermes", **options)
    request = compiler.compile(body)
    reply = request.reply()
    tokens, wanted = [], [*text.encode(), END]
    while not request.guide.is_terminated:
        allowed = request.guide.allowed_token_ids().tolist()
        # The model writes its text, and what the guide leaves it where it may not.
        token = wanted.pop(0) if wanted and wanted[0] in allowed else (END if END in allowed else allowed[0])
        request.guide.advance(token)
        tokens.append(token)
        reply.deltas([token])
    assert reply.choice()["finish_reason"] == reply.finish_reason
    return interlock.Vocabulary.decode(byte_vocabulary(), tokens).decode(), reply


def finished(body, text, **options):
    """The output, and why it ended."""
    output, reply = ended(body, text, **options)
    return output, reply.finish_reason


def cut(body, text, **options):
    """The output, why it ended, and whether its budget may have shortened it."""
    output, reply = ended(body, text, **options)
    return output, reply.finish_reason, reply.was_cut_by_budget()


def test_a_text_beside_tools():
    body = {"tools": [TOOL], "max_tokens": 8}
    assert finished(body, "Well, no.") == ("Well, n", "length")
    assert finished(body, "Well, ") == ("Well, ", "stop")


def test_a_string_in_json():
    body = {"response_format": SCHEMA}
    whole = '{"note":"abc"}'
    # The stop token is one, and one more character would have had room, so the model ended the string.
    assert cut(body | {"max_tokens": len(whole) + 2}, whole) == (whole, "stop", False)
    # Without that one nobody knows whether the model would have ended it.
    assert cut(body | {"max_tokens": len(whole) + 1}, whole) == (whole, "stop", True)
    assert cut(body | {"max_tokens": len(whole)}, whole) == ('{"note":"ab"}', "stop", True)


def test_json_that_could_not_go_on():
    for body, text in (
        ({"guided_json": {"type": "string", "maxLength": 3}}, '"abc"'),
        ({"guided_choice": ["yes", "no"]}, "yes"),
        ({"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {"const": [1]}}}}, "[1]"),
    ):
        assert finished(body | {"max_tokens": len(text) + 1}, text) == (text, "stop")


@pytest.mark.parametrize("room, reason", [(100, "stop"), (24, "length")])
def test_reasoning(room, reason):
    text, found = finished({"max_tokens": room}, "<think>Let me see.</think>Yes.", reasoning="required")
    assert found == reason
    assert text.startswith("<think>Let me see.</think>Yes." if reason == "stop" else "<think>Let me s</think>")


def test_reasoning_that_its_own_bound_ends_is_no_cut():
    options = {"reasoning": "required", "max_reasoning_tokens": 4}
    text, found = finished({"max_tokens": 100}, "<think>Let </think>Yes.", **options)
    assert (text, found) == ("<think>Let </think>Yes.", "stop")


def test_arguments_of_a_call():
    call = '<tool_call>\n{"name": "save", "arguments": {"note":"abc"}}\n</tool_call>'
    body = {"tools": [TOOL], "tool_choice": "required", "parallel_tool_calls": False}
    assert cut(body | {"max_tokens": len(call) + 2}, call) == (call, "tool_calls", False)
    # A client of OpenAI's interface takes "length" for a call that is not whole.
    assert cut(body | {"max_tokens": len(call) + 1}, call) == (call, "tool_calls", True)
    assert cut(body | {"max_tokens": len(call)}, call)[1:] == ("tool_calls", True)


def test_a_whole_call_behind_which_no_other_has_room():
    call = '<tool_call>\n{"name": "save", "arguments": {"note":"abc"}}\n</tool_call>'
    body = {"tools": [TOOL], "tool_choice": "required"}
    for room in (2, 9):
        assert cut(body | {"max_tokens": len(call) + room}, call) == (call, "tool_calls", False)


def test_no_mask_is_made_for_the_reason(monkeypatch):
    call = '<tool_call>\n{"name": "save", "arguments": {"note":"abc"}}\n</tool_call>'
    for body, text in (
        ({"tools": [TOOL], "max_tokens": len(call) + 1}, call),
        ({"tools": [TOOL], "max_tokens": 8}, "Well, no."),
        ({"guided_regex": "[ab]+", "max_tokens": 4}, "abab"),
    ):
        request = RequestCompiler(byte_vocabulary(), format="hermes").compile(body)
        reply = request.reply()
        taken = request.guide.advance_many([*text.encode(), END])
        if not request.guide.is_terminated:
            request.guide.advance(END)
        reply.deltas(request.guide.tokens)
        before = interlock.stats()["masks"]
        assert taken and reply.finish_reason == reply.choice()["finish_reason"] is not None
        assert interlock.stats()["masks"] == before
        assert reply.was_cut_by_budget() and interlock.stats()["masks"] > before


def test_an_output_that_is_closed_where_only_its_end_may_follow_is_whole():
    # Where the guide's budget has no token for the end, a server ends the output itself.
    for body, text, reason in (
        ({"guided_json": {"const": [1]}}, b"[1]", "stop"),
        ({"guided_json": {"const": [1]}}, b"[1", "length"),
        ({"tools": [TOOL], "tool_choice": "none"}, b"Wel", "length"),
        ({"guided_regex": "[a-z]+"}, b"wel", "stop"),
        ({"guided_regex": "[a-z]+"}, b"we", "length"),
    ):
        request = RequestCompiler(byte_vocabulary(), format="hermes", stop_tokens=0).compile(body | {"max_tokens": 3})
        reply = request.reply()
        assert request.guide.advance_many(text) == len(text)
        reply.deltas(text)
        assert not reply.was_cut_by_budget() and reply.finish_reason is None
        reply.close()
        assert reply.finish_reason == reason, (body, text)


@pytest.mark.usefixtures("room_for_all_sources")
def test_a_reply_of_a_guide_that_failed_has_a_reason():
    many = 'start: "[" item\nitem: ' + " | ".join(f'/.*a.{{{i}}}/ "x"' for i in range(14))
    request = RequestCompiler(byte_vocabulary(), limits={"max_mask_steps": 1_000}).compile({"guided_grammar": many})
    reply = request.reply()
    request.guide.advance(ord("["))
    reply.deltas(b"[")
    with pytest.raises(interlock.LimitError):
        request.guide.allowed_token_ids()
    reply.close()
    assert (reply.finish_reason, reply.choice()["message"]["content"]) == ("length", "[")


def test_stop_tokens_of_the_client():
    request = RequestCompiler(byte_vocabulary()).compile(
        {"guided_regex": "[ab]+", "max_tokens": 4, "stop_token_ids": [10]}
    )
    for text, was_cut in ((b"ab\n", False), (b"aba\n", True)):
        guide = request.guide.fork()
        reply = request.reply(guide)
        assert guide.advance_many(text) == len(text)
        reply.deltas(text)
        assert (reply.finish_reason, reply.was_cut_by_budget()) == ("stop", was_cut)


def test_tokens_that_the_guide_did_not_take_are_refused():
    compiler = RequestCompiler(byte_vocabulary(), format="hermes")
    for body in ({"guided_regex": "[ab]+"}, {"tools": [TOOL]}):
        request = compiler.compile(body)
        guide, reply = request.guide.fork(), request.reply()
        guide.advance_many(b"ab")
        with pytest.raises(interlock.ArgumentError, match="given 2 tokens, and the guide of this Reply took 0"):
            reply.deltas(b"ab")
        request.guide.advance_many([*b"ab", END])
        # Nothing has changed, so the right tokens can still come.
        with pytest.raises(interlock.ArgumentError, match="given token 97 where the guide of this Reply took 98"):
            reply.deltas([*b"aa", END])
        assert reply.deltas([*b"ab", END])[-1] == {"content": "ab"}


def guide_of(index, text, **options):
    guide = index.guide(**options)
    assert guide.advance_many(text) == len(text)
    return guide


def test_a_guide_says_whether_its_budget_cut_the_output():
    note = interlock.Index.from_json_schema(NOTE, byte_vocabulary(), whitespace="compact")
    whole = b'{"note":"abc"}'
    # The string had to be closed for its brace to have room.
    for taken in (whole[:-2] + b'"', whole, [*whole, END]):
        assert guide_of(note, taken, max_tokens=len(whole)).was_cut_by_budget()
    assert not guide_of(note, whole[:-2], max_tokens=len(whole) + 1).was_cut_by_budget()
    assert not guide_of(note, [*whole, END], max_tokens=len(whole) + 1).was_cut_by_budget()
    assert not guide_of(note, [*whole, END]).was_cut_by_budget()


def test_the_end_of_a_text_counts_unless_it_is_left_out():
    letters = interlock.Index.from_regex("a+", byte_vocabulary())
    for taken in (b"aaa", [*b"aaa", END]):
        guide = guide_of(letters, taken, max_tokens=3)
        assert guide.was_cut_by_budget()
        assert guide.was_cut_by_budget(including_end=False) is False
    assert not guide_of(letters, [*b"aa", END], max_tokens=3).was_cut_by_budget()
    # Nothing could have followed.
    choice = interlock.Index.from_choices(["yes", "no"], byte_vocabulary())
    assert not guide_of(choice, [*b"yes", END], max_tokens=3).was_cut_by_budget()


def test_what_was_cut_is_asked_of_forks_and_copies_and_after_going_back():
    letters = interlock.Index.from_regex("a+", byte_vocabulary())
    guide = guide_of(letters, b"aaa", max_tokens=3)
    assert guide.fork().was_cut_by_budget()
    assert pickle.loads(pickle.dumps(guide)).was_cut_by_budget()
    guide.rollback(1)
    assert not guide.was_cut_by_budget()


def test_a_stop_token_of_the_request_is_no_text_of_the_index():
    letters = interlock.Index.from_regex("[ab]+", byte_vocabulary())
    for text, was_cut in ((b"ab\n", False), (b"aba\n", True)):
        guide = guide_of(letters, text, max_tokens=3, stop_token_ids=[10])
        assert guide.is_terminated
        assert guide.was_cut_by_budget() is was_cut


@pytest.mark.parametrize("body", [{}, {"stop": "###"}, {"guided_regex": "[a-z]*"}])
def test_a_closed_output_has_ended(body):
    request = RequestCompiler(byte_vocabulary()).compile({**body, "max_tokens": 9})
    reply = request.reply()
    if request.guide is not None:
        request.guide.advance_many(b"ok")
    reply.deltas(b"ok")
    reply.choice()  # A look at what there is so far closes nothing.
    assert not reply.has_ended
    reply.close()
    assert reply.has_ended and reply.copy().has_ended
    assert reply.close() == [] and reply.finish_reason == "length"


@pytest.mark.parametrize(
    "body, text",
    [({}, "Well"), ({"guided_regex": "[a-z]+"}, "well"), ({"tools": [TOOL]}, "Well"), ({"stop": "###"}, "Well #")],
)
def test_there_is_no_reason_before_the_end(body, text):
    request = RequestCompiler(byte_vocabulary(), format="hermes").compile(body)
    reply = request.reply()
    assert reply.finish_reason is None and reply.choice()["finish_reason"] is None
    if request.guide is not None:
        request.guide.advance_many(text.encode())
    reply.deltas(text.encode())
    assert reply.finish_reason is None and reply.choice()["finish_reason"] is None and not reply.has_ended
    assert reply.choice()["message"]["content"] == text
    ended = reply.copy()
    ended.close()
    assert ended.finish_reason == "length" and reply.finish_reason is None
    if request.guide is not None:
        request.guide.advance(END)
    reply.deltas([END])
    assert reply.finish_reason == "stop" == reply.choice()["finish_reason"]


def test_tokens_of_a_text_from_outside_are_none_of_the_budget():
    request = RequestCompiler(byte_vocabulary(), format="hermes").compile({"tools": [TOOL], "max_tokens": 8})
    reply = request.reply()
    request.guide.force("Well, then. ")
    before = list(b"Well, then. ")
    assert request.guide.advance_many([*before, *b"No.", END]) == len(before) + 4
    reply.deltas(request.guide.tokens)
    assert reply.finish_reason == "stop"
