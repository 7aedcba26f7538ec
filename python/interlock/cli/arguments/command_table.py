"""The commands, what each is for, and the overview of them that is shown without arguments."""

from __future__ import annotations

import textwrap

import interlock
from interlock.cli.terminal import style
from interlock.cli.terminal.style import NAME, Line

COMMANDS = {
    "check": "Walk documents or texts through a source, and say where and why they are refused",
    "inspect": "Say what a source became: states, memory, and how exactly each keyword is enforced",
    "sample": "Examples that a source accepts: plausible ones, or with --wild anything that the masks allow",
    "draw": "Draw a source: the structure of a schema or a grammar, the automaton of a pattern",
    "trace": "Show a generation token by token, as one page: allowed, forced or chosen, refused and why, budget, time",
    "diff": "Compare two sources, or two folders of them: equal, or a text that only one of them accepts",
    "compile": "Compile one source to an artifact that Index.load reads",
    "precompute": "Compile a folder, a JSONL file or a glob of sources into a store, in parallel",
    "verify": "Check every pack of a store, or one file, from its first byte to its last. Nothing is changed",
    "vocab": "Describe the vocabulary of a tokenizer file, or write it to a pack",
    "bench": "Time a source on this machine: compile, first mask, masks and advances along random outputs",
    "completion": "Print the completion script of a shell: commands, options, their values, and files",
    "help": "Print what a command does, its options and examples: the same as COMMAND --help",
}
"""The commands, and the first sentence of each one's file: help and overview import none of them."""
TITLE = "Exact constrained decoding: compile patterns, JSON Schemas, grammars and choices, and see what they mean."
EXAMPLES = (
    ("interlock check order.json answer.json", "does this document satisfy the schema, and if not, where?"),
    ("interlock inspect pattern:'[a-z]{1,60}'", "states, memory, how each keyword is enforced"),
    ("interlock sample order.json -n 5", "five documents that the masks allow"),
    ("interlock draw order.json -o order.html", "its structure, to look at"),
    ("interlock compile order.json -t tokenizer.json -o order.index", ""),
    ("interlock precompute schemas/ -t tokenizer.json -o store/", ""),
)
SOURCES = "sources"
"""What ``interlock help`` explains besides commands."""
CODES = "exit-codes"
"""The other one."""
MORE = (
    f"interlock help COMMAND shows options and examples, interlock help {SOURCES} how a source is named and read; "
    "--json before or behind a command prints one JSON object; NO_COLOR=1 turns colours off"
)


def examples() -> list[str]:
    """The examples, in two columns where the terminal is wide enough for them."""
    width = style.columns()
    wide = max(len(command) for command, about in EXAMPLES if about)
    if 2 + wide + 4 + max(len(about) for _, about in EXAMPLES) <= width:
        return [f"  {command.ljust(wide)}    {about}".rstrip() for command, about in EXAMPLES]
    lines = []
    for command, about in EXAMPLES:
        lines.append(f"  {command}")
        lines += textwrap.wrap(about, max(20, width), initial_indent="      ", subsequent_indent="      ")
    return lines


def titled(width: int) -> list[Line]:
    """A line for each command, or more where the terminal is narrow."""
    wide = max(map(len, COMMANDS))
    lines = []
    for name, title in COMMANDS.items():
        first, *more = textwrap.wrap(title, max(20, width - wide - 4))
        lines.append(Line("  ", (name.ljust(wide), NAME), "  ", first))
        lines += [Line(" " * (wide + 4) + text) for text in more]
    return lines


def overview() -> list[Line]:
    """What is shown without any argument: what there is, and how to begin."""
    width = style.columns()
    head, *more = textwrap.wrap(f"interlock {interlock.__version__}  {TITLE}", max(20, width))
    name = f"interlock {interlock.__version__}"
    begin = [Line((name, NAME), head.removeprefix(name))] + [Line(text) for text in more]
    return [
        *begin,
        Line(""),
        *titled(width),
        Line(""),
        Line(("examples", NAME)),
        *map(Line, examples()),
        Line(""),
        *map(Line, textwrap.wrap(MORE, max(20, width))),
    ]
