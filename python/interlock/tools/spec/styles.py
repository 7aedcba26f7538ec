"""The nine argument styles of XGrammar 0.2.8 as encodings of arguments."""

from __future__ import annotations

from interlock.tools.notations.tool_format import Arguments

__all__ = ["STYLES", "style_name"]

_NAMESPACE = "]<]minimax[>["
_DSML = {"string": "true", "other": "false"}
_KIMI = {
    "string": "string",
    "number": "number",
    "integer": ["number", "integer"],
    "boolean": "boolean",
    "null": "null",
    "object": "object",
    "array": "array",
}
_COHERE = {"string": "raw", "object": "dict", "array": "list", "other": "json"}


def _tagged(begin: str, end: str, **fields: object) -> Arguments:
    return Arguments("tagged", begin=begin, end=end, whitespace=True, **fields)  # type: ignore[arg-type]


#: By name, in the order of XGrammar's documentation.
STYLES: dict[str, Arguments] = {
    "json": Arguments("json"),
    "qwen_xml": _tagged("<parameter=${key}>", "</parameter>"),
    "minimax_xml": _tagged('<parameter name="${key}">', "</parameter>"),
    "minimax_m3_xml": _tagged(
        _NAMESPACE + "<${key}>",
        _NAMESPACE + "</${key}>",
        nested=True,
        item_begin=_NAMESPACE + "<item>",
        item_end=_NAMESPACE + "</item>",
    ),
    "deepseek_xml": _tagged('<｜DSML｜parameter name="${key}" string="${type}">', "</｜DSML｜parameter>", types=_DSML),
    "deepseek_v4_1_xml": _tagged(
        '<｜DSML｜ parameter name="${key}" string="${type}">', "</｜DSML｜ parameter>", types=_DSML
    ),
    "glm_xml": _tagged("<arg_key>${key}</arg_key><arg_value>", "</arg_value>"),
    "cohere_xml": _tagged(
        '<cofl:value name="${key}" type="${type}">',
        "</cofl:value>",
        key_escape="xml",
        nested=True,
        item_begin='<cofl:value type="${type}">',
        item_end="</cofl:value>",
        types=_COHERE,
    ),
    "kimi_k3_xml": _tagged(
        '<|open|>argument key="${key}" type="${type}"<|sep|>',
        "<|close|>argument<|sep|>",
        key_escape="attribute",
        types=_KIMI,
    ),
}


def style_name(style: Arguments) -> str | None:
    """The name of a style, or ``None`` for one that has none.

    >>> style_name(STYLES["glm_xml"])
    'glm_xml'
    """
    if style.encoding == "json":
        return "json"
    return next((name for name, found in STYLES.items() if found.begin == style.begin and found == style), None)
