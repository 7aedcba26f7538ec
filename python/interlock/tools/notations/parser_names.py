"""The names that vLLM and SGLang give their parsers of tool calls, where such a parser reads one of our formats."""

from __future__ import annotations

__all__ = ["PARSER_NAMES"]

PARSER_NAMES = {
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
    "gpt-oss": "harmony",
    "granite-20b-fc": "granite_20b",
    "hy_v3": "hunyuan_3",
    "ling3": "ling_3",
    "llama4_pythonic": "pythonic",
    "minimax-m2": "minimax_m2",
    "minimax-m3": "minimax_m3",
    "olmo3": "olmo_3",
    "openai": "harmony",
    "qwen25": "hermes",
    "qwen3_json": "hermes",
    "qwen3_xml": "qwen3_coder",
    "step3p5": "qwen3_coder",
}
"""Names of vLLM 0.33's ``--tool-call-parser`` and SGLang 0.5.23's, by the format that is the same in the output. Names
that several formats answer to, such as ``gigachat3`` and ``granite``, are none of them.
"""
