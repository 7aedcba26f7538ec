"""The names that servers give their parsers of tool calls and of reasoning: vLLM 0.33 (``--tool-call-parser``,
``--reasoning-parser``), SGLang 0.5.23 (the same options), and the models of XGrammar 0.2.8's structural tags.
"""

from __future__ import annotations

__all__ = [
    "PARSER_NAMES",
    "REASONING_PARSERS",
    "UNREAD_PARSERS",
    "format_of_parser",
    "model_of_parser",
    "said_of_parser",
]

PARSER_NAMES = {
    "apertus2509": "apertus",
    "cohere_command3": "cohere_action",
    "cohere_command4": "cohere_action",
    "deepseek_r1": "deepseek_v3",
    "deepseek_v31": "deepseek_v3_1",
    "deepseek_v32": "deepseek_v3_2",
    "deepseek_v41": "deepseek_v4_1",
    "deepseekv3": "deepseek_v3",
    "deepseekv31": "deepseek_v3_1",
    "deepseekv32": "deepseek_v3_2",
    "deepseekv4": "deepseek_v4",
    "deepseekv41": "deepseek_v4_1",
    "gemma4": "gemma_4",
    "glm45": "glm_4_5",
    "glm47": "glm_4_7",
    "gpt_oss": "harmony",
    "granite4": "hermes",
    "granite_20b_fc": "granite_20b",
    "ling3": "ling_3",
    "llama3": "llama3_json",
    "llama4_json": "llama3_json",
    "llama4_pythonic": "pythonic",
    "nanbeige": "qwen3_coder",
    "olmo3": "olmo_3",
    "openai": "harmony",
    "openai_gptoss": "harmony",
    "phi4_mini_json": "functools",
    "qwen25": "hermes",
    "qwen3_json": "hermes",
    "qwen3_xml": "qwen3_coder",
    "qwen_3": "hermes",
    "qwen_3_5": "qwen3_coder",
    "qwen_3_coder": "qwen3_coder",
    "step3p5": "qwen3_coder",
    "trinity": "hermes",
}
"""The format that each parser reads. A name that is a family of models with several formats, such as ``granite`` and
``qwen``, is none of them: it would be the wrong format for some of its models, and nothing would say so. ``hy_v3`` is
none either: its delimiters are those of the tokenizer.
"""

MODELS_OF_PARSERS = {"gigachat3": "GigaChat", "poolside_v1": "Laguna", "spark25": "Spark"}
"""The models of parsers that read several formats, or more than the format of their models."""

UNREAD_PARSERS = {
    "beam": "",
    "dots": "minimax_m2",
    "ernie45": "hermes",
    "gigachat35": "deepseek_v4",
    "hy_v4": "hunyuan_3",
    "inkling": "",
    "internlm": "",
    "interns1": "",
    "iquest_q1": "glm_4_7",
    "k2_horizon": "",
    "muse": "",
    "muse_glimmer": "",
    "plamo3": "",
    "step3": "",
}
"""Parsers whose notation no format has, with the format that is built alike, if there is one."""

REASONING_PARSERS = frozenset(
    {
        "granite_thinking_parser",
        "holo2",
        "minicpmv",
        "minimax_append_think",
        "minimax_m2_append_think",
        "nemotron_3",
        "nemotron_v3",
        "qwen3",
        "qwen3_thinking",
    }
)
"""Names of parsers of reasoning alone."""

_TEMPLATE_PARSERS = frozenset({"hf", "response_template"})


def _plain(word: str) -> str:
    return word.replace("-", "_")


def format_of_parser(word: str) -> str:
    """The name of the format that the parser ``word`` reads, with hyphens or underscores; else ``word`` with
    underscores.

    >>> format_of_parser("granite-20b-fc"), format_of_parser("minimax-m2")
    ('granite_20b', 'minimax_m2')
    """
    return PARSER_NAMES.get(_plain(word), _plain(word))


def model_of_parser(word: str) -> str:
    """The models of the parser ``word``, where its name does not tell them; else ``word``.

    >>> model_of_parser("poolside_v1"), model_of_parser("olmo")
    ('Laguna', 'olmo')
    """
    return MODELS_OF_PARSERS.get(_plain(word), word)


def said_of_parser(word: str, meant: str) -> str:
    """What a message says of a word that names no format: sentences that end with a space, or nothing. ``meant`` are
    the formats that the word is like, in words, or empty.

    >>> said_of_parser("olmo", "olmo_3"), said_of_parser("oak", "")
    ('did you mean olmo_3? ', '')
    """
    name = _plain(word)
    if name in UNREAD_PARSERS:
        near = UNREAD_PARSERS[name]
        alike = f"{near!r} is built alike: " if near else ""
        return (
            "a parser of calls has this name, and none of the formats is what it reads. "
            f"{alike}docs/formats.md says how to write one of your own. "
        )
    if name in _TEMPLATE_PARSERS:
        return "pass the response template itself as the format. "
    if name in REASONING_PARSERS:
        hint = f"Did you mean {meant}? " if meant else ""
        return (
            f"a parser of reasoning has this name, and a format says how calls are written. {hint}"
            'A format has the reasoning of its models: reasoning="optional" permits it. '
        )
    return f"did you mean {meant}? " if meant else ""
