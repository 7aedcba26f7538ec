"""Files of indexes: whether one has tables, and a warning where it was to have some and has none."""

from __future__ import annotations

import inspect
import os
from typing import Any

from interlock._core import ArtifactError, Index, Vocabulary
from interlock.util.caller_warnings import warn_caller
from interlock.util.client_messages import with_hint
from interlock.util.plurals import counted

__all__ = ["IncompleteTablesWarning", "has_tables", "holds_tables", "load", "missing_bytes", "plain_save", "save"]

_HEAD = 512
"""More bytes than a file has beside its recipe and its tables."""

# The core's own, before ``save`` and ``load`` of this file take their places.
plain_save = Index.save
plain_load = Index.load


class IncompleteTablesWarning(UserWarning):
    """A file that was to have the tables of an index has none: the vocabulary lacks tokens of single bytes.

    The file is right, and ``Index.load`` compiles the index again. A vocabulary with a token for each byte, as most
    models have, has tables.
    """

    __module__ = "interlock"  # Where programs find it, as tracebacks should say.


def save(self: Index, path: str | os.PathLike[str], tables: bool = False) -> None:
    """Write this index to a file that ``load`` reads: its recipe and, if it was built, its tables.

    ``tables=True`` makes the tables if they are not there: complete ones for up to 4,096 configurations
    (``Limits.max_flat_states`` may say fewer), else those of the first configurations, as where complete ones would
    take more than 16 MiB. ``ArtifactError`` if the file cannot be written.

    Warns (``IncompleteTablesWarning``) where tables were asked for, or built, and the file has none since the
    vocabulary lacks tokens of single bytes.
    """
    plain_save(self, path, tables=tables)
    if (tables or self.is_complete) and not has_tables(self, path):
        missing = missing_bytes(self.vocabulary)
        if missing:
            shown = ", ".join(f"0x{byte:02x}" for byte in missing[:4]) + (", ..." if len(missing) > 4 else "")
            warn_caller(
                f"{os.fspath(path)} has no tables, and loading it compiles the index again: the vocabulary has no "
                f"token for {counted(len(missing), 'single byte')} ({shown}), which narrows what the source accepts",
                IncompleteTablesWarning,
            )


def load(cls: type[Index], /, *args: Any, **options: Any) -> Index:
    # A file has no vocabulary: what to do about a missing one, and about another one, is said here.
    if len(args) == 1 and "path" not in options and "vocabulary" not in options:
        raise TypeError(
            "Index.load() is missing the argument vocabulary: a file of an index has none. Pass the one that the index "
            "was compiled for: Vocabulary.from_tokenizer(tokenizer), or Vocabulary.load(path) of one that was saved"
        )
    try:
        return plain_load(*args, **options)
    except ArtifactError as error:
        if error.code != "other_vocabulary" or error.subject is None or error.hint is not None:
            raise
        begins = error.subject[:12]
        hint = f"pass the vocabulary whose fingerprint begins with {begins}, or compile the source for this one"
        raise with_hint(error, hint) from None


# What ``help`` and ``inspect`` show is the core's.
load.__doc__ = plain_load.__doc__
_OWN = inspect.Parameter("cls", inspect.Parameter.POSITIONAL_ONLY)
load.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
    [_OWN, *inspect.signature(plain_load).parameters.values()]
)


def has_tables(index: Index, path: str | os.PathLike[str]) -> bool:
    """Whether the file at ``path``, to which ``index`` was saved, has tables."""
    return holds_tables(path, index._recipe())


def holds_tables(path: str | os.PathLike[str], recipe: str) -> bool:
    """Whether the file at ``path``, whose recipe is known, has tables."""
    return os.path.getsize(path) > len(recipe.encode()) + _HEAD


def missing_bytes(vocabulary: Vocabulary) -> list[int]:
    """The bytes of UTF-8 for which no token stands alone."""
    silent: set[Any] = {*vocabulary.special_token_ids, *vocabulary.eos_token_ids}
    single = {
        spelling[0]
        for token in range(len(vocabulary))
        if token not in silent and len(spelling := vocabulary.token_bytes(token)) == 1
    }
    # 0xC0, 0xC1 and those from 0xF5 on stand in no text.
    return [byte for byte in range(0xF5) if byte not in single and byte not in (0xC0, 0xC1)]
