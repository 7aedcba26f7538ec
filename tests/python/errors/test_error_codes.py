"""Errors carry a fixed word and a name where something is done about them, so that nobody reads the message for it."""

import re
from pathlib import Path

import pytest

import interlock
from interlock import Index

ROOT = Path(__file__).parents[3]


def grammar(text, **options):
    return lambda: interlock.check_grammar(text, **options)


def pattern(text, **options):
    return lambda: interlock.check_regex(text, **options)


def whitespace(text):
    return lambda: interlock.check_json_schema({"type": "array"}, whitespace=text)


@pytest.mark.parametrize(
    ("call", "code", "subject"),
    [
        (grammar('start: "a" start\n'), "endless_rule", "start"),
        (grammar('root ::= "a"\n'), "other_notation", "gbnf"),
        (grammar('start: "a"\n', syntax="gbnf"), "other_notation", "lark"),
        (grammar("%import mine.A\nstart: A\n"), "unknown_import", "mine"),
        (grammar("start: @mine\n"), "unknown_grammar", "mine"),
        (grammar('a: "a"\n'), "no_start", "start"),
        (pattern(r"(a|b)\1"), "backreference", None),
        (pattern(r"(a|b)\1", dialect="ecma"), "backreference", None),
        (pattern("a{9999999999}"), "repeat_count", None),
        (pattern("(?=a)b"), "impossible_part", "look"),
        (pattern("a$b"), "impossible_part", "edge"),
        (pattern(r"a\bb"), "impossible_part", "other"),
        (pattern("(ab"), None, None),
        (whitespace("("), "whitespace_pattern", None),
        (whitespace("x+"), "whitespace_pattern", None),
        (whitespace(r"[^\s\S]"), "whitespace_pattern", None),
        (whitespace(r"(a)\1"), "whitespace_pattern", None),
    ],
)
def test_codes_of_sources(call, code, subject):
    with pytest.raises(interlock.InterlockError) as caught:
        call()
    assert (caught.value.code, caught.value.subject) == (code, subject)


def test_codes_of_questions(byte_vocabulary):
    index = Index.from_grammar('start: "(" start ")" | "x"', byte_vocabulary)
    with pytest.raises(interlock.UnsupportedError) as caught:
        index.language_size()
    assert caught.value.code == "no_automaton"
    words = [bytes([i]) for i in range(256) if i != ord("x")] + [b"xy", b""]
    few = interlock.Vocabulary(words, len(words) - 1)
    with pytest.raises(interlock.UnsupportedError) as caught:
        Index.from_regex("[a-z]+", few).language_size()
    assert caught.value.code == "missing_byte_tokens"


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "not_a_tokenizer"),
        (b"hello, this is no tokenizer", "not_a_tokenizer"),
        (b'{"a": 1}', "not_a_tokenizer"),
        (b'{"model": {', "cut_off"),
        (b'{"model": [}', None),
    ],
)
def test_codes_of_tokenizer_files(tmp_path, data, code):
    (tmp_path / "tokenizer.json").write_bytes(data)
    with pytest.raises(interlock.VocabularyError) as caught:
        interlock.Vocabulary.from_file(tmp_path / "tokenizer.json")
    assert caught.value.code == code


def test_codes_of_index_files(tmp_path, byte_vocabulary):
    path = tmp_path / "a.index"
    Index.from_regex("a", byte_vocabulary).save(path)
    other = interlock.Vocabulary([b"a", b""], 1)
    with pytest.raises(interlock.ArtifactError) as caught:
        Index.load(path, other)
    assert caught.value.code == "other_vocabulary"
    assert byte_vocabulary.fingerprint.startswith(caught.value.subject[:12])
    data = bytearray(path.read_bytes())
    data[32:64] = b"9.9.9".ljust(32, b"\0")
    path.write_bytes(data)
    with pytest.raises(interlock.ArtifactError) as caught:
        Index.load(path, byte_vocabulary)
    assert (caught.value.code, caught.value.subject) == ("other_version", "9.9.9")


def test_errors_have_no_code_unless_they_are_given_one():
    assert interlock.SchemaError("a").code is None and interlock.SchemaError("a").subject is None


def test_codes_that_python_compares_are_there():
    """A code that nobody gives is never met: what hangs on it would be lost in silence."""
    source = ROOT / "src" / "error" / "code.rs"
    if not source.is_file():
        pytest.skip("the sources of the core are not here")
    known = set(re.findall(r'=> "(\w+)"', source.read_text(encoding="utf-8")))
    compared = set()
    for path in (ROOT / "python" / "interlock").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        known |= set(re.findall(r'\bcode ?= ?"(\w+)"', text))
        compared |= set(re.findall(r'\bcode [!=]= "(\w+)"', text))
    assert len(compared) >= 10 and compared <= known
