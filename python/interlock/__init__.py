"""Exact constrained decoding: patterns, JSON Schemas and grammars to token masks.

A *vocabulary* holds the bytes of every token. An *index* is a source (a pattern, a JSON Schema, a grammar or a list of
choices) compiled for one vocabulary. A *guide* is one request's cursor over an index: it fills the mask of tokens that
may come next, takes the token that was chosen, and owns the end of the output.

>>> import interlock
>>> vocabulary = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[256])
>>> guide = interlock.Index.from_choices(["yes", "no"], vocabulary).guide()
>>> guide.advance(ord("y"))
>>> guide.forced_text()
'es'
"""

from interlock import _interrupt as _interrupt  # isort: skip  # It covers the time that the other imports take.
from typing import TYPE_CHECKING, Any

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
    advance_each,
    check_choices,
    check_grammar,
    check_regex,
    clear_caches,
    fill_bitmasks,
    fill_bitmasks_within,
    get_index_cache_bytes,
    get_mask_cache_bytes,
    get_num_threads,
    set_index_cache_bytes,
    set_mask_cache_bytes,
    set_num_threads,
    stats,
)
from interlock.core_methods.index_methods import attach as _attach_index_methods
from interlock.core_methods.keyword_slips import attach as _attach_keyword_slips
from interlock.core_methods.language_methods import attach as _attach_language_methods
from interlock.core_methods.schema_methods import attach as _attach_schema_methods
from interlock.core_methods.schema_methods import check_json_schema
from interlock.core_methods.vocabulary_methods import attach as _attach_vocabulary_methods
from interlock.detached import DetachedIndex, without_vocabulary
from interlock.masks import allocate_bitmask, apply_bitmask
from interlock.store import Store
from interlock.util.client_messages import attach as _attach_client_messages

if TYPE_CHECKING:
    from interlock import drawing as drawing
    from interlock import events as events
    from interlock import explain as explain
    from interlock import generators as generators
    from interlock import gpu as gpu
    from interlock import grammars as grammars
    from interlock import integrations as integrations
    from interlock import output_types as output_types
    from interlock import programs as programs
    from interlock import schema_hints as schema_hints
    from interlock import serving as serving
    from interlock import tools as tools
    from interlock.core_methods.index_files import IncompleteTablesWarning
    from interlock.generators import (
        Generator,
        from_llama_cpp,
        from_mlx_lm,
        from_openai,
        from_transformers,
        from_vllm,
        generate,
    )
    from interlock.generators.call_arguments.sampling_options import UnusedSeedWarning
    from interlock.generators.prompts.trailing_blank import TrailingBlankWarning
    from interlock.generators.replies.budget_warnings import TightBudgetError, TightBudgetWarning
    from interlock.generators.replies.number_warnings import UnboundedNumberWarning
    from interlock.integrations._cut_outputs import CutOutputWarning
    from interlock.log_probabilities import masked_logprobs
    from interlock.output_types import Grammar, InvalidOutputError, index_from_type
    from interlock.output_types.context_room import PromptTooLongError
    from interlock.output_types.description import describe
    from interlock.output_types.pydantic_models.unenforced_bounds import UnenforcedBoundWarning
    from interlock.pattern_slips import UnicodeClassWarning
    from interlock.posix_classes import PosixClassWarning
    from interlock.programs import Program
    from interlock.refusals import Refusal, refusal
    from interlock.schema_hints import UnknownKeywordWarning
    from interlock.tools.errors import RequestError, StructuralTagError, ToolFormatError
    from interlock.tools.tags.request_checks import check_response_format, check_structural_tag, check_tools

__all__ = [
    "ArgumentError",
    "ArtifactError",
    "Automaton",
    "BudgetError",
    "CancelToken",
    "CancelledError",
    "CutOutputWarning",
    "DetachedIndex",
    "Generator",
    "Grammar",
    "GrammarError",
    "Guide",
    "GuideBusyError",
    "IncompleteTablesWarning",
    "Index",
    "InterlockError",
    "InternalError",
    "InvalidOutputError",
    "LimitError",
    "Limits",
    "PatternError",
    "PosixClassWarning",
    "Program",
    "PromptTooLongError",
    "Refusal",
    "ReportRow",
    "RequestError",
    "SchemaError",
    "Store",
    "StructuralTagError",
    "TightBudgetError",
    "TightBudgetWarning",
    "TokenRejected",
    "ToolFormatError",
    "TrailingBlankWarning",
    "UnboundedNumberWarning",
    "UnenforcedBoundWarning",
    "UnicodeClassWarning",
    "UnknownKeywordWarning",
    "UnsatisfiableError",
    "UnsupportedError",
    "UnusedSeedWarning",
    "Vocabulary",
    "VocabularyError",
    "__version__",
    "advance_each",
    "allocate_bitmask",
    "apply_bitmask",
    "check_choices",
    "check_grammar",
    "check_json_schema",
    "check_regex",
    "check_response_format",
    "check_structural_tag",
    "check_tools",
    "clear_caches",
    "describe",
    "fill_bitmasks",
    "fill_bitmasks_within",
    "from_llama_cpp",
    "from_mlx_lm",
    "from_openai",
    "from_transformers",
    "from_vllm",
    "generate",
    "get_index_cache_bytes",
    "get_mask_cache_bytes",
    "get_num_threads",
    "index_from_type",
    "masked_logprobs",
    "refusal",
    "set_index_cache_bytes",
    "set_mask_cache_bytes",
    "set_num_threads",
    "stats",
    "without_vocabulary",
]

_attach_client_messages()
_attach_index_methods()
_attach_language_methods()
_attach_schema_methods()
_attach_vocabulary_methods()
_attach_keyword_slips()

# What a server that has a loop of its own never needs is imported when somebody asks for it.
_LATE = {
    "Generator": "interlock.generators",
    "Grammar": "interlock.output_types",
    "InvalidOutputError": "interlock.output_types",
    "Program": "interlock.programs",
    "PromptTooLongError": "interlock.output_types.context_room",
    "Refusal": "interlock.refusals",
    "refusal": "interlock.refusals",
    "CutOutputWarning": "interlock.integrations._cut_outputs",
    "IncompleteTablesWarning": "interlock.core_methods.index_files",
    "TightBudgetError": "interlock.generators.replies.budget_warnings",
    "TightBudgetWarning": "interlock.generators.replies.budget_warnings",
    "TrailingBlankWarning": "interlock.generators.prompts.trailing_blank",
    "UnboundedNumberWarning": "interlock.generators.replies.number_warnings",
    "UnenforcedBoundWarning": "interlock.output_types.pydantic_models.unenforced_bounds",
    "PosixClassWarning": "interlock.posix_classes",
    "UnusedSeedWarning": "interlock.generators.call_arguments.sampling_options",
    "UnicodeClassWarning": "interlock.pattern_slips",
    "UnknownKeywordWarning": "interlock.schema_hints",
    "RequestError": "interlock.tools.errors",
    "StructuralTagError": "interlock.tools.errors",
    "ToolFormatError": "interlock.tools.errors",
    "check_response_format": "interlock.tools.tags.request_checks",
    "check_structural_tag": "interlock.tools.tags.request_checks",
    "check_tools": "interlock.tools.tags.request_checks",
    "describe": "interlock.output_types.description",
    "from_llama_cpp": "interlock.generators",
    "from_mlx_lm": "interlock.generators",
    "from_openai": "interlock.generators",
    "from_transformers": "interlock.generators",
    "from_vllm": "interlock.generators",
    "generate": "interlock.generators",
    "index_from_type": "interlock.output_types",
    "masked_logprobs": "interlock.log_probabilities",
}

# Modules that are found without an import of their own: ``interlock.explain`` and so on.
_MODULES = frozenset(
    "drawing events explain generators gpu grammars integrations output_types programs schema_hints serving "
    "tools".split()
)


def __getattr__(name: str) -> Any:
    """Import what is imported late."""
    import importlib

    if name in _MODULES:
        return importlib.import_module(f"interlock.{name}")
    if name not in _LATE:
        from interlock.util.attribute_hints import no_name

        raise no_name(name, [*__all__, *_MODULES])

    found = globals()[name] = getattr(importlib.import_module(_LATE[name]), name)
    return found


def __dir__() -> list[str]:
    special = (name for name in globals() if name.startswith("__") and name.endswith("__"))
    return sorted({*__all__, *_MODULES, *special})
