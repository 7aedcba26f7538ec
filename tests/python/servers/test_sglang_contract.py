"""The SGLang plug-in against the recorded interface of SGLang 0.5.23, which is not needed for it."""

import inspect
import sys
import time
import types

import pytest
import sglang_stand_in as stand_in
from sglang_stand_in import THINK_END, TOOL, WORDS, Request, allowed, bits, byte, made_vocabulary

import interlock
from interlock import ArgumentError, TokenRejected
from interlock.integrations import sglang as plugin
from interlock.integrations.server_counts import counts
from interlock.integrations.sglang._options import Options


@pytest.fixture
def backend(sglang):
    """A backend with default options, over a small vocabulary."""
    return stand_in.made_backend(sglang)


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
        ("ebnf", 'start: "(" start ")" | "x"', "((x))"),
        ("ebnf", 'root ::= "(" root ")" | "x"', "((x))"),
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
        (("ebnf", 'start: "a" b'), "GrammarError: line 1, column 12"),
        (("full_assistant_ebnf", 'start: "a" start'), "UnsatisfiableError"),
        (("structural_tag", "{}"), "StructuralTagError: a structural tag needs the field 'type'"),
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
    assert made.asked == [(300, [0, 3, 4], [THINK_END, TOOL])]
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
    with pytest.raises(interlock.ArgumentError, match="whitespace"):
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


def test_what_is_counted(sglang, backend):
    numbers, heard = counts(), []
    numbers.registry.tell(heard.append)
    before = {name: numbers.refusals.value(name, "engine") for name in ("pattern", "unsupported", "schema", "grammar")}
    compiled, rejected = numbers.compile_seconds.count("compiled"), numbers.rejected.value()
    backend.dispatch_regex("a")
    backend.dispatch_regex("(")
    backend.dispatch_json("{")
    backend.dispatch_regex(r"(a)\1")
    backend.dispatch_ebnf("root")
    grammar = backend.dispatch_regex("a")
    with pytest.raises(TokenRejected):
        grammar.accept_token(3)
    assert {name: numbers.refusals.value(name, "engine") - was for name, was in before.items()} == dict.fromkeys(
        before, 1
    )
    assert numbers.compile_seconds.count("compiled") == compiled + 2 and numbers.rejected.value() == rejected + 1
    assert [change.name for change in heard].count("interlock_refusals") == 4
    rows = numbers.rows.value()
    sglang.grammar.fill_entries([stand_in.GrammarRow(i, grammar.copy()) for i in range(2)], bits(2))
    assert numbers.rows.value() == rows + 2
