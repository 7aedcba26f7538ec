"""Precompute a folder of JSON Schemas with Ray Data: any number of machines fill one store.

    python examples/ray_precompute.py SCHEMAS VOCABULARY.ilk STORE [WORKERS]

The vocabulary is a pack (``interlock vocab tokenizer.json -o VOCABULARY.ilk``), which every worker maps. STORE is a
folder that all machines see, or an fsspec URL. Running it again compiles what is missing.
Needs ``pip install "ray[data]"``.
"""

import sys
from pathlib import Path
from typing import Any

import ray

import interlock


class Compiler:
    """A worker: it opens the store and the vocabulary once, then compiles what it is given."""

    def __init__(self, vocabulary: str, store: str) -> None:
        self.vocabulary = interlock.Vocabulary.load(vocabulary)
        self.store = interlock.Store(store)

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        """A row of the report; a schema that is refused does not end the run."""
        report = {"name": row["path"], "ok": True, "key": "", "skipped": False, "error": ""}
        try:
            key = self.store.key_of("json_schema", row["bytes"], self.vocabulary)
            report |= {"key": key, "skipped": key in self.store}
            if not report["skipped"]:
                self.store.get_or_compile("json_schema", row["bytes"], self.vocabulary)
        except interlock.ArtifactError:  # The store itself is not usable.
            raise
        except interlock.InterlockError as error:
            report |= {"ok": False, "error": f"{type(error).__name__}: {error}"}
        return report


def precompute(folder: str, vocabulary: str, store: str, workers: int = 2) -> list[dict[str, Any]]:
    """Rows of the report in the order of the files' names. Ray must be initialised."""
    # Workers may start in another folder.
    vocabulary = str(Path(vocabulary).resolve())
    store = store if "://" in store else str(Path(store).resolve())
    paths = [str(path.resolve()) for path in sorted(Path(folder).rglob("*.json"))]
    schemas = ray.data.read_binary_files(paths, include_paths=True)
    rows = schemas.map(Compiler, fn_constructor_args=(vocabulary, store), concurrency=workers).take_all()
    return sorted(rows, key=lambda row: row["name"])


if __name__ == "__main__":
    ray.init()
    for row in precompute(*sys.argv[1:4], *map(int, sys.argv[4:5])):
        print(row)
