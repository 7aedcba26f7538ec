"""SGLang's own code driving the backend, without a model: its grammar manager, batches, draft trees and wrappers."""

import argparse
import json
import sys
import time
import types
from pathlib import Path

import pytest
import serving
import torch
from record_interface import recorded

import interlock
from interlock.integrations.sglang._backend import InterlockGrammarBackend
from interlock.integrations.sglang._grammar import InterlockGrammar
from interlock.integrations.sglang._options import Options
from interlock.integrations.vocabulary_packs import vocabulary_for

END = 1
WIDTH = serving.COLUMNS
RECORD = Path(__file__).parents[2] / "data" / "sglang_interface.json"


@pytest.fixture(scope="module")
def published(model):
    """The state that SGLang's processes have before they make a backend."""
    from sglang.srt import runtime_context
    from sglang.srt.plugins import load_plugins
    from sglang.srt.server_args import ServerArgs

    load_plugins()
    args = ServerArgs(
        model_path=str(model),
        device="cpu",
        grammar_backend="interlock",
        disable_cuda_graph=True,
        skip_server_warmup=True,
    )
    runtime_context.publish(args, role="scheduler")
    return args


@pytest.fixture(scope="module")
def backend(published, tokenizer):
    from sglang.srt.constrained.base_grammar_backend import create_grammar_backend

    made = create_grammar_backend(published, tokenizer, WIDTH, {tokenizer.eos_token_id})
    assert isinstance(made, InterlockGrammarBackend)
    return made


def allowed(row):
    """The tokens of a mask's row."""
    words = row.numpy().view("uint32")
    return {32 * word + bit for word in range(len(words)) for bit in range(32) if int(words[word]) >> bit & 1}


def ids(tokenizer, text):
    return tokenizer.encode(text, add_special_tokens=False)


def test_the_installed_sglang_has_the_recorded_interface():
    """If this fails for a newer version, its changes are to be looked at, then recorded anew."""
    there, then = recorded(), json.loads(RECORD.read_text())
    for part in ("functions", "methods", "fields", "classes"):
        assert there[part] == then[part], part


def test_the_entry_point_adds_a_choice(published):
    from sglang.srt.constrained import base_grammar_backend
    from sglang.srt.server_args import GRAMMAR_BACKEND_CHOICES, ServerArgs

    assert "interlock" in base_grammar_backend.GRAMMAR_BACKEND_REGISTRY
    assert GRAMMAR_BACKEND_CHOICES.count("interlock") == 1
    parser = argparse.ArgumentParser()
    ServerArgs.add_cli_args(parser)
    assert parser.parse_args(["--model-path", "x", "--grammar-backend", "interlock"]).grammar_backend == "interlock"


def test_the_entry_point_costs_nothing_until_it_is_chosen():
    """In a fresh process: the plug-in itself imports neither torch nor SGLang, and makes no vocabulary."""
    import subprocess

    code = (
        "import sys, interlock.integrations.sglang as plugin\n"
        "assert not {'torch', 'transformers', 'sglang'} & set(sys.modules)\n"
        "import sglang.srt.constrained.base_grammar_backend\n"
        "plugin.register(); plugin.register()\n"
        "assert 'interlock.integrations.sglang._backend' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], env=serving.environment(), check=True)


def test_the_pool_compiles_and_keeps(backend):
    key = ("regex", r"[0-9]{5}")
    future, is_hit = backend.get_cached_or_future_value(key, False)
    grammar = future.result()
    assert not is_hit and isinstance(grammar, InterlockGrammar) and grammar.grammar_stats.compilation_time > 0
    backend.set_cache(key, grammar.copy())
    again, is_hit = backend.get_cached_or_future_value(key, False)
    assert is_hit and again.grammar_stats.is_cache_hit and again is not backend.cache[key]


def test_a_batch_is_filled_and_applied(backend, tokenizer):
    """``SamplingBatchInfo``: rows of finished, ended and free requests keep everything allowed."""
    from sglang.srt.sampling.sampling_batch_info import SamplingBatchInfo

    first, ended, done = (backend.dispatch_regex("[0-9]{2}") for _ in range(3))
    for token in (*ids(tokenizer, "12"), END):
        ended.accept_token(token)
    done.finished = True
    info = SamplingBatchInfo.__new__(SamplingBatchInfo)
    info.grammars = [None, first, ended, done, backend.dispatch_json("$$ANY$$")]
    info.vocab_size, info.temperatures, info.device = WIDTH, torch.ones(5, 1), "cpu"
    info.update_regex_vocab_mask()
    logits = torch.randn(5, WIDTH)
    info.grammar_mask.apply(logits)
    finite = [int(torch.isfinite(row).sum()) for row in logits]
    assert finite[0] == finite[2] == finite[3] == WIDTH and 0 < finite[1] < 200 and 0 < finite[4] < WIDTH
    assert all(tokenizer.decode([t]).isdigit() for t in torch.isfinite(logits[1]).nonzero().flatten().tolist())


def test_traverse_tree(backend, tokenizer):
    """A tree of drafts: a child that is refused is left out, siblings start from the parent, the end has no row."""
    from sglang.srt.speculative.spec_utils import traverse_tree

    grammar = backend.dispatch_regex("[0-9]{2}")
    (one,), (two,), (letter,) = ids(tokenizer, "1"), ids(tokenizer, "2"), ids(tokenizer, "a")
    # 0: the token before; 1 and 3 are siblings below it; 2 below 1, 4 below 2: "1" -> "2" -> end, and "a".
    following = torch.tensor([1, 2, 4, -1, -1])
    sibling = torch.tensor([-1, 3, -1, -1, -1])
    drafts = torch.tensor([0, one, two, letter, END])
    mask = grammar.allocate_vocab_mask(WIDTH, 5, "cpu")
    traverse_tree(following, sibling, drafts, grammar, mask, WIDTH)
    assert one in allowed(mask[0]) and letter not in allowed(mask[0])
    assert two in allowed(mask[1]) and END not in allowed(mask[1])
    assert allowed(mask[2]) == {END}
    assert (mask[3] == -1).all() and (mask[4] == -1).all()
    assert grammar.guide.num_tokens == 0 and not grammar.is_terminated()


def test_generate_token_bitmask_of_a_batch(backend, tokenizer):
    """Rows of several requests, of which one is free."""
    from sglang.srt.speculative.spec_utils import generate_token_bitmask

    (one,) = ids(tokenizer, "1")
    reqs = [types.SimpleNamespace(grammar=g) for g in (None, backend.dispatch_regex("[0-9]+"))]
    following, sibling = torch.tensor([[1, -1]] * 2), torch.full((2, 2), -1)
    mask, grammar = generate_token_bitmask(reqs, following, sibling, torch.tensor([[0, one]] * 2), WIDTH)
    assert grammar is reqs[1].grammar and (mask[:2] == -1).all()
    assert one in allowed(mask[2]) and END not in allowed(mask[2]) and END in allowed(mask[3])


# --- the grammar manager ---


class Request:
    """As much of SGLang's request as its grammar manager uses."""

    def __init__(self, name, **parameters):
        from sglang.srt.sampling.sampling_params import SamplingParams

        reasoning = parameters.pop("reasoning", False)
        self.rid, self.sampling_params, self.require_reasoning = name, SamplingParams(**parameters), reasoning
        self.origin_input_ids, self.grammar, self.grammar_key = [0, 5, 6], None, None
        self.grammar_wait_ct, self.message = 0, None

    def finished(self):
        return self.message is not None

    def set_finish_with_abort(self, message):
        self.grammar, self.message = None, message


def manager_of(args, tokenizer):
    from sglang.srt.constrained.grammar_manager import GrammarManager
    from sglang.srt.runtime_context import get_parallel

    model_config = types.SimpleNamespace(vocab_size=WIDTH, hf_eos_token_id={END}, think_end_ids=None)
    group = types.SimpleNamespace(world_size=1, first_rank=0, is_first_rank=True)
    scheduler = types.SimpleNamespace(
        server_args=args,
        tokenizer=tokenizer,
        model_config=model_config,
        dp_tp_cpu_group=None,
        dp_tp_group=group,
        pp_group=None,
    )
    with get_parallel().override(pp_rank=0, pp_size=1):
        return GrammarManager(scheduler)


@pytest.fixture(scope="module")
def manager(published, tokenizer):
    return manager_of(published, tokenizer)


def handled(manager, req):
    if manager.process_req_with_grammar(req):
        end = time.monotonic() + 60
        while manager.has_waiting_grammars() and time.monotonic() < end:
            manager.get_ready_grammar_requests()
    return req


def test_the_manager_compiles_keeps_and_refuses(manager):
    for _ in range(2):
        fine = handled(manager, Request("fine", regex="[0-9]{3}"))
        assert isinstance(fine.grammar, InterlockGrammar) and fine.message is None
        bad = handled(manager, Request("bad", regex="(a"))
        assert bad.grammar is None and bad.message.startswith("Failed to compile regex grammar: PatternError:")


def test_the_manager_binds_what_a_request_asks_for(manager, tokenizer):
    for _ in range(2):  # Compiled, then found.
        req = handled(manager, Request("budget", json_schema='{"type": "array"}', max_new_tokens=9, min_new_tokens=2))
        assert req.grammar.terms.max_tokens == 8 and req.grammar.terms.min_tokens == 2
        assert req.grammar.terms.context_ids == (0, 5, 6) and req.sampling_params.min_new_tokens == 0
        small = handled(manager, Request("small", regex="[0-9]{30}", max_new_tokens=4))
        assert small.grammar is None and small.message.startswith("BudgetError: max_new_tokens is 4, but")
    (letter,), pad = ids(tokenizer, "b"), tokenizer.convert_tokens_to_ids("<｜▁pad▁｜>")
    req = handled(manager, Request("stops", regex="[a-c]+", stop_token_ids=[letter, pad, WIDTH + 5]))
    assert req.grammar.terms.stop_token_ids == (END, pad)


def test_an_abort_and_a_time_limit_stop_the_compile(backend):
    """Cancelling the future stops the thread, and a deadline is a refusal that is not kept."""
    nested, other = "^((a{1,100}){1,100}){1,100}$", "^(([ab]{1,100}){1,90}){1,80}$"
    hostile = json.dumps({"type": "string", "allOf": [{"not": {"pattern": nested}}, {"pattern": other}]})
    slow = InterlockGrammarBackend(
        lambda framing: backend.vocabulary,
        Options(limits={"max_compile_steps": 10**9, "max_algebra_steps": 10**9, "max_expr_nodes": 10**8}),
        seconds=0.3,
    )
    future, _ = slow.get_cached_or_future_value(("json", hostile), False)
    refusal = future.result(30)
    assert "took longer than 0.3 s" in refusal.error_message
    slow.set_cache(("json", hostile), refusal.copy())
    assert not slow.cache
    endless = InterlockGrammarBackend(lambda framing: backend.vocabulary, slow.options)
    future, _ = endless.get_cached_or_future_value(("json", hostile), False)
    while not future.running():
        time.sleep(0.01)
    time.sleep(0.1)
    begin = time.monotonic()
    future.cancel()
    assert "stopped" in future.result(30).error_message and time.monotonic() - begin < 5


# --- reasoning ---


@pytest.fixture(scope="module")
def reasoner(published, tokenizer):
    from interlock.integrations.sglang._backend import make_backend

    args = types.SimpleNamespace(
        reasoning_parser="deepseek-r1",
        enable_strict_thinking=False,
        tp_size=1,
        pp_size=1,
        tool_call_parser="deepseekv3",
    )
    return make_backend(args, tokenizer, WIDTH, {END})


def test_the_backend_wraps_itself_for_reasoning(reasoner, tokenizer):
    from sglang.srt.constrained.reasoner_grammar_backend import ReasonerGrammarBackend, ReasonerGrammarObject

    assert isinstance(reasoner, ReasonerGrammarBackend)
    think_end = tokenizer.convert_tokens_to_ids("</think>")
    reserved = set(reasoner.grammar_backend.vocabulary.special_token_ids)
    assert think_end in reserved and tokenizer.convert_tokens_to_ids("<｜tool▁calls▁begin｜>") in reserved
    grammar = reasoner._init_value_dispatch(("regex", "[0-9]{2}"), True)
    assert isinstance(grammar, ReasonerGrammarObject)
    mask = grammar.allocate_vocab_mask(WIDTH, 1, "cpu")
    (letter,), (one,), (two,) = ids(tokenizer, "a"), ids(tokenizer, "1"), ids(tokenizer, "2")
    for token in (letter, one, think_end):
        assert not grammar.is_terminated()
        grammar.accept_token(token)
    grammar.fill_vocab_mask(mask, 0)
    assert one in allowed(mask[0]) and letter not in allowed(mask[0])
    grammar.rollback(2)
    mask.fill_(-1)
    grammar.fill_vocab_mask(mask, 0)
    assert (mask == -1).all()
    second = grammar.copy()
    for current in (grammar, second):
        for token in (one, think_end, one, two, END):
            current.accept_token(token)
        assert current.is_terminated() and current.current_token == END
        current.rollback(1)
        assert not current.is_terminated()


def test_batches_of_reasoners_are_filled_in_one_call(reasoner, tokenizer, monkeypatch):
    """Rows of requests that reason stay free, and the others are filled together."""
    from sglang.srt.constrained.base_grammar_backend import GrammarRow

    think_end = tokenizer.convert_tokens_to_ids("</think>")
    grammars = [reasoner._init_value_dispatch(("regex", "[0-9]{2}"), True) for _ in range(4)]
    for grammar in grammars[1:]:
        grammar.accept_token(think_end)
    calls = []
    fill = interlock.fill_bitmasks
    monkeypatch.setattr(interlock, "fill_bitmasks", lambda *a, **k: calls.append(len(a[0])) or fill(*a, **k))
    mask = grammars[0].allocate_vocab_mask(WIDTH, 5, "cpu")
    grammars[0].fill_vocab_mask_batched([GrammarRow(i, g) for i, g in enumerate(grammars)], mask)
    assert calls == [3] and (mask[0] == -1).all() and (mask[4] == -1).all()
    assert allowed(mask[1]) == allowed(mask[2]) == allowed(mask[3]) and len(allowed(mask[1])) < 200


def test_the_budget_after_reasoning(reasoner, tokenizer):
    """What reasoning spent is no longer there, also after a rollback over its end."""
    from interlock.integrations.sglang._requests import bind

    think_end, (letter,) = tokenizer.convert_tokens_to_ids("</think>"), ids(tokenizer, "a")
    req = Request("reasons", json_schema='{"type": "array"}', max_new_tokens=20)
    req.grammar = reasoner._init_value_dispatch(("json", req.sampling_params.json_schema), True)
    bind(req, Options())
    for token in (letter, letter, think_end):
        req.grammar.accept_token(token)
    assert req.grammar.grammar.terms.max_tokens == 19 - 3
    req.grammar.rollback(1)
    for token in (letter, think_end):
        req.grammar.accept_token(token)
    assert req.grammar.grammar.terms.max_tokens == 19 - 4 and req.grammar.grammar.guide.num_tokens == 0
    for _ in range(3):
        req.grammar.rollback(1)
    for token in [letter] * 19 + [think_end]:
        req.grammar.accept_token(token)
    assert req.grammar.grammar.terms.max_tokens is None


def test_strict_thinking_filters(published, tokenizer, monkeypatch):
    """Within the reasoning's budget excluded tokens are forbidden, and then only its end is allowed."""
    from sglang.srt.environ import envs

    from interlock.integrations.sglang._backend import make_backend

    args = types.SimpleNamespace(reasoning_parser="qwen3", enable_strict_thinking=True, tp_size=1, pp_size=1)
    with envs.SGLANG_MAX_THINK_TOKENS.override(2):
        strict = make_backend(args, tokenizer, WIDTH, {END})
    assert strict.enable_strict_thinking
    (letter,) = ids(tokenizer, "a")
    for grammar in (
        strict._init_value_dispatch(("regex", "[0-9]{2}"), True),
        strict.init_strict_reasoning_grammar(True),
    ):
        mask = grammar.allocate_vocab_mask(WIDTH, 1, "cpu")
        for _ in range(2):
            grammar.accept_token(letter)
        for token in grammar.think_end_ids:
            grammar.fill_vocab_mask_batched([(0, grammar)], mask)
            assert allowed(mask[0]) == {token}
            grammar.accept_token(token)
        logits = torch.zeros(1, WIDTH)
        grammar.apply_vocab_mask(logits=logits, vocab_mask=grammar.move_vocab_mask(mask, "cpu"))
        assert int(torch.isfinite(logits).sum()) == 1


def test_filters_agree_with_sglangs_own(backend):
    from sglang.srt.constrained.torch_ops.token_filter_torch_ops import set_token_filter_torch

    generator = torch.Generator().manual_seed(0)
    for is_allowed in (True, False):
        for first_reset in (True, False):
            mine = torch.randint(-(2**31), 2**31, (3, WIDTH // 32), generator=generator, dtype=torch.int64).int()
            theirs = mine.clone()
            some = [0, 31, 32, 63, 64, 31, WIDTH - 1]
            backend.set_token_filter(mine, some, 1, is_allowed=is_allowed, reset_vocab_mask=first_reset)
            set_token_filter_torch(theirs, some, 1, is_allowed=is_allowed, reset_vocab_mask=first_reset)
            assert torch.equal(mine, theirs)


# --- vocabularies ---


def test_framing_tokens_never_spell_text(backend, tokenizer):
    """A backend of its own, since this one's vocabulary changes."""
    own = InterlockGrammarBackend(lambda framing: vocabulary_for(tokenizer, WIDTH, [END], framing), Options())
    (token,) = ids(tokenizer, " user")
    mask = own.dispatch_regex("[a-z ]+").allocate_vocab_mask(WIDTH, 2, "cpu")
    own.dispatch_regex("[a-z ]+").fill_vocab_mask(mask, 0)
    own.reserve_framing_tokens([token, END])
    own.dispatch_regex("[a-z ]+").fill_vocab_mask(mask, 1)
    assert allowed(mask[0]) - allowed(mask[1]) == {token}


def test_wrapped_and_padded_tokenizers(tokenizer):
    """SGLang wraps a tiktoken encoding; a model may have fewer logits than its tokenizer has tokens."""
    wrapper = types.SimpleNamespace(tokenizer=tokenizer)
    assert vocabulary_for(wrapper, WIDTH, [END]) == vocabulary_for(tokenizer, WIDTH, [END])
    narrow = vocabulary_for(tokenizer, 1000, [END])
    assert narrow.size == 1000 and len(narrow) == 1000
    with pytest.raises(interlock.VocabularyError, match="no stop id lies within"):
        vocabulary_for(tokenizer, 1000, [5000])
    with pytest.raises(interlock.VocabularyError, match="not a tokenizer"):
        vocabulary_for(object(), 1000, [1])
