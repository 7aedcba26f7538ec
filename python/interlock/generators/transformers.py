"""Models of transformers, with jump-forward where their inputs and options allow it."""

from __future__ import annotations

import codecs
import contextlib
import functools
import queue
import threading
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch

from interlock._core import ArgumentError, InterlockError, Vocabulary
from interlock.generators.call_arguments.arguments import Prompt, as_messages
from interlock.generators.call_arguments.model_arguments import no_model, refuse_swapped
from interlock.generators.call_arguments.prefill_text import prefill_of
from interlock.generators.call_arguments.tokenizer_match import check_tokenizer
from interlock.generators.cancelled_calls import check_cancelled, is_awaited
from interlock.generators.local import Constraining, LocalGenerator
from interlock.generators.prompts.chat_content import templated
from interlock.generators.prompts.prefill import templated_up_to_prefill
from interlock.generators.replies.completion import Known, written
from interlock.generators.replies.stop_texts import first_stop
from interlock.generators.replies.values import about_row
from interlock.integrations._prefilled import PrefilledIndex
from interlock.integrations.transformers import GuideLogitsProcessor, JumpForwardStats, jump_forward
from interlock.integrations.transformers._options import option_names, with_sampling
from interlock.integrations.transformers._own_draws import own_draws
from interlock.output_types import InvalidOutputError, OutputType
from interlock.output_types.context_room import ContextRoom, PromptTooLongError, context_room
from interlock.util.argument_types import require

if TYPE_CHECKING:
    from interlock.programs.cached_model import CachedModel

__all__ = ["TransformersGenerator"]

_OWN = frozenset(("seed", "chat", "jump_forward", "stats", "logprobs"))
# What ends an output elsewhere than its type does: free text alone may be cut, or made longer.
_CUTTING = ("max_time", "stop_strings", "min_new_tokens", "min_length")
_NO_VALUES = "a generator returns values; gen.trace(prompt, output_type).steps has the probabilities of tokens"
_REFUSED = {
    "output_scores": _NO_VALUES,
    "output_logits": _NO_VALUES,
    "return_dict_in_generate": "details=True returns tokens and counts; call model.generate for scores",
    "custom_generate": "the generator brings its own loop",
    "streamer": "pass stream=True",
}


def vocabulary_of(model: Any, tokenizer: Any) -> Vocabulary:
    """The vocabulary of a model: as wide as its logits, with the stop tokens of its generation config."""
    head = model.get_output_embeddings() if hasattr(model, "get_output_embeddings") else None
    weight = getattr(head, "weight", None)
    text_config = model.config.get_text_config() if hasattr(model.config, "get_text_config") else model.config
    size = int(weight.shape[0]) if weight is not None else int(text_config.vocab_size)
    if isinstance(tokenizer, Vocabulary):
        return tokenizer
    named = getattr(model.generation_config, "eos_token_id", None)
    stop = [named] if isinstance(named, int) else list(named or [])
    check_tokenizer(tokenizer, size, stop)
    own = getattr(tokenizer, "eos_token_id", None)
    if isinstance(own, int) and own not in stop:
        stop.append(own)
    return Vocabulary.from_tokenizer(tokenizer, eos_token_ids=stop or None, size=size)


class TransformersGenerator(LocalGenerator):
    """A causal language model of transformers. See ``from_transformers``."""

    backend = "transformers"

    def __init__(self, model: Any, tokenizer: Any, *, whitespace: str = "spaced", chat: bool | None = None) -> None:
        if not callable(getattr(model, "generate", None)) or not hasattr(model, "config"):
            refuse_swapped(model, tokenizer, "from_transformers")
            raise no_model(model, "a model of transformers", "AutoModelForCausalLM.from_pretrained", "name")
        if isinstance(tokenizer, str) or not callable(tokenizer):
            raise ArgumentError(
                f"the model's tokenizer is needed, not {type(tokenizer).__name__}: AutoTokenizer.from_pretrained(name)"
            )
        super().__init__(vocabulary_of(model, tokenizer), whitespace=whitespace)
        self.model, self.tokenizer = model, tokenizer
        self._chat = chat

    def _new_cached_model(self) -> CachedModel:
        from interlock.programs.transformers_model import TransformersModel

        return TransformersModel(self.model, self.tokenizer, self.vocabulary)

    def begin(self) -> list[int]:
        """The ids that every text begins with."""
        ids = [int(token) for token in self.tokenizer("")["input_ids"]]
        return [token for token in ids if token not in self.vocabulary.eos_token_ids] or ids[:1]

    def encode(self, prompt: Prompt, chat: bool | None = None) -> list[int]:
        """See ``LocalGenerator``."""
        if not isinstance(prompt, str) or self._reads_as_chat(chat):
            if not self._has_chat_template():
                raise ArgumentError(
                    "the tokenizer has no chat template, so it takes no messages: pass a text, or set "
                    "tokenizer.chat_template"
                )
            messages = templated(self.tokenizer, as_messages(prompt))
            if prefill_of(messages) is not None:
                return self._chat_text_ids(templated_up_to_prefill(self.tokenizer, messages))
            made = self.tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_dict=True)
            ids = made["input_ids"]
        else:
            ids = self.tokenizer(prompt)["input_ids"]
        if not len(ids):
            raise ArgumentError("the prompt is empty: the model needs a token to begin with")
        return [int(token) for token in ids]

    def _chat_text_ids(self, text: str) -> list[int]:
        return [int(token) for token in self.tokenizer(text, add_special_tokens=False)["input_ids"]]

    def _option_names(self) -> Collection[str]:
        return option_names(self.model) | _OWN | set(_REFUSED)

    def _texts(
        self, prompts: list[Prompt], output: OutputType[Any], max_tokens: int, options: dict[str, Any]
    ) -> list[str | InvalidOutputError]:
        return self._texts_of_types(prompts, [output] * len(prompts), max_tokens, options)

    def _texts_of_types(
        self, prompts: list[Prompt], outputs: Sequence[OutputType[Any]], max_tokens: int, options: dict[str, Any]
    ) -> list[str | InvalidOutputError]:
        if not prompts:
            return []
        for output in outputs:
            _refuse_cutting(output, options)
        indexes: list[Constraining] = [self.index(output) for output in outputs]
        rows: dict[int, list[int]] = {}
        refused: dict[int, InvalidOutputError] = {}
        for i, prompt in enumerate(prompts):
            with about_row(i):
                ids = self.encode(prompt, options.get("chat"))
                indexes[i] = self._index_behind(prompt, ids, outputs[i])
            try:
                if own := self.context_room(len(ids), max_tokens):
                    own.check(indexes[i])
                rows[i] = ids
            except PromptTooLongError as error:
                refused[i] = error
        if not rows:
            return [refused[i] for i in range(len(prompts))]
        # Prompts that are too long are left out, and take no room from the others.
        chosen = [indexes[i] for i in rows]
        asked = {**options, "stop": outputs[0].stop} if outputs[0].stop else dict(options)
        logprobs: list[list[float]] | None = [] if _takes_logprobs(asked) else None
        made = dict(zip(rows, self._generated(list(rows.values()), chosen, max_tokens, asked, logprobs=logprobs)))
        found = dict(zip(rows, logprobs or ()))
        room = self.context_room(max(map(len, rows.values())), max_tokens)
        written_ids = [made.get(i) for i in range(len(prompts))]
        for index in {id(index): index for index in chosen}.values():
            own_rows = [row if indexes[i] is index else None for i, row in enumerate(written_ids)]
            refused |= self.check_budget(index, own_rows, max_tokens, options.get("on_tight"), room)
        whole = [[*index.guide().tokens, *(row or ())] for index, row in zip(indexes, written_ids)]

        def known(i: int) -> Known:
            ids = written_ids[i] or []
            reason = self.finish_reason(indexes[i], ids, max_tokens, room)
            # Those of a stop token are of none of the output's tokens.
            return Known(ids, len(rows[i]), len(ids), found[i][: len(ids)] if found else None, reason)

        texts = (self.vocabulary.decode(ids).decode("utf-8", "replace") for ids in whole)
        return [refused.get(i) or written(text, functools.partial(known, i)) for i, text in enumerate(texts)]

    def _token_ids(
        self, prompt: Prompt, output: OutputType[Any], max_tokens: int, options: dict[str, Any]
    ) -> tuple[list[int], list[int]]:
        _refuse_cutting(output, options)
        prompt_ids = self.encode(prompt, options.get("chat"))
        return prompt_ids, self._ids_behind(
            prompt_ids, self._index_behind(prompt, prompt_ids, output), max_tokens, options
        )

    def _ids_behind(
        self, prompt_ids: list[int], index: Constraining, max_tokens: int, options: dict[str, Any]
    ) -> list[int]:
        return self._generated([prompt_ids], [index], max_tokens, options)[0]

    def _runs_behind(
        self, prompt_ids: list[int], index: Constraining, max_tokens: int, options: dict[str, Any]
    ) -> Generator[list[int], None, None]:
        def job(emit: Callable[[list[int]], None]) -> object:
            return self._generated([prompt_ids], [index], max_tokens, dict(options), lambda row, ids, forced: emit(ids))

        return _in_background(job)

    def _generated(
        self,
        rows: list[list[int]],
        indexes: Sequence[Constraining],
        max_tokens: int,
        options: dict[str, Any],
        on_tokens: Callable[[int, list[int], bool], None] | None = None,
        logprobs: list[list[float]] | None = None,
    ) -> list[list[int]]:
        """The ids of an output for every prompt of ``rows``, which has an index in ``indexes``, without the prompt and
        without what stands behind the end. ``logprobs`` takes the log-probabilities of each row's tokens.
        """
        if options.get("logprobs"):
            raise ArgumentError("logprobs belongs to a call with details=True: gen.trace shows those of others as well")
        asked = ", ".join(sorted(options.keys() - {"on_tight"})) or "those of its generation config"
        for name, why in _REFUSED.items():
            if options.get(name):
                raise ArgumentError(f"{name!r} cannot be passed: {why}")
        seed, stats, jumps, stop = (options.pop(name, None) for name in ("seed", "stats", "jump_forward", "stop"))
        for name in ("chat", "on_tight", "logprobs"):
            options.pop(name, None)
        if stats is not None and not isinstance(stats, JumpForwardStats):
            raise TypeError(f"stats must be a JumpForwardStats or None, not {type(stats).__name__}")
        inputs = self._inputs(rows)
        width = inputs["input_ids"].shape[1]
        if room := self.context_room(width, max_tokens):
            for index in indexes:
                room.check(index)
            max_tokens = room.left
        is_one = all(index is indexes[0] for index in indexes)
        constraints = indexes[0] if is_one else list(indexes)
        options = with_sampling(options)
        if self.model.generation_config.pad_token_id is None:
            options.setdefault("pad_token_id", self.vocabulary.eos_token_ids[0])
        options.setdefault("eos_token_id", self.vocabulary.eos_token_ids)
        options = self._with_stop_strings(options)
        # A decoder begins with a token of its own, which in some models is the stop token.
        start = 1 if self.model.config.is_encoder_decoder else width
        criteria = [_never_unless_cancelled] if is_awaited() else []
        if stop:
            criteria.append(functools.partial(self._has_stopped, stop, start))
        if criteria:
            options["stopping_criteria"] = [*(options.get("stopping_criteria") or ()), *criteria]
        # The stop token is none of the output's tokens.
        options["max_new_tokens"] = max_tokens + 1
        if jumps is None:
            jumps = self._can_jump(len(rows), options)
        if on_tokens is not None and not jumps:
            raise ArgumentError("a stream needs jump-forward, which has no beams: leave out num_beams")
        if logprobs is not None and not jumps:
            raise ArgumentError(
                "logprobs needs jump-forward, which has no beams, no assistant_model and no decoder of its own: leave "
                "these out, or logprobs"
            )
        number_end = self.number_end(self._temperature(options))
        begun: list[bool] = []
        if jumps:

            @functools.wraps(jump_forward)
            def loop(*args: Any, **kwargs: Any) -> torch.Tensor:
                begun.append(True)
                return jump_forward(*args, **kwargs)

            options |= {
                "custom_generate": loop,
                "constraints": constraints,
                "max_tokens": max_tokens,
                "number_end": number_end,
            }
            options |= {"on_tokens": on_tokens, "stats": stats if stats is not None else JumpForwardStats()}
            options |= {"seed": seed, "logprobs": logprobs}
        else:
            own = GuideLogitsProcessor(constraints, max_tokens=max_tokens, canonical=True, number_end=number_end)

            def begin(ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
                begun.append(True)
                return own(ids, scores)

            options["logits_processor"] = [begin, *(options.get("logits_processor") or ())]
        # Jump-forward draws by itself, from numbers of its own; all else that draws is a matter of generate.
        with own_draws(None if jumps else seed):
            try:
                out = self.model.generate(**inputs, **options)
            except (TypeError, ValueError, AttributeError) as error:
                if begun or isinstance(error, InterlockError):
                    raise
                raise ArgumentError(f"transformers refuses the options ({asked}): {error}") from error
        stop_ids = set(self.vocabulary.eos_token_ids)
        made: list[list[int]] = []
        for row in out[:, start:].tolist():
            end = next((i for i, token in enumerate(row) if token in stop_ids), len(row))
            made.append(row[:end])
        return made

    def _has_stopped(self, stop: Sequence[str], start: int, ids: torch.Tensor, scores: Any, **more: Any) -> Any:
        """For each row whether one of the texts stands in what was generated: a criterion of ``generate``."""
        texts = (self.vocabulary.decode(row).decode("utf-8", "replace") for row in ids[:, start:].tolist())
        found = [first_stop(text, stop) is not None for text in texts]
        return torch.tensor(found, dtype=torch.bool, device=ids.device)

    def _with_stop_strings(self, options: dict[str, Any]) -> dict[str, Any]:
        """``stop_strings`` as a criterion: ``generate`` finds no tokenizer for them where it has a loop of ours."""
        texts = options.get("stop_strings")
        if not texts:
            return options
        from transformers import StopStringCriteria

        tokenizer = options.get("tokenizer") or self.tokenizer
        stops = StopStringCriteria(tokenizer=tokenizer, stop_strings=texts)
        rest = {name: value for name, value in options.items() if name not in ("stop_strings", "tokenizer")}
        return rest | {"stopping_criteria": [*(options.get("stopping_criteria") or ()), stops]}

    def _has_chat_template(self) -> bool:
        return bool(getattr(self.tokenizer, "chat_template", None))

    def _is_greedy(self, options: Mapping[str, Any]) -> bool:
        return self._temperature(with_sampling(dict(options))) == 0

    def _temperature(self, options: dict[str, Any]) -> float:
        """The temperature of a call; 0 for greedy search."""
        config = options.get("generation_config") or self.model.generation_config
        if not options.get("do_sample", getattr(config, "do_sample", False)):
            return 0.0
        named = options.get("temperature", getattr(config, "temperature", None))
        return 1.0 if named is None else float(named)

    def _inputs(self, rows: list[list[int]]) -> dict[str, torch.Tensor]:
        """Rows of one width, padded on the left."""
        width, device = max(map(len, rows)), self.model.device
        pad = self.model.generation_config.pad_token_id
        filler = self.vocabulary.eos_token_ids[0] if pad is None else int(pad)
        ids = torch.tensor([[filler] * (width - len(row)) + row for row in rows], device=device)
        seen = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in rows], device=device)
        return {"input_ids": ids, "attention_mask": seen}

    def context_room(self, prompt: int, max_tokens: int) -> ContextRoom | None:
        """See ``LocalGenerator``. The stop token has its place in the context."""
        context = getattr(self.model.config.get_text_config(), "max_position_embeddings", None)
        if self.model.config.is_encoder_decoder or not isinstance(context, int):
            return None
        return context_room(prompt, context, max_tokens, reserved=1)

    def _can_jump(self, rows: int, options: dict[str, Any]) -> bool:
        """Whether the loop that appends forced tokens can do what is asked."""
        config = options.get("generation_config") or self.model.generation_config
        beams = options.get("num_beams", getattr(config, "num_beams", 1)) or 1
        if self.model.config.is_encoder_decoder or beams > 1 or "assistant_model" in options:
            return False
        if options.get("prompt_lookup_num_tokens") or options.get("use_cache") is False:
            return False
        text_config = self.model.config.get_text_config()
        kinds = set(getattr(text_config, "layer_types", None) or ["full_attention"])
        plain = kinds == {"full_attention"} and not getattr(text_config, "sliding_window", None)
        return rows == 1 or plain

    def _pieces(
        self, prompt: Prompt, output: OutputType[Any], max_tokens: int, options: dict[str, Any], ends: list[Known]
    ) -> Iterator[str]:
        _refuse_cutting(output, options)
        prompt_ids = self.encode(prompt, options.get("chat"))
        index = self._index_behind(prompt, prompt_ids, output)
        # What is impossible is said now, and not in the thread that the model runs in.
        if room := self.context_room(len(prompt_ids), max_tokens):
            room.check(index)
        else:
            index.guide(max_tokens=max_tokens)
        return self._streamed(prompt_ids, index, max_tokens, options, ends)

    def _streamed(
        self,
        prompt_ids: list[int],
        index: Constraining,
        max_tokens: int,
        options: dict[str, Any],
        ends: list[Known],
    ) -> Generator[str, None, str]:
        if isinstance(index, PrefilledIndex):
            yield index.text
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        taken: list[int] = []
        with contextlib.closing(self._runs_behind(prompt_ids, index, max_tokens, options)) as runs:
            for ids in runs:
                taken += ids
                text = decoder.decode(self.vocabulary.decode(ids))
                if text:
                    try:
                        yield text
                    except GeneratorExit:
                        # A text that ends free text has come.
                        ends.append(self._known_of_stream(prompt_ids, taken, "stop"))
                        raise
        room = self.context_room(len(prompt_ids), max_tokens)
        self.check_budget_of_one(index, taken, max_tokens, options.get("on_tight"), room)
        reason = self.finish_reason(index, taken, max_tokens, room)
        ends.append(self._known_of_stream(prompt_ids, taken, reason))
        return reason

    def _known_of_stream(self, prompt_ids: list[int], taken: list[int], reason: str) -> Known:
        new = [token for token in taken if token not in self.vocabulary.eos_token_ids]
        return Known(new, len(prompt_ids), len(new), None, reason)


class _Stopped(BaseException):
    """Nobody reads any longer."""


def _never_unless_cancelled(ids: torch.Tensor, scores: Any, **more: Any) -> torch.Tensor:
    """A criterion of ``generate`` that ends no row, and the whole call where nobody awaits it any longer."""
    check_cancelled()
    return torch.zeros(ids.shape[0], dtype=torch.bool, device=ids.device)


def _takes_logprobs(options: dict[str, Any]) -> bool:
    """Whether log-probabilities are asked for; the option is taken out of ``options``."""
    given = options.pop("logprobs", None)
    require(logprobs=(given, "flag?"))
    return bool(given)


def _refuse_cutting(output: OutputType[Any], options: Mapping[str, Any]) -> None:
    named = next((name for name in _CUTTING if options.get(name)), None)
    if output.kind != "text" and named is not None:
        raise ArgumentError(
            f"{named!r} cannot be passed with {output.name}, which ends where it is complete: max_tokens is its budget"
        )


def _in_background(job: Callable[[Callable[[list[int]], None]], object]) -> Generator[list[int], None, None]:
    """Run ``job`` in a thread and yield what it emits. Closing the iterator ends the thread at its next token."""
    box: queue.Queue[list[int] | BaseException | None] = queue.Queue()
    stopped = threading.Event()

    def emit(ids: list[int]) -> None:
        if stopped.is_set():
            raise _Stopped
        box.put(ids)

    def run() -> None:
        try:
            job(emit)
            box.put(None)
        except _Stopped:
            pass
        except BaseException as error:
            box.put(error)

    thread = threading.Thread(target=run, name="interlock-stream", daemon=True)
    thread.start()
    try:
        while (found := box.get()) is not None:
            if isinstance(found, BaseException):
                raise found
            yield found
    finally:
        stopped.set()
        thread.join()
