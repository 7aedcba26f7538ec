"""Requests of a server of your own: the JSON body of a request in, an index, a guide and a reader of the output out.

``RequestCompiler`` has what a server decides once, and ``compile`` takes a body. Bodies are those of OpenAI's chat
completions and responses, with the fields that vLLM and SGLang add.

>>> from interlock.explain import byte_vocabulary
>>> compiler = RequestCompiler(byte_vocabulary(), format="hermes")
>>> request = compiler.compile({"messages": [], "guided_choice": ["yes", "no"], "max_tokens": 10})
>>> request.kind, request.max_tokens
('choice', 10)
"""

from interlock.serving.compiled_request import CompiledRequest
from interlock.serving.reply import Reply
from interlock.serving.request_bytes import parse_body
from interlock.serving.request_compiler import RequestCompiler

__all__ = ["CompiledRequest", "Reply", "RequestCompiler", "parse_body"]
