"""Writes down what the vLLM plug-in needs of vLLM, as the installed version has it.

    python tests/tools/record_vllm_interface.py                      prints the record of the installed version
    python tests/tools/record_vllm_interface.py --add FILE           adds it to FILE
    python tests/tools/record_vllm_interface.py --compare FILE       says what FILE's newest record has otherwise

Of each function: its parameters in order. Of each class of settings or parameters: its fields. A newer vLLM fits if
everything that the plug-in touches is still there with the parameters that it passes.
"""

import argparse
import importlib
import importlib.metadata
import inspect
import json
import sys
from pathlib import Path

FUNCTIONS = [
    "vllm.entrypoints.generate.base.protocol:validate_structural_tag_payload",
    "vllm.entrypoints.openai.chat_completion.protocol:ChatCompletionRequest.extract_structured_outputs",
    "vllm.entrypoints.openai.completion.protocol:CompletionRequest.extract_structured_outputs",
    "vllm.engine.arg_utils:EngineArgs.create_engine_config",
    "vllm.sampling_params:SamplingParams._validate_structured_outputs",
    "vllm.v1.core.sched.scheduler:Scheduler.finish_requests",
    "vllm.v1.core.sched.scheduler:Scheduler.update_draft_token_ids",
    "vllm.v1.core.sched.scheduler:Scheduler.update_draft_token_ids_in_output",
    "vllm.v1.engine.async_llm:AsyncLLM.add_request",
    "vllm.v1.engine.async_llm:AsyncLLM.generate",
    "vllm.v1.structured_output:StructuredOutputManager.__init__",
    "vllm.v1.structured_output:StructuredOutputManager._create_grammar",
    "vllm.v1.structured_output:StructuredOutputManager.grammar_bitmask",
    "vllm.v1.structured_output:StructuredOutputManager.grammar_init",
    "vllm.v1.structured_output:StructuredOutputManager.validate_tokens",
    "vllm.v1.structured_output:StructuredOutputManager.accept_tokens",
    "vllm.v1.structured_output.backend_types:StructuredOutputBackend.compile_grammar",
    "vllm.v1.structured_output.backend_types:StructuredOutputBackend.allocate_token_bitmask",
    "vllm.v1.structured_output.backend_types:StructuredOutputBackend.destroy",
    "vllm.v1.structured_output.backend_types:StructuredOutputGrammar.accept_tokens",
    "vllm.v1.structured_output.backend_types:StructuredOutputGrammar.validate_tokens",
    "vllm.v1.structured_output.backend_types:StructuredOutputGrammar.rollback",
    "vllm.v1.structured_output.backend_types:StructuredOutputGrammar.fill_bitmask",
    "vllm.v1.structured_output.backend_types:StructuredOutputGrammar.is_terminated",
    "vllm.v1.structured_output.backend_types:StructuredOutputGrammar.reset",
    "vllm.v1.spec_decode.custom_class_proposer:create_custom_proposer",
    "vllm.exceptions:VLLMValidationError.__init__",
]
"""What is wrapped, implemented or called."""

FIELDS = {
    "vllm.config:StructuredOutputsConfig": ["backend", "reasoning_parser", "enable_in_reasoning"],
    "vllm.sampling_params:StructuredOutputsParams": [
        "json",
        "regex",
        "choice",
        "grammar",
        "json_object",
        "structural_tag",
        "whitespace_pattern",
        "disable_any_whitespace",
        "disable_additional_properties",
        "_backend",
    ],
    "vllm.sampling_params:SamplingParams": ["max_tokens", "min_tokens", "ignore_eos", "structured_outputs"],
    "vllm.v1.structured_output.request:StructuredOutputRequest": ["params", "_grammar", "reasoning_ended"],
}
"""Attributes of vLLM's classes that are read or set."""

ATTRIBUTES = {
    "vllm.v1.structured_output:StructuredOutputManager": [
        "self.backend",
        "self.tokenizer",
        "self.reasoner_cls",
        "self.enable_in_reasoning",
        "self._grammar_bitmask",
        "self.vllm_config",
    ],
    "vllm.v1.core.sched.scheduler:Scheduler": ["self.structured_output_manager"],
    "vllm.v1.engine.async_llm:AsyncLLM": ["self.vllm_config", "self.model_config", "self.input_processor"],
    "vllm.v1.request:Request": [
        "self.request_id",
        "self.sampling_params",
        "self.structured_output_request",
        "self.max_tokens",
        "self.prompt_token_ids",
        "self.num_prompt_tokens",
        "def num_output_tokens",
        "self.all_token_ids",
        "def use_structured_output",
    ],
    "vllm.config:VllmConfig": ["def num_speculative_tokens"],
    "vllm.config:ModelConfig": ["def get_vocab_size", "def is_diffusion", "skip_tokenizer_init", "max_model_len"],
}
"""What the source of a class must say, for attributes that no signature shows."""


def found(path):
    module, _, names = path.partition(":")
    thing = importlib.import_module(module)
    for name in names.split("."):
        thing = getattr(thing, name)
    # What the plug-in has wrapped shows what was there before.
    return getattr(thing, "_interlock_original", thing)


def parameters(path):
    return [
        ("*" if p.kind is p.VAR_POSITIONAL else "**" if p.kind is p.VAR_KEYWORD else "") + p.name
        for p in inspect.signature(found(path)).parameters.values()
    ]


def fields(path):
    cls = found(path)
    for names in ("__struct_fields__", "__dataclass_fields__"):
        if hasattr(cls, names):
            return list(getattr(cls, names))
    return sorted(cls.__annotations__)


def record():
    """The installed version's record. A thing that is missing is None."""
    made = {"functions": {}, "fields": {}, "attributes": {}}
    for path in FUNCTIONS:
        made["functions"][path] = _or_none(lambda path=path: parameters(path))
    for path, names in FIELDS.items():
        made["fields"][path] = _or_none(lambda path=path, names=names: [n for n in fields(path) if n in names])
    for path, texts in ATTRIBUTES.items():
        made["attributes"][path] = _or_none(
            lambda path=path, texts=texts: [text for text in texts if text in inspect.getsource(found(path))]
        )
    return made


def _or_none(look):
    try:
        return look()
    except (ImportError, AttributeError):
        return None


def version():
    import vllm

    return vllm.__version__.split("+")[0]


def differences(old, new):
    """What ``new`` has otherwise than ``old``, in words."""
    for part in ("functions", "fields", "attributes"):
        for path, names in old[part].items():
            if new[part].get(path) != names:
                yield f"{path}: {names} became {new[part].get(path)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--add", type=Path, metavar="FILE")
    parser.add_argument("--compare", type=Path, metavar="FILE")
    given = parser.parse_args()
    made = record()
    if given.compare:
        known = json.loads(given.compare.read_text())
        newest = max(known, key=lambda v: [int(n) for n in v.split(".")])
        changed = list(differences(known[newest], made))
        print("\n".join([f"vLLM {version()} beside the record of {newest}:", *(changed or ["no difference"])]))
        sys.exit(bool(changed))
    if given.add:
        known = json.loads(given.add.read_text()) if given.add.exists() else {}
        known[version()] = made
        given.add.write_text(json.dumps(known, indent=1) + "\n")
    else:
        print(json.dumps({version(): made}, indent=1))


if __name__ == "__main__":
    main()
