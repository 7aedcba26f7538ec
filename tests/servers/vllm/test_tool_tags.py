"""The structural tags that vLLM's tool parsers make, for every model that it knows: all of them compile."""

import json

import pytest

import interlock
from interlock.integrations.vllm.options import Options
from interlock.integrations.vllm.sources import Source, check_source, compile_source

PARAMETERS = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "maxLength": 10},
        "days": {"type": "integer"},
        "unit": {"enum": ["C", "F"]},
    },
    "required": ["city", "days"],
    "additionalProperties": False,
}


def models():
    registry = pytest.importorskip("vllm.tool_parsers.structural_tag_registry", reason="this vLLM makes no tags")
    # What registers itself when it is imported.
    pytest.importorskip("vllm.parser.harmony", reason="this vLLM makes no tags for gpt-oss")
    return sorted(registry.SUPPORTED_STRUCTURAL_TAG_MODELS | set(registry._VLLM_STRUCTURAL_TAG_REGISTRY))


@pytest.fixture(scope="module")
def vocabulary():
    return interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[256])


@pytest.mark.parametrize("choice", ["auto", "required", "named"])
def test_every_tag_compiles(vocabulary, choice):
    from vllm.entrypoints.openai.chat_completion.protocol import (
        ChatCompletionNamedToolChoiceParam,
        ChatCompletionToolsParam,
    )
    from vllm.tool_parsers.structural_tag_registry import get_model_structural_tag

    def tool(name):
        function = {"name": name, "parameters": PARAMETERS, "strict": True}
        return ChatCompletionToolsParam.model_validate({"type": "function", "function": function})

    named = ChatCompletionNamedToolChoiceParam.model_validate({"type": "function", "function": {"name": "rain"}})
    asked = named if choice == "named" else choice
    made = 0
    for model in models():
        tag = get_model_structural_tag(
            model=model, tools=[tool("weather"), tool("rain")], tool_choice=asked, reasoning=False
        )
        if tag is None:
            continue
        source = Source("structural_tag", json.dumps(tag.model_dump()))
        check_source(source, Options())
        index = compile_source(source, vocabulary, Options())
        # Where a call is asked for, an output without one is none.
        assert choice == "auto" or not index.guide().is_accepting, model
        made += 1
    assert made >= 10


def test_every_parser_of_calls_is_a_format_or_is_known_to_be_none():
    from interlock.tools import ToolFormatError, tool_format
    from vllm.tool_parsers import _TOOL_PARSERS_TO_REGISTER

    unknown = []
    for name in _TOOL_PARSERS_TO_REGISTER:
        try:
            tool_format(name)
        except ToolFormatError as error:
            if 'format="auto"' in str(error):
                unknown.append(name)
    assert not unknown
