"""What is certain of a JSON text that is still being written: every prefix of a text says a part of its value."""

import json

import pytest

pytest.importorskip("tokenizers", reason="tokenizers is not installed")

from scripted_generator import ScriptedGenerator

from interlock.generators.replies.partial_json import partial_json
from interlock.generators.stream import AsyncStream, Stream

TEXTS = [
    '{"name": "Ada \\"L\\" \\u00e9 \\ud83d\\ude00x", "ages": [36, -3.5e2, null, [], {}], "o": {"k": {"z": false}}}',
    '[[[["x", 1], 2], "\\\\"], "a\\n"]',
    '{"a": {"b": {"c": [1, 2, {"d": "e"}]}}, "f": 1}',
    ' { "a" :\n[ 1 , 2 ] , "b" : "" } ',
    '"\\ud83d"',
    '["\\ud83d\\ude00", "\\ud83dx"]',
    "true",
    "-12.5",
    "{}",
]


def is_part(part, whole):
    """Whether ``whole`` can still become of ``part``."""
    if isinstance(whole, dict):
        keys = list(whole)[: len(part)] if isinstance(part, dict) else None
        return isinstance(part, dict) and list(part) == keys and all(is_part(part[k], whole[k]) for k in part)
    if isinstance(whole, list):
        return isinstance(part, list) and len(part) <= len(whole) and all(map(is_part, part, whole))
    if isinstance(whole, str):
        return isinstance(part, str) and whole.startswith(part)
    return type(part) is type(whole) and part == whole


@pytest.mark.parametrize("text", TEXTS)
def test_every_prefix(text):
    whole = json.loads(text)
    seen = [partial_json(text[:i]) for i in range(len(text) + 1)]
    known = [part for part in seen if part is not None]
    assert all(is_part(part, whole) for part in known)
    # What was certain stays so.
    assert all(is_part(before, after) for before, after in zip(known, known[1:], strict=False))
    if isinstance(whole, dict | list | str):
        assert seen[-1] == whole


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", None),
        ("12", None),
        ("tru", None),
        ('"ab', "ab"),
        ('"ab\\', "ab"),
        ('"ab\\u00', "ab"),
        ('"ab\\ud83d', "ab"),
        ('"ab\\ud83d\\ude', "ab"),
        ('{"a": 1', {}),
        ('{"a": 1,', {"a": 1}),
        ('{"a": tru', {}),
        ('{"a": [tru', {"a": []}),
        ('{"a": {"b', {"a": {}}),
        ('{"a": "x", "b"', {"a": "x"}),
        ('{"a": "x", "b":', {"a": "x"}),
        ("[1, 2", [1]),
        ("[1, 2 ", [1, 2]),
    ],
)
def test_what_is_left_out(text, part):
    assert partial_json(text) == part


def test_streams():
    gen = ScriptedGenerator({"ask": '{"name": "Ada", "age": 36}'})
    schema = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
        "required": ["name", "age"],
        "additionalProperties": False,
    }
    stream = gen("ask", schema, stream=True)
    partials = list(stream.partials())
    assert partials[-1] == stream.partial == stream.value == {"name": "Ada", "age": 36}
    assert {"name": "Ada"} in partials and not any(a == b for a, b in zip(partials, partials[1:], strict=False))
    assert all(is_part(before, after) for before, after in zip(partials, partials[1:], strict=False))
    # A number at the root is known when the stream has ended.
    number = Stream(iter(["1", "2"]), int, is_json=True)
    assert list(number.partials()) == [12] and number.value == 12
    # What is no JSON is its text.
    words = Stream(iter(["a", "b"]), str)
    assert list(words.partials()) == ["a", "ab"] and words.value == "ab"


def test_asynchronous_streams():
    import asyncio

    async def pieces():
        for piece in ["[1", ", 2", "]"]:
            yield piece

    async def read():
        stream = AsyncStream(pieces(), json.loads, is_json=True)
        seen = [stream.partial async for _ in stream]
        return seen, stream.partial, await stream.value()

    assert asyncio.run(read()) == ([[], [1], [1, 2]], [1, 2], [1, 2])
