"""Takes the fields of one JSON object one after another, with errors that say where."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NoReturn

from interlock.tools.errors import StructuralTagError
from interlock.util.json_pointer import escaped
from interlock.util.near_words import meant

__all__ = ["LARGEST", "Fields", "is_unicode", "kind_of", "meant"]

#: The largest count that XGrammar takes.
LARGEST = 2_147_483_647

_LISTS = (list, tuple)


def kind_of(value: object) -> str:
    """The JSON type of what was given, for an error."""
    names: dict[type, str] = {bool: "a boolean", str: "a string", int: "a number", float: "a number", list: "an array"}
    if value is None:
        return "null"
    return "an object" if isinstance(value, Mapping) else names.get(type(value), type(value).__name__)


def shown(value: object) -> str:
    """A value as clients write it, for an error: ``None`` and ``True`` are Python's words.

    >>> shown(None), shown(True), shown("a")
    ('null', 'true', "'a'")
    """
    try:
        return json.dumps(value) if value is None or isinstance(value, bool) else repr(value)
    except RecursionError:
        return kind_of(value)


def is_unicode(text: str) -> bool:
    """Whether a text is one: JSON can spell a surrogate without its other half, which no bytes are.

    >>> is_unicode("\\U0001f600"), is_unicode("\\ud83d")
    (True, False)
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


class Fields:
    """The fields of the object at ``pointer``. What nobody took is a mistake, which ``done`` reports."""

    def __init__(self, value: Any, pointer: str, what: str) -> None:
        if type(value) is not dict and not isinstance(value, Mapping):
            raise StructuralTagError(f"{what} is an object, not {kind_of(value)}", pointer)
        self.left = dict(value)
        self.pointer = pointer
        self.what = what
        self.known: list[str] = []

    def at(self, *keys: object) -> str:
        """The JSON Pointer of what ``keys`` lead to, from this object on."""
        pointer = self.pointer
        for key in keys:
            pointer = f"{pointer}/{key if isinstance(key, int) else escaped(key)}"
        return pointer

    def refuse(self, key: str, reason: str) -> NoReturn:
        """Raise ``StructuralTagError`` with ``reason`` at the field ``key``."""
        raise StructuralTagError(reason, self.at(key))

    def lacks(self, key: str) -> StructuralTagError:
        """The error of a field that is not there, and must be."""
        said = f"{self.what} needs the field {key!r}"
        return StructuralTagError(said, self.pointer, code="missing_field", subject=key)

    def has(self, key: str) -> bool:
        """Whether the field is there and not null. It stays for a later ``take``."""
        self.known.append(key)
        return self.left.get(key) is not None

    def take(self, key: str) -> Any:
        """The value of a field that must be there."""
        self.known.append(key)
        if key not in self.left:
            raise self.lacks(key)
        return self.left.pop(key)

    def optional(self, key: str, default: Any) -> Any:
        """The value of a field, or the default where it is absent or null."""
        self.known.append(key)
        value = self.left.pop(key, None)
        return default if value is None else value

    def text(self, key: str) -> str:
        """The value of a field that must be there and be a text. ``StructuralTagError`` otherwise, and for half of a
        surrogate pair.
        """
        value = self.take(key)
        if not isinstance(value, str):
            self.refuse(key, f"a string is needed, not {kind_of(value)}")
        if not is_unicode(value):
            self.refuse(key, "the string holds a lone surrogate, which is not text")
        return value

    def truth(self, key: str, default: bool = False) -> bool:
        """The value of a field that is true or false, ``default`` where it is absent or null. ``StructuralTagError``
        for anything else.
        """
        value = self.optional(key, default)
        if not isinstance(value, bool):
            self.refuse(key, f"true or false is needed, not {kind_of(value)}")
        return value

    def count(self, key: str, default: int | None) -> int | None:
        """The value of a field that is a whole number from 0 to ``LARGEST``, ``default`` where it is absent or null.
        ``StructuralTagError`` for anything else.
        """
        value = self.optional(key, default)
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool):
            self.refuse(key, f"a whole number is needed, not {value!r}")
        if not 0 <= value <= LARGEST:
            self.refuse(key, f"{value} is not between 0 and {LARGEST}")
        return value

    def items(self, value: Any, key: str, *, empty: bool = True) -> list[Any]:
        """``value``, which the field ``key`` has, as a list. ``StructuralTagError`` for what is no array, and for an
        empty one unless ``empty``.
        """
        if not isinstance(value, _LISTS):
            self.refuse(key, f"an array is needed, not {kind_of(value)}")
        if not value and not empty:
            self.refuse(key, f"{self.what} needs at least one element")
        return list(value)

    def texts(self, key: str, *, empty: bool = True, required: bool = False) -> tuple[str, ...]:
        """A list of texts, none of which is empty."""
        found = self.items(self.take(key) if required else self.optional(key, []), key, empty=empty)
        for index, text in enumerate(found):
            if not isinstance(text, str):
                raise StructuralTagError(f"a string is needed, not {kind_of(text)}", self.at(key, index))
            if not text:
                raise StructuralTagError("the text is empty", self.at(key, index))
        return tuple(found)

    def token(self, value: Any, *path: object) -> int | str:
        """``value`` as a token: its id or its text. ``StructuralTagError`` at ``path`` for anything else, an empty text
        and an id that is out of range.
        """
        if isinstance(value, bool) or not isinstance(value, int | str):
            raise StructuralTagError(f"a token is an id or a text, not {kind_of(value)}", self.at(*path))
        if isinstance(value, int) and not 0 <= value <= LARGEST:
            raise StructuralTagError(f"{value} is no id of a token", self.at(*path))
        if value == "":
            raise StructuralTagError("the text of the token is empty", self.at(*path))
        return value

    def tokens(self, key: str, *, empty: bool = True, required: bool = False) -> tuple[int | str, ...]:
        """The value of a field that is an array of tokens, as ``token`` takes each. Absent or null is an empty one
        unless ``required``.
        """
        found = self.items(self.take(key) if required else self.optional(key, []), key, empty=empty)
        return tuple(self.token(value, key, index) for index, value in enumerate(found))

    def done(self) -> None:
        """Say that all fields were asked for. ``StructuralTagError`` for one that nobody took, with the name that was
        probably meant.
        """
        if self.left:
            odd = next(iter(self.left))
            self.refuse(
                str(odd),
                f"{self.what} has no field {odd!r}; it has {', '.join(dict.fromkeys(self.known)) or 'none'}"
                f"{meant(odd, self.known)}",
            )
