"""Forced tokens, with a small byte-level BPE written by the test."""

import copy
import json
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import interlock

PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
MERGES = ["n a", "m e", "na me", '" :', '{ "', "a g", "ag e", "t r", "u e", "tr ue"]
EOS = 300


def letters() -> dict[int, str]:
    others = [*range(0x21), *range(0x7F, 0xA1), 0xAD]
    return {b: chr(0x100 + others.index(b)) if b in others else chr(b) for b in range(256)}


def write(folder: Path, **model: object) -> Path:
    pieces = [*letters().values(), *(merge.replace(" ", "") for merge in MERGES)]
    document = {
        "normalizer": None,
        "added_tokens": [{"id": EOS, "content": "<end>", "special": True}],
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [
                {"type": "Split", "pattern": {"Regex": PATTERN}, "behavior": "Isolated", "invert": False},
                {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False},
            ],
        },
        "decoder": {"type": "ByteLevel"},
        "model": {
            "type": "BPE",
            "vocab": {p: i for i, p in enumerate(pieces)} | {"<end>": EOS},
            "merges": MERGES,
            **model,
        },
    }
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(document))
    return path


@pytest.fixture
def vocabulary(tmp_path: Path) -> interlock.Vocabulary:
    return interlock.Vocabulary.from_file(write(tmp_path), eos_token_ids=EOS)


PERSON = r'\{"name":"me","age":-?[0-9]\}'


def spell(vocabulary: interlock.Vocabulary, ids: list[int]) -> list[bytes]:
    return [vocabulary.token_bytes(i) for i in ids]


def test_a_pack_holds_how_the_tokenizer_encodes(vocabulary: interlock.Vocabulary, tmp_path: Path) -> None:
    forced = interlock.Index.from_regex(PERSON, vocabulary).guide().forced_tokens()
    plain = interlock.Vocabulary(
        [vocabulary.token_bytes(i) for i in range(len(vocabulary))],
        vocabulary.eos_token_ids,
        vocabulary.special_token_ids,
        vocabulary.size,
    )
    vocabulary.save(tmp_path / "model.ilk")
    plain.save(tmp_path / "plain.ilk")
    assert plain == vocabulary and interlock.Index.from_regex(PERSON, plain).guide().forced_tokens() == []
    # Whatever this process has, and in one that has nothing yet.
    code = (
        "import sys, interlock\n"
        "v = interlock.Vocabulary.load(sys.argv[1])\n"
        "print(interlock.Index.from_regex(sys.argv[2], v).guide().forced_tokens())"
    )
    for name, wanted in (("model", forced), ("plain", [])):
        path = tmp_path / f"{name}.ilk"
        loaded = interlock.Vocabulary.load(path)
        assert interlock.Index.from_regex(PERSON, loaded).guide().forced_tokens() == wanted
        again = pickle.loads(pickle.dumps(loaded))
        assert interlock.Index.from_regex(PERSON, again).guide().forced_tokens() == wanted
        done = subprocess.run([sys.executable, "-c", code, path, PERSON], capture_output=True, text=True, check=True)
        assert json.loads(done.stdout) == wanted


def test_certain_tokens_of_a_run(vocabulary: interlock.Vocabulary) -> None:
    guide = interlock.Index.from_regex(PERSON, vocabulary).guide()
    assert guide.forced_bytes() == b'{"name":"me","age":'
    forced = guide.forced_tokens()
    # A digit or a sign follows. A sign belongs to the piece of `":`, but nothing merges with it.
    assert spell(vocabulary, forced) == [b'{"', b"name", b'":', b'"', b"me", b'"', b",", b'"', b"age", b'":']
    assert guide.num_tokens == 0
    for i, token in enumerate(forced):
        assert guide.forced_tokens() == forced[i:]
        guide.advance(token)
    assert guide.forced_tokens() == []
    guide.rollback(4)
    assert guide.forced_tokens() == forced[-4:]
    assert pickle.loads(pickle.dumps(guide)).forced_tokens() == forced[-4:]
    assert copy.copy(guide).forced_tokens() == forced[-4:]


def test_nothing_is_forced_after_another_spelling(vocabulary: interlock.Vocabulary) -> None:
    guide = interlock.Index.from_regex(PERSON, vocabulary).guide()
    brace = next(i for i in range(266) if vocabulary.token_bytes(i) == b"{")
    guide.advance(brace)
    assert guide.forced_bytes() != b"" and guide.forced_tokens() == []
    guide.rollback(1)
    assert len(guide.forced_tokens()) == 10


def test_the_context_belongs_to_the_first_piece(vocabulary: interlock.Vocabulary) -> None:
    index = interlock.Index.from_choices(["true", "true.."], vocabulary)
    ids = {vocabulary.token_bytes(i): i for i in range(266)}
    # The word goes on in neither choice, and the output may end behind it.
    assert spell(vocabulary, index.guide().forced_tokens()) == [b"true"]
    assert index.guide(context_ids=[EOS]).forced_tokens() == [ids[b"true"]]
    assert index.guide(context_ids=[ids[b"x"], EOS, ids[b" "]]).forced_tokens() == [ids[b"true"]]
    # "xtrue" is one piece, in which the same merges happen; "etrue" after "u" is not what the merges make.
    assert index.guide(context_ids=[ids[b"t"], ids[b"r"]]).forced_tokens() == []


@pytest.mark.parametrize("bad", [-1, 301, 2**40])
def test_a_context_outside_the_vocabulary_is_refused(vocabulary: interlock.Vocabulary, bad: int) -> None:
    index = interlock.Index.from_choices(["true", "true.."], vocabulary)
    assert vocabulary.size == 301
    with pytest.raises(interlock.ArgumentError, match=r"context_ids\[1\] .* size is 301"):
        index.guide(context_ids=[EOS, bad, bad])
    assert index.guide(context_ids=[EOS, 299]).num_tokens == 0


def test_other_tokenizers_force_nothing(tmp_path: Path) -> None:
    vocabulary = interlock.Vocabulary.from_file(write(tmp_path, dropout=0.1), eos_token_ids=EOS)
    index = interlock.Index.from_choices(["true"], vocabulary)
    assert index.guide().forced_bytes() == b"true" and index.guide().forced_tokens() == []


def test_a_pickled_vocabulary_keeps_its_merges(vocabulary: interlock.Vocabulary, tmp_path: Path) -> None:
    plain = interlock.Vocabulary.from_file(write(tmp_path, dropout=0.1), eos_token_ids=EOS)
    assert plain == vocabulary
    again = pickle.loads(pickle.dumps(vocabulary))
    assert interlock.Index.from_choices(["true"], again).guide().forced_tokens() != []


def test_forced_tokens_after_a_draft(vocabulary: interlock.Vocabulary) -> None:
    index = interlock.Index.from_regex(PERSON, vocabulary)
    guide = index.guide()
    forced = guide.forced_tokens()
    for taken in range(len(forced) + 1):
        assert guide.forced_tokens(after=forced[:taken]) == forced[taken:]
        assert guide.num_tokens == 0 and guide.forced_tokens() == forced
    byte = {vocabulary.token_bytes(i): i for i in range(266)}
    draft = [*forced, byte[b"7"]]
    assert spell(vocabulary, guide.forced_tokens(after=draft)) == [b"}"]
    guide.advance_many(draft)
    twin = guide.forced_tokens()
    guide.reset()
    assert guide.forced_tokens(after=draft) == twin
    # What is refused forces nothing, and neither does another spelling.
    assert guide.forced_tokens(after=[byte[b"x"]]) == [] and guide.forced_tokens(after=[byte[b"{"]]) == []
    assert guide.forced_tokens(after=[]) == forced


def test_only_the_canonical_token_is_left_where_bytes_are_forced(vocabulary: interlock.Vocabulary) -> None:
    index = interlock.Index.from_regex(PERSON, vocabulary)
    guide, free = index.guide(canonical_forced=True), index.guide()
    bits = interlock.allocate_bitmask(2, vocabulary)
    forced = free.forced_tokens()
    rows = interlock.allocate_bitmask(len(forced) + 1, vocabulary)
    assert guide.fill_draft_bitmasks(forced, rows) == len(forced)
    for row, token in enumerate(forced):
        assert guide.allowed_token_ids().tolist() == [token]
        assert [32 * w + b for w in range(rows.shape[1]) for b in range(32) if rows[row, w] >> b & 1] == [token]
        interlock.fill_bitmasks([guide, free], bits)
        assert (bits[0] == rows[row]).all() and bits[0].any()
        others = [i for i in free.allowed_token_ids().tolist() if i != token]
        assert guide.validate(others[:1]) == 0
        if others:
            with pytest.raises(interlock.TokenRejected, match="only the tokenizer's own token"):
                guide.advance(others[0])
        guide.advance(token)
        free.advance(token)
    # Where there is a choice, nothing is taken away.
    assert guide.allowed_token_ids().tolist() == free.allowed_token_ids().tolist()
    again = pickle.loads(pickle.dumps(guide))
    again.rollback(2)
    assert again.allowed_token_ids().tolist() == [forced[-2]]
    guide.reset()
    assert guide.allowed_token_ids().tolist() == forced[:1]
    assert copy.copy(guide).allowed_token_ids().tolist() == forced[:1]


def test_a_budget_goes_before_the_canonical_token(vocabulary: interlock.Vocabulary) -> None:
    """The fewest tokens may be others than the tokenizer's: then the output is still complete in time."""
    index = interlock.Index.from_regex(PERSON, vocabulary)
    for most in range(1, 30):
        try:
            guide = index.guide(max_tokens=most, canonical_forced=True)
        except interlock.BudgetError:
            continue
        while not guide.must_stop:
            guide.advance(int(guide.allowed_token_ids()[0]))
        assert guide.num_tokens <= most and guide.is_accepting


def test_only_the_canonical_token_is_left_around_special_tokens(tmp_path: Path) -> None:
    file = write(tmp_path)
    document = json.loads(file.read_text())
    for at, text in enumerate(["<tool_call>", "</tool_call>"], EOS + 1):
        document["added_tokens"].append({"id": at, "content": text, "special": True})
        document["model"]["vocab"][text] = at
    file.write_text(json.dumps(document))
    vocabulary = interlock.Vocabulary.from_file(file, eos_token_ids=EOS)
    parameters = {"properties": {"age": {"type": "integer"}}, "required": ["age"], "additionalProperties": False}
    tool = {"name": "name", "parameters": {"type": "object", **parameters}}
    index = interlock.Index.from_tools([tool], vocabulary, format="hermes", tool_choice="required")
    guide, free = index.guide(canonical_forced=True), index.guide()
    special = 0
    while not guide.is_terminated:
        forced, allowed = free.forced_tokens(), free.allowed_token_ids().tolist()
        assert guide.forced_tokens() == forced
        assert guide.allowed_token_ids().tolist() == (forced[:1] or allowed)
        token = (forced or ([EOS] if EOS in allowed else allowed))[0]
        special += token > EOS
        guide.advance(token)
        free.advance(token)
    assert special == 2
    # Without a tokenizer's model nothing but a special token is canonical.
    plain = [bytes([byte]) for byte in range(256)] + [b"", b"<tool_call>", b"</tool_call>"]
    bytes_alone = interlock.Vocabulary(plain, eos_token_ids=[256], special_token_ids=[256, 257, 258])
    guide = interlock.Index.from_tools([tool], bytes_alone, format="hermes").guide(canonical_forced=True)
    guide.advance(ord("W"))
    assert 257 in guide.allowed_token_ids() and ord("e") in guide.allowed_token_ids()


def test_no_stop_token_before_min_tokens(vocabulary: interlock.Vocabulary) -> None:
    byte = {vocabulary.token_bytes(i): i for i in range(266)}
    guide = interlock.Index.from_regex("x+", vocabulary).guide(min_tokens=3)
    for _ in range(2):
        guide.advance(byte[b"x"])
        assert EOS not in guide.allowed_token_ids() and guide.is_accepting and not guide.must_stop
        assert not guide.try_advance(EOS) and "min_tokens" in guide.explain(EOS)
        assert guide.validate([EOS]) == 0
    guide.advance(byte[b"x"])
    assert guide.try_advance(EOS)
    guide.rollback(2)
    assert EOS not in pickle.loads(pickle.dumps(guide)).allowed_token_ids()
    # Where nothing else can follow, the output ends.
    short = interlock.Index.from_regex("xy?", vocabulary).guide(min_tokens=9)
    short.advance(byte[b"x"])
    assert short.allowed_token_ids().tolist() == [byte[b"y"]]
    short.advance(byte[b"y"])
    assert short.must_stop and short.allowed_token_ids().tolist() == [EOS] and short.try_advance(EOS)


def test_min_tokens_with_a_budget(vocabulary: interlock.Vocabulary) -> None:
    index = interlock.Index.from_regex("x+", vocabulary)
    with pytest.raises(interlock.ArgumentError, match="min_tokens is 4, but max_tokens is 3"):
        index.guide(max_tokens=3, min_tokens=4)
    guide = index.guide(max_tokens=3, min_tokens=3)
    while not guide.is_terminated:
        guide.advance(int(guide.allowed_token_ids()[0]))
    assert guide.num_tokens == 4
    with pytest.raises(interlock.ArgumentError):
        index.guide(min_tokens=-1)


def test_any_spelling_of_forced_bytes(byte_vocabulary):
    """Of a tokenizer that is not known nothing is canonical; the longest tokens that fit spell what is certain."""
    words = [bytes([i]) for i in range(256)] + [b"", b"true", b"tr", b'{"ok', b'":', b'":t', b"e}"]
    vocabulary = interlock.Vocabulary(words, eos_token_ids=[256])
    schema = {
        "type": "object",
        "properties": {"ok": {"const": True}},
        "required": ["ok"],
        "additionalProperties": False,
    }
    index = interlock.Index.from_json_schema(schema, vocabulary, whitespace="compact")
    guide = index.guide()
    assert guide.forced_tokens() == []
    assert guide.forced_tokens(canonical=False) == [259, 261, ord("r"), ord("u"), 262]
    assert guide.num_tokens == 0 and guide.forced_bytes() == b'{"ok":true}'
    # Behind a draft, and where the text goes on after a choice.
    assert guide.forced_tokens([259, 260], canonical=False) == [257, ord("}")]
    assert guide.forced_tokens([ord("x")], canonical=False) == []
    assert guide.advance_many(guide.forced_tokens(canonical=False)) == 5 and guide.must_stop
    assert guide.forced_tokens(canonical=False) == []
    either = interlock.Index.from_regex("abc(d|e)fg", vocabulary).guide()
    assert either.forced_tokens(canonical=False) == list(b"abc")
    assert either.forced_tokens(list(b"abcd"), canonical=False) == list(b"fg")
    assert interlock.Index.from_regex("[ab]c", byte_vocabulary).guide().forced_tokens(canonical=False) == []


def test_the_only_special_token_is_forced() -> None:
    tokens = [bytes([b]) for b in range(256)] + [b"<|a|>", b"<|b|>", b""]
    vocabulary = interlock.Vocabulary(tokens, 258, [256, 257])
    guide = interlock.Index.from_grammar('start: <|a|> <|a|> "x"? <|b|>', vocabulary).guide()
    assert guide.forced_tokens() == [256, 256]
    assert guide.forced_tokens(after=[256]) == [256] and guide.forced_tokens(after=[256, 256]) == []
    assert guide.forced_text() == "" and guide.min_tokens_to_finish() == 3
    guide.advance_many([256, 256, ord("x")])
    assert guide.forced_tokens() == [257]
    guide.advance(257)
    # Where the output may end, a stop token is no forced one.
    assert guide.forced_tokens() == []
