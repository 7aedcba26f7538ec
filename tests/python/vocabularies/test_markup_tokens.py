"""Added tokens that are markup, as both servers' plug-ins keep them out of text."""

import json
from types import SimpleNamespace

import pytest

import interlock
from interlock.integrations.markup_tokens import markup_token_ids

TOKENS = {
    0: ("</think>", False),
    1: ("<|im_start|>", True),
    2: ("   ", False),
    3: ("<｜tool▁calls▁begin｜>", False),
    4: ("[TOOL_CALLS]", False),
    5: ("hello", False),
    6: ("@@end", False),
    7: ("<", False),
    8: ("user", False),
    9: ("<>", False),
    10: ("to=functions.", False),
}
ADDED = {i: SimpleNamespace(content=text, special=special) for i, (text, special) in TOKENS.items()}


def tokenizer(template=None):
    return SimpleNamespace(added_tokens_decoder=ADDED, chat_template=template)


def test_markup_is_told_from_text():
    # What is special is known already; words and blanks are text even where the template names them.
    assert markup_token_ids(tokenizer("{{ message }}@@end user hello    < <>")) == [0, 3, 4, 6]
    assert markup_token_ids(tokenizer({"default": "@@end", "tools": "to=functions.x"})) == [0, 3, 4, 6, 10]
    assert markup_token_ids(tokenizer()) == [0, 3, 4]


def test_other_texts_of_a_server_are_looked_through_too():
    assert markup_token_ids(tokenizer("@@end"), ["a mark to=functions.f"]) == [0, 3, 4, 6, 10]


def test_tokenizers_without_added_tokens_have_none():
    assert markup_token_ids(SimpleNamespace(added_tokens_decoder={})) == []
    for nothing in (object(), SimpleNamespace(added_tokens_decoder=None), None):
        with pytest.raises(interlock.VocabularyError, match="added tokens of .* cannot be read"):
            markup_token_ids(nothing)


def test_a_tokenizer_that_marks_all_it_adds_has_none():
    tiktoken = pytest.importorskip("tiktoken")
    ranks = {bytes([i]): i for i in range(256)}
    encoding = tiktoken.Encoding("bytes", pat_str=".", mergeable_ranks=ranks, special_tokens={"<|endoftext|>": 256})
    assert markup_token_ids(encoding) == []


@pytest.fixture
def made():
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE({"a": 0, "<b>": 1, '"added_tokens": [': 2}, []))
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    tokenizer.add_tokens(["</think>", "<b>", "@@end", "<0x0A>", "user"])
    tokenizer.add_special_tokens(["<end>"])
    return tokenizer


def test_tokenizers_and_their_files_are_read(made, tmp_path):
    made.save(str(tmp_path / "tokenizer.json"))
    ids = sorted(made.token_to_id(text) for text in ("</think>", "<b>"))
    for source in (made, tmp_path, tmp_path / "tokenizer.json", str(tmp_path)):
        assert markup_token_ids(source) == ids
        assert markup_token_ids(source, ["@@end"]) == sorted([*ids, made.token_to_id("@@end")])
    vocabulary = interlock.Vocabulary.from_file(tmp_path / "tokenizer.json", made.token_to_id("<end>"))
    assert set(vocabulary.special_token_ids) == {*ids, made.token_to_id("<end>")}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("tokenizer_config.json", json.dumps({"chat_template": "{{ x }}@@end"})),
        ("tokenizer_config.json", json.dumps({"chat_template": [{"name": "tool", "template": "@@end"}]})),
        ("chat_template.json", json.dumps({"chat_template": "@@end"})),
        ("chat_template.jinja", "{{ x }}@@end"),
    ],
)
def test_chat_templates_beside_the_file_are_read(made, tmp_path, name, text):
    made.save(str(tmp_path / "tokenizer.json"))
    (tmp_path / name).write_text(text)
    assert made.token_to_id("@@end") in markup_token_ids(tmp_path)


@pytest.mark.parametrize(
    "data", [b"", b"{", b'{"added_tokens": [{"id": 1}]}', b'{"added_tokens": [', b'{"a": 1}', b"GGUF"]
)
def test_files_that_cannot_be_read_are_refused(tmp_path, data):
    (tmp_path / "tokenizer.json").write_bytes(data)
    for path in (tmp_path, tmp_path / "tokenizer.json", tmp_path / "missing"):
        with pytest.raises(interlock.VocabularyError, match="no tokenizer.json that can be read"):
            markup_token_ids(path)
