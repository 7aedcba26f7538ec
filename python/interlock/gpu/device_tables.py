"""A whole index on a device: masking, sampling and advancing without the CPU.

Complete tables (``Index.build``) are an automaton with the mask of each of its states. A model takes whole tokens, so
the device holds the next state by state and *class* of tokens; tokens of one class lead every state to the same state,
and an index has some hundred of them. Then a step of a batch is three look-ups: the mask of each row's state, the class
of its token, the next state. Nothing waits for the CPU, so all of it may stand in a CUDA graph, behind the model's own
forward pass.

This is a prototype: it is exact, and compared with guides in the tests, but no server uses it yet. Budgets,
``min_tokens`` and text from outside are the guide's alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import torch

from interlock._core import Index, UnsupportedError, _token_tables
from interlock.masks import apply_slots

__all__ = ["DeviceTables", "TableDecoder"]


class DeviceTables:
    """The complete tables of ``index`` on ``device``: of the masks and steps that its guides have.

    ``stop_token_ids`` end the output where it is complete, as those of ``Index.guide``: the vocabulary's unless given.
    ``device`` is the current GPU, or the CPU where there is none. The index is built if it was not.

    States are numbers. ``start`` is the first; in ``ended`` the output is over and every token is allowed, as in the
    mask of a guide that has ended; ``refused`` is where a token leads that the mask forbids, and only stop tokens are
    allowed there, none of which leads anywhere else.

    Raises ``UnsupportedError`` if the index has no complete tables: too many configurations, recursion, or a vocabulary
    that lacks bytes which the source uses. ``ArgumentError`` for stop tokens that ``Index.guide`` refuses.
    Memory: 4 bytes a token, 4 bytes for each pair of a state and a class, and the distinct masks.

    >>> import interlock
    >>> from interlock.gpu import DeviceTables
    >>> vocabulary = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[256])
    >>> tables = DeviceTables(interlock.Index.from_choices(["yes", "no"], vocabulary), device="cpu")
    >>> states = tables.start_states(1)
    >>> for token in [*b"no", 256]:
    ...     states = tables.advanced(states, torch.tensor([token]))
    >>> states.tolist() == [tables.ended]
    True
    """

    def __init__(self, index: Index, *, stop_token_ids: Iterable[int] | None = None, device: Any = None) -> None:
        stops = index.vocabulary.eos_token_ids if stop_token_ids is None else sorted({int(t) for t in stop_token_ids})
        # A guide knows what cannot be a stop token.
        index.guide(stop_token_ids=stops)
        found = _token_tables(index)
        if found is None:
            index.build()
            found = _token_tables(index)
        if found is None:
            raise UnsupportedError("this index has no complete tables: Index.num_transitions is None after build()")
        classes, edges, rows, mask_of, accepting = found
        vocabulary = index.vocabulary
        states, words = len(mask_of), (vocabulary.size + 31) // 32
        if device is None:
            device = torch.device("cuda", torch.cuda.current_device()) if torch.cuda.is_available() else "cpu"
        self.device = torch.device(device)
        self.size, self.num_states, self.num_classes = vocabulary.size, states + 2, len(edges) // states + 1
        self.start, self.ended, self.refused = 0, states, states + 1
        # Stop tokens are a class of their own, whatever they spell: the guide's rule, too.
        ends = np.where(accepting == 1, self.ended, self.refused).astype(np.int32)
        edges = edges.reshape(states, -1)
        following = np.concatenate([np.where(edges < 0, self.refused, edges), ends[:, None]], axis=1)
        last = np.repeat(np.array([[self.ended], [self.refused]], np.int32), self.num_classes, axis=1)
        of = np.array(classes, dtype=np.int32)
        of[stops] = self.num_classes - 1
        masks, number_of = _masks_of_states(rows.reshape(-1, words), mask_of, accepting == 1, stops)
        self._class_of = torch.from_numpy(of).to(self.device)
        self._next = torch.from_numpy(np.concatenate([following, last]).reshape(-1)).to(self.device)
        self._masks = torch.from_numpy(masks).to(self.device)
        self._mask_of = torch.from_numpy(number_of).to(self.device)

    def start_states(self, batch: int) -> torch.Tensor:
        """The states of a batch at the start: ``int32`` of shape ``[batch]``."""
        return torch.zeros(batch, dtype=torch.int32, device=self.device)

    def apply(self, logits: torch.Tensor, states: torch.Tensor) -> None:
        """Overwrite the logits of forbidden tokens with minus infinity, in place.

        Row ``i`` is masked by the mask of ``states[i]``. ``logits`` has the shape ``[batch, size]`` with the
        vocabulary's size. Nothing is copied or waited for.
        """
        apply_slots(torch, logits, self._masks, self._mask_of[states.long()], None)

    def advanced(self, states: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        """The states after one token each. ``tokens`` must lie below the vocabulary's size, which is not checked."""
        return self._next[states.long() * self.num_classes + self._class_of[tokens.long()].long()]

    @property
    def memory_bytes(self) -> int:
        """Bytes on the device."""
        tensors = (self._class_of, self._next, self._masks, self._mask_of)
        return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def _masks_of_states(rows: Any, mask_of: Any, accepting: Any, stops: Sequence[int]) -> tuple[Any, Any]:
    """The distinct masks with the bits of stop tokens, and per state the number of its mask; the last two states are
    those of outputs that have ended, and of refused ones.
    """
    pairs, number_of = np.unique(np.stack([mask_of, accepting], axis=1), axis=0, return_inverse=True)
    masks = np.zeros((len(pairs) + 2, rows.shape[1]), dtype=np.uint32)
    masks[: len(pairs)] = rows.view(np.uint32)[pairs[:, 0]]
    for token in stops:
        word, bit = token >> 5, np.uint32(1 << (token & 31))
        masks[: len(pairs), word] &= ~bit
        masks[: len(pairs), word] |= np.where(pairs[:, 1] == 1, bit, np.uint32(0))
        masks[-1, word] |= bit
    masks[-2] = 0xFFFFFFFF
    last = np.array([len(pairs), len(pairs) + 1])
    return masks.view(np.int32), np.concatenate([number_of.reshape(-1), last]).astype(np.int32)


def greedy(logits: torch.Tensor) -> torch.Tensor:
    """The most likely token of each row."""
    return logits.argmax(-1)


def sampled(logits: torch.Tensor) -> torch.Tensor:
    """A token of each row, drawn by its probability. Unlike ``torch.multinomial`` this waits for nothing."""
    probabilities = logits.float().softmax(-1)
    return (probabilities / torch.empty_like(probabilities).exponential_()).argmax(-1)


class TableDecoder:
    """Decoding steps of a batch on ``tables``: mask, sample, advance; on a GPU as one CUDA graph.

    ``model`` is called in every step with the tokens of the step before (``int64`` of shape ``[batch]``, zeros at
    first) and answers the logits. It is captured with the rest, so it may do nothing that a CUDA graph cannot. Without
    it, write each step's logits into ``logits`` before ``step``. ``choose`` makes tokens of masked logits: ``greedy``
    (the default), ``sampled``, or a function of your own.

    >>> import interlock
    >>> from interlock.gpu import DeviceTables, TableDecoder
    >>> vocabulary = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[256])
    >>> tables = DeviceTables(interlock.Index.from_choices(["yes", "no"], vocabulary), device="cpu")
    >>> decoder = TableDecoder(tables, batch=1, model=lambda tokens: torch.arange(257.0).expand(1, 257))
    >>> bytes(int(decoder.step()) for _ in range(3))
    b'yes'
    """

    def __init__(
        self,
        tables: DeviceTables,
        batch: int,
        *,
        model: Callable[[torch.Tensor], torch.Tensor] | None = None,
        choose: Callable[[torch.Tensor], torch.Tensor] = greedy,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        self.tables, self.batch = tables, batch
        self._model, self._choose = model, choose
        #: The logits of the step, which are masked in place; the state and the newest token of each row.
        self.logits = torch.zeros((batch, tables.size), dtype=dtype, device=tables.device)
        self.states = tables.start_states(batch)
        self.tokens = torch.zeros(batch, dtype=torch.int64, device=tables.device)
        self._graph: Any = None
        if tables.device.type == "cuda":
            self._capture()

    def reset(self) -> None:
        """Put all rows back to the start."""
        self.states.zero_()
        self.tokens.zero_()

    def step(self) -> torch.Tensor:
        """Take one step on every row, and return the tokens, which the next step overwrites. On a GPU it waits for
        nothing.
        """
        if self._graph is not None:
            self._graph.replay()
        else:
            self._run()
        return self.tokens

    def _run(self) -> None:
        if self._model is not None:
            self.logits.copy_(self._model(self.tokens))
        self.tables.apply(self.logits, self.states)
        self.tokens.copy_(self._choose(self.logits))
        self.states.copy_(self.tables.advanced(self.states, self.tokens))

    def _capture(self) -> None:
        """Record a step. Before, it is run on another stream, so that kernels are compiled and memory is there."""
        device = self.tables.device
        with torch.cuda.device(device):
            side = torch.cuda.Stream(device)
            side.wait_stream(torch.cuda.current_stream(device))
            with torch.cuda.stream(side):
                for _ in range(3):
                    self._run()
            torch.cuda.current_stream(device).wait_stream(side)
            graph: Any = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                self._run()
            self._graph = graph
            self.reset()
