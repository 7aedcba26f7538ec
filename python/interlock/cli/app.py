"""The parser, and the one place where an exception becomes a message and an exit code.

The command runs in a thread of its own. Python handles signals in the main thread alone, which waits for them and can
end the process at once, however long a compile takes. Files are written whole or not at all (``files``).
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import sys
import threading
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

import interlock
from interlock import _interrupt
from interlock.cli import exits, atomic_files, streams, style
from interlock.cli.output import Output
from interlock.cli.style import NAME, TRY, Line
from interlock.cli.suggest import near

COMMANDS = {
    "check": "Walk a document or text through a source, and say where and why it is refused",
    "inspect": "Say what a source became: states, memory, and how exactly each keyword is enforced",
    "sample": "Examples that a source accepts: plausible ones, or with --wild anything that the masks allow",
    "draw": "Draw a source: the structure of a schema or a grammar, the automaton of a pattern",
    "trace": "Show a generation token by token, as one page: allowed, forced or chosen, refused and why, budget, time",
    "diff": "Compare two sources: equal, or a text that only one of them accepts",
    "compile": "Compile one source to an artifact that Index.load reads",
    "precompute": "Compile a folder, a JSONL file or a glob of sources into a store, in parallel",
    "verify": "Check every pack of a store, from its first byte to its last. Nothing is changed",
    "vocab": "Describe the vocabulary of a tokenizer file, or write it to a pack",
    "bench": "Time a source on this machine: compile, first mask, masks and advances along random outputs",
    "completion": "Print the completion script of a shell: commands, options, their values, and files",
    "help": "Print what a command does, its options and examples: the same as COMMAND --help",
}
"""The commands, and the first sentence of each one's file: help and overview import none of them."""
ABOUT = """\
Exact constrained decoding: compile patterns, JSON Schemas and choices, and look at what they mean.

  interlock check order.json answer.json          does this document satisfy the schema, and if not, where?
  interlock inspect pattern:'[a-z]{1,60}'         states, memory, how each keyword is enforced
  interlock sample order.json -n 5                five documents that the masks allow
  interlock draw order.json -o order.html         its structure, to look at
  interlock compile order.json -t tokenizer.json -o order.index
  interlock precompute schemas/ -t tokenizer.json -o store/
"""
CODES = """\
exit codes: 0 yes, done; 1 the answer is no; 2 wrong arguments; 3 the source was refused; 4 a file, vocabulary or
artifact is not usable; 70 a bug in interlock; 130 Ctrl-C; 141 the reader of the output went away; 143 SIGTERM
"""
MORE = "interlock help COMMAND shows options and examples; NO_COLOR=1 turns colours off\n"


class Parser(argparse.ArgumentParser):
    """A parser whose errors are JSON where ``--json`` asks for it, and say what was probably meant."""

    def error(self, message: str) -> NoReturn:
        meant = self._meant(message)
        command = re.match(r"argument COMMAND: invalid choice: '(.*?)'", message, re.DOTALL)
        if command:
            message = f"no command is named {command[1]!r}" + ("" if meant else f"; there are {', '.join(COMMANDS)}")
        if "--json" in sys.argv:
            described = {"type": "UsageError", "message": message} | ({"remedy": meant} if meant else {})
            streams.write(json.dumps({"error": described}) + "\n")
        else:
            given = _command(sys.argv[1:])
            help = f"interlock {given} --help" if given in COMMANDS else "interlock --help"
            lines = [Line(("interlock: ", NAME), message), Line(("  try: ", TRY), meant or help)]
            streams.say("".join(style.painted(line, style.wanted(sys.stderr)) + "\n" for line in lines))
        sys.exit(exits.USAGE)

    def _meant(self, message: str) -> str:
        """The option or the value that is nearest to a wrong one."""
        unknown = re.match(r"unrecognized arguments: (.*)", message)
        if unknown:
            for word in unknown[1].split():
                option = word.partition("=")[0]
                known = [name for name in self._of_command() if name.startswith("--")]
                # Without dashes, which all of them have in common.
                if option.startswith("-") and (found := near(option.lstrip("-"), [name[2:] for name in known])):
                    return f"did you mean --{found}?"
        value = re.match(r"argument .*: invalid choice: '(.*)' \(choose from (.*)\)$", message, re.DOTALL)
        if value:
            found = near(value[1], re.findall(r"[\w-]+", value[2]))
            return f"did you mean {found}?" if found else ""
        return ""

    def _of_command(self) -> list[str]:
        """The options of the command that was given, or of all."""
        given = _command(sys.argv[1:])
        names = list(self._option_string_actions)
        for action in (self if given in COMMANDS else parser())._actions:
            if isinstance(action, argparse._SubParsersAction):
                for name in [given] if given in COMMANDS else action.choices:
                    names += action.choices[name]._option_string_actions
        return names


def parser(only: str | None = None) -> argparse.ArgumentParser:
    """The parser of all commands. With ``only``, that command alone is imported and has its arguments."""
    form = argparse.RawDescriptionHelpFormatter
    top = Parser(prog="interlock", description=ABOUT, epilog=CODES, formatter_class=form)
    top.add_argument("--version", action="version", version=f"interlock {interlock.__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for name, title in COMMANDS.items():
        sub = commands.add_parser(name, help=title, epilog=CODES, formatter_class=form)
        if only is None or name == only:
            module = import_module(f"interlock.cli.{name}")
            sub.description = module.__doc__
            sub.add_argument("--json", action="store_true", help="one JSON object on the standard output")
            sub.add_argument("-q", "--quiet", action="store_true", help="no progress and no remarks")
            module.register(sub)
            sub.set_defaults(run=module.run)
    return top


def command_parser(name: str) -> argparse.ArgumentParser:
    """The parser of one command, which is one of ``COMMANDS``."""
    for action in parser(only=name)._actions:
        if isinstance(action, argparse._SubParsersAction):
            found: argparse.ArgumentParser = action.choices[name]
            return found
    raise AssertionError("the parser has commands")


def _command(argv: Sequence[str]) -> str:
    """The command among the arguments: the first that is no option, since no option before it takes a value."""
    return next((argument for argument in argv if not argument.startswith("-")), "")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code. For the main thread; it may end the process."""
    before = signal.getsignal(signal.SIGINT)
    caught = _interrupt.catch()
    try:
        return _main(argv, caught)
    finally:
        if caught:
            signal.signal(signal.SIGINT, before)


def _main(argv: Sequence[str] | None, caught: bool) -> int:
    streams.open_missing()
    try:
        args = _arguments(argv)
        if args.command is None:
            streams.write(overview())
            return exits.OK
    except (OSError, streams.OutputError) as error:
        return fail(error, Output(json=False))
    output = Output(args.json, args.quiet)
    # Stays if a failure cannot even be said.
    outcome = exits.BUG

    def work() -> None:
        nonlocal outcome
        try:
            outcome = args.run(args, output)
        except BaseException as error:  # whatever it is, it becomes a message and an exit code
            outcome = fail(error, output)

    thread = threading.Thread(target=work, daemon=True)
    signal.signal(signal.SIGTERM, _terminate)
    try:
        if caught:  # From here on, there may be something half-written.
            signal.signal(signal.SIGINT, signal.default_int_handler)
        thread.start()
        thread.join()
        if caught:
            signal.signal(signal.SIGINT, _interrupt.end_at_once)
    except (KeyboardInterrupt, exits.Terminated) as error:
        for number in (signal.SIGINT, signal.SIGTERM):  # A second one changes nothing: this one is being obeyed.
            signal.signal(number, signal.SIG_IGN)
        atomic_files.interrupted()
        code = fail(error, output)
        os._exit(code)
    return outcome


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """The arguments, unless a text was asked for or they make no sense: then the process ends."""
    try:
        given = sys.argv[1:] if argv is None else list(argv)
        return parser(only=_command(given)).parse_args(given)
    except SystemExit:
        # The text may not have been written yet.
        streams.write("")
        raise


def overview() -> str:
    """What is shown without any argument: what there is, and how to begin."""
    wide = max(map(len, COMMANDS))
    lines = [Line((f"interlock {interlock.__version__}", NAME), "  ", ABOUT.partition("\n")[0]), Line("")]
    lines += [Line("  ", (name.ljust(wide), NAME), "  ", title) for name, title in COMMANDS.items()]
    lines += [Line(""), Line(("examples", NAME))]
    lines += [Line(text) for text in ABOUT.splitlines()[2:]]
    lines += [Line(""), Line(MORE.rstrip())]
    return "".join(style.painted(line, style.wanted(sys.stdout)) + "\n" for line in lines)


def _terminate(*_: Any) -> NoReturn:
    raise exits.Terminated("ended by SIGTERM")


def fail(error: BaseException, output: Output) -> int:
    """Say what went wrong and return the exit code."""
    code = exits.code_of(error)
    if isinstance(error, BrokenPipeError):
        streams.discard()
        return exits.PIPE
    if isinstance(error, streams.OutputError):
        streams.discard()
    if isinstance(error, (KeyboardInterrupt, exits.Terminated)):
        streams.say("interlock: interrupted\n")
    elif output.json and not isinstance(error, streams.OutputError):
        try:
            output.result({"error": exits.describe(error)}, [])
        except (BrokenPipeError, streams.OutputError):
            streams.discard()
            return fail(error, Output(json=False))
    else:
        colours = style.wanted(sys.stderr)
        streams.say("".join(style.painted(line, colours) + "\n" for line in exits.sentence(error)))
    return code
