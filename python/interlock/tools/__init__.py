"""Tool calls: the notations of model families as data, structural tags that enforce them, and what clients send.

>>> from interlock.tools import Call, render
>>> render("hermes", [Call("get_weather", {"city": "Rome"})])
'<tool_call>\\n{"name": "get_weather", "arguments": {"city": "Rome"}}\\n</tool_call>'
"""

from interlock.tools import spec
from interlock.tools.errors import RequestError, StructuralTagError, ToolFormatError
from interlock.tools.notations.detection import detect_format
from interlock.tools.notations.format_files import format_names, tool_format
from interlock.tools.notations.render import Call, render
from interlock.tools.notations.tool_format import ToolFormat
from interlock.tools.replies.chat_completions import ChatCompletionDeltas, chat_completion_choice
from interlock.tools.replies.unmasked_replies import parse_reply
from interlock.tools.requests.request_body import format_of_request
from interlock.tools.requests.response_format import Source, request_kind, response_format
from interlock.tools.requests.tool_descriptions import describe_tools
from interlock.tools.requests.tool_list import Tool, tools_of
from interlock.tools.tags.request_report import request_report
from interlock.tools.tags.structural_tag import structural_tag

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
    "parse_reply",
    "render",
    "request_kind",
    "request_report",
    "response_format",
    "spec",
    "structural_tag",
    "tool_format",
    "tools_of",
]
