"""Rules of URIs (RFC 3986), IRIs (RFC 3987) and URI templates (RFC 6570)."""

from __future__ import annotations

import re
from urllib.parse import quote

from interlock.explain.format_rules.hosts import ipv6
from interlock.explain.format_rules.wording import may_not_stand, part

NEVER = re.compile(r'[\0- "<>\\^`{|}\x7f]')
"""Characters of ASCII that stand nowhere in a URI or an IRI."""
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
AUTHORITY = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?//([^/?#]*)")
PERCENT = re.compile("%(?![0-9A-Fa-f]{2})")
EXPRESSION = re.compile(r"\{([^{}]*)\}")
NAME = r"(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})(?:\.?(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2}))*"
VARIABLE = re.compile(NAME + r"(?::[1-9][0-9]{0,3}|\*)?")


def uri(text: str) -> str:
    """The rule of ``uri`` that a text breaks."""
    return _scheme(text) or _reference(text, "uri")


def iri(text: str) -> str:
    """The rule of ``iri`` that a text breaks."""
    return _scheme(text) or _reference(text, "iri")


def uri_reference(text: str) -> str:
    """The rule of ``uri-reference`` that a text breaks."""
    return _reference(text, "uri-reference")


def iri_reference(text: str) -> str:
    """The rule of ``iri-reference`` that a text breaks."""
    return _reference(text, "iri-reference")


def _scheme(text: str) -> str:
    return "" if SCHEME.match(text) else "it does not begin with a scheme, such as https:"


def _reference(text: str, name: str) -> str:
    if never := NEVER.search(text):
        return may_not_stand(never[0], f"in a {name}", f"write {quote(never[0])}")
    if not name.startswith("iri") and (wide := re.search("[^\0-\x7f]", text)):
        way = f"write {quote(wide[0])}; " if not "\ud800" <= wide[0] <= "\udfff" else ""
        return may_not_stand(wide[0], f"in a {name}", f"{way}{name.replace('uri', 'iri')} has letters beyond ASCII")
    if PERCENT.search(text):
        return _percent()
    if text.count("#") > 1:
        return "# stands in it twice; %23 is one in a part"
    if found := AUTHORITY.match(text):
        return _authority(found[1], text[found.end() :])
    first = re.match("[^/?#:]*:", text)
    if first and not SCHEME.match(text):
        return f"{part(first[0])} is no scheme, and the first part of a path has no colon"
    return _brackets(text)


def _authority(authority: str, rest: str) -> str:
    """The rule that the host and what stands around it break."""
    if authority.count("@") > 1:
        return "@ stands before the path twice; %40 is one in a part"
    host = authority.rpartition("@")[2]
    if host.startswith("["):
        address, closed, behind = host[1:].partition("]")
        if not closed:
            return "the bracket around the address of the host is not closed"
        if behind[:1] not in ("", ":"):
            return may_not_stand(behind[0], "behind the bracket: a colon with a port does")
        if address[:1] not in ("v", "V") and (problem := ipv6(address)):
            return f"in the brackets, {problem}"
    port = re.sub(r"^\[[^\]]*\]", "", host).partition(":")[2]
    if not re.fullmatch("[0-9]*", port):
        return f"the port {part(port)} is no number"
    return _brackets(rest)


def _brackets(text: str) -> str:
    if bracket := re.search(r"[\[\]]", text):
        way = f"they are around an address of a host alone: write {quote(bracket[0])}"
        return may_not_stand(bracket[0], "here", way)
    return ""


def _percent() -> str:
    return "two hexadecimal digits do not follow a %; %25 is the character itself"


def uri_template(text: str) -> str:
    """The rule of ``uri-template`` that a text breaks."""
    outside = EXPRESSION.sub("", text)
    if brace := re.search("[{}]", outside):
        return f"a {'{ is not closed' if brace[0] == '{' else '} closes nothing'}"
    if never := NEVER.search(outside):
        return may_not_stand(never[0], "outside of braces", f"write {quote(never[0])}")
    if PERCENT.search(text):
        return _percent()
    for expression in EXPRESSION.finditer(text):
        names = expression[1]
        if names[:1] and names[0] in "+#./;?&=,!@|":
            names = names[1:]
        if not names:
            return "a pair of braces has no name in it"
        for name in names.split(","):
            if not VARIABLE.fullmatch(name):
                return f"{part(name)} is no name of a variable"
    return ""
