"""The options of the plug-in: environment variables that begin with ``INTERLOCK_VLLM_``.

vLLM hands a plug-in no options of its own, and its processes inherit the environment, so that is where they come from.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from interlock import ArgumentError, Limits

__all__ = ["PREFIX", "Options", "current", "set_in"]

PREFIX = "INTERLOCK_VLLM_"


def _option(default: Any, help: str, choices: tuple[str, ...] = ()) -> Any:
    return field(default=default, metadata={"help": help, "choices": choices})


@dataclass(frozen=True)
class Options:
    """What an operator can set. Each field is the variable ``INTERLOCK_VLLM_<NAME>`` in capital letters."""

    whitespace: str = _option(
        "flexible",
        "whitespace between the parts of JSON where the request names none: flexible, compact, spaced or a pattern",
    )
    spelling: str = _option("plain", "how values of JSON are written", ("plain", "constants", "any"))
    property_order: str = _option("schema", "the order of an object's properties", ("schema", "any"))
    formats: str = _option("assert", "whether `format` of a schema holds", ("assert", "annotate"))
    on_unsupported: str = _option(
        "error",
        "what becomes of keywords that cannot be enforced: refuse the schema, or leave them out",
        ("error", "warn"),
    )
    regex_flags: str = _option("a", "flags of patterns in Python's dialect; `a` makes \\d, \\w and \\s mean ASCII")
    limits: str = _option("", "bounds on the work of one compile: JSON of the fields of interlock.Limits")
    check: bool = _option(True, "whether the front end checks a source, so that a bad one is a 400 at once")
    deadline: float = _option(10.0, "seconds after which a compile or a check is given up")
    budget: bool = _option(True, "whether max_tokens of the request bounds the output so that it is complete")
    warm_up_ms: float = _option(5.0, "milliseconds of masks made in the background after a compile; 0 for none")
    jump_forward: bool = _option(True, "whether forced tokens are added to the drafts of speculative decoding")
    canonical: str = _option(
        "auto",
        "whether the tokenizer's own token alone is allowed where bytes are forced, so that every such draft holds: "
        "1, 0, or auto, which is 1 with jump-forward",
        ("auto", "1", "0"),
    )
    forbid_markup: bool = _option(
        True, "whether added tokens that look like markup, such as </think>, are kept out of text as special ones are"
    )
    role_tokens: str = _option(
        "refuse",
        "whether structural tags and grammars of requests may name tokens of roles, such as <|im_start|>",
        ("refuse", "allow"),
    )
    threads: int = _option(0, "threads that fill the masks of a batch; 0 for interlock's own default")
    index_cache_mb: int = _option(64, "megabytes of compiled sources kept to be found again")
    mask_cache_mb: int = _option(256, "megabytes of masks kept for the sources to come")
    cache_dir: str = _option("", "folder for vocabularies; by default interlock/vocabularies in the user's cache")
    metrics: bool = _option(True, "whether numbers appear in vLLM's /metrics")

    def __post_init__(self) -> None:
        for option in fields(self):
            value, choices = getattr(self, option.name), option.metadata["choices"]
            if choices and value not in choices:
                raise ArgumentError(f"{PREFIX}{option.name.upper()} must be one of {', '.join(choices)}, not {value!r}")
            if isinstance(value, int | float) and not isinstance(value, bool) and value < 0:
                raise ArgumentError(f"{PREFIX}{option.name.upper()} must not be negative, but is {value}")
        if self.deadline == 0:
            raise ArgumentError(f"{PREFIX}DEADLINE must be more than 0 seconds")
        self.limits_of_compile()

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Options:
        """The options in an environment. ``ArgumentError`` for a variable with the prefix that is no option, or for a
        value that cannot be one.
        """
        known = {PREFIX + option.name.upper(): option for option in fields(cls)}
        given: dict[str, Any] = {}
        for name, text in environment.items():
            if not name.startswith(PREFIX) or name == STATE_VARIABLE:
                continue
            if name not in known:
                raise ArgumentError(f"{name} is no option of interlock; there are {', '.join(sorted(known))}")
            option = known[name]
            given[option.name] = _parsed(name, text, type(option.default))
        return cls(**given)

    def limits_of_compile(self) -> Limits | None:
        """The `Limits` that the option names; None for interlock's own."""
        if not self.limits.strip():
            return None
        try:
            values = json.loads(self.limits)
            return Limits(**values)
        except (ValueError, TypeError) as error:
            raise ArgumentError(f"{PREFIX}LIMITS must be JSON of the fields of interlock.Limits: {error}") from None

    def cache_folder(self) -> Path:
        """The folder for vocabularies."""
        if self.cache_dir:
            return Path(self.cache_dir).expanduser()
        base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
        return Path(base).expanduser() / "interlock" / "vocabularies"


STATE_VARIABLE = PREFIX + "STATE_DIR"
"""Set by the plug-in for the processes that it starts, and by nobody else: where they put their numbers."""


def _parsed(name: str, text: str, kind: type) -> Any:
    if kind is str:
        return text
    if kind is bool:
        word = text.strip().lower()
        if word in ("1", "true", "on", "yes"):
            return True
        if word in ("0", "false", "off", "no", ""):
            return False
        raise ArgumentError(f"{name} must be 1 or 0, not {text!r}")
    try:
        return kind(text)
    except ValueError:
        raise ArgumentError(f"{name} must be a number, not {text!r}") from None


def set_in(environment: Mapping[str, str]) -> list[str]:
    """The variables with the prefix that an operator set, whether they are options or not."""
    return sorted(name for name in environment if name.startswith(PREFIX) and name != STATE_VARIABLE)


_current: Options | None = None


def current() -> Options:
    """The options of this process, read from its environment once."""
    global _current
    if _current is None:
        _current = Options.from_environment(os.environ)
    return _current
