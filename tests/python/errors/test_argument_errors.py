"""Arguments of a wrong kind: the error names the argument and what to do, and nothing is left half done."""

import pathlib

import numpy as np
import pytest

import interlock
from interlock import Guide, Index, Vocabulary

TOKENS = [b"a", b"b", b""]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda v: Index.from_regex(v, r"\d"), "vocabulary must be .* not str; .* pattern comes first"),
        (lambda v: Index.from_json_schema(v, {}), "vocabulary must be .* not dict; .* schema comes first"),
        (lambda v: Index.from_choices(v, ["a"]), "vocabulary must be .* not list; .* choices comes first"),
        (lambda v: Index.from_regex("a", 5), "vocabulary must be .* not int; .*from_tokenizer"),
        (lambda v: Index.from_regex("a", None), "vocabulary must be .* not NoneType; .*from_tokenizer"),
        (lambda v: Index.from_regex(5, v), "pattern must be .* not int"),
        (lambda v: Index.from_choices(5, v), "choices must be .* not int"),
        (lambda v: Vocabulary(["a", "b"], [0]), r"token 0 is str: .*text.encode\(\)"),
        (lambda v: Vocabulary([b"a", 98], [0]), "token 1 is int"),
        (lambda v: Vocabulary({"a": 0, "b": 1}, [0]), "tokens must be a list of bytes .* not dict; .*from_tokenizer"),
        (lambda v: Vocabulary("ab", [0]), "tokens must be a list of bytes .* not str"),
        (lambda v: Vocabulary(b"ab", [0]), "tokens must be a list of bytes .* not bytes"),
        (lambda v: Vocabulary(5, [0]), "tokens must be a list of bytes .* not int"),
        (lambda v: Vocabulary(TOKENS, "</s>"), "eos_token_ids must be a token id or several.* not str"),
        (lambda v: Vocabulary(TOKENS, 1.5), "eos_token_ids must be a token id or several.* not float"),
        (lambda v: Vocabulary(TOKENS, None), "eos_token_ids must be a token id or several.* not NoneType"),
        (lambda v: Vocabulary(TOKENS, [2], ["<s>"]), "special_token_ids must be a token id or several"),
        (
            lambda v: Index.from_regex("a", v).guide(stop_token_ids="</s>"),
            "stop_token_ids must be a token id or several",
        ),
        (lambda v: Index.from_json_schema(pathlib.Path("order.json"), v), r"not PosixPath; .*path.read_text\(\)"),
        (lambda v: Index.from_json_schema(["a", "b"], v), "not list; Index.from_choices .*enum"),
        (lambda v: Index.from_json_schema(int, v), "not type; interlock.index_from_type"),
        (lambda v: Index.from_json_schema(list[int], v), "interlock.index_from_type"),
        (lambda v: Index.from_json_schema(5, v), "schema must be JSON text .* not int; what a client sent"),
        (lambda v: interlock.allocate_bitmask(v, 1), "batch must be a number of rows, not Vocabulary"),
        (lambda v: interlock.allocate_bitmask(1, "x"), "v_or_size must be a Vocabulary or the width .* not str"),
        (lambda v: interlock.allocate_bitmask(1.5, v), "batch must be a number of rows, not float"),
        (lambda v: Index("a", v), r"Index\.from_regex\(pattern, vocabulary\)"),
        (lambda v: Index(), r"Index\.from_regex, from_json_schema, from_choices or from_grammar"),
        (lambda v: Index(regex="a", vocabulary=v), "from_choices or from_grammar"),
        (lambda v: Guide(Index.from_regex("a", v)), r"index\.guide\(\)"),
        (lambda v: Guide(), r"index\.guide\(\)"),
    ],
)
def test_wrong_types(byte_vocabulary, call, said):
    with pytest.raises(TypeError, match=said):
        call(byte_vocabulary)


@pytest.mark.parametrize("name", ["order.json", "a/b/Order.JSON", "./x.yaml", "C:\\x\\y.yml", ".json"])
def test_names_of_files(byte_vocabulary, name):
    with pytest.raises(interlock.SchemaError, match="looks like the name of a file; .*read_text") as caught:
        Index.from_json_schema(name, byte_vocabulary)
    assert caught.value.offset == 0 and repr(name).strip("'\"") in str(caught.value).replace("\\\\", "\\\\")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"$ref": "#"} \n', "the schema applies to itself"),
        ("order", "the schema is not JSON: a value is expected"),
        ("order.jso", "the schema is not JSON: a value is expected"),
        ('"x.json"', "a schema must be an object or a boolean"),
    ],
)
def test_what_is_no_name_of_a_file(byte_vocabulary, text, said):
    with pytest.raises(interlock.SchemaError, match=f"^{said}") as caught:
        Index.from_json_schema(text, byte_vocabulary)
    assert "name of a file" not in str(caught.value)


@pytest.mark.parametrize("text", ['{"const": "a.json"}', "true"])
def test_schemas_that_name_a_file(byte_vocabulary, text):
    assert Index.from_json_schema(text, byte_vocabulary).guide().validate(b'"a.json"') == 8


def test_no_choices(byte_vocabulary):
    for empty in ([], (), iter([])):
        with pytest.raises(interlock.UnsatisfiableError, match="choices is empty.*give one string"):
            Index.from_choices(empty, byte_vocabulary)
    assert Index.from_choices([""], byte_vocabulary).guide().is_accepting


@pytest.mark.parametrize("id", [-1, 2**40, -(2**33)])
def test_ids_that_are_none_are_named(byte_vocabulary, id):
    guide = Index.from_regex("a*", byte_vocabulary).guide()
    with pytest.raises(interlock.TokenRejected, match=f"no token has the id {id}: ids lie from 0 to 299"):
        guide.advance(id)
    assert guide.try_advance(id) is False and str(id) in guide.explain(id) and guide.num_tokens == 0
    with pytest.raises(interlock.VocabularyError, match=f"the token id {id} is out of range: the size is 300"):
        byte_vocabulary.token_bytes(id)


@pytest.mark.parametrize(
    ("schema", "pointer", "key"),
    [
        ({1: 2}, "", "1 is int"),
        ({"properties": {"a": {"enum": [1, {True: 0}]}}}, "/properties/a/enum/1", "True is bool"),
        ({"anyOf": ({"a/b~": {None: 1}},)}, "/anyOf/0/a~1b~0", "None is NoneType"),
        ({"const": {1.5: []}}, "/const", "1.5 is float"),
    ],
)
def test_keys_must_be_strings(byte_vocabulary, schema, pointer, key):
    with pytest.raises(interlock.SchemaError, match=f"the key {key}: keys of a JSON object are str") as caught:
        Index.from_json_schema(schema, byte_vocabulary)
    assert caught.value.pointer == pointer
    with pytest.raises(interlock.SchemaError, match="keys of a JSON object"):
        Index.from_json_schema({"$ref": "http://x/y"}, byte_vocabulary, documents={"http://x/y": schema})


@pytest.mark.parametrize(("columns", "words"), [(500, 9), (257, 10), (288, 10), (1, 2), (33, 1), (0, 1)])
def test_logits_of_another_width(columns, words):
    logits, bits = np.ones((2, columns), np.float32), np.zeros((2, words), np.int32)
    with pytest.raises(
        interlock.ArgumentError, match=f"logits have {columns} columns?, .* and bits has {words}: .*size"
    ):
        interlock.apply_bitmask(logits, bits)
    assert (logits == 1).all()
    with pytest.raises(interlock.ArgumentError, match=f"logits have {columns} columns?"):
        interlock.apply_bitmask(logits[0], bits[0])


def test_bits_beyond_the_logits_mean_nothing():
    for beyond in (0, -1, 1 << 20):
        logits = np.ones((1, 34), np.float32)
        interlock.apply_bitmask(logits, np.array([[1, 2 | (beyond & ~3)]], np.int32))
        assert np.flatnonzero(logits[0] == 1).tolist() == [0, 33]


def test_one_stop_id_or_several():
    for given in (2, np.int64(2), [2], (2, 2), np.array([2]), iter([2])):
        vocabulary = Vocabulary(TOKENS, given)
        assert vocabulary.eos_token_ids == [2]
    vocabulary = Vocabulary([*TOKENS, b"<s>"], 2, 3)
    assert vocabulary.special_token_ids == [3]
    index = Index.from_regex("a", vocabulary)
    for given in (3, [3], np.int32(3)):
        guide = index.guide(stop_token_ids=given)
        guide.advance(0)
        assert guide.allowed_token_ids().tolist() == [3]
