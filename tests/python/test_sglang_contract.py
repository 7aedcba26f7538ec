"""The SGLang plug-in against the recorded interface of SGLang 0.5.23, which is not needed for it."""

import importlib
import inspect
import sys
import threading
import time
import types

import numpy as np
import pytest
import sglang_stand_in as stand_in

import interlock
from interlock import ArgumentError, TokenRejected
from interlock.integrations import sglang as plugin
from interlock.integrations.sglang._options import Options

WORDS = ["</think>", "<tool>", "ab", "[[", "]]"]
THINK_END, TOOL, AB = 5, 6, 7


def made_vocabulary(special=()):
    """Ids 0 to 4 are a stop token, padding and so on; then words; the bytes begin at 16."""
    tokens = [b""] * 5 + [word.encode() for word in WORDS]
    tokens += [b""] * (16 - len(tokens)) + [bytes([i]) for i in range(256)]
    return interlock.Vocabulary(tokens, eos_token_ids=[0], special_token_ids=sorted({1, 2, *special}), size=300)


def byte(text):
    return [16 + b for b in text.encode()]


def text_of(grammar):
    return grammar.index.vocabulary.decode(grammar.guide.tokens).decode()


@pytest.fixture
def sglang(monkeypatch):
    """The stand-in, and the plug-in's modules imported with it."""
    for name in [name for name in sys.modules if name.startswith("interlock.integrations.sglang._")]:
        monkeypatch.delitem(sys.modules, name)
    registry, choices = stand_in.install(monkeypatch)
    names = ("_backend", "_grammar", "_reasoning", "_requests", "_masks", "_counters", "_keeping", "_compiling")
    modules = {name[1:]: importlib.import_module(f"interlock.integrations.sglang.{name}") for name in names}
    # They were imported with the stand-in: nobody else may find them.
    for name in [name for name in sys.modules if name.startswith("interlock.integrations.sglang._")]:
        monkeypatch.setitem(sys.modules, name, sys.modules.pop(name))
    return types.SimpleNamespace(registry=registry, choices=choices, **modules)


@pytest.fixture
def backend(sglang):
    return sglang.backend.InterlockGrammarBackend(made_vocabulary, Options(warm_up_ms=0))


def bits(rows=1):
    return interlock.allocate_bitmask(rows, 300)


def allowed(row):
    return {t for t in range(300) if int(row[t // 32]) >> (t % 32) & 1}


class Request:
    """As much of a request as the plug-in reads."""

    def __init__(self, kind="regex", source="[0-9]{3}", prompt=(1, 20, 21), **asked):
        self.rid, self.grammar_key, self.origin_input_ids = "r", (kind, source), list(prompt)
        defaults = {"max_new_tokens": 128, "min_new_tokens": 0, "stop_token_ids": None}
        self.sampling_params = types.SimpleNamespace(**{**defaults, **asked})
        self.grammar = self.message = None

    def set_finish_with_abort(self, message):
        self.grammar, self.message = None, message


# --- the interface ---


def test_the_stand_in_has_the_recorded_signatures():
    for name, there in stand_in.RECORD["classes"].items():
        cls = getattr(stand_in, name.partition(":")[2])
        for method, recorded in there.items():
            value = inspect.getattr_static(cls, method, None)
            if method in vars(cls) and recorded != "property":
                kind = "static " if isinstance(value, staticmethod) else "method "
                assert kind + stand_in.signature(getattr(cls, method)) == recorded, (name, method)
    for name, methods in stand_in.RECORD["methods"].items():
        cls = getattr(stand_in, name.partition(":")[2], None)
        for method, recorded in methods.items():
            assert cls is None or stand_in.signature(getattr(cls, method)) == recorded
    for cls in ("GrammarStats", "GrammarRow"):
        there = list(inspect.signature(getattr(stand_in, cls)).parameters)
        assert there == stand_in.RECORD["fields"][f"{stand_in.BASE}:{cls}"]


def test_every_method_can_be_called_as_sglang_calls_it(sglang):
    """Whoever calls with the recorded arguments, by position or by name, is understood."""
    ours = {
        "BaseGrammarObject": sglang.grammar.InterlockGrammar,
        "BaseGrammarBackend": sglang.backend.InterlockGrammarBackend,
        "ReasonerGrammarObject": sglang.reasoning.InterlockReasonerGrammar,
        "ReasonerGrammarBackend": sglang.reasoning.InterlockReasonerBackend,
    }
    for name, there in stand_in.RECORD["classes"].items():
        cls = ours.get(name.partition(":")[2])
        for method, recorded in there.items() if cls else ():
            value = inspect.getattr_static(cls, method, None)
            if method == "__init__" or value is None or recorded == "property":
                continue
            wanted = eval(f"lambda {recorded.split(' ', 1)[1][1:-1]}: 0")
            given = inspect.signature(wanted).parameters.values()
            static = recorded.startswith("static")
            function = value.__func__ if isinstance(value, staticmethod) else value
            begin = [] if static or isinstance(value, staticmethod) else ["self"]
            named = [p.name for p in given if p.name != "self"]
            inspect.signature(function).bind(*begin, **dict.fromkeys(named))
            positional = [p.name for p in given if p.name != "self" and p.kind is p.POSITIONAL_OR_KEYWORD]
            rest = [p.name for p in given if p.kind is p.KEYWORD_ONLY]
            inspect.signature(function).bind(*begin, *positional, **dict.fromkeys(rest))


def test_what_a_backend_must_do_itself_is_done(sglang):
    """The base classes raise for these."""
    ours = {
        stand_in.BaseGrammarObject: sglang.grammar.InterlockGrammar,
        stand_in.BaseGrammarBackend: sglang.backend.InterlockGrammarBackend,
    }
    optional = {
        "initialize_vocab_mask_buffer",
        "_not_supported",
        "enable_strict_thinking",
        "get_request_grammar_key",
        "compile_framed_grammar",
        "init_strict_reasoning_grammar",
    }
    for cls, method in stand_in.missing_methods():
        if cls in ours and method not in optional:
            assert method in vars(ours[cls]), method


def test_the_entry_point(sglang, monkeypatch, caplog):
    before = set(sys.modules)
    plugin.register()
    plugin.register()
    assert list(sglang.registry) == ["interlock"] and sglang.choices.count("interlock") == 1
    assert set(sys.modules) == before, "nothing else is imported until the backend is made"
    monkeypatch.delattr(sys.modules[stand_in.ARGUMENTS], "add_grammar_backend_choices")
    plugin.register()
    assert "no place for interlock" in caplog.text


# --- sources ---


def test_sources_become_grammars(backend):
    for kind, source, text in (
        ("regex", "[0-9]{2}", "12"),
        ("json", '{"type": "array", "maxItems": 0}', "[]"),
        ("json", "$$ANY$$", "[[]]"),
    ):
        grammar = backend._init_value_dispatch((kind, source), False)
        for token in byte(text):
            grammar.accept_token(token)
        grammar.accept_token(0)
        assert grammar.is_terminated() and grammar.grammar_stats.compilation_time > 0


@pytest.mark.parametrize(
    ("key", "words"),
    [
        (("regex", "("), "PatternError"),
        (("regex", r"(a)\1"), "UnsupportedError"),
        (("json", "{"), "SchemaError"),
        (("json", "false"), "UnsatisfiableError"),
        (("json", '{"not":' * 5000), "LimitError"),
        (("ebnf", 'root ::= "a"'), "EBNF grammars are not supported by the interlock backend yet"),
        (("full_assistant_ebnf", 'root ::= "a"'), "EBNF grammars are not supported"),
        (("structural_tag", "{}"), "structural tags are not supported by the interlock backend yet"),
        (("lark", "start: a"), "sources of the kind 'lark' are not supported"),
    ],
)
def test_refusals_say_why(backend, key, words):
    future, is_hit = backend.get_cached_or_future_value(key, False)
    refusal = future.result()
    assert not is_hit and isinstance(refusal, stand_in.InvalidGrammarObject) and words in refusal.error_message
    backend.set_cache(key, refusal.copy())
    assert backend.get_cached_or_future_value(key, False) == (refusal, True)


def test_an_error_that_nobody_foresaw_is_a_refusal(backend, monkeypatch, caplog):
    def broken(*args):
        raise RuntimeError("no")

    monkeypatch.setattr(type(backend.compiler), "_index", broken)
    assert backend.dispatch_regex("a").error_message == "RuntimeError: no" and "could not be compiled" in caplog.text


def test_a_deadline_is_a_refusal_that_is_not_kept(sglang, monkeypatch):
    """And cancelling a future stops its thread, which SGLang's own pool does not."""

    def endless(self, kind, text, cancel):
        while not cancel.is_cancelled:
            time.sleep(0.001)
        raise interlock.CancelledError("stopped")

    kept = sglang.compiling.Compiler._index
    first = lambda self, kind, text, cancel: (
        kept(self, kind, text, cancel) if cancel is None else endless(self, kind, text, cancel)
    )
    monkeypatch.setattr(sglang.compiling.Compiler, "_index", first)
    late = sglang.backend.InterlockGrammarBackend(made_vocabulary, Options(), seconds=0.05)
    key = ("regex", "a")
    refusal = late.get_cached_or_future_value(key, False)[0].result(10)
    assert "compiling took longer than 0.05 s" in refusal.error_message
    late.set_cache(key, refusal.copy())
    assert not late.cache
    patient = sglang.backend.InterlockGrammarBackend(made_vocabulary, Options())
    future = patient.get_cached_or_future_value(key, False)[0]
    while not future.running():
        time.sleep(0.001)
    assert not future.done()
    future.cancel()
    assert "stopped" in future.result(10).error_message
    # One that has not begun yet is cancelled as ever.
    single = sglang.backend.InterlockGrammarBackend(made_vocabulary, Options(compile_threads=1))
    running, waiting = (single.get_cached_or_future_value(("regex", s), False)[0] for s in "ab")
    assert waiting.cancel() and waiting.cancelled()
    running.cancel()
    running.result(10)


def test_what_is_kept_is_bounded(sglang):
    small = sglang.backend.InterlockGrammarBackend(made_vocabulary, Options(cache_entries=2))
    for source in ("a", "b", "a", "c"):
        value, is_hit = small.get_cached_or_future_value(("regex", source), False)
        if not is_hit:
            small.set_cache(("regex", source), value.result().copy())
    assert list(small.cache) == [("regex", "a"), ("regex", "c")]
    small.reset()
    assert not small.cache
    from interlock.integrations.sglang._grammar_cache import GrammarCache

    by_text = GrammarCache(100, characters=10)
    for text in ("a" * 6, "b" * 6, "c" * 50):
        by_text["regex", text] = object()
    assert [text[0] for _, text in by_text] == ["c"]


# --- a request's grammar ---


def test_tokens(backend):
    grammar = backend.dispatch_regex("[0-9]{2}")
    assert grammar.current_token is None and not grammar.is_terminated() and not grammar.finished
    one, two, letter = byte("12a")
    grammar.accept_token(one)
    with pytest.raises(ValueError, match="after 1 tokens of the regex grammar") as caught:
        grammar.accept_token(letter)
    assert isinstance(caught.value, TokenRejected) and grammar.current_token == one and text_of(grammar) == "1"
    for strange in (-1, 299, 10**9, 1):
        with pytest.raises(ValueError):
            grammar.accept_token(strange)
    grammar.accept_token(two)
    grammar.accept_token(0)
    assert grammar.is_terminated()
    grammar.accept_token(letter)  # After the end there is nothing to take.
    grammar.rollback(2)
    assert text_of(grammar) == "1" and not grammar.is_terminated()
    with pytest.raises(ValueError):
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
    for old, new in (([x, a, b], [x, b]), ([x, a], [x]), ([x, x, a, b], [a, x, a, b])):
        with pytest.raises(ValueError):
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


# --- the whole backend, reasoning ---


class Added:
    def __init__(self, content):
        self.content = content


def tokenizer_of(vocabulary, **more):
    """A tokenizer of which only the plug-in's own questions are answered."""
    return types.SimpleNamespace(
        eos_token_id=0,
        additional_stop_token_ids={4},
        added_tokens_decoder={5 + i: Added(word) for i, word in enumerate(WORDS)},
        chat_template="{{ x }}<tool>",
        vocabulary=vocabulary,
        **more,
    )


@pytest.fixture
def made(sglang, monkeypatch):
    """What SGLang calls, with a vocabulary that needs no tokenizer library."""
    asked = []

    def vocabulary_for(tokenizer, size, eos_token_ids, special_token_ids=()):
        asked.append((size, sorted(eos_token_ids), sorted(special_token_ids)))
        return made_vocabulary(special_token_ids)

    monkeypatch.setattr(sglang.backend, "vocabulary_for", vocabulary_for)
    monkeypatch.setattr(sglang.backend, "recognised_tokenizer", lambda tokenizer: tokenizer)

    def make(eos=(0, 3), **arguments):
        defaults = {"tp_size": 1, "pp_size": 1, "reasoning_parser": None}
        args = types.SimpleNamespace(**{**defaults, **arguments})
        plugin.register()
        return sglang.registry["interlock"](args, tokenizer_of(None), 300, eos)

    make.asked = asked
    return make


def test_the_backend_that_sglang_makes(sglang, made, monkeypatch):
    backend = made(eos={0, 3})
    assert made.asked == [(300, [0, 3, 4], [TOOL])]
    assert isinstance(backend, sglang.backend.InterlockGrammarBackend) and backend.executor._seconds == 10
    grammar = backend.dispatch_regex("<tool>|x")
    mask = bits()
    grammar.fill_vocab_mask(mask, 0)
    assert TOOL not in allowed(mask[0]) and set(byte("<x")) <= allowed(mask[0])
    assert made(tp_size=2).executor._seconds is None, "ranks could disagree about the time"
    monkeypatch.setenv("INTERLOCK_SGLANG_RESERVED", "none")
    made(eos=None)
    assert made.asked[-1] == (300, [0, 4], [])
    monkeypatch.setenv("INTERLOCK_SGLANG_BUGDET", "on")
    with pytest.raises(ArgumentError, match="INTERLOCK_SGLANG_BUGDET is no option; there are .*SGLANG_BUDGET"):
        made()


@pytest.mark.parametrize(
    ("arguments", "whitespace"),
    [
        ({}, "flexible"),
        ({"constrained_json_disable_any_whitespace": True}, "compact"),
        ({"constrained_json_whitespace_pattern": "[ ]?"}, "[ ]?"),
        ({"constrained_json_max_whitespace_cnt": 2}, r"[ \t\n\r]{0,2}"),
    ],
)
def test_the_servers_whitespace(made, arguments, whitespace):
    assert made(**arguments).compiler._whitespace == whitespace


def test_a_whitespace_that_is_none_ends_the_start(made):
    with pytest.raises(interlock.UnsupportedError, match="whitespace"):
        made(constrained_json_whitespace_pattern="x")


def test_reasoning(sglang, made):
    backend = made(reasoning_parser="deepseek-r1")
    assert isinstance(backend, sglang.reasoning.InterlockReasonerBackend)
    assert made.asked[-1][2] == [THINK_END, TOOL]
    assert backend.executor is backend.grammar_backend.executor
    future, _ = backend.get_cached_or_future_value(("regex", "[0-9]{2}"), True)
    grammar = future.result()
    assert isinstance(grammar, sglang.reasoning.InterlockReasonerGrammar)
    assert isinstance(grammar.copy(), sglang.reasoning.InterlockReasonerGrammar)
    req = Request(max_new_tokens=9)
    req.grammar = grammar
    sglang.requests.bind(req, Options())
    mask = bits(2)
    rows = [stand_in.GrammarRow(1, grammar)]
    grammar.fill_vocab_mask_batched(rows, mask)
    assert (mask == -1).all()
    for token in (*byte("so"), THINK_END):
        grammar.accept_token(token)
    assert grammar.grammar.terms.max_tokens == 8 - 3
    grammar.fill_vocab_mask_batched(rows, mask)
    assert allowed(mask[1]) == set(byte("0123456789"))
    spent = req.grammar = backend._init_value_dispatch(("regex", "[0-9]{2}"), True)
    sglang.requests.bind(req, Options())
    for token in (*byte("so much"), THINK_END):
        spent.accept_token(token)
    assert spent.grammar.terms.max_tokens is None


# --- options, counters ---


def test_options():
    assert Options.from_environment({}) == Options()
    given = {
        "INTERLOCK_SGLANG_COMPILE_SECONDS": "2.5",
        "INTERLOCK_SGLANG_BUDGET": "off",
        "INTERLOCK_SGLANG_LIMITS": "max_depth=50, max_rules=1000",
        "INTERLOCK_SGLANG_SPELLING": "any",
        "ANOTHER": "x",
    }
    options = Options.from_environment(given)
    assert options.compile_seconds == 2.5 and not options.budget and options.spelling == "any"
    assert options.limits == {"max_depth": 50, "max_rules": 1000}
    for name, value in (
        ("COMPILE_SECONDS", "-1"),
        ("COMPILE_SECONDS", "soon"),
        ("COMPILE_THREADS", "0"),
        ("WARM_UP_MS", "nan"),
        ("BUDGET", "perhaps"),
        ("FORMATS", "check"),
        ("LIMITS", "max_depth"),
        ("LIMITS", "max_dept=3"),
    ):
        with pytest.raises(ArgumentError, match=f"INTERLOCK_SGLANG_{name} is"):
            Options.from_environment({f"INTERLOCK_SGLANG_{name}": value})


def test_counters_and_their_sink(sglang, backend):
    heard = []
    sglang.counters.set_sink(lambda *told: heard.append(told))
    try:
        before = sglang.counters.counters()
        backend.dispatch_regex("a")
        backend.dispatch_regex("(")
        grammar = backend.dispatch_regex("a")
        with pytest.raises(TokenRejected):
            grammar.accept_token(3)
    finally:
        sglang.counters.set_sink(None)
    after = sglang.counters.counters()
    name = 'refusals{error="PatternError",kind="regex"}'
    assert after[name] == before.get(name, 0) + 1
    assert [name for name, _, _ in heard].count("compiles") == 2 and ("rejected_tokens", 1, {}) in heard


def test_counters_of_threads_add_up(sglang):
    def work():
        for _ in range(500):
            sglang.counters.count("compiles", kind="test")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sglang.counters.counters()['compiles{kind="test"}'] == 2000
