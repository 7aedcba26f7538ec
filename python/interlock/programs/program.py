"""Programs: fixed text, generated parts and Python between them, over one KV cache."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, NoReturn, TypeVar, Unpack, overload

from interlock._core import ArgumentError
from interlock.generators.base import DEFAULT_MAX_TOKENS, TextType
from interlock.generators.call_arguments.arguments import MISSING, Prompt, check_max_tokens, check_options
from interlock.generators.call_arguments.prefill_text import prefill_of, without_prefill
from interlock.generators.call_options import SamplingOptions
from interlock.generators.error_hints import error_hints
from interlock.generators.local import LocalGenerator
from interlock.generators.replies.attempts import add_count, is_refused, take_attempts, told
from interlock.generators.replies.number_warnings import warn_long_number
from interlock.generators.replies.stop_texts import check_stop
from interlock.generators.replies.validation_context import in_context
from interlock.generators.replies.values import check_errors
from interlock.output_types import FunctionCall, InvalidOutputError, OutputType
from interlock.output_types.context_room import PromptTooLongError
from interlock.programs.sampling import Sampler
from interlock.programs.seam_tokenization import Transcript
from interlock.util.argument_types import require
from interlock.util.attribute_hints import no_attribute
from interlock.util.near_words import meant, nearest
from interlock.util.plurals import counted

__all__ = ["Program"]

T = TypeVar("T")

_SAMPLING = ("temperature", "top_p", "top_k", "min_p", "seed")
_OTHER_NAMES = {
    "generate": "a part is written by gen(name, output_type)",
    **dict.fromkeys(
        ("user", "system", "assistant", "role"), "the turns of a chat are the prompt: Program(gen, messages)"
    ),
    **dict.fromkeys(("values", "variables", "outputs", "results"), "program.captures has the values by their names"),
    **dict.fromkeys(("stream", "trace"), "a generator has it: gen.stream(prompt), gen.trace(prompt, output_type)"),
    **dict.fromkeys(("json", "regex"), "the output type says it: gen(name, User), gen(name, re.compile(...))"),
    **dict.fromkeys(("append", "add", "write"), 'program += "text" writes fixed text'),
}
"""Names that other packages have, and how the same is said here."""
_NUMBER_GOES_ON = frozenset(bytes([digit]) for digit in b"0123456789")


def _check_name(name: object) -> None:
    """``ArgumentError`` for what cannot be the name of a part: an output type in its place above all."""
    if name is not None and not isinstance(name, str):
        given = name.__name__ if isinstance(name, type) else repr(name)
        raise ArgumentError(f"the name of a part is a str or None, not {given}: the name comes first, then the type")


def _stops(stop: str | Sequence[str] | None, output: OutputType[Any]) -> list[bytes]:
    """The texts that end a part. ``ArgumentError`` for what is no text, and beside a type that ends by itself."""
    stops = check_stop(stop)
    if stops and output.kind != "text":
        raise ArgumentError(f"stop belongs to free text; {output.name} ends by itself")
    return [one.encode() for one in stops]


class Program:
    """A text that you and a model write in turns.

    ``program += "text"`` writes fixed text. ``program.gen("name", int)`` has the model write a value, returns it, and
    keeps it as ``program["name"]``. Between the two stands Python: conditions, loops, calls of functions. The model
    reads every token once: what was read stays in one KV cache. Tokens across a seam of fixed and generated text are
    chosen as if the text had no seam (token healing).

    ``generator`` is a generator of transformers, llama.cpp or mlx-lm. ``prompt`` is the beginning: a text as it is, or,
    as a list of messages or with ``chat=True``, the chat in front of the answer that the program writes. Where the last
    message is the assistant's, the program's text begins with what it says. Sampling is
    greedy unless ``temperature`` is given; ``top_p``, ``top_k``, ``min_p`` and ``seed`` are known too.

    ``str(program)`` is the text so far. ``model_calls`` and ``tokens_read`` of ``program.model`` count the work.

    Example::

        program = interlock.Program(gen, "Q: What is 6 times 7?\\nA: ")
        answer = program.gen("answer", int, max_tokens=5)
    """

    def __init__(
        self,
        generator: LocalGenerator,
        prompt: Prompt = "",
        *,
        chat: bool | None = None,
        **sampling: Unpack[SamplingOptions],
    ) -> None:
        if not isinstance(generator, LocalGenerator):
            raise ArgumentError(
                "the generator of a program is a model in this process, from_transformers, from_llama_cpp or "
                f"from_mlx_lm, not {type(generator).__name__}: the generator comes first, then the prompt"
            )
        require(chat=(chat, "flag?"))
        check_options(sampling, _SAMPLING, "a program")
        self.generator = generator
        self.model = generator.cached_model()
        self._decoder = generator.decoder()
        self._sampling: dict[str, Any] = {name: value for name, value in sampling.items() if value is not None}
        self._sampler = Sampler(**self._sampling)
        self.captures: dict[str, Any] = {}
        # Where the model's parts stand in the text: first byte, byte behind the last, name.
        self._parts: list[tuple[int, int, str]] = []
        if not isinstance(prompt, Sequence):
            raise ArgumentError(f"a prompt is a text or a list of messages, not {type(prompt).__name__}")
        if not isinstance(prompt, str) and any(isinstance(one, str) for one in prompt):
            raise ArgumentError("a program has one prompt, a text or a list of messages: make a program for each text")
        as_chat = not isinstance(prompt, str) or bool(chat)
        prefill = prefill_of(prompt)
        front: Prompt = prompt
        if prefill is not None:
            # The program's text begins with what the assistant has said.
            prompt = without_prefill(prompt)
            front = [*prompt, {"role": "assistant", "content": ""}]
        # Where a part is asked for again, the turns of the chat are written once more, and what was wrong behind them.
        self._chat: Prompt | None = prompt if as_chat else None
        text = (prefill or "") if as_chat else str(prompt)
        self._transcript = Transcript(self.model, generator.encode(front, True) if as_chat else generator.begin())
        self._transcript.append(text)

    def text(self, text: str) -> Program:
        """Write fixed text; ``program += text`` is the same. Names of special tokens in it are plain text."""
        if not isinstance(text, str):
            raise ArgumentError(f"fixed text is a str, not {type(text).__name__}: write str(...) around it")
        self._transcript.append(text)
        return self

    __iadd__ = text

    def __add__(self, other: object) -> NoReturn:
        raise TypeError('a program is written to, and not copied: program += "text", or program.text("text")')

    @overload
    def gen(
        self,
        name: str | None,
        output_type: type[T],
        *,
        max_tokens: int = ...,
        errors: Literal["raise"] = ...,
        attempts: int | None = ...,
        context: Any = ...,
        **sampling: Unpack[SamplingOptions],
    ) -> T: ...
    @overload
    def gen(
        self,
        name: str | None,
        output_type: type[T],
        *,
        errors: Literal["return"],
        max_tokens: int = ...,
        attempts: int | None = ...,
        context: Any = ...,
        **sampling: Unpack[SamplingOptions],
    ) -> T | InvalidOutputError: ...
    @overload
    def gen(
        self,
        name: str | None = ...,
        output_type: TextType = ...,
        *,
        stop: str | Sequence[str] | None = ...,
        max_tokens: int = ...,
        errors: Literal["raise"] = ...,
        attempts: int | None = ...,
        context: Any = ...,
        **sampling: Unpack[SamplingOptions],
    ) -> str: ...
    @overload
    def gen(
        self,
        name: str | None = ...,
        output_type: Any = ...,
        *,
        stop: str | Sequence[str] | None = ...,
        max_tokens: int = ...,
        errors: Literal["raise", "return"] = ...,
        attempts: int | None = ...,
        context: Any = ...,
        **sampling: Unpack[SamplingOptions],
    ) -> Any: ...
    def gen(
        self,
        name: str | None = None,
        output_type: Any = str,
        *,
        stop: str | Sequence[str] | None = None,
        max_tokens: int = DEFAULT_MAX_TOKENS,
        errors: Literal["raise", "return"] = "raise",
        attempts: int | None = None,
        context: Any = None,
        **sampling: Any,
    ) -> Any:
        """Have the model write a value of ``output_type``; return it, and keep it under ``name``.

        Output types are those of ``Generator``. Free text (``str``) ends before the first of the texts in ``stop``,
        which is not kept, at a stop token, or after ``max_tokens`` tokens. Any other type ends where it is complete and
        the model would go on with something else. Named groups of a pattern are kept under their names.

        ``errors``, ``attempts`` and ``context`` are those of a call of a ``Generator``. A part that was refused is not
        written: the model reads it, with the reason, only while it is asked again. With ``errors="return"`` the error
        is returned, and nothing is kept under ``name``.

        Errors: ``BudgetError`` if no output is so short, ``ArgumentError`` for ``stop`` with a type other than ``str``
        and for unknown options, and those of the output type. Warnings are those of a call of a ``Generator``; a number
        that ``max_tokens`` ended, however few digits it has, is an ``UnboundedNumberWarning``, too.
        """
        _check_name(name)
        max_tokens = check_max_tokens(max_tokens)
        check_errors(errors)
        times = take_attempts({"attempts": attempts})
        check_options(sampling, _SAMPLING, "a program")
        output = in_context(self.generator.output_type(output_type), context)
        ends = _stops(stop, output)
        asked = {name: value for name, value in sampling.items() if value is not None}
        begun = len(self._transcript.data)
        try:
            text, value = self._asked(output, max_tokens, ends, asked, times)
        except InvalidOutputError as error:
            if errors == "raise":
                raise
            return error
        if output.kind == "regex":
            match = output.source.fullmatch(text)
            self.captures.update(match.groupdict() if match is not None else {})
        self._parts.append((begun, len(self._transcript.data), name or ""))
        if name is not None:
            self.captures[name] = value
        return value

    def _asked(
        self, output: OutputType[Any], max_tokens: int, ends: list[bytes], asked: dict[str, Any], attempts: int
    ) -> tuple[str, Any]:
        """Write a part, and return its text and its value. A part that failed was never written."""
        before = self._transcript.fork()
        refused: InvalidOutputError | None = None
        answers: list[str] = []
        first: Any = str(self) if self._chat is None else self._chat
        prompt = first
        try:
            for attempt in range(attempts):
                seed = asked.get("seed")
                chosen = asked if seed is None else {**asked, "seed": seed + attempt}
                sampler = Sampler(**{**self._sampling, **chosen}) if chosen else self._sampler
                try:
                    if refused is not None:
                        begun = before.data.decode("utf-8", "replace")
                        prompt = told(prompt, refused, self._chat is not None, begun, again=first)
                        self._transcript = self._told_transcript(prompt, before)
                    text, value = self._written(output, max_tokens, ends, sampler)
                except InvalidOutputError as error:
                    # What was said of the first answers may leave the next one no room.
                    if refused is None or not isinstance(error, PromptTooLongError):
                        refused = error
                    if not is_refused(error):
                        raise refused from refused.__cause__
                    answers.append(error.text)
                else:
                    if refused is not None:
                        self._transcript = before
                        self._transcript.append(text)
                    return text, value
            assert refused is not None
            if attempts > 1:
                add_count(refused, answers, {**self._sampling, **asked}.get("temperature"))
            raise refused
        except BaseException:
            self._transcript = before
            raise

    def _told_transcript(self, prompt: Prompt, before: Transcript) -> Transcript:
        """The text so far behind what was wrong with an answer: what the model reads where it is asked again."""
        if isinstance(prompt, str):
            made = Transcript(self.model, self.generator.begin())
            made.append(prompt)
        else:
            made = Transcript(self.model, self.generator.encode(prompt, True))
            made.append(before.data.decode("utf-8", "replace"))
        return made

    def _written(
        self, output: OutputType[Any], max_tokens: int, ends: list[bytes], sampler: Sampler
    ) -> tuple[str, Any]:
        """Write a part behind the transcript, and return its text and its value."""
        begun = len(self._transcript.data)
        index = self.generator.index(output)
        with error_hints(max_tokens), self.model.turns.turn(nests=True):
            data = self._decoder.write(
                self._transcript,
                index,
                max_tokens,
                sampler,
                (lambda so_far: any(end in so_far for end in ends)) if ends else None,
            )
            by_budget = self._decoder.ended_by_budget
        found = [at for end in ends if (at := data.find(end)) >= 0]
        if found:
            data = data[: min(found)]
            self._transcript.cut(begun + len(data))
        text = data.decode("utf-8", "replace")
        value = output.parse(text)
        self._warn_of_numbers(output, text, max_tokens, value, by_budget)
        return text, value

    @overload
    def select(self, name: str | None, options: Sequence[str], **sampling: Unpack[SamplingOptions]) -> str: ...
    @overload
    def select(self, name: str | None, options: Mapping[str, T], **sampling: Unpack[SamplingOptions]) -> T: ...
    def select(self, name: Any, options: Any = MISSING, **sampling: Any) -> Any:
        """Have the model choose one of ``options``, write it, and return it. A mapping maps texts to values."""
        if options is MISSING:
            raise ArgumentError("the options of the choice are missing: did you mean select(None, [...])?")
        _check_name(name)
        if isinstance(options, str):
            raise ArgumentError("options are a list of texts, not a single text: did you mean [text]?")
        if not isinstance(options, Sequence | Mapping):
            raise ArgumentError(f"options are a list of texts, or map texts to values, not {type(options).__name__}")
        check_options(sampling, _SAMPLING, "a choice")
        texts = list(options)
        # The longest option, in tokens of one byte, is as long as an option can be.
        budget = max((len(text.encode()) for text in texts if isinstance(text, str)), default=1) or 1
        chosen = self.gen(None, texts, max_tokens=budget, **sampling)
        self._name_part(name)
        value = options[chosen] if isinstance(options, Mapping) else chosen
        if name is not None:
            self.captures[name] = value
        return value

    @overload
    def call(
        self,
        name: str | None,
        function: Callable[..., T] | list[Callable[..., T]],
        *,
        errors: Literal["raise"] = ...,
        max_tokens: int = ...,
        **options: Any,
    ) -> T: ...
    @overload
    def call(
        self,
        name: str | None,
        function: Callable[..., T] | list[Callable[..., T]],
        *,
        errors: Literal["return"],
        max_tokens: int = ...,
        **options: Any,
    ) -> T | InvalidOutputError: ...
    def call(self, name: str | None, function: Any, *, max_tokens: int = 256, **options: Any) -> Any:
        """Have the model write the arguments of ``function`` as JSON, call it with them, and return what it returns.

        The arguments follow its annotations. Of a list of functions the model chooses one. What the function returns is
        kept under ``name`` and not written; write it yourself. ``options`` are those of ``gen``. With
        ``errors="return"`` arguments that were refused call nothing, and the ``InvalidOutputError`` is returned.
        """
        _check_name(name)
        if isinstance(function, str):
            raise ArgumentError(
                f"call takes a function, and {function!r} is a text: pass the function itself, unquoted"
            )
        if isinstance(function, type):
            given = function.__name__
            raise ArgumentError(
                f"call takes a function, and {given} is a class: gen(name, {given}) writes a value of it"
            )
        if isinstance(function, list | tuple):
            chosen = self.gen(None, function, max_tokens=max_tokens, **options)
            if isinstance(chosen, InvalidOutputError):
                return chosen
            if not isinstance(chosen, FunctionCall):
                raise ArgumentError("call takes a function, or a list of functions")
            self._name_part(name)
            value = chosen()
            if name is not None:
                self.captures[name] = value
            return value
        if not callable(function):
            raise ArgumentError(f"call takes a function, and {function!r} is none: call(name, function)")
        arguments = self.gen(None, function, max_tokens=max_tokens, **options)
        if isinstance(arguments, InvalidOutputError):
            return arguments
        self._name_part(name)
        value = function(**arguments)
        if name is not None:
            self.captures[name] = value
        return value

    @contextlib.contextmanager
    def capture(self, name: str) -> Iterator[None]:
        """Keep all text that is written inside the ``with`` block, fixed and generated, under ``name``."""
        _check_name(name)
        begun = len(self._transcript.data)
        yield
        self.captures[name] = self._transcript.data[begun:].decode("utf-8", "replace")

    def fork(self) -> Program:
        """A second program with the same text and captures, to go on in another way. Both use one cache: when they
        take turns, the model reads again what they do not have in common.
        """
        other = Program.__new__(Program)
        other.__dict__.update(self.__dict__)
        other.captures, other._parts = dict(self.captures), list(self._parts)
        other._transcript = self._transcript.fork()
        return other

    def __getattr__(self, name: str) -> Any:
        """Only called for what a program does not have."""
        captures = self.__dict__.get("captures", {})
        if not name.startswith("_") and (part := nearest(name, captures, 0.75)):
            way = "is a part, which is" if part == name else "is not there; a part is"
            raise AttributeError(f"{name!r} {way} read by program[{part!r}]", name=name, obj=self)
        raise no_attribute(self, name, _OTHER_NAMES)

    def __getitem__(self, name: str) -> Any:
        try:
            return self.captures[name]
        except KeyError:
            hint = meant(name, self.captures)
            known = (
                f"there is {', '.join(map(repr, self.captures))}{hint}" if self.captures else "no part has a name yet"
            )
            raise KeyError(f"no part has the name {name!r}: {known}") from None

    def __contains__(self, name: object) -> bool:
        return name in self.captures

    def __str__(self) -> str:
        return self._transcript.data.decode("utf-8", "replace")

    def _warn_of_numbers(
        self, output: OutputType[Any], text: str, max_tokens: int, value: Any, by_budget: bool
    ) -> None:
        """Warn of a number that the model did not end. Where the budget ended a part, the model is asked once more for
        what it would have written.
        """
        is_cut = False
        if by_budget and output.kind == "json_schema" and text.lstrip("-")[:1].isdigit():
            wanted = int(self.model.logits(self._transcript.ids).argmax())
            is_cut = self.model.vocabulary.decode([wanted])[:1] in _NUMBER_GOES_ON
        warn_long_number(output, text, max_tokens, is_cut, value=value)

    def _name_part(self, name: str | None) -> None:
        """Give the last part the name that a notebook shows."""
        begun, end, _ = self._parts[-1]
        self._parts[-1] = (begun, end, name or "")

    def _repr_html_(self) -> str:
        """The text for a notebook: what the model wrote is marked, with the part's name where one points at it."""
        from interlock.drawing.marked_text import marked_text

        data, at = self._transcript.data, 0
        pieces: list[tuple[str, bool, str]] = []
        for begun, end, name in self._parts:
            pieces += [(data[at:begun].decode("utf-8", "replace"), False, "")]
            pieces += [(data[begun:end].decode("utf-8", "replace"), True, name)]
            at = end
        return marked_text([*pieces, (data[at:].decode("utf-8", "replace"), False, "")])

    def __repr__(self) -> str:
        return f"<interlock.Program of {counted(len(self._transcript.ids), 'token')}, {list(self.captures)} captured>"

    def __bool__(self) -> bool:
        return True
