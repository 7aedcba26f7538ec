"""Methods of ``Index`` that are written in Python: compiling a Python type, and drawing.

What they need is imported when they are called, so that a server which never draws does not load it.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from interlock._core import Index, InterlockError, Vocabulary

if TYPE_CHECKING:
    from interlock.drawing import Drawing

__all__ = ["attach"]


def from_type(cls: type[Index], /, output_type: Any, vocabulary: Vocabulary, **options: Any) -> Index:
    """Compile a Python type: a class, ``list[int]``, ``Literal["a", "b"]``, an ``Enum``, a pattern, a list of
    choices, a JSON Schema. The same as ``interlock.index_from_type``.

    ``options`` are those of the method that suits the type (``whitespace``, ``property_order``, ``limits``,
    ``cancel`` and others). Objects of classes are closed, and JSON is written as ``json.dumps`` writes it.

    ``UnsupportedError`` for a type that JSON cannot hold, ``ArgumentError`` for what is no type, and the errors of
    the other methods. Milliseconds for a large class.

    >>> import interlock
    >>> vocabulary = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[256])
    >>> interlock.Index.from_type(list[bool], vocabulary).guide().forced_text()
    '['
    """
    from interlock.output_types import index_from_type

    return index_from_type(output_type, vocabulary, **options)


def draw(self: Index, form: str | None = None, title: str | None = None, max_states: int = 2000) -> Drawing:
    """A drawing of what this index was compiled from. A notebook shows it; ``save("order.html")`` writes it.

    ``form`` is ``"structure"`` (of JSON Schemas alone, and their default), ``"jumps"`` (the automaton over
    characters with forced runs as single edges) or ``"states"`` (all of its states). ``title`` stands above it.

    ``ArgumentError`` for a form that does not exist or does not fit. When it is drawn, an automaton of more than
    ``max_states`` states over bytes is a ``LimitError``. Milliseconds for a structure.

    >>> import interlock
    >>> vocabulary = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[256])
    >>> index = interlock.Index.from_json_schema({"properties": {"item": {"type": "string"}}}, vocabulary)
    >>> index.draw().mermaid().splitlines()[0]
    'flowchart LR'
    """
    from interlock.drawing import draw as drawn

    return drawn(self, form, title, max_states)


def _repr_html_(self: Index) -> str:
    """The drawing for a notebook, or a line of text where it is too large to be drawn."""
    try:
        return self.draw()._repr_html_()
    except InterlockError as error:
        return f"<pre>{escape(repr(self))}</pre><p>not drawn: {escape(str(error))}</p>"


def attach() -> None:
    """Make the functions of this file methods of ``Index``, as the stubs say."""
    methods = {"from_type": classmethod(from_type), "draw": draw, "_repr_html_": _repr_html_}
    for name, method in methods.items():
        function: Any = method.__func__ if isinstance(method, classmethod) else method
        function.__qualname__ = f"Index.{name}"
        setattr(Index, name, method)
