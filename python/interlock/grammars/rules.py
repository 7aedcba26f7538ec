"""Rules of a grammar's text, replaced by others."""

from __future__ import annotations

import re
from collections.abc import Mapping

from interlock._core import InternalError


def replace_rules(text: str, rules: Mapping[str, str]) -> str:
    """`text` with the bodies of these rules and terminals replaced. An empty body drops the definition.

    A definition goes from the beginning of its first line to the last line that is indented.
    """
    for name, body in rules.items():
        definition = re.compile(rf"^{re.escape(name)}(\.\d+)?:.*\n(?:[ \t]+\S.*\n)*", re.MULTILINE)
        replacement = f"{name}: {body}\n" if body else ""
        text, count = definition.subn(lambda _, r=replacement: r, text)  # type: ignore[misc]
        if count != 1:
            raise InternalError(f"a grammar defines {name} {count} times")
    return text


def literal(text: str) -> str:
    """A regular expression, as Lark writes it, of one text."""
    return "".join(c if c.isalnum() or c in "_ " else rf"\x{ord(c):02x}" if ord(c) < 128 else c for c in text)
