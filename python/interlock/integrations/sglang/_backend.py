"""The backend: from what a request asks for to a grammar, or to a refusal that SGLang answers with 400."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sglang.srt.constrained.base_grammar_backend import BaseGrammarBackend, BaseGrammarObject, InvalidGrammarObject

from interlock import Vocabulary, set_mask_cache_bytes
from interlock.integrations.markup_tokens import readable_markup_ids
from interlock.integrations.prometheus_mirror import mirror
from interlock.integrations.server_counts import counts
from interlock.integrations.sglang import _masks
from interlock.integrations.sglang._compiling import CompilePool, Compiler, Refusal
from interlock.integrations.sglang._grammar import InterlockGrammar
from interlock.integrations.sglang._grammar_cache import GrammarCache, Key
from interlock.integrations.sglang._grammar_cache_mixin import KeepsGrammars, TransientRefusal
from interlock.integrations.sglang._options import Options
from interlock.integrations.sglang._requests import watch_requests
from interlock.integrations.sglang._server_markup import parser_texts
from interlock.integrations.vocabulary_packs import recognised_tokenizer, vocabulary_for

__all__ = ["InterlockGrammarBackend", "make_backend"]

_LOG = logging.getLogger(__name__)


class InterlockGrammarBackend(KeepsGrammars, BaseGrammarBackend):  # type: ignore[misc, unused-ignore]
    """Compiles schemas and patterns with interlock.

    ``vocabulary_with`` makes the vocabulary, given ids that never spell text. ``seconds`` is the deadline of a compile,
    ``None`` where the ranks of a server could disagree about it.
    """

    def __init__(
        self,
        vocabulary_with: Callable[[Sequence[int]], Vocabulary],
        options: Options,
        whitespace: str = "flexible",
        seconds: float | None = None,
    ) -> None:
        super().__init__()
        self.options = options
        self._vocabulary_with = vocabulary_with
        self._whitespace = whitespace
        self._framing: list[int] = []
        self.executor: CompilePool = CompilePool(options.compile_threads, seconds)
        self.cache: GrammarCache = GrammarCache(options.cache_entries)
        set_mask_cache_bytes(options.mask_cache_mb << 20)
        self.compiler = Compiler(vocabulary_with(()), options, whitespace)

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary that sources are compiled for."""
        return self.compiler.vocabulary

    def reserve_framing_tokens(self, token_ids: Sequence[int]) -> None:
        """Keep ``token_ids`` out of text: they frame the parts of a reply. Called before anything is compiled."""
        self._framing = sorted({*self._framing, *token_ids})
        stops = set(self.vocabulary.eos_token_ids)
        framing = [i for i in self._framing if i not in stops]
        self.compiler = Compiler(self._vocabulary_with(framing), self.options, self._whitespace)

    # --- sources; in threads of the pool ---

    def _init_value_dispatch(self, key: Key, require_reasoning: bool) -> BaseGrammarObject:
        """The grammar of a source, with the time that it took.

        SGLang's own looks for NUL characters first, which end the process in another backend, and gives up on nested
        sources without saying where. Both are nothing special here.
        """
        begin = time.perf_counter()
        kind, text = key
        dispatch = {
            "json": self.dispatch_json,
            "regex": self.dispatch_regex,
            "ebnf": self.dispatch_ebnf,
            "full_assistant_ebnf": self.dispatch_ebnf,
            "structural_tag": self.dispatch_structural_tag,
        }.get(kind)
        grammar = self.dispatch_fallback(kind, text) if dispatch is None else dispatch(text)
        if grammar.grammar_stats is not None:
            grammar.grammar_stats.compilation_time = time.perf_counter() - begin
        return grammar

    def dispatch_json(self, key_string: str) -> BaseGrammarObject:
        """A JSON Schema as text, or ``"$$ANY$$"`` for any JSON."""
        return self._compiled("json", key_string)

    def dispatch_regex(self, key_string: str) -> BaseGrammarObject:
        """A pattern that the whole output matches."""
        return self._compiled("regex", key_string)

    def dispatch_ebnf(self, key_string: str) -> BaseGrammarObject:
        """A grammar: EBNF, GBNF or Lark's notation, whichever the text is written in."""
        return self._compiled("ebnf", key_string)

    def dispatch_structural_tag(self, key_string: str) -> BaseGrammarObject:
        """A structural tag as JSON text. Special tokens that stand in its delimiters are tokens."""
        return self._compiled("structural_tag", key_string)

    def dispatch_fallback(self, key_type: str, key_string: str) -> BaseGrammarObject:
        """Refused: a kind of source that this version of the plug-in does not know."""
        return self._not_yet(key_type, f"sources of the kind {key_type!r} are")

    def _compiled(self, kind: str, text: str) -> BaseGrammarObject:
        try:
            return InterlockGrammar(self.compiler.compile(kind, text), kind)
        except Refusal as refusal:
            return (TransientRefusal if refusal.is_transient else InvalidGrammarObject)(str(refusal))

    def _not_yet(self, kind: str, what: str) -> BaseGrammarObject:
        counts().refusals.add(1, "unsupported", "engine")
        return InvalidGrammarObject(
            f"{what} not supported by the interlock backend yet: use json_schema, regex or ebnf, or another "
            "--grammar-backend"
        )

    # --- masks, for batches in which only reasoning is constrained ---

    def allocate_vocab_mask(self, vocab_size: int, batch_size: int, device: Any) -> Any:
        """A mask of ``batch_size`` rows on the CPU, ``int32``, that allows everything."""
        return _masks.allocated(vocab_size, batch_size)

    @staticmethod
    def move_vocab_mask(vocab_mask: Any, device: Any) -> Any:
        """The mask on the device of the logits."""
        return _masks.moved(vocab_mask, device)

    @staticmethod
    def apply_vocab_mask(logits: Any, vocab_mask: Any) -> None:
        """Make the logits of forbidden tokens minus infinity, in place."""
        _masks.applied(logits, vocab_mask)

    @staticmethod
    def reset_vocab_mask(vocab_mask: Any) -> None:
        """Allow everything in all rows."""
        _masks.reset(vocab_mask)

    @property
    def is_support_token_filter(self) -> bool:
        """Strict thinking asks for this: single tokens can be allowed or forbidden in a mask."""
        return True

    @staticmethod
    def set_token_filter(
        vocab_mask: Any,
        token_ids: Sequence[int],
        batch_idx: int,
        is_allowed: bool = True,
        reset_vocab_mask: bool = True,
    ) -> None:
        """Allow or forbid ``token_ids`` in one row; with ``reset_vocab_mask`` all others become the opposite first."""
        _masks.set_tokens(vocab_mask, token_ids, batch_idx, is_allowed, reset_vocab_mask)


def make_backend(
    server_args: Any, tokenizer: Any, vocab_size: int, eos_token_ids: Iterable[int] | int | None = None
) -> BaseGrammarBackend:
    """What SGLang calls for ``--grammar-backend interlock``, once in each scheduler, before requests come.

    ``ArgumentError`` for an unknown option or a wrong value, and ``VocabularyError`` for a tokenizer that cannot be
    read: the server does not start. Serving without the constraints that clients ask for would be worse.
    """
    options = Options.from_environment()
    stops = _stop_ids(tokenizer, eos_token_ids)
    reserved: list[int] = []
    if options.reserved == "template":
        reserved = readable_markup_ids(tokenizer, parser_texts(server_args, tokenizer))
        reserved = [i for i in reserved if i not in stops]

    def vocabulary_with(framing: Sequence[int]) -> Vocabulary:
        return vocabulary_for(recognised_tokenizer(tokenizer), vocab_size, stops, [*reserved, *framing])

    if getattr(server_args, "enable_metrics", False):
        mirror(counts().registry)
    alone = getattr(server_args, "tp_size", 1) * getattr(server_args, "pp_size", 1) == 1
    backend = InterlockGrammarBackend(
        vocabulary_with, options, _server_whitespace(server_args), options.compile_seconds if alone else None
    )
    watch_requests(options)
    _LOG.info(
        "interlock constrains outputs: %s, %d reserved tokens, compiles end after %s",
        backend.vocabulary,
        len(reserved),
        f"{options.compile_seconds:g} s" if alone else "SGLang's own limit, which all ranks agree on",
    )
    return _with_reasoning(backend, server_args, tokenizer)


def _stop_ids(tokenizer: Any, eos_token_ids: Iterable[int] | int | None) -> set[int]:
    """All ids at which the server ends an output: the model's, and those of the tokenizer."""
    given: list[Any] = [eos_token_ids] if isinstance(eos_token_ids, int) else list(eos_token_ids or ())
    own = getattr(tokenizer, "eos_token_id", None)
    given += own if isinstance(own, (list, tuple)) else [own]
    given += list(getattr(tokenizer, "additional_stop_token_ids", None) or ())
    return {int(i) for i in given if i is not None}


def _server_whitespace(server_args: Any) -> str:
    """What the server's own arguments say about blanks in JSON."""
    pattern = getattr(server_args, "constrained_json_whitespace_pattern", None)
    most = getattr(server_args, "constrained_json_max_whitespace_cnt", None)
    if pattern:
        return str(pattern)
    if getattr(server_args, "constrained_json_disable_any_whitespace", False):
        return "compact"
    return "flexible" if most is None else f"[ \\t\\n\\r]{{0,{int(most)}}}"


def _with_reasoning(backend: InterlockGrammarBackend, server_args: Any, tokenizer: Any) -> BaseGrammarBackend:
    """The backend, wrapped if the server has a reasoning parser whose end mark the tokenizer can write."""
    name = getattr(server_args, "reasoning_parser", None)
    if not name:
        return backend
    from sglang.srt.parser.reasoning_parser import ReasoningParser

    from interlock.integrations.sglang._reasoning import InterlockReasonerBackend

    parser = ReasoningParser(model_type=name, stream_reasoning=False, tokenizer=tokenizer)
    if not parser.detector.get_think_end_token_ids(tokenizer):
        return backend
    strict = bool(getattr(server_args, "enable_strict_thinking", False))
    return InterlockReasonerBackend(backend, parser, tokenizer, strict)
