"""Which rule of its format a text breaks, in words.

The engine says whether a text is of a format; this is asked about texts that it refuses. A rule here is one of the
format's standard, so that a text that breaks it is not of the format for anybody.
"""

from __future__ import annotations

from collections.abc import Callable

from interlock.explain.format_rules import hosts, identifiers, times, uris

__all__ = ["broken_rule"]

RULES: dict[str, Callable[[str], str]] = {
    "date": times.date,
    "time": times.time,
    "date-time": times.date_time,
    "duration": times.duration,
    "email": hosts.email,
    "idn-email": hosts.idn_email,
    "hostname": hosts.hostname,
    "idn-hostname": hosts.idn_hostname,
    "ipv4": hosts.ipv4,
    "ipv6": hosts.ipv6,
    "uri": uris.uri,
    "uri-reference": uris.uri_reference,
    "iri": uris.iri,
    "iri-reference": uris.iri_reference,
    "uri-template": uris.uri_template,
    "uuid": identifiers.uuid,
    "json-pointer": identifiers.json_pointer,
    "relative-json-pointer": identifiers.relative_json_pointer,
    "regex": identifiers.regex,
}
"""By format, what says which rule a text breaks; it returns nothing for a text that breaks none of those it knows."""


def broken_rule(name: str, text: str) -> str:
    """The rule of a format that a text breaks; empty where none is found.

    >>> broken_rule("date", "2026-04-31"), broken_rule("date", "2026-04-30")
    ('April has 30 days, not 31', '')
    """
    rule = RULES.get(name)
    return rule(text) if rule is not None else ""
