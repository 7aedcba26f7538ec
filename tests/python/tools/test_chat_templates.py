"""Tool formats against the chat templates of their families: the template writes what ``render`` writes."""

from __future__ import annotations

import chat_templates
import pytest
from interlock.tools import Call, ToolFormatError, detect_format, render
from tool_call_parser import calls as parsed

pytest.importorskip("jinja2", reason="jinja2 renders chat templates")
if not chat_templates.FOLDER:
    pytest.skip("INTERLOCK_CHAT_TEMPLATES names no folder of chat templates", allow_module_level=True)

CALLS = [
    Call("get_weather", {"city": 'São Paulo "P" <b>', "days": 3, "opts": {"deep": True}}),
    Call("add", {"a": 1.5, "b": ["x", "y"]}),
]
SCHEMAS = {tool["function"]["name"]: tool["function"]["parameters"] for tool in chat_templates.TOOLS}

#: Templates of models that call no tools, or whose notation is not one of the formats.
NO_FORMAT = {
    "CohereForAI-c4ai-command-r-plus-tool_use": "asks for a list of actions in Markdown",
    "HuggingFaceTB-SmolLM3-3B": "drops tool calls",
    "google-gemma-2-2b-it": "has no tools",
    "llama-cpp-rwkv-world": "has no tools",
    "microsoft-Phi-3.5-mini-instruct": "has no tools",
    "muse-glimmer": "a message for each call, with the name twice",
}
#: Templates that name a format in their prompt and write no call of an assistant in it.
NO_CALLS = {
    "LFM2-8B-A1B",
    "LFM2.5-Instruct",
    "deepseek-ai-DeepSeek-R1-Distill-Llama-8B",
    "fireworks-ai-llama-3-firefunction-v2",
    "ibm-granite-granite-3.3-2B-Instruct",
    "llama-cpp-deepseek-r1",
}
#: Templates that write one call only, or a variant of their own between calls.
ONE_CALL = {
    "GigaChat3-10B-A1.8B",
    "GigaChat3.1-10B-A1.8B",
    "meta-llama-Llama-3.1-8B-Instruct",
    "meta-llama-Llama-3.2-3B-Instruct",
    "meta-llama-Llama-3.3-70B-Instruct",
    "openai-gpt-oss-120b",
    "Reka-Edge",
    "StepFun3.5-Flash",
}
#: Templates that write values other than JSON does: Python's words, escapes.
OTHER_VALUES = {"ByteDance-Seed-OSS", "openbmb-MiniCPM5-1B", "Reka-Edge", "meetkai-functionary-medium-v3.2"}

FILES = {file.stem: file for file in chat_templates.template_files()}


@pytest.mark.parametrize("name", FILES)
def test_the_format_is_found_and_writes_what_the_template_writes(name):
    template = FILES[name].read_text("utf-8")
    if name in NO_FORMAT:
        with pytest.raises(ToolFormatError):
            detect_format(template)
        return
    form = detect_format(template)
    calls = CALLS[:1] if name in ONE_CALL else CALLS
    if name in OTHER_VALUES:
        calls = [Call("get_weather", {"city": "Rome", "days": 3})]
    found = chat_templates.rendered(template, calls)
    if name in NO_CALLS:
        assert found is None or render(form, calls) not in found
        return
    assert found is not None, "the template renders no calls"
    assert render(form, calls).strip() in found
    assert parsed(form, found, SCHEMAS)[-len(calls) :] == calls if form.layout.kind == "text" else True


def test_every_template_is_known():
    assert FILES, "the folder has no templates"
    assert (set(NO_FORMAT) | NO_CALLS | ONE_CALL | OTHER_VALUES) <= set(FILES)
