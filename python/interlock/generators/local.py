"""What generators have in common whose masks are made in this process: a vocabulary, indexes, traces and programs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Generator as Generated
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Unpack, overload

from interlock._core import ArgumentError, Index, Vocabulary
from interlock._recipe import byte_vocabulary
from interlock.generators.awaited_calls import awaited_tool_loop
from interlock.generators.base import KEPT, Generator, TextType
from interlock.generators.call_arguments.arguments import (
    DEFAULT_MAX_TOKENS,
    MISSING,
    Prompt,
    check_max_tokens,
    check_options,
    check_prompt,
    is_batch,
    refuse_of_calls,
)  # fmt: skip
from interlock.generators.call_arguments.json_blanks import with_whitespace
from interlock.generators.call_arguments.prefill_text import prefill_of
from interlock.generators.call_options import CallOptions, SamplingOptions
from interlock.generators.error_hints import error_hints
from interlock.generators.prompts.described_prompt import described, take_describe
from interlock.generators.prompts.prefill import prefilled
from interlock.generators.recently_used import RecentlyUsed
from interlock.generators.replies.budget_warnings import BudgetChecks, check_on_tight
from interlock.generators.replies.typed_rows import rows_by_type
from interlock.generators.replies.values import one_value
from interlock.integrations._number_end import NumberEnd
from interlock.integrations._prefilled import PrefilledIndex
from interlock.output_types import InvalidOutputError, OutputType
from interlock.util.argument_types import require

if TYPE_CHECKING:
    from interlock.generators.generation_trace import GenerationTrace
    from interlock.generators.replies.repeated_calls import OnRepeat
    from interlock.generators.tool_loop.rounds import OnError, ToolAnswer
    from interlock.generators.tool_loop.stream import ToolStream
    from interlock.programs import Program
    from interlock.programs.cached_model import CachedModel
    from interlock.programs.decoding import Decoder
    from interlock.tools import ToolFormat

__all__ = ["Constraining", "LocalGenerator"]

T = TypeVar("T")

Constraining = Index | PrefilledIndex
"""What a model may write behind a prompt."""
Runs = Generated[list[int], None, None]
"""The tokens of an output, as they come."""


class LocalGenerator(BudgetChecks, Generator):
    """A generator whose masks are made here: it has a vocabulary, and keeps what it compiled."""

    _makes_masks = True

    def __init__(self, vocabulary: Vocabulary, *, whitespace: str = "spaced") -> None:
        super().__init__(whitespace=whitespace)
        self.vocabulary = vocabulary
        """The model's vocabulary."""
        self._indexes = RecentlyUsed[Index](KEPT)
        self._number_end = NumberEnd(vocabulary)
        self._cached: CachedModel | None = None
        self._decoder: Decoder | None = None

    def of_model(self, model: Any) -> Generator:
        """See ``Generator``. A cache belongs to one model object."""
        other = super().of_model(model)
        assert isinstance(other, LocalGenerator)
        other._cached = other._decoder = None
        return other

    def _check_options(self, options: Mapping[str, Any]) -> None:
        check_on_tight(options.get("on_tight"))
        super()._check_options({name: value for name, value in options.items() if name != "on_tight"})

    @abstractmethod
    def encode(self, prompt: Prompt, chat: bool | None = None) -> list[int]:
        """The ids of a prompt. A text is the user's turn of a chat if ``chat`` is true, or if it is ``None`` and the
        tokenizer has a chat template; otherwise it is the beginning of what the model continues. A chat that ends with
        the assistant's message ends with its last token, and opens no turn behind it.
        """

    def _chat_text_ids(self, text: str) -> list[int]:
        """The ids of a chat that the chat template has written."""
        raise ArgumentError(f"{self.backend} does not go on with a message of the assistant: leave it out")

    def _index_behind(self, prompt: Prompt, prompt_ids: Sequence[int], output: OutputType[Any]) -> Constraining:
        """What constrains an output behind a prompt: the index, or behind a prefill the rest of its outputs.
        ``ArgumentError`` for a prefill that begins no output.
        """

        def with_blanks(whitespace: str) -> Index:
            return with_whitespace(output, whitespace).index(byte_vocabulary())

        blanks = with_blanks if output.kind == "json_schema" else None
        what = f"value of {output.name}"
        return prefilled(self.index(output), prefill_of(prompt), prompt_ids, what, with_blanks=blanks)

    @abstractmethod
    def _new_cached_model(self) -> CachedModel:
        """The model, as programs ask it."""

    def cached_model(self) -> CachedModel:
        """The model with the one KV cache that the programs of this generator share."""
        if self._cached is None:
            self._cached = self._new_cached_model()
        return self._cached

    def decoder(self) -> Decoder:
        """What writes the generated parts of programs."""
        if self._decoder is None:
            from interlock.programs import decoding

            self._decoder = decoding.Decoder(self.cached_model())
        return self._decoder

    def number_end(self, temperature: float) -> NumberEnd:
        """What ends a number that is a whole output; ``temperature`` is that of the call, 0 for greedy search."""
        return self._number_end.at(temperature)

    def begin(self) -> list[int]:
        """The ids that every text begins with: a token of the beginning, where the tokenizer writes one."""
        return []

    @overload
    def trace(
        self, prompt: Prompt, output_type: type[T], *, max_tokens: int = ..., **options: Unpack[CallOptions]
    ) -> GenerationTrace[T]: ...
    @overload
    def trace(
        self, prompt: Prompt, output_type: TextType = ..., *, max_tokens: int = ..., **options: Unpack[CallOptions]
    ) -> GenerationTrace[str]: ...
    @overload
    def trace(
        self, prompt: Prompt, output_type: Any = ..., *, max_tokens: int = ..., **options: Unpack[CallOptions]
    ) -> GenerationTrace[Any]: ...
    def trace(
        self,
        prompt: Prompt = MISSING,
        output_type: Any = str,
        *,
        max_tokens: int = DEFAULT_MAX_TOKENS,
        **options: Any,
    ) -> GenerationTrace[Any]:
        """A value with its reasons: what the model wrote token by token, what it would rather have written, and why
        that was not allowed. In a notebook the result is a page; ``save("trace.html")`` writes it.

        Arguments and errors are those of a call with one prompt. With llama.cpp and mlx-lm, ``options`` are the five of
        a program (``temperature``, ``top_p``, ``top_k``, ``min_p``, ``seed``) and ``chat``, and without them the search
        is greedy. The model is asked once more for each token, for what it found likely there.

        Example::

            found = gen.trace("Make up a user.", User, max_tokens=60)
            print(found)
            found.save("trace.html")
        """
        from interlock.generators import generation_trace

        check_prompt(prompt, options)
        if is_batch(prompt):
            raise ArgumentError("a trace has one prompt: make a trace for each")
        refuse_of_calls(options, "a trace")
        if options.get("stop"):
            raise ArgumentError("a trace has no stop: it shows a whole output. Leave stop out, and bound max_tokens")
        is_described = take_describe(options)
        max_tokens = check_max_tokens(max_tokens)
        output = self._prepared(output_type, max_tokens, options)
        with error_hints(max_tokens):
            told = described(prompt, output, is_described)
            prompt_ids, ids = self._token_ids(told, output, max_tokens, dict(options))
            begun = self._index_behind(told, prompt_ids, output)
        index = self.index(output)
        room = self.context_room(len(prompt_ids), max_tokens)
        self.check_budget_of_one(begun, ids, max_tokens, options.get("on_tight"), room)
        given = begun.ids if isinstance(begun, PrefilledIndex) else []
        value = one_value(
            output, self.vocabulary.decode([*given, *ids]).decode("utf-8", "replace"), max_tokens, "raise"
        )
        wishes = generation_trace.wishes_of(self.cached_model(), prompt_ids, ids)
        title = prompt if isinstance(prompt, str) else str(prompt[-1].get("content"))
        return generation_trace.trace_of(index, ids, value, title, max_tokens, wishes, given)

    def _check_budget_of_stream(self, prompt: Prompt, output: OutputType[Any], max_tokens: int) -> None:
        if prefill_of(prompt) is None:  # Behind a prefill an output needs fewer tokens, which the backend counts.
            self.index(output).guide(max_tokens=max_tokens)

    def _texts_of_types(
        self, prompts: list[Prompt], outputs: Sequence[OutputType[Any]], max_tokens: int, options: dict[str, Any]
    ) -> Sequence[str | InvalidOutputError]:
        first = [outputs[rows[0]] for rows in rows_by_type(outputs)]
        if len(first) > 1:
            # What is wrong with one of the types is said before the model writes anything.
            for output in first:
                self.index(output).guide(max_tokens=max_tokens)
        return super()._texts_of_types(prompts, outputs, max_tokens, options)

    def _token_ids(
        self, prompt: Prompt, output: OutputType[Any], max_tokens: int, options: dict[str, Any]
    ) -> tuple[list[int], list[int]]:
        """The tokens of a prompt, and those of an output for it without the stop token."""
        check_options(
            {name: value for name, value in options.items() if name not in ("chat", "on_tight")},
            SamplingOptions.__optional_keys__,
            f"a trace with {self.backend}",
        )
        ids = self.encode(prompt, options.get("chat"))
        return ids, self._ids_behind(ids, self._index_behind(prompt, ids, output), max_tokens, options)

    def _ids_behind(
        self, prompt_ids: list[int], index: Constraining, max_tokens: int, options: dict[str, Any]
    ) -> list[int]:
        """The tokens of an output behind those of a prompt, without the stop token."""
        return [token for run in self._runs_behind(prompt_ids, index, max_tokens, options) for token in run]

    def _whole_behind(
        self, prompt_ids: list[int], index: Constraining, max_tokens: int, options: dict[str, Any]
    ) -> Runs:
        """The same, as one run."""
        yield self._ids_behind(prompt_ids, index, max_tokens, options)

    def _runs_behind(
        self, prompt_ids: list[int], index: Constraining, max_tokens: int, options: dict[str, Any]
    ) -> Runs:
        """The same tokens as they come."""
        from interlock.generators.generation_trace import sampled_runs

        for name in ("chat", "on_tight"):
            options.pop(name, None)
        check_options(options, SamplingOptions.__optional_keys__, f"a tool loop with {self.backend}")
        if room := self.context_room(len(prompt_ids), max_tokens):
            room.check(index)
            max_tokens = room.left
        guide = index.guide(max_tokens=max_tokens)
        end = self.number_end(options.get("temperature") or 0.0)
        return sampled_runs(self.cached_model(), self.vocabulary, guide, prompt_ids, options, end)

    def _chats(self) -> Any:
        """What writes chats by the model's template: an object with ``chat_template`` and ``apply_chat_template``, as
        tokenizers of transformers have them.
        """
        if not self._has_chat_template():
            raise ArgumentError("the model has no chat template, so it takes no messages and no tools")
        return self.tokenizer

    @overload
    def tool_loop(
        self,
        prompt: Prompt = ...,
        tools: Sequence[Any] = ...,
        *,
        functions: Mapping[str, Callable[..., Any]] | None = ...,
        max_tokens: int = ...,
        max_rounds: int = ...,
        tool_choice: Any = ...,
        format: str | ToolFormat | Mapping[str, Any] = ...,
        parallel: bool = ...,
        on_error: OnError = ...,
        on_repeat: OnRepeat = ...,
        stream: Literal[False] = ...,
        **options: Unpack[SamplingOptions],
    ) -> ToolAnswer: ...
    @overload
    def tool_loop(
        self,
        prompt: Prompt = ...,
        tools: Sequence[Any] = ...,
        *,
        stream: Literal[True],
        functions: Mapping[str, Callable[..., Any]] | None = ...,
        max_tokens: int = ...,
        max_rounds: int = ...,
        tool_choice: Any = ...,
        format: str | ToolFormat | Mapping[str, Any] = ...,
        parallel: bool = ...,
        on_error: OnError = ...,
        on_repeat: OnRepeat = ...,
        **options: Unpack[SamplingOptions],
    ) -> ToolStream: ...
    def tool_loop(
        self,
        prompt: Prompt = MISSING,
        tools: Sequence[Any] = MISSING,
        *,
        functions: Mapping[str, Callable[..., Any]] | None = None,
        max_tokens: int = DEFAULT_MAX_TOKENS,
        max_rounds: int = 8,
        tool_choice: Any = "auto",
        format: str | ToolFormat | Mapping[str, Any] = "auto",
        parallel: bool = True,
        on_error: OnError = "tell",
        on_repeat: OnRepeat = "tell",
        stream: bool = False,
        **options: Unpack[SamplingOptions],
    ) -> ToolAnswer | ToolStream:
        """The answer to ``prompt`` of a model that may call functions. Those that it calls are run, their results are
        put into the chat as messages of the role ``tool``, and the model is asked again, until it answers.

        * ``tools``: annotated functions, which are called with values of the annotated types; and whatever else
          ``Index.from_tools`` takes, such as ``{"type": "function", "function": {...}}`` and classes.
        * ``functions``: what runs tools that are no functions, by their names. The function of a class is called with
          an object of the class, others with the arguments by name, as JSON has them.
        * ``max_tokens`` is the budget of each turn of the model; what has to come is whole within it.
        * ``max_rounds``: in so many turns the model may call; in the next one it has to answer.
        * ``tool_choice`` is about the first turn: ``"auto"``, ``"required"``, or a tool by its name as in
          ``Index.from_tools``. Later turns are ``"auto"``. ``tool_choice="required", parallel=False, max_rounds=1`` is
          exactly one call and then an answer.
        * ``format``: the notation of calls, as in ``Index.from_tools``; ``"auto"`` finds it from the chat template.
        * ``parallel``: whether one turn may have several calls.
        * ``on_error``: what becomes of an exception of a function, and of arguments that its types refuse. ``"tell"``
          gives the model ``{"error": "KeyError: 'nope'"}`` as the result; ``"raise"`` lets it through; a function of
          the call and the exception returns what the model is told.
        * ``on_repeat``: what becomes of a call that the model made in the turn before, with the same arguments.
          ``"tell"`` does not run it again, and tells the model so as its result; ``"run"`` runs it, for functions that
          return something else each time; ``"raise"`` is an ``InvalidOutputError``.
        * ``stream=True`` returns a ``ToolStream``: what the model writes and what its calls return, as they come.
        * ``options`` are those of sampling.

        ``ArgumentError`` for tools that nothing runs, ``RequestError`` for what is no tool, ``ToolFormatError`` where
        no format is found, ``BudgetError`` for a budget in which a call that must come has no room.

        Example::

            answer = gen.tool_loop("What is 20 + 22?", [add], max_tokens=200)
            print(answer.text, answer.calls)
        """
        from interlock.generators.tool_loop.rounds import rounds_with_tools
        from interlock.generators.tool_loop.stream import ToolStream

        require(stream=(stream, "flag"))
        given: dict[str, Any] = dict(options)
        events = rounds_with_tools(
            self,
            prompt,
            tools,
            functions,
            max_tokens,
            max_rounds,
            tool_choice,
            format,
            parallel,
            on_error,
            on_repeat,
            given,
            stream,
        )
        found = ToolStream(events)
        return found if stream else found.answer

    async def atool_loop(
        self,
        prompt: Prompt = MISSING,
        tools: Sequence[Any] = MISSING,
        *,
        functions: Mapping[str, Callable[..., Any]] | None = None,
        max_tokens: int = DEFAULT_MAX_TOKENS,
        max_rounds: int = 8,
        tool_choice: Any = "auto",
        format: str | ToolFormat | Mapping[str, Any] = "auto",
        parallel: bool = True,
        on_error: OnError = "tell",
        on_repeat: OnRepeat = "tell",
        **options: Unpack[SamplingOptions],
    ) -> ToolAnswer:
        """A tool loop that is awaited: ``answer = await gen.atool_loop(prompt, [look_up])``. Arguments, answer and
        errors are those of ``tool_loop``. The model runs in a thread, and so do functions; async ones run in the event
        loop that awaits this. Where the task is cancelled, the model stops behind its next token and an async function
        at its next ``await``, and nobody waits for that.
        """
        answer: ToolAnswer = await awaited_tool_loop(
            self.tool_loop,
            prompt,
            tools,
            functions=functions,
            max_tokens=max_tokens,
            max_rounds=max_rounds,
            tool_choice=tool_choice,
            format=format,
            parallel=parallel,
            on_error=on_error,
            on_repeat=on_repeat,
            **options,
        )
        return answer

    def program(self, prompt: Prompt = "", *, chat: bool | None = None, **sampling: Unpack[SamplingOptions]) -> Program:
        """A program that begins with ``prompt``; see ``Program``."""
        from interlock.programs import Program

        return Program(self, prompt, chat=chat, **sampling)

    def index(self, output_type: Any) -> Index:
        """What ``output_type`` compiles to for this model, from the cache where it was used before. The last 256 are
        kept, with all masks that were made in them. Errors are those of ``Index`` and of ``output_type_of``.
        """
        output = self.output_type(output_type)

        def make() -> Index:
            with error_hints():
                return output.index(self.vocabulary)

        return self._indexes.get_or_make(output.key, make)
