"""Methods of ``Index`` that are written in Python: compiling a Python type, and drawing.

What they need is imported when they are called, so that a server which never draws does not load it.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, Literal

from interlock._core import Index, InterlockError, Vocabulary
from interlock.argument_types import require

if TYPE_CHECKING:
    from interlock._core import CancelToken
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


def from_structural_tag(
    cls: type[Index],
    /,
    tag: Any,
    vocabulary: Vocabulary,
    closed: bool = False,
    limits: Any = None,
    cancel: CancelToken | None = None,
) -> Index:
    """Compile a structural tag: what a whole output looks like, with text, reasoning, tags and tool calls in it.

    ``tag`` is its JSON object, in the dialect of XGrammar with interlock's additions, or a ``spec.StructuralTag``.
    docs/formats.md says what each format accepts. ``closed`` reads object schemas without ``additionalProperties`` as
    closed, as XGrammar does by default.

    ``StructuralTagError`` for a tag that is not well formed and ``UnsupportedError`` for what cannot be enforced
    exactly, both with the place as JSON Pointer; ``UnsatisfiableError``, ``SchemaError``, ``VocabularyError`` and
    ``LimitError`` as in ``from_grammar`` and ``from_json_schema``. Linear in the size of the tag.

    >>> import interlock
    >>> vocabulary = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[256])
    >>> tag = {"type": "tag", "begin": "<n>", "content": {"type": "regex", "pattern": "[0-9]"}, "end": "</n>"}
    >>> interlock.Index.from_structural_tag(tag, vocabulary).guide().forced_text()
    '<n>'
    """
    from interlock.tools.tag_index import index_of_structural_tag

    require(vocabulary=(vocabulary, "vocabulary"), closed=(closed, "flag"), cancel=(cancel, "cancel?"))

    return index_of_structural_tag(tag, vocabulary, closed=closed, limits=limits, cancel=cancel)


def from_tools(
    cls: type[Index],
    /,
    tools: Any,
    vocabulary: Vocabulary,
    *,
    format: Any = "auto",
    tokenizer: Any = None,
    tool_choice: Any = "auto",
    parallel: bool = True,
    reasoning: Literal["none", "optional", "required"] = "none",
    reasoning_is_open: bool | None = None,
    strict: bool | None = None,
    min_calls: int = 0,
    max_calls: int | None = None,
    unique: bool = False,
    closed: bool = False,
    limits: Any = None,
    cancel: CancelToken | None = None,
) -> Index:
    """Compile the tools of a request: everything that a model may write in one turn, in its family's notation.

    ``format`` (a name, a file, or ``"auto"`` with ``tokenizer``), ``tool_choice``, ``parallel``, ``reasoning``,
    ``reasoning_is_open``, ``strict``, ``min_calls``, ``max_calls`` and ``unique`` are those of
    ``interlock.tools.structural_tag``; ``closed`` is that of ``from_structural_tag``.

    ``StructuralTagError`` and ``ToolFormatError`` for a request that makes no sense, and the errors of
    ``from_structural_tag``. Linear in the number of tools.

    >>> import interlock
    >>> vocabulary = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[256])
    >>> index = interlock.Index.from_tools([{"name": "now"}], vocabulary, format="glm_4_7", tool_choice="required")
    >>> index.guide().forced_text()
    '<tool_call>now<'
    """
    from interlock.tools.tag_index import index_of_tools

    require(vocabulary=(vocabulary, "vocabulary"), closed=(closed, "flag"), cancel=(cancel, "cancel?"))

    request = {
        "format": format,
        "tokenizer": tokenizer,
        "tool_choice": tool_choice,
        "parallel": parallel,
        "reasoning": reasoning,
        "reasoning_is_open": reasoning_is_open,
        "strict": strict,
        "min_calls": min_calls,
        "max_calls": max_calls,
        "unique": unique,
    }
    return index_of_tools(tools, vocabulary, closed=closed, limits=limits, cancel=cancel, **request)


def from_response_format(
    cls: type[Index],
    /,
    value: Any,
    vocabulary: Vocabulary,
    *,
    limits: Any = None,
    cancel: CancelToken | None = None,
    **options: Any,
) -> Index:
    """Compile a ``response_format``, or a server's own fields, in every shape that clients send.

    ``interlock.tools.response_format`` lists the shapes. ``options`` are those of ``from_json_schema``, for JSON.
    ``StructuralTagError`` names by JSON Pointer what is not known; errors of the source itself are those of the
    method that suits it.

    >>> import interlock
    >>> vocabulary = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[256])
    >>> index = interlock.Index.from_response_format({"guided_choice": ["yes"]}, vocabulary)
    >>> index.guide().forced_text()
    'yes'
    """
    from interlock.tools.tag_index import index_of_response_format

    require(vocabulary=(vocabulary, "vocabulary"), cancel=(cancel, "cancel?"))

    return index_of_response_format(value, vocabulary, limits=limits, cancel=cancel, **options)


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
    methods = {
        "from_type": classmethod(from_type),
        "from_structural_tag": classmethod(from_structural_tag),
        "from_tools": classmethod(from_tools),
        "from_response_format": classmethod(from_response_format),
        "draw": draw,
        "_repr_html_": _repr_html_,
    }
    for name, method in methods.items():
        function: Any = method.__func__ if isinstance(method, classmethod) else method
        function.__qualname__ = f"Index.{name}"
        setattr(Index, name, method)
