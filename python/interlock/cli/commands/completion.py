"""Print the completion script of a shell: commands, options, their values, and files.

  interlock completion bash > ~/.local/share/bash-completion/completions/interlock
  interlock completion zsh > ~/.zfunc/_interlock
  interlock completion fish > ~/.config/fish/completions/interlock.fish

It counts from the next shell on. For zsh, write fpath+=(~/.zfunc) before compinit in ~/.zshrc.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from interlock.cli.arguments.command_table import CODES, COMMANDS, SOURCES
from interlock.cli.sources.pair_options import LIMITS
from interlock.cli.sources.source_arguments import WHITESPACE
from interlock.cli.sources.tool_sources import MODES, format_names
from interlock.cli.terminal import exits
from interlock.cli.terminal.output import Output

SHELLS = ("bash", "zsh", "fish")
OFFERED = {
    "--whitespace": WHITESPACE,
    "--tool-format": format_names(),
    "--tool-choice": MODES,
    "--limit": tuple(f"{name}=" for name in LIMITS),
    "about": (*COMMANDS, SOURCES, CODES),
}
"""Values of arguments that take others, too; options by their names, other arguments by their destinations."""


@dataclass(frozen=True)
class Option:
    """An option of a command: its names, what it takes (``None``: nothing), and what it is for."""

    names: tuple[str, ...]
    values: tuple[str, ...] | None
    help: str


def register(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    parser.add_argument(
        "shell", metavar="SHELL", choices=SHELLS, help=" or ".join((", ".join(SHELLS[:-1]), SHELLS[-1]))
    )


def run(args: argparse.Namespace, output: Output) -> int:
    """Write the script."""
    script = {"bash": bash, "zsh": zsh, "fish": fish}[args.shell](commands())
    output.result({"shell": args.shell, "script": script}, script.rstrip("\n").split("\n"))
    return exits.OK


def commands() -> dict[str, tuple[str, list[Option]]]:
    """What each command is for, and its options, as the parser has them."""
    from interlock.cli.arguments.parser import parser

    out: dict[str, tuple[str, list[Option]]] = {}
    for action in parser()._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, sub in action.choices.items():
                out[name] = ((sub.description or "").partition("\n")[0].rstrip("."), _options(sub))
    return out


def _options(parser: argparse.ArgumentParser) -> list[Option]:
    found = []
    for action in parser._actions:
        offered = action.choices or OFFERED.get(action.option_strings[0] if action.option_strings else action.dest, ())
        values = tuple(map(str, offered))
        if action.option_strings:
            found.append(Option(tuple(action.option_strings), values if action.nargs != 0 else None, action.help or ""))
        elif values:
            found.append(Option((), values, action.help or ""))
    return found


def bash(commands: dict[str, tuple[str, list[Option]]]) -> str:
    """The script for bash."""
    cases, values = [], []
    for name, (_, options) in commands.items():
        longs = [long for option in options for long in option.names if long.startswith("--")]
        words = [value for option in options if not option.names for value in option.values or ()]
        only = f' words="{" ".join(words)}" only=1' if words else ""
        cases.append(f'        {name}) options="{" ".join(longs)}"{only} ;;')
        for option in options:
            if option.names and option.values:
                for long in option.names:
                    values.append(f'        {name}:{long}) words="{" ".join(option.values)}" only=1 ;;')
    return f"""# completion of interlock for bash
_interlock() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} command="" options="" words="" only="" i
    # In bash, the = of --option=value is a word of its own.
    if [[ $word == = ]]; then
        word=""
    elif [[ $before == = ]] && ((COMP_CWORD > 2)); then
        before=${{COMP_WORDS[COMP_CWORD-2]}}
    fi
    for ((i = 1; i < COMP_CWORD; i++)); do
        if [[ ${{COMP_WORDS[i]}} != -* ]]; then
            command=${{COMP_WORDS[i]}}
            break
        fi
    done
    if [[ -z $command ]]; then
        COMPREPLY=($(compgen -W "{" ".join(commands)} --help --version --json --quiet" -- "$word"))
        return
    fi
    case "$command" in
{chr(10).join(cases)}
    esac
    case "$command:$before" in
{chr(10).join(values)}
    esac
    if [[ $word == -* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$word"))
        return
    fi
    COMPREPLY=($(compgen -W "$words" -- "$word"))
    if [[ ${{COMPREPLY[0]}} == *= ]]; then
        compopt -o nospace 2>/dev/null
    fi
    if [[ -z $only ]]; then
        local IFS=$'\\n'
        COMPREPLY+=($(compgen -f -- "$word"))
        compopt -o filenames 2>/dev/null
    fi
}}
complete -F _interlock interlock
"""


def zsh(commands: dict[str, tuple[str, list[Option]]]) -> str:
    """The script for zsh."""
    titles = "\n".join(f"        {_quoted(f'{name}:{title}')}" for name, (title, _) in commands.items())
    cases = []
    for name, (_, options) in commands.items():
        lines = [f"                {_quoted(spec)}" for option in options for spec in _zsh(option)]
        files = [] if any(not option.names for option in options) else ["                '*:file:_files'"]
        cases.append(f"        {name})\n            _arguments -s \\\n" + " \\\n".join([*lines, *files]))
    joined = "\n            ;;\n".join(cases)
    return f"""#compdef interlock
# completion of interlock for zsh
_interlock() {{
    local -a commands
    commands=(
{titles}
    )
    if (( CURRENT == 2 )); then
        _describe command commands
        return
    fi
    local command=$words[2]
    shift words
    (( CURRENT-- ))
    case $command in
{joined}
            ;;
    esac
}}
_interlock "$@"
"""


def _zsh(option: Option) -> list[str]:
    about = option.help.replace("[", "(").replace("]", ")").replace(":", " -").replace("%%", "%")
    if not option.names:
        return [f"1:value:({' '.join(option.values or ())})"]
    if option.values is None:
        return [f"{name}[{about}]" for name in option.names]
    what = f"({' '.join(option.values)})" if option.values else "_files"
    if any(value.endswith("=") for value in option.values or ()):  # No blank follows.
        what = f"compadd -S '' {' '.join(option.values or ())}"
    return [f"{name}[{about}]:value:{what}" for name in option.names]


def fish(commands: dict[str, tuple[str, list[Option]]]) -> str:
    """The script for fish."""
    lines = ["# completion of interlock for fish"]
    none = "not __fish_seen_subcommand_from " + " ".join(commands)
    for name, (title, options) in commands.items():
        lines.append(f"complete -c interlock -f -n {_quoted(none)} -a {name} -d {_quoted(title)}")
        seen = _quoted(f"__fish_seen_subcommand_from {name}")
        for option in options:
            if not option.names:
                lines.append(f"complete -c interlock -f -n {seen} -a {_quoted(' '.join(option.values or ()))}")
                continue
            names = " ".join(f"-l {n[2:]}" if n.startswith("--") else f"-s {n[1:]}" for n in option.names)
            takes = (
                ""
                if option.values is None
                else f" -x -a {_quoted(' '.join(option.values))}"
                if option.values
                else " -r -F"
            )
            lines.append(f"complete -c interlock -n {seen} {names}{takes} -d {_quoted(option.help.replace('%%', '%'))}")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
