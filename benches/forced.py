"""Forced tokens against a tokenizer's own: every place of every valid instance, compact and spaced.

    python benches/forced.py SCHEMAS [--count N] [--tokenizer llama3|qwen] [--style STYLE] [--bound N] [--rival]

SCHEMAS is a folder of MaskBench files. At each token of the tokenizer's own encoding of an instance, the forced tokens
must be the next tokens of that encoding; the first that is not ends the run with an error. The share is the tokens
that a decode loop would not ask a model for.

``--bound N`` looks for what is possible at all, at every place of the instances of N schemas: at random, permitted
continuations are written to the end and the whole texts encoded; where all of them have the same next token, it is
bound to come. Continuations that were not tried can only lower that number. ``--rival`` asks llguidance for the same
texts, with the same whitespace.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import interlock

STYLES = {"compact": (",", ":"), "spaced": (", ", ": ")}
# What ends a document soonest, before anything else.
CLOSING = b'"}]0123456789:,{[-elsrunta .\\bcdfghijkmopqvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_+TZ/@#$'


class Bound:
    """Continuations of a place, at random. ``spelled`` is the index over single bytes."""

    def __init__(self, vocabulary: interlock.Vocabulary, encode: Any, seed: int) -> None:
        self.encode = encode
        self.spelled: interlock.Index | None = None
        self.random = random.Random(seed)
        single = {vocabulary.token_bytes(i): i for i in range(len(vocabulary)) if len(vocabulary.token_bytes(i)) == 1}
        self.bytes = [single.get(bytes([b])) for b in range(256)]

    def _take(self, guide: interlock.Guide, byte: int) -> bool:
        token = self.bytes[byte]
        return token is not None and guide.try_advance(token)

    def _soonest(self, guide: interlock.Guide) -> list[int]:
        """Closing bytes that may come next, the one after which the least is missing first."""
        missing = []
        for byte in b'"}]':
            if self._take(guide, byte):
                missing.append((guide.min_tokens_to_finish(), byte))
                guide.rollback(1)
        return [byte for _, byte in sorted(missing)]

    def _ends(self, guide: interlock.Guide, first: int, free: int) -> bytes | None:
        """A continuation that begins with the byte ``first``, goes on at random for a while and then ends soon."""
        out, planned = bytearray([first]), free == 0
        guide = guide.fork()
        if not self._take(guide, first):
            return None
        while not guide.is_accepting or (free > 0 and not guide.must_stop):
            order = [*self._soonest(guide), *CLOSING]
            if free > 0:
                order = self.random.sample(range(32, 127), 95) if self.random.random() < 0.9 else [*range(0xC2, 0xF5)]
            order += [*range(256)]
            byte = next((b for b in order if self._take(guide, b)), None)
            if byte is None or len(out) > 250:
                if not planned:
                    return None
                before = guide.index.vocabulary.decode(guide.tokens)
                return bytes(out) + (b"" if byte is None else bytes([byte])) + self._planned(before)
            out.append(byte)
            free -= 1
        return bytes(out)

    def _planned(self, text: bytes) -> bytes:
        """The rest of a text that found no end by itself: what a budget of single bytes leaves."""
        assert self.spelled is not None
        guide = self.spelled.guide()
        guide.advance_many(text)
        most = guide.min_tokens_to_finish()
        guide = self.spelled.guide(max_tokens=len(text) + most)
        guide.advance_many(text)
        while not guide.is_accepting:
            guide.advance(self.random.choice([t for t in guide.allowed_token_ids().tolist() if t < 256]))
        return self.spelled.vocabulary.decode(guide.tokens)[len(text) :]

    def continuations(self, guide: interlock.Guide) -> Iterator[bytes]:
        """Each byte that may follow the forced ones, with several ends; and nothing, where that is permitted."""
        run = guide.forced_bytes()
        guide = guide.fork()
        if not all(self._take(guide, b) for b in run):
            return
        if guide.is_accepting:
            yield run
        first = [b for b in range(256) if self.bytes[b] is not None and guide.fork().try_advance(self.bytes[b])]
        for byte in self.random.sample(first, len(first)):
            for free in (0, 2):
                end = self._ends(guide, byte, free)
                if end is not None:
                    yield run + end

    def is_bound(self, guide: interlock.Guide, text: bytes, place: int, ids: list[int]) -> bool | None:
        """Whether the token at ``place`` follows whatever permitted text follows; ``None`` if none was found."""
        tried = False
        for end in self.continuations(guide):
            try:
                other = self.encode((text + end).decode())
            except UnicodeDecodeError:
                continue
            tried = True
            if other[: place + 1] != ids[: place + 1]:
                return False
        return tried or None


class Rival:
    """llguidance on the same texts."""

    def __init__(self, encoding: Any, eos: int) -> None:
        import llguidance
        import llguidance.tiktoken

        self.llg = llguidance
        self.tokenizer = llguidance.tiktoken.lltokenizer_from_encoding(encoding, eos_token=eos)

    def forced(self, schema: str, style: str, ids: list[int]) -> tuple[int, int] | None:
        """Of ``ids``, how many it forces, and how many of what it forces are others."""
        comma, colon = STYLES[style]
        options = {"whitespace_flexible": False, "item_separator": comma, "key_separator": colon}
        grammar = self.llg.LLMatcher.grammar_from_json_schema(schema, overrides=options)
        matcher = self.llg.LLMatcher(self.tokenizer, grammar)
        if matcher.is_error():
            return None
        forced = wrong = skip = 0
        for at, token in enumerate(ids):
            if at >= skip:
                found = matcher.compute_ff_tokens()
                same = next((n for n, (a, b) in enumerate(zip(found, ids[at:], strict=False)) if a != b), len(found))
                wrong += same < min(len(found), len(ids) - at)
                skip = max(skip, at + same)
            forced += at < skip
            if not matcher.consume_token(token) or matcher.is_error():
                return None
        return forced, wrong


def main(arguments: argparse.Namespace) -> None:
    from vocab import load  # the folder with the vocabularies has to be on the path

    _, _, eos, encoding = load(arguments.tokenizer)
    vocabulary = interlock.Vocabulary.from_tokenizer(encoding, eos_token_ids=eos)
    files = sorted(Path(arguments.schemas).glob("*.json"))
    files = files[:: max(1, len(files) // arguments.count)] if arguments.count else files
    if arguments.seconds < float("inf"):
        files = random.Random(0).sample(files, len(files))
    every = max(1, len(files) // arguments.bound) if arguments.bound else 0
    rival = Rival(encoding, eos) if arguments.rival else None
    single = interlock.Vocabulary([*(bytes([b]) for b in range(256)), b""], eos_token_ids=[256])
    bound = Bound(vocabulary, encoding.encode_ordinary, 1)
    for style in arguments.style or STYLES:
        separators = STYLES[style]
        total = forced = instances = 0
        tried = reached = possible = 0
        ours = theirs = shared = wrong = 0
        start, done = time.monotonic(), 0
        for number, file in enumerate(files):
            if time.monotonic() - start > arguments.seconds:
                break
            done += 1
            case = json.loads(file.read_text())
            try:
                index = interlock.Index.from_json_schema(case["schema"], vocabulary, whitespace=style)
            except interlock.InterlockError:
                continue
            if every and number % every == 0:
                bound.spelled = interlock.Index.from_json_schema(case["schema"], single, whitespace=style)
            for test in case["tests"]:
                text = json.dumps(test["data"], separators=separators, ensure_ascii=False)
                ids = encoding.encode_ordinary(text)
                guide = index.guide()
                if not test["valid"] or len(ids) > 4000 or guide.validate(ids) != len(ids) or not ids:
                    continue
                instances += 1
                skip = here = 0
                read = b""
                for at, token in enumerate(ids):
                    found = guide.forced_tokens()
                    if found != ids[at : at + len(found)]:
                        raise SystemExit(f"{file.name}: at token {at} of {text!r}: {found} against {ids[at:]}")
                    skip = max(skip, at + len(found))
                    here += at < skip
                    if every and number % every == 0 and at < 150 and at % arguments.stride == 0:
                        most = bound.is_bound(guide, read, at, ids)
                        tried += most is not None
                        reached += bool(found and most)
                        possible += bool(most)
                        if found and most is False:
                            raise SystemExit(f"{file.name}: at token {at} of {text!r}: {found} is not certain")
                        if arguments.show and most and not found:
                            print(f"{file.name}: {read[-30:]!r} {guide.forced_bytes()!r} {ids[at]}")
                    guide.advance(token)
                    read += vocabulary.token_bytes(token)
                total += len(ids)
                forced += here
                if rival and (answer := rival.forced(json.dumps(case["schema"]), style, ids)):
                    shared, ours = shared + len(ids), ours + here
                    theirs, wrong = theirs + answer[0], wrong + answer[1]
        share = 100 * forced / max(1, total)
        line = f"{arguments.tokenizer} {style}: {done} schemas, {instances} instances, {total} places equal, "
        line += f"{share:.1f} % of tokens forced"
        if every:
            line += f"; {reached} of at most {possible} at {tried} places ({100 * reached / max(1, possible):.1f} %)"
        if rival:
            line += f"; on {shared} tokens that llguidance takes {100 * ours / max(1, shared):.1f} % against its "
            line += f"{100 * theirs / max(1, shared):.1f} % ({wrong} runs of it go another way)"
        print(line, flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("schemas")
    parser.add_argument("--count", type=int, default=0, help="schemas, evenly chosen; all by default")
    parser.add_argument("--tokenizer", default="llama3", choices=["llama3", "qwen"])
    parser.add_argument("--seconds", type=float, default=float("inf"), help="for each style; then in random order")
    parser.add_argument("--bound", type=int, default=0, help="schemas whose places are tried by brute force")
    parser.add_argument("--stride", type=int, default=1, help="of the places of these, only every so many")
    parser.add_argument("--rival", action="store_true")
    parser.add_argument("--style", action="append", choices=[*STYLES], help="only this one; both by default")
    parser.add_argument("--show", action="store_true", help="print the places where the bound is not reached")
    main(parser.parse_args(sys.argv[1:]))
