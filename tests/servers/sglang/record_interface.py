"""What the plug-in uses of SGLang, as signatures: ``python record_interface.py FILE`` writes them, for contract tests.

The file is what a newer SGLang must still have. ``test_interface.py`` compares it with the installed one.
"""

import dataclasses
import importlib
import importlib.metadata
import inspect
import json
import sys

CONSTRAINED = "sglang.srt.constrained."

CLASSES = {
    CONSTRAINED + "base_grammar_backend": ["BaseGrammarObject", "BaseGrammarBackend", "InvalidGrammarObject"],
    CONSTRAINED + "reasoner_grammar_backend": ["ReasonerGrammarObject", "ReasonerGrammarBackend"],
}
FUNCTIONS = {
    CONSTRAINED + "base_grammar_backend": ["register_grammar_backend", "create_grammar_backend"],
    "sglang.srt.server_args": ["add_grammar_backend_choices"],
    "sglang.srt.plugins": ["load_plugins"],
}
METHODS = {
    CONSTRAINED + "grammar_manager": {
        "GrammarManager": ["process_req_with_grammar", "get_ready_grammar_requests", "abort_requests"]
    },
    "sglang.srt.managers.schedule_batch": {"Req": ["set_finish_with_abort"]},
    "sglang.srt.parser.reasoning_parser": {"ReasoningParser": ["__init__"]},
}
FIELDS = {
    CONSTRAINED + "base_grammar_backend": {"GrammarStats": None, "GrammarRow": None},
    "sglang.srt.sampling.sampling_params": {
        "SamplingParams": ["max_new_tokens", "min_new_tokens", "stop_token_ids", "json_schema", "regex", "ebnf"]
    },
    "sglang.srt.server_args": {
        "ServerArgs": [
            "reasoning_parser",
            "enable_strict_thinking",
            "tool_call_parser",
            "chat_template",
            "constrained_json_whitespace_pattern",
            "constrained_json_disable_any_whitespace",
            "constrained_json_max_whitespace_cnt",
            "tp_size",
            "pp_size",
            "enable_metrics",
        ]
    },
}


def parameters(function):
    """The signature without annotations, each default written as ``None``: ``(self, key, *, budget=None)``."""
    signature = inspect.signature(function)
    plain = [
        p.replace(annotation=p.empty, default=p.empty if p.default is p.empty else None)
        for p in signature.parameters.values()
    ]
    return str(inspect.Signature(plain))


def members(cls):
    """The methods and properties that a class itself has."""
    found = {}
    for name, value in vars(cls).items():
        if name.startswith("__") and name != "__init__":
            continue
        if isinstance(value, property):
            found[name] = "property"
        elif isinstance(value, staticmethod):
            found[name] = "static " + parameters(value.__func__)
        elif inspect.isfunction(value):
            found[name] = "method " + parameters(value)
    return found


def field_names(cls):
    """The fields of a data class, a named tuple or a struct."""
    if dataclasses.is_dataclass(cls):
        return [field.name for field in dataclasses.fields(cls)]
    named = getattr(cls, "_fields", None) or getattr(cls, "__struct_fields__", None)
    return list(named or ())


def recorded():
    """All of it."""
    out = {"version": importlib.metadata.version("sglang"), "classes": {}, "functions": {}, "methods": {}, "fields": {}}
    for module, names in CLASSES.items():
        for name in names:
            out["classes"][f"{module}:{name}"] = members(getattr(importlib.import_module(module), name))
    for module, names in FUNCTIONS.items():
        for name in names:
            out["functions"][f"{module}:{name}"] = parameters(getattr(importlib.import_module(module), name))
    for module, classes in METHODS.items():
        for cls, names in classes.items():
            owner = getattr(importlib.import_module(module), cls)
            out["methods"][f"{module}:{cls}"] = {name: parameters(getattr(owner, name)) for name in names}
    for module, classes in FIELDS.items():
        for cls, wanted in classes.items():
            there = field_names(getattr(importlib.import_module(module), cls))
            out["fields"][f"{module}:{cls}"] = there if wanted is None else [n for n in wanted if n in there]
    return out


if __name__ == "__main__":
    with open(sys.argv[1], "w") as file:
        json.dump(recorded(), file, indent=1)
        file.write("\n")
