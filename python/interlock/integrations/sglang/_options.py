"""What an operator sets: environment variables named ``INTERLOCK_SGLANG_…``, read once when the backend is made."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from interlock import ArgumentError, Limits

__all__ = ["Options"]

PREFIX = "INTERLOCK_SGLANG_"


@dataclass(frozen=True)
class Options:
    """The backend's options; docs/servers/sglang.md says what each one is for."""

    compile_seconds: float = 10.0
    """A compile that takes longer is refused. With several ranks SGLang's own limit holds instead."""
    compile_threads: int = field(default_factory=lambda: max(2, min(8, (os.cpu_count() or 2) // 2)))
    """How many sources are compiled at once."""
    cache_entries: int = 256
    """How many compiled sources and refusals are kept for later requests."""
    mask_cache_mb: int = 256
    """Megabytes of masks that are kept for the sources to come."""
    warm_up_ms: float = 5.0
    """Time for making masks in the background after a compile, while the prompt is read; 0 for none."""
    budget: bool = True
    """Whether an output is complete within the request's ``max_new_tokens``."""
    reserved: str = "template"
    """``template`` keeps added tokens that the chat template or the parsers use out of text, ``none`` does not."""
    role_tokens: str = "refuse"
    """``refuse`` keeps tokens of roles, such as ``<|im_start|>``, out of requests' structural tags and grammars,
    ``allow`` does not."""
    regex_flags: str = "a"
    """Flags of patterns: ``a`` says that ``\\d``, ``\\w`` and ``\\s`` are ASCII, as in other backends."""
    whitespace: str | None = None
    """``flexible``, ``compact``, ``spaced`` or a pattern; by default what the server's own arguments say."""
    spelling: str = "plain"
    """How values of JSON are written: ``plain``, ``constants`` or ``any``, as ``Index.from_json_schema`` has them."""
    property_order: str = "schema"
    """``schema`` or ``any``."""
    formats: str = "assert"
    """``assert`` or ``annotate``."""
    on_unsupported: str = "error"
    """``error`` refuses what cannot be enforced, ``warn`` leaves it out."""
    limits: Mapping[str, int] = field(default_factory=dict)
    """Fields of ``Limits`` that differ from their defaults."""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Options:
        """The options of this process. ``ArgumentError`` names a variable that is unknown, or whose value is none."""
        given = os.environ if environment is None else environment
        values: dict[str, Any] = {}
        for variable in sorted(name for name in given if name.startswith(PREFIX)):
            name = variable.removeprefix(PREFIX).lower()
            if name not in _READ:
                known = ", ".join(PREFIX + known.upper() for known in _READ)
                raise ArgumentError(f"{variable} is no option; there are {known}")
            try:
                values[name] = _READ[name](given[variable])
            except (ValueError, TypeError) as error:
                raise ArgumentError(f"{variable} is {given[variable]!r}: {error}") from error
        return cls(**values)


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 < value < 86_400:
        raise ValueError("it must be a number of seconds above 0")
    return value


def _milliseconds(text: str) -> float:
    value = float(text)
    if not 0 <= value < 60_000:
        raise ValueError("it must be a number of milliseconds, 0 or more")
    return value


def _count(text: str) -> int:
    value = int(text)
    if not 1 <= value <= 1_000_000:
        raise ValueError("it must be a whole number above 0")
    return value


def _switch(text: str) -> bool:
    if text.lower() not in ("on", "off", "1", "0", "true", "false"):
        raise ValueError('it must be "on" or "off"')
    return text.lower() in ("on", "1", "true")


def _one_of(*words: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in words:
            raise ValueError("it must be one of " + ", ".join(f'"{word}"' for word in words))
        return text

    return read


def _limits(text: str) -> dict[str, int]:
    fields: dict[str, int] = {}
    for part in filter(None, text.replace(" ", "").split(",")):
        name, equals, number = part.partition("=")
        if not equals:
            raise ValueError("write limits as max_depth=50,max_rules=1000")
        fields[name] = int(number)
    Limits(**fields)  # TypeError names an unknown limit.
    return fields


_READ: dict[str, Callable[[str], Any]] = {
    "compile_seconds": _seconds,
    "compile_threads": _count,
    "cache_entries": _count,
    "mask_cache_mb": _count,
    "warm_up_ms": _milliseconds,
    "budget": _switch,
    "reserved": _one_of("template", "none"),
    "role_tokens": _one_of("refuse", "allow"),
    "regex_flags": str,
    "whitespace": str,
    "spelling": _one_of("plain", "constants", "any"),
    "property_order": _one_of("schema", "any"),
    "formats": _one_of("assert", "annotate"),
    "on_unsupported": _one_of("error", "warn"),
    "limits": _limits,
}
