"""One request's grammar in SGLang: tokens, masks, draft trees, jump-forward, and what a request asks for beside it.

SGLang is not needed: ``sglang_stand_in`` is in its place.
"""

import sys

import numpy as np
import pytest
import sglang_stand_in as stand_in
from sglang_stand_in import AB, Request, allowed, bits, byte, text_of

import interlock
from interlock import TokenRejected
from interlock.integrations.sglang._options import Options


@pytest.fixture
def backend(sglang):
    """A backend with default options, over a small vocabulary."""
    return stand_in.made_backend(sglang)


def test_tokens(backend):
    grammar = backend.dispatch_regex("[0-9]{2}")
    assert grammar.current_token is None and not grammar.is_terminated() and not grammar.finished
    one, two, letter = byte("12a")
    grammar.accept_token(one)
    with pytest.raises(ValueError, match="after 1 token of the regex grammar") as caught:
        grammar.accept_token(letter)
    assert isinstance(caught.value, TokenRejected) and grammar.current_token == one and text_of(grammar) == "1"
    for strange, said in (
        (-1, "no token has the id -1"),
        (299, "token 299 is refused: it spells no text"),
        (10**9, "token 1000000000 is out of range"),
        (1, "token 1 is refused: it spells no text"),
    ):
        with pytest.raises(TokenRejected, match=f"{said}.* .after 1 token of the regex grammar"):
            grammar.accept_token(strange)
    grammar.accept_token(two)
    grammar.accept_token(0)
    assert grammar.is_terminated()
    grammar.accept_token(letter)  # After the end there is nothing to take.
    grammar.rollback(2)
    assert text_of(grammar) == "1" and not grammar.is_terminated()
    with pytest.raises(ValueError, match="cannot roll back 5 tokens: the guide has taken 1"):
        grammar.rollback(5)
    grammar.finished = True
    assert grammar.finished and "regex" in repr(grammar)


def test_copies(backend):
    template = backend.dispatch_regex("[0-9]{2}")
    first, second = template.copy(), template.copy()
    first.accept_token(byte("1")[0])
    assert first.grammar_stats.is_cache_hit and not template.grammar_stats.is_cache_hit
    assert text_of(first) == "1" and text_of(second) == "" and template._guide is None
    third = first.copy()
    third.accept_token(byte("2")[0])
    assert text_of(third) == "12" and text_of(first) == "1"


def test_masks(backend):
    grammar = backend.dispatch_regex("[0-9]{2}")
    mask = bits(3)
    grammar.fill_vocab_mask(mask, 1)
    assert allowed(mask[1]) == set(byte("0123456789")) and (mask[0] == -1).all() and (mask[2] == -1).all()
    grammar.reset_vocab_mask(mask)
    assert (mask == -1).all()


def test_a_batch_is_one_call(backend, monkeypatch):
    calls = []
    fill = interlock.fill_bitmasks
    monkeypatch.setattr(interlock, "fill_bitmasks", lambda *a, **k: calls.append(len(a[0])) or fill(*a, **k))

    class Foreign:
        def fill_vocab_mask(self, mask, row):
            mask[row] = 7

    grammars = [backend.dispatch_regex("[0-9]{2}"), backend.dispatch_regex("[a-c]"), Foreign()]
    mask = bits(5)
    rows = [stand_in.GrammarRow(row, g) for row, g in zip((0, 3, 4), grammars, strict=True)]
    grammars[0].fill_vocab_mask_batched(rows, mask)
    assert calls == [2] and allowed(mask[3]) == set(byte("abc")) and (mask[1:3] == -1).all() and (mask[4] == 7).all()
    grammars[0].fill_vocab_mask_batched([], mask)
    assert calls == [2]


def test_torch_masks(backend):
    torch = pytest.importorskip("torch", reason="torch is not installed: make test-torch")
    grammar = backend.dispatch_regex("[0-9]{2}")
    for owner in (grammar, backend):
        mask = owner.allocate_vocab_mask(300, 2, "cpu")
        assert mask.shape == (2, 10) and mask.dtype == torch.int32 and (mask == -1).all()
        grammar.fill_vocab_mask(mask, 1)
        logits = torch.zeros(2, 300)
        owner.apply_vocab_mask(logits=logits, vocab_mask=owner.move_vocab_mask(mask, "cpu"))
        assert torch.isfinite(logits[0]).all() and int(torch.isfinite(logits[1]).sum()) == 10


def test_filters_of_strict_thinking(backend):
    assert backend.is_support_token_filter
    mask = bits(2)
    backend.set_token_filter(mask, [3, 40, 3, -1, 10**6], 1, is_allowed=True)
    assert allowed(mask[1]) == {3, 40} and (mask[0] == -1).all()
    backend.set_token_filter(mask, [40], 1, is_allowed=False, reset_vocab_mask=False)
    assert allowed(mask[1]) == {3}
    backend.set_token_filter(mask, [31, 32], 1, is_allowed=False)
    assert set(range(300)) - allowed(mask[1]) == {31, 32}
    backend.set_token_filter(mask, [], 1, is_allowed=True)
    assert not allowed(mask[1])


def test_a_draft_tree_as_sglang_walks_it(backend):
    """Depth first: take a draft if the row of its parent allows it, fill, go on, take it back."""
    grammar = backend.dispatch_regex("[0-9]{2}")
    one, two, letter = byte("12a")
    children = {-1: [(0, one), (1, letter)], 0: [(2, two)], 1: [], 2: [(3, 0)], 3: []}
    mask, seen = bits(5), []

    def walk(node, row):
        if grammar.is_terminated():
            return
        grammar.fill_vocab_mask(mask, row)
        for child, token in children[node]:
            if int(mask[row][token // 32]) & (1 << (token % 32)):
                grammar.accept_token(token)
                seen.append(child)
                walk(child, child + 1)
                grammar.rollback(1)

    walk(-1, 0)
    assert seen == [0, 2, 3] and text_of(grammar) == "" and allowed(mask[3]) == {0} and (mask[2] == -1).all()


def test_jump_forward(backend):
    grammar = backend.dispatch_regex("x(abé|abè)[0-9]")
    helper = grammar.try_jump_forward(None)
    assert grammar.jump_forward_str_state(helper) == ("xab", -1) and helper[0] == []
    (x, a, b) = byte("xab")
    for token in (x, a):
        grammar.accept_token(token)
    grammar.jump_and_retokenize([x, a], [x, AB], -1)
    assert grammar.guide.tokens == [x, AB] and grammar.current_token == AB
    grammar.jump_and_retokenize([x, AB], [x, a, b], -1)
    assert grammar.guide.tokens == [x, a, b]
    for old, new, said in (
        ([x, a, b], [x, b], "number 1 of the new output, is refused"),
        ([x, a], [x], "the old output is not what this grammar has taken"),
        ([x, x, a, b], [a, x, a, b], "the new output changes tokens before the grammar began"),
    ):
        with pytest.raises(ValueError, match=said):
            grammar.jump_and_retokenize(old, new, -1)
        assert grammar.guide.tokens == [x, a, b]
    # Tokens before the grammar began, as those of reasoning.
    grammar.jump_and_retokenize([9, 9, x, a, b], [9, 9, x, AB], -1)
    assert grammar.guide.tokens == [x, AB]
    # What is forced here is half a character.
    assert grammar.guide.forced_bytes() == b"\xc3" and grammar.try_jump_forward(None) is None
    assert backend.dispatch_regex("[ab]").try_jump_forward(None) is None


# --- what a request asks for ---


def bound(sglang, backend, req, options=Options()):  # noqa: B008
    req.grammar = backend._init_value_dispatch(req.grammar_key, False).copy()
    sglang.requests.bind(req, options)
    return req


def test_the_budget(sglang, backend):
    req = bound(sglang, backend, Request("json", '{"type": "string"}', max_new_tokens=6))
    assert req.grammar.terms.max_tokens == 5
    rng = np.random.default_rng(0)
    while not req.grammar.is_terminated():
        mask = bits()
        req.grammar.fill_vocab_mask(mask, 0)
        req.grammar.accept_token(int(rng.choice(sorted(allowed(mask[0])))))
    assert req.grammar.guide.num_tokens <= 6
    # Without room for a stop token.
    assert bound(sglang, backend, Request(source="[0-9]{3}", max_new_tokens=3)).grammar.terms.max_tokens == 3
    req = bound(sglang, backend, Request(source="[0-9]{3}", max_new_tokens=2))
    assert req.grammar is None
    assert req.message == "BudgetError: max_new_tokens is 2, but a complete output needs 3 tokens"
    # As in vLLM's plug-in: no output is known that is short enough to be counted.
    req = bound(sglang, backend, Request("json", '{"type": "array", "minItems": 1000000000}', max_new_tokens=9))
    assert req.grammar is None
    assert req.message == (
        "BudgetError: max_new_tokens is 9, and no complete output is known that is short enough to be counted"
    )
    off = bound(sglang, backend, Request(source="[0-9]{3}", max_new_tokens=2), Options(budget=False))
    assert off.grammar.terms.max_tokens is None and off.message is None
    for none in (None, 0):
        assert bound(sglang, backend, Request(max_new_tokens=none)).grammar.terms.max_tokens is None


def test_min_new_tokens(sglang, backend):
    req = bound(sglang, backend, Request(source="x*", min_new_tokens=2, stop_token_ids=[byte("y")[0]]))
    assert req.sampling_params.min_new_tokens == 0, "the server holds nothing back any more"
    (x,), mask = byte("x"), bits(2)
    for count in range(3):
        mask[:] = -1
        req.grammar.fill_vocab_mask_batched([stand_in.GrammarRow(1, req.grammar)], mask)
        assert allowed(mask[1]) == ({x} if count < 2 else {x, 0})
        req.grammar.accept_token(x)
    req = bound(sglang, backend, Request(source="xy|x", min_new_tokens=9))
    for token, left in ((x, set(byte("y"))), (byte("y")[0], {0})):
        req.grammar.accept_token(token)
        req.grammar.fill_vocab_mask(mask, 0)
        assert allowed(mask[0]) == left
    # A stop token of the request is all that the grammar permits: it stays.
    req = bound(sglang, backend, Request(source="xy?", min_new_tokens=9, stop_token_ids=byte("y")))
    req.grammar.accept_token(x)
    req.grammar.fill_vocab_mask(mask, 0)
    assert allowed(mask[0]) == {0, byte("y")[0]}


def test_stop_ids_and_the_prompt(sglang, backend):
    req = bound(sglang, backend, Request(stop_token_ids=[1, 3, byte("5")[0], 10**6], prompt=[1, 1, 20, 21]))
    assert req.grammar.terms.stop_token_ids == (0, 1, 3) and req.grammar.terms.context_ids == (1, 20, 21)
    for token in byte("555"):
        req.grammar.accept_token(token)
    mask = bits()
    req.grammar.fill_vocab_mask(mask, 0)
    assert allowed(mask[0]) == {0, 1, 3}
    for prompt in ([], [20, 21], [1, 10**9]):
        assert bound(sglang, backend, Request(prompt=prompt)).grammar.terms.context_ids is None
    assert bound(sglang, backend, Request()).grammar.terms.stop_token_ids is None


def test_the_manager_is_wrapped_once(sglang, backend, monkeypatch, caplog):
    manager_class = sys.modules[stand_in.MANAGER].GrammarManager
    sglang.requests.watch_requests(Options())
    wrapped = manager_class.process_req_with_grammar
    sglang.requests.watch_requests(Options())
    assert manager_class.process_req_with_grammar is wrapped
    manager = manager_class(backend)
    for waits in (True, False):
        req = Request(max_new_tokens=10)
        assert manager.process_req_with_grammar(req) is waits
        if waits:
            assert manager.get_ready_grammar_requests() == [req]
        assert req.grammar.terms.max_tokens == 9
    refused = Request(source="(")
    assert manager.process_req_with_grammar(refused) and manager.get_ready_grammar_requests() == [refused]
    assert refused.message.startswith("PatternError")
    # What is not foreseen refuses that request, and ends no server.
    monkeypatch.setattr(sglang.requests, "terms_of", lambda *args: 1 / 0)
    req = Request()
    manager.process_req_with_grammar(req)
    assert req.message == "ZeroDivisionError: division by zero" and "could not be bound" in caplog.text


def test_another_manager_is_left_alone(sglang, monkeypatch, caplog):
    monkeypatch.setattr(sys.modules[stand_in.MANAGER], "GrammarManager", type("GrammarManager", (), {}))
    sglang.requests.watch_requests(Options())
    assert "max_new_tokens is no budget" in caplog.text


def test_a_guide_that_fails_ends_its_request_and_no_other(backend, sglang, caplog):
    many = "start: " + " | ".join(f'/.*a.{{{i}}}/ "x"' for i in range(9))
    good, hostile = backend.dispatch_regex("[0-9]{2}"), backend.dispatch_regex("[0-9]{2}").copy()
    vocabulary = good.index.vocabulary
    hostile.index = interlock.Index.from_grammar(many, vocabulary, limits={"max_mask_steps": 0})
    mask, alone = bits(2), bits(1)
    good.fill_vocab_mask(alone, 0)
    for _ in range(2):
        hostile.fill_vocab_mask_batched([(1, hostile), (0, good)], mask)
        assert (mask[0] == alone[0]).all() and (mask[1] == -1).all()
    hostile.fill_vocab_mask(mask, 1)
    assert "a request ends: guide 0 of the batch: steps of the masks of a grammar" in caplog.text
    assert not hostile.is_terminated()
    with pytest.raises(ValueError, match="max_mask_steps"):
        hostile.accept_token(*byte("a"))
