"""Describe the vocabulary of a tokenizer file, or write it to a pack.

  interlock vocab tokenizer.json
  interlock vocab tokenizer.model --eos 128001,128009 --size 128256
  interlock vocab tokenizer.json --token 5018 --find '{"'
  interlock vocab tokenizer.json --containing '"}'
  interlock vocab tokenizer.json --special
  interlock vocab tokenizer.json -o vocabulary.ilk

Processes map a pack and share its memory; every command takes it as --tokenizer. Exit code 1: a text of --find is no
token, or no token has a text of --containing in it. The memory, memory_bytes in JSON, is what the vocabulary takes in
this process: the bytes of its tokens, their trie and, where a file says it, how texts are encoded. What is mapped
from a pack is shared and not counted, nor are the indexes over it, whose memory interlock inspect shows.
"""

from __future__ import annotations

import argparse

import interlock
from interlock.cli.arguments.number_arguments import at_least
from interlock.cli.checking.walk import spells
from interlock.cli.sources import overwriting, vocabularies
from interlock.cli.terminal import atomic_files, exits
from interlock.cli.terminal.output import Output, byte_set, facts, size, text_of
from interlock.cli.terminal.style import Line
from interlock.util.plurals import counted

NO_TEXT = frozenset((0xC0, 0xC1, *range(0xF5, 0x100)))
"""Bytes that UTF-8 never uses."""
SOME = 4
"""Special tokens that are named without --special."""


def register(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    parser.add_argument(
        "tokenizer",
        metavar="FILE",
        help="a tokenizer file, the folder of a model, or bytes for the built-in vocabulary",
    )
    vocabularies.add_details(parser.add_argument_group("what the file leaves open"))
    parser.add_argument("-o", "--out", metavar="PACK", help="write the vocabulary to this file")
    overwriting.add_force(parser)
    parser.add_argument(
        "--token", type=at_least(0), action="append", default=[], metavar="ID", help="show one token (repeatable)"
    )
    parser.add_argument("--special", action="store_true", help="list every special token with its id")
    parser.add_argument("--find", action="append", default=[], metavar="TEXT", help="the id of a text (repeatable)")
    parser.add_argument(
        "--containing",
        action="append",
        default=[],
        metavar="TEXT",
        help="every token with this text in it (repeatable)",
    )


def run(args: argparse.Namespace, output: Output) -> int:
    """Read and describe."""
    vocabulary = vocabularies.load(args.tokenizer, args.eos, args.size)
    for token in args.token:
        vocabularies.require_token("--token", token, vocabulary)
    if args.out is not None:
        atomic_files.write(args.out, vocabulary.save)
    if "" in args.containing:
        raise exits.UsageError(
            "every token has the empty text in it: --containing takes a text of one character or more"
        )
    is_text = spells(vocabulary)
    tokens = [(i, t) for i in range(vocabulary.size) if (t := vocabulary.token_bytes(i)) and is_text(i)]
    missing = sorted(set(range(256)) - {t[0] for _, t in tokens if len(t) == 1})
    longest = max((t for _, t in tokens), key=len, default=b"")
    shown = [{"id": i, "bytes": list(vocabulary.token_bytes(i)), "text": is_text(i)} for i in args.token]
    found = {text: [i for i, t in tokens if t == text.encode()] for text in args.find}
    containing = {text: [(i, t) for i, t in tokens if text.encode() in t] for text in args.containing}
    special = [(i, _name(vocabulary, i)) for i in vocabulary.special_token_ids]
    machine = {
        "size": vocabulary.size,
        "text_tokens": len(tokens),
        "eos_token_ids": vocabulary.eos_token_ids,
        "special_token_ids": len(vocabulary.special_token_ids),
        "special_tokens": [{"id": i, "text": name} for i, name in special],
        "missing_bytes": missing,
        "longest_token_bytes": len(longest),
        "memory_bytes": vocabulary.memory_bytes,
        "fingerprint": vocabulary.fingerprint,
        "tokens": shown,
        "found": found,
        "containing": {text: [{"id": i, "bytes": list(t)} for i, t in some] for text, some in containing.items()},
    }
    people = facts(
        [
            ("width of the logits", str(vocabulary.size)),
            ("tokens with text", str(len(tokens))),
            ("stop tokens", ", ".join(f"id {i}" for i in vocabulary.eos_token_ids)),
            (
                "special tokens",
                f"{len(special)}" + (f", which spell no text: {_some(special)}" if special else ""),
            ),
            ("bytes without a token", _missing(missing)),
            ("longest token", counted(len(longest), "byte")),
            ("memory", f"{size(vocabulary.memory_bytes)} of this process, for the tokens and their trie"),
            ("fingerprint", vocabulary.fingerprint),
        ]
    )
    for i in args.token:
        people.append(
            Line(f"token {i}: {text_of(vocabulary.token_bytes(i))}", "" if is_text(i) else " (spells no text)")
        )
    if args.special:
        people += [Line(f"special token {i}: {text_of(name.encode())}") for i, name in special]
        if not special:
            people.append(Line("special token: none"))
    for text, ids in found.items():
        people.append(Line(f"{text_of(text.encode())}: {', '.join(map(str, ids)) or 'no token'}"))
    for text, some in containing.items():
        people.append(Line(f"{counted(len(some), 'token')} with {text_of(text.encode())} in it"))
        people += [Line(f"  token {i}: {text_of(t)}") for i, t in some]
    if args.out is not None:
        machine["file"] = args.out
        people.append(Line(f"written to {args.out}"))
    asked = args.token or args.find or args.containing or args.special or args.out is None
    (output.result if asked else output.answer)(machine, people)
    return exits.OK if all((*found.values(), *containing.values())) else exits.NO


def _missing(missing: list[int]) -> str:
    """The bytes that no token has alone, by what they are for: most vocabularies lack only those that no text has."""
    ascii_, never = [byte for byte in missing if byte < 0x80], [byte for byte in missing if byte in NO_TEXT]
    beyond = [byte for byte in missing if byte >= 0x80 and byte not in NO_TEXT]
    parts = []
    if len(ascii_) > 64:
        others = [byte for byte in range(0x80) if byte not in ascii_]
        parts.append("all of ASCII" + (f" but {byte_set(others)}" if others else ""))
    elif ascii_:
        parts.append(byte_set(ascii_))
    if beyond:
        which = "all" if len(beyond) == 0x80 - len(NO_TEXT) else str(len(beyond))
        parts.append(f"{which} of characters beyond ASCII ({byte_set(beyond)})")
    if never:
        parts.append(f"{len(never)} that no UTF-8 text has ({byte_set(never)})")
    if len(never) == len(missing):
        return parts[0] if parts else "none"
    return f"{len(missing)}: {'; '.join(parts)}"


def _name(vocabulary: interlock.Vocabulary, token: int) -> str:
    """The text by which a tokenizer's file names a special token; empty where it names none."""
    return vocabulary.decode([token], skip_special_tokens=False).decode("utf-8", "backslashreplace")


def _some(special: list[tuple[int, str]]) -> str:
    """The names of the first special tokens."""
    names = [text_of(name.encode()) if name else f"id {i}" for i, name in special[:SOME]]
    return ", ".join(names) + (f" and {len(special) - SOME} more (--special)" if len(special) > SOME else "")
