"""Log-probabilities of tokens under the masks that they were sampled with, for training on rollouts."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from interlock._core import ArgumentError
from interlock.masks import apply_bitmask

__all__ = ["masked_logprobs"]


def masked_logprobs(logits: Any, bits: Any, ids: Any, *, temperature: float = 1.0) -> Any:
    """The log-probability of each token of ``ids``, renormalized over the tokens that its mask allows.

    That is what a trainer of a policy needs whose rollouts were sampled under masks (GRPO, PPO): forbidden tokens have
    no probability, and the allowed ones share what these had.

    Args:
        logits: a NumPy array or a torch tensor of floating-point numbers. The last dimension is the vocabulary; before
            it stand the places of one output, or a batch of outputs and their places.
        bits: the masks of these places, ``int32`` with one row of words for each, as ``Guide.fill_draft_bitmasks``
            writes them. It writes one row more, the mask behind the last token: pass ``bits[: len(ids)]``.
        ids: the token at each place, as an array, a tensor or a list.
        temperature: what the logits were divided by for sampling.

    Returns:
        Numbers of the shape of ``ids``: a tensor for a tensor, with the gradient of the logits and on their device, and
        an array for an array. They are ``float64`` where the logits are, and ``float32`` otherwise. ``logits`` stay as
        they are.

    Raises:
        ArgumentError: the shapes do not fit together, an id is outside of the vocabulary, or a mask forbids its token:
            then the masks are not those of this output.
        TypeError: an argument is of another type.

    Costs two copies of the logits.

        >>> import numpy as np
        >>> from interlock import masked_logprobs
        >>> logits = np.zeros((1, 4), np.float32)
        >>> np.exp(masked_logprobs(logits, np.array([[0b101]], np.int32), [2])).tolist()
        [0.5]
    """
    if isinstance(temperature, bool) or not isinstance(temperature, (int, float)):
        raise TypeError(f"temperature must be a number, not {type(temperature).__name__}")
    if not (math.isfinite(temperature) and temperature > 0):
        raise ArgumentError(f"temperature must be above 0, as it was for sampling, not {temperature}")
    torch = sys.modules.get("torch")
    is_tensor = torch is not None and isinstance(logits, torch.Tensor)
    if not is_tensor and not isinstance(logits, np.ndarray):
        raise TypeError(f"logits must be a NumPy array or a torch tensor, not {type(logits).__name__}")
    if not isinstance(bits, np.ndarray) and (torch is None or not isinstance(bits, torch.Tensor)):
        raise TypeError(f"bits must be a NumPy array or a torch tensor of int32, not {type(bits).__name__}")
    is_floating = logits.dtype.is_floating_point if is_tensor else logits.dtype.name.startswith(("float", "bfloat"))
    if not is_floating:
        raise ArgumentError(f"logits must be floating-point numbers, not {logits.dtype}")
    chosen = _ids(torch, ids)
    places = tuple(logits.shape[:-1])
    if logits.ndim < 2 or chosen.shape != places or tuple(bits.shape[:-1]) != places:
        raise ArgumentError(
            f"logits must have a place for each token, and bits a row: logits have the shape {tuple(logits.shape)}, "
            f"bits {tuple(bits.shape)}, and ids {chosen.shape}. Behind n tokens the model has logits for what comes "
            "next, and fill_draft_bitmasks a mask: leave the last of both out"
        )
    width = int(logits.shape[-1])
    flat = chosen.reshape(-1)
    _check_allowed(torch, bits, flat, places, width)
    if is_tensor:
        assert torch is not None
        return _of_tensor(torch, logits, bits, flat, temperature).reshape(places)
    return _of_array(logits, bits, flat, temperature).reshape(places)


def _ids(torch: Any, ids: Any) -> np.ndarray:
    """The ids as an array of whole numbers."""
    if torch is not None and isinstance(ids, torch.Tensor):
        ids = ids.detach().cpu().numpy()
    elif not isinstance(ids, (np.ndarray, list, tuple)):
        raise TypeError(f"ids must be token ids in a list, an array or a tensor, not {type(ids).__name__}")
    try:
        found = np.asarray(ids)
    except ValueError:
        raise ArgumentError("ids must be one list, or lists of one length: outputs of a batch are padded") from None
    if found.size and found.dtype.kind not in "iu":
        raise TypeError(f"ids must be whole numbers, not {found.dtype}")
    return found.astype(np.int64)


def _check_allowed(torch: Any, bits: Any, ids: np.ndarray, places: tuple[int, ...], width: int) -> None:
    """``ArgumentError`` for the first token that is outside of the vocabulary, or that its mask forbids."""
    outside = (ids < 0) | (ids >= width)
    if outside.any():
        at = int(outside.argmax())
        raise ArgumentError(f"ids{_place(at, places)} is {ids[at]}, and the logits have {width} columns")
    rows = bits.reshape(-1, bits.shape[-1])
    if rows.shape[-1] * 32 < width:
        return  # ``apply_bitmask`` says what is wrong.
    if isinstance(rows, np.ndarray):
        words = rows[np.arange(len(ids)), ids >> 5]
    else:
        where = torch.from_numpy(ids >> 5).to(rows.device)
        words = rows.gather(1, where.unsqueeze(1)).squeeze(1).cpu().numpy()
    forbidden = (words >> (ids & 31)) & 1 == 0
    if forbidden.any():
        at = int(forbidden.argmax())
        raise ArgumentError(
            f"the mask at {_place(at, places)} forbids its token, {ids[at]}: these are not the masks of this output. "
            "Make them with the source, the budget and the options that it was sampled with"
        )


def _place(at: int, places: tuple[int, ...]) -> str:
    return str([int(number) for number in np.unravel_index(at, places)])


def _of_tensor(torch: Any, logits: Any, bits: Any, ids: np.ndarray, temperature: float) -> Any:
    values = logits.reshape(-1, logits.shape[-1])
    if values.dtype != torch.float64:
        values = values.float()
    if temperature != 1:
        values = values / temperature
    masked = torch.zeros_like(values, requires_grad=False)
    apply_bitmask(masked, bits.reshape(-1, bits.shape[-1]))
    masked = values + masked
    chosen = values.gather(1, torch.from_numpy(ids).to(values.device).unsqueeze(1)).squeeze(1)
    return chosen - masked.logsumexp(-1)


def _of_array(logits: np.ndarray, bits: Any, ids: np.ndarray, temperature: float) -> np.ndarray:
    kind = np.float64 if logits.dtype == np.float64 else np.float32
    values: Any = logits.reshape(-1, logits.shape[-1]).astype(kind)
    if temperature != 1:
        values /= kind(temperature)
    chosen = values[np.arange(len(ids)), ids]
    apply_bitmask(values, bits.reshape(-1, bits.shape[-1]))
    highest = values.max(axis=-1, initial=-np.inf)
    with np.errstate(invalid="ignore"):
        found: np.ndarray = chosen - highest - np.log(np.exp(values - highest[:, None]).sum(axis=-1))
    return found
