"""Methods of ``Index`` and ``Guide`` that are written in Python: compiling a Python type, events, drawing.

What they need is imported when they are called, so that a server which never draws does not load it.
"""

from __future__ import annotations

from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any, Literal

from interlock import _core
from interlock._core import Guide, Index, InterlockError, Vocabulary
from interlock.core_methods import index_files
from interlock.schema_hints import handling
from interlock.util.argument_types import require

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from interlock._core import CancelToken
    from interlock.drawing import Drawing
    from interlock.events import Event

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
    allowed_tokens: Iterable[int | str] | Literal["all"] | None = None,
    whitespace: Literal["flexible", "compact"] = "flexible",
    spelling: Literal["any", "plain"] = "any",
) -> Index:
    """Compile a structural tag: what a whole output looks like, with text, reasoning, tags and tool calls in it.

    ``tag`` is its JSON object, in the dialect of XGrammar with interlock's additions, or a ``spec.StructuralTag``.
    docs/formats.md says what each format accepts. ``closed`` reads object schemas without ``additionalProperties`` as
    closed, as XGrammar does by default. ``allowed_tokens`` are the special tokens that the tag may name, by id or text,
    and "any other token" is one of these; ``None`` is all, for tags that you write. Where clients write them, use
    ``from_response_format``, which keeps the tokens of roles out.
    ``whitespace`` and ``spelling`` say how JSON is written where the tag does not, as in ``from_tools``.

    ``StructuralTagError`` for a tag that is not well formed and ``UnsupportedError`` for what cannot be enforced
    exactly, both with the place as JSON Pointer; ``UnsatisfiableError``, ``SchemaError``, ``VocabularyError`` and
    ``LimitError`` as in ``from_grammar`` and ``from_json_schema``. Linear in the size of the tag.

    >>> import interlock
    >>> vocabulary = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[256])
    >>> tag = {"type": "tag", "begin": "<n>", "content": {"type": "regex", "pattern": "[0-9]"}, "end": "</n>"}
    >>> interlock.Index.from_structural_tag(tag, vocabulary).guide().forced_text()
    '<n>'
    """
    from interlock.tools.notations.json_writing import json_writing
    from interlock.tools.tags.tag_index import index_of_structural_tag

    require(vocabulary=(vocabulary, "vocabulary"), closed=(closed, "flag"), cancel=(cancel, "cancel?"))

    more = {"allowed_tokens": allowed_tokens, "limits": limits, "cancel": cancel}
    json = json_writing(whitespace, spelling)
    return index_of_structural_tag(tag, vocabulary, closed=closed, json=json, **more)


def from_tools(
    cls: type[Index],
    /,
    tools: Any,
    vocabulary: Vocabulary,
    *,
    format: Any = "auto",
    tokenizer: Any = None,
    tool_choice: Any = "auto",
    parallel: bool | None = True,
    reasoning: Literal["none", "optional", "required"] = "none",
    reasoning_is_open: bool | None = None,
    max_reasoning_tokens: int | None = None,
    strict: bool | None = None,
    min_calls: int = 0,
    max_calls: int | None = None,
    unique: bool = False,
    closed: bool = False,
    allowed_tokens: Iterable[int | str] | Literal["all"] | None = None,
    limits: Any = None,
    cancel: CancelToken | None = None,
    unknown_keywords: Literal["warn", "ignore", "error"] = "warn",
    response_format: Any = None,
    whitespace: Literal["flexible", "compact"] = "flexible",
    spelling: Literal["any", "plain"] = "any",
    regex_flags: str = "",
) -> Index:
    """Compile the tools of a request: everything that a model may write in one turn, in its family's notation.

    ``format`` (a name, a file, a response template, or ``"auto"`` with ``tokenizer``), ``tool_choice``,
    ``parallel``, ``reasoning``, ``reasoning_is_open``, ``max_reasoning_tokens``, ``strict``, ``min_calls``,
    ``max_calls`` and ``unique`` are those of ``interlock.tools.structural_tag``; ``closed`` is that of
    ``from_structural_tag``.
    ``allowed_tokens`` are the special tokens that grammars of custom tools may name, by id or text: without it all
    but those of roles, such as ``<|im_start|>``, and with ``"all"`` every one. What the tool format itself writes needs
    no leave.
    ``unknown_keywords`` is about the parameters of tools, as in ``from_response_format``; of more than 64 tools nothing
    is said unless it is ``"error"``.
    ``response_format`` is that of a request which has both: with ``tool_choice="auto"`` the model calls tools, or
    what it writes is of the format; with ``"none"`` the format alone counts, and with ``"required"`` the tools
    alone. JSON in it is written as in structural tags.
    ``whitespace`` and ``spelling`` say how JSON is written, in arguments and in the ``response_format``:
    ``"flexible"`` allows any blanks and ``"compact"`` none; ``"any"`` allows all escapes and ``"plain"`` those that
    JSON cannot do without. ``regex_flags`` is that of ``from_response_format``.

    ``RequestError`` and ``ToolFormatError`` for a request that makes no sense, and the errors of
    ``from_structural_tag``. Linear in the number of tools.

    >>> import interlock
    >>> vocabulary = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[256])
    >>> index = interlock.Index.from_tools([{"name": "now"}], vocabulary, format="glm_4_7", tool_choice="required")
    >>> index.guide().forced_text()
    '<tool_call>now'
    """
    from interlock.tools.tags.tag_index import index_of_tools

    require(vocabulary=(vocabulary, "vocabulary"), closed=(closed, "flag"), cancel=(cancel, "cancel?"))

    request = {
        "format": format,
        "tokenizer": tokenizer,
        "tool_choice": tool_choice,
        "parallel": parallel,
        "reasoning": reasoning,
        "reasoning_is_open": reasoning_is_open,
        "max_reasoning_tokens": max_reasoning_tokens,
        "strict": strict,
        "min_calls": min_calls,
        "max_calls": max_calls,
        "unique": unique,
        "response_format": response_format,
    }
    more = {"allowed_tokens": allowed_tokens, "limits": limits, "cancel": cancel}
    written = {"whitespace": whitespace, "spelling": spelling, "regex_flags": regex_flags}
    with handling(unknown_keywords):
        return index_of_tools(tools, vocabulary, closed=closed, **more, **written, **request)


def from_response_format(
    cls: type[Index],
    /,
    value: Any,
    vocabulary: Vocabulary,
    *,
    allowed_tokens: Iterable[int | str] | Literal["all"] | None = None,
    limits: Any = None,
    cancel: CancelToken | None = None,
    unknown_keywords: Literal["warn", "ignore", "error"] = "warn",
    regex_flags: str = "",
    **options: Any,
) -> Index:
    """Compile a ``response_format``, or a server's own fields, in every shape that clients send.

    ``interlock.tools.response_format`` lists the shapes. ``options`` are those of ``from_json_schema``, for JSON.
    A structural tag that does not say how its JSON is written has their ``whitespace`` and ``spelling``: these are
    ``"flexible"`` or ``"compact"``, and ``"any"`` or ``"plain"``. Other values are ``ArgumentError`` with a tag.
    ``allowed_tokens`` are the special tokens that structural tags and grammars may name, by id or text: without it all
    but those of roles, such as ``<|im_start|>``, with which a client could have a model write somebody else's turn;
    with ``"all"`` every one.
    ``unknown_keywords`` says what becomes of keywords of JSON Schemas that look like slips: ``"warn"`` is an
    ``UnknownKeywordWarning`` at the line of the program, ``"ignore"`` nothing, and ``"error"`` a ``SchemaError`` with
    the place. So it is with POSIX classes in patterns (``[[:alpha:]]``): ``PosixClassWarning``, nothing, or a
    ``SchemaError``, which is a ``PatternError`` where the pattern stands in no schema.
    ``regex_flags`` are the flags of a pattern (``guided_regex`` and its like), letters of Python's: ``"a"`` makes
    ``\\d``, ``\\w`` and ``\\s`` ASCII. Patterns in schemas, grammars and structural tags have none.
    ``{"type": "text"}`` and ``None`` make an index that allows every text: a server saves its masks by asking
    ``interlock.tools.request_kind(value) == "text"`` first.

    ``RequestError`` names by JSON Pointer what is not known, ``SchemaError`` what should be a schema and is none,
    ``LimitError`` says that a value is nested too deeply. Errors of the source itself are those of the method that
    suits it.

    >>> import interlock
    >>> vocabulary = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[256])
    >>> index = interlock.Index.from_response_format({"guided_choice": ["yes"]}, vocabulary)
    >>> index.guide().forced_text()
    'yes'
    """
    from interlock.tools.tags.tag_index import index_of_response_format

    require(vocabulary=(vocabulary, "vocabulary"), cancel=(cancel, "cancel?"))

    more = {"allowed_tokens": allowed_tokens, "limits": limits, "cancel": cancel}
    with handling(unknown_keywords):
        return index_of_response_format(value, vocabulary, regex_flags=regex_flags, **more, **options)


def draw(
    self: Index,
    form: str | None = None,
    title: str | None = None,
    max_states: int = 2000,
    everything: bool = False,
) -> Drawing:
    """A drawing of what this index was compiled from. A notebook shows it; ``save("order.html")`` writes it.

    ``form`` is ``"structure"`` (of JSON Schemas alone, and their default), ``"jumps"`` (the automaton over
    characters with forced runs as single edges) or ``"states"`` (all of its states). ``title`` stands above it.

    ``ArgumentError`` for a form that does not exist or does not fit. When it is drawn, an automaton of more than
    ``max_states`` states over bytes is a ``LimitError``. ``everything`` draws every box, row and value of a
    structure, and not the first ones alone. Milliseconds for a structure.

    >>> import interlock
    >>> vocabulary = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[256])
    >>> index = interlock.Index.from_json_schema({"properties": {"item": {"type": "string"}}}, vocabulary)
    >>> index.draw().mermaid().splitlines()[0]
    'flowchart LR'
    """
    from interlock.drawing import draw as drawn

    return drawn(self, form, title, max_states, everything)


def _repr_html_(self: Index) -> str:
    """The drawing for a notebook, or a line of text where it is too large to be drawn."""
    try:
        return self.draw()._repr_html_()
    except InterlockError as error:
        return f"<pre>{escape(repr(self))}</pre><p>not drawn: {escape(str(error))}</p>"


def parse(self: Index, output: bytes | str | Sequence[int], partial: bool = False) -> list[Event]:
    """The events of an output: its text, its reasoning, its tool calls with their arguments, its captures.

    ``output`` is the text, or tokens. In a text the names of special tokens that may come are these tokens. An output
    that is not whole is ``TokenRejected``, unless ``partial``: then the events are those that are certain so far.

    ``TokenRejected`` where the output is not one of this index, with the place. ``UnsupportedError`` where it can be
    read in too many ways. Linear in the length.

    >>> import interlock
    >>> vocabulary = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[256])
    >>> index = interlock.Index.from_tools([{"name": "now"}], vocabulary, format="glm_4_7")
    >>> for event in index.parse("Well.<tool_call>now</tool_call>"):
    ...     print(event)
    Text(text='Well.')
    CallBegun(call=0)
    NameKnown(call=0, name='now')
    CallEnded(number=0, call=Call(name='now', arguments={}, id=''))
    End()
    """
    from interlock.events import parse_output

    require(output=(output, "output"), partial=(partial, "flag"))
    return parse_output(self, output, partial)


def events(self: Guide) -> list[Event]:
    """What became certain of the output since the last call, as objects of ``interlock.events``.

    Text and arguments come in pieces. After a rollback the first event is ``TakenBack``, with the number of events
    that are void, if there are any. A fork goes on behind the events that were given, and from there each has its
    own: where you keep an ``EventHistory``, copy it with the guide.

    The first call reads all tokens so far, each later one those since; about a microsecond a token.
    ``UnsupportedError`` where the output can be read in too many ways.

    >>> import interlock
    >>> vocabulary = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[256])
    >>> grammar = 'start: "x=" number ";"\\nnumber[capture]: /[0-9]+/'
    >>> guide = interlock.Index.from_grammar(grammar, vocabulary).guide()
    >>> guide.advance_many(list(b"x=17;"))
    5
    >>> guide.events()
    [Captured(name='number', data=b'17')]
    >>> guide.rollback(2)
    >>> guide.events()
    [TakenBack(count=1)]
    """
    from interlock.events import events_of

    return events_of(self)


def force(self: Guide, text: bytes | str | Iterable[int | bytes | str]) -> None:
    """Make ``text`` what must come next: the result of a tool, say. Behind it the output goes on where it stood.

    ``text`` is a text, or a list of texts and token ids. Texts are spelled as the tokenizer spells them (by the fewest
    tokens where its kind is not known), and never by special tokens, whatever they say: give those by their ids. A stop
    token among them ends nothing. Until it is taken, masks allow its next token alone, and ``forced_tokens`` is what is
    left of it. It may come anywhere, costs nothing of ``max_tokens``, and is no part of what the index accepts. Going
    back before this place drops it.

    ``ArgumentError``, and nothing changes, if the text cannot be spelled, a token does not exist, or the output has
    ended.

    >>> import interlock
    >>> vocabulary = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[256])
    >>> guide = interlock.Index.from_regex("[a-z]+", vocabulary).guide()
    >>> guide.advance(ord("a"))
    >>> guide.force("42")
    >>> guide.forced_text()
    '42'
    >>> guide.advance_many(list(b"42b"))
    3
    """
    require(text=(text, "texts"))
    parts = [text] if isinstance(text, bytes | str) else list(text)
    _core._force(self, [part.encode() if isinstance(part, str) else part for part in parts])


def was_cut_by_budget(self: Guide, *, including_end: bool = True) -> bool:
    """Whether the budget, ``max_tokens`` of ``Index.guide``, decided how the tokens so far went on, so that an output
    may be shorter than the model would have written. A guide ends an output in time by itself, so its stop token
    alone tells nothing.

    True where at one place at least half of the characters that the index permits there were forbidden, because what
    follows them had no room: a string in JSON that had to be closed, reasoning that had to end. Whether the model
    wanted one of those is not asked. A place where the output may end anyway is none.

    With ``including_end`` also true where the budget let nothing but the end follow, and the index would have: a text
    that stops where the tokens do, whether its stop token has come or not. ``False`` leaves that out, for outputs
    that end with whole tool calls.

    False without a budget, and for an output that your server ended itself before its budget was used up. Tokens
    behind a text of ``force`` are not looked at.

    Makes two masks a token once more: some microseconds where they are known, milliseconds where the budget is nearly
    spent. That is tens of milliseconds for an output of some hundred tokens, half a second or seconds for a large
    schema or a long output. So ask at the end, and in a thread of its own where an event loop must go on. The first
    call with a vocabulary takes some hundredths of a second more.

    >>> import interlock
    >>> vocabulary = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[256])
    >>> guide = interlock.Index.from_regex("a+", vocabulary).guide(max_tokens=3)
    >>> guide.advance_many(list(b"aa")), guide.was_cut_by_budget()
    (2, False)
    >>> guide.advance_many([97, 256]), guide.was_cut_by_budget()
    (2, True)
    """
    from interlock.budget_cuts import cached_first_bytes, has_budget_cut

    require(including_end=(including_end, "flag"))
    max_tokens = self.__reduce__()[1][3]
    if max_tokens is None:
        return False
    # The stop tokens of a request may be text to the index.
    tokens = self.tokens[:-1] if self.is_terminated else self.tokens
    first_bytes = partial(cached_first_bytes, self.index.vocabulary)
    return has_budget_cut(self.index, tokens, max_tokens, first_bytes, including_end)


def attach() -> None:
    """Make the functions of this file methods of ``Index`` and ``Guide``, as the stubs say."""
    methods = {
        "from_type": classmethod(from_type),
        "from_structural_tag": classmethod(from_structural_tag),
        "from_tools": classmethod(from_tools),
        "from_response_format": classmethod(from_response_format),
        "parse": parse,
        "save": index_files.save,
        "load": classmethod(index_files.load),
        "draw": draw,
        "_repr_html_": _repr_html_,
    }
    for name, method in methods.items():
        function: Any = method.__func__ if isinstance(method, classmethod) else method
        function.__qualname__ = f"Index.{name}"
        setattr(Index, name, method)
    for name, function in {"events": events, "force": force, "was_cut_by_budget": was_cut_by_budget}.items():
        function.__qualname__ = f"Guide.{name}"
        setattr(Guide, name, function)
