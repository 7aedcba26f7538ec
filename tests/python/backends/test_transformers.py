"""generate of transformers under masks, with a tiny random model: whatever it prefers, every row must be valid."""

from __future__ import annotations

import re
import warnings

import pytest

import interlock

torch = pytest.importorskip("torch", reason="torch is not installed: make test-torch")
transformers = pytest.importorskip("transformers", reason="transformers is not installed: make test-torch")

import models  # noqa: E402
from padded_rows import EOS, EOT, PAD, PATTERNS, padded_vocabulary  # noqa: E402

from interlock.integrations.transformers import (  # noqa: E402
    ForcedCandidates,
    GuideLogitsProcessor,
    JumpForwardStats,
    Triggered,
    forced_drafts,
    jump_forward,
)
from interlock.integrations._row import Row  # noqa: E402

WIDTH = models.WIDTH


@pytest.fixture(scope="module")
def vocabulary():
    return padded_vocabulary(WIDTH)


@pytest.fixture(scope="module")
def model():
    return models.tiny_model([EOS, EOT], PAD)


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


def test_ids_that_the_vocabulary_lacks_stand_in_the_prompt(model, vocabulary):
    index = interlock.Index.from_regex("[0-9]{3}", vocabulary)
    for context in ([WIDTH, 97], [97, -1], [WIDTH + 7], [97]):
        assert Row(index, None, None, context).guide.forced_tokens() == []
    with pytest.raises(interlock.ArgumentError, match=r"context_ids\[1\]"):
        index.guide(context_ids=[97, WIDTH])


def test_dirty_stops(model, vocabulary):
    index = interlock.Index.from_regex("[0-9]{20}", vocabulary)
    ids = torch.tensor([list(b"go")])
    processor = GuideLogitsProcessor(index)
    with pytest.warns(interlock.CutOutputWarning):
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
        processors = [GuideLogitsProcessor(index), forbid]
        model.generate(torch.tensor([[65]]), logits_processor=processors, max_new_tokens=5, do_sample=False)
    # Of several rows one may have been ended by generate itself; that this one was not is seen one token later.
    rows = torch.tensor([[65], [66]])
    with pytest.raises(interlock.TokenRejected, match="row 1 took token 0"):
        free = interlock.Index.from_regex("[a-z]{9}", vocabulary)
        processors = [GuideLogitsProcessor([free, index]), lambda ids, s: torch.cat([s[:1], forbid(ids, s[1:])])]
        model.generate(rows, logits_processor=processors, max_new_tokens=9, do_sample=False)


def test_rows_that_generate_ends_by_itself(model, vocabulary):
    """A criterion of its own ends one row, which is padded while the others go on."""
    indexes = [interlock.Index.from_regex(f"[0-9]{{{n}}}", vocabulary) for n in (12, 8, 12)]
    ids = torch.tensor([list(b"go"), list(b"on"), list(b"it")])

    class Second(transformers.StoppingCriteria):
        def __call__(self, ids, scores, **_):
            return torch.tensor([False, ids.shape[1] >= 5, False])

    kw = {"stopping_criteria": [Second()], "max_new_tokens": 30, "do_sample": False}
    for end in (PAD, EOS):
        out = model.generate(ids, logits_processor=[GuideLogitsProcessor(indexes)], pad_token_id=end, **kw)
        assert [len(t) for t in texts(out, 2)] == [12, 3, 12]


def test_scores_are_not_touched(vocabulary):
    index = interlock.Index.from_regex("a", vocabulary)
    scores = torch.zeros(2, WIDTH)
    out = GuideLogitsProcessor([index, None])(torch.tensor([[1], [2]]), scores)
    assert scores.isfinite().all() and out[1].isfinite().all()
    assert out[0].isfinite().nonzero().flatten().tolist() == [ord("a")]


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


def test_jump_forward_says_where_it_cut_an_output(model, vocabulary):
    index = interlock.Index.from_regex(r"[a-z]{30}", vocabulary)
    given = {"custom_generate": jump_forward, "constraints": index, "do_sample": False}
    with pytest.warns(
        interlock.CutOutputWarning, match=r"the output was cut in the middle, after 12 tokens, .* Pass max_tokens=11"
    ) as warned:
        model.generate(torch.tensor([[65]]), max_new_tokens=12, **given)
    assert warned[0].filename == __file__
    with pytest.raises(interlock.BudgetError):
        model.generate(torch.tensor([[65]]), max_new_tokens=12, max_tokens=11, **given)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        model.generate(torch.tensor([[65]]), max_new_tokens=31, max_tokens=30, **given)
        free = {**given, "constraints": interlock.Index.from_regex("[a-z]*", vocabulary)}
        model.generate(torch.tensor([[65]]), max_new_tokens=12, **free)


def test_a_processor_says_where_generate_cuts_an_output(model, vocabulary):
    index = interlock.Index.from_regex(r"[a-z]{30}", vocabulary)

    def generate(constraints, rows=1, max_tokens=None, **options):
        processor = GuideLogitsProcessor(constraints, max_tokens=max_tokens)
        ids = torch.tensor([[65]] * rows)
        options = {"do_sample": False, "pad_token_id": EOS, **options}
        return model.generate(ids, attention_mask=torch.ones_like(ids), logits_processor=[processor], **options)

    said = (
        "the output is cut in the middle, after 12 tokens, and is not whole: generate stops at its max_new_tokens, and "
        "the masks had no max_tokens. Pass max_tokens=11 beside the index"
    )
    with pytest.warns(interlock.CutOutputWarning, match=said) as warned:
        generate(index, max_new_tokens=12)
    assert len(warned) == 1 and warned[0].filename == __file__
    short = interlock.Index.from_regex(r"[a-z]{3}", vocabulary)
    with pytest.warns(interlock.CutOutputWarning, match="row 1 is cut in the middle, after 12 tokens") as warned:
        generate([short, index], 2, max_new_tokens=12, do_sample=True)
    assert len(warned) == 1
    with pytest.warns(interlock.CutOutputWarning, match="the output may be cut in the middle, after 30 tokens"):
        generate(interlock.Index.from_regex("[a-z]{29,}!", vocabulary), max_new_tokens=30)
    with pytest.warns(interlock.CutOutputWarning, match="after 12 tokens, .* the masks had max_tokens=40. Pass max_t"):
        generate(index, max_tokens=40, max_new_tokens=12)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        generate(index, max_tokens=30, max_new_tokens=30)
        generate(index, max_new_tokens=31)
        generate(interlock.Index.from_regex("[a-z]*", vocabulary), max_new_tokens=12)
        generate(None, max_new_tokens=12)
        # Beams that have ended are kept, and drafts are taken back.
        generate(index, max_new_tokens=12, num_beams=2)


def test_jump_forward_names_the_vocabulary_of_another_model(model):
    index = interlock.Index.from_regex("a+", interlock.Vocabulary([b"a", b""], 1))
    model.config.vocab_size, own = 49_152, model.config.vocab_size
    try:
        with pytest.raises(
            interlock.ArgumentError, match="scores 49152 tokens, and the index is for a vocabulary of 2"
        ):
            model.generate(torch.tensor([[65]]), custom_generate=jump_forward, constraints=index, max_new_tokens=3)
    finally:
        model.config.vocab_size = own


def test_jump_forward_samples(model, vocabulary):
    index = interlock.Index.from_regex(r'\{"name": "[a-z]{2}", "ok": (true|false)\}', vocabulary)
    stats = JumpForwardStats()
    options = {"constraints": index, "max_new_tokens": 60, "do_sample": True, "stats": stats}
    out = model.generate(torch.tensor([[65]]), custom_generate=jump_forward, **options)
    assert re.fullmatch(r'\{"name": "[a-z]{2}", "ok": (true|false)\}', texts(out, 1)[0].decode())
    # Two letters, one of true and false, and one of two stop tokens; all else follows.
    assert (stats.model_calls, stats.sampled) == (4, 4)


class Counted:
    """Counts a model's forward passes while it is used."""

    def __init__(self, model):
        self.calls = 0
        self.hook = model.register_forward_pre_hook(self._count)

    def _count(self, module, arguments):
        self.calls += 1

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.hook.remove()


@pytest.mark.parametrize("mode", [{}, {"max_drafts": 3}, {"prompt_lookup_num_tokens": 4}], ids=str)
@pytest.mark.parametrize("pattern", [r'\{"name": "[a-z]{2}", "ok": (true|false)\}', "(ab){8}", "[0-9]{9}"])
def test_forced_drafts_are_greedy_search(model, vocabulary, pattern, mode):
    index = interlock.Index.from_regex(pattern, vocabulary)
    ids = torch.tensor([list(b'so {"name": "')])
    kw = {"max_new_tokens": 60, "do_sample": False}
    with Counted(model) as plain:
        expected = model.generate(ids, logits_processor=[GuideLogitsProcessor(index)], **kw)
    with Counted(model) as drafted:
        got = model.generate(ids, custom_generate=forced_drafts, constraints=index, **kw, **mode)
    assert texts(got, ids.shape[1]) == texts(expected, ids.shape[1])
    assert drafted.calls <= plain.calls
    if "[0-9]" not in pattern:
        assert drafted.calls < plain.calls / 2


def test_forced_drafts_sample_and_stop(model, vocabulary):
    index = interlock.Index.from_regex(r"x{5}(a|b)", vocabulary)
    ids = torch.tensor([list(b"think")])
    for _ in range(4):
        out = model.generate(ids, custom_generate=forced_drafts, constraints=index, max_new_tokens=20, do_sample=True)
        assert re.fullmatch(rb"x{5}(a|b)", texts(out, 5)[0])
    free = model.generate(ids, custom_generate=forced_drafts, max_new_tokens=7, do_sample=False)
    assert torch.equal(free, model.generate(ids, max_new_tokens=7, do_sample=False))
    short = model.generate(ids, custom_generate=forced_drafts, constraints=index, max_new_tokens=3, do_sample=False)
    assert texts(short, 5) == [b"xxx"]
    with pytest.raises(interlock.ArgumentError, match="one row"):
        model.generate(ids.repeat(2, 1), custom_generate=forced_drafts, constraints=index, max_new_tokens=3)
    with pytest.raises(interlock.BudgetError):
        model.generate(ids, custom_generate=forced_drafts, constraints=index, max_tokens=5, max_new_tokens=9)
    assert "_get_candidate_generator" not in vars(model)


def test_candidates_follow_their_row(vocabulary):
    prompt = torch.tensor([[1, 2, 3]])
    index = interlock.Index.from_regex("(ab|cd)ef", vocabulary)
    drafts = ForcedCandidates(Triggered({"!": index}), prompt)

    def after(text):
        ids = torch.cat([prompt, torch.tensor([list(text)], dtype=prompt.dtype)], dim=1)
        got, logits = drafts.get_candidates(ids)
        assert logits is None and torch.equal(got[:, : ids.shape[1]], ids)
        return bytes(got[0, ids.shape[1] :].tolist())

    assert [after(t) for t in (b"", b"so", b"so!", b"so!a", b"so!c", b"so", b"so!cd", b"so!cdef")] == [
        b"",
        b"",
        b"",
        b"bef",
        b"def",
        b"",
        b"ef",
        b"",
    ]


def test_stop_strings_and_a_broken_model_leave_nothing(model, vocabulary):
    index = interlock.Index.from_regex("[0-9]{12}", vocabulary)
    ids = torch.tensor([list(b"go"), list(b"on")])
    processor = GuideLogitsProcessor(index)

    class Stop(transformers.StoppingCriteria):
        def __call__(self, ids, scores, **_):
            return torch.full((len(ids),), ids.shape[1] >= 5)

    class Broken(Exception):
        pass

    def fail(module, arguments, output):
        calls.append(1)
        if len(calls) == 4:
            raise Broken

    calls: list[int] = []
    kw = {"max_new_tokens": 30, "do_sample": False}
    for use in (
        {"logits_processor": [processor]},
        {"custom_generate": jump_forward, "constraints": index},
    ):
        stopped = model.generate(ids, stopping_criteria=[Stop()], **use, **kw)
        assert all(re.fullmatch(rb"[0-9]{3}", t) for t in texts(stopped, 2))
        calls.clear()
        hook = model.register_forward_hook(fail)
        with pytest.raises(Broken):
            model.generate(ids, **use, **kw)
        hook.remove()
        out = model.generate(ids, **use, **kw)
        assert all(re.fullmatch(rb"[0-9]{12}", t) for t in texts(out, 2))
    # The unfinished output itself as the next prompt is taken up where it was, or begun anew after a reset.
    processor.reset()
    out = model.generate(stopped, logits_processor=[processor], **kw)
    assert all(re.fullmatch(rb"[0-9]{12}", t) for t in texts(out, stopped.shape[1]))


def test_output_of_every_step_is_kept(model, vocabulary):
    """Scores that generate keeps are not the processor's to write into again, and logits are those of the model."""
    patterns, indexes = mixed(vocabulary, 4)
    inputs = batch(PROMPTS[:4])
    kw = {"max_new_tokens": 8, "do_sample": False, "return_dict_in_generate": True, "output_scores": True}
    out = model.generate(**inputs, logits_processor=[GuideLogitsProcessor(indexes)], output_logits=True, **kw)
    for step, (scores, logits) in enumerate(zip(out.scores, out.logits, strict=True)):
        assert logits.isfinite().all()
        token = out.sequences[:, inputs["input_ids"].shape[1] + step]
        for row, (index, id) in enumerate(zip(indexes, token.tolist(), strict=True)):
            if index is not None and id not in (EOS, EOT, PAD):
                assert scores[row].argmax() == id and scores[row].isneginf().any()


def test_large_scores_are_not_shared():
    """Rows of megabytes are written into memory that is used again, but never while anybody holds it."""
    size = 150_000
    tokens = [bytes([i]) for i in range(256)] + [b""] * (size - 256)
    v = interlock.Vocabulary(tokens, eos_token_ids=[256])
    processor = GuideLogitsProcessor(interlock.Index.from_regex("[ab]{9}", v))
    ids, kept, views = torch.tensor([[1], [2]]), [], []
    for step in range(8):
        scores = torch.randn(2, size)
        out = processor(ids, scores)
        assert scores.isfinite().all()
        assert out.isfinite().nonzero()[:, 1].tolist() == [97, 98] * 2
        assert torch.equal(out[:, 97:99], scores[:, 97:99])
        if step % 3 == 0:
            kept.append((out, out.clone()))
        if step % 3 == 1:
            views.append((out[1, 97:99].numpy(), out[1, 97:99].clone().numpy()))
        ids = torch.cat([ids, torch.tensor([[97], [98]])], dim=1)
    assert all(torch.equal(a, b) for a, b in kept)
    assert all((a == b).all() for a, b in views)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("width", [300, 331])
def test_copies_are_what_masking_in_place_gives(vocabulary, dtype, width):
    """Logits wider than the vocabulary, rows without an index among the others, every dtype."""
    indexes = [interlock.Index.from_regex("[ab]c", vocabulary), None, interlock.Index.from_regex("[^x]*", vocabulary)]
    ids = torch.tensor([[1], [2], [3]])
    scores = torch.randn(3, width).to(dtype)
    before = scores.clone()
    copied = GuideLogitsProcessor(indexes)(ids, scores)
    assert torch.equal(scores, before)
    in_place = GuideLogitsProcessor(indexes, in_place=True)(ids, scores)
    assert in_place is scores and torch.equal(copied, in_place)
    assert torch.equal(copied[1], before[1])
    assert copied[0].isfinite().nonzero().flatten().tolist() == [97, 98]
    assert copied[2, WIDTH:].isneginf().all()


def test_a_budget_too_small_for_what_a_trigger_leads_to(vocabulary):
    index = interlock.Index.from_regex("[0-9]{9}", vocabulary)
    with pytest.raises(interlock.BudgetError):
        GuideLogitsProcessor(index, trigger="=>", max_tokens=8)(torch.tensor([[1]]), torch.zeros(1, WIDTH))


@pytest.mark.parametrize("stop", [WIDTH, -1, 2**40])
def test_stop_ids_that_the_vocabulary_lacks_are_refused(model, vocabulary, stop):
    index = interlock.Index.from_regex("x", vocabulary)
    required = Triggered({"=>": index}, required=True)
    for constraint in (index, required, [None, required]):
        with pytest.raises(interlock.ArgumentError, match=f"stop token id {stop} "):
            GuideLogitsProcessor(constraint, stop_token_ids=[EOS, stop])
    calls = []
    hook = model.register_forward_pre_hook(lambda *_: calls.append(1))
    for loop in (jump_forward, forced_drafts):
        options = {"custom_generate": loop, "constraints": required, "eos_token_id": [EOS, stop], "max_new_tokens": 3}
        with pytest.raises(interlock.ArgumentError, match=f"stop token id {stop} "):
            model.generate(torch.tensor([[65]]), **options)
    hook.remove()
    assert calls == []
    # One that the output needs, or none at all, is refused before the trigger comes, too.
    for unsuitable in ([ord("x")], []):
        with pytest.raises(interlock.ArgumentError, match="stop"):
            GuideLogitsProcessor(required, stop_token_ids=unsuitable)(torch.tensor([[1]]), torch.zeros(1, WIDTH))


def test_rows_keep_the_prompt_in_front_of_them(vocabulary):
    """Generated again from the start, rows of one constraint have had the same text so far, which is none."""
    index = interlock.Index.from_regex("[ab]{9}", vocabulary)
    processor = GuideLogitsProcessor(index, canonical=True)
    prompts, scores = torch.tensor([[1], [2], [2]]), torch.zeros(3, WIDTH)
    once = torch.cat([prompts, torch.tensor([[97], [97], [97]])], dim=1)
    twice = torch.cat([once, torch.tensor([[97], [97], [98]])], dim=1)
    for ids in (prompts, once, twice, prompts, once, twice, once):
        processor(ids, scores)
        rows = processor._batch.rows()
        assert [row.context for row in rows] == [[1], [2], [2]]
        assert [row.tokens for row in rows] == ids[:, 1:].tolist()


def test_a_processor_that_is_no_list_is_refused_by_name(model, vocabulary):
    processor = GuideLogitsProcessor(interlock.Index.from_regex("ab", vocabulary))
    assert processor
    with pytest.raises(interlock.ArgumentError, match=r"pass logits_processor=\[processor\]"):
        model.generate(torch.tensor([[1, 2]]), logits_processor=processor, max_new_tokens=4)


def test_an_index_of_another_vocabulary_is_refused():
    small = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[256])
    processor = GuideLogitsProcessor(interlock.Index.from_regex("[a-z]+", small))
    with pytest.raises(interlock.ArgumentError, match="scores 49152 tokens, and the index is for a vocabulary of 257"):
        processor(torch.tensor([[97]]), torch.zeros(1, 49_152))
    # Models pad what they score.
    assert processor(torch.tensor([[97]]), torch.zeros(1, 320)).isfinite().sum() == 26
    with pytest.raises(interlock.ArgumentError, match="trigger is a text or a list of token ids, not int"):
        GuideLogitsProcessor(interlock.Index.from_regex("a", small), trigger=5)
