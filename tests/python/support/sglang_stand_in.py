"""As much of SGLang as its grammar backends see, without SGLang: classes with the recorded signatures.

``tests/data/sglang_interface.json`` holds the signatures of the real ones. ``tests/servers/sglang`` compares it with an
installed SGLang, and ``test_sglang_contract.py`` compares the classes here with it, so neither can drift. The bodies
are the shortest that behave alike where the plug-in looks.
"""

from __future__ import annotations

import importlib
import inspect
import json
import sys
import types
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import interlock

RECORD = json.loads((Path(__file__).parents[2] / "data" / "sglang_interface.json").read_text())
BASE = "sglang.srt.constrained.base_grammar_backend"
REASONER = "sglang.srt.constrained.reasoner_grammar_backend"
MANAGER = "sglang.srt.constrained.grammar_manager"
ARGUMENTS = "sglang.srt.server_args"
PARSER = "sglang.srt.parser.reasoning_parser"


@dataclass
class GrammarStats:
    compilation_time: float | None = None
    schema_count: int | None = None
    ebnf_size: int | None = None
    is_cache_hit: bool = False
    is_grammar_aborted: bool = False
    tree_traversal_time: list[float] = field(default_factory=list)
    dispatch_type: str | None = None
    num_timeout: int = 0


class GrammarRow(NamedTuple):
    row: int
    grammar: object


class BaseGrammarObject:
    def __init__(self):
        self._finished = False
        self.grammar_stats = None
        self.current_token = None

    def maybe_init_reasoning(self, reasoning):
        pass

    @property
    def finished(self):
        return self._finished

    @finished.setter
    def finished(self, finished):
        self._finished = finished

    @staticmethod
    def fill_vocab_mask_batched(entries, vocab_mask):
        for entry in entries:
            entry.grammar.fill_vocab_mask(vocab_mask, entry.row)


class InvalidGrammarObject(BaseGrammarObject):
    def __init__(self, error_message="Unknown grammar error"):
        super().__init__()
        self.error_message = error_message

    def copy(self):
        return self


class BaseGrammarBackend:
    _enable_strict_thinking = False

    def __init__(self):
        self.executor = ThreadPoolExecutor()
        self.cache = {}

    def get_cached_or_future_value(self, key, require_reasoning):
        value = self.cache.get(key)
        if value:
            copied = value.copy()
            copied.maybe_init_reasoning(require_reasoning)
            return copied, True
        return self.executor.submit(self._init_value_dispatch, key, require_reasoning), False

    def set_cache(self, key, value):
        self.cache[key] = value

    def reset(self):
        self.cache.clear()


class ReasonerGrammarObject(BaseGrammarObject):
    def __init__(
        self,
        grammar,
        think_end_ids,
        think_excluded_token_ids=None,
        max_think_tokens=-1,
        enable_token_filter=False,
        token_filter_fn=None,
        allocate_vocab_mask_fn=None,
        move_vocab_mask_fn=None,
        apply_vocab_mask_fn=None,
        think_starts=(),
        decode=None,
    ):
        super().__init__()
        self.grammar, self.think_end_ids = grammar, tuple(think_end_ids)
        self.reasoning_in_grammar = False
        self.is_thinking = False
        self._thinking_match_history = []

    def maybe_init_reasoning(self, reasoning):
        self.is_thinking = reasoning

    def _is_thinking(self):
        return self.is_thinking

    def _is_generation(self):
        return not self.is_thinking

    def transfer_state(self, token):
        if self.is_thinking:
            self._thinking_match_history.append(0)
            self.is_thinking = token != self.think_end_ids[-1]

    def accept_token(self, token):
        self.current_token = token
        if not self.is_thinking:
            self.grammar.accept_token(token)
        self.transfer_state(token)

    def fill_vocab_mask(self, vocab_mask, idx):
        if not self.is_thinking:
            self.grammar.fill_vocab_mask(vocab_mask, idx)

    def is_terminated(self):
        return not self.is_thinking and self.grammar.is_terminated()

    def copy(self):
        made = ReasonerGrammarObject(self.grammar.copy(), self.think_end_ids)
        made.is_thinking, made._thinking_match_history = self.is_thinking, list(self._thinking_match_history)
        return made


class ReasonerGrammarBackend(BaseGrammarBackend):
    def __init__(self, grammar_backend, reasoning_parser, tokenizer, enable_strict_thinking=False):
        super().__init__()
        self.grammar_backend = grammar_backend
        self.think_end_ids = reasoning_parser.detector.get_think_end_token_ids(tokenizer)
        self._enable_strict_thinking = enable_strict_thinking
        # What the real one asks of the backend inside.
        assert grammar_backend.is_support_token_filter and callable(grammar_backend.set_token_filter)

    def _make_grammar_object(self, grammar, reasoning):
        inside = self.grammar_backend
        made = ReasonerGrammarObject(
            grammar,
            self.think_end_ids,
            allocate_vocab_mask_fn=inside.allocate_vocab_mask,
            move_vocab_mask_fn=inside.move_vocab_mask,
            apply_vocab_mask_fn=inside.apply_vocab_mask,
        )
        made.maybe_init_reasoning(reasoning)
        return made

    def _init_value_dispatch(self, key, reasoning):
        grammar = self.grammar_backend._init_value_dispatch(key, reasoning)
        return grammar if isinstance(grammar, InvalidGrammarObject) else self._make_grammar_object(grammar, reasoning)

    def set_cache(self, key, value):
        super().set_cache(key, value)


class GrammarManager:
    """Here every source is compiled at once."""

    def __init__(self, backend):
        self.grammar_backend = backend
        self.ready = []

    def process_req_with_grammar(self, req):
        value, is_hit = self.grammar_backend.get_cached_or_future_value(req.grammar_key, False)
        req.grammar = value
        if is_hit:
            return False
        self.ready.append(req)
        return True

    def get_ready_grammar_requests(self):
        ready, self.ready = self.ready, []
        for req in ready:
            req.grammar = req.grammar.result()
            self.grammar_backend.set_cache(req.grammar_key, req.grammar.copy())
            if isinstance(req.grammar, InvalidGrammarObject):
                req.set_finish_with_abort(req.grammar.error_message)
        return ready

    def abort_requests(self, recv_req):
        pass


class ReasoningParser:
    """A detector of ``</think>``, which is the token 5 here."""

    def __init__(
        self,
        model_type=None,
        stream_reasoning=True,
        force_reasoning=None,
        request=None,
        tokenizer=None,
        tool_call_parser_active=None,
        prefix=None,
    ):
        self.detector = types.SimpleNamespace(think_end_token="</think>", get_think_end_token_ids=lambda tokenizer: [5])


def missing_methods():
    """What the base classes have that only raises: ``(class, method)`` of the record that the classes here lack."""
    for name, there in RECORD["classes"].items():
        cls = globals()[name.partition(":")[2]]
        yield from ((cls, method) for method in there if not hasattr(cls, method))


def signature(function):
    """As the record writes it."""
    plain = [
        p.replace(annotation=p.empty, default=p.empty if p.default is p.empty else None)
        for p in inspect.signature(function).parameters.values()
    ]
    return str(inspect.Signature(plain))


def install(monkeypatch):
    """Put the modules where the plug-in imports them from; the registry and the choices are returned."""
    registry, choices = {}, ["xgrammar", "none"]

    def register_grammar_backend(name, init_func):
        registry[name] = init_func

    def module(name, **members):
        made = types.ModuleType(name)
        vars(made).update(members)
        monkeypatch.setitem(sys.modules, name, made)
        parent, _, last = name.rpartition(".")
        if parent:
            monkeypatch.setattr(sys.modules[parent], last, made, raising=False)
        return made

    for package in ("sglang", "sglang.srt", "sglang.srt.constrained", "sglang.srt.parser"):
        module(package).__path__ = []
    base = [GrammarStats, GrammarRow, BaseGrammarObject, InvalidGrammarObject, BaseGrammarBackend]
    module(BASE, register_grammar_backend=register_grammar_backend, **{c.__name__: c for c in base})
    module(REASONER, ReasonerGrammarObject=ReasonerGrammarObject, ReasonerGrammarBackend=ReasonerGrammarBackend)
    # A class of its own, since the plug-in wraps its methods.
    module(MANAGER, GrammarManager=type("GrammarManager", (GrammarManager,), dict(vars(GrammarManager))))
    module(PARSER, ReasoningParser=ReasoningParser)
    module(ARGUMENTS, GRAMMAR_BACKEND_CHOICES=choices, add_grammar_backend_choices=choices.extend)
    return registry, choices


# --- what the tests drive it with ---

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


def loaded(monkeypatch):
    """The plug-in's modules, imported with the stand-in and known to nobody else; the registry and the choices."""
    for name in [name for name in sys.modules if name.startswith("interlock.integrations.sglang._")]:
        monkeypatch.delitem(sys.modules, name)
    registry, choices = install(monkeypatch)
    names = ("_backend", "_grammar", "_reasoning", "_requests", "_masks", "_grammar_cache_mixin", "_compiling")
    modules = {name[1:]: importlib.import_module(f"interlock.integrations.sglang.{name}") for name in names}
    for name in [name for name in sys.modules if name.startswith("interlock.integrations.sglang._")]:
        monkeypatch.setitem(sys.modules, name, sys.modules.pop(name))
    return types.SimpleNamespace(registry=registry, choices=choices, **modules)


def made_backend(sglang):
    """A backend with default options, over a small vocabulary."""
    return sglang.backend.InterlockGrammarBackend(made_vocabulary, sglang.backend.Options(warm_up_ms=0))
