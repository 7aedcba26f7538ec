"""A batch of random requests, good and bad ones, runs as the page for servers says; what clients get fits together."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest

import interlock
from interlock.serving import RequestCompiler

WORDS = [b"", b"<think>", b"</think>", b"hello", b'":"', b'{"', b'"}', b"true", b"##", b"<tool_call>\n", b"\xc3"]
VOCABULARY = interlock.Vocabulary([*(bytes([i]) for i in range(256)), *WORDS], [256], special_token_ids=[257, 258])
NOTE = {"type": "object", "properties": {"note": {"type": "string"}}, "required": ["note"]}
NOTE["additionalProperties"] = False
TOOLS = [
    {"type": "function", "function": {"name": "now", "parameters": NOTE}},
    {"type": "custom", "custom": {"name": "run", "format": {"type": "grammar", "grammar": {}}}},
]
TOOLS[1]["custom"]["format"]["grammar"] = {"syntax": "regex", "definition": "[a-z#]{1,9}"}
ASKED = [
    {},
    {"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": NOTE}}},
    {"response_format": {"type": "json_object"}},
    {"guided_regex": "[a-z#]+"},
    {"guided_regex": "é+"},
    {"guided_choice": ["a##", "a##b"]},
    {"guided_grammar": 'start: ("x"|"y")+ "#"*'},
    {"tools": TOOLS},
    {"tools": TOOLS, "tool_choice": "required"},
    {"tools": TOOLS[:1], "response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": NOTE}}},
]
WRONG = [5, "x", [], {}, True, -1, 1.5, "\ud800", "(", 10**30, float("nan"), ["a"], {"a": 1}]


def body(choose):
    found = {"max_tokens": choose.choice([1, 5, 30, 100, None]), **choose.choice(ASKED)}
    if choose.random() < 0.5:
        found["stop"] = choose.choice(["#", ["##", "a"], ["\n", "}"], "hello", ["é", '"']])
    if choose.random() < 0.2:
        found["min_tokens"] = choose.choice([1, 5])
    if choose.random() < 0.2:
        found[choose.choice([*found, "guided_json", "stop_token_ids", "tool_choice", "text"])] = choose.choice(WRONG)
    return found


class Row:
    """An output and what its client has of it."""

    def __init__(self, request):
        self.request, self.guide = request, None if request.guide is None else request.guide.fork()
        self.reply, self.deltas, self.count = request.reply(self.guide), [], 0

    def take(self, tokens):
        self.count += len(tokens)
        self.deltas += self.reply.deltas(tokens)
        if self.reply.has_ended or self.count >= self.request.max_tokens:
            self.deltas += self.reply.close()
            return False
        return True


def run(rows, rng):
    running = list(rows)
    while running:
        for row in list(running):
            forced = [] if row.guide is None or row.guide.is_terminated else row.guide.forced_tokens()
            if forced:
                assert row.guide.advance_many(forced) == len(forced)
                if not row.take(forced):
                    running.remove(row)
        bits = interlock.allocate_bitmask(len(running), VOCABULARY)
        interlock.fill_bitmasks([row.guide for row in running], bits)
        logits = rng.standard_normal((len(running), VOCABULARY.size)).astype(np.float32)
        logits[:, [35, 256, *range(97, 123)]] += 2
        interlock.apply_bitmask(logits, bits)
        tokens = logits.argmax(axis=1)
        outcomes = interlock.advance_each([row.guide for row in running], tokens)
        assert all(outcome for outcome, row in zip(outcomes, running, strict=True) if row.guide is not None)
        running = [row for row, token in zip(list(running), tokens.tolist(), strict=True) if row.take([token])]


@pytest.mark.parametrize("reasoning", ["none", "optional"])
def test_random_requests(reasoning):
    choose, rng = random.Random(5), np.random.default_rng(5)
    compiler = RequestCompiler(VOCABULARY, format="hermes", reasoning=reasoning, max_tokens=200, seconds=None)
    rows, refused, stopped = [], 0, 0
    for _ in range(150):
        asked = body(choose)
        try:
            rows += [Row(compiler.compile(asked)) for _ in range(choose.choice([1, 2]))]
        except Exception as error:
            answer = compiler.refusal(error, asked)
            assert answer.status in (400, 413) and answer.body["error"]["param"], (asked, error)
            refused += 1
    for at in range(0, len(rows), 16):
        run(rows[at : at + 16], rng)
    for row in rows:
        choice, request = row.reply.choice(), row.request
        message, text = choice["message"], "".join(delta.get("content") or "" for delta in row.deltas)
        assert (message["content"] or "") == text and row.count <= request.max_tokens
        calls = [call for delta in row.deltas for call in delta.get("tool_calls", ())]
        for number, call in enumerate(message.get("tool_calls", ())):
            field = "arguments" if call["type"] == "function" else "input"
            parts = [part[call["type"]].get(field, "") for part in calls if part["index"] == number]
            assert "".join(parts) == call[call["type"]][field]
        if row.reply.stop_text is not None:
            stopped += 1
            assert choice["finish_reason"] in ("stop", "tool_calls")
        elif row.guide is not None:
            assert row.guide.is_terminated or row.guide.is_accepting
        if request.kind in ("json_schema", "json_object"):
            json.loads(text)
        elif request.kind == "text" and not request.min_tokens:
            assert not any(stop in text for stop in request.stop)
    assert refused > 20 and stopped > 4 and len(rows) > 100, (refused, stopped, len(rows))
