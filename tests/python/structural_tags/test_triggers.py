"""Triggers: free text up to a text or a run of ids, then an index, with the names of special tokens as text."""

from __future__ import annotations

import pytest

import interlock

torch = pytest.importorskip("torch", reason="torch is not installed: make test-torch")
pytest.importorskip("transformers", reason="transformers is not installed: make test-torch")

from interlock.integrations.transformers import GuideLogitsProcessor, Triggered  # noqa: E402
from interlock.integrations._row import Row  # noqa: E402

NAMES = [b"<s>", b"</think>", b"</s>", b"<|h|>", b""]
START, THINK, END, HEAD, SILENT, THINKS = range(256, 262)
WIDTH = 264


@pytest.fixture(scope="module")
def vocabulary():
    """Bytes, special tokens with names but for the last, and a word."""
    tokens = [bytes([i]) for i in range(256)] + NAMES + [b"thinks"]
    special = [START, THINK, HEAD, SILENT]
    return interlock.Vocabulary(tokens, eos_token_ids=[END], special_token_ids=special, size=WIDTH)


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
    assert allowed[5] == {ord("x")} and allowed[6] == {END}
    by_ids = Triggered({(7, 8): index, "!": interlock.Index.from_regex("y", vocabulary)}, required=True)
    assert END not in drive(GuideLogitsProcessor(by_ids), b"p", b"")[0]
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


@pytest.mark.parametrize(
    ("trigger", "tokens"),
    [
        pytest.param("</think>", [97, THINK], id="a special token"),
        pytest.param("</think>", [97, *b"</think>"], id="its letters"),
        pytest.param("</think>\n", [THINK, 10], id="a special token and text"),
        pytest.param("a</think>", [THINK, 97, THINK], id="text and a special token"),
        pytest.param("<|h|>think</think>", [HEAD, *b"think", THINK], id="two special tokens"),
        pytest.param("<|h|>think", [HEAD, *b"<|h|>th", SILENT, *b"ink"], id="a token without a name between"),
        pytest.param("</s>", [97, END], id="a stop token"),
    ],
)
@pytest.mark.parametrize("required", [False, True])
def test_names_of_special_tokens_are_text_of_triggers(vocabulary, trigger, tokens, required):
    index = interlock.Index.from_regex("x", vocabulary)
    allowed = drive(GuideLogitsProcessor(Triggered({trigger: index}, required=required)), b"p", [*tokens, ord("x")])
    assert all(token in may for token, may in zip(tokens, allowed, strict=False))
    assert all(len(may) > 200 for may in allowed[:-2])
    assert allowed[-2] == {ord("x")} and allowed[-1] == {END}


def test_special_tokens_are_named_whole_or_not_at_all(vocabulary):
    index = interlock.Index.from_regex("x", vocabulary)
    row = Row(Triggered({">=": index, "s>": index, "<|h|>thin": index}), None, None)
    for token in (START, ord("="), THINK, ord("s"), SILENT):
        row.advance(token)
        assert row.guide is None
    row = Row(row.constraint, None, None)
    row.advance(START)
    assert row.special() is None
    # Behind the special token a token of text would run past the end.
    row.advance(HEAD)
    assert row.special() == (False, [THINKS])
    for token in b"thi":
        row.advance(token)
        assert row.guide is None
    row.advance(ord("n"))
    assert row.guide is not None


def test_the_first_trigger_that_is_listed_counts(vocabulary):
    x, y = (interlock.Index.from_regex(p, vocabulary) for p in "xy")
    for triggers, allowed in (({"!": x, (33,): y}, "x"), ({(33,): y, "!": x}, "y"), ({"a!": y, "!": x}, "y")):
        assert drive(GuideLogitsProcessor(Triggered(triggers)), b"p", b"a!")[2] == {ord(allowed)}


def test_triggers_that_can_never_come_are_refused():
    tokens = [b"a", b"b", b"xab", b"abx", b"<s>", b"</s>", b""]
    v = interlock.Vocabulary(tokens, eos_token_ids=[5], special_token_ids=[4, 6])
    index = interlock.Index.from_choices(["ab"], v)
    for possible in ("ab", "xabb", "abx", "bx", "xb", "<s>a", "a</s>", "x<s>a"):
        assert Triggered({possible: index}).fired([0]) is None
    for impossible in ("c", "s>", "<", "xx", "abxx", "x<s>x"):
        with pytest.raises(interlock.ArgumentError, match="can never come"):
            Triggered({"ab": index, impossible: index})
    with pytest.raises(interlock.ArgumentError, match="can never come"):
        GuideLogitsProcessor(index, trigger="</think>")


def test_free_rows_take_ids_that_the_vocabulary_lacks(vocabulary):
    index = interlock.Index.from_regex("x", vocabulary)
    row = Row(Triggered({"=>": index, (7, WIDTH - 1): index}), None, None)
    for token in (ord("="), WIDTH, -1, WIDTH + 99):
        row.advance(token)
        assert row.guide is None and row.special() is None
    row.advance(ord(">"))
    assert row.guide is not None
    row.cut(1)
    for token in (WIDTH + 2, 7, WIDTH - 1):
        assert row.guide is None
        row.advance(token)
    assert row.guide is not None
