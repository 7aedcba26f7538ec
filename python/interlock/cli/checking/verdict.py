"""What is said of one text that was walked through a source: accepted, or refused with the reasons."""

from __future__ import annotations

import re
import shlex
from codecs import getincrementaldecoder
from dataclasses import dataclass, replace
from typing import Any

import interlock
from interlock.cli.checking.call_problems import in_words_of_tools
from interlock.cli.checking.tag_problems import in_words_of_schemas
from interlock.cli.checking.validity import ONLY_FORM, Validity
from interlock.cli.checking.walk import spells
from interlock.cli.sources import source_arguments as sources
from interlock.cli.sources import vocabularies
from interlock.cli.terminal.line_with_caret import excerpt
from interlock.cli.terminal.output import MOST_FORCED, byte_set, cut_text_of, text_of
from interlock.cli.terminal.style import BAD, GOOD, QUIET, TRY, Line
from interlock.explain import Explanation, Problem, explain, line_column
from interlock.explain.document import BLANKS, LineStarts
from interlock.explain.explanation import NOT_JSON
from interlock.util.plurals import counted

MOST = 20
"""Reasons that are shown."""


@dataclass
class Verdict:
    """Whether a text is accepted; the same for machines and for people; and in one line, with what makes it the same
    as that of another text.
    """

    accepted: bool
    machine: dict[str, Any]
    people: list[Line]
    said: str
    """In one line, of the first reason, without its place."""
    reason: str = ""
    """Of a text that is refused: why, without the place."""
    note: str = ""
    """Of a text that is accepted: what the reader should know of it."""
    line: int = 0
    """Of a text that is refused: where the first reason is; 0 where it has no place."""
    column: int = 0
    pointer: str = ""

    @property
    def brief(self) -> str:
        """``said`` with its place."""
        return f"{_place(self.line, self.column, self.pointer)}: {self.said}" if self.line else self.said


class Walker:
    """One source over one vocabulary, through which texts are walked. With ``valid`` it is a schema in any form, and
    a document that is valid is accepted however it is written. ``file`` names the file that the text is from, where
    that is known, and ``most`` is how many reasons people are shown; all of them where it is ``None``.
    """

    def __init__(
        self,
        source: sources.Source,
        index: interlock.Index,
        valid: bool = False,
        file: str = "",
        most: int | None = MOST,
    ) -> None:
        self.source = source
        self.valid = valid
        self.file = file
        self.most = most
        self._validity = Validity(source)
        self.vocabulary = index.vocabulary
        self.is_text = spells(self.vocabulary)
        self.guide = index.guide()
        self._over_bytes: interlock.Index | None = None

    def walk(
        self, ids: list[int], data: bytes, trace: list[dict[str, Any]] | None = None, bytes: bool = False
    ) -> Verdict:
        """What is said of these tokens, which spell ``data``. ``trace`` takes a step for each; ``bytes`` adds where
        generation would have stopped.
        """
        guide = self.guide
        guide.reset()
        taken, refused = self._advance(ids, trace)
        if refused is None and (guide.is_accepting or guide.is_terminated):
            counts = {"tokens": len(ids), "bytes": len(data)}
            machine = {"accepted": True, **counts, "must_stop": guide.must_stop, "problems": []}
            more = "" if guide.must_stop else "; it could also go on"
            said = f"{counted(len(ids), 'token')}, {counted(len(data), 'byte')}{more}"
            said = VALID if self.valid else said
            return Verdict(True, machine, [Line(("accepted:", GOOD), " " + said)], said)
        if refused is not None and not self.is_text(refused):
            return _without_place(taken, refused, _silent(refused, self.vocabulary, guide))
        reason = guide.explain(refused) if refused is not None else "it ends too early"
        try:
            self._over_bytes = self._over_bytes or self.source.compile(vocabularies.byte_vocabulary())
        except interlock.VocabularyError:  # Special tokens of a grammar, which bytes cannot spell.
            return _without_place(taken, refused, reason)
        found = explain(self._over_bytes, data)
        if self.source.kind == "tools":
            found = in_words_of_tools(found, self.source.text, self.source.options)
        elif self.source.kind == "structural_tag":
            found = in_words_of_schemas(
                found, self.source.text, lambda tag, vocabulary: self.source.with_text(tag).make(vocabulary)
            )
        elif self.source.kind == "json_schema":
            # The rest is about a part of a document, and may be a consequence of where it breaks.
            found = replace(found, problems=_no_json_first(found.problems))
        machine = _machine(found, data, refused, reason)
        # Of what the schema says, the place in the schema is known.
        is_of_form = not found.accepted and not any(one.schema for one in found.problems)
        if is_of_form and self._validity.holds(data):
            if self.valid:
                machine = {"accepted": True, "tokens": len(ids), "bytes": len(data), "must_stop": True, "problems": []}
                return Verdict(True, machine, [Line(("accepted:", GOOD), " " + VALID)], VALID)
            machine["valid"] = True
            found = _only_of_form(found)
        elif self.valid:
            found = replace(found, problems=[*map(_not_known, self._of_the_value(found))])
            machine = _machine(found, data, refused, reason)
        if found.accepted:  # Over bytes it would do: it is the tokens.
            said = f"the text is accepted, but not these tokens: {reason}"
            return Verdict(False, machine, [Line(("refused:", BAD), " " + said)], said, reason)
        people = _people(found, self.file, self.most)
        if bytes:
            said = reason if refused is not None else f"allowed there: {byte_set(found.allowed)}"
            people.append(Line((f"  byte {found.at}: ", QUIET), said))
        return _verdict(machine, people, found)

    def _of_the_value(self, found: Explanation) -> list[Problem]:
        """Why a document is not valid, without what is said of how it is written. That it is no JSON comes first."""
        if any(one.schema for one in found.problems):
            return _no_json_first([one for one in found.problems if one.schema or _is_no_json(one)])
        inner = found.text.strip(BLANKS)
        if inner in ("", found.text) or self._over_bytes is None:
            return _no_json_first(found.problems)
        before = found.text.index(inner)
        problems = [
            replace(one, start=one.start + before, end=one.end + before, until=one.until + before)
            for one in explain(self._over_bytes, inner).problems
        ]
        return _no_json_first(problems)

    def _advance(self, ids: list[int], trace: list[dict[str, Any]] | None) -> tuple[int, int | None]:
        """The bytes that were taken, and the token that was refused."""
        guide, taken = self.guide, 0
        if trace is None:
            known = guide.advance_many(ids)
            return len(self.vocabulary.decode(ids[:known])), ids[known] if known < len(ids) else None
        for i in ids:
            step = {"at": taken, "token": i, "text": text_of(self.vocabulary.token_bytes(i))}
            allowed, forced = len(guide.allowed_token_ids()), text_of(guide.forced_bytes())
            trace.append(step | {"allowed": allowed, "forced_text": forced})
            if not guide.try_advance(i):
                return taken, i
            taken += len(self.vocabulary.decode([i]))
        return taken, None


VALID = "valid under the schema"
NOT_KNOWN = "whether it is valid is not known: "
"""What is said under ``--valid`` of a number that the engine writes in no spelling."""


def _is_no_json(problem: Problem) -> bool:
    """Whether a problem is that the text is no JSON."""
    return problem.message.startswith(NOT_JSON)


def _no_json_first(problems: list[Problem]) -> list[Problem]:
    """The same problems; that the text is no JSON comes before what is said of the part in front of that place."""
    return sorted(problems, key=_is_no_json, reverse=True)


def _not_known(problem: Problem) -> Problem:
    """A problem of a document that may be valid, where no schema says it but the engine of a number."""
    if problem.schema or problem.keyword not in ("numbers", "multipleOf"):
        return problem
    return replace(problem, message=f"{NOT_KNOWN}{problem.message}", hint="")


def _only_of_form(found: Explanation) -> Explanation:
    """What is said of a document that is valid, and refused for how it is written."""
    problems = [
        replace(one, message=ONLY_FORM + one.message, hint="; ".join(filter(None, [one.hint, ANY_FORM])))
        for one in found.problems
    ]
    return replace(found, problems=problems)


ANY_FORM = "--valid takes what is valid in any form"
"""What to do about a valid document that is refused."""


def _without_place(taken: int, refused: int | None, reason: str) -> Verdict:
    """Of tokens that spell no text, whose place only a byte can say."""
    machine = {"accepted": False, "at": taken, "token": refused, "reason": reason}
    said = f"at byte {taken}: {reason}"
    return Verdict(False, machine, [Line(("refused:", BAD), " " + said)], said, reason)


def _verdict(machine: dict[str, Any], people: list[Line], found: Explanation) -> Verdict:
    """The verdict about a text that is refused."""
    first, more = found.problems[0], len(found.problems) - 1
    said = options_of_command(first.message)
    said += f" (and {counted(more, 'more reason')})" if more else ""
    if _is_of_text(first):
        said += "".join(f"; {part}" for part in _next(found))
    elif first.hint.startswith("did you mean"):
        said += f" ({first.hint})"
    every = "; ".join(f"{problem.pointer}: {options_of_command(problem.message)}" for problem in found.problems)
    line, column = _line_column(found.text, first)
    return Verdict(False, machine, people, said, every, line=line, column=column, pointer=first.pointer)


def _silent(token: int, vocabulary: interlock.Vocabulary, guide: interlock.Guide) -> str:
    """Why a token that spells no text is refused."""
    written = vocabulary.token_bytes(token)
    name = f"token {token}" + (f" ({text_of(written)})" if written else "")
    if token in vocabulary.eos_token_ids:
        return guide.explain(token)
    return f"{name} is special: it spells no text, and nothing in the source asks for it"


def _machine(found: Explanation, data: bytes, token: int | None, reason: str) -> dict[str, Any]:
    # The place that people are told: where the first problem begins.
    starts = LineStarts(found.text)
    line, column = starts.line_column(found.problems[0].start if found.problems else found.character)
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
        "forced_text": found.forced.decode("utf-8", "backslashreplace"),
        "problems": [_machine_problem(starts, problem) for problem in found.problems],
    }


def _machine_problem(starts: LineStarts, problem: Problem) -> dict[str, Any]:
    """A problem for machines."""
    line, column = starts.line_column(problem.start)
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
    } | ({"missing": list(problem.missing)} if problem.missing else {})


def _people(found: Explanation, file: str, most: int | None) -> list[Line]:
    lines: list[Line] = []
    problems = found.problems
    many = len(problems) > 1
    first = f" {len(problems)} reasons" if many else f" {place_of(found.text, problems[0])}"
    lines.append(Line(("refused:", BAD), first) if many or not file else refused_at(problems[0].pointer))
    for problem in _shown(problems, most):
        if many:
            lines.append(Line((f"  {place_of(found.text, problem, file)}:", QUIET)))
        lines.append(Line("  ", options_of_command(problem.message)))
        if found.text:
            lines += [Line("  ") + line for line in excerpt(found.text, problem.start, problem.end)]
        if found.text.startswith("\ufeff") and problem.start == 0:
            mark = "the document begins with a byte order mark (U+FEFF), which no output may: save it without one"
            lines.append(Line(("  try: ", TRY), mark))
        elif problem.hint:
            lines.append(Line(("  try: " if not _is_note(problem) else "  ", TRY), _hint(problem)))
    if most is not None and len(problems) > most:
        lines.append(Line((f"  and {len(problems) - most} more; --all-reasons shows all of them", QUIET)))
    if found.ends_early or _is_of_text(problems[0]):
        lines += [Line("  " + part) for part in _next(found)]
    return lines


def refused_at(pointer: str) -> Line:
    """That a document is refused, behind its file, line and column."""
    return Line(("refused", BAD), f" at {pointer}" if pointer else "")


def _shown(problems: list[Problem], most: int | None) -> list[Problem]:
    """The problems that people see: of too many, those of wrong values come before those of missing keys."""
    if most is None or len(problems) <= most:
        return problems
    ranked = sorted(range(len(problems)), key=lambda i: bool(problems[i].missing))
    return [problems[i] for i in sorted(ranked[:most])]


def _is_of_text(problem: Problem) -> bool:
    """Whether a pattern or a grammar says it of the text itself, so that it names nothing that is wanted."""
    return problem.keyword in ("pattern", "grammar") and not problem.schema


def _next(found: Explanation) -> list[str]:
    """What may stand where the text is refused, and what must."""
    allowed = characters(found)
    if found.may_end:
        allowed = f"{allowed} (or the end)" if found.allowed else "the end"
    parts = [f"{'could follow' if found.ends_early else 'allowed there'}: {allowed}"]
    # People read characters: one that is refused inside is named as a whole, and the last bytes may begin one of
    # several, which is no text yet: it is among what is allowed.
    begun = found.text.encode()[len(found.text[: found.character].encode()) : found.at]
    forced = getincrementaldecoder("utf-8")("surrogateescape").decode(begun + found.forced) if found.forced else ""
    if not forced:
        return parts
    must = cut_text_of(forced.encode("utf-8", "surrogateescape"), goes_on=len(found.forced) >= MOST_FORCED)
    return [*parts, f"must follow: {must}"]


def _is_note(problem: Problem) -> bool:
    return problem.hint.startswith(("nearest of", "asked for", "did you mean", "JSON "))


def _hint(problem: Problem) -> str:
    hint = options_of_command(problem.hint)
    return f"({hint})" if hint.startswith(("nearest of", "asked for")) else hint


def options_of_command(text: str) -> str:
    """Options of the package as options of the command."""
    return re.sub(r'\b(property_order|whitespace|spelling)="(.*?)"', _option, text)


def _option(found: re.Match[str]) -> str:
    return f"--{found[1].replace('_', '-')} {shlex.quote(found[2])}"


def place_of(text: str, problem: Problem, file: str = "") -> str:
    """A problem's place in words; as editors read it, where ``file`` is named."""
    return _place(*_line_column(text, problem), problem.pointer, file)


def _line_column(text: str, problem: Problem) -> tuple[int, int]:
    return line_column(text, min(problem.start, len(text)))


def _place(line: int, column: int, pointer: str, file: str = "") -> str:
    place = f"{file}:{line}:{column}" if file else f"line {line}, column {column}"
    return place + (f", at {pointer}" if pointer else "")


def characters(found: Explanation) -> str:
    """The characters that may come next; bytes inside or at the start of others are summed up."""
    plain = [byte for byte in found.allowed if byte < 0x80]
    more = "characters beyond ASCII" if len(plain) < len(found.allowed) else ""
    return " ".join(filter(None, [byte_set(plain), ("and " + more) if plain and more else more])) or "nothing"
