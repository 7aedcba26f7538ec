"""Masks on a GPU. torch is needed where tensors are; everything works on the CPU too, for tests.

``BitmaskRing`` (``interlock.allocate_bitmask(..., pin=True)`` makes one) hands out memory for the masks of one step
after the other, so that a step is filled while the copy of the step before is still on its way. ``DeviceRows`` keeps
rows on the device, so that a step sends their numbers and only those rows that are new. ``DeviceTables`` holds a whole
index there: then masking, sampling and advancing need no CPU, and ``TableDecoder`` captures them in a CUDA graph.
"""

from typing import TYPE_CHECKING, Any

from interlock.gpu.bitmask_ring import BitmaskRing

if TYPE_CHECKING:
    from interlock.gpu.device_rows import DeviceRows
    from interlock.gpu.device_tables import DeviceTables, TableDecoder

__all__ = ["BitmaskRing", "DeviceRows", "DeviceTables", "TableDecoder"]

# These need torch, which takes seconds to import.
_LATE = {
    "DeviceRows": "interlock.gpu.device_rows",
    "DeviceTables": "interlock.gpu.device_tables",
    "TableDecoder": "interlock.gpu.device_tables",
}


def __getattr__(name: str) -> Any:
    import importlib

    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(importlib.import_module(_LATE[name]), name)
    return found
