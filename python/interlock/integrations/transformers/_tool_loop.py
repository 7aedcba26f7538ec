"""A tool loop: the functions that a model calls are run inside of one generation.

The model writes in its family's notation, under the masks of the tools. When a call ends, its function is run, and the
result is written behind the call, in the notation of the model's chat template. Then the model goes on.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import torch

from interlock import ArgumentError, BudgetError, Guide, Index, Vocabulary
from interlock.events import CallEnded, Event, TakenBack, Text
from interlock.generators.call_arguments.arguments import (
    DEFAULT_MAX_TOKENS,
    as_messages,
    check_max_tokens,
    check_options,
    is_batch,
)
from interlock.generators.prompts.chat_content import templated
from interlock.generators.prompts.system_texts import shows_tools, with_system_text
from interlock.integrations.transformers._jump import jump_forward
from interlock.integrations.transformers._options import option_names, refuse_other_names, with_sampling
from interlock.tools import Call, ToolFormat, ToolFormatError, detect_format, tool_format, tools_of
from interlock.tools.notations.result_notation import Result, result_notation
from interlock.tools.requests.tool_descriptions import describe_tools, for_template
from interlock.util.argument_types import require
from interlock.util.caller_warnings import warn_caller
from interlock.util.near_words import meant
from interlock.util.plurals import counted

__all__ = ["ToolLoop", "ToolRun"]

# The options of Index.from_tools that a loop hands on. With a response_format an output is calls or an answer, and the
# output of a loop is both.
_REQUEST = frozenset(inspect.signature(Index.from_tools).parameters) - {
    "tools",
    "vocabulary",
    "tokenizer",
    "response_format",
    "regex_flags",
}
# Room for results where a model's context has no known end.
_RESULTS = 1 << 16


@dataclass(frozen=True)
class ToolRun:
    """What came of one generation."""

    text: str
    """The answer's text, without reasoning, calls and results. It is empty where the model wrote calls alone, as it
    must with ``tool_choice="required"``: leave that out for an answer behind the calls.
    """
    calls: list[tuple[Call, Any]]
    """The calls in turn, each with what its function returned."""
    events: list[Event]
    tokens: list[int]
    """All tokens behind the prompt, those of results and the stop token included."""

    def __repr__(self) -> str:
        text = self.text if len(self.text) <= 60 else self.text[:57] + "..."
        calls = ", ".join(call.name for call, _ in self.calls[:5]) + (", ..." if len(self.calls) > 5 else "")
        return f"<interlock ToolRun: text {text!r}, calls [{calls}], {counted(len(self.tokens), 'token')}>"


def _detected(tokenizer: Any, result: Result) -> ToolFormat:
    """The format of the chat template. Where that has none, it has no notation of results either, and one error says
    both.
    """
    try:
        return detect_format(tokenizer)
    except ToolFormatError as error:
        if result is not None:
            raise
        raise ToolFormatError(
            f"{error}. A chat template without calls tells no notation of results either: pass that together with the "
            "format, such as result='\\n<tool_response>\\n${result}\\n</tool_response>\\n'"
        ) from None


@dataclass
class _Progress:
    """What was generated and called so far."""

    events: list[Event] = field(default_factory=list)
    calls: list[tuple[Call, Any]] = field(default_factory=list)


class ToolLoop:
    """Generates with tools that are run when the model calls them.

    * ``model``, ``tokenizer``: a decoder of transformers and its tokenizer.
    * ``tools``: annotated functions. Their arguments come as JSON values: numbers, texts, lists, dictionaries.
    * ``format``: the notation of the calls, as in ``Index.from_tools``; ``"auto"`` finds it from the chat template.
    * ``result``: how a result is written behind its call. ``None``: as the tokenizer's chat template writes it. A text
      with ``${result}``, and perhaps ``${name}`` and ``${id}``. Or a function of the call and what was returned, that
      returns a text, or a list of texts and token ids. The names of special tokens in a notation are these tokens; what
      a tool returned is plain text, whatever it says.
    * ``max_calls``: behind so many calls the model can call no more, and answers. With 1, and with
      ``tool_choice="required"``, the output ends behind the last call's result, and has no answer.
    * ``on_error``: what becomes of an exception that a tool raises. ``"raise"`` lets it through, and the generation
      ends with it. ``"tell"`` writes ``{"error": "KeyError: 'nope'"}`` as the call's result, and the model goes on. A
      function of the call and the exception returns what the model is told instead.
    * ``describe``: whether the prompt says in words which tools there are, and how a call is written
      (``interlock.tools.describe_tools``). It then stands in the system message, or in front of the first message of
      the user where the chat template has no such message. ``None``: where the chat template shows no tools. ``False``
      is for prompts that say it themselves. A prompt of ids stays as it is.
    * ``on_event``: called with each event.
    * ``vocabulary``: that of the tokenizer, if it was made before.
    * Others are those of ``Index.from_tools``: ``reasoning``, ``strict``, ``parallel`` and so on.

    ``ArgumentError`` for tools that are no functions; ``ToolFormatError`` where the format or the notation of results
    is not found.

    Example (``model`` and ``tokenizer`` are those of transformers)::

        def add(a: int, b: int) -> int:
            return a + b

        run = ToolLoop(model, tokenizer, [add])("What is 20 + 22?", max_tokens=200)
        run.calls   # [(Call(name='add', arguments={'a': 20, 'b': 22}, id=''), 42)]
    """

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        tools: Sequence[Callable[..., Any]],
        *,
        format: str | ToolFormat | Mapping[str, Any] = "auto",
        result: Result = None,
        max_calls: int = 16,
        on_error: Literal["raise", "tell"] | Callable[[Call, Exception], Any] | None = "raise",
        describe: bool | None = None,
        on_event: Callable[[Event], None] | None = None,
        vocabulary: Vocabulary | None = None,
        **request: Any,
    ) -> None:
        if not callable(getattr(model, "generate", None)) or not hasattr(model, "config"):
            raise ArgumentError(
                f"a model of transformers is needed, not {type(model).__name__}: model, tokenizer, tools"
            )
        if not isinstance(tools, Sequence) or isinstance(tools, str):
            raise ArgumentError(
                f"tools are a list of functions, not {type(tools).__name__}: write [tool] for a single one"
            )
        if not (on_error is None or callable(on_error) or on_error in ("raise", "tell")):
            raise ArgumentError(
                f'on_error is "raise", "tell", or a function of the call and the exception, not {on_error!r}'
            )
        require(describe=(describe, "flag?"))
        for option in request:
            if option in ("max_tokens", "max_new_tokens"):
                raise ArgumentError(f"{option!r} belongs to the call: loop(prompt, max_tokens=...)")
            if option not in _REQUEST:
                raise ArgumentError(f"a loop has no option {option!r}{meant(option, _REQUEST)}")
        self._functions: dict[str, Callable[..., Any]] = {}
        for tool in tools:
            name = getattr(tool, "__name__", None)
            if not callable(tool) or name is None:
                raise ArgumentError(f"a tool of a loop is a function with a name, not {type(tool).__name__}")
            self._functions[name] = tool
        self._model, self._tokenizer = model, tokenizer
        self._described = [for_template(tool, self._functions[tool.name]) for tool in tools_of(list(tools))]
        self._format = _detected(tokenizer, result) if format == "auto" else tool_format(format)
        self._vocabulary = (
            vocabulary
            if vocabulary is not None
            else Vocabulary.from_tokenizer(tokenizer, size=model.config.get_text_config().vocab_size)
        )
        request.setdefault("tool_choice", "auto")
        self._index = Index.from_tools(
            list(tools), self._vocabulary, format=self._format, max_calls=max_calls, **request
        )
        self._notation = result_notation(result, self._format, tokenizer, self._vocabulary)
        self._on_error, self._on_event = on_error, on_event
        self._describe = describe
        self._words = describe_tools(list(tools), self._format) if describe is not False else ""

    def __repr__(self) -> str:
        return f"<interlock ToolLoop of {type(self._model).__name__}: {', '.join(self._functions)}>"

    @property
    def index(self) -> Index:
        """The index that the output follows."""
        return self._index

    def __call__(
        self,
        prompt: str | Sequence[Mapping[str, Any]] | torch.Tensor,
        *,
        max_tokens: int = DEFAULT_MAX_TOKENS,
        **options: Any,
    ) -> ToolRun:
        """Generate an answer. ``prompt`` is a question, a list of messages for the chat template, or ids.

        ``max_tokens`` is the most tokens that the model writes, calls included; results do not count. What it writes is
        whole within them: a call that has begun ends, and one that must come comes. ``options`` are those of
        ``model.generate``, such as ``temperature`` and ``do_sample``, and ``seed``.

        ``BudgetError`` if no output is so short, and if the model's context has no room for results and what has to
        follow them. What a tool raises is raised here, with a note that names the call, unless ``on_error`` says
        otherwise.
        """
        max_tokens = check_max_tokens(max_tokens)
        refuse_other_names(options)
        check_options(options, option_names(self._model) | {"seed"}, "transformers")
        ids = self._ids(prompt)
        progress = _Progress()
        room = self._room(ids.shape[1], max_tokens)

        last: list[Guide] = []

        def watch(row: int, guide: Guide) -> bool:
            del row
            last[:] = [guide]
            return self._follow(guide, progress)

        made = self._model.generate(
            input_ids=ids,
            attention_mask=torch.ones_like(ids),
            custom_generate=jump_forward,
            constraints=self._index,
            on_guide=watch,
            max_tokens=max_tokens,
            max_new_tokens=room,
            **with_sampling(options),
        )
        for guide in last:
            self._note(guide.events(), progress)
        tokens = made[0, ids.shape[1] :].tolist()
        if len(tokens) >= room and not any(guide.is_terminated for guide in last):
            raise BudgetError(
                f"the model's context has no room behind the results of {counted(len(progress.calls), 'call')}: the "
                "answer was cut"
            )
        text = "".join(event.text for event in progress.events if isinstance(event, Text))
        return ToolRun(text, progress.calls, progress.events, tokens)

    def _room(self, prompt: int, max_tokens: int) -> int:
        """How many tokens may stand behind the prompt, results included."""
        context = getattr(self._model.config.get_text_config(), "max_position_embeddings", None)
        if not isinstance(context, int):
            return max_tokens + _RESULTS
        if context - prompt < 1:
            raise BudgetError(
                f"the prompt has {counted(prompt, 'token')}, and the model's context of {context} has no room behind it"
            )
        return context - prompt

    def _ids(self, prompt: str | Sequence[Mapping[str, Any]] | torch.Tensor) -> torch.Tensor:
        if isinstance(prompt, torch.Tensor):
            ids = prompt if prompt.dim() == 2 else prompt[None]
        else:
            if is_batch(prompt):
                raise ArgumentError("a tool loop has one prompt: a text, a list of messages, or ids")
            messages = self._messages(as_messages(prompt))
            found = self._tokenizer.apply_chat_template(
                messages, tools=self._described, add_generation_prompt=True, return_tensors="pt"
            )
            ids = found if isinstance(found, torch.Tensor) else found["input_ids"]
        if len(ids) != 1:
            raise ArgumentError("a tool loop has one prompt")
        return ids.to(self._model.device)

    def _messages(self, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The messages as the chat template reads them, with the tools in words where it shows none."""
        read = templated(self._tokenizer, messages, self._described)
        if not self._words or (self._describe is None and shows_tools(self._tokenizer, read, self._described)):
            return read
        told = with_system_text(self._tokenizer, messages, self._words, self._described)
        if told is None:
            warn_caller(
                "the model does not see the tools: the chat template has no place for them, and writes neither a "
                "system message nor one of the user here. Pass ids, or describe=False with a message that names them",
                UserWarning,
            )
        return told or read

    def _note(self, events: Sequence[Event], progress: _Progress) -> None:
        for event in events:
            if isinstance(event, TakenBack):
                del progress.events[len(progress.events) - event.count :]
            else:
                progress.events.append(event)
            if self._on_event is not None:
                self._on_event(event)

    def _follow(self, guide: Guide, progress: _Progress) -> bool:
        """Runs the calls that ended, and forces their results."""
        events = guide.events()
        self._note(events, progress)
        parts: list[int | bytes | str] = []
        for event in events:
            if isinstance(event, CallEnded):
                returned = self._run(event.call)
                progress.calls.append((event.call, returned))
                parts += self._notation(event.call, returned)
        if not parts:
            return False
        guide.force(parts)
        return True

    def _run(self, call: Call) -> Any:
        try:
            return self._functions[call.name](**call.arguments)
        except Exception as error:
            if self._on_error == "tell":
                return {"error": f"{type(error).__name__}: {error}"}
            if callable(self._on_error):
                return self._on_error(call, error)
            error.add_note(
                f"raised by {call.name}(**{call.arguments!r}), which the model called in a ToolLoop; with "
                'on_error="tell" the model is told, and goes on'
            )
            raise
