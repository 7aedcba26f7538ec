"""Continuous batching with a constraint per request.

transformers' continuous batching takes requests at any time, and asks its own kind of logits processor about all
requests that get a token in a step, in one call. It has no public way to add one, so the list of processors of a
manager is extended before the manager starts.

A step's masks are made on the CPU from the tokens that the steps before have brought, and are no part of a CUDA graph.
So both must be off: batches that are prepared before the last tokens are known, and graphs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from transformers.generation.continuous_batching.cb_logits_processors import ContinuousBatchingLogitsProcessor

from interlock import ArgumentError, InterlockError, TokenRejected
from interlock.integrations._batch import Batch
from interlock.integrations._row import Constraint, Row, given_one, warm_up
from interlock.integrations.transformers._masks import Masks
from interlock.integrations.transformers._options import refuse_other_names
from interlock.util.plurals import counted

__all__ = ["ContinuousBatchingGuides"]

_KEY = "interlock_constraint"


class _Request:
    """What a request asks for. It travels through transformers as a keyword, which copies it now and then."""

    def __init__(self, constraint: Constraint, max_tokens: int | None, stop: list[int] | None) -> None:
        self.constraint, self.max_tokens, self.stop = constraint, max_tokens, stop

    def __deepcopy__(self, _memo: dict[int, Any]) -> _Request:
        return self

    def row(self) -> Row:
        """A row for a generation of this request, at its beginning."""
        return Row(self.constraint, self.max_tokens, self.stop, whole=True)


class ContinuousBatchingGuides(ContinuousBatchingLogitsProcessor):  # type: ignore[misc, unused-ignore]
    """Constraints for the requests of ``manager``, which ``model.init_continuous_batching`` made and nobody started.

    ``add_request`` takes the place of the manager's own for requests that have a constraint; the others stay as they
    are. The mask comes after the manager's own processors. All masks of a step are filled in one call.

    The manager's ``ContinuousBatchingConfig`` needs ``use_async_batching=False`` and ``use_cuda_graph=False``;
    ``ArgumentError`` if it has not, if the manager runs already, or if this transformers has other processors.

    >>> manager = model.init_continuous_batching(continuous_batching_config=config)  # doctest: +SKIP
    >>> guides = ContinuousBatchingGuides(manager)  # doctest: +SKIP
    >>> manager.start()  # doctest: +SKIP
    >>> guides.add_request(ids, index, max_tokens=100)  # doctest: +SKIP
    """

    supported_kwargs: dict[str, type] = {_KEY: _Request}
    ignored_kwargs: tuple[str, ...] = ()

    def __init__(self, manager: Any) -> None:
        if manager.is_running():
            raise ArgumentError("the manager runs already: make this between init_continuous_batching() and start()")
        config = manager.continuous_batching_config
        if config.use_async_batching or any(config.cuda_graph_booleans):
            raise ArgumentError(
                "constraints need ContinuousBatchingConfig(use_async_batching=False, use_cuda_graph=False)"
            )
        processors = manager.logit_processor
        kinds = ("logits_processor", "tensors_required", "do_processing", "_retrieve_processors_kwargs")
        if not all(hasattr(processors, name) for name in kinds):
            raise ArgumentError("this version of transformers keeps the processors of a manager in another way")
        #: What went wrong, by request id: a request with an entry here was ended by a stop token.
        self.errors: dict[str, InterlockError] = {}
        self._manager = manager
        self._rows: dict[str, Row] = {}
        self._batch = Batch([])
        self._count = 0
        self._masks = Masks()
        processors.logits_processor.append(self)
        processors.tensors_required += 1
        processors._retrieve_processors_kwargs()
        processors.do_processing = True

    def add_request(
        self,
        input_ids: Sequence[int],
        constraint: Constraint,
        *,
        trigger: str | Sequence[int] | None = None,
        max_tokens: int | None = None,
        eos_token_id: int | Sequence[int] | None = None,
        budget: bool = True,
        **options: Any,
    ) -> str | None:
        """Queue a request and return its id, as ``manager.add_request`` does; ``options`` are further keywords of that.

        ``constraint`` and ``trigger`` are those of ``GuideLogitsProcessor``. With ``budget`` the output, free text
        included, is complete within ``max_tokens``, by default the manager's ``max_new_tokens``. Stop tokens are
        ``eos_token_id``, by default the vocabulary's.

        Raises ``BudgetError`` if ``max_tokens`` is too small and ``ArgumentError`` for what is no constraint, and
        queues nothing then.
        """
        made = given_one(constraint, trigger)
        refuse_other_names(options)
        if max_tokens is None:
            max_tokens = self._manager.generation_config.max_new_tokens
        stop = None
        if eos_token_id is not None:
            stop = [eos_token_id] if isinstance(eos_token_id, int) else list(eos_token_id)
        if made is not None:
            request = _Request(made, max_tokens if budget else None, stop)
            stop = sorted(request.row().stop)
            warm_up([made])
            options[_KEY] = request
        given: str | None = self._manager.add_request(
            list(input_ids), max_new_tokens=max_tokens, eos_token_id=stop, **options
        )
        return given

    def fill_defaults(self, int32_tensor: torch.Tensor) -> None:
        """Nothing of a mask travels in the manager's tensors."""
        int32_tensor.fill_(0)

    def prepare_tensor_args(self, requests_with_new_token: list[Any]) -> torch.Tensor:
        """Move the guides to where the requests are: one row for each request, in the order of the scores."""
        rows: dict[str, Row] = {}
        batch: list[Row] = []
        for future in requests_with_new_token:
            state = future.state
            request = state.logit_processor_kwargs.get(_KEY)
            if request is None:
                batch.append(Row(None, None, None))
                continue
            name = state.request_id
            rows[name] = self._rows.get(name) or request.row()
            # A request that had to make room and comes back has its output at the end of its prompt.
            start = getattr(state, "_true_initial_tokens", 0)
            before = state.initial_tokens[start:] if start else []
            self._follow(name, rows[name], [*before, *state.generated_tokens])
            batch.append(rows[name])
        # Rows of requests that are not here are made again from their tokens, should they come back.
        self._rows = rows
        self._batch, self._count = Batch(batch), len(batch)
        return torch.zeros(len(batch), dtype=torch.int32)

    def _follow(self, name: str, row: Row, tokens: list[int]) -> None:
        common = len(row.tokens)
        if tokens[:common] != row.tokens:
            common = next(i for i, (a, b) in enumerate(zip([*tokens, -1], row.tokens, strict=False)) if a != b)
            row.cut(common)
        try:
            for token in tokens[common:]:
                row.advance(token)
        except InterlockError as error:  # behind a trigger there is no room for what has to follow
            self.errors[name] = error
            row.end()
        if row.strayed and name not in self.errors:
            self.errors[name] = TokenRejected(
                f"request {name} took token {row.strayed[0]}, which was masked: did another processor leave no choice?"
            )

    def __call__(self, scores: torch.Tensor, tensor_arg: torch.Tensor) -> torch.Tensor:
        """A copy of ``scores`` (requests, width) with minus infinity where a token is forbidden."""
        if len(scores) != self._count:
            raise ArgumentError(f"{counted(len(scores), 'row')} of scores for {counted(self._count, 'request')}")
        return self._masks.copied(self._batch, scores)
