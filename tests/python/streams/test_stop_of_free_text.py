"""Free text ends before a stop text, whatever its pieces are, and nothing of the stop text is given."""

from __future__ import annotations

import types

import pytest
import tiny_models
from scripted_generator import ScriptedGenerator

import interlock
from interlock.generators.replies.stop_texts import first_stop, up_to_stop, with_stop
from interlock.output_types import output_type_of

ANSWER = "one\ntwo\n\nthree STOP four"


@pytest.mark.parametrize("stops", [("\n",), ("\n\n",), ("STOP", "three"), ("four",), ("never",), ("\n\nt", "\n\n")])
@pytest.mark.parametrize("size", [1, 2, 3, 5, 100])
def test_pieces_of_any_size(stops, size):
    pieces = (ANSWER[at : at + size] for at in range(0, len(ANSWER), size))
    given = []
    for piece in up_to_stop(pieces, with_stop(output_type_of(str), stops), "a prompt"):
        given.append(piece)
        # What has been given is never taken back.
        assert ANSWER[: first_stop(ANSWER, stops)].startswith("".join(given))
    assert "".join(given) == ANSWER[: first_stop(ANSWER, stops)]


def test_the_model_is_stopped():
    closed = []

    def pieces():
        try:
            yield from ["a", "\n", "b"]
        finally:
            closed.append(True)

    assert list(up_to_stop(pieces(), with_stop(output_type_of(str), ("\n",)), "a prompt")) == ["a"]
    assert closed == [True]


@pytest.mark.parametrize("stop", ["\n", ["\n"], ("\n", "four")])
def test_calls_batches_and_streams(stop):
    gen = ScriptedGenerator({"Count.": ANSWER})
    assert gen("Count.", stop=stop) == gen("Count.", str, stop=stop) == "one"
    assert gen(["Count.", "Count."], stop=stop) == ["one", "one"]
    stream = gen("Count.", stop=stop, stream=True)
    assert "".join(stream) == stream.value == "one" and stream.finish_reason == "stop"
    assert gen("Count.", stop=None) == gen("Count.", stop=[]) == ANSWER


def test_a_prefill_may_hold_the_stop_text():
    gen = ScriptedGenerator({"one\n": "two\nthree"})
    chat = [{"role": "user", "content": "Count."}, {"role": "assistant", "content": "one\n"}]
    assert gen(chat, str, stop="\n") == "one\ntwo"
    assert gen.stream(chat, str, stop="\n").value == "one\ntwo"


def test_one_type_of_a_batch_that_ends_by_itself():
    gen = ScriptedGenerator({"a": "b"})
    with pytest.raises(interlock.ArgumentError, match="prompt 1 of the batch: stop belongs to free text"):
        gen.batch(["a", "a"], [str, int], stop="\n")


def test_a_server_gets_the_stop_texts():
    asked = []

    def create(**fields):
        asked.append(fields)
        message = types.SimpleNamespace(content="one", refusal=None)
        return types.SimpleNamespace(choices=[types.SimpleNamespace(message=message, finish_reason="stop")])

    client = types.SimpleNamespace(chat=types.SimpleNamespace(completions=types.SimpleNamespace(create=create)))
    gen = interlock.from_openai(client, "m")
    assert gen("Count.", stop="\n") == "one" and asked[0]["stop"] == ["\n"]
    gen("Count.")
    assert "stop" not in asked[1]
    with pytest.raises(interlock.ArgumentError, match="stop belongs to free text"):
        gen("Count.", int, stop="\n")
    with pytest.raises(interlock.ArgumentError, match="A server chooses its own"):
        gen("Count.", int, whitespace="compact")
    assert len(asked) == 2


@pytest.fixture(scope="module")
def gen():
    pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("transformers", reason="transformers is not installed")
    tokenizer = tiny_models.tiny_tokenizer()
    return interlock.from_transformers(tiny_models.tiny_model(tokenizer), tokenizer)


@pytest.mark.parametrize("options", [{}, {"num_beams": 2}, {"jump_forward": False}])
def test_transformers_with_and_without_a_loop_of_its_own(gen, options):
    whole = gen("count", str, max_tokens=20, **options)
    if not whole.strip():
        pytest.skip("the random model wrote nothing")
    stop = whole.strip()[-1]
    assert gen("count", str, max_tokens=20, stop=stop, **options) == whole[: whole.index(stop)]
    assert gen("count", max_tokens=20, stop=["nowhere", stop], **options) == whole[: whole.index(stop)]
    assert all(stop not in text for text in gen(["count", "one"], str, max_tokens=20, stop=stop, **options))


def test_a_stream_of_transformers(gen):
    whole = gen("count", str, max_tokens=20)
    stream = gen.stream("count", str, max_tokens=20, stop=whole[-1])
    assert stream.value == stream.text == whole[: whole.index(whole[-1])] and stream.finish_reason == "stop"


def test_the_model_does_not_write_on(gen):
    """The criterion ends ``generate`` at the stop text, and not at the budget."""
    whole = gen("count", str, max_tokens=40)
    stats = interlock.integrations.transformers.JumpForwardStats()
    gen("count", str, max_tokens=40, stop=whole[0], stats=stats)
    assert stats.model_calls < 10


@pytest.mark.parametrize("options", [{}, {"num_beams": 2}, {"stream": True}])
def test_stop_strings_of_transformers_itself(gen, options):
    whole = gen("count", str, max_tokens=20)
    if not whole.strip():
        pytest.skip("the random model wrote nothing")
    stop = whole.strip()[-1]
    text = gen("count", str, max_tokens=20, stop_strings=[stop], **options)
    written = text if isinstance(text, str) else "".join(text)
    assert stop not in written or written.index(stop) + 12 > len(written)
    if not options:
        assert whole.startswith(written) and len(written) <= len(whole)
