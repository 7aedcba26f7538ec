"""What the vLLM plug-in needs of vLLM, against the recorded interface of the versions it was made for.

``tests/data/vllm_interface.json`` was written by ``tests/tools/record_vllm_interface.py``, which also says what a newer
version has otherwise. These tests need no vLLM; ``make test-vllm`` compares the record with the one it installs.
"""

import inspect
import json
from pathlib import Path

import pytest

from interlock.integrations.vllm.backend import Backend
from interlock.integrations.vllm.grammar import Grammar
from interlock.integrations.vllm.proposer import ForcedTokensProposer
from interlock.integrations.vllm.sources import KINDS

RECORD = json.loads((Path(__file__).parents[2] / "data" / "vllm_interface.json").read_text())
VERSIONS = list(RECORD)
TYPES = "vllm.v1.structured_output.backend_types"


def names(function):
    return list(inspect.signature(function).parameters)


@pytest.fixture(params=VERSIONS)
def record(request):
    return RECORD[request.param]


def test_nothing_that_is_touched_is_missing(record):
    for part in ("functions", "fields", "attributes"):
        assert [path for path, found in record[part].items() if found is None] == []


@pytest.mark.parametrize(
    ("ours", "theirs"), [(Grammar, "StructuredOutputGrammar"), (Backend, "StructuredOutputBackend")]
)
def test_our_classes_have_vllms_methods(record, ours, theirs):
    prefix = f"{TYPES}:{theirs}."
    methods = {path.removeprefix(prefix): p for path, p in record["functions"].items() if path.startswith(prefix)}
    assert methods
    for name, parameters in methods.items():
        assert names(getattr(ours, name)) == parameters, name


def test_wrapped_functions_have_the_parameters_that_are_passed_on(record):
    """Wrappers name these parameters, by position, and pass all others on."""
    expected = {
        "vllm.sampling_params:SamplingParams._validate_structured_outputs": [
            "self",
            "model_config",
            "structured_outputs_config",
            "tokenizer",
        ],
        "vllm.v1.engine.async_llm:AsyncLLM.add_request": ["self", "request_id", "prompt", "params"],
        "vllm.v1.engine.async_llm:AsyncLLM.generate": ["self", "prompt", "sampling_params", "request_id"],
        "vllm.v1.structured_output:StructuredOutputManager.__init__": ["self", "vllm_config"],
        "vllm.v1.structured_output:StructuredOutputManager._create_grammar": ["self", "request"],
        "vllm.v1.structured_output:StructuredOutputManager.grammar_init": ["self", "request"],
        "vllm.v1.structured_output:StructuredOutputManager.grammar_bitmask": [
            "self",
            "requests",
            "structured_output_request_ids",
            "scheduled_spec_decode_tokens",
        ],
        "vllm.v1.structured_output:StructuredOutputManager.validate_tokens": ["self", "request", "spec_tokens"],
        "vllm.v1.core.sched.scheduler:Scheduler.update_draft_token_ids_in_output": [
            "self",
            "draft_token_ids",
            "scheduler_output",
        ],
    }
    for path, parameters in expected.items():
        assert record["functions"][path][: len(parameters)] == parameters, path


def test_every_kind_of_constraint_is_known(record):
    params = record["fields"]["vllm.sampling_params:StructuredOutputsParams"]
    assert set(KINDS) <= set(params)


def test_the_proposer_is_what_vllm_makes(record):
    assert record["functions"]["vllm.v1.spec_decode.custom_class_proposer:create_custom_proposer"] == ["vllm_config"]
    assert names(ForcedTokensProposer) == ["vllm_config"]


def test_the_versions_are_those_of_the_documentation():
    page = (Path(__file__).parents[3] / "docs" / "servers" / "vllm.md").read_text()
    for version in VERSIONS:
        assert version.rsplit(".", 1)[0] in page
