"""The vocabulary of a server's tokenizer, kept as a file that the processes of a server share.

Reading a tokenizer takes a second for 129,000 tokens, and every process of a server with tensor parallelism would do
it again. So the vocabulary is written once as a *pack*, the file that ``Vocabulary.save`` makes, and mapped afterwards:
that takes milliseconds, and processes that map one file share its memory.

A pack's name is a hash of everything that its vocabulary is made of: what the tokenizer says of itself, the width of
the logits, the stop ids, the ids that never spell text, and this build of interlock. So a pack is never stale.
Processes that want one that is not there wait for the first of them, at a lock that ends with its holder.

Packs lie in ``$INTERLOCK_VOCABULARY_PACKS``, by default ``interlock/vocabularies`` in the user's cache folder. ``off``
keeps none. A folder that cannot be used costs time and nothing else: the vocabulary is made and not kept.

No server and no tokenizer library is imported here.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from interlock import ArtifactError, Vocabulary, VocabularyError, _core, tokenizers
from interlock.integrations.markup_tokens import readable_markup_ids
from interlock.store import locks

__all__ = ["digest_of", "found_or_made", "load_or_make", "pack_folder", "recognised_tokenizer", "vocabulary_for"]

_LOG = logging.getLogger(__name__)

FOLDER_VARIABLE = "INTERLOCK_VOCABULARY_PACKS"
SUFFIX = ".vocabulary"
MOST_PACKS = 32
"""How many packs a folder keeps; those that were used longest ago leave first."""

# Attributes under which wrappers of servers keep the tokenizer that they wrap.
_INSIDE = ("tokenizer", "_tokenizer", "mistral", "backend_tokenizer")


def vocabulary_for(
    tokenizer: Any,
    size: int,
    eos_token_ids: Iterable[int],
    special_token_ids: Iterable[int] | None = None,
    *,
    folder: str | os.PathLike[str] | None = None,
) -> Vocabulary:
    """The vocabulary of ``tokenizer`` for logits of ``size`` columns, from its pack if there is one.

    ``tokenizer`` is an object that ``Vocabulary.from_tokenizer`` reads, or a server's wrapper of one. Tokens that lie
    beyond ``size`` are left out: the model has no logits for them. ``eos_token_ids`` are all ids that end an output.
    ``special_token_ids`` never spell text, beside those that the tokenizer itself marks so, and are by default its
    markup, as for ``Vocabulary.from_tokenizer``. ``folder`` holds the packs, by default that of ``pack_folder()``.

    ``VocabularyError`` if the tokenizer cannot be read or no stop id lies within ``size``, ``UnsupportedError`` if a
    token has no bytes of its own. About 0.2 s for 129,000 tokens where there is a pack, and 2 s where there is none.

    >>> vocabulary = vocabulary_for(tokenizer, model.config.vocab_size, [tokenizer.eos_token_id])  # doctest: +SKIP
    """
    return found_or_made(tokenizer, size, eos_token_ids, special_token_ids, folder=folder)[0]


def found_or_made(
    tokenizer: Any,
    size: int,
    eos_token_ids: Iterable[int],
    special_token_ids: Iterable[int] | None = None,
    *,
    folder: str | os.PathLike[str] | None = None,
) -> tuple[Vocabulary, bool]:
    """What ``vocabulary_for`` returns, and whether a pack held it."""
    source = recognised_tokenizer(tokenizer)
    stops = sorted({int(i) for i in eos_token_ids if 0 <= int(i) < size})
    if not stops:
        raise VocabularyError(f"no stop id lies within the {size} columns of the logits")
    if special_token_ids is None:
        special_token_ids = readable_markup_ids(source)
    special = sorted({int(i) for i in special_token_ids if 0 <= int(i) < size})
    where = pack_folder() if folder is None else Path(folder)
    content = None if where is None else _content(source)
    if where is None or content is None:
        return _made(source, size, stops, special), False
    digest = digest_of(content, _build(), size, stops, special)
    return load_or_make(where, digest, lambda: _made(source, size, stops, special))


def load_or_make(folder: Path, digest: str, make: Callable[[], Vocabulary]) -> tuple[Vocabulary, bool]:
    """The vocabulary of ``digest`` from ``folder``, and whether a pack held it.

    Without a pack ``make`` is called, by one process at a time, and the pack is written for the others. A folder that
    cannot be written, or a pack that cannot be read, costs time and nothing else. Errors are those of ``make``.
    """
    file = folder / (digest + SUFFIX)
    kept = _loaded(file)
    if kept is not None:
        return kept, True
    made = None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Whoever may write a pack decides what tokens mean, so the folder is the user's alone.
        with contextlib.suppress(OSError):
            os.chmod(folder, 0o700)
        with locks.locked(file.with_suffix(".lock")):
            kept = _loaded(file)
            if kept is not None:
                return kept, True
            made = make()
            made.save(file)
            _leave_newest(folder)
        # The mapped one, so that the tables that were made are freed.
        return _loaded(file) or made, False
    except (OSError, ArtifactError) as error:
        _LOG.warning("the vocabulary is not kept in %s for the next start: %s", folder, error)
        return made or make(), False


def digest_of(*parts: object) -> str:
    """64 hexadecimal digits of ``parts``, which are bytes, texts or what ``repr`` tells apart, and of this version."""
    digest = hashlib.sha256(_core.__version__.encode())
    for part in parts:
        data = (
            part
            if isinstance(part, bytes)
            else (part if isinstance(part, str) else repr(part)).encode("utf-8", "surrogatepass")
        )
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


def pack_folder() -> Path | None:
    """The folder of the packs, which need not exist; ``None`` if none are to be kept, or the user has no folder."""
    named = os.environ.get(FOLDER_VARIABLE)
    if named is not None:
        return None if named in ("", "off") else Path(named)
    with contextlib.suppress(RuntimeError):
        base = os.environ.get("XDG_CACHE_HOME")
        return (Path(base) if base else Path.home() / ".cache") / "interlock" / "vocabularies"
    return None


def recognised_tokenizer(tokenizer: Any) -> Any:
    """``tokenizer``, or the one inside it that ``Vocabulary.from_tokenizer`` reads where it is a wrapper of one.

    ``VocabularyError`` if there is none.
    """
    todo, seen = [tokenizer], 0
    while todo and seen < 16:
        value = todo.pop(0)
        seen += 1
        if _is_recognised(value):
            return value
        todo += [inner for name in _INSIDE if (inner := getattr(value, name, None)) is not None]
    kind = type(tokenizer)
    raise VocabularyError(
        f"{kind.__module__}.{kind.__qualname__} is not a tokenizer that interlock reads, nor wraps one"
    )


def _is_recognised(value: Any) -> bool:
    known = [("mistral_common", "MistralTokenizer"), *((package, name) for package, name, _ in tokenizers._READERS)]
    return any(tokenizers._is(value, package, name) for package, name in known)


def _content(tokenizer: Any) -> bytes | None:
    """What the vocabulary of a tokenizer is made of, or ``None`` if that is not known without making it."""
    inner = getattr(tokenizer, "backend_tokenizer", None) or tokenizer
    if tokenizers._is(inner, "tokenizers", "Tokenizer"):
        text: str = inner.to_str()
        return text.encode()
    if tokenizers._is(inner, "tiktoken", "Encoding"):
        ranks, special = getattr(inner, "_mergeable_ranks", None), getattr(inner, "_special_tokens", None)
        if not isinstance(ranks, dict) or not isinstance(special, dict):
            return None
        listed = sorted((rank, token.hex()) for token, rank in ranks.items())
        return json.dumps([inner.n_vocab, getattr(inner, "_pat_str", ""), sorted(special.items()), listed]).encode()
    if tokenizers._is(inner, "sentencepiece", "SentencePieceProcessor"):
        model: bytes = inner.serialized_model_proto()
        return model
    # Of all others the table is what there is: to read it takes a part of the time that making a vocabulary takes.
    table = tokenizers._read(inner)
    return repr((sorted(table.tokens.items()), sorted(table.special), sorted(table.model.items()))).encode()


def _build() -> list[Any]:
    """What tells this build of the package from others: a pack is only for the build that wrote it."""
    parts: list[Any] = [_core.__version__]
    for module in (_core, tokenizers):
        with contextlib.suppress(OSError, TypeError):
            status = os.stat(module.__file__ or "")
            parts += [status.st_size, status.st_mtime_ns]
    return parts


def _loaded(file: Path) -> Vocabulary | None:
    """The vocabulary in a pack, or ``None`` if there is none that is good."""
    if not file.is_file():
        return None
    try:
        vocabulary = Vocabulary.load(file)
    except ArtifactError as error:
        _LOG.warning("a vocabulary pack is made anew: %s", error)
        return None
    with contextlib.suppress(OSError):
        os.utime(file)
    return vocabulary


def _leave_newest(folder: Path) -> None:
    """Remove the packs that were used longest ago. Whoever has mapped one keeps it."""
    with contextlib.suppress(OSError):
        packs = sorted(folder.glob("*" + SUFFIX), key=lambda file: file.stat().st_mtime, reverse=True)
        for file in packs[MOST_PACKS:]:
            file.unlink(missing_ok=True)


def _made(tokenizer: Any, size: int, stops: list[int], special: list[int]) -> Vocabulary:
    return tokenizers._vocabulary(tokenizers._read(tokenizer), stops, special, size, cuts=True)
