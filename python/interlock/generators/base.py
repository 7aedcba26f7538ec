"""What generators of all backends have in common: calls, batches, streams, and compiled output types."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, Literal, Self, TypeVar, Unpack, overload

from interlock._core import ArgumentError, Vocabulary
from interlock.generators.awaited_calls import AwaitedCalls
from interlock.generators.call_arguments.arguments import (
    DEFAULT_MAX_TOKENS,
    MISSING,
    Prompt,
    check_max_tokens,
    check_prompt,
    is_batch,
    refuse_more,
    refuse_of_calls,
)  # fmt: skip
from interlock.generators.call_arguments.call_types import Batch, Chat, TextType
from interlock.generators.call_arguments.public_names import PublicNames
from interlock.generators.call_options import CallOptions
from interlock.generators.error_hints import error_hints
from interlock.generators.prepared_calls import KEPT, PreparedCalls
from interlock.generators.prompts.described_prompt import described, described_rows, take_describe
from interlock.generators.replies.attempts import Asking, asked, take_attempts
from interlock.generators.replies.completion import Completion, Known, take_details
from interlock.generators.replies.finished_items import element_reader
from interlock.generators.replies.stop_texts import cut_texts, up_to_stop
from interlock.generators.replies.typed_rows import rows_by_type
from interlock.generators.replies.validation_context import reads_in_context
from interlock.generators.replies.values import (
    batch_values,
    check_errors,
    named_rows,
    parser,
    raised_or_returned,
    rows_of_batch,
)  # fmt: skip
from interlock.generators.stream import Stream
from interlock.output_types import InvalidOutputError, OutputType
from interlock.util.argument_types import require

__all__ = ["DEFAULT_MAX_TOKENS", "KEPT", "Generator", "TextType"]

T = TypeVar("T")


class Generator(AwaitedCalls, PreparedCalls, PublicNames, ABC):
    """A model that answers with values of Python types. Call it with a prompt and an output type.

    ``generator(prompt, User)`` returns a ``User``. A prompt is a text or a list of messages; a list of prompts makes a
    list of values. Output types are those of ``interlock.output_types.output_type_of``. ``max_tokens`` bounds the
    output, which is complete within it. Other keywords go to the backend: ``temperature``, ``top_p`` and so on.

    Made by ``from_transformers``, ``from_llama_cpp``, ``from_mlx_lm``, ``from_vllm`` and ``from_openai``.
    """

    def __new__(cls, *_: Any, **__: Any) -> Self:
        if cls is Generator:
            raise TypeError(
                "a Generator is made of a model: gen = interlock.from_transformers(model, tokenizer), or "
                "from_llama_cpp, from_mlx_lm, from_vllm, from_openai; then gen(prompt, output_type)"
            )
        return super().__new__(cls)

    #: The attribute that is the model.
    holds_model_as = "model"
    # Whether what one thread has begun to read cannot be read or closed by another.
    _reads_in_one_thread = False

    # The first overloads are for one prompt, the next for a list of prompts, then the same with
    # ``errors="return"``, and the last for streams.
    @overload
    def __call__(
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
    def __call__(
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
    def __call__(
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
    def __call__(
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
    def __call__(
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
    def __call__(
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
    def __call__(
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
    def __call__(
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
    def __call__(
        self,
        prompt: Chat,
        output_type: type[T],
        *,
        stream: Literal[True],
        max_tokens: int = ...,
        **options: Unpack[CallOptions],
    ) -> Stream[T]: ...
    @overload
    def __call__(
        self,
        prompt: Chat,
        output_type: TextType = ...,
        *,
        stream: Literal[True],
        max_tokens: int = ...,
        **options: Unpack[CallOptions],
    ) -> Stream[str]: ...
    @overload
    def __call__(
        self,
        prompt: Chat,
        output_type: type[T],
        *,
        details: Literal[True],
        max_tokens: int = ...,
        **options: Unpack[CallOptions],
    ) -> Completion[T]: ...
    @overload
    def __call__(
        self,
        prompt: Batch,
        output_type: type[T],
        *,
        details: Literal[True],
        max_tokens: int = ...,
        **options: Unpack[CallOptions],
    ) -> list[Completion[T]]: ...
    @overload
    def __call__(
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
    def __call__(
        self,
        prompt: Any = MISSING,
        output_type: Any = str,
        *more: Any,
        max_tokens: int = DEFAULT_MAX_TOKENS,
        stream: bool = False,
        errors: Literal["raise", "return"] = "raise",
        **options: Any,
    ) -> Any:
        """A value of ``output_type`` for ``prompt``; a list of values for a list of prompts; a ``Stream`` with
        ``stream=True``.

        ``max_tokens`` is the most tokens of the output: whatever is sampled, the output is complete within so many.
        ``BudgetError`` says that no output is so short, with the number that is needed.

        Other errors: ``ArgumentError`` for unsuitable arguments (``TypeError`` for an option of another Python type),
        before the model runs; ``UnsupportedError`` for a type that JSON cannot hold,
        ``InvalidOutputError`` where a check in Python, of the class itself, refuses the value, and those of ``Index``.
        ``PromptTooLongError``, an ``InvalidOutputError`` too, for a prompt that leaves no room in the model's context.
        With ``errors="return"`` an ``InvalidOutputError`` is returned in the place of the value, so that the other
        values of a batch are not lost.

        Warnings: ``UnicodeClassWarning`` for a pattern with ``\\d``, ``\\w`` or ``\\s`` that is not read as ASCII,
        ``UnboundedNumberWarning`` for a number without bounds that the model did not end by itself, and
        ``TightBudgetWarning`` where ``max_tokens`` left no room: the value is whole, but its texts may be empty. With
        ``on_tight="error"`` it is a ``TightBudgetError`` instead, an ``InvalidOutputError``, and ``on_tight="ignore"``
        is silent. ``on_unsupported="warn"`` leaves bounds that cannot be enforced to the class; see ``output_type_of``.

        ``attempts`` is how often the model is asked, by default once: where an answer is an ``InvalidOutputError``, it
        is asked again, and messages then say what was wrong.

        ``details=True`` returns a ``Completion``: the value with its text, its tokens, how many there are of them and
        of the prompt's, and why it ended; in a batch one for each prompt.

        ``context`` is what validators of a pydantic class find as ``info.context``.

        ``describe=True`` puts ``interlock.describe(output_type)`` in front of the prompt, where the model reads what it
        has to fill in.
        ``stop``, a text or several, ends free text (``str``) before the first of them. ``whitespace`` are the blanks of
        JSON of this call, with models of this process.

        A number that is the whole output ends where the model would write what is no part of it.
        """
        check_prompt(prompt, options)
        refuse_more(output_type, more)
        require(stream=(stream, "flag"))
        check_errors(errors)
        if stream:
            if errors == "return":
                raise ArgumentError("errors='return' belongs to calls: stream.value raises, and stream.text is kept")
            return self.stream(prompt, output_type, max_tokens=max_tokens, **options)
        if is_batch(prompt):
            return self.batch(prompt, output_type, max_tokens=max_tokens, errors=errors, **options)
        is_described = take_describe(options)
        max_tokens = check_max_tokens(max_tokens)
        attempts, is_detailed = take_attempts(options), take_details(options)
        output = self._prepared(output_type, max_tokens, options)
        with error_hints(max_tokens):
            rows = [described(prompt, output, is_described)]
            is_chat = self._reads_as_chat(options.get("chat"))
            asking = asked(rows, [output], max_tokens, options, attempts, is_chat, is_detailed)
            values = self._values(asking, max_tokens)
        return raised_or_returned(values[0], errors)

    @overload
    def batch(
        self, prompts: Sequence[Prompt], output_type: type[T], *, max_tokens: int = ..., **options: Unpack[CallOptions]
    ) -> list[T]: ...
    @overload
    def batch(
        self,
        prompts: Sequence[Prompt],
        output_type: TextType = ...,
        *,
        max_tokens: int = ...,
        **options: Unpack[CallOptions],
    ) -> list[str]: ...
    @overload
    def batch(
        self,
        prompts: Sequence[Prompt],
        output_type: list[type[T]] | tuple[type[T], ...],
        *,
        max_tokens: int = ...,
        **options: Unpack[CallOptions],
    ) -> list[T]: ...
    @overload
    def batch(
        self,
        prompts: Sequence[Prompt],
        output_type: type[T],
        *,
        errors: Literal["return"],
        max_tokens: int = ...,
        **options: Unpack[CallOptions],
    ) -> list[T | InvalidOutputError]: ...
    @overload
    def batch(
        self,
        prompts: Sequence[Prompt],
        output_type: TextType = ...,
        *,
        errors: Literal["return"],
        max_tokens: int = ...,
        **options: Unpack[CallOptions],
    ) -> list[str | InvalidOutputError]: ...
    @overload
    def batch(
        self,
        prompts: Sequence[Prompt],
        output_type: type[T],
        *,
        details: Literal[True],
        max_tokens: int = ...,
        **options: Unpack[CallOptions],
    ) -> list[Completion[T]]: ...
    @overload
    def batch(
        self,
        prompts: Sequence[Prompt],
        output_type: Any = ...,
        *,
        max_tokens: int = ...,
        errors: Literal["raise", "return"] = ...,
        details: bool = ...,
        **options: Unpack[CallOptions],
    ) -> list[Any]: ...
    def batch(
        self,
        prompts: Sequence[Prompt] = MISSING,
        output_type: Any = str,
        *,
        max_tokens: int = DEFAULT_MAX_TOKENS,
        errors: Literal["raise", "return"] = "raise",
        **options: Any,
    ) -> list[Any]:
        """A value for each prompt, in their order; together where the backend can. Errors are those of a call.

        An ``InvalidOutputError`` says in ``row`` which prompt it is about, and its ``results`` have the values of the
        others. With ``errors="return"`` the list itself has such errors in the places of the values that were refused.
        A prompt that is too long for the model's context is such an error; one that is no prompt is an
        ``ArgumentError`` that says which it is, before the model is asked.

        A list of output types gives each prompt its own: ``gen.batch([a, b], [User, City])``. A list of texts is a list
        of choices for all of them, and a list of functions a call of one of them. transformers and servers run prompts
        of several types together; the others type by type.
        """
        check_prompt(prompts, options)
        check_errors(errors)
        if not is_batch(prompts):
            raise ArgumentError("batch takes a list of prompts; call the generator itself with a single one")
        is_described = take_describe(options)
        max_tokens = check_max_tokens(max_tokens)
        attempts, is_detailed = take_attempts(options), take_details(options)
        outputs = self._prepared_rows(prompts, output_type, max_tokens, options)
        with error_hints(max_tokens), named_rows():
            rows = described_rows(prompts, outputs, is_described)
            is_chat = self._reads_as_chat(options.get("chat"))
            asking = asked(rows, outputs, max_tokens, options, attempts, is_chat, is_detailed)
            values = self._values(asking, max_tokens)
        return batch_values(values, errors)

    def _values(self, asking: Asking, max_tokens: int) -> list[Any]:
        """What comes of the prompts that ``asking`` yields."""
        texts: Any = None
        while True:
            try:
                prompts, outputs, options = asking.send(texts)
            except StopIteration as end:
                found: list[Any] = end.value
                return found
            texts = cut_texts(self._texts_of_types(prompts, outputs, max_tokens, options), outputs, prompts)

    @overload
    def stream(
        self, prompt: Prompt, output_type: type[T], *, max_tokens: int = ..., **options: Unpack[CallOptions]
    ) -> Stream[T]: ...
    @overload
    def stream(
        self, prompt: Prompt, output_type: TextType = ..., *, max_tokens: int = ..., **options: Unpack[CallOptions]
    ) -> Stream[str]: ...
    @overload
    def stream(
        self, prompt: Prompt, output_type: Any = ..., *, max_tokens: int = ..., **options: Unpack[CallOptions]
    ) -> Stream[Any]: ...
    def stream(
        self,
        prompt: Prompt = MISSING,
        output_type: Any = str,
        *,
        max_tokens: int = DEFAULT_MAX_TOKENS,
        **options: Any,
    ) -> Stream[Any]:
        """The text piece by piece, what is certain of its value meanwhile (``partial``), and its value at the end. One
        prompt. Errors are those of a call; those of the arguments and of the budget come at once.
        """
        check_prompt(prompt, options)
        if is_batch(prompt):
            raise ArgumentError(
                "a stream has one prompt: make a stream for each, or call gen.batch(prompts, output_type)"
            )
        refuse_of_calls(options, "a stream")
        is_described = take_describe(options)
        max_tokens = check_max_tokens(max_tokens)
        read_element = reads_in_context(element_reader(output_type), options.get("context"))
        output = self._prepared(output_type, max_tokens, options)
        with error_hints(max_tokens):
            told = described(prompt, output, is_described)
            self._check_budget_of_stream(told, output, max_tokens)
            ends: list[Known] = []
            pieces = up_to_stop(self._pieces(told, output, max_tokens, options, ends), output, told)
        return Stream(
            pieces,
            parser(output, max_tokens),
            is_json=output.kind == "json_schema",
            read_element=read_element,
            in_one_thread=self._reads_in_one_thread,
            known=lambda: ends[-1] if ends else Known(),
        )

    def _check_budget_of_stream(self, prompt: Prompt, output: OutputType[Any], max_tokens: int) -> None:
        """``BudgetError`` for a number of tokens in which no output fits, where that is known before the model runs."""

    def __repr__(self) -> str:
        model = getattr(self, self.holds_model_as, None)
        name = model if isinstance(model, str) else "no model" if model is None else type(model).__name__
        vocabulary = getattr(self, "vocabulary", None)
        tokens = f", {vocabulary.size:,} tokens" if isinstance(vocabulary, Vocabulary) else ""
        return f"<interlock generator of {self.backend}: {name}{tokens}>"

    def of_model(self, model: Any) -> Generator:
        """This generator with another model object of the same vocabulary; both share what was compiled."""
        other = copy.copy(self)
        setattr(other, self.holds_model_as, model)
        return other

    @abstractmethod
    def _texts(
        self, prompts: list[Prompt], output: OutputType[Any], max_tokens: int, options: dict[str, Any]
    ) -> Sequence[str | InvalidOutputError]:
        """The finished text of each prompt; an error for one that a server left unfinished, or did not enforce."""

    def _texts_of_types(
        self, prompts: list[Prompt], outputs: Sequence[OutputType[Any]], max_tokens: int, options: dict[str, Any]
    ) -> Sequence[str | InvalidOutputError]:
        """The same for prompts with an output type each: here type by type."""
        texts: list[str | InvalidOutputError] = [""] * len(prompts)
        for rows in rows_by_type(outputs):
            with rows_of_batch(rows):
                found = self._texts([prompts[row] for row in rows], outputs[rows[0]], max_tokens, options)
            for row, text in zip(rows, found):
                texts[row] = text
        return texts

    @abstractmethod
    def _pieces(
        self, prompt: Prompt, output: OutputType[Any], max_tokens: int, options: dict[str, Any], ends: list[Known]
    ) -> Iterator[str]:
        """The text of one prompt as it comes; ``ends`` takes what is known of it when it has ended."""
