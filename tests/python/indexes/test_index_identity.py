"""What an index and a guide say of themselves: equality, kind, source, and what `repr` shows."""

import json
import pickle

import pytest

from interlock import Index, Vocabulary


@pytest.fixture
def made(byte_vocabulary):
    v = byte_vocabulary
    return [
        (Index.from_regex("a+", v), "regex", "a+"),
        (Index.from_json_schema({"const": "é"}, v), "json_schema", '{"const":"é"}'),
        (Index.from_json_schema(b'{ "const": 1 }', v), "json_schema", '{"const":1}'),
        (Index.from_json_schema(True, v), "json_schema", "true"),
        (Index.from_choices(["yes", "né"], v), "choices", json.dumps(["yes", "né"])),
    ]


def test_kind_and_source(made, byte_vocabulary, tmp_path):
    for index, kind, source in made:
        index.save(tmp_path / "index")
        loaded = Index.load(tmp_path / "index", byte_vocabulary)
        for one in (index, loaded, pickle.loads(pickle.dumps(index))):
            assert (one.kind, one.source) == (kind, source) and one == index
        assert f"of a {kind}," in repr(index)


def test_equality(byte_vocabulary, word_vocabulary):
    v = byte_vocabulary
    same = [Index.from_regex("a|b", v) for _ in range(2)]
    assert same[0] == same[1] and hash(same[0]) == hash(same[1]) and len({*same}) == 1
    others = [
        Index.from_regex("b|a", v),
        Index.from_regex("a|b", v, flags="i"),
        Index.from_regex("a|b", word_vocabulary),
        Index.from_choices(["a", "b"], v),
        "a|b",
        None,
    ]
    assert all(same[0] != other and not same[0] == other for other in others)
    assert len({*same, *others}) == 1 + len(others)
    same[0].build()
    assert same[0] == same[1] and hash(same[0]) == hash(same[1])


def test_a_guide_shows_the_end_of_its_text(byte_vocabulary):
    guide = Index.from_regex("[a-zé\\n]*", byte_vocabulary).guide()
    assert repr(guide) == '<interlock.Guide after 0 tokens, text "">'
    guide.advance_many(b"ab\n")
    assert repr(guide) == r'<interlock.Guide after 3 tokens, text "ab\n">'
    guide.advance_many("é".encode()[:1])
    assert repr(guide) == '<interlock.Guide after 4 tokens, text "ab\\n\ufffd">'
    guide.reset()
    guide.advance_many(b"x" * 40)
    assert repr(guide) == f'<interlock.Guide after 40 tokens, text "{"x" * 40}">'
    guide.advance_many(b"yz")
    assert repr(guide) == f'<interlock.Guide after 42 tokens, text ..."{"x" * 38}yz">'
    guide.advance_many(b"z" * 10_000)
    assert repr(guide) == f'<interlock.Guide after 10042 tokens, text ..."{"z" * 40}">'
    guide.advance(256)
    assert repr(guide) == f'<interlock.Guide after 10043 tokens, text ..."{"z" * 40}", terminated>'


def test_a_text_of_long_tokens_is_shown_shortened():
    vocabulary = Vocabulary([b"ab" * 50, b"c", b""], 2)
    guide = Index.from_regex("(ab)*c?", vocabulary).guide()
    guide.advance_many([0, 0, 1])
    assert repr(guide) == f'<interlock.Guide after 3 tokens, text ..."{("ab" * 20)[1:]}c">'
