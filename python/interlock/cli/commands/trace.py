"""Show a generation token by token, as one page: allowed, forced or chosen, refused and why, budget, time.

  interlock trace order.json --text '{"item": "tea"}' -o trace.html
  interlock trace order.json answer.json -t tokenizer.json --max-tokens 60 -o trace.html
  interlock trace order.json --ids 5018,606,794 -t tokenizer.json -o trace.html
  interlock trace order.json --logprobs response.json -t tokenizer.json -o trace.html
  interlock trace order.json answer.json -o - > trace.html

A text is cut into the longest tokens that fit, where a model's tokenizer may cut elsewhere; --ids takes the tokens that
a model produced, and --logprobs a response of a chat-completions API with logprobs (top_logprobs too), which shows what
the model wanted and was refused. -o - writes the page to the standard output, and nothing else. Exit code 0: the output
is accepted; 1: it is refused; the page is written either way.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import Any

import interlock
from interlock.cli.arguments.number_arguments import at_least
from interlock.cli.checking.text_arguments import in_order, one_of, tokens_of
from interlock.cli.sources import source_arguments as sources
from interlock.cli.sources import source_notes, vocabularies
from interlock.cli.terminal import atomic_files, exits, streams
from interlock.cli.terminal.output import Output, decimal, facts, size
from interlock.cli.terminal.style import BAD, FORCED, GOOD, NOTE, QUIET, Line
from interlock.drawing.trace import Trace, trace
from interlock.drawing.trace_page import trace_page
from interlock.util.longest_tokens import tokens_by_bytes

PAGE = "trace.html"
"""The default name of the page."""
MOST = 10_000
"""Tokens of an output. A page of more is too large for a browser."""
MARK = b"<h2>The output, token by token</h2>"
"""What stands in every page."""


def register(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    sources.add_arguments(parser)
    parser.add_argument("given", metavar="FILE", nargs="?", help="the output; - is the standard input")
    parser.add_argument("--text", help="the output itself")
    parser.add_argument("--ids", metavar="IDS", help="token ids with commas, as a model produced them")
    parser.add_argument("--logprobs", metavar="FILE", help="a chat-completions response with logprobs")
    parser.add_argument("--max-tokens", type=at_least(1), metavar="N", help="the budget of the output")
    parser.add_argument("-o", "--out", metavar="FILE", help="the page (default: trace.html); - is the standard output")
    vocabularies.add_arguments(parser)


def run(args: argparse.Namespace, output: Output) -> int:
    """Walk, and write the page."""
    ways = {"FILE": args.given, "--text": args.text, "--ids": args.ids, "--logprobs": args.logprobs}
    one_of(args, ways)
    page = _page(args.out, output)
    replaces = args.out is None and os.path.exists(page)
    source = in_order(args)
    vocabulary = vocabularies.read(args)
    wishes = None
    if args.logprobs is not None:
        ids, wishes = _response(atomic_files.read(args.logprobs), vocabulary)
    else:
        ids, _ = tokens_of(args, vocabulary, args.given, args.text)
        if args.given not in (None, "-") and args.text is None and _is_response(atomic_files.read(args.given)):
            said = f"{args.given} is a response of an API; --logprobs {args.given} traces the output in it"
            output.note(Line(("note: ", NOTE), said))
    if len(ids) > MOST:
        raise exits.InputError(
            f"the output has {len(ids)} tokens, and a page shows {MOST} at most",
            "trace its beginning; interlock check walks outputs of any length",
        )
    index = source.compile(vocabulary)
    source_notes.say_notes(source, index, output)
    found = trace(index, ids, args.source, args.max_tokens, wishes)
    code = exits.OK if found.complete else exits.NO
    if page in atomic_files.STANDARD_OUTPUT:
        streams.write(trace_page(found))
        return code
    atomic_files.write_text(page, trace_page(found))
    if replaces:
        output.note(Line(("note: ", NOTE), f"an earlier {page} was replaced; -o NAME.html writes another file"))
    machine = {"forced_tokens" if name == "forced" else name: value for name, value in found.machine().items()}
    output.answer({"file": page, **machine}, _people(found, page))
    return code


def _page(out: str | None, output: Output) -> str:
    """The file to write. By default trace.html, which replaces an earlier page and nothing else."""
    if out is not None:
        if out in atomic_files.STANDARD_OUTPUT:
            if output.json:
                raise exits.UsageError("--json and the page both want the standard output: name a file with -o")
            return out
        atomic_files.refuse_folder(out)
        if not out.endswith(".html"):
            raise exits.UsageError(f"--out {out}: the name must end in .html", "-o trace.html")
        return out
    atomic_files.refuse_folder(PAGE)
    if os.path.lexists(PAGE):
        if not os.path.isfile(PAGE) or MARK not in Path(PAGE).read_bytes():
            raise exits.UsageError(f"{PAGE} exists, and is no page of this command", "-o NAME.html names another file")
    return PAGE


def _people(found: Trace, path: str) -> list[Line]:
    masks = sorted(step.mask_us for step in found.steps)
    timed = (
        [("a mask", f"{decimal(masks[len(masks) // 2])} us median, {decimal(masks[-1])} us at most")] if masks else []
    )
    verdict = Line(("accepted", GOOD)) if found.complete else Line(("refused", BAD))
    rows: list[tuple[str, str | Line]] = [
        ("output", verdict),
        ("tokens", f"{len(found.steps)}"),
        ("forced tokens", Line((str(found.forced), FORCED), ", for which no model is asked" if found.forced else "")),
        *timed,
        ("page", f"{path}, {size(Path(path).stat().st_size)}"),
    ]
    places = [Line((f"  {place}: ", QUIET)) for place in found.places] or [Line("  ")] * len(found.problems)
    return facts(rows) + [place + problem for place, problem in zip(places, found.problems)]


def _response(data: bytes, vocabulary: interlock.Vocabulary) -> tuple[list[int], list[dict[int, float]]]:
    """The tokens of a chat-completions response and, for each, the log-probabilities of those that were likely."""
    try:
        response = json.loads(data)
    except (ValueError, RecursionError):
        raise exits.InputError(
            "--logprobs: the file is not JSON; it holds a response of a chat-completions API",
            "save the response as it came, whole",
        ) from None
    try:
        content = response["choices"][0]["logprobs"]["content"]
        entries = [(_entry(item), [_entry(other) for other in item.get("top_logprobs", [])]) for item in content]
    except (ValueError, KeyError, IndexError, TypeError, AttributeError):
        raise exits.InputError(
            "--logprobs: no chat-completions response with choices[0].logprobs.content",
            'ask the API for logprobs ("logprobs": true in the request), and save the response as it came',
        ) from None
    ids_of = tokens_by_bytes(vocabulary)
    ids, wishes = [], []
    for (token, logprob), others in entries:
        if token not in ids_of:
            raise exits.InputError(f"--logprobs: the vocabulary has no token {token!r}; is --tokenizer the model's?")
        ids.append(ids_of[token])
        wishes.append({ids_of[t]: p for t, p in [(token, logprob), *others] if t in ids_of})
    return ids, wishes


def _is_response(data: bytes) -> bool:
    """Whether a text is a chat-completions response with the log-probabilities of its tokens."""
    try:
        return isinstance(json.loads(data)["choices"][0]["logprobs"]["content"], list)
    except (ValueError, KeyError, IndexError, TypeError, RecursionError):
        return False


def _entry(item: dict[str, Any]) -> tuple[bytes, float]:
    data = bytes(item["bytes"]) if item.get("bytes") is not None else str(item["token"]).encode()
    return data, float(item["logprob"])
