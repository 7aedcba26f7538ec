"""Vocabularies from the tokenizer objects of other libraries.

No tokenizer library is imported here: an object is recognised by the module and name of its classes, so that
interlock works with whichever of them is installed.

What a token spells:

* **Special** tokens never spell text: those that the tokenizer marks so, the unknown token, and stop tokens.
* **Added tokens that are not special** spell what the tokenizer's own decoder makes of the text that it lists for them:
  their content letter for letter, but for what this decoder rewrites (``▁``, or all that is not ASCII where letters
  stand for bytes) and for what versions of the tokenizers library that normalise this text change.
* **All others** have the bytes of the tokenizer's table or, where it lists letters that stand for bytes, the bytes
  that its decoder makes of them. Some decoders drop the space before the first token of a text; an output continues
  a prompt, so the bytes are those that the token has after another token.

A tokenizer whose decoder looks across tokens (WordPiece, for one) has no bytes per token and is refused.
"""

from __future__ import annotations

import json
import operator
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, SupportsIndex

from interlock.util.plurals import counted

if TYPE_CHECKING:
    from interlock import Vocabulary, VocabularyError

__all__ = ["from_file", "from_tokenizer", "vocabulary_from_tokenizer"]

FILES = ("tokenizer.json", "tekken.json", "tokenizer.model", "tiktoken.model", "qwen.tiktoken")
"""How tokenizer files in the folder of a model are called, the one that is read first."""
_WIDEST = 1 << 22
"""The widest logits that the core has."""


@dataclass
class _Table:
    """What a tokenizer says: bytes by id (of a special id: its name), special ids, stop ids."""

    tokens: dict[int, bytes] = field(default_factory=dict)
    special: set[int] = field(default_factory=set)
    eos: list[int] = field(default_factory=list)
    #: How the tokenizer encodes: arguments of ``_vocabulary_with_model``; empty if that is not known.
    model: dict[str, Any] = field(default_factory=dict)
    #: A tokenizer of the tokenizers library: arguments of ``_vocabulary_of_document``, in place of all but ``eos``.
    document: dict[str, Any] = field(default_factory=dict)


def from_tokenizer(
    tokenizer: Any,
    eos_token_ids: SupportsIndex | Iterable[SupportsIndex] | None = None,
    size: int | None = None,
    special_token_ids: SupportsIndex | Iterable[SupportsIndex] | None = None,
) -> Vocabulary:
    """The vocabulary of a tokenizer object.

    Recognised are tokenizers of transformers (fast and slow), ``tokenizers.Tokenizer``, ``tiktoken.Encoding``,
    ``sentencepiece.SentencePieceProcessor``, and those of mistral_common.

    ``eos_token_ids`` are the stop tokens, by default the one that the tokenizer names. A model may have more (look at
    its ``generation_config.json``). ``size`` is the width of the logits, by default the ids that are listed.
    ``special_token_ids`` never spell text, beside those that the tokenizer marks as special: by default its added
    tokens that are markup (``interlock.integrations.markup_tokens``), and with ``()`` none.

    Raises ``VocabularyError`` for an object that is not recognised or names no stop token, and ``UnsupportedError``
    for one whose decoder gives a token no bytes of its own.
    """
    from interlock.integrations.markup_tokens import readable_markup_ids

    table = _read(tokenizer)
    if eos_token_ids is None:
        eos = table.eos
        if not eos:
            raise _error(f"{_name(tokenizer)} names no stop token: give eos_token_ids, the ids that end an output")
    else:
        eos = _ids("eos_token_ids", eos_token_ids)
    if special_token_ids is None:
        special = readable_markup_ids(tokenizer)
    else:
        special = _ids("special_token_ids", special_token_ids)
    return _vocabulary(table, eos, special, size)


def _vocabulary(
    table: _Table, eos: Sequence[int], special: Iterable[int], size: int | None, cuts: bool = False
) -> Vocabulary:
    """The vocabulary of a table, in which ``special`` never spell text either. The model of how the tokenizer encodes
    knows nothing of that: an added token among them is taken out of a text as before. With ``cuts``, tokens beyond
    ``size`` are left out.
    """
    from interlock import _core

    if table.document:
        stray = next((i for i in eos if not 0 <= i < _WIDEST), None)
        if stray is not None:
            raise _error(f"eos_token_ids: id {stray} is out of range")
        return _core._vocabulary_of_document(
            **table.document, eos_token_ids=eos, special_token_ids=sorted(special), size=size, cuts=cuts
        )
    if cuts and size is not None and max([*table.tokens, *table.special], default=-1) >= size:
        # The model of how the tokenizer encodes names tokens that are not there: then nothing is forced.
        table = _Table(
            {i: token for i, token in table.tokens.items() if i < size}, {i for i in table.special if i < size}
        )
    listed = max([*table.tokens, *table.special], default=-1)
    _check_width(listed + 1)
    stray = next((i for i in eos if i > listed), None)
    if stray is not None and size is None:
        raise _error(
            f"eos_token_ids: id {stray} is out of range: the tokenizer lists {counted(listed + 1, 'id')}, from 0 to "
            f"{listed}; give size too, the width of the logits, if the model has more"
        )
    tokens = [table.tokens.get(i, b"") for i in range(listed + 1)]
    return _core._vocabulary_with_model(tokens, eos, sorted({*table.special, *special}), size, **table.model)


vocabulary_from_tokenizer = from_tokenizer


def from_file(
    path: str | os.PathLike[str],
    eos_token_ids: SupportsIndex | Iterable[SupportsIndex] | None = None,
    size: int | None = None,
    special_token_ids: SupportsIndex | Iterable[SupportsIndex] | None = None,
) -> Vocabulary:
    """The vocabulary of a tokenizer file: ``tokenizer.json``, ``tekken.json``, tiktoken's format, a sentencepiece
    model or a GGUF file. The format is recognised by what the file holds. Of a folder it is the file with the first of
    these names: ``tokenizer.json``, ``tekken.json``, ``tokenizer.model``, ``tiktoken.model``, ``qwen.tiktoken``.

    ``eos_token_ids`` are the stop tokens, by default those of the configuration files beside the file
    (``generation_config.json``, ``tokenizer_config.json``, ``config.json``) or of the file itself. ``size`` is the
    width of the logits, by default the ids that are listed. ``special_token_ids`` never spell text, beside those that
    the file marks as special: by default the added tokens of a ``tokenizer.json`` that are markup
    (``interlock.integrations.markup_tokens``), and with ``()`` none.
    """
    from interlock import _core
    from interlock.integrations.markup_tokens import readable_markup_ids
    from interlock.util.argument_types import require

    require(path=(path, "path"))
    path = _file_in(path) if os.path.isdir(path) else path
    eos = None if eos_token_ids is None else _ids("eos_token_ids", eos_token_ids)
    if special_token_ids is None:
        special = readable_markup_ids(path) if os.path.isfile(path) else []
    else:
        special = _ids("special_token_ids", special_token_ids)
    if os.path.isfile(path) and not os.path.getsize(path):
        error = _error(f"{os.fsdecode(path)} is empty: it should hold a tokenizer, such as a model's tokenizer.json")
        error.code = "not_a_tokenizer"
        raise error
    return _core._load_vocabulary(os.fspath(path), eos, size, special)


def _file_in(folder: str | os.PathLike[str]) -> str:
    """The tokenizer file in the folder of a model."""
    place = os.fsdecode(folder)
    for name in FILES:
        if os.path.isfile(path := os.path.join(place, name)):
            return path
    raise _error(
        f"{place} is a folder, and none of its files is named {', '.join(FILES[:-1])} or {FILES[-1]}: "
        "give the path of the tokenizer file"
    )


def _ids(argument: str, given: Any) -> list[int]:
    """One id or several, also as NumPy and torch have them."""
    try:
        return [operator.index(given)]
    except TypeError:
        pass
    try:
        return [operator.index(i) for i in given]
    except TypeError:
        raise TypeError(f"{argument} must be a token id or several, all of them int, not {given!r:.80}") from None


def _check_width(width: int) -> None:
    if width > _WIDEST:
        raise _error(f"token id {width - 1} is larger than the widest that is supported, {_WIDEST}")


def _error(message: str) -> VocabularyError:
    from interlock import VocabularyError

    return VocabularyError(message)


def _unsupported(message: str) -> Exception:
    from interlock import UnsupportedError

    return UnsupportedError(f"{message}, so no token has bytes of its own")


def _name(value: Any) -> str:
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _is(value: Any, package: str, name: str) -> bool:
    """Whether a class named ``name`` from ``package`` is among the classes of ``value``."""
    return any(c.__name__ == name and c.__module__.split(".")[0] == package for c in type(value).__mro__)


def is_recognised(tokenizer: Any) -> bool:
    """Whether ``tokenizer`` is an object that ``from_tokenizer`` reads."""
    known = (("mistral_common", "MistralTokenizer"), *(reader[:2] for reader in _READERS))
    return any(_is(tokenizer, package, name) for package, name in known)


def _read(tokenizer: Any) -> _Table:
    if _is(tokenizer, "mistral_common", "MistralTokenizer"):
        tokenizer = tokenizer.instruct_tokenizer.tokenizer
    for package, name, read in _READERS:
        if _is(tokenizer, package, name):
            return read(tokenizer)
    from interlock.unrecognised_tokenizers import what_to_pass

    is_name = isinstance(tokenizer, str)
    said = (
        f"{tokenizer!r} is a name and no tokenizer"
        if is_name
        else f"{_name(tokenizer)} is not a tokenizer that is read"
    )
    raise _error(f"{said}: {what_to_pass(tokenizer)}")


# --- tokenizers -----------------------------------------------------------------------------------------------


def _read_tokenizers(tokenizer: Any) -> _Table:
    """``tokenizers.Tokenizer``: the model lists the text of each id, the decoder says what bytes it stands for.

    The core reads both. The library numbers added tokens itself, so it is asked and the numbers in the document are
    not used.
    """
    if tokenizer.decoder is None:
        raise _unsupported("the tokenizer has no decoder: it joins tokens with spaces")
    decode = _decoder(json.loads(tokenizer.decoder.__getstate__()))
    added, keeps_numbers = [], True
    for number, token in tokenizer.get_added_tokens_decoder().items():
        i = tokenizer.token_to_id(token.content)
        keeps_numbers &= i == number
        if i is not None:
            # From version 0.23 on, the library's text of a token that is looked for in normalised text is normalised.
            spelled = token.content.encode() if token.special else decode(tokenizer.id_to_token(i))
            added.append((i, token.content, spelled, token.special))
    return _Table(document={"document": tokenizer.to_str(), "added": added, "keeps_numbers": keeps_numbers})


def _decoder(decoder: dict[str, Any]) -> Callable[[str], bytes]:
    """One token's text to its bytes, as a decoder of the tokenizers library does it after another token.

    A step is kept if it looks at one token alone. A step that only joins tokens, or only trims the start of the
    whole text, does nothing to a token. All others are refused.
    """
    steps: list[Callable[[str], str]] = []
    last: Callable[[str], bytes] = str.encode
    joined = made_bytes = False
    todo = [decoder]
    while todo:
        part = todo.pop(0)
        kind = part["type"]
        if kind == "Sequence":
            todo[:0] = part["decoders"]
        elif kind == "Fuse":
            joined = True
        elif kind == "Strip" and joined and part["stop"] == 0:
            pass
        elif joined or made_bytes:
            raise _unsupported(f"the decoder step {kind} looks across tokens")
        elif kind == "Strip":
            steps.append(_strip(part["content"], part["start"], part["stop"]))
        elif kind == "Replace" and part["pattern"].get("String"):
            steps.append(_replace(part["pattern"]["String"], part["content"]))
        elif kind == "Metaspace":
            steps.append(_replace(part["replacement"], " "))
        elif kind == "ByteFallback":
            last, made_bytes = _byte_fallback, True
        elif kind == "ByteLevel":
            last, joined, made_bytes = _byte_level, True, True
        else:
            raise _unsupported(f"the decoder step {kind} looks across tokens")

    def decode(text: str) -> bytes:
        for step in steps:
            text = step(text)
        return last(text)

    return decode


def _replace(pattern: str, content: str) -> Callable[[str], str]:
    return lambda text: text.replace(pattern, content)


def _strip(char: str, start: int, stop: int) -> Callable[[str], str]:
    def strip(text: str) -> str:
        for _ in range(start):
            text = text.removeprefix(char)
        for _ in range(stop):
            text = text.removesuffix(char)
        return text

    return strip


def _byte_letters() -> dict[int, int]:
    """GPT-2's printable character for each byte, as a map of code points for ``str.translate``.

    Bytes that print in Latin-1 stand for themselves, the others take the characters from U+0100 on in order. The
    Latin-1 characters that stand for no byte become one that Latin-1 cannot encode.
    """
    others = [*range(0x21), *range(0x7F, 0xA1), 0xAD]
    return dict.fromkeys(others, 0x100) | {0x100 + n: b for n, b in enumerate(others)}


_BYTE_LETTERS = _byte_letters()


def _byte_level(text: str) -> bytes:
    try:
        return text.translate(_BYTE_LETTERS).encode("latin-1")
    except UnicodeEncodeError:  # a character that stands for no byte: the text stands for itself
        return text.encode()


def _byte_fallback(text: str) -> bytes:
    if len(text) == 6 and text.startswith("<0x") and text.endswith(">"):
        try:
            return bytes.fromhex(text[3:5])
        except ValueError:
            pass
    return text.encode()


# --- transformers ---------------------------------------------------------------------------------------------


def _read_transformers(tokenizer: Any) -> _Table:
    inner = getattr(tokenizer, "backend_tokenizer", None)
    if inner is None and _is(getattr(tokenizer, "tokenizer", None), "mistral_common", "MistralTokenizer"):
        inner = tokenizer.tokenizer
    table = _read_slow(tokenizer) if inner is None else _read(inner)
    if tokenizer.eos_token_id is not None:
        table.eos = [tokenizer.eos_token_id]
    return table


def _read_slow(tokenizer: Any) -> _Table:
    """A tokenizer written in Python: what its pieces stand for depends on what it is built on."""
    pieces = tokenizer.convert_ids_to_tokens
    model, alphabet = getattr(tokenizer, "sp_model", None), getattr(tokenizer, "byte_decoder", None)
    spell: Callable[[Any], bytes]
    if model is not None:
        _check_sentencepiece(model.serialized_model_proto())

        def spell(piece: str) -> bytes:
            # Models with a numbering of their own keep the pieces, so it is the piece that is looked up.
            i = model.piece_to_id(piece)
            if model.is_control(i) or model.is_unknown(i):
                return b""
            return _byte_fallback(piece) if model.is_byte(i) else piece.replace("▁", " ").encode()

    elif alphabet is not None:

        def spell(piece: str) -> bytes:
            known = all(c in alphabet for c in piece)
            return bytes(alphabet[c] for c in piece) if known else piece.encode()

    elif isinstance(pieces(0), bytes):
        spell = bytes
    else:
        raise _error(f"{_name(tokenizer)} has no table of bytes that is recognised: use its fast version")
    added = tokenizer.added_tokens_decoder
    table = _Table()
    width = max(len(tokenizer), max(added, default=-1) + 1)
    _check_width(width)
    for i in range(width):
        if i in added:
            table.tokens[i] = added[i].content.encode()
            if added[i].special:
                table.special.add(i)
        elif (piece := pieces(i)) is not None:
            table.tokens[i] = spell(piece)
    return table


# --- tiktoken, sentencepiece, mistral_common ------------------------------------------------------------------


def _read_tiktoken(encoding: Any) -> _Table:
    table = _Table()
    _check_width(encoding.n_vocab)
    table.special = {encoding.encode_single_token(text) for text in encoding.special_tokens_set}
    for i in range(encoding.n_vocab):
        try:
            table.tokens[i] = encoding.decode_single_token_bytes(i)
        except KeyError:  # a gap in the numbering
            continue
    if "<|endoftext|>" in encoding.special_tokens_set:
        table.eos = [encoding.encode_single_token("<|endoftext|>")]
    # The library has no public way to the pattern's pieces; without these attributes there is no model.
    pattern, ranks = getattr(encoding, "_pat_str", None), getattr(encoding, "_mergeable_ranks", None)
    if isinstance(pattern, str) and isinstance(ranks, dict):
        table.model = {"pattern": pattern, "ids": sorted(ranks.values()), "added": sorted(table.special)}
    return table


def _read_sentencepiece(model: Any) -> _Table:
    table = _Table(model={"sentencepiece": model.serialized_model_proto()})
    _check_sentencepiece(table.model["sentencepiece"])
    for i in range(model.get_piece_size()):
        piece = model.id_to_piece(i)
        if model.is_control(i) or model.is_unknown(i):
            table.special.add(i)
            table.tokens[i] = piece.encode()
        elif model.is_byte(i):
            table.tokens[i] = _byte_fallback(piece)
        else:
            table.tokens[i] = piece.replace("▁", " ").encode()
    if model.eos_id() >= 0:
        table.eos = [model.eos_id()]
    return table


_ACROSS = {(2, 24): "writes spaces after words", (5, 2): "rewrites text after decoding"}
"""What the core refuses of a model, by field of the model and field of that: the training's treat_whitespace_as_suffix
and the denormalizer's character map."""


def _check_sentencepiece(data: bytes) -> None:
    """``UnsupportedError`` for a model that does more to its pieces than write spaces.

    The processor does not say so, only its serialized form does. The core reads that form too, of files alone.
    """
    for part, content in _fields(data):
        if part in (2, 5) and isinstance(content, bytes):
            for name, value in _fields(content):
                if value and (part, name) in _ACROSS:
                    raise _unsupported(f"the sentencepiece model {_ACROSS[part, name]}")


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Number and value of each field of a message in the format of protocol buffers."""
    at = 0

    def number() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    while at < len(data):
        tag = number()
        if tag & 7 == 0:
            yield tag >> 3, number()
        else:
            length = {1: 8, 5: 4}.get(tag & 7) or number()
            yield tag >> 3, data[at : at + length]
            at += length


def _read_tekken(tokenizer: Any) -> _Table:
    table = _Table(special=set(range(tokenizer.num_special_tokens)), eos=[tokenizer.eos_id])
    for i in range(tokenizer.n_words):
        special = i in table.special
        table.tokens[i] = tokenizer.id_to_piece(i).encode() if special else tokenizer.id_to_byte_piece(i)
    pattern = getattr(getattr(tokenizer, "_model", None), "_pat_str", None)
    if isinstance(pattern, str):
        table.model = {"pattern": pattern, "ids": range(tokenizer.num_special_tokens, tokenizer.n_words)}
    return table


def _read_mistral_sentencepiece(tokenizer: Any) -> _Table:
    # The wrapper hides which pieces are bytes, so the model that it wraps is read.
    return _read(tokenizer._model)


_READERS: Sequence[tuple[str, str, Callable[[Any], _Table]]] = (
    ("mistral_common", "Tekkenizer", _read_tekken),
    ("mistral_common", "SentencePieceTokenizer", _read_mistral_sentencepiece),
    ("transformers", "PreTrainedTokenizerBase", _read_transformers),
    ("tokenizers", "Tokenizer", _read_tokenizers),
    ("tiktoken", "Encoding", _read_tiktoken),
    ("sentencepiece", "SentencePieceProcessor", _read_sentencepiece),
)
