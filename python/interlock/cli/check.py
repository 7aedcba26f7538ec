"""Walk a document or text through a source, and say where and why it is refused.

  interlock check order.json answer.json
  interlock check pattern:'\\d{4}-\\d\\d' --text 2026-7
  interlock check order.json answer.json -t tokenizer.json --trace
  interlock check order.json --ids 5018,606,794 -t tokenizer.json

Every reason is said in the words of the source, with the line and a caret; --bytes adds where generation would have
stopped, byte by byte. Exit code 0: accepted; 1: refused, or it ends too early. One final newline of a file is not part
of the document.
"""

from __future__ import annotations

import argparse
import json
import os
import re
from typing import Any

import interlock
from interlock import schema_hints
from interlock.cli import exits, atomic_files, sources, vocabularies
from interlock.cli.excerpt import excerpt
from interlock.cli.output import Output, byte_set, counted, text_of
from interlock.cli.style import BAD, GOOD, QUIET, TRY, Line
from interlock.cli.suggest import near_file
from interlock.cli.walk import Speller, spells
from interlock.explain import Explanation, Problem, explain, line_column

MOST = 20
"""Reasons that are shown."""


def register(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    sources.add_arguments(parser)
    parser.add_argument("given", metavar="FILE", nargs="?", help="the document; - is the standard input")
    parser.add_argument("--text", help="the document itself")
    parser.add_argument("--ids", metavar="IDS", help="token ids with commas, as a model produced them")
    parser.add_argument("--trace", action="store_true", help="a line for every token: what was allowed before it")
    parser.add_argument("--bytes", action="store_true", help="show the refused token and byte, and those allowed there")
    vocabularies.add_arguments(parser)


def run(args: argparse.Namespace, output: Output) -> int:
    """Walk and report."""
    one_of(args, "checked", {"FILE": args.given, "--text": args.text, "--ids": args.ids})
    source = in_order(args)
    vocabulary = vocabularies.read(args)
    ids, data = tokens_of(args, vocabulary)
    index = source.compile(vocabulary)
    unknown = sources.remarks(source, index, output)
    guide = index.guide()
    trace: list[dict[str, Any]] = []
    taken = 0
    refused: int | None = None
    for i in ids:
        if args.trace:
            before = {"at": taken, "token": i, "text": text_of(vocabulary.token_bytes(i))}
            trace.append(before | {"allowed": len(guide.allowed_token_ids()), "forced": text_of(guide.forced_bytes())})
        if not guide.try_advance(i):
            refused = i
            break
        taken += len(vocabulary.decode([i]))
    machine: dict[str, Any] = {"unknown_keywords": unknown} if unknown else {}
    if refused is None and (guide.is_accepting or guide.is_terminated):
        machine = {"accepted": True, "tokens": len(ids), "bytes": len(data), "must_stop": guide.must_stop} | machine
        more = "" if guide.must_stop else "; it could also go on"
        _say(
            output,
            machine,
            [Line(("accepted:", GOOD), f" {counted(len(ids), 'token')}, {counted(len(data), 'byte')}{more}")],
            trace,
        )
        return exits.OK
    if refused is not None and not spells(vocabulary)(refused):
        reason = _silent(refused, vocabulary, guide)
        machine = {"accepted": False, "at": taken, "token": refused, "reason": reason} | machine
        _say(output, machine, [Line(("refused:", BAD), f" at byte {taken}: {reason}")], trace)
        return exits.NO
    reason = guide.explain(refused) if refused is not None else "it ends too early"
    try:
        over_bytes = source.compile(vocabularies.byte_vocabulary())
    except interlock.VocabularyError:  # Special tokens of a grammar, which bytes cannot spell.
        machine = {"accepted": False, "at": taken, "token": refused, "reason": reason} | machine
        _say(output, machine, [Line(("refused:", BAD), f" at byte {taken}: {reason}")], trace)
        return exits.NO
    found = explain(over_bytes, data)
    _say(output, _machine(found, data, refused, reason) | machine, _people(args, found, refused, reason), trace)
    return exits.NO


def one_of(args: argparse.Namespace, done: str, ways: dict[str, Any]) -> None:
    """``UsageError`` unless exactly one of the ways to give an output was taken."""
    given = [way for way, value in ways.items() if value is not None]
    *names, last = ways
    if not given:
        raise exits.UsageError(
            f"what is {done} is missing: give one of {', '.join(names)} and {last}",
            f"interlock {args.command} {args.source} FILE",
        )
    if len(given) > 1:
        both = "both " if len(given) == 2 else ""
        raise exits.UsageError(f"you gave {both}{' and '.join(given)}; give one of them")


def in_order(args: argparse.Namespace) -> sources.Source:
    """The source. ``UsageError`` where it is a document, and the document is a source."""
    try:
        return sources.read(args.source, args)
    except (exits.UsageError, interlock.SchemaError) as error:
        if os.path.isfile(args.source) and _names_source(args.given) and not _is_document(args.given):
            raise exits.UsageError(_swapped(args)) from error
        raise


def _swapped(args: argparse.Namespace) -> str:
    return (
        f"{args.source} is no source, and {args.given} is one: the source comes first, "
        f"interlock {args.command} {args.given} {args.source}"
    )


def _names_source(path: str | None) -> bool:
    """Whether a word names a file that is a source by its name, or a JSON file that may be one."""
    return path is not None and os.path.splitext(path)[1].lower() in sources.SUFFIXES and os.path.isfile(path)


def _is_document(path: str) -> bool:
    """Whether a file is JSON that is no schema."""
    return path.lower().endswith(".json") and bool(schema_hints.no_schema(_json(atomic_files.read(path))))


def _json(text: str | bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return {}


def tokens_of(args: argparse.Namespace, vocabulary: interlock.Vocabulary) -> tuple[list[int], bytes]:
    """The ids that the arguments name, or those that spell the text; and the bytes that they spell."""
    if args.ids is not None:
        ids = []
        for part in args.ids.strip(",").split(","):
            try:
                ids.append(int(part))
            except ValueError:
                raise exits.UsageError(
                    f"--ids: {part.strip()!r} is no token id; write numbers, as in 5018,606"
                ) from None
        for token in ids:
            vocabularies.require_token("--ids", token, vocabulary)
        return ids, vocabulary.decode(ids)
    if args.text is not None and os.path.isfile(args.text):
        raise exits.UsageError(f"--text takes the output itself, and {args.text} is a file: leave out --text")
    if args.given not in (None, "-") and not os.path.exists(args.given) and _is_text(args.given):
        raise exits.UsageError(f"{args.given!r} is no file; the output itself is given with --text {args.given!r}")
    data: bytes = (
        args.text.encode("utf-8", "surrogateescape") if args.text is not None else atomic_files.read(args.given)
    )
    data = data if args.text is not None else data.removesuffix(b"\n").removesuffix(b"\r")
    return Speller(vocabulary).spell(data), data


def _is_text(word: str) -> bool:
    """Whether a word that names no file is an output rather than a misspelt name."""
    return word.lstrip()[:1] in ("{", "[", '"') or not (re.search(r"[./\\]", word) or near_file(word))


def _silent(token: int, vocabulary: interlock.Vocabulary, guide: interlock.Guide) -> str:
    """Why a token that spells no text is refused."""
    written = vocabulary.token_bytes(token)
    name = f"token {token}" + (f" ({text_of(written)})" if written else "")
    if token in vocabulary.eos_token_ids:
        return guide.explain(token)
    return f"{name} is special: it spells no text, and nothing in the source asks for it"


def _machine(found: Explanation, data: bytes, token: int | None, reason: str) -> dict[str, Any]:
    # The place that people are told: where the first problem begins.
    line, column = line_column(found.text, found.problems[0].start if found.problems else found.character)
    return {
        "accepted": False,
        "at": found.at,
        "line": line,
        "column": column,
        "pointer": found.problems[0].pointer if found.problems else None,
        "byte": data[found.at] if found.at < len(data) else None,
        "token": token,
        "reason": reason,
        "ends_early": found.ends_early,
        "allowed_bytes": found.allowed,
        "may_end": found.may_end,
        "forced": found.forced.decode("utf-8", "backslashreplace"),
        "problems": [machine_problem(found.text, problem) for problem in found.problems],
    }


def machine_problem(text: str, problem: Problem) -> dict[str, Any]:
    """A problem for machines."""
    line, column = line_column(text, problem.start)
    return {
        "message": problem.message,
        "hint": problem.hint,
        "pointer": problem.pointer,
        "keyword": problem.keyword,
        "schema": problem.schema,
        "line": line,
        "column": column,
        "start": problem.start,
        "end": problem.end,
    }


def _people(args: argparse.Namespace, found: Explanation, token: int | None, reason: str) -> list[Line]:
    lines: list[Line] = []
    problems = found.problems
    if found.accepted:  # Over bytes it would do: it is the tokens.
        lines.append(Line(("refused:", BAD), " the text is accepted, but not these tokens: ", reason))
        return lines
    many = f" {len(problems)} reasons" if len(problems) > 1 else ""
    lines.append(Line(("refused:", BAD), many or f" {place_of(found.text, problems[0])}"))
    for problem in problems[:MOST]:
        if many:
            lines.append(Line((f"  {place_of(found.text, problem)}:", QUIET)))
        lines.append(Line("  ", _options(problem.message)))
        if found.text:
            lines += [Line("  ") + line for line in excerpt(found.text, problem.start, problem.end)]
        if found.text.startswith("\ufeff") and problem.start == 0:
            mark = "the document begins with a byte order mark (U+FEFF), which no output may: save it without one"
            lines.append(Line(("  try: ", TRY), mark))
        elif problem.hint:
            lines.append(Line(("  try: " if not _is_note(problem) else "  ", TRY), _hint(problem)))
    if len(problems) > MOST:
        lines.append(Line((f"  and {len(problems) - MOST} more; --json has all of them", QUIET)))
    if found.ends_early or problems[0].keyword in ("pattern", "grammar") and not problems[0].schema:
        end = " (or the end)" if found.may_end else ""
        lines.append(Line(f"  {'could follow' if found.ends_early else 'allowed there'}: {characters(found)}{end}"))
        lines += [Line(f"  must follow: {text_of(found.forced)}")] if found.forced else []
    if args.bytes:
        said = reason if token is not None else f"allowed there: {byte_set(found.allowed)}"
        lines.append(Line((f"  byte {found.at}: ", QUIET), said))
    return lines


def _is_note(problem: Problem) -> bool:
    return problem.hint.startswith(("nearest of", "asked for", "did you mean", "JSON "))


def _hint(problem: Problem) -> str:
    hint = _options(problem.hint)
    return f"({hint})" if hint.startswith(("nearest of", "asked for")) else hint


def _options(text: str) -> str:
    """Options of the package as options of the command."""
    return re.sub(r'\b(property_order|whitespace|spelling)="(.*?)"', _option, text)


def _option(found: re.Match[str]) -> str:
    return f"--{found[1].replace('_', '-')} {found[2]}"


def place_of(text: str, problem: Problem) -> str:
    """A problem's place in words."""
    line, column = line_column(text, min(problem.start, len(text)))
    return f"line {line}, column {column}" + (f", at {problem.pointer}" if problem.pointer else "")


def characters(found: Explanation) -> str:
    """The characters that may come next; bytes inside or at the start of others are summed up."""
    plain = [byte for byte in found.allowed if byte < 0x80]
    more = "characters beyond ASCII" if len(plain) < len(found.allowed) else ""
    return " ".join(filter(None, [byte_set(plain), ("and " + more) if plain and more else more])) or "nothing"


def _say(output: Output, machine: dict[str, Any], people: list[Line], trace: list[dict[str, Any]]) -> None:
    lines = [
        Line(
            f"{step['at']:>6}  token {step['token']:<7} {step['text']:<20} {step['allowed']:>7} allowed"
            + (f", forced {step['forced']}" if step["forced"] != '""' else "")
        )
        for step in trace
    ]
    output.result(machine | ({"trace": trace} if trace else {}), lines + people)
