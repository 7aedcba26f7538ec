"""Say what a source became: states, memory, and how exactly each keyword is enforced.

  interlock inspect order.json
  interlock inspect pattern:'[a-z]{1,60}' -t tokenizer.json

The report names what a keyword means here where that is less than in the specification.
"""

from __future__ import annotations

import argparse
import math

import interlock
from interlock.cli import exits, sources, vocabularies
from interlock.cli.output import Output, byte_set, facts, size, table, text_of
from interlock.cli.style import TRY, Line
from interlock.cli.walk import next_bytes

SHOWN = 60
COUNTED = 5000
"""States that are looked at to count texts."""


def register(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    sources.add_arguments(parser)
    vocabularies.add_arguments(parser)


def run(args: argparse.Namespace, output: Output) -> int:
    """Compile and describe."""
    source = sources.read(args.source, args)
    vocabulary = vocabularies.read(args)
    index = source.compile(vocabulary)
    guide = index.guide()
    forced = guide.forced_bytes()
    allowed = guide.allowed_token_ids().tolist()
    first = next_bytes(guide)
    rows = index.report
    unknown = sources.remarks(source, index, output)
    slips = {(u["pointer"], u["keyword"]): u["suggestion"] for u in unknown if u["suggestion"]}
    count = _language_size(source, vocabulary)
    shortest = None if index.kind == "grammar" else index.shortest_member()
    more = f" and {len(shortest) - SHOWN} bytes more" if shortest is not None and len(shortest) > SHOWN else ""
    machine = {
        "kind": source.kind,
        "fingerprint": index.fingerprint,
        "vocabulary": {"size": vocabulary.size, "fingerprint": vocabulary.fingerprint},
        "states": index.num_states,
        "memory_bytes": index.memory_bytes,
        "language_size": count,
        "shortest_member": None if shortest is None else shortest.decode("utf-8", "backslashreplace"),
        "start": {
            "allowed_tokens": len(allowed),
            "allowed_bytes": first,
            "forced": forced.decode("utf-8", "backslashreplace"),
        },
        "report": [
            {"pointer": r.pointer, "keyword": r.keyword, "enforcement": r.enforcement, "reason": r.reason} for r in rows
        ],
        "unknown_keywords": unknown,
    }
    why = "recursion, or too many states"
    written: list[tuple[str, str]] = []
    if source.kind == "structural_tag":
        why = "a structural tag has no finite automaton"
    if source.kind == "grammar":
        from interlock.drawing.grammar_outline import outline

        why = "a grammar has no finite automaton"
        made = outline(source.text, source.options["syntax"])
        kinds = (("rule", made.rules), ("terminal", made.terminals))
        counts = ", ".join(f"{len(some)} {word}{'s' if len(some) != 1 else ''}" for word, some in kinds if some)
        lexer = source.options.get("lexer") or ("dynamic" if source.options["syntax"] == "lark" else "any")
        written = [("syntax", f"{source.options['syntax']}, {counts}"), ("lexer", lexer)]
        machine |= {"syntax": source.options["syntax"], "lexer": lexer, "rules": len(made.rules)}
    everyday = args.tokenizer == vocabularies.BYTES
    unit = "bytes" if everyday else "tokens"
    people = facts(
        [
            ("kind", source.kind),
            ("fingerprint", index.fingerprint),
            *written,
            ("texts", f"not counted: {why}" if count is None else str(count)),
            *([] if shortest is None else [("shortest text", text_of(shortest[:SHOWN]) + more)]),
            ("states so far", str(index.num_states)),
            ("memory", size(index.memory_bytes)),
            (f"first {unit[:-1]}", f"{len(allowed)} of {vocabulary.size} {unit} allowed: {byte_set(first) or 'none'}"),
            ("forced start", text_of(forced) if forced else "nothing"),
        ]
    )
    people += [Line(""), Line(f"report: {len(rows)} rows; what has none is enforced exactly")]
    if rows:
        # What is a mistake comes first, what every schema has comes last.
        ordered = sorted(rows, key=lambda r: ((r.pointer, r.keyword) not in slips, r.enforcement == "narrower"))
        cells: list[list[str | Line]] = []
        for r in ordered:
            slip = slips.get((r.pointer, r.keyword))
            reason = Line(r.reason, ("; did you mean " + slip + "?", TRY)) if slip else Line(r.reason)
            cells.append([r.enforcement, r.pointer or "(root)", Line((r.keyword, TRY if slip else "")), reason])
        people += table(cells, ("enforcement", "place", "keyword", "reason"))
    output.result(machine, people)
    return exits.OK


def _language_size(source: sources.Source, vocabulary: interlock.Vocabulary) -> int | str | None:
    """How many texts there are; ``None`` where that takes more than COUNTED states (or ``--limit max_flat_states``)."""
    limits = {"max_flat_states": COUNTED} | source.options.get("limits", {})
    try:
        count = source.compile(vocabulary, limits=limits).language_size()
    except (interlock.LimitError, interlock.UnsupportedError):
        return None
    if isinstance(count, float):
        return "infinite"
    # Beyond a thousand digits, none of them says anything; Python refuses to write them, too.
    return count if count.bit_length() < 3000 else f"about 10^{math.floor(count.bit_length() * math.log10(2))}"
