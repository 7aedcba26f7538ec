"""``parse_body``: the bytes of a body in bounded time and memory."""

import gc

import pytest

import interlock
from interlock.explain import byte_vocabulary
from interlock.serving import RequestCompiler, parse_body


@pytest.mark.parametrize(
    ("raw", "status", "message"),
    [
        (b"[" * 100_001, 400, "100,001 brackets and commas, and 100,000 are the most"),
        (b'{"a":"' + b"," * 100_001 + b'"}', 400, "100,002 brackets and commas"),
        (b"x" * ((1 << 20) + 1), 413, "the body has 1,048,577 bytes, and 1,048,576 are the most"),
        (b"\xff\xfe{}", 400, "the request is no text in UTF-8"),
        (b"{", 400, "the request is no JSON"),
        (b"[" * 90_000, 400, "nested too deeply"),
        (b"9" * 5_000, 400, "too many digits"),
    ],
    ids=["values", "commas of a text", "bytes", "UTF-16", "open", "deep", "digits"],
)
def test_what_cannot_be_read_is_refused(raw, status, message):
    with pytest.raises((ValueError, RecursionError)) as caught:
        parse_body(raw)
    answer = interlock.refusal(caught.value)
    assert answer.status == status and message in answer.message
    assert gc.isenabled()


@pytest.mark.parametrize("number", ["1e999", "-1e400", "Infinity"])
def test_a_number_beyond_a_double_is_refused_at_its_place(number):
    """Python reads each of them as an infinity."""
    compiler = RequestCompiler(byte_vocabulary(), format="hermes")
    schema = '{"properties": {"a": {"maximum": %s}}}' % number
    for body, place in (
        ('{"guided_json": %s}', "/guided_json"),
        ('{"tools": [{"name": "a", "parameters": %s}]}', "/tools/0/parameters"),
    ):
        with pytest.raises(interlock.InterlockError) as caught:
            compiler.compile(parse_body((body % schema).encode()))
        answer = compiler.refusal(caught.value)
        assert (answer.status, answer.place) == (400, f"{place}/properties/a/maximum")
        assert "beyond the largest double, 1.8e308" in answer.message
    with pytest.raises(interlock.SchemaError, match="beyond the largest double"):
        interlock.check_json_schema({"maximum": float(number)})


def test_bounds_are_those_that_are_passed():
    assert parse_body(b"[1,2]", max_bytes=5, max_values=2) == [1, 2] == parse_body(bytearray(b"[1,2]"))
    for bounds in ({"max_bytes": 4}, {"max_values": 1}):
        with pytest.raises(interlock.RequestError):
            parse_body(b"[1,2]", **bounds)
    with pytest.raises(TypeError, match="raw must be bytes, not str"):
        parse_body("[]")


@pytest.mark.parametrize("is_on", [True, False])
def test_the_collector_waits_and_is_as_it_was(is_on):
    (gc.enable if is_on else gc.disable)()
    try:
        before = gc.get_stats()[1]["collections"]
        assert len(parse_body(b"[" + b"[]," * 45_000 + b"0]")) == 45_001
        assert gc.get_stats()[1]["collections"] == before and gc.isenabled() == is_on
    finally:
        gc.enable()
