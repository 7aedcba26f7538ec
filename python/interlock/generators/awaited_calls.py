"""Calls of any generator that are awaited."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable
from typing import Any, Literal, TypeVar, Unpack, overload

from interlock._core import ArgumentError
from interlock.generators.call_arguments.arguments import DEFAULT_MAX_TOKENS, MISSING
from interlock.generators.call_arguments.call_types import Batch, Chat, TextType
from interlock.generators.call_options import CallOptions
from interlock.generators.cancelled_calls import check_cancelled, until_flagged
from interlock.generators.replies.completion import Completion
from interlock.generators.stream import Stream
from interlock.output_types import InvalidOutputError

__all__ = ["AwaitedCalls", "awaited_tool_loop"]

T = TypeVar("T")


class AwaitedCalls:
    """The part of a generator that is awaited."""

    # The overloads are those of a call.
    @overload
    async def agenerate(
        self,
        prompt: Chat,
        output_type: type[T],
        *,
        max_tokens: int = ...,
        stream: Literal[False] = ...,
        errors: Literal["raise"] = ...,
        **options: Unpack[CallOptions],
    ) -> T: ...
    @overload
    async def agenerate(
        self,
        prompt: Chat,
        output_type: TextType = ...,
        *,
        max_tokens: int = ...,
        stream: Literal[False] = ...,
        errors: Literal["raise"] = ...,
        **options: Unpack[CallOptions],
    ) -> str: ...
    @overload
    async def agenerate(
        self,
        prompt: Batch,
        output_type: type[T],
        *,
        max_tokens: int = ...,
        stream: Literal[False] = ...,
        errors: Literal["raise"] = ...,
        **options: Unpack[CallOptions],
    ) -> list[T]: ...
    @overload
    async def agenerate(
        self,
        prompt: Batch,
        output_type: TextType = ...,
        *,
        max_tokens: int = ...,
        stream: Literal[False] = ...,
        errors: Literal["raise"] = ...,
        **options: Unpack[CallOptions],
    ) -> list[str]: ...
    @overload
    async def agenerate(
        self,
        prompt: Chat,
        output_type: type[T],
        *,
        errors: Literal["return"],
        max_tokens: int = ...,
        stream: Literal[False] = ...,
        **options: Unpack[CallOptions],
    ) -> T | InvalidOutputError: ...
    @overload
    async def agenerate(
        self,
        prompt: Chat,
        output_type: TextType = ...,
        *,
        errors: Literal["return"],
        max_tokens: int = ...,
        stream: Literal[False] = ...,
        **options: Unpack[CallOptions],
    ) -> str | InvalidOutputError: ...
    @overload
    async def agenerate(
        self,
        prompt: Batch,
        output_type: type[T],
        *,
        errors: Literal["return"],
        max_tokens: int = ...,
        stream: Literal[False] = ...,
        **options: Unpack[CallOptions],
    ) -> list[T | InvalidOutputError]: ...
    @overload
    async def agenerate(
        self,
        prompt: Batch,
        output_type: TextType = ...,
        *,
        errors: Literal["return"],
        max_tokens: int = ...,
        stream: Literal[False] = ...,
        **options: Unpack[CallOptions],
    ) -> list[str | InvalidOutputError]: ...
    @overload
    async def agenerate(
        self,
        prompt: Chat,
        output_type: type[T],
        *,
        stream: Literal[True],
        max_tokens: int = ...,
        **options: Unpack[CallOptions],
    ) -> Stream[T]: ...
    @overload
    async def agenerate(
        self,
        prompt: Chat,
        output_type: TextType = ...,
        *,
        stream: Literal[True],
        max_tokens: int = ...,
        **options: Unpack[CallOptions],
    ) -> Stream[str]: ...
    @overload
    async def agenerate(
        self,
        prompt: Chat,
        output_type: type[T],
        *,
        details: Literal[True],
        max_tokens: int = ...,
        **options: Unpack[CallOptions],
    ) -> Completion[T]: ...
    @overload
    async def agenerate(
        self,
        prompt: Batch,
        output_type: type[T],
        *,
        details: Literal[True],
        max_tokens: int = ...,
        **options: Unpack[CallOptions],
    ) -> list[Completion[T]]: ...
    @overload
    async def agenerate(
        self,
        prompt: Any,
        output_type: Any = ...,
        *,
        max_tokens: int = ...,
        stream: bool = ...,
        errors: Literal["raise", "return"] = ...,
        details: bool = ...,
        **options: Unpack[CallOptions],
    ) -> Any: ...
    async def agenerate(
        self, prompt: Any = MISSING, output_type: Any = str, *, max_tokens: int = DEFAULT_MAX_TOKENS, **options: Any
    ) -> Any:
        """A call that is awaited: ``await gen.agenerate(prompt, User)``. Arguments, values and errors are those of a
        call. A model of this process runs in a thread, so that other tasks go on meanwhile. Where the task is
        cancelled, as by ``asyncio.wait_for`` and ``asyncio.timeout``, the model stops behind its next token, and nobody
        waits for that. A client that isn't asynchronous, and vLLM's ``LLM``, end what they have begun.
        """
        call: Any = self
        made = await _in_thread(call, prompt, output_type, max_tokens=max_tokens, **options)
        # The call of an asynchronous client is awaited here, in the loop that its connections belong to.
        return await made if inspect.isawaitable(made) else made


async def awaited_tool_loop(tool_loop: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """What ``tool_loop`` of a generator returns, which runs in a thread; see ``LocalGenerator.atool_loop``."""
    from interlock.generators.tool_loop.awaited_functions import AwaitingLoop

    if "stream" in options:
        raise ArgumentError(
            "an awaited tool loop has no option 'stream': gen.tool_loop(..., stream=True) is read in a thread of yours"
        )
    functions = AwaitingLoop(check_cancelled)
    with functions.known():
        return await _in_thread(tool_loop, *args, on_cancel=functions.cancel, **options)


async def _in_thread(
    call: Callable[..., Any], *args: Any, on_cancel: Callable[[], None] = lambda: None, **options: Any
) -> Any:
    """What ``call`` returns, which runs in a thread until the task is cancelled."""
    stopped = threading.Event()
    try:
        return await asyncio.to_thread(until_flagged, stopped, call, *args, **options)
    except asyncio.CancelledError:
        stopped.set()
        on_cancel()
        raise
