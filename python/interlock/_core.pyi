"""The native part of interlock. Import it through the package, which leaves out what only its own modules call."""

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, Never, SupportsIndex, final

import numpy as np
import numpy.typing as npt

from interlock.drawing import Drawing
from interlock.events import Event

__version__: str
_sources: str

class InterlockError(Exception):
    """The root of all errors that interlock raises."""

    place: str
    """Where in the source, in words; ``""`` where there is no place."""
    offset: int | None
    """Characters into a pattern, or bytes into the text of a schema or a grammar."""
    line: int | None
    """The line of a syntax error, counted from one; of a pattern in a schema, in the pattern."""
    column: int | None
    """The character in that line, counted from one."""
    excerpt: str | None
    """The line and a caret under the place, as the message shows them."""
    pointer: str | None
    """JSON Pointer into a schema."""
    keyword: str | None
    """The keyword at fault."""
    limit: int | None
    """The limit that was exceeded."""
    value: int | None
    """What exceeded the limit."""
    field: str | None
    """The field of `Limits` that sets the limit; ``None`` where nobody may set it."""
    hint: str | None
    """What the program that calls can do, in names of this package; the message ends with it."""
    code: str | None
    """Which fault it is, in one fixed word such as ``backreference``, where a caller can do something about it."""
    subject: str | None
    """The name that a fault with a `code` is about, such as that of a rule; ``None`` where there is none."""
    batch_index: int | None
    """Of a call that takes a batch of guides: the number of the guide at fault, counted from zero."""
    batch_others: tuple[InterlockError, ...]
    """Of such a call: the errors of the other guides that failed in it, each with its `batch_index`."""
    batch_late: tuple[int, ...]
    """Of `fill_bitmasks_within`: the numbers of the guides whose masks are late."""
    batch_outcomes: bytes | None
    """Of ``advance_each``: its answer for all guides, with 0 for those that failed."""

    @property
    def is_client_error(self) -> bool:
        """Whether what a client sent is at fault, so that a server answers 400. Otherwise it answers 500, 504 for a
        ``CancelledError`` whose deadline has passed, and 503 where ``code`` is ``"too_little_memory"`` or ``"closed"``.

        >>> import interlock
        >>> interlock.SchemaError("no schema").is_client_error, interlock.ArtifactError("no store").is_client_error
        (True, False)
        """

    @property
    def client_message(self) -> str:
        """The message without ``hint``: what is wrong and where, in words of the source. Servers may send it to
        clients. At most about a thousand characters; control characters are escaped, but for line ends. Of an error in
        files, in the vocabulary or in the set-up of the server it is ``"internal error of the server"``. Of a pattern
        that cannot be read it says what to write instead, as the message does.
        """

    @property
    def client_line(self) -> str:
        """``client_message`` in one line, without the excerpt of a pattern or grammar that it may show below: for logs.

        >>> import interlock
        >>> try:
        ...     interlock.check_regex("a(b")
        ... except interlock.PatternError as error:
        ...     print(error.client_line)
        missing ), unterminated subpattern (at offset 1)
        """

class PatternError(InterlockError, ValueError):
    """A pattern is not well formed; `offset` says where."""

class SchemaError(InterlockError, ValueError):
    """A schema is not well formed; `pointer` and `keyword` say where."""

class UnsupportedError(InterlockError, ValueError):
    """The source means something that cannot be enforced exactly."""

class UnsatisfiableError(InterlockError, ValueError):
    """The source accepts nothing that this vocabulary can spell."""

class GrammarError(InterlockError, ValueError):
    """A grammar is not well formed; `offset` says where, in bytes of its text."""

class LimitError(InterlockError, ValueError):
    """A compile, a question about a language, or the masks of a grammar, need more work than a limit allows: `value`
    exceeds `limit`. `field` names the field of `Limits` that sets it, or is None where nobody may. A guide that raised
    it at a mask raises it from then on.
    """

class BudgetError(InterlockError, ValueError):
    """A token budget is too small for any output: `limit` is `max_tokens`, `value` the tokens that one needs. Where
    finding that would take long, `value` is the fewest tokens known to do, and the message says so. Both are None where
    no output was found that is short enough to be counted.
    """

class TokenRejected(InterlockError, ValueError):
    """A token is not allowed here; the guide is unchanged."""

class VocabularyError(InterlockError, ValueError):
    """A vocabulary is not usable, or does not belong to this index."""

class ArtifactError(InterlockError, ValueError):
    """A stored artifact cannot be used."""

class ArgumentError(InterlockError, ValueError):
    """An argument has the wrong shape, type or range; nothing was written."""

class GuideBusyError(InterlockError, ValueError):
    """One guide was used by two threads at once, or twice in one batch."""

class CancelledError(InterlockError):
    """The work was cancelled; nothing of it is left."""

    @property
    def is_deadline(self) -> bool:
        """Whether a deadline of ``CancelToken.after`` has passed. Otherwise somebody called ``CancelToken.cancel``.

        >>> import interlock
        >>> try:
        ...     interlock.check_regex("a", cancel=interlock.CancelToken.after(0))
        ... except interlock.CancelledError as error:
        ...     print(error.is_deadline)
        True
        """

class InternalError(InterlockError):
    """A bug in interlock; please report it."""

@final
class CancelToken:
    """A flag that ends what is being compiled or built, from another thread or at a deadline.

    Pass it as ``cancel`` and call its ``cancel()``: the work ends with ``CancelledError`` within a fraction of a
    second, and nothing of it is left. ``CancelToken.after(2.5)`` cancels itself 2.5 seconds after it was made.
    Cancelling has no effect on work that has ended. A token stays cancelled.
    """

    def __new__(cls, *args: Never) -> CancelToken: ...
    @staticmethod
    def after(seconds: float) -> CancelToken:
        """A token that cancels itself ``seconds`` after now. The clock starts here, so make one for each request. Its
        ``cancel()`` ends the work earlier. ``ArgumentError`` if ``seconds`` is negative or no number of seconds that a
        clock can count.

        >>> import interlock
        >>> interlock.CancelToken.after(30).is_cancelled
        False
        """

    def cancel(self) -> None:
        """End the work that this token was passed to, and whatever it will be passed to."""

    @property
    def is_cancelled(self) -> bool:
        """Whether ``cancel()`` was called, or the deadline has passed."""

@final
class Vocabulary:
    """The bytes of every token, which ids end an output, and the width of the logits.

    ``tokens[i]`` are the bytes of token ``i``; ``b""`` means that it has no text. ``special_token_ids`` never spell
    text: no guide allows ``<|im_start|>`` inside a string that happens to permit these characters. ``size`` is the
    width of the logits, padding included; by default as many as there are tokens. ``VocabularyError`` if there are no
    tokens, no stop ids, an id outside the logits, or a token of more than 65,535 bytes.

    Immutable, shared freely between threads, and cheap to share between indexes.
    """

    def __new__(
        cls,
        tokens: Iterable[bytes],
        eos_token_ids: SupportsIndex | Iterable[SupportsIndex],
        special_token_ids: SupportsIndex | Iterable[SupportsIndex] | None = None,
        size: int | None = None,
    ) -> Vocabulary: ...
    @classmethod
    def from_tokenizer(
        cls,
        tokenizer: Any,
        eos_token_ids: SupportsIndex | Iterable[SupportsIndex] | None = None,
        size: int | None = None,
        special_token_ids: SupportsIndex | Iterable[SupportsIndex] | None = None,
    ) -> Vocabulary:
        """The vocabulary of a tokenizer: transformers (fast or slow), ``tokenizers.Tokenizer``, ``tiktoken.Encoding``,
        sentencepiece or mistral_common.

        ``eos_token_ids`` replaces the stop tokens that the tokenizer names. ``size`` is the width of the logits where
        the model pads them. ``special_token_ids`` are tokens that never spell text, beside those that the tokenizer
        marks as special. By default they are its added tokens that look like markup (``</think>``) or stand in its chat
        template: a string that held one could end reasoning or begin a call. Give ``()`` for none, and more where a
        parser of the server looks for others. Forced tokens stay those that the tokenizer makes.

        ``VocabularyError`` if the tokenizer's tokens cannot be read, nothing names a stop token, or an id lies outside
        the logits; ``UnsupportedError`` if a token has no bytes of its own in it. Each of the ids may be one integer or
        several.
        """

    @classmethod
    def from_file(
        cls,
        path: str | os.PathLike[str],
        eos_token_ids: SupportsIndex | Iterable[SupportsIndex] | None = None,
        size: int | None = None,
        special_token_ids: SupportsIndex | Iterable[SupportsIndex] | None = None,
    ) -> Vocabulary:
        """The vocabulary in a file: ``tokenizer.json``, tiktoken's format, a sentencepiece model, ``tekken.json`` or
        GGUF. ``path`` may be the folder that holds the file; a ``tokenizer.json`` is read first there.

        Stop ids are ``eos_token_ids``, or those that the configuration beside the file or the file names. ``size`` and
        ``special_token_ids`` are as for ``from_tokenizer``; the markup is that of a ``tokenizer.json``, and the chat
        templates are those beside it. ``VocabularyError`` if the file cannot be read or is malformed, no stop id is
        found, or an id lies outside the logits; ``UnsupportedError`` if a token has no bytes of its own in its
        tokenizer. Some tenths of a second for 128,000 tokens.
        """

    @property
    def size(self) -> int:
        """The width of the logits, padding included."""

    @property
    def eos_token_ids(self) -> list[int]:
        """The ids that end an output, ascending."""

    @property
    def special_token_ids(self) -> list[int]:
        """The ids that never spell text, ascending, as they were given."""

    @property
    def knows_tokenizer(self) -> bool:
        """Whether it is known how the tokenizer encodes. Without that ``Guide.forced_tokens`` has no token of text: a
        vocabulary that was made of bytes has no tokenizer, and not every tokenizer is of a known kind.
        """

    @property
    def fingerprint(self) -> str:
        """64 hexadecimal digits, equal for vocabularies that make the same masks. How a tokenizer encodes is not part
        of it.
        """

    @property
    def memory_bytes(self) -> int:
        """Bytes of this process's memory that the tables occupy; what is mapped does not count."""

    def token_bytes(self, id: SupportsIndex) -> bytes:
        """The bytes of one token, of a special one too; ``b""`` for padding. ``VocabularyError`` if the id is out of
        range.
        """

    def decode(self, ids: Iterable[SupportsIndex], skip_special_tokens: bool = True) -> bytes:
        """The bytes that ``ids`` spell one after the other. ``VocabularyError`` if an id is out of range.

        Special and stop tokens spell nothing, unless ``skip_special_tokens`` is ``False``: then each is written as its
        name, the bytes of ``token_bytes``.

        >>> import interlock
        >>> tokens = [b"a", b"<|call|>", b"<|end|>"]
        >>> vocabulary = interlock.Vocabulary(tokens, eos_token_ids=[2], special_token_ids=[1])
        >>> vocabulary.decode([1, 0, 2]), vocabulary.decode([1, 0, 2], skip_special_tokens=False)
        (b'a', b'<|call|>a<|end|>')
        """

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write this vocabulary, and how its tokenizer encodes, to a file that ``load`` maps: as a whole or not at all.
        ``ArtifactError`` if it cannot be written.
        """

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Vocabulary:
        """The vocabulary in a file that ``save`` wrote with this version; ``ArtifactError`` otherwise.

        The file is mapped, not read: processes that load one file share its memory. Never change such a file in place;
        ``save`` replaces it, which leaves those who mapped the old one undisturbed.
        """

    def __len__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __copy__(self) -> Vocabulary: ...
    def __deepcopy__(self, _memo: dict[int, Any]) -> Vocabulary: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Limits:
    """Bounds on the work of one compile, each a number of things and never a time. What is found in a cache, because a
    compile before has made it, is no work.

    Every field has a default; name those that differ: ``Limits(max_depth=50)``. Functions that take ``limits`` accept
    a mapping with the same keys too.
    """

    def __new__(cls, **fields: int) -> Limits: ...
    @property
    def max_source_bytes(self) -> int:
        """Bytes of a source text; by default 16,777,216, which take about a second."""

    @property
    def max_depth(self) -> int:
        """Nesting of groups in a pattern or of values in a schema; by default 1,000. No more than 10,000 of groups and
        2,000 of values, whatever it is.
        """

    @property
    def max_expr_nodes(self) -> int:
        """Nodes of the expression arena, and of a pattern before; by default 1,200,000, which are about 100 MB, and as
        much again where the index needs them all.
        """

    @property
    def max_explored_states(self) -> int:
        """States explored eagerly to decide which states are live; by default 300,000, of 0.3 to 2 us each."""

    @property
    def max_token_states(self) -> int:
        """States of a pattern explored where the vocabulary lacks tokens of single bytes; by default 200,000, of about
        2 us each.
        """

    @property
    def max_token_steps(self) -> int:
        """Bytes of tokens stepped on the way; by default 50,000,000, which take about a second."""

    @property
    def max_flat_states(self) -> int:
        """Configurations explored to flatten, search or compare indexes; by default 200,000, of about 5 us and 300
        bytes each. Their descriptions are bounded as well: 400 bytes kept and 4,000 looked at for each that this
        allows.
        """

    @property
    def max_compile_steps(self) -> int:
        """Steps of one compile in all; by default 1,500,000, of about 1 us each."""

    @property
    def max_state_bytes(self) -> int:
        """Bytes of states that one lexeme of an index remembers; by default 16,777,216, some 40,000 states. When they
        are full, guides move to a new, empty copy of it. That costs time and is no error. A single state of a pattern
        such as ``(((ab?){1,99}c?){1,99}d?){1,99}`` may stand for very many ways to have read a text: where the states
        that follow one take more than a quarter of this, and than eight times the source, the mask or the token raises
        :class:`LimitError`, and the guide is lost.
        """

    @property
    def max_guide_bytes(self) -> int:
        """Bytes of history that one guide holds for rolling back, beside what its position needs; by default
        16,777,216. Exceeding it is no error: the guide lets go of the oldest, and rolling back to there takes the
        tokens again.
        """

    @property
    def max_mask_steps(self) -> int:
        """Steps that one guide may take for masks that nobody has made before; by default 1,000,000, of half a
        microsecond to one each. Each token gives a fiftieth back. A guide that takes more fails with ``LimitError``:
        grammars with many terminals of the same texts, and patterns with counts inside of counts.
        """

    @property
    def max_scanner_bytes(self) -> int:
        """Bytes of states that the terminals of a grammar have side by side in one index; by default 134,217,728.
        Where they have more, new masks fail with ``LimitError``.
        """

    @property
    def max_alternatives(self) -> int:
        """Alternatives of one rule; by default 12,288."""

    @property
    def max_rules(self) -> int:
        """Rules of one index; by default 100,000."""

    @property
    def max_algebra_steps(self) -> int:
        """Steps of schema algebra in one compile; by default 3,000,000."""

    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class ReportRow:
    """One row of a report: how a keyword at a place of the source is enforced, where that is not exactly.

    ``enforcement`` is ``"narrower"`` (accepts less than the source), ``"annotation"`` or ``"ignored"`` (the source's
    own draft says so), or ``"wider"`` (accepts more; only with ``on_unsupported="warn"``).
    """

    @property
    def pointer(self) -> str:
        """JSON Pointer of the schema that holds the keyword."""

    @property
    def keyword(self) -> str:
        """The keyword, or at the root the option that leaves something out: ``whitespace``, ``property_order``,
        ``spelling``, ``numbers``. ``""`` where the vocabulary narrows the document.
        """

    @property
    def enforcement(self) -> Literal["narrower", "annotation", "ignored", "wider"]:
        """How it is enforced."""

    @property
    def reason(self) -> str:
        """Why."""

    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Automaton:
    """The minimal automaton of an index over bytes, for drawing and inspection."""

    @property
    def start(self) -> int:
        """The start state; always 0."""

    @property
    def accepting(self) -> list[bool]:
        """Whether the output may end, by state."""

    @property
    def edges(self) -> list[tuple[int, int, list[tuple[int, int]]]]:
        """Source, target and inclusive byte ranges, by ascending source and target."""

@final
class Index:
    """A source and a vocabulary, compiled: which tokens may come next, in every state. Shared between any number of
    guides and threads.

    A source that came before, with the same options and limits, is found and not compiled again, if its index is in use
    or if it came twice: the new index shares everything with that one, masks that guides have asked for included (see
    ``set_index_cache_bytes``).

    Made by ``from_regex``, ``from_json_schema``, ``from_choices`` and ``from_grammar``. All of them answer Ctrl-C, and
    end with ``CancelledError`` soon after the ``CancelToken`` that was passed as ``cancel`` is cancelled, or its
    deadline has passed (``cancel=CancelToken.after(10)``); nothing is left then.
    """

    def __new__(cls, *_args: Never, **_options: Never) -> Index: ...
    @classmethod
    def from_regex(
        cls,
        pattern: str | re.Pattern[str],
        vocabulary: Vocabulary,
        dialect: Literal["python", "ecma"] = "python",
        flags: str = "",
        limits: Limits | Mapping[str, int] | None = None,
        cancel: CancelToken | None = None,
    ) -> Index:
        """Compile a pattern. The whole output must match it, with the meaning of Python's ``re.fullmatch``.

        ``pattern`` is a string or a compiled ``re.Pattern``, whose flags count too. ``dialect`` is ``"python"`` or
        ``"ecma"``. ``flags`` is a string of letters: of ``i m s x a u`` in Python's dialect, of ``d g i m s u y`` in
        ECMA-262's.

        ``PatternError`` if the pattern is not well formed, ``UnsupportedError`` if it means something that is no
        regular language (a backreference, a conditional group) or is not offered (look-ahead inside look-behind, a
        possessive or atomic part that forbids something, a code point by name), ``UnsatisfiableError`` if it accepts
        nothing that the vocabulary can spell, ``LimitError`` if it is too much work, ``ArgumentError`` for an unknown
        option.

        Of a pattern of at most 4 KiB, masks near its start that would take long are made as well, ten at most: some
        tens of microseconds for most patterns, milliseconds for few.
        """

    @classmethod
    def from_json_schema(
        cls,
        schema: str | bytes | dict[str, Any] | bool | type[Any],
        vocabulary: Vocabulary,
        whitespace: str = "flexible",
        property_order: Literal["schema", "any"] = "schema",
        on_unsupported: Literal["error", "warn"] = "error",
        formats: Literal["assert", "annotate"] = "assert",
        documents: Mapping[str, str | bytes | dict[str, Any] | bool] | None = None,
        limits: Limits | Mapping[str, int] | None = None,
        spelling: Literal["any", "constants", "plain"] | None = None,
        cancel: CancelToken | None = None,
        *,
        unknown_keywords: Literal["warn", "ignore", "error"] = "warn",
    ) -> Index:
        """Compile a JSON Schema, drafts 4 to 2020-12.

        ``schema`` is its text (``str`` or ``bytes``), a ``dict``, a ``bool`` or a pydantic model class. ``whitespace``
        is ``"flexible"`` (any JSON whitespace, in short runs), ``"compact"``, ``"spaced"`` (as ``json.dumps`` writes)
        or a pattern. ``property_order`` is ``"schema"`` (as declared) or ``"any"``. ``on_unsupported="warn"`` leaves
        out what cannot be enforced and says so in ``report``. ``formats`` is ``"assert"`` or ``"annotate"``.
        ``documents`` maps URIs to further schemas that ``$ref`` may reach; nothing is ever fetched.

        ``spelling`` says how values are written. ``"plain"``: every string has only the escapes that JSON needs, so
        that each text is written in one way, and what a pattern or format leaves no choice about is forced; integers
        have neither point nor exponent, and are never ``-0``.
        ``"constants"``: what the schema spells out (names of properties, strings and numbers of ``enum`` and ``const``)
        is written as ``json.dumps`` writes it, with and without ``ensure_ascii``; other strings in every way.
        ``"any"``: every way of JSON. By default it is ``"constants"`` where ``whitespace`` is ``"compact"`` or
        ``"spaced"``, else ``"any"``. Numbers of ``enum`` and ``const`` are written as
        ``json.dumps`` writes them unless it is ``"any"``.

        A keyword that JSON Schema does not know asserts nothing. One that looks like a slip of a keyword
        (``"minLenght"``), and a schema without any keyword, are an ``interlock.UnknownKeywordWarning``;
        ``warnings.simplefilter("error", interlock.UnknownKeywordWarning)`` makes them errors.

        ``SchemaError`` if the schema is not well formed, ``UnsupportedError`` for a keyword that cannot be enforced
        exactly, ``UnsatisfiableError`` if nothing is valid, or nothing that the vocabulary can spell, ``LimitError`` if
        it is too much work, ``ArgumentError`` for an unknown option. They name the place by its JSON Pointer.

        Of a schema of at most 4 KiB, up to four masks of strings with a pattern or format are made as well, once for a
        vocabulary.

        ``unknown_keywords`` says what becomes of slips in this call: ``"warn"`` is the warning, ``"ignore"`` nothing,
        and ``"error"`` a ``SchemaError`` with the place.
        """

    @classmethod
    def from_choices(
        cls,
        choices: Sequence[str],
        vocabulary: Vocabulary,
        limits: Limits | Mapping[str, int] | None = None,
        cancel: CancelToken | None = None,
    ) -> Index:
        """Compile a list of strings, one of which must be the output. Errors are those of ``from_regex``."""

    @classmethod
    def from_type(cls, output_type: Any, vocabulary: Vocabulary, **options: Any) -> Index:
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

    @classmethod
    def from_structural_tag(
        cls,
        tag: Any,
        vocabulary: Vocabulary,
        closed: bool = False,
        limits: Limits | Mapping[str, int] | None = None,
        cancel: CancelToken | None = None,
        allowed_tokens: Iterable[int | str] | Literal["all"] | None = None,
        whitespace: Literal["flexible", "compact"] = "flexible",
        spelling: Literal["any", "plain"] = "any",
    ) -> Index:
        """Compile a structural tag: what a whole output looks like, with text, reasoning, tags and tool calls in it.

        ``tag`` is its JSON object, in the dialect of XGrammar with interlock's additions, or a ``spec.StructuralTag``.
        docs/formats.md says what each format accepts. ``closed`` reads object schemas without ``additionalProperties``
        as closed, as XGrammar does by default. ``allowed_tokens`` are the special tokens that the tag may name, by id
        or text, and "any other token" is one of these; ``None`` is all, for tags that you write. Where clients write
        them, use ``from_response_format``, which keeps the tokens of roles out.
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

    @classmethod
    def from_tools(
        cls,
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
        limits: Limits | Mapping[str, int] | None = None,
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
        ``allowed_tokens`` are the special tokens that grammars of custom tools may name, by id or text: without it
        all but those of roles, such as ``<|im_start|>``, and with ``"all"`` every one. What the tool format itself
        writes needs no leave.
        ``unknown_keywords`` is about the parameters of tools, as in ``from_response_format``; of more than 64 tools
        nothing is said unless it is ``"error"``.
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

    @classmethod
    def from_response_format(
        cls,
        value: Any,
        vocabulary: Vocabulary,
        *,
        allowed_tokens: Iterable[int | str] | Literal["all"] | None = None,
        limits: Limits | Mapping[str, int] | None = None,
        cancel: CancelToken | None = None,
        unknown_keywords: Literal["warn", "ignore", "error"] = "warn",
        regex_flags: str = "",
        **options: Any,
    ) -> Index:
        """Compile a ``response_format``, or a server's own fields, in every shape that clients send.

        ``interlock.tools.response_format`` lists the shapes. ``options`` are those of ``from_json_schema``, for JSON.
        A structural tag that does not say how its JSON is written has their ``whitespace`` and ``spelling``: these are
        ``"flexible"`` or ``"compact"``, and ``"any"`` or ``"plain"``. Other values are ``ArgumentError`` with a tag.
        ``allowed_tokens`` are the special tokens that structural tags and grammars may name, by id or text: without it
        all but those of roles, such as ``<|im_start|>``, with which a client could have a model write somebody else's
        turn; with ``"all"`` every one.
        ``unknown_keywords`` says what becomes of keywords of JSON Schemas that look like slips: ``"warn"`` is an
        ``UnknownKeywordWarning`` at the line of the program, ``"ignore"`` nothing, and ``"error"`` a ``SchemaError``
        with the place. So it is with POSIX classes in patterns (``[[:alpha:]]``): ``PosixClassWarning``, nothing, or a
        ``SchemaError``, which is a ``PatternError`` where the pattern stands in no schema.
        ``regex_flags`` are the flags of a pattern (``guided_regex`` and its like), letters of Python's: ``"a"`` makes
        ``\\d``, ``\\w`` and ``\\s`` ASCII. Patterns in schemas, grammars and structural tags have none.
        ``{"type": "text"}`` and ``None`` make an index that allows every text: a server saves its masks by asking
        ``interlock.tools.request_kind(value) == "text"`` first.

        ``RequestError`` names by JSON Pointer what is not known, ``SchemaError`` what should be a schema and is
        none, ``LimitError`` says that a value is nested too deeply. Errors of the source itself are those of the method
        that suits it.

        >>> import interlock
        >>> vocabulary = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[256])
        >>> index = interlock.Index.from_response_format({"guided_choice": ["yes"]}, vocabulary)
        >>> index.guide().forced_text()
        'yes'
        """

    @classmethod
    def from_grammar(
        cls,
        grammar: str,
        vocabulary: Vocabulary,
        syntax: Literal["lark", "gbnf", "ebnf"] = "lark",
        start: str | None = None,
        lexer: Literal["any", "dynamic", "contextual"] | None = None,
        imports: Mapping[str, str] | None = None,
        grammars: Mapping[str, str] | None = None,
        limits: Limits | Mapping[str, int] | None = None,
        cancel: CancelToken | None = None,
    ) -> Index:
        """Compile a grammar: rules over terminals, as for SQL, a programming language or a language of your own.

        ``grammar`` is its text. ``syntax`` is ``"lark"`` (Lark's notation with llguidance's additions), ``"gbnf"``
        (llama.cpp's) or ``"ebnf"`` (XGrammar's). ``start`` is the rule that the output is, by default ``start`` in
        Lark's notation and ``root`` in the others.

        ``lexer`` says how a text is cut into terminals. ``"any"``: a terminal takes any text that it matches.
        ``"dynamic"``: each terminal takes its own longest match. ``"contextual"``: the longest match of all terminals
        that the parser can take is taken, the one of highest priority among equals, literals before patterns, so
        keywords are reserved. By default a text of ``interlock.grammars`` brings its own; of others it is ``"dynamic"``
        in Lark's notation and ``"any"`` in the others.

        ``imports`` maps the names of files that ``%import`` may name to their texts; nothing is ever opened.
        ``grammars`` maps names to grammars in Lark's notation that ``@name`` may name.

        ``GrammarError`` if the grammar is not well formed, with line, column and an excerpt, ``UnsupportedError`` for
        what has no exact meaning, ``UnsatisfiableError`` if nothing is accepted, ``VocabularyError`` if a byte that the
        grammar reads is no token or a special token is unknown, ``LimitError`` if it is too much work,
        ``ArgumentError`` for an unknown option.
        """

    def guide(
        self,
        max_tokens: int | None = None,
        stop_token_ids: SupportsIndex | Iterable[SupportsIndex] | None = None,
        context_ids: Iterable[SupportsIndex] | None = None,
        min_tokens: int = 0,
        canonical_forced: bool = False,
    ) -> Guide:
        """A cursor for one request.

        ``max_tokens`` bounds the output: it is complete within so many tokens, whatever is sampled, the stop token not
        counted. ``BudgetError`` says that this is too small, with the number that is needed; where finding that would
        take long, with the fewest tokens known to do, and where no output is short enough to be counted, without one;
        its message says so. It takes some tens of milliseconds at most for common sources. ``stop_token_ids`` replaces
        the vocabulary's.
        ``context_ids`` are the tokens before the output, from the start of the text or at least from a special token
        on. ``forced_tokens`` needs them: without them it takes the output to begin as after a special token. An id
        outside the vocabulary is an ``ArgumentError``.

        ``min_tokens`` withholds stop tokens before so many tokens, as long as another token may follow; where none may,
        the output ends earlier. More than ``max_tokens`` is an ``ArgumentError``. With ``canonical_forced=True`` the
        masks allow one token alone where ``forced_tokens`` is not empty: its first. Other tokens that spell the same
        bytes are refused there, so that every draft of forced tokens is taken.
        """

    def language_size(self, cancel: CancelToken | None = None) -> int | float:
        """How many byte strings are accepted: an exact ``int``, or ``math.inf``.

        Explores the index's configurations, some 5 us each, as all questions about the language do. ``LimitError`` if
        it has more than ``Limits.max_flat_states``, as with recursion, or if they take more than 20 steps of work each,
        as those of patterns with large counts may; ``UnsupportedError`` where the vocabulary narrows the source. A
        question ends with ``CancelledError`` soon after ``cancel`` is cancelled, and with what a signal handler raises.
        """

    def shortest_member(self, cancel: CancelToken | None = None) -> bytes:
        """The shortest output, the least in byte order among those. Errors are those of ``language_size``."""

    def random_member(self, seed: int | None = None, max_bytes: int = 200, cancel: CancelToken | None = None) -> bytes:
        """A random output of at most ``max_bytes`` bytes; the same ``seed`` gives the same one. ``UnsatisfiableError``
        if there is none so short; otherwise errors are those of ``language_size``.
        """

    def sample(self, seed: int | None = None, max_tokens: int = 200, cancel: CancelToken | None = None) -> list[int]:
        """A random output of at most ``max_tokens`` tokens, drawn token by token from the masks: for tests of a server,
        and to see what an index allows. The same ``seed`` gives the same one.

        Every index can be drawn from: those of tools and grammars, of ``json_object``, and of vocabularies without
        tokens for some bytes, which ``random_member`` refuses. The tokens have no stop token at their end.
        ``Vocabulary.decode(tokens, skip_special_tokens=False)`` is their text.

        The cost is that of one mask a token, with a budget: microseconds for a token whose mask is known, milliseconds
        at most places of a source that is new, and more near the end of the budget. ``max_tokens`` bounds it. Nothing
        else does, so pass ``CancelToken.after(seconds)`` for a source from a stranger.

        ``BudgetError`` if no output is so short; ``CancelledError`` between two tokens, once ``cancel`` is cancelled or
        its deadline has passed: a mask that is being made is finished first.

        >>> import interlock
        >>> vocabulary = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[256])
        >>> index = interlock.Index.from_grammar('start: "(" start ")" | /[ab]/', vocabulary)
        >>> vocabulary.decode(index.sample(seed=3)).strip(b"()") in (b"a", b"b")
        True
        """

    def automaton(self, max_states: int = 500, cancel: CancelToken | None = None) -> Automaton:
        """The minimal automaton over bytes; ``LimitError`` if it has more than ``max_states`` states."""

    def parse(self, output: bytes | str | Sequence[int], partial: bool = False) -> list[Event]:
        """The events of an output: its text, its reasoning, its tool calls with their arguments, its captures.

        ``output`` is the text, or tokens. In a text the names of special tokens that may come are these tokens.
        An output
        that is not whole is ``TokenRejected``, unless ``partial``: then the events are those that are certain so far.

        ``TokenRejected`` where the output is not one of this index, with the place. ``UnsupportedError`` where
        it can be
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

    def draw(
        self,
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

    def _repr_html_(self) -> str:
        """The drawing for a notebook, or a line of text where it is too large to be drawn."""

    def witness_not_in(self, other: Index, cancel: CancelToken | None = None) -> bytes | None:
        """A shortest output of this index that ``other`` refuses, or ``None`` if ``other`` accepts all of them."""

    def witness_in_both(self, other: Index, cancel: CancelToken | None = None) -> bytes | None:
        """A shortest output that both indexes accept, or ``None`` if there is none."""

    def is_subset_of(self, other: Index, cancel: CancelToken | None = None) -> bool:
        """Whether every output of this index is one of ``other``."""

    def is_equivalent_to(self, other: Index, cancel: CancelToken | None = None) -> bool:
        """Whether both indexes accept exactly the same outputs."""

    def build(
        self,
        threads: int | None = None,
        progress: Callable[[int, int], object] | None = None,
        cancel: CancelToken | None = None,
    ) -> None:
        """Make now what guides would make on first use. The answers stay the same.

        An index of at most 4,096 configurations (``Limits.max_flat_states`` may say fewer) gets complete tables, and
        keeps nothing else: what tables do not answer is compiled again when it is first needed. Any other, and one
        whose source is narrowed by a vocabulary that lacks tokens of single bytes, is filled with masks of the states
        of its strings, numbers and keys: at most 1,024 masks and 4 MiB; where there are more, up to 512 of those
        nearest to the starts are made, or 2 MiB (4 MiB if only these run out), and ``is_complete`` stays false.

        ``threads`` is how many to use, by default as many as the process may; the GIL is released. ``progress(done,
        total)`` is called from this thread now and then; an exception that it raises, or Ctrl-C, stops the work, and
        the index stays as usable as it was; so does ``cancel``.
        """

    def warm_up(self, max_ms: float = 5.0, background: bool = False) -> int | None:
        """Make masks that a request is likely to need, before its first token. The answers stay the same.

        Documents that a model may write are walked: the names of the schema in its order, in the styles of blanks that
        are common, one alternative after the other; every mask on the way is made. That ends after ``max_ms``
        milliseconds, or earlier if nothing is left to be expected. The GIL is released; Ctrl-C stops the work. What
        ``build`` made complete is warm.

        With ``background`` the answer comes at once, and a thread of the process does the work, one index after the
        other: call it when a request comes in, and its prompt is read meanwhile. While 256 wait no more are taken.

        Returns how many masks were made, or ``None`` with ``background``. Raises ``ArgumentError`` if ``max_ms`` is no
        positive number.
        """

    @property
    def is_complete(self) -> bool:
        """Whether ``build`` has made everything, and nothing is left for first use."""

    @property
    def num_transitions(self) -> int | None:
        """Pairs of a state and a class of tokens that it allows; ``None`` if not built, or built by parts: because
        there are too many configurations for complete tables, or because the vocabulary lacks tokens of single bytes
        that the source uses and narrows it. The first question for classes walks the vocabulary once per state.
        """

    @property
    def num_masks(self) -> int | None:
        """Distinct masks; ``None`` where ``num_transitions`` is."""

    @property
    def num_token_classes(self) -> int | None:
        """Classes of tokens that lead every state to the same state; ``None`` where ``num_transitions`` is."""

    @property
    def num_accepting_states(self) -> int | None:
        """States where the output may end; ``None`` where ``num_transitions`` is."""

    def save(self, path: str | os.PathLike[str], tables: bool = False) -> None:
        """Write this index to a file that ``load`` reads: its recipe and, if it was built, its tables.

        ``tables=True`` makes the tables if they are not there: complete ones for up to 4,096 configurations
        (``Limits.max_flat_states`` may say fewer), else those of the first configurations, as where complete ones would
        take more than 16 MiB. ``ArtifactError`` if the file cannot be written.

        Warns (``IncompleteTablesWarning``) where tables were asked for, or built, and the file has none since the
        vocabulary lacks tokens of single bytes.
        """

    @classmethod
    def load(cls, path: str | os.PathLike[str], vocabulary: Vocabulary) -> Index:
        """The index in a file that ``save`` wrote with this version, for the same vocabulary; ``ArtifactError``
        otherwise.

        The tables of an index that was built are mapped, not read, and answer at once; what they do not answer is
        compiled when it is first needed. An index that was not built is compiled now. Never change such a file in
        place; ``save`` replaces it.
        """

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary that this index was compiled for."""

    @property
    def report(self) -> list[ReportRow]:
        """A row for each keyword that is enforced otherwise than exactly, or that only annotates. Empty for patterns
        and grammars, and so for tools and structural tags: ``from_json_schema`` of one of their schemas has its rows,
        and ``interlock inspect`` all of them.
        """

    @property
    def num_states(self) -> int:
        """States of the complete tables, where ``build`` made them; else how many are known so far."""

    @property
    def memory_bytes(self) -> int:
        """About how many bytes this index holds: its lexemes and their masks, which other indexes may share, included;
        its vocabulary excepted.
        """

    @property
    def fingerprint(self) -> str:
        """64 hexadecimal digits, equal for indexes of the same source, options, vocabulary and version. Indexes with
        equal ones are equal.
        """

    @property
    def kind(self) -> Literal["regex", "json_schema", "choices", "grammar"]:
        """What was compiled: ``"regex"``, ``"json_schema"``, ``"choices"`` or ``"grammar"``."""

    @property
    def source(self) -> str:
        """The text that was compiled: the pattern, the JSON Schema or the grammar, and of choices their list as JSON.
        Options are not part of it.
        """

    def _recipe(self) -> str:
        """The class method and the arguments that make this index again, as JSON without the vocabulary."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __copy__(self) -> Index: ...
    def __deepcopy__(self, _memo: dict[int, Any]) -> Index: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Guide:
    """One request's cursor over an index.

    It says which tokens may come next, takes the one that was chosen, and can go back. It owns the end of the output:
    stop tokens are allowed exactly where the output is complete. Made by ``Index.guide``.

    Not for two threads at once: that raises ``GuideBusyError``. Use ``fork`` for a second cursor.
    """

    def __new__(cls, *_args: Never, **_options: Never) -> Guide: ...
    def fill_bitmask(self, bits: Any, row: SupportsIndex = 0) -> bool:
        """Write the mask of allowed tokens into one row of ``bits``: bit ``t & 31`` of word ``t >> 5`` is 1 for
        allowed.

        ``bits`` is a C-contiguous ``int32`` NumPy array or torch CPU tensor of shape ``[rows, words]``, or one row,
        with at least ``ceil(size / 32)`` words. Words beyond the vocabulary become 0. ``ArgumentError`` for any other
        array or row: then nothing is written. Returns False, with a row of all ones, when nothing is masked because the
        output has ended.
        """

    def advance(self, id: SupportsIndex) -> None:
        """Take one token. Raises ``TokenRejected``, and changes nothing, if it is not allowed."""

    def try_advance(self, id: SupportsIndex) -> bool:
        """Take one token if it is allowed; return whether it was."""

    def advance_many(self, ids: Iterable[SupportsIndex]) -> int:
        """Take the longest allowed prefix of ``ids`` and return its length, which is what ``rollback`` would undo."""

    def validate(self, ids: Iterable[SupportsIndex]) -> int:
        """The length of the longest allowed prefix of ``ids``, a stop token included; the guide stays where it is."""

    def rollback(self, n: SupportsIndex) -> None:
        """Undo the last ``n`` tokens, a stop token included. ``ArgumentError``, and nothing is undone, if there are
        fewer.
        """

    def reset(self) -> None:
        """Go back to the start."""

    def fork(self) -> Guide:
        """A second guide in the same state, history included."""

    @property
    def is_accepting(self) -> bool:
        """Whether the output may stop here: a stop token is allowed."""

    @property
    def must_stop(self) -> bool:
        """Whether only a stop token can follow."""

    @property
    def is_terminated(self) -> bool:
        """Whether a stop token was taken. A guide that failed still answers."""

    @property
    def num_tokens(self) -> int:
        """How many tokens were taken, a stop token included. Of a guide that failed, those until then."""

    @property
    def memory_bytes(self) -> int:
        """About how many bytes this guide holds, most of them for rolling back (see ``Limits.max_guide_bytes``). Forks
        share pieces of that, which count for each of them.
        """

    @property
    def tokens(self) -> list[int]:
        """The tokens that were taken. A guide that failed still answers: with those until then."""

    @property
    def state(self) -> bytes:
        """The state as a hashable value. Guides of one index in equal states allow the same continuations, as far as
        these do not depend on ``max_tokens`` and ``stop_token_ids``, which are not part of it.
        """

    @property
    def index(self) -> Index:
        """The index that this guide walks."""

    def allowed_token_ids(self) -> npt.NDArray[np.int32]:
        """The tokens that are allowed now, ascending, as an ``int32`` array; stop tokens included, and empty after one
        was taken.
        """

    def explain(self, id: SupportsIndex) -> str:
        """Why a token is refused, in words: the byte at fault, the place in the source, and what was allowed."""

    def forced_bytes(self) -> bytes:
        """The bytes that must come next, whatever tokens spell them. They may end inside a character. At most 65,536 of
        them: what must follow these, the guide says once they were taken.
        """

    def forced_tokens(
        self, after: Iterable[SupportsIndex] | None = None, canonical: bool = True, within: float | None = None
    ) -> list[int]:
        """The tokens that must come next: the tokenizer makes them of every permitted output, whatever follows them.

        Exact or empty. Empty as well where the tokens so far are not those that the tokenizer itself makes, and without
        ``Vocabulary.knows_tokenizer``: known are byte-level BPE with a known pattern, sentencepiece BPE and unigram
        models. ``context_ids`` of ``Index.guide`` decide how the output begins.

        ``after`` are tokens that are taken as if they had been sampled, a draft for instance; the guide stays where it
        is. The answer is empty where one of them is refused.

        With ``canonical=False`` the answer goes on, or begins, where the tokenizer's own tokens are not known: the rest
        of ``forced_bytes`` is spelled with the longest tokens that fit. They are permitted, and what they spell is
        certain, but the tokenizer might have made others of it.

        Nothing bounds what a call takes: where 25,000 choices are open it is up to half a second. With ``within``, a
        number of seconds, it waits no longer, as ``fill_bitmasks_within``: the answer is empty where the tokens are not
        found by then. A thread goes on meanwhile, and a later call at the same place takes what it has found.
        """

    def forced_text(self) -> str:
        """The whole characters of ``forced_bytes``."""

    def min_tokens_to_finish(self) -> int:
        """A number of tokens that complete the output from here, the stop token not counted; 0 where it may end.

        So many tokens do complete it. It is the least number if ``build`` made complete tables of the index (then
        ``Index.num_transitions`` is a number); elsewhere fewer may do. ``BudgetError`` if no short way to the end was
        found.
        """

    def fill_draft_bitmasks(
        self,
        ids: Iterable[SupportsIndex],
        bits: Any,
        row: SupportsIndex = 0,
        parents: Iterable[SupportsIndex] | None = None,
    ) -> int:
        """Write ``len(ids) + 1`` rows of ``bits`` from ``row`` on: the first is the mask here, row ``i + 1`` after it
        the mask after draft ``i``. ``bits`` is as for ``fill_bitmask``.

        ``parents`` makes a tree of the drafts: ``parents[i]`` is the draft before ``i``, or -1. Rows after a refused
        draft, and after a stop token, are all ones; an id of -1 is padding. Returns how many drafts were accepted, a
        stop token included. The guide stays where it is.
        """

    def events(self) -> list[Event]:
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

    def force(self, text: bytes | str | Iterable[int | bytes | str]) -> None:
        """Make ``text`` what must come next: the result of a tool, say. Behind it the output goes on where it stood.

        ``text`` is a text, or a list of texts and token ids. Texts are spelled as the tokenizer spells them (by
        the fewest tokens where its kind is not known), and never by special tokens, whatever they say: give
        those by their ids. A stop token among them ends nothing. Until it is taken, masks allow its next token
        alone, and ``forced_tokens`` is what is left of it. It may come anywhere, costs nothing of
        ``max_tokens``, and is no part of what the index accepts. Going back before this place drops it.

        ``ArgumentError``, and nothing changes, if the text cannot be spelled, a token does not exist, or the output
        has ended.

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

    def was_cut_by_budget(self, *, including_end: bool = True) -> bool:
        """Whether the budget, ``max_tokens`` of ``Index.guide``, decided how the tokens so far went on, so that an
        output may be shorter than the model would have written. A guide ends an output in time by itself, so its stop
        token alone tells nothing.

        True where at one place at least half of the characters that the index permits there were forbidden, because
        what follows them had no room: a string in JSON that had to be closed, reasoning that had to end. Whether the
        model wanted one of those is not asked. A place where the output may end anyway is none.

        With ``including_end`` also true where the budget let nothing but the end follow, and the index would have: a
        text that stops where the tokens do, whether its stop token has come or not. ``False`` leaves that out, for
        outputs that end with whole tool calls.

        False without a budget, and for an output that your server ended itself before its budget was used up. Tokens
        behind a text of ``force`` are not looked at.

        Makes two masks a token once more: some microseconds where they are known, milliseconds where the budget is
        nearly spent. That is tens of milliseconds for an output of some hundred tokens, half a second or seconds for a
        large schema or a long output. So ask at the end, and in a thread of its own where an event loop must go on. The
        first call with a vocabulary takes some hundredths of a second more.

        >>> import interlock
        >>> vocabulary = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[256])
        >>> guide = interlock.Index.from_regex("a+", vocabulary).guide(max_tokens=3)
        >>> guide.advance_many(list(b"aa")), guide.was_cut_by_budget()
        (2, False)
        >>> guide.advance_many([97, 256]), guide.was_cut_by_budget()
        (2, True)
        """

    def __copy__(self) -> Guide: ...
    def __deepcopy__(self, _memo: dict[int, Any]) -> Guide: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

def check_regex(
    pattern: str | re.Pattern[str],
    dialect: Literal["python", "ecma"] = "python",
    flags: str = "",
    limits: Limits | Mapping[str, int] | None = None,
    cancel: CancelToken | None = None,
) -> None:
    """Check a pattern without a vocabulary: everything that ``Index.from_regex`` checks, with the same options and
    errors, but for what only a vocabulary can lack. About as long as compiling takes.

    >>> import interlock
    >>> interlock.check_regex("[0-9]{4}")
    """

def check_json_schema(
    schema: str | bytes | dict[str, Any] | bool | type[Any],
    whitespace: str = "flexible",
    property_order: Literal["schema", "any"] = "schema",
    on_unsupported: Literal["error", "warn"] = "error",
    formats: Literal["assert", "annotate"] = "assert",
    documents: Mapping[str, str | bytes | dict[str, Any] | bool] | None = None,
    limits: Limits | Mapping[str, int] | None = None,
    spelling: Literal["any", "constants", "plain"] | None = None,
    cancel: CancelToken | None = None,
) -> list[ReportRow]:
    """Check a JSON Schema without a vocabulary: everything that ``Index.from_json_schema`` checks, with the same
    options and errors, but for what only a vocabulary can lack. Returns what ``Index.report`` would be. About as long
    as compiling takes.

    >>> import interlock
    >>> [row.keyword for row in interlock.check_json_schema({"type": "integer"})]
    ['numbers']
    """

def check_grammar(
    grammar: str,
    syntax: Literal["lark", "gbnf", "ebnf"] = "lark",
    start: str | None = None,
    lexer: Literal["any", "dynamic", "contextual"] | None = None,
    imports: Mapping[str, str] | None = None,
    grammars: Mapping[str, str] | None = None,
    limits: Limits | Mapping[str, int] | None = None,
    cancel: CancelToken | None = None,
) -> None:
    """Check a grammar without a vocabulary: everything that ``Index.from_grammar`` checks, with the same options and
    errors, but for what only a vocabulary can lack. Any special token may be named. About as long as compiling takes.

    >>> import interlock
    >>> interlock.check_grammar('start: "a" start | "b"')
    """

def check_choices(
    choices: Sequence[str],
    limits: Limits | Mapping[str, int] | None = None,
    cancel: CancelToken | None = None,
) -> None:
    """Check choices without a vocabulary: everything that ``Index.from_choices`` checks, with the same errors.

    >>> import interlock
    >>> interlock.check_choices(["yes", "no"])
    """

def advance_each(guides: Sequence[Guide | None], ids: Iterable[SupportsIndex]) -> bytes:
    """Take token ``ids[i]`` on ``guides[i]``, for all of them in one call: what ``try_advance`` does for one.

    The answer has a byte for each guide: 0 where the token was refused, such as an id beyond the vocabulary, 1 where it
    was taken, and 2 where the output ended with it. ``None`` instead of a guide is a sequence without a constraint, and
    answers 1. Nothing is taken if there are not as many ids as guides (``ArgumentError``), or a guide is in use or
    twice there (``GuideBusyError``). A guide that fails at its token (``LimitError`` of a pattern or a grammar,
    ``ArtifactError`` for a damaged file of its index, ``InternalError`` for a bug), and one that has failed before,
    costs itself alone: all others have been stepped. ``batch_index`` of the error is its number, ``batch_others`` are
    the errors of the other guides that failed, and ``batch_outcomes`` is the answer, with 0 for all of these.
    """

def fill_bitmasks(
    guides: Sequence[Guide | None], bits: Any, rows: Iterable[SupportsIndex] | None = None, threads: int | None = None
) -> bool:
    """Fill one row for each guide in one call: on several threads where that pays, and without the GIL unless the masks
    are few and known.

    Row ``rows[i]`` of ``bits``, which is as for ``Guide.fill_bitmask``, belongs to ``guides[i]``; without ``rows`` that
    is row ``i``. ``None`` instead of a guide is a sequence without a constraint: its row becomes all ones, which
    is -1 in every word. Returns whether any row masks anything. Nothing is written if an argument is unsuitable, guides
    are of different vocabularies or a row is named twice (``ArgumentError``), or a guide is in use or twice there
    (``GuideBusyError``). A guide that fails at its mask (``LimitError`` of a grammar, ``InternalError`` for a bug), and
    one that has failed before, costs itself alone: its row is zero, all other rows are written, and ``batch_index`` of
    the error is the guide's number. ``batch_others`` are the errors of the other guides that failed.
    """

def fill_bitmasks_within(
    guides: Sequence[Guide | None],
    bits: Any,
    seconds: float,
    rows: Iterable[SupportsIndex] | None = None,
    threads: int | None = None,
) -> list[int]:
    """Fill one row for each guide, as ``fill_bitmasks`` does, and wait at most ``seconds`` for masks that are new.

    Returns the numbers of the guides whose masks are late, ascending. Their rows are zero, so they allow no token:
    leave these sequences out of this step, and ask again in the next. A thread goes on with each of them meanwhile,
    and the next call takes what it has made. A guide that is late may be used as ever; the mask is thrown away where
    it goes on or back. With ``seconds=0`` nothing is waited for.

    Everything else is as for ``fill_bitmasks``. Of an error, ``batch_late`` are the numbers of the guides that are
    late, and the rows of all others are written.

    A mask that is known takes as long as there, and a new one some 50 microseconds more, for its thread.
    """

def apply_bitmask_cpu(
    logits: Any, bits: Any, rows: Iterable[SupportsIndex] | None = None, bfloat16: bool = False, source: Any = None
) -> None:
    """Mask logits in memory that the processor can reach; `masks.apply_bitmask` calls it.

    ``bfloat16`` says that the 16-bit integers of ``logits`` are that format's bit patterns. With ``source``, other
    logits of the same shape and dtype, the masked copy of these is written instead, rows without a mask included.
    """

@final
class _RowSlots:
    """Which mask is in which row of a device's tensor. ``fill`` answers what a step has to send."""

    def __new__(cls, slots: int) -> _RowSlots: ...
    def fill(
        self, guides: Sequence[Guide | None], bits: Any, threads: int | None = None
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """For each guide the slot of its mask, -1 where nothing is masked; and the slots that are new in this step,
        whose masks are written to the first rows of ``bits``, in order.
        """

    def clear(self) -> None:
        """Forget what is on the device."""

    @property
    def num_identified(self) -> int:
        """How many slots hold a mask that may be found again."""

def _token_tables(
    index: Index,
) -> (
    tuple[
        npt.NDArray[np.int32],
        npt.NDArray[np.int32],
        npt.NDArray[np.int32],
        npt.NDArray[np.int32],
        npt.NDArray[np.int32],
    ]
    | None
):
    """The arrays of complete tables, each flat: per token its class; per state and class the next state, -1 where the
    class is refused; the words of the distinct masks, without stop tokens; per state the number of its mask; per state
    1 where the output may end.

    ``None`` where ``Index.num_transitions`` is.
    """

def set_num_threads(n: int | None) -> None:
    """How many threads batch calls may use in this process; ``None`` goes back to the default.

    The default is ``INTERLOCK_NUM_THREADS`` where that is a number from 1 to 1024, and otherwise what the process may
    use. Importing interlock warns where the variable holds anything else.
    """

def get_num_threads() -> int:
    """How many threads batch calls may use in this process."""

def set_index_cache_bytes(n: int) -> None:
    """Bound the bytes of compiled indexes that every vocabulary keeps, to be found again by their source; 64 MiB unless
    this is called. With 0 nothing is kept, and every compile starts anew.

    An index is kept from its second compile on; the least recently used leaves first. Indexes and guides that exist are
    not touched.
    """

def get_index_cache_bytes() -> int:
    """How many bytes of compiled indexes every vocabulary keeps at most."""

def set_mask_cache_bytes(n: int) -> None:
    """Bound the bytes of masks, and of the strings, numbers and terminals that they belong to, which every vocabulary
    keeps for the sources to come; 256 MiB unless this is called.

    What was used longest ago leaves first. Indexes that exist keep what they use, at most some 40 MiB for each of their
    patterns. ``stats()["cache_bytes"]`` says how many bytes are kept, and ``stats()["held_bytes"]`` how many there are
    with those that running sources hold.

    Running sources may hold as many bytes again, or 128 MiB if that is more. Beyond that, what patterns and
    schemas find is not kept, and a grammar that took much itself ends at its next mask with ``LimitError`` (``code``
    is ``"too_little_memory"``): 16 MiB at first, less the more is held, and 2 MiB at last. So does a compile of more
    than 16 MiB, or 4 at last. All others go on.
    """

def get_mask_cache_bytes() -> int:
    """How many bytes of masks, and of what they belong to, every vocabulary keeps at most."""

def stats() -> dict[str, int]:
    """Counters of this process: what was compiled and filled, and what the caches of the live vocabularies did.

    ``compiles`` counts indexes that were made, ``compile_hits`` those that were found again by their source,
    ``refusals`` sources that ended in an error: no compile that was cancelled or met its deadline, and no request
    that was refused before its source was compiled. ``guides`` counts guides that were started and ``masks`` rows that
    were filled. ``lexeme_hits`` and ``lexeme_misses`` count strings, numbers and keys of a source that were found among
    those of other indexes, and those that were made; ``evictions`` those that the cache let go. ``mask_hits`` and
    ``mask_misses`` count masks that an index remembered and those that it put together to remember; ``mask_walks``
    counts walks of the vocabulary for a lexeme's state, ``mask_parts`` what was put together for all indexes.
    ``indexes`` and ``index_bytes`` say how many indexes are kept to be found and what they hold; a source that came
    once is none of the former, and half a kilobyte of the latter until it comes again or has to go. ``lexemes`` and
    ``cache_bytes`` say the same of their parts. ``held_bytes`` are those of all states and masks, whether they are kept
    or in use, but for parts of masks that all sources share, and ``most_held_bytes`` what they may be: see
    ``set_mask_cache_bytes``. ``late_masks`` counts rows that ``fill_bitmasks_within`` called late. Everything else only
    grows while the vocabularies live.
    ``store_hits`` counts indexes that a ``Store`` had, and ``store_misses`` those that were asked of one in vain.
    """

def _count_store(found: bool) -> None:
    """Count an index that was asked of a store."""

def clear_caches() -> None:
    """Forget what is cached for the process, and hand memory that is free back to the system; otherwise that happens
    some seconds after its last use. Indexes and guides that exist keep what they need. Python's collector of garbage
    runs first: an error and its traceback may hold each other, and with them the guide of a request that is over.
    """

def _load_vocabulary(
    path: str | os.PathLike[str],
    eos_token_ids: Iterable[SupportsIndex] | None = None,
    size: int | None = None,
    special_token_ids: Iterable[SupportsIndex] | None = None,
) -> Vocabulary:
    """Read the vocabulary in a tokenizer file; ``Vocabulary.from_file`` calls it."""

def _vocabulary_with_model(
    tokens: Sequence[bytes],
    eos_token_ids: Iterable[SupportsIndex],
    special_token_ids: Iterable[SupportsIndex],
    size: int | None = None,
    pattern: str | None = None,
    ids: Sequence[int] | None = None,
    added: Sequence[int] | None = None,
    sentencepiece: bytes | None = None,
) -> Vocabulary:
    """Make a vocabulary that knows how its tokenizer encodes; ``Vocabulary.from_tokenizer`` calls it.

    ``sentencepiece`` is a model; else ``pattern``, ``ids`` and ``added`` are those of a tiktoken encoding.
    """

def _vocabulary_of_document(
    document: str,
    added: Sequence[tuple[int, str, bytes, bool]],
    keeps_numbers: bool,
    eos_token_ids: Iterable[SupportsIndex],
    special_token_ids: Iterable[SupportsIndex],
    size: int | None = None,
    cuts: bool = False,
) -> Vocabulary:
    """Make the vocabulary of a ``tokenizers.Tokenizer``; ``Vocabulary.from_tokenizer`` calls it.

    ``document`` is its ``to_str()``, and ``added`` its added tokens: id, content, what it spells, and whether it is
    special. ``keeps_numbers`` says whether their ids are those in the document. With ``cuts``, tokens beyond ``size``
    are left out.
    """

def _restore_vocabulary(
    joined: bytes,
    lengths: bytes,
    eos_token_ids: Sequence[int],
    special_token_ids: Sequence[int],
    size: int,
    fingerprint: bytes,
    model: tuple[str, bool, bool, list[int], list[int] | None, list[int], list[int], list[int]] | None = None,
) -> Vocabulary:
    """Rebuild a pickled vocabulary; ``pickle`` calls it."""

def _pattern_text(pattern: str | re.Pattern[str], flags: str) -> tuple[str, str]:
    """The text and all flags of a pattern, as an index keeps them."""

def _flat_rules(text: str, syntax: str) -> list[tuple[str, list[tuple[str, Any]]]]:
    """The rules of a grammar as whole grammars are read: names, and bodies as pairs of a kind and a value. The value of
    special tokens is a list of them, and the byte at which they are named.
    """

def _may_have_slips(schema: str) -> bool:
    """Whether the report of a schema's text may have rows of unknown keywords, formats or drafts. They are found when
    the text is read, which takes a tenth of the time that a check takes.
    """

def _schema_text(schema: object) -> str:
    """The text of a schema, as an index keeps it."""

def _metaschema(uri: str) -> str | None:
    """The text of the specification's own document of a URI without a fragment, which every schema may refer to."""

def _store_key(recipe: str, vocabulary: str) -> str:
    """The key under which a store keeps the index of a recipe: BLAKE3 over it, the vocabulary's fingerprint, the format
    and the version.
    """

def _verify_vocabulary(path: str | os.PathLike[str]) -> str:
    """Check a vocabulary pack from its first byte to its last, and that it is true. Its fingerprint."""

def _verify_pack(path: str | os.PathLike[str]) -> tuple[str, str, str]:
    """Check every section of an index pack. The fingerprints of its vocabulary and its index, and its recipe."""

def _restore_report_row(pointer: str, keyword: str, enforcement: str, reason: str) -> ReportRow:
    """Rebuild a pickled row of a report; ``pickle`` calls it."""

def _restore_limits(values: dict[str, int]) -> Limits:
    """Rebuild pickled limits; ``pickle`` calls it."""

def _restore_guide(
    index: Index,
    tokens: Sequence[int],
    stop_token_ids: Sequence[int] | None,
    max_tokens: int | None,
    context_ids: Sequence[int] | None = None,
    built: bool = False,
    min_tokens: int = 0,
    canonical_forced: bool = False,
    outside: Sequence[tuple[int, Sequence[int]]] = ...,
    asked: Sequence[tuple[int, int]] = ...,
    taken_back: int = 0,
) -> Guide:
    """Rebuild a pickled guide; ``pickle`` calls it."""

def _new_events(guide: Guide) -> tuple[int, list[tuple[int, int, bytes]]]:
    """What became certain since the last question: how many events are void, and the parts."""

def _tokens_behind(guide: Guide, count: int) -> list[int]:
    """The tokens that a guide took behind its first ``count``."""

def _note_events(guide: Guide, count: int) -> None:
    """Say how many events were made of the last parts."""

def _forget_events(guide: Guide) -> None:
    """Forget what was given."""

def _has_captures(guide: Guide) -> bool:
    """Whether the grammar of a guide captures anything."""

def _capture(guide: Guide, marker: int) -> tuple[str, int, int, bytes, list[tuple[int, bool, str]]] | None:
    """The capture that began with a marker."""

def _force(guide: Guide, parts: Sequence[int | bytes]) -> None:
    """Make these parts what must come next."""
