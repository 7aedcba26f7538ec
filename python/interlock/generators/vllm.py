"""vLLM's offline ``LLM`` object."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from interlock._core import ArgumentError
from interlock.generators.base import Generator
from interlock.generators.call_arguments.arguments import Prompt, as_messages
from interlock.generators.call_arguments.model_arguments import no_model
from interlock.generators.replies.reply_check import ReplyCheck
from interlock.generators.server_requests import structured_fields
from interlock.output_types import InvalidOutputError, OutputType

__all__ = ["VllmGenerator"]

_REFUSED = frozenset(("max_tokens", "structured_outputs", "guided_decoding", "n", "output_kind"))


class VllmGenerator(Generator):
    """A ``vllm.LLM``. See ``from_vllm``."""

    backend = "vLLM"
    holds_model_as = "llm"

    def __init__(self, llm: Any, *, chat: bool | None = None) -> None:
        if not callable(getattr(llm, "chat", None)) or not callable(getattr(llm, "generate", None)):
            raise no_model(llm, "a vllm.LLM", "vllm.LLM", "name")
        super().__init__()
        self.llm = llm
        self._chat = chat
        self._checks: dict[Any, ReplyCheck] = {}

    def _option_names(self) -> Collection[str]:
        from vllm import SamplingParams

        named = getattr(SamplingParams, "__struct_fields__", None) or getattr(SamplingParams, "__annotations__", {})
        return ({str(name) for name in named if not name.startswith("_")} - _REFUSED) | {"chat"}

    def _parameters(self, output: OutputType[Any], max_tokens: int, options: dict[str, Any]) -> Any:
        from vllm import SamplingParams, sampling_params

        fields = structured_fields(output)
        made: dict[str, Any] = {"max_tokens": max_tokens, **options}
        if fields:
            # Versions before 0.11 call it guided decoding.
            kind = getattr(sampling_params, "StructuredOutputsParams", None)
            if kind is not None:
                made["structured_outputs"] = kind(**fields)
            else:
                made["guided_decoding"] = sampling_params.GuidedDecodingParams(**fields)
        return SamplingParams(**made)

    def _has_chat_template(self) -> bool:
        tokenizer = self.llm.get_tokenizer() if hasattr(self.llm, "get_tokenizer") else None
        return bool(getattr(tokenizer, "chat_template", None))

    def _texts(
        self, prompts: list[Prompt], output: OutputType[Any], max_tokens: int, options: dict[str, Any]
    ) -> list[str | InvalidOutputError]:
        if not prompts:
            return []
        options = dict(options)
        chat = options.pop("chat", None)
        parameters = self._parameters(output, max_tokens, options)
        kinds = {not isinstance(prompt, str) or self._reads_as_chat(chat) for prompt in prompts}
        if len(kinds) > 1:
            raise ArgumentError("a batch of vLLM is all texts or all lists of messages, not both")
        check = self._checks.get(output.key)
        if check is None:
            check = self._checks[output.key] = ReplyCheck(output)
        if kinds == {True}:
            answers = self.llm.chat([as_messages(prompt) for prompt in prompts], parameters, use_tqdm=False)
        else:
            answers = self.llm.generate(list(prompts), parameters, use_tqdm=False)

        def text_of(answer: Any) -> str | InvalidOutputError:
            try:
                return check(self._whole(answer.outputs[0], output, max_tokens), output.parse)
            except InvalidOutputError as error:
                error.finish_reason = answer.outputs[0].finish_reason
                return error

        return [text_of(answer) for answer in answers]

    @staticmethod
    def _whole(completion: Any, output: OutputType[Any], max_tokens: int) -> str:
        """The text of an answer; free text may end at the budget, anything else must be whole."""
        text = str(completion.text)
        if completion.finish_reason == "length" and output.kind != "text":
            check = ReplyCheck(output)
            try:
                return check(text)
            except InvalidOutputError:
                pass
            raise InvalidOutputError(
                f"vLLM stopped at max_tokens={max_tokens} in the middle of {output.name}: allow more tokens", text
            )
        return text

    def _pieces(
        self, prompt: Prompt, output: OutputType[Any], max_tokens: int, options: dict[str, Any]
    ) -> Iterator[str]:
        raise ArgumentError("vLLM's offline LLM does not stream: use from_openai with a client of vLLM's server")
