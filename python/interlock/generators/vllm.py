"""vLLM's offline ``LLM`` object."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Collection, Iterator
from typing import Any

from interlock._core import ArgumentError
from interlock.generators.base import Generator
from interlock.generators.call_arguments.arguments import Prompt, as_messages
from interlock.generators.call_arguments.model_arguments import no_model
from interlock.generators.call_arguments.prefill_text import prefill_of
from interlock.generators.prompts.server_prefill import rest_of
from interlock.generators.replies.completion import Known, written
from interlock.generators.replies.reply_check import ReplyCheck
from interlock.generators.replies.values import about_row, rows_of_batch
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
        if output.stop:
            options["stop"] = list(output.stop)
        kinds = {not isinstance(prompt, str) or self._reads_as_chat(chat) for prompt in prompts}
        if len(kinds) > 1:
            raise ArgumentError("a batch of vLLM is all texts or all lists of messages, not both")
        check = self._checks.get(output.key)
        if check is None:
            check = self._checks[output.key] = ReplyCheck(output)
        prefills = [prefill_of(prompt) for prompt in prompts]
        answers: list[Any] = [None] * len(prompts)
        # One call has one way to write chats, and one type: prompts with different prefills need several.
        for prefill in dict.fromkeys(prefills):
            rows = [i for i, own in enumerate(prefills) if own == prefill]
            with rows_of_batch(rows), about_row(0):
                rest = rest_of(output, prefill) if prefill else output
                more = {} if prefill is None else self._going_on()
            parameters = self._parameters(rest, max_tokens, options)
            if kinds == {True}:
                chats = [as_messages(prompts[i]) for i in rows]
                made = self.llm.chat(chats, parameters, use_tqdm=False, **more)
            else:
                made = self.llm.generate([prompts[i] for i in rows], parameters, use_tqdm=False)
            for row, answer in zip(rows, made):
                answers[row] = answer

        def text_of(answer: Any, prefill: str) -> str | InvalidOutputError:
            try:
                text = check(self._whole(answer.outputs[0], output, max_tokens, prefill), output.parse)
            except InvalidOutputError as error:
                error.finish_reason = answer.outputs[0].finish_reason
                return error
            return written(text, functools.partial(_known, answer))

        return [text_of(answer, prefill or "") for answer, prefill in zip(answers, prefills)]

    def _going_on(self) -> dict[str, Any]:
        """What has ``LLM.chat`` go on with the last message of a chat."""
        more = {"continue_final_message": True, "add_generation_prompt": False}
        if not more.keys() <= inspect.signature(self.llm.chat).parameters.keys():
            raise ArgumentError(
                "this version of vLLM does not go on with a message of the assistant, which the chat ends with: leave "
                "it out, or install a newer vLLM"
            )
        return more

    @staticmethod
    def _whole(completion: Any, output: OutputType[Any], max_tokens: int, prefill: str = "") -> str:
        """The text of an answer; free text may end at the budget, anything else must be whole."""
        text = prefill + str(completion.text)
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
        self, prompt: Prompt, output: OutputType[Any], max_tokens: int, options: dict[str, Any], ends: list[Known]
    ) -> Iterator[str]:
        raise ArgumentError("vLLM's offline LLM does not stream: use from_openai with a client of vLLM's server")


def _known(answer: Any) -> Known:
    """What vLLM says of an output besides its text."""
    made = answer.outputs[0]
    ids, prompt, chosen = (
        None if one is None else list(one)
        for one in (getattr(made, "token_ids", None), getattr(answer, "prompt_token_ids", None),
                    getattr(made, "logprobs", None))
    )  # fmt: skip
    return Known(
        ids,
        None if prompt is None else len(prompt),
        None if ids is None else len(ids),
        None if chosen is None or ids is None else [float(at[id].logprob) for at, id in zip(chosen, ids)],
        made.finish_reason,
    )
