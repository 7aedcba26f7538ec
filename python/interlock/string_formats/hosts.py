"""Rules of names of hosts (RFC 1123), addresses of hosts (RFC 4291) and mail addresses (RFC 5321)."""

from __future__ import annotations

import random
import re

from interlock.string_formats.everyday_words import WORDS
from interlock.string_formats.string_format import StringFormat
from interlock.string_formats.wording import may_not_stand, part
from interlock.util.plurals import counted

LONGEST_NAME, LONGEST_LABEL, LONGEST_LOCAL = 253, 63, 64
DOTS = "[.\u3002\uff0e\uff61]"
"""What stands between the labels of an international name."""
QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
"""From a quotation mark to the one that closes it."""
NO_LETTER = re.compile("[\x80-\x9f\ud800-\uf8ff\ufdd0-\ufdef\ufff0-\uffff\U000f0000-\U0010ffff]")
"""Beyond ASCII, what no version of Unicode makes a letter: control characters, surrogates, private use, reserved."""
OUTSIDE_QUOTES = re.compile(r"[A-Za-z0-9!#-'*+\-/=?^-~.\u0080-\U0010ffff]")


def hostname(text: str) -> str:
    """The rule of ``hostname`` that a text breaks."""
    return _name(text, "it", False)


def idn_hostname(text: str) -> str:
    """The rule of ``idn-hostname`` that a text breaks; the tables of letters of Unicode are not looked into."""
    return _name(text, "it", True)


def _name(text: str, subject: str, international: bool) -> str:
    if not text:
        return f"{subject} is empty"
    if text.isascii() and len(text) > LONGEST_NAME:
        return f"{subject} has {len(text)} characters; at most {LONGEST_NAME} are allowed"
    labels = re.split(DOTS if international else r"\.", text)
    if "" in labels:
        if not labels[0]:
            return f"{subject} begins with a dot"
        return f"{subject} ends with a dot" if labels.index("") == len(labels) - 1 else _two_dots(subject)
    for label in labels:
        if problem := _label(label, international):
            return problem
    return ""


def _two_dots(subject: str) -> str:
    return f"{subject} has two dots side by side"


def _label(label: str, international: bool) -> str:
    """The rule that a label, the text between two dots, breaks."""
    for char in label:
        if char.isascii() and not char.isalnum() and char != "-":
            return may_not_stand(char, f"in the label {part(label)}", "letters, digits and hyphens may")
        if not char.isascii() and not international:
            return may_not_stand(char, f"in the label {part(label)}", "idn-hostname has letters beyond ASCII")
        if NO_LETTER.match(char):
            return may_not_stand(char, f"in the label {part(label)}: it is no letter, whatever the script")
    if label.startswith("-") or label.endswith("-"):
        return f"the label {part(label)} {'begins' if label.startswith('-') else 'ends'} with a hyphen"
    if label.isascii() and len(label) > LONGEST_LABEL:
        return f"the label {part(label)} has {len(label)} characters; at most {LONGEST_LABEL} are allowed"
    return ""


def ipv4(text: str) -> str:
    """The rule of ``ipv4`` that a text breaks."""
    numbers = text.split(".")
    for number in numbers:
        if not re.fullmatch("[0-9]+", number):
            return f"{part(number)} is no number" if number else "a number is missing beside a dot"
    if len(numbers) != 4:
        return f"it has {counted(len(numbers), 'number')}; an address has 4, with dots between them"
    for number in numbers:
        if len(number) > 1 and number.startswith("0"):
            return f"the number {part(number)} has a 0 in front"
        if len(number) > 3 or int(number) > 255:
            return f"the number {part(number)} is above 255"
    return ""


def ipv6(text: str) -> str:
    """The rule of ``ipv6`` that a text breaks."""
    if wrong := re.search("[^0-9A-Fa-f:.]", text):
        return may_not_stand(wrong[0], "in an address" if wrong[0] != "%" else "in an address: it has no zone")
    if ":::" in text or text.count("::") > 1:
        return "more than two colons stand side by side" if ":::" in text else ":: stands in it twice"
    if re.match(":(?!:)", text) or re.search("(?<!:):$", text):
        return "a single colon stands at its beginning or its end"
    groups = [group for group in text.split(":") if group]
    last = groups[-1] if groups else ""
    for group in groups[:-1] if "." in last else groups:
        if len(group) > 4 or "." in group:
            if "." in group:
                return "numbers with dots stand at its end alone"
            return f"the group {part(group)} has {len(group)} digits; at most 4 are allowed"
    if "." in last and (problem := ipv4(last)):
        return (
            f"at its end, {problem}" if not problem.startswith("it has") else problem.replace("it has", "its end has")
        )
    count = len(groups) + ("." in last)
    if "::" in text:
        return f"it has {count} groups beside ::; at most 7 are allowed" if count > 7 else ""
    return "" if count == 8 else f"it has {counted(count, 'group')}; 8 are needed where there is no ::"


def email(text: str) -> str:
    """The rule of ``email`` that a text breaks."""
    return _mailbox(text, False)


def idn_email(text: str) -> str:
    """The rule of ``idn-email`` that a text breaks."""
    return _mailbox(text, True)


def _mailbox(text: str, international: bool) -> str:
    local, at, domain = text.rpartition("@")
    if not at:
        return "it has no @"
    if not local or not domain:
        return f"nothing stands {'before' if not local else 'behind'} the @"
    return _local(local, international) or _domain(domain, international)


def _local(local: str, international: bool) -> str:
    """The rule that the part before the @ breaks."""
    size = len(local.encode("utf-8", "surrogatepass"))
    if size > LONGEST_LOCAL:
        what = "characters" if local.isascii() else "bytes of UTF-8"
        return f"the part before the @ has {size} {what}; at most {LONGEST_LOCAL} are allowed"
    if not international and (wide := re.search("[^\0-\x7f]", local)):
        return may_not_stand(wide[0], "before the @", "idn-email has characters beyond ASCII")
    if local.startswith('"'):
        return _quoted(local)
    if local.startswith(".") or local.endswith("."):
        return f"the part before the @ {'begins' if local.startswith('.') else 'ends'} with a dot"
    if ".." in local:
        return _two_dots("the part before the @")
    for char in local:
        if char == "@":
            return "it has more than one @"
        if not OUTSIDE_QUOTES.match(char):
            return may_not_stand(char, "before the @ outside of quotation marks")
    return ""


def _quoted(local: str) -> str:
    """The rule that a part before the @ in quotation marks breaks."""
    closed = QUOTED.match(local)
    if closed is None:
        return "the quotation mark at its beginning is not closed before the @"
    if closed.end() < len(local):
        return f"{part(local[closed.end() :])} stands between the closing quotation mark and the @"
    if control := re.search(r"[\0-\x1f\x7f]", local):
        return may_not_stand(control[0], "inside the quotation marks: it is a control character")
    if escaped := re.search(r"\\([^\0-\x7f])", re.sub(r"\\\\", "", local)):
        return may_not_stand(escaped[1], "behind a backslash: it is beyond ASCII")
    return ""


def _domain(domain: str, international: bool) -> str:
    """The rule that the part behind the @ breaks."""
    if not domain.startswith("["):
        return _name(domain, "the part behind the @", international)
    if not domain.endswith("]"):
        return "the bracket behind the @ is not closed"
    inside = domain[1:-1]
    is_six = inside[:5].lower() == "ipv6:"
    if not is_six and ":" in inside:
        return "an address with colons has IPv6: in front"
    problem = ipv6(inside[5:]) if is_six else ipv4(inside)
    return f"in the brackets, {problem}" if problem else ""


def _random_host(rng: random.Random) -> str:
    return f"{rng.choice(WORDS)}.example.org"


def _random_mailbox(rng: random.Random) -> str:
    return f"{rng.choice(WORDS)}@example.org"


FORMATS = {
    "email": StringFormat(email, "ada@example.org", varied=_random_mailbox),
    "idn-email": StringFormat(idn_email, "ada@example.org", varied=_random_mailbox),
    "hostname": StringFormat(hostname, "www.example.org", varied=_random_host),
    "idn-hostname": StringFormat(idn_hostname, "bücher.example", varied=_random_host),
    "ipv4": StringFormat(ipv4, "192.0.2.1", varied=lambda r: f"192.0.2.{r.randrange(1, 255)}", is_short=True),
    "ipv6": StringFormat(ipv6, "2001:db8::1", varied=lambda r: f"2001:db8::{r.randrange(1, 0xFFFF):x}", is_short=True),
}
