"""Files that were to have tables and have none say so."""

from __future__ import annotations

import json
import warnings

import pytest
from command_line import here, machine

import interlock

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}
LARGE = {"type": "object", "properties": {f"k{i}": {"type": "string", "maxLength": 900} for i in range(50)}}


def lacking(letters: bytes) -> interlock.Vocabulary:
    spellings = [bytes([byte]) for byte in range(256) if byte not in letters]
    return interlock.Vocabulary([*spellings, b""], eos_token_ids=[len(spellings)])


@pytest.mark.parametrize("way", ["save", "build"])
def test_a_file_without_tables_warns(tmp_path, way):
    vocabulary = lacking(b"QZ")
    index = interlock.Index.from_json_schema(SCHEMA, vocabulary)
    if way == "build":
        index.build()
    with pytest.warns(interlock.IncompleteTablesWarning, match=r"no token for 2 single bytes \(0x51, 0x5a\)") as seen:
        index.save(tmp_path / "a.ilk", tables=way == "save")
    assert seen[0].filename == __file__
    loaded = interlock.Index.load(tmp_path / "a.ilk", vocabulary)
    assert loaded == index and not loaded.is_complete


@pytest.mark.parametrize(
    ("source", "letters", "tables"),
    [
        (SCHEMA, b"", True),
        (SCHEMA, b"\xc0\xc1\xf5\xff", True),
        (SCHEMA, b"QZ", False),
        (LARGE, b"", True),
    ],
)
def test_where_nothing_is_missing_nothing_is_said(tmp_path, source, letters, tables):
    index = interlock.Index.from_json_schema(source, lacking(letters))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        index.save(tmp_path / "a.ilk", tables=tables)


def test_patterns_and_choices_have_tables_in_any_case(tmp_path):
    vocabulary = lacking(b"QZ")
    for index in (
        interlock.Index.from_regex("[A-Z]+", vocabulary),
        interlock.Index.from_choices(["a", "b"], vocabulary),
    ):
        index.save(tmp_path / "a.ilk", tables=True)
        assert interlock.Index.load(tmp_path / "a.ilk", vocabulary).is_complete


def test_a_store_is_silent(tmp_path):
    store = interlock.Store(tmp_path, tables=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        store.put(interlock.Index.from_json_schema(SCHEMA, lacking(b"QZ")))


def test_the_command_says_it(tmp_path):
    lacking(b"QZ").save(tmp_path / "v.ilk")
    (tmp_path / "s.json").write_text(json.dumps(SCHEMA))
    arguments = ["compile", "s.json", "-t", "v.ilk", "-o", "o.ilk"]
    done = here(tmp_path, *arguments)
    assert done.returncode == 0 and "none: the vocabulary has no token for 2 single bytes" in done.stdout
    assert "Warning" not in done.stderr
    assert machine(tmp_path, *arguments)["states"] is None


def test_a_missing_or_another_vocabulary_is_named(tmp_path):
    index = interlock.Index.from_regex("a", lacking(b""))
    path = tmp_path / "x.ilk"
    index.save(path)
    with pytest.raises(TypeError, match=r"missing the argument vocabulary: .* Vocabulary.from_tokenizer\(tokenizer\)"):
        interlock.Index.load(path)
    with pytest.raises(TypeError, match="vocabulary must be an interlock.Vocabulary, not NoneType"):
        interlock.Index.load(path, None)
    other = lacking(b"z")
    with pytest.raises(interlock.ArtifactError, match="is for the vocabulary") as caught:
        interlock.Index.load(path, other)
    known = index.vocabulary.fingerprint[:12]
    assert caught.value.hint == (
        f"pass the vocabulary whose fingerprint begins with {known}, or compile the source for this one"
    )
    assert not caught.value.is_client_error and caught.value.__cause__ is None
    assert interlock.Index.load(path=path, vocabulary=index.vocabulary) == index
    assert "The index in a file" in interlock.Index.load.__doc__
