"""Compare two sources: equal, or a text that only one of them accepts.

  interlock diff old.json new.json
  interlock diff pattern:'[a-c]+' pattern:'[a-d]+'

Exact, or an error beyond --limit max_flat_states=N pairs of states, and for sources that recurse or are grammars,
unless the two are the same source. The texts are shortest ones. Exit code 0: they accept the same; 1: they do not.
"""

from __future__ import annotations

import argparse

import interlock
from interlock.cli import exits, kind_options, recursion, sources, vocabularies
from interlock.cli.output import Output, text_of
from interlock.cli.style import BAD, GOOD, NAME, Line


def register(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    parser.add_argument("first", metavar="FIRST", help=sources.HELP)
    parser.add_argument("second", metavar="SECOND", help="the other source")
    sources.add_arguments(parser, positional=False)


def run(args: argparse.Namespace, output: Output) -> int:
    """Search both directions."""
    vocabulary = vocabularies.byte_vocabulary()
    read = [sources.read(word, args, alone=False) for word in (args.first, args.second)]
    kind_options.refuse_others(args, {source.kind for source in read}, "each of the two")
    first, second = (source.compile(vocabulary) for source in read)
    for source, index in zip(read, (first, second)):
        sources.remarks(source, index, output)
    only_first, only_second = (None, None) if _same(read, (first, second)) else _witnesses(read, (first, second))
    same = only_first is None and only_second is None
    relation = "equal" if same else "different"
    if not same and only_first is None:
        relation = "the first accepts less"
    elif not same and only_second is None:
        relation = "the second accepts less"
    texts = [None if w is None else w.decode("utf-8", "backslashreplace") for w in (only_first, only_second)]
    people = [Line((relation, GOOD if same else BAD))]
    named = (("first", only_first), ("second", only_second))
    people += [Line(f"  only the {name} accepts: ", (text_of(w), NAME)) for name, w in named if w is not None]
    output.answer({"equal": same, "relation": relation, "only_first": texts[0], "only_second": texts[1]}, people)
    return exits.OK if same else exits.NO


def _same(read: list[sources.Source], indexes: tuple[interlock.Index, interlock.Index]) -> bool:
    """Whether both are the same source with the same options, whatever blanks its JSON is written with."""
    if indexes[0].fingerprint == indexes[1].fingerprint:
        return True
    first, second = read
    if first.kind != second.kind or first.options != second.options:
        return False
    if first.kind != "json_schema":
        return bool(first.text == second.text)
    texts = [s.text if isinstance(s.text, bytes) else s.text.encode() for s in read]
    return sources.extract(texts[0]) == sources.extract(texts[1])


def _witnesses(
    read: list[sources.Source], indexes: tuple[interlock.Index, interlock.Index]
) -> tuple[bytes | None, bytes | None]:
    """A shortest text that only the first accepts, and one that only the second accepts."""
    try:
        return indexes[0].witness_not_in(indexes[1]), indexes[1].witness_not_in(indexes[0])
    except interlock.LimitError as error:
        for source in read:
            if recursion.recurses(source):
                raise interlock.UnsupportedError(f"{source.name} recurses, and diff cannot compare it") from error
        raise
