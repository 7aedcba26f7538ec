"""From a source to an index and its first mask, builds, and files."""

import itertools
import tempfile
from pathlib import Path

import interlock

from .common import NAMES, answers, compile, expected, forget, sources, variant, vocabulary

PATTERN = r"(?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T[0-2]\d:[0-5]\d"


class Compile:
    """A schema that the process has compiled before, and one like it that it has not."""

    params = NAMES
    param_names = ("schema",)

    def setup(self, name):
        self.numbers = itertools.count()
        self.index = compile(name)
        self.fingerprint = self.index.fingerprint

    def time_compile_again(self, name):
        assert compile(name).fingerprint == self.fingerprint

    def time_compile_unseen(self, name):
        index = interlock.Index.from_json_schema(variant(name, next(self.numbers)), vocabulary())
        assert index.fingerprint != self.fingerprint


class FirstMask:
    """Compile, guide and mask of a schema of which nothing is known."""

    params = NAMES
    param_names = ("schema",)
    number, warmup_time = 1, 0

    def setup(self, name):
        self.right = expected(name)[0]
        forget()
        self.bits = interlock.allocate_bitmask(1, vocabulary())
        answers.clear(self.bits)

    def teardown(self, name):
        assert answers.digest(self.bits[0]) == self.right

    def time_first_mask(self, name):
        assert compile(name).guide().fill_bitmask(self.bits)


class Pattern:
    """One pattern of which nothing is known: compiled, and built."""

    number, warmup_time = 1, 0

    def setup(self):
        forget()

    def time_compile(self):
        assert interlock.Index.from_regex(PATTERN, vocabulary()).num_states > 0

    def time_build(self):
        index = interlock.Index.from_regex(PATTERN, vocabulary())
        if not hasattr(index, "build"):
            raise NotImplementedError
        index.build(threads=1)
        assert getattr(index, "is_complete", True)


class Files:
    """Indexes, with their tables, and vocabularies in files."""

    number, warmup_time = 1, 0

    def setup(self):
        if not hasattr(interlock.Index, "save"):
            raise NotImplementedError
        self.folder = tempfile.TemporaryDirectory()
        self.index = Path(self.folder.name) / "index"
        self.pack = Path(self.folder.name) / "vocabulary"
        index = interlock.Index.from_regex(PATTERN, vocabulary())
        index.build(threads=1)
        index.save(self.index, tables=True)
        if hasattr(interlock.Vocabulary, "save"):
            vocabulary().save(self.pack)
        forget()

    def teardown(self):
        if hasattr(self, "folder"):
            self.folder.cleanup()

    def time_load_index(self):
        assert interlock.Index.load(self.index, vocabulary()).is_complete

    def time_load_vocabulary(self):
        if not self.pack.exists():
            raise NotImplementedError
        assert interlock.Vocabulary.load(self.pack) == vocabulary()


class Memory:
    """Bytes after all members were followed."""

    params = NAMES
    param_names = ("schema",)

    def track_index(self, name):
        from .common import walk

        index = compile(name)
        walk(index.guide(), sources()[name][1], interlock.allocate_bitmask(1, vocabulary()))
        return index.memory_bytes

    track_index.unit = "bytes"

    def peakmem_process(self, name):
        self.track_index(name)
