"""Chat templates of model families, rendered as transformers renders them.

The templates are not part of the project: the source package of llama-cpp-python carries about 70 of them in
``vendor/llama.cpp/models/templates``. ``INTERLOCK_CHAT_TEMPLATES`` names that folder.
"""

from __future__ import annotations

import datetime
import json
import os
import pathlib

FOLDER = os.environ.get("INTERLOCK_CHAT_TEMPLATES", "")

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "The weather of a city",
            "parameters": {
                "type": "object",
                "properties": {
                    "city": {"type": "string"},
                    "days": {"type": "integer"},
                    "opts": {"type": "object", "properties": {"deep": {"type": "boolean"}}},
                },
                "required": ["city"],
            },
        },
    },
    {
        "type": "function",
        "function": {
            "name": "add",
            "description": "A sum",
            "parameters": {
                "type": "object",
                "properties": {"a": {"type": "number"}, "b": {"type": "array", "items": {"type": "string"}}},
                "required": ["a"],
            },
        },
    },
]


def template_files():
    return sorted(pathlib.Path(FOLDER).glob("*.jinja")) if FOLDER else []


def rendered(template, calls):
    """What stands behind the question in a chat whose answer is these calls; ``None`` where the template refuses."""
    import jinja2
    import jinja2.ext
    from jinja2.sandbox import SandboxedEnvironment

    class Generation(jinja2.ext.Extension):
        tags = {"generation"}

        def parse(self, parser):
            next(parser.stream)
            return parser.parse_statements(["name:endgeneration"], drop_needle=True)

    def refuse(message):
        raise jinja2.exceptions.TemplateError(message)

    def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    environment = SandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[jinja2.ext.loopcontrols, Generation]
    )
    environment.filters.update(tojson=tojson, from_json=json.loads)
    environment.globals.update(
        raise_exception=refuse, strftime_now=lambda form: datetime.datetime(2026, 1, 1).strftime(form)
    )
    for content, as_text in (("", False), (None, False), ("", True)):
        written = [
            {
                "id": f"call0000{index}",
                "type": "function",
                "function": {
                    "name": call.name,
                    "arguments": json.dumps(dict(call.arguments)) if as_text else call.arguments,
                },
            }
            for index, call in enumerate(calls)
        ]
        messages = [
            {"role": "user", "content": "The question."},
            {"role": "assistant", "content": content, "tool_calls": written},
        ]
        try:
            whole = environment.from_string(template).render(
                messages=messages,
                tools=TOOLS,
                add_generation_prompt=False,
                bos_token="<s>",
                eos_token="</s>",
                enable_thinking=True,
            )
        except (jinja2.exceptions.TemplateError, jinja2.exceptions.SecurityError, TypeError):
            continue
        found = whole[whole.rfind("The question.") + len("The question.") :]
        if calls[0].name in found:
            return found
    return None
