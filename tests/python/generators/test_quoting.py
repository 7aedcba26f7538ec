"""Values that messages of errors quote: the beginning of what is long, and all of it in the error's own fields."""

from __future__ import annotations

import json

import interlock
import pytest
from interlock.generators.replies.budget_warnings import check_on_tight
from test_generator_servers import ADA, Client


LONG = "x" * 100_000


@pytest.mark.parametrize(
    "call",
    [
        lambda gen: gen("x", int, errors=LONG),
        lambda gen: gen("x", int, on_unsupported=LONG),
        lambda gen: gen("x", int, [LONG]),
        lambda gen: gen("x", int, temperature=-(10**10_000)),
        lambda gen: gen("x", int, max_tokens=-(10**10_000)),
        lambda gen: gen("x", json.dumps(LONG)),
        lambda gen: interlock.from_openai(Client(LONG), "m")("x", int),
        lambda gen: interlock.from_openai(Client("", refusal=LONG), "m")("x", int),
        lambda gen: interlock.from_openai(Client(LONG), "m")("x", ["yes", "no"]),
        lambda gen: interlock.from_openai(Client(""), "m", server=LONG),
        lambda gen: interlock.generate(LONG, "x"),
        lambda gen: interlock.from_transformers(LONG, None),
        lambda gen: interlock.check_tools([{"name": "f"}], format="hermes", unknown_keywords=LONG),
        lambda gen: check_on_tight(LONG),
    ],
)
def test_messages_quote_the_beginning_of_what_is_long(call):
    with pytest.raises((interlock.ArgumentError, interlock.InvalidOutputError)) as caught:
        call(interlock.from_openai(Client(ADA), "m"))
    assert len(str(caught.value)) < 600
    if isinstance(caught.value, interlock.InvalidOutputError):
        assert caught.value.text == LONG
