"""Forced tokens against a tokenizer's own: every place of every valid instance, compact and spaced.

    python benches/forced.py SCHEMAS [count] [llama3|qwen]

SCHEMAS is a folder of MaskBench files. At each token of the tokenizer's own encoding of an instance, the forced tokens
must be the next tokens of that encoding; the first that is not ends the run with an error. The share is the tokens
that a decode loop would not ask a model for: where tokens are forced it takes them all and goes on behind them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import interlock


def main(folder: str, count: int, name: str) -> None:
    from vocab import load  # the folder with the vocabularies has to be on the path

    _, _, eos, encoding = load(name)
    vocabulary = interlock.Vocabulary.from_tokenizer(encoding, eos_token_ids=eos)
    for style, separators in (("compact", (",", ":")), ("spaced", (", ", ": "))):
        total = forced = places = instances = 0
        files = sorted(Path(folder).glob("*.json"))
        for file in files[:: max(1, len(files) // count)]:
            case = json.loads(file.read_text())
            try:
                index = interlock.Index.from_json_schema(case["schema"], vocabulary, whitespace=style)
            except interlock.InterlockError:
                continue
            for test in case["tests"]:
                text = json.dumps(test["data"], separators=separators, ensure_ascii=False)
                ids = encoding.encode_ordinary(text)
                guide = index.guide()
                if not test["valid"] or len(ids) > 2000 or guide.validate(ids) != len(ids):
                    continue
                instances += 1
                skip = 0
                for at, token in enumerate(ids):
                    found = guide.forced_tokens()
                    if found != ids[at : at + len(found)]:
                        raise SystemExit(f"{file.name}: at token {at} of {text!r}: {found} against {ids[at:]}")
                    places += 1
                    skip = max(skip, at + len(found))
                    forced += at < skip
                    guide.advance(token)
                total += len(ids)
        share = 100 * forced / max(1, total)
        print(f"{name} {style}: {instances} instances, {places} places equal, {share:.1f} % of {total} tokens forced")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 300, sys.argv[3] if len(sys.argv) > 3 else "llama3")
