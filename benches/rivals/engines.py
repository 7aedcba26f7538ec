"""One adapter for each engine, all with the same few calls.

`compile` turns a source into something that `start`s sessions; a session fills its mask and takes tokens. Settings are
those that each engine has by default, its caches on. Engines are imported when they are made, so that a process holds
one engine only.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from answers import allows
from corpus import Tokens


class Engine(ABC):
    """What is measured. ``bits`` holds the mask that `fill` writes."""

    module = ""
    #: Whether masks are right or wrong; those of `Nothing` are neither.
    answers = True
    #: Whether a source that was compiled before is found again.
    caches = True
    bits: Any

    @abstractmethod
    def __init__(self, tokens: Tokens) -> None: ...

    @abstractmethod
    def compile(self, kind: str, source: str) -> Any:
        """What sessions start from. An exception where the engine refuses the source."""

    @abstractmethod
    def start(self, compiled: Any) -> Any:
        """A session at the start."""

    @abstractmethod
    def fill(self, session: Any) -> object:
        """The mask of the session into ``bits``."""

    @abstractmethod
    def take(self, session: Any, token: int) -> object:
        """One token; False where the engine says that it refuses it."""

    def allows(self, token: int) -> bool:
        """Whether the mask that was filled last has a token."""
        return allows(self.bits[0], token)

    def spoil(self, token: int, never: int | None) -> None:
        """Make wrong what is looked at, so that only a mask that is filled puts it right: it lacks a token, and has the
        one that no mask has."""
        if never is not None:
            self.bits[0, never >> 5] = -1
        self.bits[0, token >> 5] = 0

    def wide(self, never: int | None) -> bool:
        """Whether the mask that was filled last has the token that no mask has."""
        return never is not None and self.allows(never)

    def held(self, compiled: Any) -> int | None:
        """The bytes that something compiled holds, where the engine says so."""
        return None

    stop = 0


class Nothing(Engine):
    """Answers nothing: what the loop itself and the machine cost, which the others cost without their fault."""

    answers = False

    def __init__(self, tokens: Tokens) -> None:
        self.stop = tokens.stop
        self.bits = np.full((1, (len(tokens.tokens) + 31) // 32), -1, np.int32)

    def compile(self, kind: str, source: str) -> Any:
        return None

    def start(self, compiled: Any) -> Any:
        return None

    def fill(self, session: Any) -> object:
        return None

    def take(self, session: Any, token: int) -> object:
        return None

    def spoil(self, token: int, never: int | None) -> None:
        return None

    def wide(self, never: int | None) -> bool:
        return False


class Interlock(Engine):
    """With default options: keys in the order in which the schema declares them."""

    module = "interlock"
    caches = True
    options: dict[str, Any] = {}

    def __init__(self, tokens: Tokens) -> None:
        import interlock

        self.stop, self.library = tokens.stop, interlock
        special = [i for i, token in enumerate(tokens.tokens) if not token]
        self.vocabulary = interlock.Vocabulary(tokens.tokens, eos_token_ids=[tokens.stop], special_token_ids=special)
        self.bits = interlock.allocate_bitmask(1, self.vocabulary)

    def compile(self, kind: str, source: str) -> Any:
        if kind == "pattern":
            return self.library.Index.from_regex(source, self.vocabulary)
        return self.library.Index.from_json_schema(source, self.vocabulary, **self.options)

    def start(self, compiled: Any) -> Any:
        return compiled.guide()

    def fill(self, session: Any) -> object:
        return session.fill_bitmask(self.bits, 0)

    def take(self, session: Any, token: int) -> object:
        return session.try_advance(token)

    def held(self, compiled: Any) -> int | None:
        return int(compiled.memory_bytes)


class InterlockAnyOrder(Interlock):
    """Keys in any order, which is what the specification says."""

    options = {"property_order": "any"}


class Llguidance(Engine):
    module = "llguidance"

    def __init__(self, tokens: Tokens) -> None:
        import llguidance
        import llguidance.tiktoken
        from llguidance.numpy import allocate_token_bitmask, fill_next_token_bitmask

        self.stop, self.matcher, self.fill_one = tokens.stop, llguidance.LLMatcher, fill_next_token_bitmask
        self.tokenizer = llguidance.tiktoken.lltokenizer_from_encoding(tokens.encoding, eos_token=tokens.stop)
        self.bits = allocate_token_bitmask(1, self.tokenizer.vocab_size)

    def compile(self, kind: str, source: str) -> Any:
        make = self.matcher.grammar_from_regex if kind == "pattern" else self.matcher.grammar_from_json_schema
        first = self.matcher(self.tokenizer, make(source))
        if first.is_error():
            raise ValueError(first.get_error())
        return first

    def start(self, compiled: Any) -> Any:
        return compiled.deep_copy()

    def fill(self, session: Any) -> object:
        return self.fill_one(session, self.bits, 0)

    def take(self, session: Any, token: int) -> object:
        return session.consume_token(token)


class Xgrammar(Engine):
    module = "xgrammar"

    def __init__(self, tokens: Tokens) -> None:
        import xgrammar

        self.stop, self.library = tokens.stop, xgrammar
        info = xgrammar.TokenizerInfo(
            tokens.tokens,
            vocab_type=xgrammar.VocabType.RAW,
            vocab_size=len(tokens.tokens),
            stop_token_ids=[tokens.stop],
        )
        self.compiler = xgrammar.GrammarCompiler(info, max_threads=1, cache_enabled=True)
        # The tensor and an array over the same memory, which is quicker to look into.
        self.tensor = xgrammar.allocate_token_bitmask(1, info.vocab_size)
        self.bits = self.tensor.numpy()

    def compile(self, kind: str, source: str) -> Any:
        return self.compiler.compile_regex(source) if kind == "pattern" else self.compiler.compile_json_schema(source)

    def start(self, compiled: Any) -> Any:
        return self.library.GrammarMatcher(compiled)

    def fill(self, session: Any) -> object:
        return session.fill_next_token_bitmask(self.tensor)

    def take(self, session: Any, token: int) -> object:
        return session.accept_token(token)

    def held(self, compiled: Any) -> int | None:
        return int(compiled.memory_size_bytes)


class OutlinesCore(Engine):
    module = "outlines_core"
    caches = False

    def __init__(self, tokens: Tokens) -> None:
        import outlines_core
        from outlines_core.json_schema import build_regex_from_schema

        ids: dict[bytes, list[int]] = {}
        for i, token in enumerate(tokens.tokens):
            if token:
                ids.setdefault(token, []).append(i)
        self.stop, self.library, self.regex = tokens.stop, outlines_core, build_regex_from_schema
        self.vocabulary = outlines_core.Vocabulary(tokens.stop, ids)
        self.bits = np.zeros((1, (len(tokens.tokens) + 31) // 32), np.int32)

    def compile(self, kind: str, source: str) -> Any:
        return self.library.Index(source if kind == "pattern" else self.regex(source), self.vocabulary)

    def start(self, compiled: Any) -> Any:
        return self.library.Guide(compiled)

    def fill(self, session: Any) -> object:
        return session.write_mask_into(self.bits.ctypes.data, self.bits.size, 4)

    def take(self, session: Any, token: int) -> object:
        try:
            return session.advance(token)
        except ValueError:
            return False


ENGINES: dict[str, type[Engine]] = {
    "nothing": Nothing,
    "interlock": Interlock,
    "interlock, any order": InterlockAnyOrder,
    "llguidance": Llguidance,
    "xgrammar": Xgrammar,
    "outlines-core": OutlinesCore,
}


def installed(name: str) -> bool:
    """Whether an engine can be imported."""
    return not ENGINES[name].module or importlib.util.find_spec(ENGINES[name].module) is not None


def versions(names: list[str]) -> dict[str, str]:
    """The versions of the packages of some engines."""
    modules = {ENGINES[name].module for name in names if ENGINES[name].module}
    return {module.replace("_", "-"): importlib.metadata.version(module) for module in sorted(modules)}
