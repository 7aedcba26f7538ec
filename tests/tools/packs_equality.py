"""One meaning in every form: lazy, built with 1, 2 and 8 threads, saved and loaded. Masks are compared bit for bit.

    python tests/tools/packs_equality.py VOCABULARY.ilk FOLDER [SCHEMAS] [PATTERNS] [SHIFT]

FOLDER holds MaskBench's files; schemas and patterns are taken from it evenly, and others with another SHIFT. Each
source is compiled in every form, with caches emptied before the lazy one and before the builds, and all forms walk
along the same tokens: through the file's valid instances as far as they are allowed, then at random, with steps back.
The files of all forms are compared byte for byte. Prints what differs, and counts; exit code 1 if anything differs.
"""

import itertools
import json
import random
import sys
import tempfile
from pathlib import Path

import interlock


def patterns_in(value):
    """Every ``pattern`` keyword below a JSON value."""
    if isinstance(value, dict):
        if isinstance(value.get("pattern"), str):
            yield value["pattern"]
        for item in value.values():
            yield from patterns_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from patterns_in(item)


def even(items, count, shift):
    step = max(len(items) / count, 1.0)
    return [items[(int(i * step) + shift) % len(items)] for i in range(min(count, len(items)))]


class Walk:
    """The same choices for every form: they depend on the masks, so forms that differ are caught at the first mask."""

    def __init__(self, vocabulary, texts):
        self.vocabulary, self.texts = vocabulary, texts

    def said(self, index):
        out = []
        for number, text in enumerate([*self.texts, b""]):
            rng, guide = random.Random(number), index.guide()
            for turn in range(24):
                row = interlock.allocate_bitmask(1, self.vocabulary)
                out.append((guide.fill_bitmask(row), row.tobytes(), guide.is_accepting))
                allowed = guide.allowed_token_ids()
                fits = []
                if text:
                    first = text[:1]
                    near = allowed if len(allowed) < 3000 else rng.sample(allowed.tolist(), 1500) + list(first)
                    spelled = ((int(t), self.vocabulary.token_bytes(int(t))) for t in near)
                    fits = [(len(b), t) for t, b in spelled if b and text.startswith(b)]
                if fits and guide.try_advance(max(fits)[1]):
                    text = text[max(fits)[0] :]
                elif turn % 7 == 6:
                    guide.rollback(min(2, guide.num_tokens))
                elif not len(allowed) or not guide.try_advance(int(allowed[rng.randrange(len(allowed))])):
                    break
                else:
                    text = b""
        return out


def forms(make, folder):
    """Every form of a source, with the file that it is saved to."""
    interlock.clear_caches()
    yield "lazy", make(), None
    interlock.clear_caches()
    for threads in (1, 2, 8):
        index = make()
        try:
            index.build(threads=threads)
        except interlock.LimitError:
            yield "not built", index, None
            break
        file = folder / f"{threads}"
        index.save(file)
        yield f"built with {threads}", index, file
    else:
        yield "loaded", interlock.Index.load(folder / "1", index.vocabulary), None
    make().save(folder / "tables", tables=True)
    # What was built by parts is saved without the beginning that is made here; the files of complete tables are equal.
    file = folder / "tables" if index.is_complete and index.num_masks is not None else None
    yield "saved with tables", interlock.Index.load(folder / "tables", index.vocabulary), file


def main():
    # Forms are compared that are made apart.
    interlock.set_index_cache_bytes(0)
    vocabulary = interlock.Vocabulary.load(sys.argv[1])
    files = sorted(Path(sys.argv[2]).glob("*.json"))
    schemas, patterns, shift = [*map(int, sys.argv[3:6]), *(500, 300, 0)[len(sys.argv[3:6]) :]]
    sources = []
    for file in even(files, schemas, shift):
        data = json.loads(file.read_bytes())
        texts = [json.dumps(t["data"]).encode() for t in data.get("tests", []) if t.get("valid")][:1]
        sources.append((file.name, "json_schema", data["schema"], texts))
    found = dict.fromkeys(itertools.chain.from_iterable(patterns_in(json.loads(f.read_bytes())) for f in files))
    sources = [(p, "regex", p, []) for p in even(list(found), patterns, shift)] + sources
    counts = {
        "compared": 0,
        "refused": 0,
        "not built: beyond a limit": 0,
        "complete tables": 0,
        "masks": 0,
        "differ": 0,
    }
    with tempfile.TemporaryDirectory() as folder:
        for name, kind, source, texts in sources:
            # Builds by parts of more states than this take minutes; such indexes are compared without being built.
            options = {"limits": {"max_flat_states": 1500}} | ({"dialect": "ecma"} if kind == "regex" else {})
            make = lambda: getattr(interlock.Index, f"from_{kind}")(source, vocabulary, **options)  # noqa: B023, E731
            try:
                make()
            except interlock.InterlockError:
                counts["refused"] += 1
                continue
            walk, first, bytes_ = Walk(vocabulary, texts), None, None
            for form, index, file in forms(make, Path(folder)):
                said = walk.said(index)
                first = first or said
                written = file.read_bytes() if file else bytes_
                bytes_ = bytes_ or written
                if said != first or written != bytes_:
                    counts["differ"] += 1
                    print("DIFFERS", name, form, "masks" if said != first else "file", flush=True)
                counts["not built: beyond a limit"] += form == "not built"
                counts["complete tables"] += form == "loaded" and index.is_complete
                counts["masks"] += len(said)
            counts["compared"] += 1
            if (counts["compared"] + counts["refused"]) % 25 == 0:
                print(counts, flush=True)
    print(counts)
    return counts["differ"] > 0


if __name__ == "__main__":
    sys.exit(main())
