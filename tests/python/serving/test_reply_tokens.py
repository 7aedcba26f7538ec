"""``Reply.deltas`` takes the tokens that its guide took, and says at once where they are others."""

from __future__ import annotations

import pytest

import interlock
from interlock.explain import byte_vocabulary
from interlock.serving import RequestCompiler

END = 256
VOCABULARY = byte_vocabulary()
COMPILER = RequestCompiler(VOCABULARY, format="hermes")
BODIES = [{"guided_regex": "[a-z]+"}, {"tools": [{"name": "now"}]}]


def refused(reply, tokens):
    with pytest.raises(interlock.ArgumentError) as caught:
        reply.deltas(tokens)
    # The program is at fault, and no client.
    assert interlock.refusal(caught.value).status == 500
    return str(caught.value)


@pytest.mark.parametrize("body", BODIES)
def test_other_tokens_are_refused_at_once_and_change_nothing(body):
    request = COMPILER.compile(body)
    reply = request.reply()
    request.guide.advance_many(b"abc")
    assert "deltas was given token 98 where the guide of this Reply took 97, after 0 tokens" in refused(reply, b"b")
    found = reply.deltas(b"a")
    said = refused(reply, b"bd")
    assert "deltas was given token 100 where the guide of this Reply took 99, after 2 tokens: pass the guide" in said
    found += reply.deltas(b"bc")
    assert "".join(delta.get("content") or "" for delta in found) == "abc"
    assert "deltas was given 4 tokens, and the guide of this Reply took 3" in refused(reply, b"d")


@pytest.mark.parametrize("body", BODIES)
def test_a_fork_that_went_another_way(body):
    request = COMPILER.compile(body)
    fork, reply = request.guide.fork(), request.reply()
    request.guide.advance_many(b"ab")
    fork.advance_many(b"ax")
    assert "token 120 where the guide of this Reply took 98, after 1 token: pass" in refused(reply, b"ax")
    assert request.reply(fork).deltas(b"ax")


def test_one_token_is_one():
    request = COMPILER.compile({"guided_regex": "[a-z]+"})
    assert "deltas was given 1 token, and the guide of this Reply took 0" in refused(request.reply(), b"a")


def test_a_guide_that_had_taken_tokens_before():
    """The tokens of ``deltas`` begin where the guide does, or where the reply does."""
    for given in (b"abcd", b"cd"):
        guide = COMPILER.compile({"guided_regex": "[a-z]+"}).guide
        guide.advance_many(b"ab")
        reply = COMPILER.compile({"guided_regex": "[a-z]+"}).reply(guide)
        guide.advance_many(b"cd")
        for token in given:
            reply.deltas([token])
        guide.advance(END)
        reply.deltas([END])
        assert reply.choice()["message"]["content"] == given.decode() and reply.finish_reason == "stop"
        other = COMPILER.compile({"guided_regex": "[a-z]+"}).reply(guide)
        assert "took 97" in refused(other, b"d")
