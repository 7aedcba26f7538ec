"""Programs: fixed text and generated parts over one cache, with a model that knows its answers by heart."""

from __future__ import annotations

import re
from typing import Literal, TypedDict

import numpy as np
import pytest

pytest.importorskip("tokenizers", reason="tokenizers is not installed")

from scripted_generator import ScriptedGenerator

import interlock
from interlock.programs.sampling import Sampler
from interlock.programs.seam_tokenization import Transcript


class Pair(TypedDict):
    a: int
    b: str


def started(text="", script=None, **options):
    return interlock.Program(ScriptedGenerator(script or {}), text, **options)


def test_parts_are_values_and_captured():
    program = started("The year is ", {"The year is": " 42, no: it's yes", "it's": " yes and so on"})
    assert program.gen("year", int, max_tokens=5) == 42
    program += ", no: it's"
    assert program.select("answer", ["yes", "no", " yes"]) == " yes"
    assert program.captures == {"year": 42, "answer": " yes"}
    assert str(program) == "The year is 42, no: it's yes"


def test_a_part_ends_where_the_model_says_something_else():
    script = {"costs ": "12 euros", "pi is ": "3.14, or so"}
    program = started("It costs ", script)
    assert program.gen("n", int, max_tokens=8) == 12
    program += ". And pi is "
    assert program.gen("pi", float, max_tokens=8) == 3.14
    assert str(program) == "It costs 12. And pi is 3.14"


def test_every_token_is_read_once():
    program = started("The year is ", {"The year is ": "1242", "then ": "yes"})
    program.gen("n", int, max_tokens=6)
    program += " and then "
    program.gen("s", re.compile("yes|no"), max_tokens=3)
    length = len(program._transcript.ids)
    # What healing and seams take back is read once more; nothing else is.
    assert length - 1 <= program.model.tokens_read + 1 <= length + 4
    calls = program.model.calls
    assert program.gen("forced", re.compile("and that is the end"), max_tokens=20) == "and that is the end"
    assert program.model.calls <= calls + 2, "forced text asks the model at the seam alone"


def test_a_cache_that_cannot_go_back_is_read_again():
    for can in (True, False):
        program = started("The year is ", {"The year is ": "42", "then ": "yes"})
        program.model.can_go_back = can
        program.gen("n", int, max_tokens=6)
        program += " and then "
        assert program.gen("s", Literal["yes", "no"]) == "yes"
        assert str(program) == "The year is 42 and then yes"


def test_token_healing():
    """`` yes`` and ``://`` are tokens: the model writes them although the fixed text ends in their first byte."""
    program = started("Well, ", {"Well,": " yes"})
    assert program.gen("s", re.compile("yes|no"), max_tokens=4) == "yes"
    ids = program._transcript.ids
    assert program.generator.vocabulary.token_bytes(ids[-1]) == b" yes"
    program = started("http:", {"http": "://a"})
    assert program.gen("u", re.compile("//[a-z]"), max_tokens=4) == "//a"
    assert [program.generator.vocabulary.token_bytes(i) for i in program._transcript.ids[-2:]] == [b"://", b"a"]
    # Where the constraint does not permit the rest of the longer token, that one is no choice.
    program = started("Well, ", {"Well,": " yes"})
    assert program.gen("s", re.compile("yet|no"), max_tokens=4) in ("yet", "no")


def test_healing_never_touches_the_prompt_of_a_chat():
    program = started([{"role": "user", "content": "Hi"}], {"Hi": " yes"})
    before = list(program._transcript.ids)
    program.gen("s", re.compile(" (yes|no)"), max_tokens=5)
    assert program._transcript.ids[: len(before)] == before and str(program) == " yes"


def test_fixed_text_is_encoded_with_what_stands_before_it():
    program = started("is 1", {})
    program += "2 yes"
    vocabulary, ids = program.generator.vocabulary, program._transcript.ids
    assert [vocabulary.token_bytes(i) for i in ids] == [b"is", b" 1", b"2", b" yes"]
    program = started("x")
    program += "<|end|>"
    assert str(program) == "x<|end|>", "names of special tokens are text"
    assert not set(vocabulary.special_token_ids) & set(program._transcript.ids)


def test_stop_is_not_kept():
    program = started("Say:", {"Say:": " hello there.\n\nMore"})
    assert program.gen("s", stop=["\n", "."], max_tokens=40) == " hello there"
    assert str(program) == "Say: hello there"
    program += "!"
    assert str(program) == "Say: hello there!"
    assert started("Say:", {"Say:": "abc"}).gen(stop="x", max_tokens=2) == "ab"
    assert started("Say:", {"Say:": "abc"}).gen(max_tokens=40) == "abc"


def test_a_stop_inside_a_token_is_cut_out():
    program = started("Is it", {"Is it": " yes or"})
    assert program.gen("s", stop="es", max_tokens=5) == " y"
    assert str(program) == "Is it y"


def test_named_groups_and_blocks_are_captured():
    program = started("Do:", {"Do:": " look[Rome]"})
    with program.capture("line"):
        program.gen(None, re.compile(r" (?P<verb>[a-z]+)\[(?P<what>\w+)\]", re.ASCII), max_tokens=30)
        program += "!"
    assert (program["verb"], program["what"], program["line"]) == ("look", "Rome", " look[Rome]!")
    assert "verb" in program and "nothing" not in program


def test_select_from_a_mapping_and_with_common_beginnings():
    script = {"A:": "yes", "B:": "yesterday"}
    assert started("A:", script).select("x", ["yes", "yesterday"]) == "yes"
    assert started("B:", script).select("x", ["yes", "yesterday"]) == "yesterday"
    program = started("A:", script)
    assert program.select("x", {"yes": True, "no": False}) is True and program["x"] is True


def test_functions_between():
    def add(a: int, b: int) -> int:
        return a + b

    program = started("Sum:", {"Sum:": '{"a": 1, "b": 2}'})
    assert program.call("sum", add, max_tokens=20) == 3
    program += f" = {program['sum']}"
    assert str(program) == 'Sum:{"a": 1, "b": 2} = 3'


def test_fork():
    program = started("A or B? ", {"I say ": "42", "You say ": "12"})
    other = program.fork()
    program += "I say "
    other += "You say "
    assert (program.gen("n", int), other.gen("n", int)) == (42, 12)
    assert str(program) == "A or B? I say 42" and str(other) == "A or B? You say 12"
    assert program.captures == {"n": 42} and other.captures == {"n": 12}


def test_a_part_that_fails_was_never_written():
    program = started("Go:", {"Go:": '{"a": 1, "b": "x"}'})
    with pytest.raises(interlock.BudgetError, match="that was found needs"):
        program.gen("p", Pair, max_tokens=3)

    class Refused:
        pass

    with pytest.raises(interlock.UnsupportedError):
        program.gen("p", Refused)
    assert str(program) == "Go:" and not program.captures
    assert program.gen("p", Pair, max_tokens=30) == {"a": 1, "b": "x"}


def test_budgets_hold_whatever_the_model_wants():
    program = started("Long:", {"Long:": '{"a": 12424242424242, "b": "' + "x" * 99})
    with pytest.warns(interlock.TightBudgetWarning, match="max_tokens=24 is tight.* needs 15 tokens"):
        value = program.gen("p", Pair, max_tokens=24)
    assert set(value) == {"a", "b"} and len(program._transcript.ids) - 5 <= 24


def test_a_number_that_the_budget_cut_warns_however_short_it_is():
    with pytest.warns(interlock.UnboundedNumberWarning, match="a number of 3 digits.*int has no bounds") as seen:
        assert started("Many: ", {"Many: ": "98765432 and so on"}).gen("n", int, max_tokens=3) == 987
    assert seen[0].filename == __file__
    # What the model ended, and what has bounds, is no cut.
    assert started("Many: ", {"Many: ": "120 and so on"}).gen("n", int, max_tokens=3) == 120
    bounded = {"type": "integer", "minimum": 0, "maximum": 999}
    assert started("Many: ", {"Many: ": "98765432"}).gen("n", bounded, max_tokens=3) == 987


def test_a_full_context_is_said():
    program = started("Text ", {"Text ": "and more and more"})
    program.model.context = 8
    begun = len(program._transcript.ids)
    assert 2 < begun < 8
    # What the context leaves is the budget: a value is whole.
    with pytest.warns(interlock.TightBudgetWarning, match=f"the room of {8 - begun} tokens behind"):
        assert len(program.gen("x", re.compile("[a-z ]{2,}"), max_tokens=20)) >= 2
    program = started("Text ", {})
    program.model.context = begun + 1
    said = f"the text has {begun} tokens, and the model's context of {begun + 1} has room for 1 token behind it, but"
    with pytest.raises(interlock.PromptTooLongError, match=f"{said} .*: shorten the text"):
        program.gen("x", re.compile("[a-z]{40}"))
    assert str(program) == "Text "
    program = started("Text and more and more", {})
    program.model.context = 8
    with pytest.raises(interlock.BudgetError, match=r"the text has \d+ tokens, .* no room behind it: shorten the text"):
        program.gen("x", max_tokens=20)
    with pytest.raises(interlock.BudgetError, match="the text has 9 tokens"):
        program.model.logits([1] * 9)


def test_sampling():
    logits = np.array([0.0, 3.0, 2.0, -np.inf], dtype=np.float32)
    assert Sampler().choose(logits) == 1
    chosen = {Sampler(temperature=5.0, seed=seed).choose(logits) for seed in range(60)}
    assert chosen == {0, 1, 2}
    assert {Sampler(temperature=5.0, top_k=2, seed=seed).choose(logits) for seed in range(60)} == {1, 2}
    assert {Sampler(temperature=1.0, top_p=0.5, seed=seed).choose(logits) for seed in range(60)} == {1}
    assert {Sampler(temperature=1.0, min_p=0.3, seed=seed).choose(logits) for seed in range(60)} == {1, 2}
    with pytest.warns(interlock.UnusedSeedWarning, match="seed changes nothing here"):
        Sampler(seed=7)
    draws = [Sampler(temperature=1.0, seed=7).choose(logits) for _ in range(3)]
    assert len(set(draws)) == 1


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda p: p.gen("x", int, stop="."), "stop belongs to free text"),
        (lambda p: p.gen("x", stop=""), "one of these is empty"),
        (lambda p: p.gen("x", int, temprature=1), "did you mean 'temperature'"),
        (lambda p: p.gen("x", int, max_new_tokens=4), "pass max_tokens"),
        (lambda p: p.gen("x", int, max_tokens=0), "at least 1"),
        (lambda p: p.select("x", "yes"), "a list of texts"),
        (lambda p: p.select("x", []), "the list is empty"),
        (lambda p: p.text(3), "str\\(...\\)"),
        (lambda p: interlock.Program(p.generator, "x", temperature=-1), "temperature is 0"),
        (lambda p: interlock.Program(p.generator, "x", top_p=2), "top_p is a number above 0"),
        (lambda p: interlock.Program(p.generator, "x", top_k=-1), "top_k"),
        (lambda p: interlock.Program(p.generator, "x", min_p=1), "min_p"),
        (lambda p: interlock.Program("gpt2"), "a model in this process"),
        (lambda p: interlock.Program(p.generator).gen("x", int), "write some text"),
    ],
)
def test_mistakes(call, said):
    with pytest.raises(interlock.ArgumentError, match=said):
        call(started("Text"))


def test_an_unknown_name_lists_what_there_is():
    program = started("A:", {"A:": "yes"})
    program.select("answer", ["yes", "no"])
    with pytest.raises(KeyError, match="there is 'answer'"):
        program["anwser"]
    assert "answer" in repr(program)


def test_bytes_that_the_tokenizer_spells_otherwise():
    """A transcript is right byte for byte whatever a tokenizer makes of a text."""
    generator = ScriptedGenerator()
    model = generator.cached_model()
    for broken in (lambda text: [], lambda text: [1], lambda text: model._tokenizer.encode(" " + text).ids):
        model.encode = broken
        transcript = Transcript(model, [])
        transcript.append("Ünï")
        transcript.append(" yes, 12")
        assert transcript.data.decode() == "Ünï yes, 12"
        transcript.cut(len("Ünï y".encode()))
        assert transcript.data.decode() == "Ünï y"
