"""What vLLM's requests and their outputs are to the plug-in, as stand-ins.

``HOSTILE`` is a pattern whose compile takes too long.
"""

from types import SimpleNamespace

HOSTILE = r"(?!.*(a|b)*a(a|b){25}c).*"

MODEL = SimpleNamespace(is_diffusion=False, max_model_len=100, get_vocab_size=lambda: 300)


def params(**given):
    return SimpleNamespace(**{"_backend": None, **given})


def outputs(*reasons):
    async def generate():
        for reason in reasons:
            completion = SimpleNamespace(finish_reason=reason, token_ids=[] if reason == "error" else [1])
            yield SimpleNamespace(finished=reason is not None, outputs=[completion], prompt_token_ids=[1, 2])

    return generate()
