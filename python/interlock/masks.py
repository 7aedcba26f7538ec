"""Bitmasks for a batch: allocate them, and apply them to logits.

A bitmask is an ``int32`` array with one row per sequence and ``ceil(size / 32)`` words a row. Bit ``t & 31`` of word
``t >> 5`` is 1 where token ``t`` is allowed.
"""

from __future__ import annotations

import operator
import sys
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
import numpy.typing as npt

from interlock._core import ArgumentError, Guide, Vocabulary, apply_bitmask_cpu
from interlock.util.client_messages import with_hint
from interlock.util.plurals import counted

if TYPE_CHECKING:
    from interlock.gpu.bitmask_ring import BitmaskRing

__all__ = ["allocate_bitmask", "apply_bitmask"]

# Bytes of a line of the cache.
_LINE = 64

# What to do about an array whose rows do not lie in memory as a whole, each behind the other.
_COPIES = (
    "mask a copy, and sample from it: logits = logits.contiguous() for a tensor of torch, np.ascontiguousarray(logits) "
    "for an array"
)

# Devices and dtypes for which the kernel failed in this process.
_without_kernel: set[tuple[Any, Any]] = set()


@overload
def allocate_bitmask(
    batch: int, v_or_size: Vocabulary | int, *, pin: Literal[False] = False, device: None = None
) -> npt.NDArray[np.int32]: ...
@overload
def allocate_bitmask(
    batch: int, v_or_size: Vocabulary | int, *, pin: bool = False, device: Any = None
) -> npt.NDArray[np.int32] | BitmaskRing: ...
def allocate_bitmask(
    batch: int, v_or_size: Vocabulary | int, *, pin: bool = False, device: Any = None
) -> npt.NDArray[np.int32] | BitmaskRing:
    """A bitmask of ``batch`` rows in which every token is allowed; or, for a device, a ring of such masks.

    ``v_or_size`` is a vocabulary, or the width of the logits. ``ArgumentError`` if one of the two is negative, or
    no memory could hold the mask, ``TypeError`` if ``batch`` is no integer, as where the two were swapped.

    With ``pin`` or ``device`` the answer is a ``BitmaskRing``: memory for one step after the other, in pinned memory
    where there is CUDA, and copies of it on ``device`` (a torch device or its name; the current GPU if only ``pin`` is
    given, and the CPU where there is none). ``ArgumentError`` for a device that torch does not know.

    >>> allocate_bitmask(2, 100).shape
    (2, 4)
    >>> allocate_bitmask(2, 100, device="cpu").next().shape
    (2, 4)
    """
    if not hasattr(batch, "__index__"):
        kind = type(batch).__name__
        raise TypeError(f"batch must be a number of rows, not {kind}: allocate_bitmask(batch, vocabulary or size)")
    batch = operator.index(batch)
    if not (isinstance(v_or_size, Vocabulary) or hasattr(v_or_size, "__index__")):
        kind = type(v_or_size).__name__
        raise TypeError(f"v_or_size must be a Vocabulary or the width of the logits, not {kind}")
    size = v_or_size.size if isinstance(v_or_size, Vocabulary) else operator.index(v_or_size)
    if batch < 0 or size < 0:
        raise ArgumentError(f"batch and size must not be negative, but are {batch} and {size}")
    width = (size + 31) // 32
    if batch * width > sys.maxsize // 4 - _LINE:
        raise ArgumentError(f"a bitmask of {batch} rows of {width} words is larger than any memory")
    if not isinstance(pin, bool):
        raise TypeError(f"pin must be True or False, not {type(pin).__name__}")
    if pin or device is not None:
        from interlock.gpu.bitmask_ring import BitmaskRing

        return BitmaskRing(batch, width, device=device, pin=pin)
    bits = aligned_words(batch * width).reshape(batch, width)
    bits.fill(-1)
    return bits


def make_mask(guide: Guide) -> None:
    """Make the mask where a guide is, and throw the row away: what it is made of is kept, so the step of a batch that
    asks for it finds it known. It raises what ``fill_bitmask`` raises.
    """
    guide.fill_bitmask(allocate_bitmask(1, guide.index.vocabulary))


def aligned_words(count: int) -> npt.NDArray[np.int32]:
    """So many words with any contents, beginning with a line of the cache.

    Rows are written fastest where they begin with a line of the cache, which NumPy does not see to.
    """
    room = np.empty(count + _LINE // 4, dtype=np.int32)
    begin = -room.ctypes.data % _LINE // 4
    return room[begin : begin + count]


def apply_bitmask(logits: Any, bits: Any, rows: Iterable[int] | None = None) -> None:
    """Overwrite the logits of forbidden tokens with minus infinity, in place.

    ``logits`` is a NumPy array (``float16``, ``float32``, ``float64``, or the ``bfloat16`` of ``ml_dtypes``) or a torch
    tensor of these on any device, with one or two dimensions. ``bits`` is a NumPy array or torch tensor of ``int32``,
    or a ``BitmaskRing``: then the mask that its ``next`` gave last is sent to its device first.
    ``rows[i]`` is the row of the logits that row ``i`` of ``bits`` masks; without ``rows`` there must be as many of the
    one as of the other. Rows that are not named stay as they are.

    ``ArgumentError``, and nothing is written, if an argument has another shape or dtype. A row of ``bits`` has one bit
    for each logit, rounded up to whole words: so the width of the logits tells a mask that was made for another model,
    or for a vocabulary without the ``size`` of a model that pads its logits. A difference of less than a word is not
    told: bits beyond the logits are not read, and mean nothing. So compare ``vocabulary.size`` with the width of the
    logits once, when the model is loaded: a token without a logit cannot be chosen, and a row that allows no other
    token becomes minus infinity everywhere.

    >>> logits = np.zeros((1, 4), np.float32)
    >>> apply_bitmask(logits, np.array([[0b101]], np.int32))
    >>> logits.tolist()
    [[0.0, -inf, 0.0, -inf]]
    """
    bits = _sent(bits, logits)
    width, words = _last(logits), _last(bits)
    if width is not None and words is not None and words != (width + 31) // 32:
        if str(getattr(logits, "dtype", "")).endswith("int32"):
            raise ArgumentError("logits must be numbers with a point, not int32: logits come first, then bits")
        raise ArgumentError(
            f"logits have {counted(width, 'column')}, {counted((width + 31) // 32, 'word')} a row, and bits "
            f"has {words}: give the width of the logits as the size of the vocabulary and of allocate_bitmask"
        )
    apply_padded(logits, bits, rows)


def _sent(bits: Any, logits: Any) -> Any:
    """The mask itself, where a ring was given: on its device if the logits are on one."""
    ring = sys.modules.get("interlock.gpu.bitmask_ring")
    if ring is None or not isinstance(bits, ring.BitmaskRing):
        return bits
    device = getattr(logits, "device", None)
    return bits.current if getattr(device, "type", "cpu") == "cpu" else bits.send()


def _last(array: Any) -> int | None:
    """The length of the last dimension, where there is one."""
    shape = getattr(array, "shape", None)
    return int(shape[-1]) if isinstance(shape, tuple) and shape else None


def apply_padded(logits: Any, bits: Any, rows: Iterable[int] | None = None) -> None:
    """``apply_bitmask`` for logits of any width: columns beyond the mask become minus infinity.

    For callers who know that the vocabulary is the model's, and have logits that a server pads.
    """
    try:
        _apply(logits, _sent(bits, logits), rows)
    except ArgumentError as error:
        if error.hint is None and ("contiguous" in str(error) or "share memory" in str(error)):
            raise with_hint(error, _COPIES) from None
        raise


def _apply(logits: Any, bits: Any, rows: Iterable[int] | None) -> None:
    numbers = None if rows is None else _row_numbers(rows)
    if isinstance(logits, np.ndarray):
        brain = logits.dtype.name == "bfloat16"
        apply_bitmask_cpu(logits.view(np.int16) if brain else logits, bits, numbers, brain)
        return
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(logits, torch.Tensor):
        raise ArgumentError(f"logits must be a NumPy array or a torch tensor, not {type(logits).__name__}")
    if logits.device.type == "cpu":
        apply_torch_cpu(torch, logits, bits, numbers)
    else:
        _apply_torch_device(torch, logits, bits, numbers)


def _row_numbers(rows: Iterable[int]) -> list[int]:
    """The row numbers as a list, each at most once: the order in which repeated rows are masked would matter."""
    if not hasattr(rows, "__iter__") or isinstance(rows, str | bytes):
        raise TypeError(f"rows must be a sequence of int or None, not {type(rows).__name__}")
    given = rows.tolist() if hasattr(rows, "tolist") else list(rows)
    numbers: list[int] = []
    for at, row in enumerate(given):
        if not hasattr(row, "__index__") or isinstance(row, bool):
            raise TypeError(f"rows[{at}] must be an int, not {type(row).__name__}")
        numbers.append(operator.index(row))
    if len(set(numbers)) != len(numbers):
        twice = next(row for at, row in enumerate(numbers) if row in numbers[:at])
        raise ArgumentError(f"row {twice} is named twice")
    return numbers


def apply_torch_cpu(torch: Any, logits: Any, bits: Any, rows: list[int] | None, source: Any = None) -> None:
    """Mask a tensor in memory: NumPy views share it, and have no ``bfloat16``.

    With ``source``, a tensor of the same shape and dtype, the logits become its masked copy.
    """
    if isinstance(bits, torch.Tensor):
        _expect_stored(bits, "bits")
        bits = bits.cpu()
    brain = logits.dtype == torch.bfloat16
    values = logits.detach().view(torch.int16) if brain else logits.detach()
    if source is None:
        apply_bitmask_cpu(values, bits, rows, brain)
    else:
        apply_bitmask_cpu(values, bits, rows, brain, source.detach().view(torch.int16) if brain else source.detach())


def _expect_stored(tensor: Any, name: str) -> None:
    if tensor.device.type == "meta":
        raise ArgumentError(f"{name} are on torch's meta device, where nothing is stored")


def _apply_torch_device(torch: Any, logits: Any, bits: Any, rows: list[int] | None) -> None:
    """Mask a tensor on a device: one Triton kernel where there is Triton, torch operations elsewhere."""
    values, words = _checked(torch, logits, bits, rows)
    if len(words) == 0 or values.shape[1] == 0:
        return
    words = _moved(words, values.device)
    where = None if rows is None else _moved(torch.tensor(rows, dtype=torch.int32), values.device)
    if not (_suits_kernel(values) and _run_kernel(torch, values, words, logit_rows=where)):
        _apply_torch_operations(torch, values, words, where)


def masked_copy(torch: Any, logits: Any, bits: Any, rows: list[int] | None) -> Any:
    """A masked copy of two-dimensional ``logits`` on a device, made in one pass where there is Triton.

    The arguments are those of ``apply_padded``. Rows that are not named are copied as they are.
    """
    values, words = _checked(torch, logits, bits, rows)
    if _suits_kernel(values) and len(words) and values.shape[1]:
        made = torch.empty(values.shape, dtype=values.dtype, device=values.device)
        of = None
        if rows is not None:
            # Row by row of the logits: which row of the mask, -1 for none.
            numbers = np.full(len(values), -1, dtype=np.int32)
            numbers[rows] = np.arange(len(rows), dtype=np.int32)
            of = _moved(torch.from_numpy(numbers), values.device)
        if _run_kernel(torch, made, _moved(words, values.device), bits_rows=of, source=values):
            return made
    made = values.clone()
    _apply_torch_device(torch, made, words, rows)
    return made


def apply_slots(torch: Any, logits: Any, pool: Any, slots: Any, rows: list[int] | None) -> None:
    """Mask row ``rows[i]`` of the logits by row ``slots[i]`` of ``pool``, or by nothing where that is negative.

    All tensors lie on one device. What ``slots`` holds is not checked, which would take a transfer.
    """
    count, words = len(slots), (logits.shape[-1] + 31) // 32 if logits.dim() else 0
    if words != pool.shape[1]:
        raise ArgumentError(f"logits take {counted(words, 'word')} a row, and the masks have {pool.shape[1]}")
    values, _ = _checked(torch, logits, pool, rows, count)
    where = None if rows is None else _moved(torch.tensor(rows, dtype=torch.int32), values.device)
    if count == 0 or values.shape[1] == 0:
        return
    if not (_suits_kernel(values) and _run_kernel(torch, values, pool, logit_rows=where, bits_rows=slots)):
        # Nothing here may look at the values: this runs inside CUDA graphs, too.
        gathered = torch.where((slots < 0).unsqueeze(1), -1, pool[slots.clamp(min=0).long()])
        _apply_torch_operations(torch, values, gathered, where)


def _checked(torch: Any, logits: Any, bits: Any, rows: list[int] | None, count: int | None = None) -> tuple[Any, Any]:
    """Logits on a device and their mask as two-dimensional tensors; ``ArgumentError`` where they do not fit.

    ``count`` is how many rows of the logits are masked, where that is not how many ``bits`` has.
    """
    words = bits if isinstance(bits, torch.Tensor) else torch.from_numpy(bits)
    _expect_stored(words, "bits")
    _expect_stored(logits, "logits")
    if words.dtype != torch.int32:
        raise ArgumentError(f"bits must be int32, not {words.dtype}")
    if not logits.dtype.is_floating_point:
        raise ArgumentError(f"logits must be floating-point numbers, not {logits.dtype}")
    if logits.element_size() == 1 and logits.dtype != torch.float8_e5m2:
        raise ArgumentError(f"{logits.dtype} has no minus infinity")
    if logits.dim() not in (1, 2) or words.dim() not in (1, 2):
        raise ArgumentError("logits and bits must have one or two dimensions")
    values = logits.detach()
    values = values.unsqueeze(0) if values.dim() == 1 else values
    words = words.unsqueeze(0) if words.dim() == 1 else words
    count = len(words) if count is None else count
    if count != (len(values) if rows is None else len(rows)):
        masked = len(values) if rows is None else len(rows)
        raise ArgumentError(f"bits has {counted(count, 'row')} for {masked} of logits")
    out = None if rows is None else next((row for row in rows if not 0 <= row < len(values)), None)
    if out is not None:
        raise ArgumentError(f"row {out} is out of range: logits have {counted(len(values), 'row')}")
    end = 0
    # The elements along one dimension must end before the next one takes a step.
    for stride, size in sorted(zip(values.stride(), values.shape, strict=True)):
        if size > 1:
            if stride <= end:
                raise ArgumentError("rows of logits share memory")
            end += stride * (size - 1)
    return values, words


def _moved(source: Any, device: Any) -> Any:
    """``source`` on ``device``.

    The caller may write the next mask into its memory as soon as this returns. So only a copy that has read all of it
    by then may go on alone, which is what CUDA does from memory that is not pinned.
    """
    return source.to(device, non_blocking=device.type == "cuda" and not source.is_pinned())


def _suits_kernel(values: Any) -> bool:
    return bool(values.device.type == "cuda" and values.stride(1) == 1)


def _run_kernel(torch: Any, out: Any, words: Any, **which: Any) -> bool:
    """Mask with the Triton kernel (``_triton.apply``); whether that was possible.

    Triton may be there and not work: it needs a C compiler, and knows some GPUs only. What failed is not tried again,
    but for want of memory, which torch operations would not have either.
    """
    kind = (out.device, out.dtype)
    if kind in _without_kernel:
        return False
    try:
        from interlock import _triton

        # Triton launches on the current device, which need not be that of the logits.
        with torch.cuda.device(out.device):
            _triton.apply(out, words if words.stride(-1) == 1 else words.contiguous(), **which)
    except Exception as error:
        if isinstance(error, (MemoryError, torch.cuda.OutOfMemoryError)) or "out of memory" in str(error):
            raise
        _without_kernel.add(kind)
        if not (isinstance(error, ModuleNotFoundError) and error.name == "triton"):
            message = f"no Triton kernel masks {out.dtype} on {out.device}, torch operations do: {error!r}"
            warnings.warn(message, RuntimeWarning, stacklevel=4)
        return False
    return True


def _apply_torch_operations(torch: Any, values: Any, words: Any, rows: Any | None) -> None:
    """The same with torch alone: unpack the bits, then fill."""
    columns = values.shape[1]
    lanes = torch.arange(32, dtype=torch.int32, device=values.device)
    forbidden = ((words.unsqueeze(-1) >> lanes) & 1 == 0).flatten(1)[:, :columns]
    if forbidden.shape[1] < columns:
        beyond = torch.ones(len(words), columns - forbidden.shape[1], dtype=torch.bool, device=values.device)
        forbidden = torch.cat([forbidden, beyond], dim=1)
    # Nothing fills numbers of one byte but as bytes; this is minus infinity as float8_e5m2.
    fill: float = float("-inf")
    if values.element_size() == 1:
        values, fill = values.view(torch.uint8), 0xFC
    if rows is None:
        values.masked_fill_(forbidden, fill)
    else:
        rows = rows.long()
        values.index_copy_(0, rows, values.index_select(0, rows).masked_fill_(forbidden, fill))
