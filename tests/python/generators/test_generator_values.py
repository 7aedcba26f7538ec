"""From texts to values: rows of a batch that a class refuses, and warnings of what a model should not have written."""

from __future__ import annotations

import asyncio
import decimal
import inspect
import pickle
import re
import sys
import types
import warnings
from decimal import Decimal
from typing import Annotated, Any

import pytest

pytest.importorskip("tokenizers", reason="tokenizers is not installed")
pydantic = pytest.importorskip("pydantic", reason="pydantic is not installed")

from scripted_generator import ScriptedGenerator

import interlock
from interlock import pattern_slips
from interlock.ascii_patterns import as_ascii
from interlock.generators import LocalGenerator
from interlock.output_types import output_type_of


class Person(pydantic.BaseModel):
    name: str
    age: int


class Even(pydantic.BaseModel):
    a: int

    @pydantic.field_validator("a")
    @classmethod
    def even(cls, value):
        if value % 2:
            raise ValueError("odd")
        return value


PROMPTS = ["one", "two", "three", "four"]


def generator() -> ScriptedGenerator:
    return ScriptedGenerator({prompt: f'{{"a": {i + 1}}}' for i, prompt in enumerate(PROMPTS)})


def test_a_validator_that_raises_anything_loses_no_other_row():
    class Odd(pydantic.BaseModel):
        a: int

        @pydantic.field_validator("a")
        @classmethod
        def look_up(cls, a):
            return {2: "two"}[a]

    with pytest.raises(interlock.InvalidOutputError, match="prompt 0 of the batch: .*it raised KeyError: 1") as caught:
        generator()(["one", "two"], Odd, max_tokens=20)
    assert isinstance(caught.value.__cause__, KeyError) and caught.value.results[1].a == "two"
    found = generator()(["one", "two"], Odd, max_tokens=20, errors="return")
    assert [type(value).__name__ for value in found] == ["InvalidOutputError", "Odd"]


def test_a_batch_says_which_row_is_refused_and_keeps_the_others():
    with pytest.raises(interlock.InvalidOutputError, match=r"^prompt 0 of the batch: .*a: Value error, odd") as caught:
        generator()(PROMPTS, Even, max_tokens=20)
    error = caught.value
    assert (error.row, error.pointer, error.text) == (0, "/a", '{"a": 1}')
    assert error.results[0] is error and error.results[1::2] == [Even(a=2), Even(a=4)]
    assert [one.row for one in error.results[::2]] == [0, 2]


@pytest.mark.parametrize("method", ["__call__", "batch"])
def test_errors_can_be_returned_in_their_places(method):
    found = getattr(generator(), method)(PROMPTS, Even, max_tokens=20, errors="return")
    assert found[1::2] == [Even(a=2), Even(a=4)]
    assert all(isinstance(one, interlock.InvalidOutputError) for one in found[::2])
    assert found[2].row == 2 and found[2].results is None


def test_a_single_call_can_return_its_error():
    gen = generator()
    assert gen("two", Even, max_tokens=20, errors="return") == Even(a=2)
    assert isinstance(gen("one", Even, max_tokens=20, errors="return"), interlock.InvalidOutputError)
    with pytest.raises(interlock.ArgumentError, match=r"errors is 'raise' or 'return'.*not 'keep'"):
        gen("one", Even, errors="keep")
    with pytest.raises(interlock.ArgumentError, match=r"stream\.value raises"):
        gen("one", Even, stream=True, errors="return")


def test_an_error_of_a_row_can_be_pickled():
    error = generator()(["one", "two"], Even, max_tokens=20, errors="return")[0]
    copied = pickle.loads(pickle.dumps(error))
    assert (str(copied), copied.row, copied.text, copied.pointer) == (str(error), 0, error.text, "/a")


class Completions:
    """A server that does not enforce what it is asked for."""

    def __init__(self, answers):
        self.answers = answers

    def answer(self, messages):
        text = self.answers[messages[-1]["content"]]
        message = types.SimpleNamespace(content=text, refusal=None)
        return types.SimpleNamespace(choices=[types.SimpleNamespace(message=message, finish_reason="stop")])

    def create(self, *, model, messages, max_completion_tokens, response_format=None):
        return self.answer(messages)


class AsyncOpenAI:
    def __init__(self, completions):
        async def create(*, model, messages, max_completion_tokens, response_format=None):
            return completions.answer(messages)

        self.chat = types.SimpleNamespace(completions=types.SimpleNamespace(create=create))


def test_a_row_that_a_server_did_not_enforce_loses_no_other():
    completions = Completions({"x": '{"a": 2}', "y": "no JSON", "z": '{"a": 4}'})
    client = types.SimpleNamespace(chat=types.SimpleNamespace(completions=completions))
    gen = interlock.from_openai(client, "m")
    found = gen(["x", "y", "z"], Even, errors="return")
    assert found[0] == Even(a=2) and found[2] == Even(a=4)
    assert found[1].row == 1 and "did not enforce" in str(found[1])
    with pytest.raises(interlock.InvalidOutputError, match="prompt 1 of the batch"):
        gen(["x", "y", "z"], Even)
    later = interlock.from_openai(AsyncOpenAI(completions), "m")
    found = asyncio.run(later(["x", "y", "z"], Even, errors="return"))
    assert found[2] == Even(a=4) and found[1].row == 1
    with pytest.raises(interlock.InvalidOutputError, match="prompt 1 of the batch"):
        asyncio.run(later.batch(["x", "y"], Even))
    with pytest.raises(interlock.InvalidOutputError, match="did not enforce"):
        asyncio.run(later("y", Even))


# Warnings


def test_a_pattern_with_unicode_classes_warns_once_for_each_pattern():
    gen = ScriptedGenerator({"Year": "1969", "Word": "moon"})
    with pytest.warns(
        interlock.UnicodeClassWarning, match=r"\\d in the pattern .* re\.ASCII\), or write \[0-9\]"
    ) as seen:
        assert gen("Year", re.compile(r"(?!é)\d{4}"), max_tokens=9) == "1969"
        assert gen("Year", re.compile(r"(?!é)\d{4}"), max_tokens=9) == "1969"
    assert len(seen) == 1 and seen[0].filename == __file__
    with pytest.warns(interlock.UnicodeClassWarning, match=r"letters and digits of every script"):
        gen("Word", re.compile(r"\w+[^\s]?"), max_tokens=9)


ODD = ["0", "a", "_", " ", "é", "٣", "२", "\u2003", "ſ", "K", "k", "s", "-", "\u00a0"]


@pytest.mark.parametrize(
    ("pattern", "narrows"),
    [
        (r"\d{2}", True),
        (r"[\w-]\s", True),
        (r"(?i)k\d|s\w", True),
        (r".\d|[^k]\w", True),
        (r"(?=.\d)\w+", True),
        (r"\b\w\b\s", True),
        (r"(?!\d)\w\w", True),
        (r"\w*+-", True),
        (r"é\d", True),
        (r"\d\D", False),
        (r"\d[^\w]", False),
        (r"(?i)\d[^k]", False),
        (r"\w*+.", False),
        (r"(?!ſ)(?i:\ws)", False),
        (r"\d(?<!\d.).", False),
        (r"\d\b.", False),
        (r"(?u)\d\d", False),
        (r"[0-9]{2}", False),
    ],
)
def test_patterns_are_read_as_ascii_where_that_narrows_them(pattern, narrows):
    given = re.compile(pattern)
    read = as_ascii(given)
    assert (read is not given) == narrows == bool(read.flags & re.ASCII)
    for text in (x + y for x in ODD for y in ODD):
        assert not read.fullmatch(text) or given.fullmatch(text), text


def test_a_model_is_held_to_ascii_digits():
    gen = ScriptedGenerator({"Tel": "٣٤٥"})
    found = gen("Tel", re.compile(r"\d{3}"), max_tokens=9)
    assert re.fullmatch("[0-9]{3}", found)
    assert gen.index(re.compile(r"\d")).language_size() == 10
    assert gen.index(re.compile(r"(?u)\d")).language_size() == 760
    assert interlock.index_from_type(re.compile(r"\d"), gen.vocabulary).language_size() == 760


@pytest.mark.parametrize(
    "pattern",
    [
        re.compile("[0-9]{4}"),
        re.compile(r"\d{4}", re.ASCII),
        re.compile(r"(?a)\d{4}"),
        re.compile(r"(?a:\d){4}"),
        re.compile(r"\\d|[0-9]{4}"),
        re.compile(r"\D?[0-9]{4}"),
    ],
)
def test_patterns_that_need_no_warning(pattern):
    assert pattern_slips.unicode_classes(pattern) == []
    assert ScriptedGenerator({"Year": "1969"})("Year", pattern, max_tokens=9)


def test_a_warning_can_be_an_error_or_silent():
    gen = ScriptedGenerator({"Year": "1969"})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", interlock.UnicodeClassWarning)
        assert gen("Year", re.compile(r"(?!é)\d{4}"), max_tokens=9) == "1969"
    with warnings.catch_warnings():
        warnings.simplefilter("error", interlock.UnicodeClassWarning)
        with pytest.raises(interlock.UnicodeClassWarning):
            gen("Year", re.compile(r"(?!é)\d{3,4}"), max_tokens=9)


@pytest.mark.parametrize(
    ("hint", "answer", "max_tokens", "warns"),
    [
        (int, "1" * 30, 200, True),
        (int, "11111111", 9, True),
        (float, "0." + "3" * 30, 200, True),
        (int, "1969", 200, False),
        (int, "7", 2, False),
        (float, "3.14159", 20, False),
        (pydantic.conint(ge=0), "1" * 30, 200, True),
        (pydantic.PositiveInt, "1" * 60, 60, True),
        (pydantic.conint(le=0), "-" + "1" * 30, 200, True),
        (pydantic.conint(le=10**40), "1" * 30, 200, False),
        (pydantic.conint(ge=0, le=10**40), "1" * 30, 200, False),
        (pydantic.conint(ge=0, multiple_of=1), "1" * 30, 200, True),
        (pydantic.confloat(ge=0, le=1), "0." + "3" * 30, 200, False),
        (pydantic.PositiveFloat, "0." + "3" * 30, 200, True),
        (Any, "1" * 30, 200, True),
        (object, "1" * 30, 200, True),
        (True, f'{{"a": [{"1" * 30}]}}', 200, True),
        (dict[str, Any], f'{{"a": {"1" * 30}}}', 200, True),
        (dict[str, str] | list[pydantic.conint(ge=0, le=10**40)], f"[{'1' * 30}]", 200, False),
        (tuple[int, ...], f"[1, {'3' * 30}]", 200, True),
        (tuple[int, str], f'[{"3" * 30}, "a"]', 200, True),
        (list[dict[str, float]], f'[{{}}, {{"a": 0.{"3" * 30}}}]', 200, True),
        (int | None, "1" * 30, 200, True),
        (Person, f'{{"name": "A", "age": {"9" * 30}}}', 200, True),
        (Person, f'{{"name": "{"9" * 30}", "age": 9}}', 200, False),
        (tuple[pydantic.conint(ge=0), ...], f"[1, {'3' * 30}]", 200, True),
        (tuple[pydantic.conint(ge=0, le=10**40), ...], f"[1, {'3' * 30}]", 200, False),
    ],
)
def test_numbers_that_a_model_does_not_end(hint, answer, max_tokens, warns):
    gen = ScriptedGenerator({"N": answer})
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        value = gen("N", hint, max_tokens=max_tokens)
    assert value == output_type_of(hint).parse(answer)
    assert [one.category for one in seen] == [interlock.UnboundedNumberWarning] * warns
    assert not warns or seen[0].filename == __file__


def test_a_long_number_says_where_it_is():
    with pytest.warns(interlock.UnboundedNumberWarning, match=r"a number of 30 digits at /1/age "):
        ScriptedGenerator({"N": f'[{{"name": "A", "age": 1}}, {{"name": "B", "age": {"9" * 30}}}]'})("N", list[Person])


@pytest.mark.parametrize(
    ("hint", "message"),
    [
        (int, r"has no bounds: pass bounds, such as Annotated\[int, pydantic.Field\(ge=0, le=120\)\]"),
        (pydantic.PositiveInt, r"has no upper bound: pass one, such as Annotated\[int, pydantic.Field\(le=120\)\]"),
    ],
)
def test_a_long_number_says_which_bound_is_missing(hint, message):
    with pytest.warns(interlock.UnboundedNumberWarning, match=message):
        ScriptedGenerator({"N": "1" * 60})("N", hint, max_tokens=60)


class Priced(pydantic.BaseModel):
    price: Decimal
    cost: Decimal = pydantic.Field(alias="whatItCosts")


@pytest.mark.parametrize(
    ("hint", "answer", "way"),
    [
        (Decimal, "{}", "such as Annotated[decimal.Decimal, pydantic.Field(ge=0, le=120)]"),
        (Annotated[Decimal, pydantic.Field(ge=0)], "{}", "such as Annotated[decimal.Decimal, pydantic.Field(le=120)]"),
        (list[Decimal], "[1, {}]", "such as Annotated[decimal.Decimal, pydantic.Field(ge=0, le=120)]"),
        (
            Priced,
            '{{"price": {}, "whatItCosts": 1}}',
            "such as Annotated[decimal.Decimal, pydantic.Field(ge=0, le=120)]",
        ),
        (Priced, '{{"price": 1, "whatItCosts": {}}}', "such as pydantic.Field(ge=0, le=120) in its annotation"),
        (list[float], "[1.5, {}]", "such as Annotated[float, pydantic.Field(ge=0, le=120)]"),
    ],
)
def test_the_remedy_for_a_long_number_names_its_class(hint, answer, way):
    with pytest.warns(interlock.UnboundedNumberWarning, match=re.escape(way)):
        ScriptedGenerator({"N": answer.format("1" * 30)})("N", hint, max_tokens=200)


def test_decimals_have_the_bounds_that_are_advised():
    bounded = Annotated[Decimal, pydantic.Field(ge=0, le=120)]
    assert output_type_of(bounded).source == {"type": "number", "minimum": 0, "maximum": 120}
    with warnings.catch_warnings():
        warnings.simplefilter("error", interlock.UnboundedNumberWarning)
        assert 0 <= ScriptedGenerator({"N": "1" * 30})("N", bounded, max_tokens=60) <= 120


# Budgets


class Tree(pydantic.BaseModel):
    label: str
    children: list[Tree]


def test_an_ample_budget_that_ended_a_value_names_the_bounds():
    """Not a larger budget: the model would fill that, too."""
    answer = '{"label": "' + "a" * 400
    with pytest.warns(
        interlock.TightBudgetWarning, match="did not stop by itself, and max_tokens=120 .*max_length"
    ) as seen:
        ScriptedGenerator({"N": answer})("N", Tree, max_tokens=120)
    assert len(seen) == 1 and "is tight" not in str(seen[0].message)


@pytest.mark.parametrize(
    ("hint", "answer", "max_tokens", "warns"),
    [
        (Person, '{"name": "Ada Lovelace", "age": 36}', 21, True),
        (Person, '{"name": "Ada Lovelace", "age": 36}', 60, False),
        (Person, '{"name": "", "age": 36}', 60, False),
        (list[str], '["a", "b", "c", "d"]', 5, True),
        (list[str], '["a", "b", "c", "d"]', 60, False),
        # What is whole at every place, or has one place, is not cut short.
        (str, "Once upon a time there was", 4, False),
        (bool, "true", 5, False),
        (["yes", "no"], "yes", 3, False),
        (int, "7", 1, False),
        (re.compile("[a-z ]+"), "once upon a time", 3, True),
        (str, "once upon a time", 3, False),
    ],
)
@pytest.mark.parametrize("way", ["call", "stream", "trace"])
def test_a_budget_without_room_warns(hint, answer, max_tokens, warns, way):
    gen = ScriptedGenerator({"N": answer})
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        if way == "trace":
            gen.trace("N", hint, max_tokens=max_tokens)
        elif way == "stream":
            list(gen("N", hint, max_tokens=max_tokens, stream=True))
        else:
            gen("N", hint, max_tokens=max_tokens)
    assert [one.category for one in seen] == [interlock.TightBudgetWarning] * warns
    if warns:
        index = gen.index(hint)
        assert f"needs {index.guide().min_tokens_to_finish()} token" in str(seen[0].message)
        assert f"max_tokens={max_tokens} is tight" in str(seen[0].message)
        # The stand-in's calls are outside of the package, as a caller's are.
        assert way != "trace" or seen[0].filename == __file__


# Notebooks


def test_a_stream_is_shown_in_a_notebook():
    stream = ScriptedGenerator({"Hi": "a < b"}).stream("Hi", max_tokens=9)
    next(stream)
    assert "not at its end yet" in stream._repr_html_() and ", open: " in repr(stream)
    assert stream.value == "a < b"
    assert "a &lt; b</mark>" in stream._repr_html_() and "not at its end" not in stream._repr_html_()
    assert repr(stream) == "<interlock Stream, ended: 'a < b'>"


def test_a_program_is_shown_with_the_models_parts_marked():
    gen = ScriptedGenerator({"It is ": "<7>", "size ": "small", "sum: ": '{"a": 1}'})
    program = interlock.Program(gen, "It is ")
    program.gen("n", re.compile("<[0-9]>"), max_tokens=8)
    program += " of size "
    fork = program.fork()
    program.select("size", ["small", "large"])
    program += "."
    shown = program._repr_html_()
    assert re.findall(r"<mark [^>]*>(.*?)</mark>", shown) == ["&lt;7&gt;", "small"]
    assert re.findall(r'title="(.*?)"', shown) == ["n", "size"]
    assert re.sub("<[^>]*>", "", shown) == "It is &lt;7&gt; of size small."
    assert fork._repr_html_().count("<mark") == 1


# What calls say of other packages' words


def test_options_with_other_names_or_places():
    gen = generator()
    for options, said in [
        ({"system": "you are"}, r"what the system says is a message"),
        ({"type": bool}, "pass output_type"),
        ({"trace": True}, r"gen\.trace\(prompt"),
        ({"error": "return"}, "did you mean 'errors'"),
    ]:
        with pytest.raises(interlock.ArgumentError, match=said):
            gen("one", **options)
    with pytest.raises(interlock.ArgumentError, match="role 'usr': did you mean 'user'"):
        gen([{"role": "usr", "content": "one"}])
    with pytest.raises(interlock.ArgumentError, match="the role of message 0 is a str"):
        gen([{"role": 5, "content": "one"}])
    assert gen([{"role": "narrator", "content": "two"}], Even, max_tokens=20) == Even(a=2)
    with pytest.raises(AttributeError, match=r'\["yes", "no"\] is an output type by itself'):
        interlock.Choice  # noqa: B018


@pytest.mark.parametrize(
    ("make", "module", "extra"),
    [
        (lambda: interlock.from_llama_cpp(object()), "interlock.generators.llama_cpp", "llama-cpp"),
        (lambda: interlock.from_mlx_lm(object(), object()), "interlock.generators.mlx_lm", "mlx"),
        (lambda: interlock.from_vllm(object()), "interlock.generators.vllm", "vllm"),
        (lambda: interlock.from_transformers(object(), object()), "interlock.generators.transformers", "transformers"),
    ],
)
def test_a_missing_backend_says_what_to_install(make, module, extra, monkeypatch):
    class Missing:
        def find_spec(self, name, path=None, target=None):
            if name == module:
                raise ModuleNotFoundError("No module named 'backend'", name="backend")

    monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setattr(sys, "meta_path", [Missing(), *sys.meta_path])
    with pytest.raises(ModuleNotFoundError, match=rf"pip install 'interlock\[{extra}\]'"):
        make()


def test_help_shows_that_a_prompt_has_to_be_passed():
    for function in (interlock.generate, interlock.from_transformers, LocalGenerator.batch):
        shown = str(inspect.signature(function))
        assert "= <missing>" in shown and "object object" not in shown


def test_a_trace_of_one_token_is_no_plural():
    found = ScriptedGenerator({"N": "7"}).trace("N", {"enum": [7, 77]}, max_tokens=1)
    assert str(found).splitlines()[1].startswith("1 token, ")


# Numbers


def test_a_decimal_with_a_schema_of_its_own_is_read_from_a_string():
    schema = {"type": "string", "pattern": r"^[0-9]{1,9}\.[0-9]{2}$"}
    exact = output_type_of(Annotated[decimal.Decimal, pydantic.WithJsonSchema(schema)])
    assert exact.source == schema and str(exact.parse('"7.50"')) == "7.50"


def test_half_of_a_surrogate_pair_is_no_prompt():
    gen = ScriptedGenerator({})
    for call in (gen, gen.stream, gen.trace):
        with pytest.raises(interlock.ArgumentError, match="the prompt is no Unicode text: character 1"):
            call("a\ud800", bool)


def test_tab_completion_shows_what_users_call():
    gen = ScriptedGenerator({})
    shown = {name for name in dir(gen) if not name.startswith("_")} - {"script", "tokenizer"}
    assert shown == set(
        "agenerate atool_loop backend batch encode index output_type program stream tool_loop trace vocabulary".split()
    )
    assert gen.cached_model() is gen.cached_model(), "a name that is not shown is there all the same"
