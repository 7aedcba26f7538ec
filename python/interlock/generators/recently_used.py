"""What a generator keeps of earlier calls: the values that were used last, by what they were made from.

Threads share a generator. No lock guards what is kept, since a process that is forked while another thread holds the
lock would wait for it forever. Each step on the dictionary is whole instead, and says nothing about what the next step
finds: an entry that was there a moment ago may be gone.
"""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

__all__ = ["RecentlyUsed"]

V = TypeVar("V")


class RecentlyUsed(Generic[V]):
    """At most ``most`` values, one for each key. Those whose last use is longest ago leave.

    >>> kept = RecentlyUsed[str](2)
    >>> [kept.get_or_make(key, key.upper) for key in ("a", "b", "a", "c")]
    ['A', 'B', 'A', 'C']
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[Hashable, V] = OrderedDict()

    def get_or_make(self, key: Hashable, make: Callable[[], V]) -> V:
        """The value of ``key``, made if it is not kept. ``TypeError`` if ``key`` has no hash.

        Threads that ask for a new key at once may all make its value; all of them get the first that was kept.
        """
        known = self._values.get(key)
        if known is None:
            known = self._values.setdefault(key, make())
        # Other threads may have taken out this key, or so many that none is left to take out.
        with contextlib.suppress(KeyError):
            self._values.move_to_end(key)
        while len(self._values) > self._most:
            with contextlib.suppress(KeyError):
                self._values.popitem(last=False)
        return known
