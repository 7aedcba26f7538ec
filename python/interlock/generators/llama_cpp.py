"""Models of llama.cpp, by llama-cpp-python."""

from __future__ import annotations

import contextlib
import functools
import inspect
import re
from collections.abc import Callable, Collection, Generator, Iterator
from typing import TYPE_CHECKING, Any

from interlock._core import ArgumentError
from interlock.budget_cuts import allowed_spellings
from interlock.generators.call_arguments.arguments import Prompt, as_messages
from interlock.generators.call_arguments.model_arguments import no_model
from interlock.generators.call_arguments.prefill_text import prefill_of
from interlock.generators.cancelled_calls import check_cancelled
from interlock.generators.local import Constraining, LocalGenerator
from interlock.generators.prompts.chat_content import messages_for
from interlock.generators.prompts.model_turns import TurnPieces, turns_of
from interlock.generators.prompts.prefill import chat_up_to_prefill
from interlock.generators.replies.completion import Known, read
from interlock.generators.replies.stop_texts import up_to_stop
from interlock.generators.replies.values import about_row
from interlock.integrations._prefilled import PrefilledIndex
from interlock.integrations.llama_cpp import constrained, vocabulary_from_llama
from interlock.integrations.llama_cpp._model import check_llama
from interlock.output_types import InvalidOutputError, OutputType
from interlock.output_types.context_room import ContextRoom, context_room

if TYPE_CHECKING:
    from interlock.programs.cached_model import CachedModel

__all__ = ["LlamaCppGenerator"]

_REFUSED = frozenset(
    "self prompt messages max_tokens stream grammar response_format tools tool_choice functions function_call echo "
    "suffix stop".split()
)

_TOO_LONG = re.compile(r"Requested tokens \((\d+)\) exceed context window of (\d+)")
"""What llama-cpp-python says of a prompt that leaves no room, before it reads it."""


class LlamaCppGenerator(LocalGenerator):
    """A ``llama_cpp.Llama``. See ``from_llama_cpp``."""

    backend = "llama-cpp-python"
    holds_model_as = "_llama"

    def __init__(self, llama: Any, *, whitespace: str = "spaced", chat: bool | None = None) -> None:
        if isinstance(llama, type) or not callable(getattr(llama, "create_completion", None)):
            raise no_model(llama, "a llama_cpp.Llama", "llama_cpp.Llama", "'model.gguf'")
        if getattr(getattr(llama, "model_params", None), "vocab_only", False):
            raise ArgumentError(
                "this llama_cpp.Llama has a vocabulary and no weights, so it writes nothing: leave out vocab_only=True"
            )
        super().__init__(vocabulary_from_llama(llama), whitespace=whitespace)
        self._llama = llama
        self._chat = chat

    @property
    def llama(self) -> Any:
        """The ``llama_cpp.Llama``. ``ArgumentError`` if it was closed."""
        check_llama(self._llama)
        return self._llama

    def _new_cached_model(self) -> CachedModel:
        from interlock.programs.llama_cpp_model import LlamaCppModel

        return LlamaCppModel(self.llama, self.vocabulary)

    def begin(self) -> list[int]:
        """The ids that every text begins with."""
        return [int(token) for token in self.llama.tokenize(b"", add_bos=True, special=False)]

    def encode(self, prompt: Prompt, chat: bool | None = None) -> list[int]:
        """See ``LocalGenerator``. A chat is written by the template in the model's file."""
        if isinstance(prompt, str) and not self._reads_as_chat(chat):
            return [int(token) for token in self.llama.tokenize(prompt.encode(), add_bos=True, special=False)]
        template = self._template()
        if not template:
            raise ArgumentError("the model's file has no chat template, so it takes no messages: pass a text")
        render = functools.partial(self._rendered, template)
        messages = as_messages(prompt)
        if prefill_of(messages) is None:
            return self._chat_text_ids(render(messages_for(template, messages, render)))
        continued = functools.partial(self._rendered, template, opens_turn=False)
        return self._chat_text_ids(
            chat_up_to_prefill(messages, lambda chat: messages_for(template, chat, render), continued)
        )

    def _chat_text_ids(self, text: str) -> list[int]:
        return [int(token) for token in self.llama.tokenize(text.encode(), add_bos=False, special=True)]

    def _template(self) -> str | None:
        """The chat template in the model's file, if there is one."""
        template: str | None = (getattr(self.llama, "metadata", None) or {}).get("tokenizer.chat_template")
        return template

    def _chats(self) -> Any:
        template = self._template()
        if not template:
            raise ArgumentError("the model's file has no chat template, so it takes no messages and no tools")
        return _Chats(self, template)

    def _rendered(
        self, template: str, messages: list[dict[str, Any]], tools: Any = None, opens_turn: bool = True
    ) -> str:
        """A chat as llama-cpp-python writes it by a template."""
        from llama_cpp.llama_chat_format import Jinja2ChatFormatter

        names = [
            self.llama.detokenize([t], special=True).decode() for t in (self.llama.token_eos(), self.llama.token_bos())
        ]
        formatter = Jinja2ChatFormatter(
            template=template, eos_token=names[0], bos_token=names[1], add_generation_prompt=opens_turn
        )
        return str(formatter(messages=messages, tools=tools).prompt)

    def _messages(self, prompt: Prompt) -> list[dict[str, Any]]:
        """The turns of a chat for ``create_chat_completion``. A handler reads parts itself; the formats that
        llama-cpp-python knows by name read texts, and a template is asked.
        """
        messages = as_messages(prompt)
        if getattr(self.llama, "chat_handler", None) is not None:
            return messages
        template = self._template()
        named = getattr(self.llama, "chat_format", None)
        if template and (named is None or str(named).startswith("chat_template.")):
            return messages_for(template, messages, functools.partial(self._rendered, template))
        return messages_for("", messages, None)

    def _has_chat_template(self) -> bool:
        return "tokenizer.chat_template" in (getattr(self.llama, "metadata", None) or {})

    def context_room(self, prompt: int, max_tokens: int) -> ContextRoom | None:
        """See ``LocalGenerator``."""
        return context_room(prompt, int(self.llama.n_ctx()), max_tokens)

    def _option_names(self) -> Collection[str]:
        both = (self.llama.create_completion, self.llama.create_chat_completion)
        named = {name for call in both for name in inspect.signature(call).parameters}
        return (named - _REFUSED) | {"chat"}

    def _answer(
        self,
        prompt: Prompt,
        prompt_ids: list[int],
        index: Constraining,
        max_tokens: int,
        options: dict[str, Any],
        written: list[str],
        ends: list[Known],
    ) -> Any:
        """The chunks of an answer; ``written`` has their texts so far, and ``ends`` takes what is known
        when it has ended.
        ``prompt_ids`` are those of a chat that ends with a prefill.
        """
        chat, on_tight = options.pop("chat", None), options.pop("on_tight", None)

        def ended(tokens: list[int], prompt_tokens: int) -> None:
            whole = self._with_last(index, tokens, written)
            room = self.context_room(prompt_tokens, max_tokens)
            self.check_budget_of_one(index, whole, max_tokens, on_tight, room)
            reason = self.finish_reason(index, whole, max_tokens, room)
            new = [token for token in whole if token not in self.vocabulary.eos_token_ids]
            ends.append(Known(new, prompt_tokens, len(new), None, reason))

        as_chat = not prompt_ids and (not isinstance(prompt, str) or self._reads_as_chat(chat))
        if prompt_ids:
            options = self._for_completion(options)
        create = self.llama.create_chat_completion if as_chat else self.llama.create_completion
        temperature = options.get("temperature")
        if temperature is None:
            # llama-cpp-python samples with a temperature of 0.2 in chats, and of 0.8 elsewhere.
            temperature = inspect.signature(create).parameters["temperature"].default
        shared = {
            "max_tokens": max_tokens,
            "stream": True,
            "canonical": True,
            "number_end": self.number_end(temperature),
            "on_end": ended,
            **options,
        }
        if as_chat:
            return constrained(create, index, messages=self._messages(prompt), **shared)
        return constrained(create, index, prompt_ids or prompt, **shared)

    def _prefilled_ids(self, prompt: Prompt) -> list[int]:
        """The tokens of a chat that ends with a prefill; none for other prompts."""
        if prefill_of(prompt) is None:
            return []
        named = getattr(self.llama, "chat_format", None)
        if self._reads_at_once() or not (named is None or str(named).startswith("chat_template.")):
            raise ArgumentError(
                "the model goes on with a message of the assistant only where the template in its file writes the "
                "chat, and this llama_cpp.Llama has a chat_handler or a chat_format: leave the message out"
            )
        return self.encode(prompt)

    def _for_completion(self, options: dict[str, Any]) -> dict[str, Any]:
        """The options of a chat completion for a completion, with the same defaults. ``ArgumentError`` for one that a
        completion does not have.
        """
        chat, text = (inspect.signature(call).parameters for call in (
            self.llama.create_chat_completion, self.llama.create_completion))  # fmt: skip
        shared = [name for name in chat if name in text and name not in _REFUSED]
        defaults = {name: chat[name].default for name in shared if chat[name].default != text[name].default}
        for name in options:
            if name in chat and name not in text:
                raise ArgumentError(f"{name!r} cannot be passed with a chat that ends with the assistant's message")
        return {**defaults, **options}

    def _with_last(self, index: Constraining, tokens: list[int], written: list[str]) -> list[int]:
        """``tokens`` with the last one, which no mask was made behind, if it was part of the text."""
        rest = "".join(written).encode()[len(index.vocabulary.decode(tokens)) :]
        guide = index.guide()
        if not rest or guide.advance_many(tokens) < len(tokens):
            return tokens
        last = allowed_spellings(guide, rest[:1], self._number_end.first_bytes).get(rest)
        return tokens if last is None else [*tokens, last]

    def _texts(
        self, prompts: list[Prompt], output: OutputType[Any], max_tokens: int, options: dict[str, Any]
    ) -> list[str | InvalidOutputError]:
        texts = []
        for i, prompt in enumerate(prompts):
            with about_row(i):
                ends: list[Known] = []
                pieces = self._begun(prompt, output, max_tokens, options, ends)
            texts.append(read(up_to_stop(pieces, output, prompt), ends))
        return texts

    def _pieces(
        self, prompt: Prompt, output: OutputType[Any], max_tokens: int, options: dict[str, Any], ends: list[Known]
    ) -> Iterator[str]:
        return self._begun(prompt, output, max_tokens, options, ends)

    def _begun(
        self, prompt: Prompt, output: OutputType[Any], max_tokens: int, options: dict[str, Any], ends: list[Known]
    ) -> Iterator[str]:
        """The same; ``ends`` takes what is known of the output when it has ended."""
        written: list[str] = []
        turns = turns_of(self.llama)
        prompt_ids = self._prefilled_ids(prompt)
        index = self._index_behind(prompt, prompt_ids, output)
        # What was read earlier has logits that differ in their last bits, which may change what a seed draws.
        forget = self.llama.reset if options.get("seed") is not None else _nothing
        with turns.turn() if self._reads_at_once() else contextlib.nullcontext():
            if self._reads_at_once():
                forget()
            chunks = self._answer(prompt, prompt_ids, index, max_tokens, dict(options), written, ends)
            if self._reads_at_once():
                pieces = TurnPieces(turns, _texts_of(chunks, written, ends))
                turns.begin(pieces)
            else:
                texts = _texts_of(chunks, written, ends, forget)
                prefill = index.text if isinstance(index, PrefilledIndex) else ""
                pieces = TurnPieces(turns, _behind(prefill, texts) if prefill else texts)
        return pieces

    def _reads_at_once(self) -> bool:
        """Whether the model reads the prompt when a stream is made. Otherwise it does so at the first piece."""
        return getattr(self.llama, "chat_handler", None) is not None


class _Chats:
    """The chat template in a model's file, with the method that tokenizers of transformers have."""

    def __init__(self, gen: LlamaCppGenerator, template: str) -> None:
        self._gen, self.chat_template = gen, template

    def apply_chat_template(
        self, messages: Any, tools: Any = None, tokenize: bool = True, add_generation_prompt: bool = True
    ) -> Any:
        """The chat as text or as tokens."""
        text = self._gen._rendered(self.chat_template, messages, tools, add_generation_prompt)
        if not tokenize:
            return text
        return self._gen._chat_text_ids(text)


def _nothing() -> None:
    """Forget nothing."""


def _texts_of(
    chunks: Iterator[Any], written: list[str], ends: list[Known], begin: Callable[[], object] = _nothing
) -> Generator[str, None, str | None]:
    """The texts of the chunks, which ``written`` keeps; at last why they ended. ``begin`` is called before them."""
    begin()
    try:
        for chunk in chunks:
            check_cancelled()
            if text := _text_of(chunk["choices"][0]):
                written.append(text)
                yield text
    except ValueError as error:
        found = _TOO_LONG.match(str(error))
        if not found or written:
            raise
        raise ContextRoom(int(found[1]), int(found[2]), 0).error() from None
    return ends[-1].finish_reason if ends else None


def _behind(prefill: str, texts: Generator[str, None, str | None]) -> Generator[str, None, str | None]:
    """The texts with the prefill in front of them."""
    yield prefill
    return (yield from texts)


def _text_of(choice: dict[str, Any]) -> str:
    """The text of a chunk: of a completion, or of a chat's turn, whose first chunk only names the role."""
    found = choice["delta"].get("content") if "delta" in choice else choice["text"]
    return str(found or "")
