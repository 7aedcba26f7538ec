"""Sources of requests to indexes, off the scheduler's thread, each with a deadline and a way to stop it.

SGLang compiles in a pool and, when a request is aborted or has waited long enough, cancels its future, which does not
stop a thread that has begun. Here every compile has a ``CancelToken``: cancelling its future stops it, and so does its
deadline.

*With several ranks there is no deadline of ours.* Each rank compiles for itself, and a clock may end the work on one
and not on another; they would disagree about the request, and wait for each other forever. Limits of work are the same
everywhere, and SGLang's own time limit is agreed on by all ranks.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from interlock import BudgetError, CancelledError, CancelToken, Guide, Index, InterlockError, Vocabulary
from interlock.grammar_syntax import syntax_for_client
from interlock.integrations.metrics import refusal_reason
from interlock.integrations.role_tokens import allowed_to_clients
from interlock.integrations.server_counts import counts
from interlock.integrations.sglang._options import Options
from interlock.masks import make_mask
from interlock.schema_hints import quiet
from interlock.tools.notations.json_writing import JsonWriting
from interlock.tools.tags.tag_index import index_of_structural_tag
from interlock.tools.tags.token_checks import check_grammar_tokens
from interlock.util.client_messages import TOO_LITTLE_MEMORY

__all__ = ["ANY_JSON", "Compiler", "CompilePool", "Refusal"]

_LOG = logging.getLogger(__name__)

ANY_JSON = "$$ANY$$"
"""What SGLang asks for in place of a schema where any JSON will do."""

_ROOM = 1 << 20
"""A budget in which every output fits."""


class _Work:
    """One compile: its token, and whether its time is up."""

    def __init__(self, seconds: float | None) -> None:
        self.cancel = CancelToken()
        self.seconds = seconds
        self.is_late = False

    def end_late(self) -> None:
        """The time is up: cancel the compile, and remember why."""
        self.is_late = True
        self.cancel.cancel()


_here = threading.local()


class CompilePool(ThreadPoolExecutor):
    """A pool whose futures stop their work when they are cancelled, and whose work ends after ``seconds``."""

    def __init__(self, threads: int, seconds: float | None) -> None:
        super().__init__(max_workers=threads, thread_name_prefix="interlock-compile")
        self._seconds = seconds

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run ``fn`` in the pool. Cancelling the future also stops what ``fn`` compiles by then."""
        work = _Work(self._seconds)
        future = super().submit(_run, work, fn, args, kwargs)
        forget = future.cancel

        def cancel() -> bool:
            work.cancel.cancel()
            return forget()

        future.cancel = cancel  # type: ignore[method-assign]
        return future


def _run(work: _Work, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    _here.work = work
    timer = None
    if work.seconds is not None:
        timer = threading.Timer(work.seconds, work.end_late)
        timer.daemon = True
        timer.start()
    try:
        return fn(*args, **kwargs)
    finally:
        _here.work = None
        if timer is not None:
            timer.cancel()


class Refusal(Exception):
    """A source that is not compiled: what to tell the client, and whether a later request may fare better."""

    def __init__(self, message: str, is_transient: bool = False) -> None:
        super().__init__(message)
        self.is_transient = is_transient


def _refused(reason: str, begin: float) -> None:
    """Count a refusal. Work that nobody waited for was not refused, but cancelled."""
    counts().refusals.add(1, reason, "engine")
    outcome = "cancelled" if reason == "cancelled" else "refused"
    counts().compile_seconds.observe(time.perf_counter() - begin, outcome)


class Compiler:
    """Makes indexes with an operator's options. ``compile`` is for threads of a ``CompilePool``."""

    def __init__(self, vocabulary: Vocabulary, options: Options, whitespace: str) -> None:
        self.vocabulary = vocabulary
        self._options = options
        self._whitespace = options.whitespace if options.whitespace is not None else whitespace
        # A whitespace pattern or flags that are none should end the start of the server, not every request.
        self._index("json", "true", None)
        self._index("regex", "a", None)

    @quiet()
    def _index(self, kind: str, text: str, cancel: CancelToken | None) -> Index:
        options = self._options
        allowed = allowed_to_clients(None, self.vocabulary) if options.role_tokens == "refuse" else None
        if kind == "regex":
            flags = options.regex_flags
            return Index.from_regex(text, self.vocabulary, flags=flags, limits=dict(options.limits), cancel=cancel)
        if kind == "ebnf":
            # Clients send what other engines read: EBNF, GBNF or Lark's notation.
            syntax = syntax_for_client(text, "", dict(options.limits), cancel)
            check_grammar_tokens(text, syntax, self.vocabulary, allowed, cancel)
            return Index.from_grammar(text, self.vocabulary, syntax=syntax, limits=dict(options.limits), cancel=cancel)
        if kind == "structural_tag":
            # JSON in tags is written as other JSON is, as far as tags can say that.
            written = JsonWriting(0 if self._whitespace == "compact" else None, options.spelling == "any")
            return index_of_structural_tag(
                text,
                self.vocabulary,
                special_delimiters=True,
                json=written,
                allowed_tokens=allowed,
                limits=dict(options.limits),
                cancel=cancel,
            )
        return Index.from_json_schema(
            True if text == ANY_JSON else text,
            self.vocabulary,
            whitespace=self._whitespace,
            property_order=options.property_order,  # type: ignore[arg-type]
            on_unsupported=options.on_unsupported,  # type: ignore[arg-type]
            formats=options.formats,  # type: ignore[arg-type]
            spelling=options.spelling,  # type: ignore[arg-type]
            limits=dict(options.limits),
            cancel=cancel,
        )

    def _first_guide(self, index: Index) -> Guide:
        """A guide whose mask is made here, and not in the scheduler's loop when a request comes in. With a budget, if
        requests have one: the first such guide looks for short outputs, which takes milliseconds.
        """
        if self._options.budget:
            with contextlib.suppress(BudgetError):
                return index.guide(_ROOM)
        return index.guide()

    def compile(self, kind: str, text: str) -> Index:
        """The index of a ``"json"``, ``"regex"``, ``"ebnf"`` or ``"structural_tag"`` source.

        ``Refusal`` if it is refused or took too long.
        """
        work: _Work | None = getattr(_here, "work", None)
        begin = time.perf_counter()
        try:
            index = self._index(kind, text, None if work is None else work.cancel)
            make_mask(self._first_guide(index))
        except CancelledError as error:
            if work is not None and work.is_late:
                reason = "deadline"
                message = f"LimitError: compiling took longer than {work.seconds:g} s, the server's limit"
            else:
                reason, message = "cancelled", "CancelledError: compiling was stopped, since nobody waited for it"
            _refused(reason, begin)
            raise Refusal(message, is_transient=True) from error
        except InterlockError as error:
            _refused(refusal_reason(error), begin)
            message = f"{type(error).__name__}: {error.client_message}"
            raise Refusal(message, is_transient=error.code == TOO_LITTLE_MEMORY) from error
        except MemoryError as error:
            _refused("memory", begin)
            raise Refusal("the server has no memory for this source", is_transient=True) from error
        except Exception as error:
            _LOG.exception("a %s source of %d characters could not be compiled", kind, len(text))
            _refused("internal", begin)
            raise Refusal(f"{type(error).__name__}: {error}") from error
        counts().compile_seconds.observe(time.perf_counter() - begin, "compiled")
        if self._options.warm_up_ms > 0:
            index.warm_up(max_ms=self._options.warm_up_ms, background=True)
        return index
