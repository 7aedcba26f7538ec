"""Indexes in files."""

import pickle
from pathlib import Path

import pytest

import interlock

pytestmark = pytest.mark.usefixtures("compiled_anew")


@pytest.fixture
def indexes(byte_vocabulary):
    return [
        interlock.Index.from_choices(["yes", "nö"], byte_vocabulary),
        interlock.Index.from_regex("a.c", byte_vocabulary, flags="si", limits=interlock.Limits(max_depth=20)),
        interlock.Index.from_json_schema(
            {"$ref": "http://example.org/x"},
            byte_vocabulary,
            whitespace="compact",
            documents={"http://example.org/x": {"const": "é"}},
        ),
    ]


def test_round_trip(indexes, byte_vocabulary, tmp_path):
    for index in indexes:
        path = tmp_path / "index"
        index.save(path)
        for again in (interlock.Index.load(path, byte_vocabulary), interlock.Index.load(str(path), byte_vocabulary)):
            assert again.fingerprint == index.fingerprint
            assert again.guide().allowed_token_ids().tolist() == index.guide().allowed_token_ids().tolist()
    assert [p.name for p in tmp_path.iterdir()] == ["index"]


def test_same_index_same_bytes(indexes, byte_vocabulary, tmp_path):
    for index in indexes:
        index.save(tmp_path / "a")
        interlock.Index.load(tmp_path / "a", byte_vocabulary).save(tmp_path / "b")
        assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_another_vocabulary(indexes, word_vocabulary, tmp_path):
    indexes[0].save(tmp_path / "a")
    with pytest.raises(interlock.ArtifactError, match="vocabulary"):
        interlock.Index.load(tmp_path / "a", word_vocabulary)


def test_another_version(indexes, byte_vocabulary, tmp_path):
    path = tmp_path / "a"
    indexes[0].save(path)
    path.write_bytes(path.read_bytes().replace(interlock.__version__.encode(), b"9.9.9", 1))
    with pytest.raises(interlock.ArtifactError, match="version"):
        interlock.Index.load(path, byte_vocabulary)


def test_damage_is_noticed(indexes, byte_vocabulary, tmp_path):
    path = tmp_path / "a"
    indexes[1].save(path)
    whole = path.read_bytes()
    for cut in range(0, len(whole), 7):
        path.write_bytes(whole[:cut])
        with pytest.raises(interlock.ArtifactError):
            interlock.Index.load(path, byte_vocabulary)
    for i in range(0, len(whole), 3):
        path.write_bytes(whole[:i] + bytes([whole[i] ^ 0x15]) + whole[i + 1 :])
        with pytest.raises(interlock.ArtifactError):
            interlock.Index.load(path, byte_vocabulary)


def test_no_such_file(indexes, byte_vocabulary, tmp_path):
    with pytest.raises(interlock.ArtifactError):
        interlock.Index.load(tmp_path / "missing", byte_vocabulary)
    with pytest.raises(interlock.ArtifactError):
        indexes[0].save(tmp_path / "missing" / "x")


def test_vocabulary_from_a_file(llama3, tmp_path):
    """The tokenizer file of the same wheel says the same."""
    import zipfile

    from real_vocabulary import MEMBER, SPECIAL, wheel

    path = tmp_path / "tokenizer.model"
    with zipfile.ZipFile(wheel()) as archive:
        path.write_bytes(archive.read(MEMBER))
    vocabulary = interlock.Vocabulary.from_file(path, eos_token_ids=llama3.eos_token_ids, size=llama3.size)
    assert vocabulary.size == llama3.size and vocabulary.eos_token_ids == llama3.eos_token_ids
    for id in range(0, llama3.size - SPECIAL, 997):
        assert vocabulary.token_bytes(id) == llama3.token_bytes(id)
    one = interlock.Vocabulary.from_file(str(path), eos_token_ids=llama3.eos_token_ids[0], size=llama3.size)
    assert one == vocabulary
    with pytest.raises(interlock.VocabularyError):
        interlock.Vocabulary.from_file(tmp_path / "missing", eos_token_ids=[0])


def test_spelling_is_part_of_the_recipe(byte_vocabulary: interlock.Vocabulary, tmp_path: Path) -> None:
    schema = {"properties": {"a": {"const": 1.0}}, "additionalProperties": False}
    store = interlock.Store(tmp_path)
    made = {}
    for spelling in (None, "any", "plain"):
        options = {"whitespace": "compact", "spelling": spelling}
        made[spelling] = interlock.Index.from_json_schema(schema, byte_vocabulary, **options)
        key = store.key_of("json_schema", schema, byte_vocabulary, **options)
        kept = store.get_or_compile("json_schema", schema, byte_vocabulary, **options)
        assert kept.fingerprint == made[spelling].fingerprint and key in store
        made[spelling].save(tmp_path / f"{key}.own")
        again = interlock.Index.load(tmp_path / f"{key}.own", byte_vocabulary)
        assert again.fingerprint == pickle.loads(pickle.dumps(made[spelling])).fingerprint == made[spelling].fingerprint
    assert len({index.fingerprint for index in made.values()}) == len(list(tmp_path.glob("*.own"))) == 3
    text = [byte for byte in b'{"\\u0061":1.0}']
    assert [index.guide().validate(text) for index in made.values()] == [2, len(text), 2]
    with pytest.raises(interlock.InterlockError, match="spelling must be one of"):
        interlock.Index.from_json_schema(schema, byte_vocabulary, spelling="short")  # type: ignore[arg-type]


TAG = {
    "type": "structural_tag",
    "format": {"type": "tag", "begin": "<n>", "content": {"type": "regex", "pattern": "[0-9]+"}, "end": "</n>"},
}
TOOLS = [{"name": "now", "parameters": {"type": "object", "properties": {"zone": {"enum": ["utc", "local"]}}}}]
#: Every kind: a source, options, and other options, which make another index.
KINDS = [
    ("regex", "[a-z]+", {}, {"flags": "i"}),
    ("json_schema", {"type": "boolean"}, {}, {"whitespace": "compact"}),
    ("choices", ["yes", "no"], {}, {"limits": {"max_depth": 9}}),
    ("grammar", 'start: "a" start | "b"', {}, {"lexer": "any"}),
    ("structural_tag", TAG, {}, {"limits": {"max_depth": 9}}),
    ("structural_tag", {"type": "json_schema", "json_schema": {"properties": {"a": {}}}}, {}, {"closed": True}),
    ("tools", TOOLS, {"format": "hermes"}, {"format": "hermes", "tool_choice": "required"}),
    ("response_format", {"type": "regex", "pattern": "a+"}, {}, {"limits": {"max_depth": 9}}),
    ("response_format", {"guided_choice": ["a", "b"]}, {}, {"limits": {"max_depth": 9}}),
    ("response_format", {"type": "json_object"}, {}, {"whitespace": "compact"}),
    ("response_format", {"type": "grammar", "grammar": 'root ::= "a"'}, {}, {"limits": {"max_depth": 9}}),
    ("response_format", TAG, {}, {"limits": {"max_depth": 9}}),
    ("response_format", {"type": "text"}, {}, {"limits": {"max_depth": 9}}),
]


def test_a_store_is_a_collection_of_keys(byte_vocabulary, tmp_path):
    store = interlock.Store(tmp_path)
    assert len(store) == 0 and list(store) == [] and store  # `store or other` asks whether there is one.
    keys = [store.put(interlock.Index.from_regex(pattern, byte_vocabulary)) for pattern in ("a", "b", "c")]
    assert len(store) == 3 and sorted(store) == sorted(keys) == [entry.key for entry in store.entries()]
    assert all(key in store for key in store) and "0" * 64 not in store


@pytest.mark.parametrize(
    ("kind", "source", "options", "others"), KINDS, ids=[f"{k[0]}-{i}" for i, k in enumerate(KINDS)]
)
def test_every_kind_of_source(kind, source, options, others, byte_vocabulary, tmp_path):
    store = interlock.Store(tmp_path)
    key = store.key_of(kind, source, byte_vocabulary, **options)
    made = store.get_or_compile(kind, source, byte_vocabulary, **options)
    assert made == getattr(interlock.Index, f"from_{kind}")(source, byte_vocabulary, **options)
    assert key in store and store.get(key, byte_vocabulary) == made and store.compiled == 1
    again = interlock.Store(tmp_path)
    assert again.get_or_compile(kind, source, byte_vocabulary, **options) == made and again.compiled == 0
    assert store.key_of(kind, source, byte_vocabulary, **others) != key
    assert store.verify() == []


def test_errors_of_tags_in_a_store(byte_vocabulary, tmp_path):
    store = interlock.Store(tmp_path)
    with pytest.raises(interlock.StructuralTagError) as caught:
        store.get_or_compile("structural_tag", {"type": "regex", "pattern": "a("}, byte_vocabulary)
    assert caught.value.pointer == "/pattern"
    with pytest.raises(interlock.ArgumentError, match="no option of kind 'structural_tag' is named 'format'"):
        store.key_of("structural_tag", TAG, byte_vocabulary, format="hermes")
    with pytest.raises(interlock.ArgumentError, match="no option of kind 'tools' is named 'formt'; there are format, "):
        store.key_of("tools", TOOLS, byte_vocabulary, formt="hermes")
    with pytest.raises(interlock.ArgumentError, match="kind must be one of 'regex', .*'structural_tag', 'tools'"):
        store.key_of("pattern", "a", byte_vocabulary)
    special = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b"<|im_start|>", b""], 257, [256])
    for kind, source in (
        ("structural_tag", {"type": "token", "token": "<|im_start|>"}),
        ("response_format", {"type": "grammar", "grammar": "start: <|im_start|>", "syntax": "lark"}),
    ):
        with pytest.raises(interlock.StructuralTagError, match="may not be named"):
            store.get_or_compile(kind, source, special, allowed_tokens=[])
        assert store.get_or_compile(kind, source, special, allowed_tokens="all").guide().try_advance(256)
    assert store.get_or_compile("structural_tag", {"type": "token", "token": "<|im_start|>"}, special) is not None
    with pytest.raises(interlock.StructuralTagError, match="may not be named"):
        store.get_or_compile("response_format", {"type": "grammar", "grammar": "start: <|im_start|>"}, special)
    assert len(store.entries()) == 2
