"""Exceptions: one class per kind, what they derive from, what they carry."""

import contextlib
import doctest
import importlib
import json
import pickle
import pkgutil
import re
from types import MappingProxyType

import pytest

import interlock

KINDS = """PatternError SchemaError UnsupportedError UnsatisfiableError GrammarError LimitError BudgetError
TokenRejected VocabularyError ArtifactError ArgumentError GuideBusyError RequestError StructuralTagError ToolFormatError
InvalidOutputError TightBudgetError PromptTooLongError""".split()


@pytest.mark.parametrize("name", KINDS)
def test_tree(name):
    kind = getattr(interlock, name)
    assert issubclass(kind, interlock.InterlockError) and issubclass(kind, ValueError)
    assert kind.__module__ == "interlock" and kind.__doc__


WARNINGS = """CutOutputWarning IncompleteTablesWarning TightBudgetWarning TrailingBlankWarning UnboundedNumberWarning
UnenforcedBoundWarning UnicodeClassWarning UnknownKeywordWarning UnusedSeedWarning""".split()


@pytest.mark.parametrize("name", [*KINDS, *WARNINGS])
def test_what_is_raised_is_shown_by_the_name_that_programs_know(name):
    """Tracebacks and warnings show the module, and a program catches `interlock.RequestError`."""
    kind = getattr(interlock, name)
    assert kind.__module__ == "interlock" and pickle.loads(pickle.dumps(kind)) is kind
    # doctest skips classes of another module by itself.
    for example in doctest.DocTestFinder().find(kind, name, module=False, globs=dict(vars(interlock))):
        example.globs[name] = kind
        assert doctest.DocTestRunner().run(example).failed == 0, example.name


def test_every_subclass_is_exported():
    """Also those of parts of the package that are imported late."""
    for module in pkgutil.walk_packages(interlock.__path__, "interlock."):
        with contextlib.suppress(ModuleNotFoundError):  # What an optional package is missing for.
            importlib.import_module(module.name) if not module.name.endswith("__main__") else None

    def below(kind):
        for one in kind.__subclasses__():
            yield one
            yield from below(one)

    found = {kind for kind in below(interlock.InterlockError) if kind.__module__.startswith("interlock")}
    assert {kind.__name__ for kind in found} == {*KINDS, "InternalError", "CancelledError"}
    for kind in found:
        assert getattr(interlock, kind.__name__) is kind and kind.__name__ in interlock.__all__


def test_internal_errors_are_ordinary_exceptions():
    assert issubclass(interlock.InternalError, interlock.InterlockError)
    assert issubclass(interlock.InternalError, Exception)
    assert not issubclass(interlock.InternalError, ValueError)


def test_attributes_are_always_there():
    error = interlock.TokenRejected("x")
    assert error.place == ""
    assert [error.offset, error.pointer, error.keyword, error.limit, error.value, error.field] == [None] * 6


def test_pattern_error(byte_vocabulary):
    with pytest.raises(interlock.PatternError) as caught:
        interlock.Index.from_regex("ab(c", byte_vocabulary)
    assert caught.value.offset == 2
    assert caught.value.place == "at offset 2" and caught.value.place in str(caught.value)


def test_errors_pickle(byte_vocabulary):
    with pytest.raises(interlock.PatternError) as caught:
        interlock.Index.from_regex("ab(c", byte_vocabulary)
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is interlock.PatternError and again.offset == 2 and str(again) == str(caught.value)


def test_limit_error(byte_vocabulary):
    text = json.dumps({"description": "x" * 100}, separators=(",", ":"))
    for limits in ({"max_source_bytes": 50}, interlock.Limits(max_source_bytes=50)):
        with pytest.raises(interlock.LimitError) as caught:
            interlock.Index.from_json_schema(text, byte_vocabulary, limits=limits)
        assert caught.value.limit == 50 and caught.value.value == len(text)
        assert caught.value.field == "max_source_bytes" and "Limits.max_source_bytes" in str(caught.value)


def test_unsatisfiable(byte_vocabulary):
    with pytest.raises(interlock.UnsatisfiableError) as caught:
        interlock.Index.from_json_schema(False, byte_vocabulary)
    assert caught.value.pointer == ""


@pytest.mark.parametrize(
    "call",
    [
        lambda v, i, n: i.guide(max_tokens=n),
        lambda v, i, n: i.build(threads=n),
        lambda v, i, n: i.automaton(max_states=n),
        lambda v, i, n: i.random_member(max_bytes=n),
        lambda v, i, n: interlock.fill_bitmasks([i.guide()], interlock.allocate_bitmask(1, v), threads=n),
        lambda v, i, n: interlock.Limits(max_depth=n),
        lambda v, i, n: interlock.Vocabulary([b"a", b""], eos_token_ids=[1], size=n),
    ],
)
def test_counts_cannot_be_negative(byte_vocabulary, call):
    index = interlock.Index.from_regex("a", byte_vocabulary)
    for n in (-1, -(2**70)):
        with pytest.raises(interlock.ArgumentError, match="negative"):
            call(byte_vocabulary, index, n)
    with pytest.raises(TypeError, match="must be an int, not float"):
        call(byte_vocabulary, index, 1.5)


def test_limits_object():
    limits = interlock.Limits(max_depth=5)
    assert limits.max_depth == 5 and limits.max_rules == interlock.Limits().max_rules
    assert limits == interlock.Limits(max_depth=5) != interlock.Limits()
    assert hash(limits) == hash(interlock.Limits(max_depth=5))
    assert "max_depth=5" in repr(limits) and "max_depth" in dir(limits)
    assert pickle.loads(pickle.dumps(limits)) == limits
    with pytest.raises(TypeError, match="max_depth"):
        interlock.Limits(depth=5)
    with pytest.raises(AttributeError, match="'depth'"):
        _ = limits.depth


@pytest.mark.parametrize(
    ("arguments", "options", "said"),
    [
        (([], [0]), {}, "the vocabulary is empty"),
        (([b"a"], []), {}, "no stop token: give eos_token_ids"),
        (([b"a"], [1]), {}, "eos_token_ids: id 1 is out of range: the size is 1"),
        (([b"a"], [-1]), {}, "eos_token_ids: id -1 is out of range"),
        (([b"a", b"b"], [0]), {"size": 1}, "size 1 is smaller than the number of tokens, 2"),
        (([b"a", b"b"], [0], [7]), {}, "special_token_ids: id 7 is out of range: the size is 2"),
    ],
)
def test_vocabulary_errors(arguments, options, said):
    with pytest.raises(interlock.VocabularyError, match=said):
        interlock.Vocabulary(*arguments, **options)


def test_vocabulary_type_errors():
    with pytest.raises(TypeError, match="tokens must hold bytes, but token 0 is str"):
        interlock.Vocabulary(["a"], [0])


@pytest.mark.parametrize("id", [300, -1, 2**40, 2**80])
def test_token_bytes_out_of_range(byte_vocabulary, id):
    with pytest.raises(interlock.VocabularyError, match="the token id .* is out of range: the size is 300"):
        byte_vocabulary.token_bytes(id)
    with pytest.raises(interlock.VocabularyError, match="token id .* is out of range"):
        byte_vocabulary.decode([id])


def test_vocabulary_properties(byte_vocabulary):
    assert len(byte_vocabulary) == 257 and byte_vocabulary.size == 300
    assert byte_vocabulary.eos_token_ids == [256]
    assert byte_vocabulary.token_bytes(97) == b"a" and byte_vocabulary.token_bytes(299) == b""
    assert byte_vocabulary.decode([104, 105, 256]) == b"hi"
    assert len(byte_vocabulary.fingerprint) == 64


class TestSources:
    """What can be handed over as a pattern or a schema."""

    def test_compiled_patterns(self, byte_vocabulary):
        plain = interlock.Index.from_regex(re.compile("ab"), byte_vocabulary)
        assert plain.fingerprint == interlock.Index.from_regex("ab", byte_vocabulary).fingerprint
        with pytest.raises(interlock.UnsupportedError, match="a pattern over bytes is not supported"):
            interlock.Index.from_regex(re.compile(b"ab"), byte_vocabulary)
        for source in (5, None, b"ab"):
            with pytest.raises(TypeError, match="pattern must be a str or a compiled re.Pattern, not "):
                interlock.Index.from_regex(source, byte_vocabulary)

    def test_flags_of_compiled_patterns(self, byte_vocabulary):
        guide = interlock.Index.from_regex(re.compile("ab", re.I), byte_vocabulary).guide()
        assert guide.validate(b"AB") == 2
        guide = interlock.Index.from_regex(re.compile("a."), byte_vocabulary, flags="s").guide()
        assert guide.validate(b"a\n") == 2
        with pytest.raises(interlock.ArgumentError, match="unknown pattern flag 'q'"):
            interlock.Index.from_regex("a", byte_vocabulary, flags="q")
        with pytest.raises(interlock.ArgumentError, match='dialect must be one of "python", "ecma", not "perl"'):
            interlock.Index.from_regex("a", byte_vocabulary, dialect="perl")

    def test_lone_surrogates(self, byte_vocabulary):
        with pytest.raises(interlock.PatternError):
            interlock.Index.from_regex("\ud800", byte_vocabulary)
        with pytest.raises(interlock.SchemaError):
            interlock.Index.from_json_schema('"\ud800"', byte_vocabulary)
        with pytest.raises(interlock.SchemaError):
            interlock.Index.from_json_schema({"const": "\ud800"}, byte_vocabulary)

    def test_numbers_that_are_no_ids_are_named(self, byte_vocabulary):
        index = interlock.Index.from_regex("a*", byte_vocabulary)
        guide = index.guide()
        tokens = [b"a", b""]
        shortened = "1" + "0" * 39 + r"\.\.\. \(101 digits\)"
        for n, said in [
            *((-1, "-1"), (2**32, str(2**32)), (2**63 - 1, str(2**63 - 1)), (2**70, str(2**70))),
            *(
                (10**30, str(10**30)),
                (-(10**30), str(-(10**30))),
                (10**100, shortened),
                (10**5000, "of so many digits"),
            ),
        ]:
            for error, call in [
                (interlock.VocabularyError, lambda n=n: interlock.Vocabulary(tokens, [n])),
                (interlock.VocabularyError, lambda n=n: interlock.Vocabulary(tokens, [1], special_token_ids=[n])),
                (interlock.VocabularyError, lambda n=n: byte_vocabulary.decode([97, n])),
                (interlock.ArgumentError, lambda n=n: index.guide(stop_token_ids=[n])),
            ]:
                with pytest.raises(error, match=f"id {said} is out of range"):
                    call()
            assert re.match(f"no token has the id {said}: ids", guide.explain(n))
            with pytest.raises(interlock.TokenRejected, match=f"no token has the id {said}: ids lie from 0 to "):
                guide.advance(n)
            with pytest.raises(interlock.VocabularyError, match=f"the token id {said} is out of range"):
                byte_vocabulary.token_bytes(n)
            assert guide.validate([97, n]) == guide.advance_many([97, n]) == 1
        with pytest.raises(interlock.ArgumentError, match=f"row {2**63 - 1} is out of range"):
            guide.fill_bitmask(interlock.allocate_bitmask(1, byte_vocabulary), 2**70)
        with pytest.raises(interlock.ArgumentError, match="roll back -"):
            guide.rollback(-(2**70))

    @pytest.mark.parametrize("option", ["whitespace", "property_order", "on_unsupported", "formats", "spelling"])
    def test_lone_surrogates_in_options(self, byte_vocabulary, option):
        with pytest.raises(interlock.ArgumentError, match="ud800"):
            interlock.Index.from_json_schema(True, byte_vocabulary, **{option: "\ud800"})
        with pytest.raises(interlock.ArgumentError, match="ud800"):
            interlock.Index.from_regex("a", byte_vocabulary, **{"dialect": "\ud800"})
        with pytest.raises(interlock.ArgumentError, match="ud800"):
            interlock.Index.from_regex("a", byte_vocabulary, limits={"\ud800": 1})

    def test_schema_forms_agree(self, byte_vocabulary):
        forms = ['{"const": 1}', b'{"const": 1}', {"const": 1}]
        prints = {interlock.Index.from_json_schema(form, byte_vocabulary).fingerprint for form in forms}
        assert len(prints) == 1
        assert interlock.Index.from_json_schema(True, byte_vocabulary).guide().validate(b"[1]") == 3

    def test_schema_model_class(self, byte_vocabulary):
        pydantic = pytest.importorskip("pydantic")
        model = pydantic.create_model("Point", x=(int, ...))
        index = interlock.Index.from_json_schema(model, byte_vocabulary, whitespace="compact")
        assert index.guide().validate(b'{"x":1}') == 7

    @pytest.mark.parametrize(
        ("schema", "said"),
        [
            ({"const": float("nan")}, "NaN and infinities are no JSON numbers"),
            ({"const": object()}, "the schema cannot be written as JSON: Object of type object"),
            (b"\xff", "the schema is not UTF-8"),
        ],
    )
    def test_what_is_not_json(self, byte_vocabulary, schema, said):
        with pytest.raises(interlock.SchemaError, match=said):
            interlock.Index.from_json_schema(schema, byte_vocabulary)

    def test_circular_and_deep(self, byte_vocabulary):
        circle = {}
        circle["not"] = circle
        with pytest.raises(interlock.SchemaError, match="the schema contains itself"):
            interlock.Index.from_json_schema(circle, byte_vocabulary)
        deep = {}
        for _ in range(100_000):
            deep = {"not": deep}
        with pytest.raises(interlock.LimitError, match="nested [0-9]+ levels deep, too deeply to be written"):
            interlock.Index.from_json_schema(deep, byte_vocabulary)

    @pytest.mark.parametrize("schema", [5, None, [], 1.5])
    def test_wrong_types(self, byte_vocabulary, schema):
        with pytest.raises(TypeError, match="schema must be JSON text .*, not "):
            interlock.Index.from_json_schema(schema, byte_vocabulary)

    @pytest.mark.parametrize("option", ["property_order", "on_unsupported", "formats"])
    def test_unknown_options(self, byte_vocabulary, option):
        with pytest.raises(interlock.ArgumentError, match=option):
            interlock.Index.from_json_schema(True, byte_vocabulary, **{option: "maybe"})

    def test_choices(self, byte_vocabulary):
        with pytest.raises(interlock.UnsatisfiableError, match="choices is empty"):
            interlock.Index.from_choices([], byte_vocabulary)
        with pytest.raises(TypeError, match="choices must be a sequence of str, not one str"):
            interlock.Index.from_choices("yes", byte_vocabulary)
        with pytest.raises(TypeError, match="choices must be str, not bytes"):
            interlock.Index.from_choices([b"yes"], byte_vocabulary)


def test_mappings_of_any_kind(byte_vocabulary):
    limits, documents = MappingProxyType({"max_depth": 3}), MappingProxyType({"http://x/y": {"type": "null"}})
    schema = {"$ref": "http://x/y"}
    index = interlock.Index.from_json_schema(schema, byte_vocabulary, documents=documents, limits=limits)
    assert index.guide().validate(list(b"null")) == 4
    with pytest.raises(interlock.LimitError):
        interlock.Index.from_regex("((((a))))", byte_vocabulary, limits=limits)
    with pytest.raises(TypeError, match="documents"):
        interlock.Index.from_json_schema(schema, byte_vocabulary, documents=["http://x/y"])


def test_a_model_without_a_schema(byte_vocabulary):
    class Model:
        @classmethod
        def model_json_schema(cls):
            raise RuntimeError("no schema for a callable")

    with pytest.raises(interlock.SchemaError, match="no schema for a callable") as raised:
        interlock.Index.from_json_schema(Model, byte_vocabulary)
    assert isinstance(raised.value.__cause__, RuntimeError)
