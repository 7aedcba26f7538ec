"""Compare two sources: equal, or a text that only one of them accepts.

  interlock diff old.json new.json
  interlock diff pattern:'[a-c]+' pattern:'[a-d]+'

Exact within --max-pairs pairs of states, and an error beyond. The texts are shortest ones. Exit code 0: they accept the
same; 1: they do not.
"""

from __future__ import annotations

import argparse
from collections import deque

import interlock
from interlock.cli import exits, sources, vocabularies
from interlock.cli.output import Output, text_of
from interlock.cli.walk import next_bytes


def register(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    parser.add_argument("first", metavar="FIRST", help=sources.HELP)
    parser.add_argument("second", metavar="SECOND", help="the other source")
    sources.add_arguments(parser, positional=False)
    parser.add_argument("--max-pairs", type=int, default=20000, metavar="N", help="pairs of states (default: 20000)")


def run(args: argparse.Namespace, output: Output) -> int:
    """Search both directions."""
    vocabulary = vocabularies.byte_vocabulary()
    first, second = (sources.read(word, args).compile(vocabulary) for word in (args.first, args.second))
    only_first, only_second = (witness(a, b, args.max_pairs) for a, b in ((first, second), (second, first)))
    same = only_first is None and only_second is None
    relation = "equal" if same else "different"
    if not same and only_first is None:
        relation = "the first accepts less"
    elif not same and only_second is None:
        relation = "the second accepts less"
    texts = [None if w is None else w.decode("utf-8", "backslashreplace") for w in (only_first, only_second)]
    people = [relation]
    people += [f"  only the {name} accepts: {text_of(w)}" for name, w in (("first", only_first), ("second", only_second)) if w is not None]
    output.result({"equal": same, "relation": relation, "only_first": texts[0], "only_second": texts[1]}, people)
    return exits.OK if same else exits.NO


def witness(accepts: interlock.Index, refuses: interlock.Index, most: int) -> bytes | None:
    """A shortest text that ``accepts`` accepts and ``refuses`` does not; ``None`` where there is none.

    A breadth-first walk of pairs of states. Where the second side has refused, anything that the first accepts will do;
    it is searched on with the first side alone.
    """
    start = (accepts.guide(), refuses.guide())
    seen: set[tuple[bytes, bytes | None]] = {(start[0].state, start[1].state)}
    queue: deque[tuple[interlock.Guide, interlock.Guide | None, bytes]] = deque([(*start, b"")])
    while queue:
        left, right, text = queue.popleft()
        if left.is_accepting and (right is None or not right.is_accepting):
            return text
        for byte in next_bytes(left):
            after = left.fork()
            after.advance(byte)
            other = None if right is None else right.fork()
            if other is not None and not other.try_advance(byte):
                other = None
            pair = (after.state, None if other is None else other.state)
            if pair not in seen:
                if len(seen) >= most:
                    raise exits.InputError(f"not decided within {most} pairs of states (--max-pairs)")
                seen.add(pair)
                queue.append((after, other, text + bytes([byte])))
    return None
