"""``--for-server``: sources are stored as a ``RequestCompiler`` with its default settings looks for them.

The key of an index has its options in it. A store that was made with others is missed by every request, and nothing
says so but ``interlock.stats()``.
"""

from __future__ import annotations

import argparse
import inspect
from dataclasses import replace
from typing import Any

from interlock.cli.sources import kind_options
from interlock.cli.sources.source_arguments import Source
from interlock.cli.terminal.exits import UsageError
from interlock.grammar_syntax import syntax_of, without_last_newlines
from interlock.serving import RequestCompiler

_SETTINGS: dict[str, Any] = inspect.unwrap(RequestCompiler.__init__).__kwdefaults__
_WRITTEN = {name: _SETTINGS[name] for name in ("whitespace", "spelling")}
_OPTIONS: dict[str, dict[str, Any]] = {
    "json_schema": _WRITTEN,
    "regex": {"flags": _SETTINGS["regex_flags"]},
    "structural_tag": _WRITTEN,
    "tools": _WRITTEN | {"regex_flags": _SETTINGS["regex_flags"]},
}
"""What a compiler sets where a request says nothing, by the kind of the source."""
_SAME = {
    **_WRITTEN,
    "flags": _SETTINGS["regex_flags"],
    "property_order": "schema",
    "on_unsupported": "error",
    "formats": "assert",
    "dialect": "python",
}
"""What options of the command line may say beside ``--for-server``, since it is what a compiler does."""
_NEVER = ("document", "start", "lexer", "imports", "grammars", "limit")
"""Options for which no request has a field, and which are a part of the key."""


def refuse_contradictions(args: argparse.Namespace) -> None:
    """``UsageError`` for an option with which no request would find what is stored."""
    for name in (*_SAME, *_NEVER):
        value = getattr(args, name, None)
        if value in (None, []) or _SAME.get(name) == value:
            continue
        option = kind_options.OPTIONS[name][0] if name in kind_options.OPTIONS else "--limit"
        has = f"a server's default is {_SAME[name]}" if name in _SAME else "a request to a server cannot say it"
        shown = f"{option} {value}" if isinstance(value, str) else option
        way = f"leave {option} out; RequestCompiler.precompute is for servers with other settings"
        raise UsageError(f"{shown} contradicts --for-server: {has}", way)


def as_requested(source: Source, args: argparse.Namespace) -> Source:
    """The source with the options that a request for it has. Requests do not say the notation of a grammar, unless
    ``--syntax`` does: a server goes by the text, and not by the name of a file.
    """
    notes = source.notes
    if source.kind == "grammar":
        options = source.options | ({} if args.syntax else {"syntax": syntax_of(source.text)})
        return replace(source, text=without_last_newlines(source.text), options=options)
    if source.options.get("documents"):
        notes = (*notes, "it refers to other files, which no request brings: no server will find it in the store")
    return replace(source, options=source.options | _OPTIONS.get(source.kind, {}), notes=notes)
