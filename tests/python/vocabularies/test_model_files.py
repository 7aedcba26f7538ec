"""A path in place of a tokenizer, for the format of tools: the chat template in the files of a model."""

import json
from pathlib import Path

import pytest

import interlock
from interlock import Index
from interlock.tools import ToolFormatError, detect_format

QWEN = "{{- '<tool_call>\\n<function=' + name + '>\\n<parameter=' + key }}"
HERMES = "{{- '<tool_call>' + content + '</tool_call>' }} {{ '{\"name\": ' }}"
TOOLS = [{"name": "now"}]


def _written(folder, **files):
    for name, content in files.items():
        path = folder / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    return folder


@pytest.mark.parametrize(
    "files",
    [
        {"tokenizer_config_dot_json": {"chat_template": QWEN}},
        {"tokenizer_config_dot_json": {"chat_template": [{"name": "tool_use", "template": QWEN}]}},
        {"tokenizer_config_dot_json": {"eos_token": "a"}, "chat_template_dot_json": {"chat_template": QWEN}},
        {"tokenizer_config_dot_json": {"chat_template": HERMES}, "chat_template_dot_jinja": QWEN},
        {"chat_template_dot_jinja": HERMES, "additional_chat_templates__tool_use_dot_jinja": QWEN},
    ],
)
def test_a_folder_is_read(files, tmp_path, byte_vocabulary):
    folder = _written(tmp_path, **files)
    (folder / "tokenizer.json").write_text("{}")
    for path in (folder, str(folder), str(folder / "tokenizer.json")):
        assert detect_format(path).name == "qwen3_coder"
        index = Index.from_tools(TOOLS, byte_vocabulary, tokenizer=path, tool_choice="required")
        assert index.guide().forced_text().startswith("<tool_call>\n<function=now>")
        interlock.check_tools(TOOLS, tokenizer=path)


def test_one_file_is_read(tmp_path):
    _written(tmp_path, tokenizer_config_dot_json={"chat_template": QWEN}, mine_dot_jinja=QWEN)
    for name in ("tokenizer_config.json", "mine.jinja"):
        assert detect_format(tmp_path / name).name == detect_format(str(tmp_path / name)).name == "qwen3_coder"


def test_a_response_template_of_a_folder_is_compiled(tmp_path, byte_vocabulary):
    template = {
        "fields": {
            "content": {},
            "tool_calls": {
                "open": "<<",
                "close": ">>",
                "repeats": True,
                "content": "json",
                "transform": {"type": "function", "function": "{content}"},
            },
        }
    }
    of_object = Index.from_tools(
        TOOLS, byte_vocabulary, tokenizer={"response_template": template}, tool_choice="required"
    )
    _written(tmp_path, tokenizer_config_dot_json={"response_template": template, "chat_template": QWEN})
    of_folder = Index.from_tools(TOOLS, byte_vocabulary, tokenizer=str(tmp_path), tool_choice="required")
    assert of_folder.guide().forced_text() == of_object.guide().forced_text() != ""
    assert of_folder.guide().forced_text().startswith("<<")


@pytest.mark.parametrize(
    "path", ["/path/to/model", "Qwen/Qwen3-8B", "model", "./a b/tokenizer_config.json", "C:\\models\\qwen", "a\0b"]
)
def test_a_path_that_leads_nowhere_is_refused_as_a_path(path, byte_vocabulary):
    for call in (
        lambda: detect_format(path),
        lambda: Index.from_tools(TOOLS, byte_vocabulary, tokenizer=path),
        lambda: interlock.check_tools(TOOLS, tokenizer=path),
    ):
        with pytest.raises(ToolFormatError, match="is no file or folder here, and no chat template") as caught:
            call()
        assert repr(path) in str(caught.value) and not caught.value.is_client_error


def test_files_whose_template_has_no_notation_are_there(tmp_path, byte_vocabulary):
    _written(tmp_path, tokenizer_config_dot_json={"chat_template": "{{ messages[0].content }}"})
    for path in (tmp_path, tmp_path / "tokenizer_config.json"):
        for given in (path, str(path)):
            with pytest.raises(ToolFormatError, match="the chat template has the signature of no tool format"):
                detect_format(given)
            with pytest.raises(ToolFormatError, match="the chat template has the signature of no tool format"):
                Index.from_tools(TOOLS, byte_vocabulary, tokenizer=given)


def test_a_path_that_a_shell_would_read_says_so():
    for path in ("~/models/none", Path("~/models/none")):
        with pytest.raises(ToolFormatError, match=r"a shell reads '~'.*pass os\.path\.expanduser"):
            detect_format(path)


def test_files_without_a_chat_template_are_refused(tmp_path):
    with pytest.raises(ToolFormatError, match="has no chat template: none of tokenizer_config.json"):
        detect_format(tmp_path)
    _written(tmp_path, tokenizer_config_dot_json={"eos_token": "a"}, a_dot_json="[", a_dot_gguf="GGUF", b_dot_json=[])
    for name, said in {
        ".": "has no chat template",
        "tokenizer_config.json": "has no key chat_template",
        "a.json": "is no JSON",
        "b.json": "has no key chat_template",
        "a.gguf": "is no chat template, because no Jinja",
    }.items():
        with pytest.raises(ToolFormatError, match=said):
            detect_format(str(tmp_path / name))
    with pytest.raises(ToolFormatError, match="there is no file or folder"):
        detect_format(tmp_path / "missing")
    (tmp_path / "bytes.jinja").write_bytes(b"\xff\xfe")
    with pytest.raises(ToolFormatError, match="cannot be read"):
        detect_format(tmp_path / "bytes.jinja")


def test_a_template_of_texts_alone_is_still_a_template():
    assert detect_format("<tool_call>\n<function= <parameter=").name == "qwen3_coder"
    with pytest.raises(ToolFormatError, match="the signature of no tool format"):
        detect_format("{{ messages[0].content }}")
