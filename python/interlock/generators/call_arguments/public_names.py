"""Which attributes of a generator tab completion shows, and what is said of those that it does not have."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from interlock.generators.call_arguments.arguments import OTHER_METHODS
from interlock.util.attribute_hints import no_attribute

__all__ = ["PublicNames"]

# Programs, tool loops and streams call these, and nobody else does.
_INTERNAL = frozenset(
    "begin cached_model check_budget check_budget_of_one context_room decoder finish_reason holds_model_as number_end "
    "of_model".split()
)


class PublicNames:
    """The part of a generator that answers for names."""

    def __getattr__(self, name: str) -> Any:
        """Only called for what a generator does not have."""
        raise no_attribute(self, name, OTHER_METHODS)

    def __dir__(self) -> Iterable[str]:
        """The names that tab completion shows: methods that only other parts of this package call are left out."""
        return (name for name in super().__dir__() if name not in _INTERNAL)
