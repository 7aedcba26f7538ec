"""Exit codes, and a failure in words.

Every failure is one message: what kind it is, where in the source, why, and what to do about it. A traceback is
never shown; a bug is an ``InternalError`` or an exception that nobody expected, and says so.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections.abc import Iterator
from typing import Any

import interlock
from interlock.cli.terminal.place_in_source import located
from interlock.cli.terminal.style import BAD, NAME, QUIET, TRY, Line
from interlock.cli.terminal.suggest import near_file
from interlock.util.client_messages import without_hint

OK = 0
"""The command did what it says, and the answer is yes."""
NO = 1
"""The command did what it says, and the answer is no: refused, different, damaged, some schemas not compiled."""
USAGE = 2
"""The arguments make no sense together."""
SOURCE = 3
"""The source was refused: not well formed, not supported, unsatisfiable, or beyond a limit."""
INPUT = 4
"""Something around the source is not usable: a file, a folder, a vocabulary, an artifact, a store."""
UNDECIDED = 5
"""``diff`` could not decide whether two sources accept the same."""
BUG = 70
"""A bug in interlock."""
INTERRUPTED = 130
"""Ctrl-C."""
PIPE = 141
"""The reader of the output went away."""
TERMINATED = 143
"""The process was asked to end (SIGTERM)."""

MEANINGS = {
    "0": "done; the answer is yes",
    "1": "done; the answer is no: refused, different, not confirmed, damaged, not found",
    "2": "arguments that make no sense",
    "3": "the source was refused: malformed, unsupported, unsatisfiable, or beyond a limit",
    "4": "a file, folder, vocabulary, artifact or store is not usable, or a standard stream is closed or full",
    "5": "diff could not decide whether the two accept the same",
    "70": "a bug in interlock",
    "130, 143": "Ctrl-C, SIGTERM: nothing half-written is left",
    "141": "the reader of the output went away",
}
"""What the exit codes mean."""

SOURCE_ERRORS = frozenset(
    {
        "PatternError",
        "SchemaError",
        "GrammarError",
        "RequestError",
        "StructuralTagError",
        "UnsupportedError",
        "UnsatisfiableError",
        "LimitError",
    }
)
"""The names of the classes of errors of a source. Some are in parts of the package that few commands import."""


CUT_OFF = "write what is missing at its end; if it was cut off, as by a download that broke, get the whole file again"
"""What to do about a file that ends too early."""


TOKENIZER_FILE = "the tokenizer.json in the model's folder"
"""What to give as a tokenizer."""


class _Remedied(Exception):
    """A failure of the command line, with what to do about it."""

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.remedy = remedy


class UsageError(_Remedied):
    """Arguments that make no sense together; exit code 2. ``no_source``: a word names nothing that is a source."""

    def __init__(self, message: str, remedy: str = "", no_source: bool = False) -> None:
        super().__init__(message, remedy)
        self.no_source = no_source


class InputError(_Remedied):
    """Something around the source that is not usable; exit code 4. ``source_file`` is the file of a source that cannot
    be read, among others that can.
    """

    def __init__(self, message: str, remedy: str = "", source_file: str = "") -> None:
        super().__init__(message, remedy)
        self.source_file = source_file


class Terminated(BaseException):
    """SIGTERM arrived. Like ``KeyboardInterrupt`` it passes through handlers of ordinary errors."""


@contextlib.contextmanager
def around_source() -> Iterator[None]:
    """What is not supported in here is an input (a tokenizer file, the URL of a store) and not the source."""
    try:
        yield
    except interlock.UnsupportedError as error:
        raise InputError(str(error)) from error


def code_of(error: BaseException) -> int:
    """The exit code of a failure."""
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    if isinstance(error, Terminated):
        return TERMINATED
    if isinstance(error, (UsageError, interlock.ArgumentError, interlock.BudgetError)):
        return USAGE
    if type(error).__name__ in SOURCE_ERRORS:
        return SOURCE
    if isinstance(error, interlock.InternalError):
        return BUG
    if isinstance(error, (InputError, interlock.InterlockError, OSError, UnicodeError)):
        return INPUT
    return BUG


def describe(error: BaseException) -> dict[str, Any]:
    """A failure for machines: type, message, place, and the fields that this kind has."""
    if isinstance(error, UnicodeError):
        message = f"the text is not UTF-8: {error}"
    elif isinstance(error, OSError):
        message = _os_message(error)
    else:
        # What the package's caller can do is in the hint; here the remedy says what the command line can.
        message = (without_hint(error) if isinstance(error, interlock.InterlockError) else str(error)) or ""
        message = message or type(error).__name__
        message = re.sub(r'\bpass (syntax|dialect|lexer)="(\w+)"', r"give --\1 \2", message)
        message = re.sub(r'\b(syntax|dialect|lexer)="(\w+)"', r"--\1 \2", message)
        message = re.sub(r"\beos_token_ids\b", "--eos IDS", message)
        message = re.sub(r" \(os error \d+\)", "", message)
        # A version that no library has comes from a damaged header.
        is_other = getattr(error, "code", None) == "other_version"
        if is_other and not re.fullmatch(r"\d+(\.\w+)*([-+][\w.+-]+)?", str(error.subject), re.ASCII):  # type: ignore[attr-defined]
            title = message.partition(" was made by version ")[0]
            message = f"{title} is damaged: its header names no version that there is"
        # The command line shows the place in its own way.
        message = message.removesuffix(f"\n{getattr(error, 'excerpt', None)}")
    place = located(error)
    if place is not None and place.remedy.startswith('did you mean "#/'):
        # The name itself is known, and not only the first step that goes wrong.
        message = re.sub(r'; [^;]*did you mean "[^"]*"\?', "", message)
    if place is not None and place.found and "\n" in message:
        # The errors of grammars show their line themselves; here it is shown as that of other sources.
        message = re.sub(r"^line \d+, column \d+: ", "", message.partition("\n")[0])
    if place is not None and place.found and isinstance(error, interlock.SchemaError):
        message = re.sub(r" \(at byte \d+\)(?=$| \(at )", "", message)  # Line and column say it, and are the user's.
    message, _, way = message.partition(". Give --eos IDS")
    out: dict[str, Any] = {"type": type(error).__name__, "message": message}
    for name in ("place", "offset", "pointer", "keyword", "limit", "value"):
        value = getattr(error, name, None)
        # The empty pointer is the root of a schema.
        if value is not None and (value != "" or name == "pointer"):
            out[name] = value
    if (referring := getattr(error, "referred_from", None)) is not None:
        # The file is that of the other document, and the pointer that of the reference to it.
        reference = {name: out.pop(name) for name in ("pointer", "keyword") if name in out}
        out.pop("place", None)
        out["reference"] = ({"file": referring} if referring else {}) | reference
    if file := getattr(error, "source_file", ""):
        out["file"] = file
    if place is not None and place.found:
        from interlock.explain import line_column

        out["line"], out["column"] = line_column(place.text, place.start)
    if place is not None and place.notes:
        out["notes"] = list(place.notes)
    remedy = f"--eos IDS{way}" if way else _remedy(error)
    if remedy:
        out["remedy"] = remedy
    return out


def sentence(error: BaseException) -> list[Line]:
    """A failure for people: the message, where it is with the line and a caret, and what to do where that is known."""
    described = describe(error)
    headline, *excerpted = str(described["message"]).split("\n")
    # The classes of the command line and of the operating system say nothing that the message does not.
    kind = "" if isinstance(error, (_Remedied, OSError)) else f"{described['type']}: "
    lines = [Line(("interlock: ", NAME), (kind, BAD), headline)]
    lines += [Line("  " + line) for line in excerpted]
    shown = str(described["message"])
    extra = [
        f"{name} {described[name]}" for name in ("pointer", "keyword") if str(described.get(name, "")) not in shown
    ]
    if extra:
        lines.append(Line("  at: " + ", ".join(extra)))
    place = located(error)
    if place is not None and place.found:
        from interlock.cli.terminal.line_with_caret import excerpt

        where = f"line {described['line']}, column {described['column']}:"
        if "file" in described:
            where = f"{described['file']}:{described['line']}:{described['column']}:"
        lines.append(Line((f"  {where}", QUIET)))
        lines += [Line("  ") + line for line in excerpt(place.text, place.start, place.end)]
    elif "file" in described and described["file"] not in shown:
        lines.append(Line((f"  in {described['file']}", QUIET)))
    lines += [Line(f"  {note}") for note in described.get("notes", [])]
    if "remedy" in described:
        lines.append(Line(("  try: ", TRY), described["remedy"]))
    return lines


def _os_message(error: OSError) -> str:
    reason = error.strerror or str(error)
    return f"{os.fsdecode(error.filename)}: {reason}" if error.filename else reason


_OS_REMEDIES = {
    errno.ENOSPC: "free some space and run the same command again; what is finished stays",
    errno.EROFS: "choose a place on a file system that can be written",
    errno.EACCES: "choose a place that you may write, or change its permissions",
    errno.EPERM: "choose a place that you may write, or change its permissions",
    errno.ENOENT: "check the spelling of the path",
    errno.EISDIR: "name a file in it",
    errno.EINVAL: "name a file; a device or a pipe cannot be replaced by a whole one",
}
"""What to do where the operating system refuses something."""


def _readable(name: str | bytes) -> str:
    """What to do where a file or a folder cannot be read; empty where it can, so that it was to be written."""
    path = os.fsdecode(name)
    if os.path.isfile(path) and not os.access(path, os.R_OK):
        return "a file that you may read, or change its permissions"
    if os.path.isdir(path) and not os.access(path, os.R_OK | os.X_OK):
        return "a folder that you may read, or change its permissions"
    try:
        os.lstat(path)
    except PermissionError:
        return f"change the permissions of {_closed(path)}: they let you open nothing in it"
    except OSError:
        pass
    return ""


def _closed(path: str) -> str:
    """The folder above a path that lets nobody in."""
    folder = os.path.dirname(path) or os.curdir
    try:
        os.lstat(folder)
    except PermissionError:
        return _closed(folder)
    return folder


def _remedy(error: BaseException) -> str:
    place = located(error)
    if place is not None and place.remedy:
        return place.remedy
    if isinstance(error, _Remedied):
        return error.remedy
    code = getattr(error, "code", None)
    if code == "no_short_output":
        return "a source with shorter outputs: a smaller count in its repetitions, or a smaller minLength or minItems"
    if isinstance(error, interlock.BudgetError):
        return f"--max-tokens {error.value}, or more" if error.value is not None else "a larger --max-tokens"
    if isinstance(error, interlock.LimitError) and error.field == "max_flat_states":
        return "--limit max_flat_states=N raises it; --whitespace compact makes fewer states of a schema"
    if getattr(error, "is_highest", False):
        return f"a smaller source: {error.limit} is as far as --limit goes here"  # type: ignore[attr-defined]
    if isinstance(error, interlock.LimitError) and error.field == "max_depth":
        deepest = 10_000 if "nesting of groups" in str(error) else 2_000
        return f"--limit max_depth=N raises it, up to {deepest}"
    if isinstance(error, interlock.LimitError) and error.field:
        return f"--limit {error.field}=N raises it, if the source may take so much work"
    if code == "repeat_count":
        return "a smaller count, or none: a{9,} has no upper bound"
    if isinstance(error, interlock.LimitError):
        return "a smaller source, or smaller numbers in it: this limit is fixed, and no --limit raises it"
    if code == "no_automaton":
        return "interlock check walks single texts through a grammar; interlock sample writes some"
    if code == "cut_off":
        return CUT_OFF
    if (
        code == "not_a_tokenizer"
        or isinstance(error, interlock.VocabularyError)
        and "not a JSON object: " in str(error)
    ):
        return TOKENIZER_FILE
    if isinstance(error, interlock.UnsatisfiableError):
        return "the place above contradicts itself; no output can satisfy it"
    if isinstance(error, FileNotFoundError) and error.filename:
        if re.match("https?:/", os.fsdecode(error.filename)):
            return "a file: nothing is fetched here, so download it first"
        if os.path.islink(error.filename):
            return f"it is a link to {os.fsdecode(os.readlink(error.filename))}, which is not there: mend or remove it"
        meant = near_file(os.fsdecode(error.filename))
        return f"did you mean {meant}?" if meant else "check the spelling of the path"
    if isinstance(error, OSError):
        if error.errno in (errno.EACCES, errno.EPERM) and error.filename and (way := _readable(error.filename)):
            return way
        return _OS_REMEDIES.get(error.errno or 0, "")
    if code == "not_a_folder":
        return "a folder, which may not be there yet: -o store/"
    if isinstance(error, interlock.ArtifactError) and isinstance(error.__cause__, OSError):
        return _OS_REMEDIES.get(error.__cause__.errno or 0, "")
    if isinstance(error, interlock.ArtifactError):
        # The engine says in words why a file cannot be written.
        return next((way for number, way in _OS_REMEDIES.items() if os.strerror(number) in str(error)), "")
    if code_of(error) == BUG:
        return "this is a bug in interlock: please report the command and this message"
    return ""
