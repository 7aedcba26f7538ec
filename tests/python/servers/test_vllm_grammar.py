"""What the vLLM plug-in answers for one request and for a batch, without vLLM: as its scheduler calls it."""

from types import SimpleNamespace

import numpy as np
import pytest

import interlock
from interlock.integrations.vllm.backend import Backend, guide_within
from interlock.integrations.vllm.batch import Rows
from interlock.integrations.server_counts import Counts
from interlock.integrations.vllm.grammar import Grammar, LateBudget
from interlock.integrations.vllm.options import Options
from interlock.tools import StructuralTagError

EOS = 256


def allowed(row):
    return {t for t in range(32 * len(row)) if (int(row[t // 32]) >> (t % 32)) & 1}


@pytest.fixture
def rows():
    return Rows(Counts())


def grammar(rows, pattern, vocabulary, budget=None, min_tokens=0, **given):
    index = interlock.Index.from_regex(pattern, vocabulary)
    guide = index.guide(stop_token_ids=[EOS], min_tokens=min_tokens)
    return Grammar("r", guide, rows, [EOS], budget=budget, **given)


def filled(g, vocabulary, row=0):
    bits = interlock.allocate_bitmask(row + 1, vocabulary)
    g.fill_bitmask(bits, row)
    return allowed(bits[row])


def test_tokens_are_taken_validated_and_taken_back(rows, byte_vocabulary):
    g = grammar(rows, "ab|ac", byte_vocabulary)
    assert g.validate_tokens(list(b"abx")) == list(b"ab")
    assert filled(g, byte_vocabulary) == {ord("a")}
    assert g.accept_tokens("r", list(b"ab")) and filled(g, byte_vocabulary) == {EOS}
    assert g.accept_tokens("r", [EOS]) and g.is_terminated()
    g.rollback(2)
    assert not g.is_terminated() and filled(g, byte_vocabulary) == {ord("b"), ord("c")}
    g.reset()
    assert filled(g, byte_vocabulary) == {ord("a")}


def test_a_refused_token_is_counted_and_changes_nothing(rows, byte_vocabulary, caplog):
    g = grammar(rows, "ab|ac", byte_vocabulary)
    assert not g.accept_tokens("r", list(b"ax"))
    assert rows.metrics.rejected.value() == 1 and g.guide.num_tokens == 0
    assert "request r: token 120 is not allowed" in caplog.text


def test_rows_are_owed_until_the_end_of_the_step(rows, byte_vocabulary):
    """One call writes all; a grammar that moves has its row written before."""
    one, two = grammar(rows, "ab", byte_vocabulary), grammar(rows, "cd", byte_vocabulary)
    bits = interlock.allocate_bitmask(5, byte_vocabulary)
    rows.collect()
    one.fill_bitmask(bits, 0)
    assert (bits[0] == -1).all()
    one.accept_tokens("r", [ord("a")])
    assert allowed(bits[0]) == {ord("a")}
    one.fill_bitmask(bits, 1)
    one.rollback(1)
    assert allowed(bits[1]) == {ord("b")}
    one.fill_bitmask(bits, 3)
    two.fill_bitmask(bits, 4)
    assert (bits[3:] == -1).all()
    rows.finish()
    assert allowed(bits[3]) == {ord("a")} and allowed(bits[4]) == {ord("c")} and (bits[2] == -1).all()
    assert rows.metrics.rows.value() == 4 and rows.metrics.fill_seconds.count() == 3


def test_an_error_in_a_step_leaves_no_rows_behind(rows, byte_vocabulary):
    g = grammar(rows, "ab", byte_vocabulary)
    rows.collect()
    g.fill_bitmask(np.zeros((1, 1), np.int32), 0)
    with pytest.raises(interlock.ArgumentError):
        rows.finish()
    assert filled(g, byte_vocabulary) == {ord("a")}


def test_min_tokens_keep_the_output_going(rows, byte_vocabulary):
    g = grammar(rows, "a{1,5}", byte_vocabulary, min_tokens=3)
    for _ in range(2):
        g.accept_tokens("r", [ord("a")])
        assert filled(g, byte_vocabulary) == {ord("a")}
    assert g.validate_tokens([EOS]) == [] and g.validate_tokens([ord("a"), EOS]) == [ord("a"), EOS]
    g.accept_tokens("r", [ord("a")])
    assert filled(g, byte_vocabulary) == {ord("a"), EOS}


def test_min_tokens_end_where_nothing_else_may_follow(rows, byte_vocabulary):
    g = grammar(rows, "aa", byte_vocabulary, min_tokens=30)
    g.accept_tokens("r", list(b"aa"))
    assert filled(g, byte_vocabulary) == {EOS} and g.validate_tokens([EOS]) == [EOS]


def test_an_ignored_end_repeats(rows, byte_vocabulary):
    g = grammar(rows, "aa", byte_vocabulary, endless=True)
    assert g.accept_tokens("r", [*b"aa", EOS, EOS]) and not g.is_terminated()
    assert filled(g, byte_vocabulary) == {EOS}
    assert g.validate_tokens([EOS, ord("a")]) == [EOS] and not g.accept_tokens("r", [ord("a")])
    g.rollback(3)
    assert filled(g, byte_vocabulary) == {ord("a")}


# --- forced tokens ------------------------------------------------------------------------------------------------


class Forcing:
    """A guide whose tokenizer makes one token of each byte, so that forced bytes are forced tokens."""

    def __init__(self, guide):
        self._guide, self.asked = guide, 0

    def __getattr__(self, name):
        return getattr(self._guide, name)

    def forced_tokens(self, after=()):
        self.asked += 1
        fork = self._guide.fork()
        return list(fork.forced_bytes()) if fork.advance_many(after) == len(after) else []


def forcing(rows, pattern, vocabulary, **given):
    g = grammar(rows, pattern, vocabulary, **given)
    g.guide = Forcing(g.guide)
    return g


def test_forced_tokens_follow_any_drafts(rows, byte_vocabulary):
    g = forcing(rows, 'x"name":"[a-z]"', byte_vocabulary)
    assert bytes(g.with_forced([], 4)) == b'x"na' and bytes(g.with_forced(list(b'x"'), 5)) == b'x"nam'
    assert bytes(g.with_forced([], 40)) == b'x"name":"' and g.guide.num_tokens == 0
    assert g.with_forced(list(b"x"), 1) == list(b"x") and g.with_forced([], 0) == []


def test_forced_tokens_are_asked_for_once_in_a_run(rows, byte_vocabulary):
    g = forcing(rows, "abcdef[xy]ghi", byte_vocabulary)
    for at in range(6):
        assert bytes(g.with_forced([], 8)) == b"abcdef"[at:]
        g.accept_tokens("r", [b"abcdef"[at]])
    assert g.guide.asked == 1 and g.with_forced([], 8) == []
    g.accept_tokens("r", [ord("x")])
    assert bytes(g.with_forced([], 8)) == b"ghi"
    g.rollback(3)
    assert bytes(g.with_forced([], 8)) == b"ef"


def test_forced_drafts_that_hold_are_counted(rows, byte_vocabulary):
    g = forcing(rows, "abcdef[xy]", byte_vocabulary)
    drafts = g.with_forced(list(b"a"), 4)
    rows.collect()
    for token in drafts:
        g.accept_tokens("r", [token])
    g.rollback(4)
    rows.finish()
    g.accept_tokens("r", list(b"abc"))
    assert rows.metrics.forced.value("proposed") == 3 and rows.metrics.forced.value("accepted") == 2


def test_canonical_leaves_the_forced_token_alone(rows, word_vocabulary):
    """``yes`` may be spelled in four ways; where it is forced only the tokenizer's own is left."""
    yes = 256
    index = interlock.Index.from_regex("yes!", word_vocabulary)
    stops = word_vocabulary.eos_token_ids

    def spell(text):
        return [yes, ord("!"), ord("!")]

    free = Grammar("r", index.guide(), rows, stops)
    g = Grammar("r", index.guide(), rows, stops, canonical=True, spell=spell)
    assert len(filled(free, word_vocabulary)) > 1 and filled(g, word_vocabulary) == {yes}
    assert g.validate_tokens([ord("y")]) == [] and g.validate_tokens([yes, ord("!")]) == [yes, ord("!")]


def test_the_first_request_does_not_wait_for_what_is_made_once(backend):
    """A backend compiles the schema of any object when it is made, so a first request for it finds it compiled."""
    before = interlock.stats()["compile_hits"]
    backend.create(request(json_object=True), reasons=False)
    assert interlock.stats()["compile_hits"] == before + 1


def test_of_a_known_tokenizer_the_guide_itself_is_canonical(backend, monkeypatch):
    """With jump-forward that is the default; the option says otherwise."""
    for drafts, option, wanted in ((0, "auto", False), (4, "auto", True), (4, "0", False), (0, "1", True)):
        backend.vllm_config.num_speculative_tokens = drafts
        made = Backend(backend.vllm_config, Tokenizer(), backend.vocab_size, Options(canonical=option), Counts())
        asked = []
        index = SimpleNamespace(kind="regex", guide=lambda asked=asked, **given: asked.append(given) or FORCED_NOTHING)
        monkeypatch.setattr("interlock.integrations.vllm.backend.make_mask", lambda guide: None)
        monkeypatch.setattr(made, "_index", lambda source, deadline, index=index: index)
        made.create(request(regex="a"), reasons=False)
        assert made.canonical is wanted and all(given["canonical_forced"] is wanted for given in asked) and asked


FORCED_NOTHING = SimpleNamespace(fork=lambda: None, forced_bytes=lambda: b"")


def test_forced_bytes_are_spelled_where_the_tokenizer_is_of_no_known_kind(rows, word_vocabulary):
    """Its last token is left out, tokens that are not permitted end the run, and an exact answer is not overruled."""
    index = interlock.Index.from_regex("yes!!", word_vocabulary)
    asked = []

    def spell(text):
        asked.append(text)
        return [256, ord("!"), ord("!")]

    g = Grammar("r", index.guide(), rows, word_vocabulary.eos_token_ids, spell=spell)
    assert g.guide.forced_tokens() == [] and g.with_forced([], 8) == [256, ord("!")] and asked == ["yes!!"]
    assert g.accept_tokens("r", [256]) and g.with_forced([], 8) == [ord("!")] and asked == ["yes!!"]
    wrong = Grammar("r", index.guide(), rows, word_vocabulary.eos_token_ids, spell=lambda text: [ord("n"), 256, 1])
    assert wrong.with_forced([], 8) == []
    exact = forcing(rows, "ab", word_vocabulary, spell=spell)
    assert exact.with_forced([], 8) == list(b"ab") and len(asked) == 1


# --- budgets ------------------------------------------------------------------------------------------------------


def test_the_stop_token_has_room_where_it_can(byte_vocabulary):
    index = interlock.Index.from_regex("a{3,}", byte_vocabulary)
    for most, longest in ((8, 7), (4, 3), (3, 3)):
        guide = guide_within(index, most)
        assert guide.advance_many([ord("a")] * 20) == longest
    with pytest.raises(interlock.BudgetError):
        guide_within(index, 2)


def test_as_many_tokens_at_least_as_at_most(byte_vocabulary):
    """vLLM counts the stop token among them, a guide does not."""
    index = interlock.Index.from_regex("a*", byte_vocabulary)
    guide = guide_within(index, 3, min_tokens=3)
    assert guide.advance_many([ord("a")] * 3) == 2


def test_a_budget_begins_when_reasoning_ends(rows, byte_vocabulary):
    index = interlock.Index.from_regex("a{2,}", byte_vocabulary)
    spent = [0]
    budget = LateBudget(12, lambda: spent[0], lambda left: index.guide(max_tokens=left), 1)
    g = Grammar("r", index.guide(), rows, [EOS], budget=budget)
    spent[0] = 7
    assert filled(g, byte_vocabulary) == {ord("a")}
    assert g.guide.advance_many([ord("a")] * 20) == 4


def test_reasoning_that_leaves_too_little_is_counted(rows, byte_vocabulary, caplog):
    index = interlock.Index.from_regex("a{9}", byte_vocabulary)
    budget = LateBudget(12, lambda: 7, lambda left: index.guide(max_tokens=left), 1)
    g = Grammar("r", index.guide(), rows, [EOS], budget=budget)
    assert filled(g, byte_vocabulary) == {ord("a")}
    assert rows.metrics.refusals.value("budget", "engine") == 1 and "request r: the 5 tokens" in caplog.text


def test_a_grammar_of_which_no_short_output_is_known_goes_on_without_a_budget(rows, caplog):
    """The scheduler asks for the guide, and an error there would end the server."""
    tokens = [bytes([i]) for i in range(256) if i != ord("a")] + [b"ab", b""]
    vocabulary = interlock.Vocabulary(tokens, [EOS])
    index = interlock.Index.from_grammar('root ::= "a"{3} | "ab"{40000}', vocabulary, syntax="ebnf")
    with pytest.raises(interlock.BudgetError, match="max_tokens is 7, but") as caught:
        index.guide(max_tokens=7)
    assert caught.value.value is None
    budget = LateBudget(12, lambda: 5, lambda left: index.guide(max_tokens=left), 1)
    g = Grammar("r", index.guide(), rows, [EOS], budget=budget)
    assert filled(g, vocabulary) == {255} and "request r: the 7 tokens that reasoning left" in caplog.text


# --- the backend --------------------------------------------------------------------------------------------------


class Tokenizer:
    """A tokenizer that is handed over as a vocabulary: `vocabulary_of` is replaced."""


@pytest.fixture
def backend(byte_vocabulary, monkeypatch):
    from interlock.integrations.vllm import backend as module

    monkeypatch.setattr(module, "vocabulary_of", lambda *given: byte_vocabulary)
    config = SimpleNamespace(num_speculative_tokens=0, model_config=SimpleNamespace(max_model_len=100))
    before = interlock.get_index_cache_bytes()
    yield Backend(config, Tokenizer(), byte_vocabulary.size, Options(deadline=1.5), Counts())
    interlock.set_index_cache_bytes(before)


def request(max_tokens=50, min_tokens=0, ignore_eos=False, stops=(EOS,), **constraint):
    params = SimpleNamespace(
        structured_outputs=SimpleNamespace(**constraint),
        all_stop_token_ids=set(stops),
        min_tokens=min_tokens,
        ignore_eos=ignore_eos,
    )
    return SimpleNamespace(
        request_id="r1",
        sampling_params=params,
        structured_output_request=SimpleNamespace(),
        max_tokens=max_tokens,
        num_prompt_tokens=3,
        prompt_token_ids=[1, 2, 3],
        all_token_ids=[1, 2, 3],
        num_output_tokens=0,
    )


def test_the_backend_takes_the_budget_of_the_request(backend):
    g = backend.create(request(max_tokens=6, regex="a{2,}"), reasons=False)
    assert g.guide.advance_many([ord("a")] * 20) == 5
    g = backend.create(request(max_tokens=5000, regex="a{2,}"), reasons=False)
    assert g.guide.advance_many([ord("a")] * 200) == 96
    assert backend.counts.requests.value("regex") == 2


def test_grammars_have_budgets(backend):
    g = backend.create(request(max_tokens=6, grammar='start: "(" start ")" | "a"+'), reasons=False)
    assert g.guide.advance_many([ord("(")] * 20) == 2
    with pytest.raises(interlock.BudgetError):
        backend.create(request(max_tokens=4, grammar='start: "(" "(" A ")" ")"\nA: /a/'), reasons=False)


def test_an_engine_that_only_reads_prompts_has_no_budget(backend):
    asked = request(max_tokens=1, regex="a{9}")
    asked.sampling_params.extra_args = {"kv_transfer_params": {"do_remote_decode": True}}
    assert backend.create(asked, reasons=False).guide.advance_many([ord("a")]) == 1
    backend.vllm_config.kv_transfer_config = SimpleNamespace(kv_role="kv_producer")
    backend.create(request(max_tokens=1, regex="a{9}"), reasons=False)


def test_the_backend_takes_min_tokens_over(backend):
    asked = request(regex="a{1,9}", min_tokens=4)
    g = backend.create(asked, reasons=False)
    assert asked.sampling_params.min_tokens == 0 and EOS not in filled(g, backend.vocabulary)


def test_stop_ids_come_from_the_request(backend):
    g = backend.create(request(regex="a", stops=(EOS, 33)), reasons=False)
    g.accept_tokens("r", [ord("a")])
    assert filled(g, backend.vocabulary) == {33, EOS}
    g = backend.create(request(regex="a", stops=()), reasons=False)
    g.accept_tokens("r", [ord("a")])
    assert filled(g, backend.vocabulary) == {EOS}


@pytest.mark.parametrize(
    ("constraint", "error", "reason"),
    [
        ({"regex": "a("}, interlock.PatternError, "pattern"),
        ({"json": "{"}, interlock.SchemaError, "schema"),
        ({"json": {"enum": []}}, interlock.UnsatisfiableError, "unsatisfiable"),
        ({"grammar": "start: x"}, interlock.GrammarError, "grammar"),
        ({"structural_tag": "{}"}, StructuralTagError, "structural_tag"),
        ({"regex": "a{60}", "max_tokens": 5}, interlock.BudgetError, "budget"),
    ],
)
def test_refusals_are_typed_and_counted(backend, constraint, error, reason):
    with pytest.raises(error):
        backend.create(request(**constraint), reasons=False)
    assert backend.counts.refusals.value(reason, "engine") == 1


HOSTILE = r"(?!.*(a|b)*a(a|b){25}c).*"


def test_a_compile_ends_at_its_deadline(byte_vocabulary, backend):
    backend.deadlines.seconds = 0.05
    with pytest.raises(interlock.LimitError, match=r"took longer than"):
        backend.create(request(regex=HOSTILE), reasons=False)
    assert backend.counts.refusals.value("deadline", "engine") == 1


def test_a_compile_ends_when_nobody_waits(backend):
    import threading

    asked, errors = request(regex=HOSTILE), []

    def work():
        try:
            backend.create(asked, reasons=False)
        except interlock.InterlockError as error:
            errors.append(error)

    backend.deadlines.seconds = 60
    thread = threading.Thread(target=work)
    thread.start()
    while not hasattr(asked.structured_output_request, "interlock_deadline"):
        pass
    asked.structured_output_request.interlock_deadline.cancel()
    thread.join(30)
    assert [type(error) for error in errors] == [interlock.CancelledError]
    assert backend.counts.refusals.value("cancelled", "engine") == 1


def test_what_vllm_passes_to_every_backend_is_enough(backend):
    kind = SimpleNamespace(name="CHOICE")
    g = backend.compile_grammar(kind, '["yes", "no"]', {EOS})
    assert filled(g, backend.vocabulary) == {ord("y"), ord("n")}


def test_the_context_begins_at_a_special_token(backend, byte_vocabulary):
    assert backend._context([5, EOS, 7, 8]) == [EOS, 7, 8] and backend._context([1, 2]) == [1, 2]
    assert backend._context([5, 10**6, 7]) == [7]


def hostile_guide(count, vocabulary):
    """A guide whose next mask is much work. Another guide of its index would find some of that done."""
    many = "start: " + " | ".join(f'/.*a.{{{i}}}/ "x"' for i in range(count))
    guide = interlock.Index.from_grammar(many, vocabulary, limits={"max_mask_steps": 1_000}).guide()
    guide.advance(97)
    return guide


@pytest.mark.usefixtures("room_for_all_sources")
def test_a_guide_that_fails_ends_its_request_and_no_other(rows, byte_vocabulary, caplog):
    bits = interlock.allocate_bitmask(3, byte_vocabulary)
    for is_batch in (False, True):
        hostile, good = (
            Grammar("hostile", hostile_guide(25 + is_batch, byte_vocabulary), rows, [EOS]),
            grammar(rows, "ab|ac", byte_vocabulary),
        )
        bits[:] = 0
        rows.collect()
        if is_batch:
            good.fill_bitmask(bits, 0)
        hostile.fill_bitmask(bits, 1)
        # Drafts are followed while the rows of a step are collected; there a refusal would end the engine.
        assert hostile.accept_tokens("hostile", [97])
        hostile.fill_bitmask(bits, 2)
        hostile.rollback(1)
        rows.finish()
        assert (bits[1:] == -1).all() and (not is_batch or allowed(bits[0]) == {ord("a")})
        assert hostile.failure is not None and "request hostile ends: " in caplog.text
        assert not hostile.is_terminated() and hostile.validate_tokens([97]) == []
        assert not hostile.accept_tokens("hostile", [97]), "vLLM ends the request"
        assert good.accept_tokens("r", [97]) and good.failure is None
    assert rows.metrics.refusals.value("limit", "engine") == 2


@pytest.mark.usefixtures("room_for_all_sources")
def test_the_filler_goes_on_without_a_guide_that_fails(rows, byte_vocabulary):
    hostile, good = (
        Grammar("hostile", hostile_guide(28, byte_vocabulary), rows, [EOS]),
        grammar(rows, "ab|ac", byte_vocabulary),
    )
    requests = {
        name: SimpleNamespace(structured_output_request=SimpleNamespace(_grammar=one, grammar=one))
        for name, one in (("hostile", hostile), ("good", good))
    }
    fill = rows.filler(interlock.allocate_bitmask(2, byte_vocabulary))
    for _ in range(2):
        filled_rows = fill(requests, ["hostile", "good"])
        assert (filled_rows[0] == -1).all() and allowed(filled_rows[1]) == {ord("a")}
    assert (fill(requests, ["hostile"]) == -1).all()


@pytest.mark.parametrize("is_late", [False, True])
def test_a_reset_begins_anew_where_a_guide_failed(rows, byte_vocabulary, is_late):
    index, begun = hostile_guide(29, byte_vocabulary).index, []

    def begin(left):
        begun.append(left)
        return index.guide(max_tokens=left)

    late = LateBudget(9, lambda: 1, begin, 1) if is_late else None
    failed = Grammar("r", hostile_guide(29, byte_vocabulary), rows, [EOS], budget=late)
    rows.fill([failed], interlock.allocate_bitmask(1, byte_vocabulary))
    assert failed.failure is not None and not failed.is_direct
    failed.reset()
    assert failed.failure is None and failed.is_direct is not is_late and failed.guide.num_tokens == 0
    failed.settle()
    assert begun == ([7, 7] if is_late else []), "the new guide has the budget as well"
    assert failed.accept_tokens("r", [97]) and failed.guide.tokens == [97]
