"""Forced tokens of a unigram tokenizer, against sentencepiece itself: a small model, trained here."""

import io
import json
import random

import pytest

import interlock

sentencepiece = pytest.importorskip("sentencepiece", reason="sentencepiece is not installed")

WORDS = "red green blue the city of name user count total is active open closed river small large answer".split()
SCHEMA = {
    "type": "object",
    "properties": {
        "user_name": {"enum": ["the small river", "open city", "a  b", "x"]},
        "total count": {"type": "integer"},
        "is active": {"type": "boolean"},
        "colours": {"type": "array", "items": {"type": "string", "pattern": "^[a-z ]*$"}},
    },
    "required": ["user_name", "total count", "is active", "colours"],
    "additionalProperties": False,
}


def document(rng: random.Random) -> dict[str, object]:
    return {
        "user_name": rng.choice(["the small river", "open city", "a  b", "x"]),
        "total count": rng.choice([0, 7, -12, 2024, 10**12]),
        "is active": rng.random() < 0.5,
        "colours": [" ".join(rng.choices(WORDS, k=rng.randint(0, 4))) for _ in range(rng.randint(0, 3))],
    }


def trained(**options: object) -> "sentencepiece.SentencePieceProcessor":
    rng = random.Random(4)
    lines = [json.dumps(document(rng), separators=rng.choice([(",", ":"), (", ", ": ")])) for _ in range(400)]
    lines += [" ".join(rng.choices(WORDS, k=8)) for _ in range(400)]
    made = io.BytesIO()
    settings = {
        "model_type": "unigram",
        "vocab_size": 160,
        "character_coverage": 1.0,
        "normalization_rule_name": "identity",
        "remove_extra_whitespaces": False,
        "add_dummy_prefix": False,
        "hard_vocab_limit": False,
        "minloglevel": 2,
        **options,
    }
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(lines), model_writer=made, **settings)
    return sentencepiece.SentencePieceProcessor(model_proto=made.getvalue())


def of_tokenizers(split: bool) -> object:
    """The same pieces and scores as a tokenizer.json, which may cut the text in front of each space."""
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    model = trained()
    pieces = [(model.id_to_piece(i), model.get_score(i)) for i in range(model.get_piece_size())]
    made = tokenizers.Tokenizer(tokenizers.models.Unigram(pieces, unk_id=model.unk_id()))
    made.add_special_tokens([model.id_to_piece(i) for i in range(3)])
    made.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace(prepend_scheme="never", split=split)
    made.decoder = tokenizers.decoders.Metaspace(prepend_scheme="never", split=split)
    return made


@pytest.mark.parametrize("kind", ["sentencepiece", "tokenizers", "tokenizers, cut at spaces"])
def test_forced_tokens_are_the_tokenizers_own(kind):
    rng = random.Random(5)
    if kind == "sentencepiece":
        model = trained()
        encode, end = model.encode, None
    else:
        model = of_tokenizers("cut" in kind)
        encode, end = lambda text: model.encode(text, add_special_tokens=False).ids, [2]
    vocabulary = interlock.Vocabulary.from_tokenizer(model, eos_token_ids=end)
    for whitespace, separators in (("compact", (",", ":")), ("spaced", (", ", ": "))):
        index = interlock.Index.from_json_schema(SCHEMA, vocabulary, whitespace=whitespace)
        forced = total = 0
        for _ in range(60):
            text = json.dumps(document(rng), separators=separators)
            before = rng.choice(["", "the answer is: ", "name " * 40])
            start, ids = encode(before), encode(before + text)
            if ids[: len(start)] != start:
                continue
            ids = ids[len(start) :]
            guide, skip = index.guide(context_ids=start), 0
            for at, token in enumerate(ids):
                found = guide.forced_tokens()
                assert found == ids[at : at + len(found)], (before, text, at)
                skip = max(skip, at + len(found))
                forced += at < skip
                guide.advance(token)
            assert guide.is_accepting
            total += len(ids)
        assert total > 1000 and forced > 0.4 * total, f"{whitespace}: {forced} of {total} tokens are forced"


def test_long_texts_and_models_that_rewrite_force_nothing():
    model = trained()
    vocabulary = interlock.Vocabulary.from_tokenizer(model)
    index = interlock.Index.from_json_schema(SCHEMA, vocabulary, whitespace="compact")
    word = model.encode("name ")
    assert index.guide(context_ids=word * 100).forced_tokens()
    assert index.guide(context_ids=word * 5000).forced_tokens() == []
    for options in ({"normalization_rule_name": "nmt_nfkc"}, {"remove_extra_whitespaces": True}):
        other = interlock.Vocabulary.from_tokenizer(trained(**options))
        guide = interlock.Index.from_json_schema(SCHEMA, other, whitespace="compact").guide()
        assert guide.forced_bytes() and guide.forced_tokens() == []
