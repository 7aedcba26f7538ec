"""What an index was compiled from, to compile it again over bytes or with other options."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from interlock._core import Index, Vocabulary
from interlock.schema_hints import quiet

END = 256
OPTIONS: dict[str, list[str]] = {
    "from_json_schema": [
        "whitespace",
        "property_order",
        "on_unsupported",
        "formats",
        "documents",
        "limits",
        "spelling",
    ],
    "from_regex": ["dialect", "flags", "limits"],
    "from_choices": ["limits"],
    "from_grammar": ["syntax", "start", "lexer", "imports", "grammars", "limits"],
}


@cache
def byte_vocabulary() -> Vocabulary:
    """A vocabulary with a token for each byte: token ``i`` is the byte ``i``, token 256 ends an output."""
    return Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[END])


@dataclass(frozen=True)
class Recipe:
    """What an index was compiled from."""

    method: str
    source: Any
    options: dict[str, Any]

    @classmethod
    def of(cls, index: Index) -> Recipe:
        """The recipe of an index."""
        method, (source, _, *values) = json.loads(index._recipe())
        return cls(method, source, dict(zip(OPTIONS[method], values, strict=True)))

    @quiet()
    def compile(self, vocabulary: Vocabulary | None = None, **changed: Any) -> Index:
        """The index of this recipe, over bytes unless another vocabulary is named; ``changed`` replaces options."""
        make: Callable[..., Index] = getattr(Index, self.method)
        return make(self.source, vocabulary or byte_vocabulary(), **(self.options | changed))
