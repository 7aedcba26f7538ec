"""Walk a document or text through a source, and say where and why it is refused.

  interlock check order.json answer.json
  interlock check pattern:'\\d{4}-\\d\\d' --text 2026-7
  interlock check order.json answer.json -t tokenizer.json --trace
  interlock check order.json --ids 5018,606,794 -t tokenizer.json

Exit code 0: accepted; 1: refused, or it ends too early. One final newline of a file is not part of the document.
"""

from __future__ import annotations

import argparse
from typing import Any

import interlock
from interlock.cli import exits, files, sources, vocabularies
from interlock.cli.output import Output, byte_set, printable, text_of
from interlock.cli.walk import Speller, next_bytes

SHOWN = 60


def register(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    sources.add_arguments(parser)
    parser.add_argument("given", metavar="FILE", nargs="?", help="the document; - is the standard input")
    parser.add_argument("--text", help="the document itself")
    parser.add_argument("--ids", metavar="IDS", help="token ids with commas, as a model produced them")
    parser.add_argument("--trace", action="store_true", help="a line for every token: what was allowed before it")
    vocabularies.add_arguments(parser)


def run(args: argparse.Namespace, output: Output) -> int:
    """Walk and report."""
    if sum(given is not None for given in (args.given, args.text, args.ids)) != 1:
        raise exits.UsageError("give one of FILE, --text and --ids")
    source = sources.read(args.source, args)
    vocabulary = vocabularies.read(args)
    ids, data = _tokens(args, vocabulary)
    guide = source.compile(vocabulary).guide()
    trace = []
    taken = 0
    for i in ids:
        if args.trace:
            before = {"at": taken, "token": i, "text": _show(vocabulary.token_bytes(i))}
            trace.append(before | {"allowed": len(guide.allowed_token_ids()), "forced": _show(guide.forced_bytes())})
        if not guide.try_advance(i):
            return _refused(args, output, source, guide, i, data, taken, trace)
        taken += len(vocabulary.decode([i]))
    if not (guide.is_accepting or guide.is_terminated):
        return _short(output, guide, data, trace)
    machine = {"accepted": True, "tokens": len(ids), "bytes": len(data), "must_stop": guide.must_stop}
    people = [f"accepted: {len(ids)} tokens, {len(data)} bytes" + ("" if guide.must_stop else "; it could also go on")]
    _say(output, machine, people, trace)
    return exits.OK


def _tokens(args: argparse.Namespace, vocabulary: interlock.Vocabulary) -> tuple[list[int], bytes]:
    if args.ids is not None:
        try:
            ids = [int(part) for part in args.ids.split(",") if part.strip()]
        except ValueError:
            raise exits.UsageError(f"--ids {args.ids}: write ids with commas") from None
        return ids, vocabulary.decode(ids)
    data: bytes = args.text.encode("utf-8", "surrogateescape") if args.text is not None else files.read(args.given)
    data = data if args.text is not None else data.removesuffix(b"\n").removesuffix(b"\r")
    return Speller(vocabulary).spell(data), data


def _refused(
    args: argparse.Namespace,
    output: Output,
    source: sources.Source,
    guide: interlock.Guide,
    token: int,
    data: bytes,
    taken: int,
    trace: list[dict[str, Any]],
) -> int:
    reason = guide.explain(token)
    spelled = guide.index.vocabulary.decode([token])
    # The byte at fault within the token: the longest part of it that single steps of the byte automaton take.
    walker = source.compile(vocabularies.byte_vocabulary()).guide()
    at = min(walker.advance_many(list(data[: taken + len(spelled)])), len(data))
    byte = data[at] if at < len(data) else None
    allowed = next_bytes(walker)
    line, column = (
        data.count(b"\n", 0, at) + 1,
        len(data[data.rfind(b"\n", 0, at) + 1 : at].decode("utf-8", "replace")) + 1,
    )
    pointer = pointer_at(data[:at]) if source.kind == "json_schema" else None
    hint = _hint(source, data)
    machine = {
        "accepted": False,
        "at": at,
        "line": line,
        "column": column,
        "pointer": pointer,
        "byte": byte,
        "token": token,
        "reason": reason,
        "allowed_bytes": allowed,
        "may_end": walker.is_accepting,
        "hint": hint,
    }
    place = f"line {line}, column {column} (byte {at})" + (
        f", in the value at {pointer or 'the root'}" if pointer is not None else ""
    )
    before = _plain(data[max(0, at - SHOWN) : at])
    after = _plain(data[at : at + 12])
    people = [f"refused: {place}", f"  {before}{after}", "  " + " " * len(before) + "^", f"  {reason}"]
    people += [f"  try: {hint}"] if hint else []
    _say(output, machine, people, trace)
    return exits.NO


def _short(output: Output, guide: interlock.Guide, data: bytes, trace: list[dict[str, Any]]) -> int:
    allowed, forced = next_bytes(guide), guide.forced_bytes()
    pointer = pointer_at(data)
    machine = {"accepted": False, "at": len(data), "pointer": pointer, "byte": None, "reason": "it ends too early"}
    people = [f"refused: it ends too early, after {len(data)} bytes", f"  could follow: {byte_set(allowed)}"]
    people += [f"  must follow: {_show(forced)}"] if forced else []
    _say(output, machine | {"allowed_bytes": allowed, "forced": _plain(forced)}, people, trace)
    return exits.NO


def _say(output: Output, machine: dict[str, Any], people: list[str], trace: list[dict[str, Any]]) -> None:
    lines = [
        f"{step['at']:>6}  token {step['token']:<7} {step['text']:<20} {step['allowed']:>7} allowed"
        + (f", forced {step['forced']}" if step["forced"] != '""' else "")
        for step in trace
    ]
    output.result(machine | ({"trace": trace} if trace else {}), lines + people)


def _hint(source: sources.Source, data: bytes) -> str:
    """An option with which the document is accepted, if it is only the option that refuses it."""
    if source.kind != "json_schema" or source.options.get("property_order") == "any":
        return ""
    walker = source.compile(vocabularies.byte_vocabulary(), property_order="any").guide()
    fits = walker.advance_many(list(data)) == len(data) and walker.is_accepting
    return "--property-order any accepts it: its keys are not in the declared order" if fits else ""


def _show(data: bytes) -> str:
    return text_of(data)


def _plain(data: bytes) -> str:
    """Bytes on one line, without quotes around them: characters that cannot be shown are escaped."""
    return printable(data.decode("utf-8", "backslashreplace").replace("\t", "\\t"))


def pointer_at(prefix: bytes) -> str:
    """JSON Pointer of the value that the beginning of a document is in.

    The prefix was accepted, so its brackets and quotes are in order; only they and commas are looked at.
    """
    path: list[str | int | None] = []
    text = prefix.decode("utf-8", "replace")
    at = 0
    key: str | None = None
    while at < len(text):
        c = text[at]
        if c == '"':
            end = at + 1
            while end < len(text) and text[end] != '"':
                end += 2 if text[end] == "\\" else 1
            key = text[at + 1 : end]
            at = end
        elif c == "{":
            path.append(None)
        elif c == "[":
            path.append(0)
        elif c == ":" and path:
            path[-1] = key
        elif c == "," and path:
            last = path[-1]
            path[-1] = last + 1 if isinstance(last, int) else None
        elif c in "]}" and path:
            path.pop()
        at += 1
    parts = [str(part).replace("~", "~0").replace("/", "~1") for part in path if part is not None]
    return "".join("/" + part for part in parts)
