"""Rules of URIs (RFC 3986), IRIs (RFC 3987) and URI templates (RFC 6570)."""

from __future__ import annotations

import random
import re
from urllib.parse import quote

from interlock.string_formats.everyday_words import WORDS
from interlock.string_formats.hosts import ipv6
from interlock.string_formats.string_format import StringFormat
from interlock.string_formats.wording import may_not_stand, part

NEVER = re.compile(r'[\0- "<>\\^`{|}\x7f]')
"""Characters of ASCII that stand nowhere in a URI or an IRI."""
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
AUTHORITY = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?//([^/?#]*)")
PERCENT = re.compile("%(?![0-9A-Fa-f]{2})")
EXPRESSION = re.compile(r"\{([^{}]*)\}")
NAME = r"(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})(?:\.?(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2}))*"
FUTURE = re.compile(r"[Vv][0-9A-Fa-f]+\.[A-Za-z0-9._~!$&'()*+,;=:-]+")
"""An address of a later version of the protocol, which stands in brackets as those of IPv6 do."""
VARIABLE = re.compile(NAME + r"(?::[1-9][0-9]{0,3}|\*)?")
PRIVATE = "\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd"
LETTERS = "\xa0-\ud7ff\uf900-\ufdcf\ufdf0-\uffef" + "".join(
    f"{chr(0xE1000 if plane == 14 else plane << 16)}-{chr(plane << 16 | 0xFFFD)}" for plane in range(1, 15)
)
"""Characters beyond ASCII that an IRI has anywhere; its query has those for private use as well."""
NO_LETTER, NO_CHARACTER = re.compile(f"[^\0-\x7f{LETTERS}]"), re.compile(f"[^\0-\x7f{LETTERS}{PRIVATE}]")


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
    article = "an" if name.startswith("iri") else "a"
    if never := NEVER.search(text):
        return may_not_stand(never[0], f"in {article} {name}", f"write {quote(never[0])}")
    if not name.startswith("iri") and (wide := re.search("[^\0-\x7f]", text)):
        way = f"write {quote(wide[0])}; " if not "\ud800" <= wide[0] <= "\udfff" else ""
        return may_not_stand(
            wide[0], f"in {article} {name}", f"{way}{name.replace('uri', 'iri')} has letters beyond ASCII"
        )
    if name.startswith("iri") and (problem := _no_character(text, f"in {article} {name}") or _private(text)):
        return problem
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


def _no_character(text: str, where: str) -> str:
    """The rule that a character beyond ASCII breaks which IRIs do not have."""
    wrong = NO_CHARACTER.search(text)
    return may_not_stand(wrong[0], f"{where}: it is reserved, or for control") if wrong else ""


def _private(text: str) -> str:
    """The rule that a character for private use breaks outside of the query."""
    before, _, fragment = text.partition("#")
    for piece in (before.partition("?")[0], fragment):
        if found := NO_LETTER.search(piece):
            return may_not_stand(found[0], "outside of the query: it is for private use", f"write {quote(found[0])}")
    return ""


def _authority(authority: str, rest: str) -> str:
    """The rule that the host and what stands around it break."""
    if authority.count("@") > 1:
        return "@ stands before the path twice; %40 is one in a part"
    user, _, host = authority.rpartition("@")
    if problem := _brackets(user):
        return problem
    if host.startswith("["):
        address, closed, behind = host[1:].partition("]")
        if not closed:
            return "the bracket around the address of the host is not closed"
        if behind[:1] not in ("", ":"):
            return may_not_stand(behind[0], "behind the bracket: a colon with a port does")
        if address[:1] in ("v", "V"):
            if not FUTURE.fullmatch(address):
                wanted = "a hexadecimal version, a dot and an address"
                return f"in the brackets, {wanted} follow the v, not {part(address[1:])}"
        elif problem := ipv6(address):
            return f"in the brackets, {problem}"
        host = behind
    elif problem := _brackets(host.partition(":")[0]):
        return problem
    port = host.partition(":")[2]
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
    if problem := _no_character(outside, "outside of braces"):
        return problem
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


def _random_uri(rng: random.Random) -> str:
    return f"https://example.org/{rng.choice(WORDS)}"


def _random_path(rng: random.Random) -> str:
    return f"/{rng.choice(WORDS)}/{rng.choice(WORDS)}"


FORMATS = {
    "uri": StringFormat(uri, "https://example.org/a", varied=_random_uri),
    "uri-reference": StringFormat(uri_reference, "/a/b", varied=_random_path),
    "iri": StringFormat(iri, "https://example.org/ü", varied=_random_uri),
    "iri-reference": StringFormat(iri_reference, "/a/ü", varied=_random_path),
    "uri-template": StringFormat(uri_template, "/users/{id}", varied=lambda r: f"/{r.choice(WORDS)}/{{id}}"),
}
