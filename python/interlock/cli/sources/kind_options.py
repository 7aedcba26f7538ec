"""Which options belong to which kinds of sources: one that does not fit a source is refused, and never ignored."""

from __future__ import annotations

import argparse
from collections.abc import Collection

from interlock.cli.terminal.exits import UsageError

OPTIONS = {
    "schema_key": ("--schema-key", ("json_schema", "structural_tag")),
    "unwrap": ("--no-unwrap", ("json_schema", "structural_tag")),
    "take_all": ("--take-all", ("json_schema",)),
    "whitespace": ("--whitespace", ("json_schema",)),
    "property_order": ("--property-order", ("json_schema",)),
    "on_unsupported": ("--on-unsupported", ("json_schema",)),
    "unknown_keywords": ("--unknown-keywords", ("json_schema", "structural_tag", "tools")),
    "formats": ("--formats", ("json_schema",)),
    "spelling": ("--spelling", ("json_schema",)),
    "document": ("--document", ("json_schema",)),
    "dialect": ("--dialect", ("regex",)),
    "flags": ("--flags", ("regex",)),
    "syntax": ("--syntax", ("grammar",)),
    "start": ("--start", ("grammar",)),
    "lexer": ("--lexer", ("grammar",)),
    "imports": ("--import", ("grammar",)),
    "grammars": ("--grammar", ("grammar",)),
    "tool_format": ("--tool-format", ("tools",)),
    "tool_choice": ("--tool-choice", ("tools",)),
}
"""The options of sources as they are written, and the kinds that have them. ``--limit`` is for all."""
NAMES = {
    "json_schema": "a JSON Schema",
    "regex": "a pattern",
    "choices": "a list of choices",
    "grammar": "a grammar",
    "structural_tag": "a structural tag",
    "tools": "a list of tools",
}
"""The kinds in words."""


def given(args: argparse.Namespace) -> list[str]:
    """The options of sources that the arguments name."""
    unset: tuple[object, ...] = (None, [])
    return [
        name for name in OPTIONS if getattr(args, name, None) not in ((*unset, True) if name == "unwrap" else unset)
    ]


def refuse_others(args: argparse.Namespace, kinds: Collection[str], what: str) -> None:
    """``UsageError`` for an option that no source of these kinds has. ``what`` names the sources."""
    for name in given(args):
        option, owners = OPTIONS[name]
        if not set(owners) & set(kinds):
            are = " or ".join(NAMES[kind] for kind in sorted(kinds))
            raise UsageError(f"{option} is for {NAMES[owners[0]]}, and {what} is {are}: leave it out")


def refuse_all(args: argparse.Namespace, what: str) -> None:
    """``UsageError`` for any option of sources: ``what`` is compiled already."""
    for name in [*given(args), *(["limit"] if getattr(args, "limit", None) else [])]:
        option = OPTIONS[name][0] if name in OPTIONS else "--limit"
        raise UsageError(f"{option} cannot change {what}: it is compiled already; leave it out")
