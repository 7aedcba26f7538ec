"""Precompute a folder of JSON Schemas with Ray: actors on any number of machines fill one store on a shared folder.

    python examples/ray_precompute.py SCHEMAS VOCABULARY.ilk STORE [ACTORS]

The vocabulary is a pack (``interlock vocab tokenizer.json -o VOCABULARY.ilk``), which every actor maps. Running it
again compiles what is missing. Needs ``pip install ray``.
"""

import sys
from pathlib import Path

import ray
from ray.util import ActorPool

import interlock


@ray.remote
class Compiler:
    """Opens the store and the vocabulary once, then compiles what it is given."""

    def __init__(self, vocabulary: str, store: str) -> None:
        self.vocabulary = interlock.Vocabulary.load(vocabulary)
        self.store = interlock.Store(store)

    def compile(self, path: str) -> dict:
        """A row of the report; a schema that is refused does not end the run."""
        try:
            schema = Path(path).read_bytes()
            key = self.store.key_of("json_schema", schema, self.vocabulary)
            skipped = key in self.store
            if not skipped:
                self.store.get_or_compile("json_schema", schema, self.vocabulary)
        except interlock.ArtifactError:  # The store itself is not usable.
            raise
        except (interlock.InterlockError, OSError) as error:
            return {"name": path, "ok": False, "error": f"{type(error).__name__}: {error}"}
        return {"name": path, "ok": True, "key": key, "skipped": skipped}


def precompute(folder: str, vocabulary: str, store: str, actors: int = 2) -> list[dict]:
    """Rows of the report in the order of the files' names. Ray must be initialised."""
    # Actors may start in another folder.
    vocabulary, store = str(Path(vocabulary).resolve()), str(Path(store).resolve())
    paths = [str(path.resolve()) for path in sorted(Path(folder).rglob("*.json"))]
    pool = ActorPool([Compiler.remote(vocabulary, store) for _ in range(actors)])
    return list(pool.map(lambda actor, path: actor.compile.remote(path), paths))


if __name__ == "__main__":
    ray.init()
    for row in precompute(*sys.argv[1:4], *map(int, sys.argv[4:5])):
        print(row)
