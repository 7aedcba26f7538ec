"""The first mask of a request is made in its compile: no step of a batch waits for it, and a refusal comes before."""

from __future__ import annotations

import asyncio

import pytest

import interlock
from interlock.explain import byte_vocabulary
from interlock.serving import RequestCompiler

MANY = " | ".join(f'/.*a.{{{i}}}/ "x"' for i in range(14))
"""Alternatives whose masks are much work."""


@pytest.fixture
def compiler():
    return RequestCompiler(byte_vocabulary(), format="hermes", limits={"max_mask_steps": 1_000})


@pytest.mark.usefixtures("room_for_all_sources")
def test_a_mask_that_is_too_much_work_is_refused_by_the_compile(compiler):
    body = {"guided_grammar": f"start: {MANY}"}
    for compiled in (compiler.compile, lambda body: asyncio.run(compiler.compile_async(body))):
        with pytest.raises(interlock.LimitError) as caught:
            compiled(body)
        answer = compiler.refusal(caught.value, body)
        assert (answer.status, answer.body["error"]["param"]) == (400, "/guided_grammar")
        assert caught.value.batch_index is None and "a guide" not in answer.message
        # What is kept of the error holds no guide.
        trace, names = caught.value.__traceback__, set()
        while trace is not None:
            names |= (
                set(trace.tb_frame.f_locals) if trace.tb_frame.f_code.co_filename.endswith("compiler.py") else set()
            )
            trace = trace.tb_next
        assert "guide" not in names


def test_later_masks_end_their_request_alone(compiler):
    request = compiler.compile({"guided_grammar": f'start: "[" body\nbody: {MANY}'})
    request.guide.advance(ord("["))
    bits = interlock.allocate_bitmask(1, compiler.vocabulary)
    with pytest.raises(interlock.LimitError):
        interlock.fill_bitmasks_within([request.guide], bits, 60)


def test_the_first_step_finds_the_mask(compiler, monkeypatch, compiled_anew):
    bodies = [
        {"guided_json": {"type": "object", "properties": {"a": {"type": "string"}}}, "max_tokens": 50},
        {"guided_regex": "[a-c]+x{3}", "max_tokens": 9},
        {"guided_grammar": 'start: "a" start "b" | "ab"'},
        {"tools": [{"name": "now"}], "tool_choice": "required"},
        {"response_format": {"type": "json_object"}, "n": 2},
    ]
    made = []
    real = interlock.Guide.fill_bitmask

    def watched(guide):
        made.append(guide)
        return real(guide, interlock.allocate_bitmask(1, guide.index.vocabulary))

    monkeypatch.setattr("interlock.serving.request_compiler.make_mask", watched)
    for body in bodies:
        request = compiler.compile(body)
        assert made.pop() is request.guide and not made
    # A request for nothing has no mask, and one whose source is known had it made before.
    assert compiler.compile({"messages": []}).guide is None
    for _ in range(3):
        asyncio.run(compiler.compile_async(bodies[1]))
    assert len(made) <= 2
