"""Masks of grammars that strangers send are bounded work, and a guide that fails costs no other one."""

import numpy as np
import pytest

import interlock

pytestmark = pytest.mark.usefixtures("room_for_all_sources")

LIMITS = {"max_mask_steps": 20_000}


def terminals_of_the_same_texts(count):
    return "start: " + " | ".join(f'/.*a.{{{i}}}/ "x"' for i in range(count))


@pytest.fixture(scope="module")
def vocabulary():
    rng = np.random.default_rng(0)
    words = {bytes(rng.choice(list(b"ab cx"), rng.integers(2, 8)).tolist()) for _ in range(3_000)}
    return interlock.Vocabulary([bytes([i]) for i in range(256)] + sorted(words) + [b""], [256 + len(words)])


@pytest.fixture(scope="module")
def hostile(vocabulary):
    return interlock.Index.from_grammar(terminals_of_the_same_texts(25), vocabulary, limits=LIMITS)


def test_a_mask_that_is_too_much_work_is_a_limit_error(hostile, vocabulary):
    guide, bits = hostile.guide(), interlock.allocate_bitmask(1, vocabulary)
    with pytest.raises(interlock.LimitError, match="steps of the masks of a grammar exceeds") as caught:
        guide.fill_bitmask(bits)
    error = caught.value
    assert (error.field, error.limit) == ("max_mask_steps", 20_000) and error.value > 20_000
    assert error.is_client_error and "Limits" not in error.client_message
    for ask in (guide.allowed_token_ids, guide.forced_bytes, lambda: guide.try_advance(97), guide.fork):
        with pytest.raises(interlock.LimitError):
            ask()
    # What was taken is known all the same.
    assert (guide.num_tokens, guide.tokens, guide.is_terminated) == (0, [], False)


def test_a_guide_that_fails_in_a_batch_costs_its_row_alone(hostile, vocabulary):
    good = interlock.Index.from_regex("a+", vocabulary)
    alone = interlock.allocate_bitmask(1, vocabulary)
    good.guide().fill_bitmask(alone)
    for threads in (1, 2):
        guides = [good.guide(), hostile.guide(), None, good.guide(), good.guide(), good.guide(), good.guide()]
        bits = interlock.allocate_bitmask(len(guides), vocabulary)
        bits[:] = 7
        with pytest.raises(interlock.LimitError, match="guide 1 of the batch: ") as caught:
            interlock.fill_bitmasks(guides, bits, threads=threads)
        assert caught.value.batch_index == 1
        assert (bits[[0, 3, 4, 5, 6]] == alone).all() and (bits[2] == -1).all()
        guides[1] = None
        assert interlock.fill_bitmasks(guides, bits, threads=threads)


def test_what_a_token_gives_back_is_enough_for_everyday_grammars(vocabulary):
    """Each mask is new, and together they take many times the bound."""
    grammar = 'start: item+\nitem: /[a-z]{1,300}/ | NUMBER | "(" start ")"\nNUMBER: /[0-9]{1,300}/\n%ignore / +/'
    index = interlock.Index.from_grammar(grammar, vocabulary, limits={"max_mask_steps": 200_000})
    guide, bits = index.guide(), interlock.allocate_bitmask(1, vocabulary)
    for byte in b"(" * 100 + b"ab " * 40 + b"7" * 300 + b")" * 50:
        guide.fill_bitmask(bits)
        guide.advance(byte)


@pytest.mark.parametrize("count", [50, 200])
@pytest.mark.parametrize("lexer", ["any", "dynamic", "contextual"])
def test_strangers_grammars_are_bounded_under_every_lexer(vocabulary, count, lexer):
    for text in (
        terminals_of_the_same_texts(count),
        "start: " + " | ".join(f'/.*{i}/ "x"' for i in range(count)),
        "start: a\na: " + " | ".join(f"/.*{i}/ a?" for i in range(count)),
    ):
        try:
            index = interlock.Index.from_grammar(text, vocabulary, lexer=lexer)
            guide, bits = index.guide(), interlock.allocate_bitmask(1, vocabulary)
            for byte in b"a1 2aab3":
                guide.fill_bitmask(bits)
                if not guide.try_advance(byte):
                    break
        except (interlock.LimitError, interlock.UnsatisfiableError):
            continue


def test_budgets_of_repeated_repetitions_are_bounded(vocabulary):
    """Below each repetition stand as many states as it counts, each with as many items: gigabytes."""
    for text in ('start: ("a"~1..9999)~1..9999', 'start: (("a"~1..999)~1..999)~1..999'):
        guide = interlock.Index.from_grammar(text, vocabulary).guide(max_tokens=512)
        bits = interlock.allocate_bitmask(1, vocabulary)
        with pytest.raises(interlock.LimitError, match="of a grammar exceeds its limit"):
            for _ in range(4):
                guide.fill_bitmask(bits)
                guide.advance(97)


def rules_that_may_be_nothing(count):
    rules = "".join(f'r{i}: r{i + 1}? r{i + 1}? "x"?\n' for i in range(count))
    return f'start: r0\n{rules}r{count}: "q"? start?\n'


def rules_that_double(count):
    rules = "".join(f'r{i}: r{i + 1} r{i + 1} | "x"\n' for i in range(count))
    return f'start: r0\n{rules}r{count}: "y"\n'


@pytest.mark.parametrize("max_tokens", [None, 512, 4_095])
@pytest.mark.parametrize("text", [rules_that_may_be_nothing(300), rules_that_double(400)], ids=["nothing", "double"])
def test_rules_that_lead_everywhere_are_bounded_at_masks_and_at_tokens(vocabulary, text, max_tokens):
    index = interlock.Index.from_grammar(text, vocabulary)
    guide, bits = index.guide(max_tokens=max_tokens), interlock.allocate_bitmask(1, vocabulary)
    try:
        for byte in b"yxqyxxyyq" * 4:
            guide.fill_bitmask(bits)
            guide.try_advance(byte)
    except interlock.LimitError as error:
        assert error.field == "max_mask_steps"


def test_a_budget_that_asks_much_leaves_out_tokens_and_comes_to_the_end(vocabulary):
    """What is left out is never the way to the end: masks stay narrower than they could be, and are never empty."""
    text = "start: " + " | ".join(f'/[abc]*{"abc"[i % 3]}[abc]{{{i % 5}}}/ "x" s{i}' for i in range(12))
    text += "".join(f'\ns{i}: "{i}" start?' for i in range(12))
    roomy = interlock.Index.from_grammar(text, vocabulary)
    narrow = interlock.Index.from_grammar(text, vocabulary, limits={"max_mask_steps": 100_000})
    bits = interlock.allocate_bitmask(1, vocabulary)
    rng = np.random.default_rng(3)
    ended = 0
    for _ in range(8):
        guide, twin = narrow.guide(max_tokens=12), roomy.guide(max_tokens=12)
        try:
            while not guide.is_terminated:
                guide.fill_bitmask(bits)
                allowed = guide.allowed_token_ids()
                assert len(allowed) > 0 and set(allowed.tolist()) <= set(twin.allowed_token_ids().tolist())
                token = int(rng.choice(allowed))
                guide.advance(token)
                twin.advance(token)
            ended += 1
        except interlock.LimitError:
            continue
    assert ended > 0
