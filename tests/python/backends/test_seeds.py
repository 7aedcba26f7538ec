"""A seed gives the same output, whatever other calls draw beside it. A tiny model of transformers."""

from __future__ import annotations

import concurrent.futures
import contextlib
import threading

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: make test-torch")
transformers = pytest.importorskip("transformers", reason="transformers is not installed: make test-torch")

from tiny_models import tiny_model, tiny_tokenizer

import interlock
from interlock.integrations.transformers import ToolLoop, jump_forward
from interlock.integrations.transformers._own_draws import OwnDraws

pytestmark = pytest.mark.filterwarnings("ignore::interlock.TightBudgetWarning")

LOOPS = {
    "jump-forward": {},
    "a logits processor": {"jump_forward": False},
    "beams": {"num_beams": 2, "do_sample": True},
    "drafts": {"prompt_lookup_num_tokens": 2},
}


@pytest.fixture(scope="module")
def tokenizer():
    return tiny_tokenizer()


@pytest.fixture(scope="module")
def gen(tokenizer):
    return interlock.from_transformers(tiny_model(tokenizer), tokenizer)


@contextlib.contextmanager
def others_drawing():
    """A thread that draws from torch's own generator all the time, and sets its seed."""
    ended = threading.Event()

    def draw():
        while not ended.is_set():
            torch.manual_seed(3)
            torch.rand(5)

    thread = threading.Thread(target=draw)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@pytest.mark.parametrize("loop", LOOPS)
def test_a_seed_repeats_beside_other_calls(gen, loop):
    def call(seed):
        return gen("One", str, max_tokens=8, temperature=1.0, seed=seed, **LOOPS[loop])

    seeds = list(range(6)) * 2
    alone = [call(seed) for seed in seeds]
    assert alone[:6] == alone[6:] and len(set(alone)) > 1
    with others_drawing(), concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert list(pool.map(call, seeds)) == alone


@pytest.mark.parametrize("loop", LOOPS)
def test_a_seed_leaves_the_state_of_others_as_it_is(gen, loop, monkeypatch):
    """Not even for a while: others may draw meanwhile."""

    def refused(*_):
        raise AssertionError("the generator that all threads share was touched")

    torch.manual_seed(1)
    before = torch.random.get_rng_state()
    for name in ("manual_seed", "set_rng_state"):
        monkeypatch.setattr(torch, name, refused)
        monkeypatch.setattr(torch.random, name, refused)
    gen("One", str, max_tokens=8, temperature=1.0, seed=5, **LOOPS[loop])
    assert torch.equal(before, torch.random.get_rng_state())


def test_streams_in_turns_repeat(gen):
    def stream(seed):
        return gen.stream("One", str, max_tokens=8, temperature=1.0, seed=seed)

    alone = [stream(seed).value for seed in range(4)]
    both = [stream(seed) for seed in range(4)]
    while any([next(one, None) is not None for one in both]):
        pass
    assert [one.value for one in both] == alone


def test_a_batch_repeats(gen):
    def call():
        return gen(["One", "Two", "Three"], str, max_tokens=8, temperature=1.0, seed=4)

    alone = call()
    with others_drawing():
        assert call() == alone


@pytest.mark.parametrize("loop", ["jump-forward", "a logits processor"])
def test_the_rows_of_a_batch_draw_from_one_sequence(gen, loop):
    """As docs/generate.md says: equal prompts have answers of their own, and the whole repeats."""
    options = {"max_tokens": 8, "temperature": 1.0, **LOOPS[loop]}
    made = [gen(["One"] * 4, str, seed=4, **options) for _ in range(2)]
    assert made[0] == made[1] and len(set(made[0])) > 1
    assert gen(["Two", *["One"] * 3], str, seed=4, **options)[1:] != [gen("One", str, seed=4, **options)] * 3


def test_processors_draw_by_the_seed_too(gen):
    """Whatever draws in a call: here noise that a processor adds."""

    def noisy(ids, scores):
        return scores + torch.rand_like(scores) + torch.empty_like(scores).exponential_()

    for loop in (LOOPS["jump-forward"], LOOPS["a logits processor"]):
        made = [gen("One", str, max_tokens=8, logits_processor=[noisy], top_k=50, seed=2, **loop) for _ in range(2)]
        assert made[0] == made[1]


def test_the_numbers_are_those_of_torch():
    torch.manual_seed(9)
    weights = torch.ones(50)
    expected = [torch.multinomial(weights, 1).item() for _ in range(4)]
    draws = OwnDraws(9)
    found = []
    for _ in range(4):
        with draws:
            found.append(torch.multinomial(weights, 1).item())
        torch.rand(3)
    assert found == expected
    chosen = torch.Generator().manual_seed(2)
    with OwnDraws(9):
        assert torch.rand(1, generator=chosen) == torch.rand(1, generator=torch.Generator().manual_seed(2))


def test_tool_loops_and_jump_forward_take_a_seed(gen, tokenizer):
    def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    result = "\n<tool_response>\n${result}\n</tool_response>\n"
    run = ToolLoop(gen.model, tokenizer, [add], format="hermes", result=result)
    with others_drawing():
        made = [run("One", max_tokens=40, temperature=1.0, seed=3).tokens for _ in range(2)]
    assert made[0] == made[1]
    ids = torch.tensor([[5, 6]])
    loop = {"custom_generate": jump_forward, "constraints": gen.index(str), "max_tokens": 8, "do_sample": True}
    with others_drawing():
        rows = [gen.model.generate(ids, max_new_tokens=9, seed=seed, **loop).tolist() for seed in (1, 1, 2)]
    assert rows[0] == rows[1] != rows[2]
