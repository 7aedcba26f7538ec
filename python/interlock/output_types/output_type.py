"""An output type: what is compiled to masks, and how the finished text becomes a Python value."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from interlock._core import ArgumentError, Index, Vocabulary
from interlock.output_types.type_options import check_compile_options

if TYPE_CHECKING:
    from interlock.budget_cuts import Guided

__all__ = ["Kind", "OutputType", "is_free_text"]

T = TypeVar("T")

_FREE_TEXT = "(?s:.*)"

Kind = Literal["json_schema", "regex", "choices", "grammar", "text", "index"]


@dataclass(frozen=True)
class OutputType(Generic[T]):
    """What a model may write, and what becomes of it. ``output_type_of`` makes one of any Python type.

    >>> from interlock.output_types import output_type_of
    >>> output_type_of(list[int]).parse("[1, 2]")
    [1, 2]
    """

    kind: Kind
    """``"json_schema"``, ``"regex"``, ``"choices"``, ``"grammar"``, ``"text"`` (anything) or ``"index"`` (compiled
    already)."""
    source: Any
    """The schema, the pattern, the tuple of choices, the ``Grammar``, ``None`` for text, or the index."""
    parse: Callable[[str], T] = field(repr=False)
    """Turns the finished text into the value. Raises ``InvalidOutputError`` where that cannot be."""
    name: str
    """What errors and servers call it."""
    whitespace: str = "spaced"
    """Whitespace of JSON: ``"spaced"`` (as ``json.dumps`` writes), ``"compact"``, ``"flexible"`` or a pattern."""
    is_checked: bool = False
    """Whether ``parse`` refuses every text that does not follow the schema, as pydantic does."""

    on_unsupported: Literal["error", "warn"] = "error"
    """What becomes of keywords of a schema that cannot be enforced, as in ``Index.from_json_schema``."""

    functions: tuple[Callable[..., Any], ...] = field(default=(), repr=False)
    """The functions that a call may name; none for other types."""

    stop: tuple[str, ...] = ()
    """Texts that free text ends before, as the option of a call says."""

    def index(self, vocabulary: Vocabulary, **options: Any) -> Index:
        """Compile this type for ``vocabulary``. ``options`` are those of the ``Index`` method that suits the kind
        (``whitespace``, ``property_order``, ``limits``, ``cancel`` and others), and so are the errors.

        ``ArgumentError`` for an index of another vocabulary, for options beside an index, and for an option that there
        is not.
        """
        if self.kind == "index":
            return self._given_index(vocabulary, options)
        check_compile_options(self.kind, options)
        if self.kind == "text":
            return Index.from_regex(_FREE_TEXT, vocabulary, **_shared(options))
        if self.kind == "regex":
            return Index.from_regex(self.source, vocabulary, **_shared(options, "dialect", "flags"))
        if self.kind == "choices":
            return Index.from_choices(list(self.source), vocabulary, **_shared(options))
        if self.kind == "grammar":
            made: Index = self.source.index(vocabulary, **_shared(options))
            return made
        options.setdefault("whitespace", self.whitespace)
        options.setdefault("spelling", "plain")
        if self.on_unsupported != "error":
            options.setdefault("on_unsupported", self.on_unsupported)
        return Index.from_json_schema(self.source, vocabulary, **options)

    def _given_index(self, vocabulary: Vocabulary, options: dict[str, Any]) -> Index:
        index: Index = self.source
        if options:
            raise ArgumentError(f"an index is compiled already: {', '.join(sorted(options))} cannot change it")
        if index.vocabulary != vocabulary:
            raise ArgumentError(
                "the index was compiled for another vocabulary than the model's: compile it with this generator's "
                "vocabulary"
            )
        return index

    @property
    def key(self) -> Hashable:
        """Equal for output types that are compiled to the same index with the same options."""
        if self.kind == "json_schema":
            return self.kind, json.dumps(self.source), self.whitespace, self.on_unsupported
        if self.kind == "index":
            return self.kind, self.source.fingerprint
        if self.kind == "grammar":
            return self.kind, self.source.key
        return self.kind, self.source


def is_free_text(index: Guided) -> bool:
    """Whether an index is that of ``str``, which permits any text."""
    return index.kind == "regex" and index.source == _FREE_TEXT


def _shared(options: dict[str, Any], *more: str) -> dict[str, Any]:
    """The options that all sources but schemas have: options of schemas mean nothing there and are left out."""
    return {name: value for name, value in options.items() if name in ("limits", "cancel", *more)}
