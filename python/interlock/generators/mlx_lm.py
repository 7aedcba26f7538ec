"""Models of mlx-lm."""

from __future__ import annotations

import codecs
import inspect
import os
import threading
from collections.abc import Callable, Collection, Generator, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from interlock._core import ArgumentError
from interlock.generators.call_arguments.arguments import Prompt, as_messages
from interlock.generators.call_arguments.model_arguments import is_tokenizer, no_model, refuse_swapped
from interlock.generators.call_arguments.prefill_text import prefill_of
from interlock.generators.cancelled_calls import check_cancelled
from interlock.generators.local import Constraining, LocalGenerator
from interlock.generators.prompts.chat_content import templated
from interlock.generators.prompts.prefill import templated_up_to_prefill
from interlock.generators.replies.completion import Known, read
from interlock.generators.replies.stop_texts import up_to_stop
from interlock.generators.replies.values import about_row
from interlock.integrations._prefilled import PrefilledIndex
from interlock.integrations.mlx_lm import GuideLogitsProcessor, vocabulary_from_mlx
from interlock.output_types import InvalidOutputError, OutputType
from interlock.output_types.context_room import ContextRoom, context_of_mlx, context_room

if TYPE_CHECKING:
    from interlock.programs.cached_model import CachedModel

__all__ = ["MlxLmGenerator"]

_REFUSED = frozenset(("prompt", "model", "max_tokens", "sampler", "stream", "temp"))


class MlxLmGenerator(LocalGenerator):
    """A model and a tokenizer that ``mlx_lm.load`` returned. See ``from_mlx_lm``."""

    backend = "mlx-lm"
    _reads_in_one_thread = True

    def __init__(self, model: Any, tokenizer: Any, *, whitespace: str = "spaced", chat: bool | None = None) -> None:
        refuse_swapped(model, tokenizer, "from_mlx_lm")
        if isinstance(model, str | os.PathLike) or is_tokenizer(model):
            raise no_model(model, "a model of mlx-lm", "model, tokenizer = mlx_lm.load", "folder")
        if tokenizer is None or isinstance(tokenizer, str):
            raise ArgumentError("the model's tokenizer is needed: model, tokenizer = mlx_lm.load(folder)")
        arguments = getattr(model, "args", None)
        width = getattr(arguments, "vocab_size", None)
        super().__init__(vocabulary_from_mlx(tokenizer, size=width), whitespace=whitespace)
        self.model, self.tokenizer = model, tokenizer
        self._chat = chat

    def context_room(self, prompt: int, max_tokens: int) -> ContextRoom | None:
        """See ``LocalGenerator``. The stop token has its place in the context."""
        return context_room(prompt, context_of_mlx(self.model), max_tokens, reserved=1)

    def _option_names(self) -> Collection[str]:
        from mlx_lm.generate import generate_step
        from mlx_lm.sample_utils import make_sampler

        sampling = set(inspect.signature(make_sampler).parameters) - {"temp"}
        steps = set(inspect.signature(generate_step).parameters)
        return (sampling | steps | {"temperature", "seed", "chat", "draft_model"}) - _REFUSED

    def _new_cached_model(self) -> CachedModel:
        from interlock.programs.mlx_lm_model import MlxLmModel

        return MlxLmModel(self.model, self.tokenizer, self.vocabulary)

    def begin(self) -> list[int]:
        """The ids that every text begins with."""
        return [int(token) for token in self.tokenizer.encode("")]

    def encode(self, prompt: Prompt, chat: bool | None = None) -> list[int]:
        """See ``LocalGenerator``."""
        if isinstance(prompt, str) and not self._reads_as_chat(chat):
            return [int(token) for token in self.tokenizer.encode(prompt)]
        if not self._has_chat_template():
            raise ArgumentError("the tokenizer has no chat template, so it takes no messages: pass a text")
        messages = templated(self.tokenizer, as_messages(prompt))
        if prefill_of(messages) is not None:
            return self._chat_text_ids(templated_up_to_prefill(self.tokenizer, messages))
        made = self.tokenizer.apply_chat_template(messages, add_generation_prompt=True)
        ids = made["input_ids"] if hasattr(made, "keys") else made
        return [int(token) for token in ids]

    def _chat_text_ids(self, text: str) -> list[int]:
        return [int(token) for token in self.tokenizer.encode(text, add_special_tokens=False)]

    def _has_chat_template(self) -> bool:
        return bool(getattr(self.tokenizer, "chat_template", None))

    def _is_greedy(self, options: Mapping[str, Any]) -> bool:
        return not _temperature(options)

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
        return self._begun(prompt, output, max_tokens, options, ends, is_alone=True)

    def _begun(
        self,
        prompt: Prompt,
        output: OutputType[Any],
        max_tokens: int,
        options: dict[str, Any],
        ends: list[Known],
        is_alone: bool = False,
    ) -> Iterator[str]:
        """The same; a prompt that is no row of a batch and too long (``is_alone``) is refused at once."""
        options = dict(options)
        seed, chat = options.pop("seed", None), options.pop("chat", None)
        ids = self.encode(prompt, chat)
        if not ids:
            raise ArgumentError("the prompt is empty: the model needs a token to begin with")
        index = self._index_behind(prompt, ids, output)
        # What is impossible is said now; what the context has no room for, in a batch where the prompt is read.
        index.guide(max_tokens=max_tokens)
        if is_alone and not options.get("max_kv_size") and (room := self.context_room(len(ids), max_tokens)):
            room.check(index)
        return self._written(ids, index, max_tokens, seed, options, ends)

    def _written(
        self,
        ids: list[int],
        index: Constraining,
        max_tokens: int,
        seed: int | None,
        options: dict[str, Any],
        ends: list[Known],
    ) -> Generator[str, None, str]:
        from mlx_lm import stream_generate
        from mlx_lm.sample_utils import make_sampler

        if isinstance(index, PrefilledIndex):
            yield index.text
        # A cache that keeps the last tokens alone has no end.
        room = None if options.get("max_kv_size") else self.context_room(len(ids), max_tokens)
        if room is not None:
            room.check(index)
        budget = max_tokens if room is None else room.left
        end = self.number_end(_temperature(options))
        mask = GuideLogitsProcessor(index, max_tokens=budget, canonical=True, number_end=end)
        named = set(inspect.signature(make_sampler).parameters)
        temperature = _temperature(options)
        sampling = {name: options.pop(name) for name in [*options] if name in named}
        options.pop("temperature", None)
        sampling["temp"] = temperature
        sampler = make_sampler(**sampling)
        on_tight = options.pop("on_tight", None)
        processors = [*options.pop("logits_processors", []), mask]
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        taken = list(ids)
        # The stop token is none of the output's tokens.
        for response in stream_generate(
            self.model,
            self.tokenizer,
            ids,
            max_tokens=budget + 1,
            sampler=sampler if seed is None else _OwnDraws(sampler, seed),
            logits_processors=processors,
            **options,
        ):
            check_cancelled()
            token = int(response.token)
            taken.append(token)
            text = decoder.decode(self.vocabulary.decode([token]))
            if text:
                try:
                    yield text
                except GeneratorExit:
                    # A text that ends free text has come.
                    ends.append(self._known(ids, taken, "stop"))
                    raise
        mask.check(taken)
        self.check_budget_of_one(index, taken[len(ids) :], max_tokens, on_tight, room)
        reason = self.finish_reason(index, taken[len(ids) :], max_tokens, room)
        ends.append(self._known(ids, taken, reason))
        return reason

    def _known(self, ids: list[int], taken: list[int], reason: str) -> Known:
        new = [token for token in taken[len(ids) :] if token not in self.vocabulary.eos_token_ids]
        return Known(new, len(ids), len(new), None, reason)


class _OwnDraws:
    """A sampler whose random numbers are those of one call. mlx has one random state for all that draws in a thread
    (its older versions one for all threads), so the state of the others is put back behind each token. The lock is for
    the older versions.
    """

    _lock = threading.Lock()

    def __init__(self, sampler: Callable[[Any], Any], seed: int) -> None:
        self.sampler = sampler
        self.state = seed % 2**64

    def __call__(self, scores: Any) -> Any:
        import mlx.core as mx

        with self._lock:
            others = _random_state()
            mx.random.seed(self.state)
            try:
                return self.sampler(scores)
            finally:
                self.state = _random_state()
                mx.random.seed(others)


def _random_state() -> int:
    """The seed that makes the present random state of mlx."""
    import mlx.core as mx

    high, low = mx.random.state[0].tolist()
    return int(high) << 32 | int(low)


def _temperature(options: Mapping[str, Any]) -> float:
    """The temperature of a call: 0, which is greedy search, unless an option of sampling is named."""
    named = options.get("temperature")
    if named is not None:
        return float(named)
    return 1.0 if any(options.get(name) is not None for name in ("top_p", "top_k", "min_p")) else 0.0
