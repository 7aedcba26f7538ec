"""Complete tables on a device, beside guides: the same masks, the same steps, the same outputs."""

from __future__ import annotations

import numpy as np
import pytest

import interlock

torch = pytest.importorskip("torch", reason="torch is not installed: make test-torch")

from interlock.gpu import DeviceTables, TableDecoder  # noqa: E402
from interlock.gpu.device_tables import greedy, sampled  # noqa: E402

gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")

FLAT = {
    "type": "object",
    "properties": {"name": {"enum": ["ab", "12"]}, "n": {"type": "boolean"}},
    "additionalProperties": False,
}
SOURCES = [
    ("json_schema", FLAT, {"whitespace": "compact"}),
    ("regex", "(ab|12)*x{0,70}y", {}),
    ("regex", "[0-9]{4}-[0-9]{2}(-[0-9]{2})?", {}),
    ("choices", ["name", "name12", "nö"], {}),
    ("regex", "", {}),
]
# The last one spells text, and ends the output all the same.
STOPS = [None, [256, 263], [257, 256]]


@pytest.fixture(scope="module")
def vocabulary():
    tokens = [bytes([b]) for b in range(256)] + [b"", b"ab", b"12", b'{"', b'":', b"name", b'"}', b""]
    return interlock.Vocabulary(tokens, eos_token_ids=[256], special_token_ids=[263], size=280)


def index_of(kind, source, vocabulary, options):
    return getattr(interlock.Index, f"from_{kind}")(source, vocabulary, **options)


@pytest.mark.parametrize("stops", STOPS)
@pytest.mark.parametrize(("kind", "source", "options"), SOURCES)
def test_masks_and_steps_are_those_of_guides(vocabulary, kind, source, options, stops):
    """Random walks of a batch: whatever token comes, allowed or not, the tables say of it what the guides say."""
    index = index_of(kind, source, vocabulary, options)
    tables = DeviceTables(index, stop_token_ids=stops, device="cpu")
    rng = np.random.default_rng(1)
    guides = [index.guide(stop_token_ids=stops) for _ in range(24)]
    states = tables.start_states(24)
    for _ in range(30):
        bits = interlock.allocate_bitmask(24, vocabulary)
        interlock.fill_bitmasks(guides, bits)
        logits, expected = torch.zeros(24, 280), torch.zeros(24, 280)
        tables.apply(logits, states)
        interlock.apply_bitmask(expected, bits)
        assert torch.equal(logits, expected)
        # Every token of the vocabulary, in every row.
        tokens = torch.arange(280)
        for i in range(0, 24, 5):
            after = tables.advanced(states[i].expand(280), tokens)
            allowed = [guides[i].validate([t]) == 1 for t in range(280)]
            if not guides[i].is_terminated:
                assert (after != tables.refused).tolist() == allowed
        chosen = [int(rng.choice(np.flatnonzero(row.isfinite().numpy()))) for row in expected]
        states = tables.advanced(states, torch.tensor(chosen))
        for guide, token in zip(guides, chosen, strict=True):
            assert guide.is_terminated or guide.try_advance(token)
        assert ((states == tables.ended) == torch.tensor([g.is_terminated for g in guides])).all()


def test_refused_rows_take_stop_tokens_alone(vocabulary):
    tables = DeviceTables(interlock.Index.from_choices(["ab"], vocabulary), stop_token_ids=[256, 263], device="cpu")
    states = tables.advanced(tables.start_states(2), torch.tensor([ord("b"), 257]))
    assert (states == tables.refused).tolist() == [True, False]
    logits = torch.zeros(2, 280)
    tables.apply(logits, states)
    assert torch.nonzero(logits[0].isfinite()).flatten().tolist() == [256, 263]
    assert tables.advanced(states, torch.tensor([256, 256])).tolist() == [tables.refused, tables.ended]


def test_outputs_are_valid_and_those_of_guides(vocabulary):
    """A random model: a decoder on tables writes what a loop over guides writes."""
    index = interlock.Index.from_json_schema(FLAT, vocabulary, whitespace="compact")
    tables = DeviceTables(index, device="cpu")
    weights = torch.randn(280, 280, generator=torch.Generator().manual_seed(0))
    model = lambda tokens: weights[tokens] + torch.arange(tokens.shape[0]).unsqueeze(1) * weights[7]
    decoder = TableDecoder(tables, 16, model=model)
    guides = [index.guide() for _ in range(16)]
    bits, tokens = interlock.allocate_bitmask(16, vocabulary), torch.zeros(16, dtype=torch.int64)
    for _ in range(25):
        interlock.fill_bitmasks(guides, bits)
        logits = model(tokens)
        interlock.apply_bitmask(logits, bits)
        tokens = logits.argmax(-1)
        assert torch.equal(decoder.step(), tokens)
        for guide, token in zip(guides, tokens.tolist(), strict=True):
            assert guide.is_terminated or guide.try_advance(token)
    decoder.reset()
    assert decoder.states.tolist() == [tables.start] * 16 and not decoder.tokens.any()


def test_choosing():
    logits = torch.tensor([[0.0, 2.0, -torch.inf], [-torch.inf, 0.0, -torch.inf]])
    assert greedy(logits).tolist() == [1, 1]
    torch.manual_seed(0)
    counts = torch.stack([sampled(logits.bfloat16())[0] for _ in range(2000)]).bincount(minlength=3)
    assert counts[2] == 0 and abs(counts[1] / 2000 - 0.881) < 0.03
    assert {int(sampled(logits)[1]) for _ in range(50)} == {1}


def test_logits_that_the_loop_writes(vocabulary):
    tables = DeviceTables(interlock.Index.from_choices(["no"], vocabulary), device="cpu")
    decoder = TableDecoder(tables, 2, choose=sampled, dtype=torch.bfloat16)
    out = []
    for _ in range(3):
        decoder.logits.copy_(torch.randn(2, 280))
        out.append(decoder.step().clone())
    assert torch.stack(out, 1).tolist() == [[ord("n"), ord("o"), 256]] * 2


def test_refusals(vocabulary):
    recursive = {"type": "object", "properties": {"of": {"$ref": "#"}}, "additionalProperties": False}
    with pytest.raises(interlock.UnsupportedError, match="no complete tables"):
        DeviceTables(interlock.Index.from_json_schema(recursive, vocabulary), device="cpu")
    index = interlock.Index.from_choices(["no"], vocabulary)
    for tokens in ([-1], [280], [], [ord("n"), 256]):
        with pytest.raises(interlock.ArgumentError, match="stop"):
            DeviceTables(index, stop_token_ids=tokens, device="cpu")
    tables = DeviceTables(index, device="cpu")
    assert tables.memory_bytes > 4 * 280
    for logits in (torch.zeros(2, 280), torch.zeros(1, 300), torch.zeros(1, 280, dtype=torch.int32)):
        with pytest.raises(interlock.ArgumentError):
            tables.apply(logits, tables.start_states(1))


@gpu
def test_a_step_as_a_graph(vocabulary):
    """The same tokens from a CUDA graph as from the CPU."""
    index = interlock.Index.from_json_schema(FLAT, vocabulary, whitespace="compact")
    weights = torch.randn(280, 280, generator=torch.Generator().manual_seed(0))
    there = weights.cuda()
    one = TableDecoder(DeviceTables(index, device="cpu"), 8, model=lambda tokens: weights[tokens])
    other = TableDecoder(DeviceTables(index, device="cuda"), 8, model=lambda tokens: there[tokens])
    for _ in range(25):
        assert torch.equal(one.step(), other.step().cpu())
