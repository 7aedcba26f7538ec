"""Exact constrained decoding: patterns and JSON Schemas to token masks.

A *vocabulary* holds the bytes of every token. An *index* is a source (a pattern, a JSON Schema or a list of choices)
compiled for one vocabulary. A *guide* is one request's cursor over an index: it fills the mask of tokens that may come
next, takes the token that was chosen, and owns the end of the output.

>>> import interlock
>>> vocabulary = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[256])
>>> guide = interlock.Index.from_choices(["yes", "no"], vocabulary).guide()
>>> guide.advance(ord("y"))
>>> guide.forced_text()
'es'
"""

from interlock._core import (
    ArgumentError,
    ArtifactError,
    Automaton,
    BudgetError,
    CancelledError,
    CancelToken,
    GrammarError,
    Guide,
    GuideBusyError,
    Index,
    InterlockError,
    InternalError,
    LimitError,
    Limits,
    PatternError,
    ReportRow,
    SchemaError,
    TokenRejected,
    UnsatisfiableError,
    UnsupportedError,
    Vocabulary,
    VocabularyError,
    __version__,
    clear_caches,
    fill_bitmasks,
    get_index_cache_bytes,
    get_num_threads,
    set_index_cache_bytes,
    set_num_threads,
    stats,
)
from interlock.masks import allocate_bitmask, apply_bitmask
from interlock.store import Store

__all__ = [
    "ArgumentError",
    "ArtifactError",
    "Automaton",
    "BudgetError",
    "CancelToken",
    "CancelledError",
    "GrammarError",
    "Guide",
    "GuideBusyError",
    "Index",
    "InterlockError",
    "InternalError",
    "LimitError",
    "Limits",
    "PatternError",
    "ReportRow",
    "SchemaError",
    "Store",
    "TokenRejected",
    "UnsatisfiableError",
    "UnsupportedError",
    "Vocabulary",
    "VocabularyError",
    "__version__",
    "allocate_bitmask",
    "apply_bitmask",
    "clear_caches",
    "fill_bitmasks",
    "get_index_cache_bytes",
    "get_num_threads",
    "set_index_cache_bytes",
    "set_num_threads",
    "stats",
]
