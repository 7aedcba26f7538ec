"""Generators of asynchronous clients beside those of synchronous ones: the same call has the same error."""

from __future__ import annotations

import asyncio
import re

import interlock
import pytest
from test_generator_servers import ADA, AsyncClient, Client

CHAT = [{"role": "user", "content": "Hi."}]


def error_of(gen, call):
    """The error of a call, awaited where that is needed. What comes into being without ``await`` is said at once."""

    async def run():
        made = call(gen)
        return await made if asyncio.iscoroutine(made) else made

    with pytest.raises((interlock.InterlockError, TypeError)) as caught:
        asyncio.run(run())
    return caught.value


@pytest.mark.parametrize(
    "call",
    [
        lambda gen: gen(),
        lambda gen: gen.batch(),
        lambda gen: gen.stream(),
        lambda gen: gen(messages=CHAT),
        lambda gen: gen.stream(messages=CHAT),
        lambda gen: gen.batch(prompts=["Hi."], errors="raise", messages=CHAT),
        lambda gen: gen("\ud800"),
        lambda gen: gen.stream("\ud800"),
        lambda gen: gen("Hi.", int, 20),
        lambda gen: gen("Hi.", int, str),
        lambda gen: gen("Hi.", re.compile(r"(a)\1")),
        lambda gen: gen.batch(["Hi."], re.compile(r"(a)\1")),
        lambda gen: gen.stream("Hi.", re.compile(r"(a)\1")),
    ],
)
def test_the_same_call_has_the_same_error(call):
    plain, awaited = (error_of(interlock.from_openai(kind(ADA), "m"), call) for kind in (Client, AsyncClient))
    assert (type(awaited), str(awaited)) == (type(plain), str(plain))
