"""Constrained decoding by interlock inside vLLM, by one flag.

With interlock and vLLM in one environment, ``vllm serve <model> --structured-outputs-config.backend interlock`` is all
there is to do: vLLM finds this plug-in by its entry point. Options are environment variables, see `Options`.

Importing this module imports neither vLLM nor torch.
"""

from interlock.integrations.vllm.backend import Backend
from interlock.integrations.vllm.grammar import Grammar
from interlock.integrations.vllm.options import Options
from interlock.integrations.vllm.plugin import NAME, register
from interlock.integrations.vllm.sources import Source, check_source, compile_source

__all__ = ["NAME", "Backend", "Grammar", "Options", "Source", "check_source", "compile_source", "register"]
