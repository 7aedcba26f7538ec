"""Every public function, with a value of a foreign type in the place of each argument: the error names the argument,
the type that it got, and what it wants.

`CALLS` has a good call of every function. Every argument of a signature is replaced in turn; a function or argument
that is in no table fails the test, so that a new one is not forgotten.
"""

import inspect
import re

import numpy as np
import pytest

import interlock
import interlock.drawing
import interlock.explain
import interlock.generators
import interlock.grammars
import interlock.masks
import interlock.output_types
import interlock.programs
import interlock.serving
import interlock.store
import interlock.tools
from interlock import Index, Vocabulary

pytest.importorskip("tokenizers", reason="tokenizers is not installed")

import tokenizers
from scripted_generator import ScriptedGenerator
from tiny_models import tokenizer_json


class Wrong:
    """A type that nothing takes."""


V = Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[256])
TOKENIZER = tokenizers.Tokenizer.from_str(tokenizer_json())
INDEX = Index.from_regex("a*", V)
BITS = interlock.allocate_bitmask(1, V)
LOGITS = np.zeros((1, 257), np.float32)
SOURCE = {"limits": None, "cancel": None}
SCHEMA = {
    "schema": {},
    "whitespace": "compact",
    "property_order": "any",
    "on_unsupported": "error",
    "formats": "assert",
    "documents": {},
    "spelling": "plain",
    **SOURCE,
}
BODY = {"tools": [{"name": "now"}]}
SERVING = {
    "vocabulary": V,
    "format": "hermes",
    "tokenizer": None,
    "reasoning": "none",
    "reasoning_is_open": None,
    "max_reasoning_tokens": None,
    "max_tokens": 9,
    "above_max_tokens": "lower",
    "stop_tokens": 1,
    "max_n": 1,
    "max_tools": 1,
    "grammars": True,
    "seconds": 1.0,
    "compile_threads": 1,
    "limits": None,
    "allowed_tokens": None,
    "unknown_keywords": "warn",
    "whitespace": "compact",
    "spelling": "plain",
    "regex_flags": "a",
    "store": None,
    "reasoning_field": None,
}
GRAMMAR = {
    "grammar": 'start: "a"',
    "syntax": "lark",
    "start": "start",
    "lexer": "any",
    "imports": {},
    "grammars": {},
    **SOURCE,
}
REGEX = {"pattern": "a", "dialect": "python", "flags": "i", **SOURCE}
TOOLS = {
    "tools": [{"name": "f"}],
    "format": "hermes",
    "tokenizer": None,
    "tool_choice": "auto",
    "parallel": True,
    "reasoning": "none",
    "reasoning_is_open": None,
    "max_reasoning_tokens": None,
    "strict": None,
    "min_calls": 0,
    "max_calls": None,
    "unique": False,
    "response_format": None,
}
TAG = {"tag": {"type": "any_text"}, "allowed_tokens": None}


def guide():
    return INDEX.guide()


def generator():
    return ScriptedGenerator(["{}"])


def program():
    return interlock.Program(generator(), "a")


def store(folder):
    return interlock.Store(folder)


# A good call of each function: what it is a method of, its name, and its arguments.
CALLS = [
    (Index, "from_regex", {**REGEX, "vocabulary": V}),
    (Index, "from_json_schema", {**SCHEMA, "vocabulary": V, "unknown_keywords": "warn"}),
    (Index, "from_choices", {"choices": ["a"], "vocabulary": V, **SOURCE}),
    (Index, "from_grammar", {**GRAMMAR, "vocabulary": V}),
    (
        Index,
        "from_structural_tag",
        {"tag": {"type": "any_text"}, "vocabulary": V, "closed": False, "allowed_tokens": None, **SOURCE},
    ),
    (
        Index,
        "from_structural_tag",
        {"tag": {"type": "any_text"}, "vocabulary": V, "whitespace": "compact", "spelling": "plain"},
    ),
    (
        Index,
        "from_tools",
        {**TOOLS, "vocabulary": V, "closed": False, "allowed_tokens": None, "unknown_keywords": "warn", **SOURCE},
    ),
    (Index, "from_tools", {**TOOLS, "vocabulary": V, "whitespace": "compact", "spelling": "plain", "regex_flags": ""}),
    (
        interlock,
        "check_tools",
        {**TOOLS, "whitespace": "compact", "spelling": "plain", "regex_flags": ""},
    ),
    (Index, "from_response_format", {"value": {"type": "text"}, "vocabulary": V, "allowed_tokens": None, **SOURCE}),
    (
        Index,
        "from_response_format",
        {"value": {"type": "text"}, "vocabulary": V, "unknown_keywords": "warn", "regex_flags": ""},
    ),
    (interlock, "check_structural_tag", {"tag": {"type": "any_text"}, "closed": False, **SOURCE}),
    (interlock, "check_structural_tag", {"tag": {"type": "any_text"}, "whitespace": "compact", "spelling": "plain"}),
    (
        interlock,
        "check_tools",
        {**TOOLS, "closed": False, "allowed_tokens": None, "unknown_keywords": "warn", **SOURCE},
    ),
    (interlock, "check_response_format", {"value": {"type": "text"}, "unknown_keywords": "warn", **SOURCE}),
    (interlock, "check_response_format", {"value": {"type": "text"}, "allowed_tokens": None, "regex_flags": ""}),
    (interlock.tools, "request_report", {"response_format": None, "tools": [], "strict": None, **SOURCE}),
    (interlock.serving, "RequestCompiler", SERVING),
    (
        interlock.serving.RequestCompiler(V, format="hermes"),
        "compile",
        {"body": BODY, "cancel": None, "reasoning": None, "reasoning_is_open": None, "context_ids": None},
    ),
    (interlock.serving.RequestCompiler(V).compile({}), "cut_at_stop", {"text": "a"}),
    (interlock.CancelToken, "after", {"seconds": 1.0}),
    (Index, "from_type", {"output_type": int, "vocabulary": V}),
    (Index, "load", {"path": "x.ilk", "vocabulary": V}),
    (INDEX, "guide", dict.fromkeys(["max_tokens", "stop_token_ids", "context_ids"]) | {"min_tokens": 0}),
    (INDEX, "guide", {"canonical_forced": True}),
    (INDEX, "automaton", {"max_states": 5, "cancel": None}),
    (INDEX, "language_size", {"cancel": None}),
    (INDEX, "shortest_member", {"cancel": None}),
    (INDEX, "parse", {"output": b"a", "partial": False}),
    (INDEX, "build", {"threads": 1, "progress": None, "cancel": None}),
    (INDEX, "draw", {"form": "jumps", "title": "a", "max_states": 5, "everything": True}),
    (INDEX, "is_equivalent_to", {"other": INDEX, "cancel": None}),
    (INDEX, "is_subset_of", {"other": INDEX, "cancel": None}),
    (INDEX, "witness_in_both", {"other": INDEX, "cancel": None}),
    (INDEX, "witness_not_in", {"other": INDEX, "cancel": None}),
    (INDEX, "random_member", {"seed": 1, "max_bytes": 5, "cancel": None}),
    (INDEX, "sample", {"seed": 1, "max_tokens": 5, "cancel": None}),
    (INDEX, "save", {"path": "x.ilk", "tables": False}),
    (INDEX, "warm_up", {"max_ms": 1.0, "background": False}),
    (guide, "advance", {"id": 97}),
    (guide, "try_advance", {"id": 97}),
    (guide, "explain", {"id": 97}),
    (guide, "advance_many", {"ids": [97]}),
    (guide, "validate", {"ids": [97]}),
    (guide, "rollback", {"n": 0}),
    (guide, "force", {"text": b"a"}),
    (guide, "was_cut_by_budget", {"including_end": True}),
    (guide, "fill_bitmask", {"bits": BITS, "row": 0}),
    (guide, "fill_draft_bitmasks", {"ids": [], "bits": BITS, "row": 0, "parents": None}),
    (guide, "forced_tokens", {"after": None, "canonical": True, "within": None}),
    (Vocabulary, "from_file", {"path": "x", "eos_token_ids": 0, "size": 1, "special_token_ids": None}),
    (
        Vocabulary,
        "from_tokenizer",
        {"tokenizer": TOKENIZER, "eos_token_ids": 0, "size": None, "special_token_ids": None},
    ),
    (Vocabulary, "load", {"path": "x.ilk"}),
    (V, "save", {"path": "x.ilk"}),
    (V, "decode", {"ids": [97], "skip_special_tokens": True}),
    (V, "token_bytes", {"id": 97}),
    (interlock, "Vocabulary", {"tokens": [b"a", b""], "eos_token_ids": 1, "special_token_ids": None, "size": 2}),
    (interlock, "DetachedIndex", {"index": INDEX}),
    (interlock, "without_vocabulary", {"index": INDEX}),
    (interlock.without_vocabulary(INDEX), "attach", {"vocabulary": V}),
    (interlock, "Grammar", {"text": 'start: "a"'} | {k: v for k, v in GRAMMAR.items() if k in ("syntax", "start")}),
    (interlock, "Grammar", {"text": 'start: "a"', "lexer": "any", "imports": {}, "grammars": {}}),
    (interlock.Grammar('start: "a"'), "accepts", {"text": "a"}),
    (interlock.Grammar('start: "a"'), "parse", {"text": "a"}),
    (interlock.Grammar('start: "a"'), "index", {"vocabulary": V}),
    (interlock, "Store", {"path": "x", "max_bytes": 5, "tables": True, "cache": None, "on_failure": "error"}),
    (store, "add_vocabulary", {"vocabulary": V}),
    (store, "get", {"key": "0" * 64, "vocabulary": V}),
    (store, "get_or_compile", {"kind": "regex", "source": "a", "vocabulary": V, "cancel": None}),
    (store, "key_of", {"kind": "regex", "source": "a", "vocabulary": V}),
    (store, "put", {"index": INDEX}),
    (store, "size_of", {"key": "0" * 64}),
    (store, "tables_of", {"key": "0" * 64, "vocabulary": V}),
    (interlock, "advance_each", {"guides": [], "ids": []}),
    (interlock, "fill_bitmasks", {"guides": [], "bits": BITS, "rows": [], "threads": 1}),
    (interlock, "fill_bitmasks_within", {"guides": [], "bits": BITS, "seconds": 1.0, "rows": [], "threads": 1}),
    (interlock, "allocate_bitmask", {"batch": 1, "v_or_size": V, "pin": False, "device": None}),
    (interlock, "apply_bitmask", {"logits": LOGITS, "bits": BITS, "rows": None}),
    (interlock, "masked_logprobs", {"logits": LOGITS, "bits": BITS, "ids": [1], "temperature": 1.0}),
    (interlock, "check_choices", {"choices": ["a"], **SOURCE}),
    (interlock, "check_grammar", GRAMMAR),
    (interlock, "check_json_schema", {**SCHEMA, "unknown_keywords": "warn"}),
    (interlock, "check_regex", REGEX),
    (interlock, "describe", {"output_type": int}),
    (interlock.serving, "parse_body", {"raw": b"{}", "max_bytes": 9, "max_values": 9}),
    (interlock, "refusal", {"error": KeyError("a"), "stop_tokens": 1, "budget": "max_tokens"}),
    (interlock, "index_from_type", {"output_type": int, "vocabulary": V}),
    (interlock, "set_index_cache_bytes", {"n": 5}),
    (interlock, "set_mask_cache_bytes", {"n": 5 << 20}),
    (interlock, "set_num_threads", {"n": 1}),
    (interlock, "generate", {"model": "m", "tokenizer": "t", "prompt": "p", "output_type": int, "max_tokens": 5}),
    (interlock, "from_transformers", {"model": "m", "tokenizer": "t", "whitespace": "compact", "chat": None}),
    (interlock, "from_llama_cpp", {"llama": "m", "whitespace": "compact", "chat": None}),
    (interlock, "from_mlx_lm", {"model": "m", "tokenizer": "t", "whitespace": "compact", "chat": None}),
    (interlock, "from_vllm", {"llm": "m", "chat": None}),
    (interlock, "from_openai", {"client": "c", "model": "m", "server": "openai"}),
    (generator, "batch", {"prompts": ["a"], "output_type": int, "max_tokens": 50, "errors": "raise"}),
    (generator, "trace", {"prompt": "a", "output_type": int, "max_tokens": 50}),
    (generator, "stream", {"prompt": "a", "output_type": int, "max_tokens": 50}),
    (generator, "index", {"output_type": int}),
    (generator, "output_type", {"output_type": int, "on_unsupported": "error"}),
    (generator, "program", {"prompt": "a", "chat": None}),
    (interlock, "Program", {"generator": None, "prompt": "a", "chat": None}),
    (program, "text", {"text": "a"}),
    (program, "gen", {"name": "a", "output_type": str, "stop": "b", "max_tokens": 5}),
    (program, "gen", {"errors": "raise", "attempts": None, "context": None}),
    (program, "select", {"name": "a", "options": ["a"]}),
    (program, "call", {"name": "a", "function": len, "max_tokens": 5}),
    (program, "capture", {"name": "a"}),
    (interlock.tools, "Call", {"name": "f", "arguments": {}, "id": ""}),
    (interlock.tools, "detect_format", {"tokenizer": "t"}),
    (interlock.tools, "describe_tools", {"tools": [], "format": "hermes"}),
    (
        interlock.tools,
        "render",
        {"format": "hermes", "calls": [], "text": "", "reasoning": None, "whitespace": "compact"},
    ),
    (
        interlock.tools,
        "parse_reply",
        {"reply": "", "format": "hermes", "tools": None, "reasoning_is_open": None, "partial": False},
    ),
    (interlock.tools, "response_format", {"value": {"type": "text"}}),
    (interlock.tools, "request_kind", {"response_format": {"type": "text"}, "tools": None, "tool_choice": None}),
    (interlock.tools, "format_of_request", {"body": {}}),
    (interlock.tools, "structural_tag", TOOLS),
    (
        interlock.tools,
        "ChatCompletionDeltas",
        {"format": "hermes", "tools": None, "new_id": str, "reasoning_field": None},
    ),
    (
        interlock.tools,
        "chat_completion_choice",
        {"events": [], "format": "hermes", "tools": None, "new_id": str, "reasoning_field": None},
    ),
    (interlock.tools, "tool_format", {"format": "hermes"}),
    (interlock.tools, "tools_of", {"tools": []}),
    (interlock.grammars, "GrammarText", {"text": 'start: "a"', "lexer": "any"}),
    (interlock.grammars.GrammarText('start: "a"'), "accepts", {"text": "a"}),
    (interlock.grammars, "lexer", {"name": "sql"}),
    (interlock.grammars, "load", {"name": "sql"}),
    (
        interlock.grammars,
        "sql",
        {
            "tables": None,
            "functions": None,
            "parameters": None,
            "comments": False,
            "max_depth": 2,
            "statements": ["select"],
            "spelling": "any",
            "joins": True,
            "level": "full",
        },
    ),
    (interlock.output_types, "output_type_of", {"output_type": int, "on_unsupported": "error"}),
    (interlock.drawing, "draw", {"source": {}, "form": "structure", "title": "a", "max_states": 5, "everything": True}),
    (interlock.drawing.draw({"type": "object"}), "save", {"path": "x.svg"}),
    (interlock.drawing.draw({"type": "object"}), "text", {"suffix": ".svg"}),
    (interlock.explain, "explain", {"index": INDEX, "text": "a"}),
    (interlock.explain, "line_column", {"text": "a", "at": 0}),
    (interlock.explain, "parse", {"text": "1"}),
]

# What takes objects of many classes, and knows them by what they have.
ANY_TYPE = {
    ("from_tokenizer", "tokenizer"),
    ("detect_format", "tokenizer"),
    ("from_response_format", "value"),
    ("check_response_format", "value"),
    ("check_tools", "tokenizer"),
    ("response_format", "value"),
    ("request_kind", "response_format"),
    ("request_report", "response_format"),
    ("RequestCompiler", "tokenizer"),
    ("request_kind", "tools"),
    ("from_tools", "response_format"),
    ("check_tools", "response_format"),
    ("structural_tag", "response_format"),
    ("from_tools", "tokenizer"),
    ("structural_tag", "tokenizer"),
    ("call", "function"),
}
# What validators get, whatever it is.
ANY_VALUE = {("gen", "context")}
# What the error calls it, where the argument has a name for several things.
CALLED = {("get_or_compile", "source"): "pattern", ("key_of", "source"): "pattern"}
# Made by the package itself, or nothing but data.
NOT_CALLED = {
    "CompiledRequest", "Completion", "FunctionCall", "Refusal", "Reply",
    "Automaton", "CancelToken", "Guide", "Index", "Limits", "ReportRow", "Source", "Tool", "ToolFormat", "OutputType",
    "Drawing", "Explanation", "Problem", "Entry", "Stream", "AsyncStream", "ToolResult", "ToolStream",
    "Generator", "LocalGenerator",
    "clear_caches", "get_index_cache_bytes", "get_mask_cache_bytes", "get_num_threads", "stats", "format_names",
    "names", "byte_vocabulary",
}  # fmt: skip
ROWS = [
    pytest.param(owner, name, arguments, which, id=f"{getattr(owner, '__name__', type(owner).__name__)}.{name}-{which}")
    for owner, name, arguments in CALLS
    for which in arguments
    if (name, which) not in ANY_VALUE
]


def method(owner, name, tmp_path):
    if owner is store:
        owner = store(tmp_path / "store")
    elif inspect.isfunction(owner):
        owner = owner()
    return getattr(owner, name)


@pytest.mark.parametrize(("owner", "name", "arguments", "which"), ROWS)
def test_a_foreign_type_in_the_place_of_an_argument(owner, name, arguments, which, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = {**arguments, which: Wrong()}
    if which == "tokenizer" and "format" in given:
        given["format"] = "auto"  # A format that is named asks no tokenizer.
    if name == "Program" and which != "generator":
        given["generator"] = generator()
    backend = name in ("generate", "from_transformers", "from_llama_cpp", "from_mlx_lm", "from_vllm")
    with pytest.raises((TypeError, interlock.InterlockError)) as caught:
        try:
            answer = method(owner, name, tmp_path)(**given)
        except ModuleNotFoundError as error:
            pytest.skip(f"{error.name} is not installed")
        if name == "capture":
            with answer:
                pass
    said = str(caught.value)
    if (name, which) in ANY_TYPE:
        assert "Wrong" in said
        return
    if backend and "Wrong" not in said:
        pytest.skip(f"the backend is not installed, or its model comes first: {said}")
    assert "Wrong" in said, said
    assert CALLED.get((name, which), which) in said or which.replace("_", " ").removesuffix("s") in said, said
    assert re.search(r"must be|must map|must hold|\bis\b|\bare\b|needs|takes", said), said
    assert "Borrowed" not in said and "PyAny" not in said and "argument '" not in said, said


@pytest.mark.parametrize(
    ("owner", "name", "arguments"), CALLS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_every_argument_of_a_signature_is_in_the_table(owner, name, arguments, tmp_path):
    tables = [set(row[2]) for row in CALLS if row[1] == name and row[0] is owner]
    shown = inspect.signature(method(owner, name, tmp_path)).parameters.values()
    names = {p.name for p in shown if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)}
    assert set().union(*tables) == names


def test_every_public_function_is_in_the_table():
    modules = [interlock, interlock.tools, interlock.grammars, interlock.output_types, interlock.generators]
    modules += [interlock.programs, interlock.drawing, interlock.explain, interlock.masks, interlock.store]
    modules += [interlock.serving]
    public = set()
    for module in modules:
        for name in module.__all__:
            found = getattr(module, name)
            if callable(found) and not (inspect.isclass(found) and issubclass(found, BaseException)):
                public.add(name)
    assert public - NOT_CALLED - {name for _, name, _ in CALLS} == set()
    for kind, owners in [
        (Index, (Index, INDEX)),
        (interlock.Guide, (guide,)),
        (Vocabulary, (Vocabulary, V)),
        (interlock.Store, (store,)),
        (interlock.Program, (program,)),
    ]:
        known = {name for owner, name, _ in CALLS if owner in owners}
        for name, found in inspect.getmembers(kind, callable):
            if not name.startswith("_") and set(inspect.signature(found).parameters) - {"self", "/"}:
                assert name in known, (kind.__name__, name)
