"""generate of transformers under masks, with a tiny random model: whatever it prefers, every row must be valid."""

from __future__ import annotations

import re

import pytest

import interlock

torch = pytest.importorskip("torch", reason="torch is not installed: make test-torch")
transformers = pytest.importorskip("transformers", reason="transformers is not installed: make test-torch")

from interlock.integrations.transformers import (  # noqa: E402
    GuideLogitsProcessor,
    JumpForwardStats,
    Triggered,
    jump_forward,
)

PAD, EOS, EOT = 256, 257, 258
WIDTH = 264
PATTERNS = [r"[0-9]{3}-[0-9]{3}", r"(yes|no|perhaps)", None, r"\[([0-9],){2}[0-9]\]", r"[a-f]{1,6}", r'\{"k": (true|false)\}']


@pytest.fixture(scope="module")
def vocabulary():
    tokens = [bytes([i]) for i in range(256)] + [b""] * 3
    return interlock.Vocabulary(tokens, eos_token_ids=[EOS, EOT], special_token_ids=[PAD], size=WIDTH)


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=WIDTH,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=256,
        bos_token_id=None,
        eos_token_id=[EOS, EOT],
        pad_token_id=PAD,
    )
    return transformers.LlamaForCausalLM(config).eval()


def batch(prompts):
    """Left-padded ids and their attention mask."""
    width = max(map(len, prompts))
    ids = torch.tensor([[PAD] * (width - len(p)) + list(p) for p in prompts])
    return {"input_ids": ids, "attention_mask": (ids != PAD).long()}


def texts(out, start):
    return [bytes(t for t in row[start:].tolist() if t < 256) for row in out]


def mixed(vocabulary, n=16):
    patterns = [PATTERNS[i % len(PATTERNS)] for i in range(n)]
    made = {p: interlock.Index.from_regex(p, vocabulary) for p in PATTERNS if p}
    return patterns, [made.get(p) for p in patterns]


def all_valid(out, start, patterns, each=1):
    for i, text in enumerate(texts(out, start)):
        pattern = patterns[i // each]
        assert pattern is None or re.fullmatch(pattern, text.decode()), (i, pattern, text)


PROMPTS = [b"a" * (1 + i % 5) for i in range(16)]
MODES = [
    {"do_sample": False},
    {"do_sample": True, "top_k": 0, "temperature": 1.5},
    {"do_sample": True, "num_return_sequences": 3},
    {"do_sample": False, "num_beams": 4},
    {"do_sample": True, "num_beams": 3},
    {"do_sample": False, "num_beams": 4, "num_return_sequences": 2},
]


@pytest.mark.parametrize("mode", MODES, ids=str)
def test_mixed_batch(model, vocabulary, mode):
    patterns, indexes = mixed(vocabulary)
    inputs, processor = batch(PROMPTS), GuideLogitsProcessor(indexes)
    each = mode.get("num_return_sequences", 1)
    for _ in range(2):  # the same object serves again
        out = model.generate(**inputs, logits_processor=[processor], max_new_tokens=24, **mode)
        all_valid(out, inputs["input_ids"].shape[1], patterns, each)


def test_assisted(model, vocabulary):
    index = interlock.Index.from_regex(r"(ab){8}", vocabulary)
    ids = torch.tensor([list(b"abababab")])
    kw = {"max_new_tokens": 30, "do_sample": False}
    plain = model.generate(ids, logits_processor=[GuideLogitsProcessor(index)], **kw)
    drafted = model.generate(ids, logits_processor=[GuideLogitsProcessor(index)], prompt_lookup_num_tokens=4, **kw)
    assert texts(plain, 8) == texts(drafted, 8) == [b"ab" * 8]


def test_dirty_stops(model, vocabulary):
    index = interlock.Index.from_regex("[0-9]{20}", vocabulary)
    ids = torch.tensor([list(b"go")])
    processor = GuideLogitsProcessor(index)
    first = model.generate(ids, logits_processor=[processor], max_new_tokens=5, do_sample=False)
    assert re.fullmatch(rb"[0-9]{5}", texts(first, 2)[0])

    class Broken(Exception):
        pass

    def fail(ids, scores):
        if ids.shape[1] == 6:
            raise Broken
        return scores

    with pytest.raises(Broken):
        model.generate(ids, logits_processor=[processor, fail], max_new_tokens=30, do_sample=False)
    # A chat's second turn begins with the first one's ids.
    turn = torch.cat([first, torch.tensor([list(b" and now?")])], dim=1)
    for prompt in (ids, turn):
        out = model.generate(prompt, logits_processor=[processor], max_new_tokens=30, do_sample=False)
        assert re.fullmatch(rb"[0-9]{20}", texts(out, prompt.shape[1])[0])


def test_left_nothing(model, vocabulary):
    index = interlock.Index.from_regex("ab", vocabulary)

    def forbid(ids, scores):
        return scores.masked_fill(torch.arange(WIDTH) == ord("b"), float("-inf"))

    with pytest.raises(interlock.TokenRejected):
        model.generate(
            torch.tensor([[65]]), logits_processor=[GuideLogitsProcessor(index), forbid], max_new_tokens=5, do_sample=False
        )


def test_scores_are_not_touched(vocabulary):
    index = interlock.Index.from_regex("a", vocabulary)
    scores = torch.zeros(2, WIDTH)
    out = GuideLogitsProcessor([index, None])(torch.tensor([[1], [2]]), scores)
    assert scores.isfinite().all() and out[1].isfinite().all()
    assert out[0].isfinite().nonzero().flatten().tolist() == [ord("a")]


def drive(processor, prompt, tokens):
    """The masks along a row, as sets."""
    ids, allowed = list(prompt), []
    for token in [*tokens, None]:
        out = processor(torch.tensor([ids]), torch.zeros(1, WIDTH))
        allowed.append(set(out[0].isfinite().nonzero().flatten().tolist()))
        ids.append(token)
    return allowed


def test_trigger(vocabulary):
    index = interlock.Index.from_regex("x", vocabulary)
    allowed = drive(GuideLogitsProcessor(index, trigger="=>"), b"p", b"a=b=>x")
    assert all(len(a) == WIDTH for a in allowed[:5])
    assert allowed[5] == {ord("x")} and allowed[6] == {EOS, EOT}
    by_ids = Triggered({(7, 8): index, "!": interlock.Index.from_regex("y", vocabulary)}, required=True)
    assert EOS not in drive(GuideLogitsProcessor(by_ids), b"p", b"")[0]
    assert drive(GuideLogitsProcessor(by_ids), b"p", [7, 8])[2] == {ord("x")}
    assert drive(GuideLogitsProcessor(by_ids), b"p", b"!")[1] == {ord("y")}


def test_trigger_ends_with_a_token():
    tokens = [bytes([i]) for i in range(256)] + [b'>{"', b">>", b"=>", b"a=>b", b""]
    v = interlock.Vocabulary(tokens, eos_token_ids=[260])
    index = interlock.Index.from_regex(r'\{"k"\}', v)
    processor = GuideLogitsProcessor(index, trigger="=>")
    ids, size = [[65, ord("=")]], 261
    out = processor(torch.tensor([[65]]), torch.zeros(1, size))
    assert out[0].isneginf().nonzero().flatten().tolist() == [259]
    out = processor(torch.tensor(ids), torch.zeros(1, size))
    assert out[0].isneginf().nonzero().flatten().tolist() == [256, 257, 259]


@pytest.mark.parametrize("prompts", [PROMPTS[:1], PROMPTS], ids=len)
def test_jump_forward_is_greedy_search(model, vocabulary, prompts):
    patterns, indexes = mixed(vocabulary, len(prompts))
    inputs = batch(prompts)
    start = inputs["input_ids"].shape[1]
    plain = model.generate(
        **inputs, logits_processor=[GuideLogitsProcessor(indexes)], max_new_tokens=20, do_sample=False
    )
    stats, heard = JumpForwardStats(), [[] for _ in prompts]
    jumped = model.generate(
        **inputs,
        custom_generate=jump_forward,
        constraints=indexes,
        max_new_tokens=20,
        do_sample=False,
        stats=stats,
        on_tokens=lambda i, ids, forced: heard[i].extend(ids),
    )
    assert texts(plain, start) == texts(jumped, start)
    all_valid(jumped, start, patterns)
    assert stats.forced + stats.sampled == sum(map(len, heard))
    # Rows without an index run to the end, so calls are saved only where all rows jump.
    assert stats.model_calls <= plain.shape[1] - start
    if len(prompts) == 1:
        assert stats.forced == 1 and stats.model_calls < plain.shape[1] - start


def test_jump_forward_samples(model, vocabulary):
    index = interlock.Index.from_regex(r'\{"name": "[a-z]{2}", "ok": (true|false)\}', vocabulary)
    stats = JumpForwardStats()
    out = model.generate(
        torch.tensor([[65]]), custom_generate=jump_forward, constraints=index, max_new_tokens=60, do_sample=True, stats=stats
    )
    assert re.fullmatch(r'\{"name": "[a-z]{2}", "ok": (true|false)\}', texts(out, 1)[0].decode())
    # Two letters, one of true and false, and one of two stop tokens; all else follows.
    assert (stats.model_calls, stats.sampled) == (4, 4)
