"""Constrained decoding in SGLang: an installed interlock, and ``--grammar-backend interlock``.

``register`` is the entry point: SGLang calls it in each of its processes. It adds a name to the choices of
``--grammar-backend``; everything else is imported when a scheduler makes that backend. See docs/servers/sglang.md.
"""

from __future__ import annotations

import logging
from typing import Any

from interlock.integrations.server_counts import counts

__all__ = ["counts", "register"]

NAME = "interlock"
"""What follows ``--grammar-backend``."""


def register() -> None:
    """Make ``interlock`` a choice of ``--grammar-backend``. Nothing else changes until it is chosen.

    Called again, it does nothing. A program that makes ``sglang.Engine`` without the installed entry point calls it
    first, in a module that the engine's processes import too.
    """
    try:
        from sglang.srt import server_args
        from sglang.srt.constrained.base_grammar_backend import register_grammar_backend

        choices, add = server_args.GRAMMAR_BACKEND_CHOICES, server_args.add_grammar_backend_choices
    except (ImportError, AttributeError) as error:
        logging.getLogger(__name__).warning("this SGLang has no place for interlock, which it leaves out: %s", error)
        return
    register_grammar_backend(NAME, _make)
    if NAME not in choices:
        add([NAME])


def _make(server_args: Any, tokenizer: Any, vocab_size: int, eos_token_ids: Any = None) -> Any:
    from interlock.integrations.sglang._backend import make_backend

    return make_backend(server_args, tokenizer, vocab_size, eos_token_ids)
