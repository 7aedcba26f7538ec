"""``generator.trace``: what a model wrote, what it wanted instead, and why that was not allowed."""

from __future__ import annotations

from typing import Literal

import pytest

pytest.importorskip("tokenizers", reason="tokenizers is not installed")

from scripted_generator import ScriptedGenerator

import interlock
from interlock.drawing.trace import trace


def test_a_trace_has_the_value_of_the_call_and_its_tokens():
    gen = ScriptedGenerator({"Primes": "[2, 3, 5]"})
    found = gen.trace("Primes", list[int], max_tokens=30)
    assert found.value == gen("Primes", list[int], max_tokens=30) == [2, 3, 5]
    assert found.text == "[2, 3, 5]" and gen.vocabulary.decode(found.token_ids) == b"[2, 3, 5]"
    assert [step.id for step in found.steps] == found.token_ids
    assert found.walk.complete and found.walk.own_alternatives and found.walk.max_tokens == 30


def test_what_the_model_wanted_and_was_not_allowed():
    """The model wants to say Sure before anything else."""
    gen = ScriptedGenerator({"Is it?": "Sure, yes"})
    found = gen.trace("Is it?", Literal["yes", "no"], max_tokens=9)
    step, other = found.refused[0]
    assert step is found.steps[0] and other.text.startswith("S") and not other.allowed and other.reason
    assert other.probability > step.probability
    shown = str(found)
    assert f"not {other.text!r}" in shown and other.reason in shown and shown.startswith(found.text)


def test_a_reason_is_about_the_byte_of_the_token_that_is_refused():
    vocabulary = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b"", b' "', b" x"], eos_token_ids=[256])
    schema = {
        "type": "object",
        "properties": {"bark": {"type": "boolean"}, "age": {"type": "integer"}},
        "required": ["bark", "age"],
        "additionalProperties": False,
    }
    index = interlock.Index.from_json_schema(schema, vocabulary, whitespace="spaced", spelling="plain")
    ids = list(b'{"bark": true, "age": 1}')
    wishes = [{token: -1.0} for token in ids]
    wishes[8] = {ids[8]: -3.0, 257: -0.1, 258: -0.2, ord("x"): -0.3}
    wishes[9] = {ids[9]: -3.0, ord('"'): -0.1}
    steps = trace(index, ids, "", None, wishes).steps
    boolean = "'false' or 'true' must come next"
    assert [other.reason for other in steps[8].alternatives] == [
        f"after a blank, {boolean}",
        f"after a blank, {boolean}",
        "only a blank may come next",
    ]
    assert [other.reason for other in steps[9].alternatives] == [boolean]


def test_nothing_is_refused_where_the_model_stays_inside():
    assert ScriptedGenerator({"Is it?": "yes"}).trace("Is it?", ["yes", "no"], max_tokens=9).refused == []


def test_a_notebook_shows_the_page_and_a_file_holds_it(tmp_path):
    found = ScriptedGenerator({"Is it?": '"<b>"'}).trace("Is <i>it</i>?", str, max_tokens=9)
    page = found.html()
    assert page.startswith("<!doctype html>") and "Is &lt;i&gt;it" in page
    found.save(tmp_path / "trace.html")
    assert (tmp_path / "trace.html").read_text(encoding="utf-8") == page
    shown = found._repr_html_()
    assert shown.startswith('<iframe srcdoc="&lt;!doctype html&gt;') and shown.count('"') % 2 == 0
    with pytest.raises(TypeError, match="path must be"):
        found.save(5)
    with pytest.raises(interlock.ArgumentError, match=r"end in \.html"):
        found.save(tmp_path / "trace.pdf")


def test_free_text_and_messages():
    gen = ScriptedGenerator({"Hi": "Hello."})
    found = gen.trace([{"role": "user", "content": "Hi"}], max_tokens=9)
    assert found.value == found.text == "Hello." and found.walk.title == "Hi"


def test_mistakes():
    gen = ScriptedGenerator({"Hi": "Hello."})
    with pytest.raises(interlock.ArgumentError, match="a trace has one prompt"):
        gen.trace(["Hi"])
    with pytest.raises(interlock.ArgumentError, match="did you mean 'temperature'"):
        gen.trace("Hi", temprature=1)
    with pytest.raises(interlock.BudgetError):
        gen.trace("Hi", list[bool], max_tokens=1)


def test_sampling_is_repeatable():
    gen = ScriptedGenerator({"Hi": "Hello."})
    made = [gen.trace("Hi", list[bool], max_tokens=20, temperature=3.0, seed=4).token_ids for _ in range(2)]
    assert made[0] == made[1]
