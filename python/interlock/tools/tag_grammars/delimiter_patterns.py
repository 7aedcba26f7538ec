"""Patterns of delimiters, cut into texts and patterns: what a special token can stand in is a text of its own."""

from __future__ import annotations

import re

from interlock.tools.errors import StructuralTagError
from interlock.tools.spec import nodes

__all__ = ["alternatives", "delimiter", "escaped", "group_of", "is_optional_space", "pattern_of", "with_group"]

#: One part of a pattern. A tag is any text, special tokens too, up to the text that ends it.
Part = nodes.ConstString | nodes.Regex | nodes.Tag

_QUANTIFIER = re.compile(r"(?:[*+?]|\{[0-9]*,?[0-9]*\})[?+]?")
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v"}
_ANCHORS = ("\\A", "\\Z", "\\z", "^", "$")


def delimiter(source: str, pointer: str) -> tuple[Part, ...]:
    """The texts and patterns of which a delimiter is made, one after another.

    Any text (``.*``, however greedy) may hold special tokens and ends where the text behind it begins.
    ``StructuralTagError`` for a pattern that cannot be cut: any text with no plain text behind it, or a group that is
    not closed. Alternatives outside of groups are ``alternatives``'s.

    >>> for part in delimiter(r"to=\\w+.*?<\\|message\\|>", ""):
    ...     print(type(part).__name__)
    ConstString
    Regex
    Tag
    """
    parts: list[Part | nodes.AnyText] = []
    text, ahead, at = "", "", 0
    while at < len(source):
        atom = _atom(source, at, pointer)
        at += len(atom)
        quantifier = _QUANTIFIER.match(source, at)
        at = quantifier.end() if quantifier else at
        if atom in _ANCHORS and not quantifier:
            continue
        if atom.startswith("(?!") and not quantifier and source.startswith((".*", "[\\s\\S]*"), at):
            ahead = atom[3:-1]
            continue
        if atom.startswith(("(?=", "(?!", "(?<=", "(?<!")):
            raise StructuralTagError(f"look-around ({atom}) in a delimiter cannot be enforced", pointer)
        plain = _plain(atom)
        if plain is not None and not quantifier:
            text += plain
            continue
        if text:
            parts.append(nodes.ConstString(text))
            text = ""
        times = quantifier[0] if quantifier else ""
        # How much a search takes is no matter of the language.
        times = times[:-1] if len(times) > 1 and times[-1] in "?+" else times
        is_any = atom in (".", "[\\s\\S]") and times == "*"
        excludes = (nodes.Regex(f"^{ahead}"),) if ahead else ()
        parts.append(nodes.AnyText(excludes) if is_any else nodes.Regex(atom + times))
        ahead = ""
    if text:
        parts.append(nodes.ConstString(text))
    found: list[Part] = []
    any_text: nodes.AnyText | None = None
    for part in parts:
        if any_text is not None:
            if not isinstance(part, nodes.ConstString):
                break
            found.append(nodes.Tag("", nodes.AnyTokens(excludes=any_text.excludes), (part.value,)))
            any_text = None
        elif isinstance(part, nodes.AnyText):
            any_text = part
        else:
            found.append(part)
    if any_text is not None:
        raise StructuralTagError("any text in a delimiter needs a plain text behind it", pointer)
    return tuple(found)


def alternatives(source: str, pointer: str) -> list[str]:
    """The alternatives of a pattern, outside of groups.

    >>> alternatives("a|(b|c)", "")
    ['a', '(b|c)']
    """
    found, start, at = [], 0, 0
    while at < len(source):
        if source[at] == "|":
            found.append(source[start:at])
            start = at = at + 1
            continue
        at += len(_atom(source, at, pointer))
    return [*found, source[start:]]


def group_of(source: str, name: str, pointer: str) -> tuple[str, str, str] | None:
    """What stands before, inside and behind a named group outside of other groups; ``None`` if there is none.

    >>> group_of(r"to=(?P<name>\\w+);", "name", "")
    ('to=', '\\\\w+', ';')
    """
    at = 0
    while at < len(source):
        atom = _atom(source, at, pointer)
        for begin in (f"(?P<{name}>", f"(?<{name}>"):
            if atom.startswith(begin):
                return source[:at], atom[len(begin) : -1], source[at + len(atom) :]
        at += len(atom)
    return None


def with_group(source: str, name: str, value: str, pointer: str) -> str:
    """A pattern with a text in place of a named group, which the text must match. What follows does not lengthen it.

    >>> with_group(r"to=(?P<name>\\w+);", "name", "add", "")
    'to=add;'
    """
    found = group_of(source, name, pointer)
    if found is None:
        raise StructuralTagError(f"the pattern has no group {name!r} outside of other groups", pointer)
    before, inside, after = found
    if not re.fullmatch(inside, value, re.DOTALL):
        raise StructuralTagError(f"{value!r} does not match the group {name!r}, which is {inside!r}", pointer)
    atom = _atom(inside, 0, pointer) if inside else ""
    is_run = bool(atom) and _QUANTIFIER.fullmatch(inside, len(atom)) is not None
    # A search takes as much as it can.
    ahead = f"(?!{atom})" if is_run and after.startswith((".*", "[\\s\\S]*")) else ""
    return before + escaped(value) + ahead + after


def escaped(text: str) -> str:
    """``text`` as a pattern of itself.

    >>> escaped("<|a b|>")
    '<\\\\|a b\\\\|>'
    """
    return re.sub(r"([.^$*+?{}\[\]\\|()])", r"\\\1", text)


def pattern_of(node: nodes.Format, pointer: str) -> str:
    """A pattern of how a delimiter begins, up to the first token or any text in it.

    >>> pattern_of(nodes.Sequence((nodes.Regex("a+"), nodes.ConstString("."), nodes.AnyText(("x",)))), "")
    '(?:a+)\\\\.'
    """
    if isinstance(node, nodes.Or):
        return f"(?:{'|'.join(pattern_of(one, pointer) for one in node.elements)})"
    found = ""
    for part in node.elements if isinstance(node, nodes.Sequence) else (node,):
        if isinstance(part, nodes.Or | nodes.Sequence):
            found += pattern_of(part, pointer)
        elif isinstance(part, nodes.ConstString | nodes.Regex):
            found += escaped(part.value) if isinstance(part, nodes.ConstString) else f"(?:{part.pattern})"
        else:
            break
    if not found or re.fullmatch(found, ""):
        raise StructuralTagError("the end of a tag begins with a text or pattern that is not empty", pointer)
    return found


def is_optional_space(part: Part) -> bool:
    """Whether a part is white space that may be missing."""
    if not isinstance(part, nodes.Regex):
        return False
    return bool(re.fullmatch(part.pattern, "")) and not re.sub(r"\\[sntr]|[ \n\t\r*?+\[\]]", "", part.pattern)


def _plain(atom: str) -> str | None:
    """The text that an atom stands for, if it stands for one."""
    if atom.startswith("\\"):
        kind = atom[1]
        if kind in _CONTROLS:
            return _CONTROLS[kind]
        if kind in "xuU":
            return chr(int(atom[2:], 16))
        return None if kind.isalnum() else kind
    return None if len(atom) > 1 or atom in ".^$" else atom


def _atom(source: str, at: int, pointer: str) -> str:
    """One character, escape, class or group."""
    if source[at] == "\\":
        digits = {"x": 2, "u": 4, "U": 8}.get(source[at + 1 : at + 2], 0)
        return source[at : at + 2 + digits]
    if source[at] not in "([":
        return source[at]
    depth, is_class, here = 0, False, at
    while here < len(source):
        char = source[here]
        if char == "\\":
            here += 1
        elif is_class:
            is_class = char != "]"
        elif char == "[":
            is_class = True
            here += source.startswith(("]", "^]"), here + 1) and (1 + (source[here + 1] == "^"))
        elif char in "()":
            depth += 1 if char == "(" else -1
        if not depth and not is_class:
            return source[at : here + 1]
        here += 1
    raise StructuralTagError(f"the pattern {source!r} has a group or a class that is not closed", pointer)
