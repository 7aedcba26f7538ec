"""Tool calls: the notations of model families as data, structural tags that enforce them, and what clients send.

>>> from interlock.tools import Call, render
>>> render("hermes", [Call("get_weather", {"city": "Rome"})])
'<tool_call>\\n{"name": "get_weather", "arguments": {"city": "Rome"}}\\n</tool_call>'
"""

from interlock.tools import spec
from interlock.tools.chat_completions import ChatCompletionDeltas, chat_completion_choice
from interlock.tools.detection import detect_format
from interlock.tools.errors import RequestError, StructuralTagError, ToolFormatError
from interlock.tools.format_files import format_names, tool_format
from interlock.tools.render import Call, render
from interlock.tools.request_body import format_of_request
from interlock.tools.response_format import Source, request_kind, response_format
from interlock.tools.structural_tag import structural_tag
from interlock.tools.tool_descriptions import describe_tools
from interlock.tools.tool_format import ToolFormat
from interlock.tools.tool_list import Tool, tools_of

__all__ = [
    "Call",
    "ChatCompletionDeltas",
    "RequestError",
    "Source",
    "StructuralTagError",
    "Tool",
    "ToolFormat",
    "ToolFormatError",
    "chat_completion_choice",
    "describe_tools",
    "detect_format",
    "format_names",
    "format_of_request",
    "render",
    "request_kind",
    "response_format",
    "spec",
    "structural_tag",
    "tool_format",
    "tools_of",
]
