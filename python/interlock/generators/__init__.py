"""Generators: models that answer with values of Python types.

``generate`` is one call. ``from_transformers``, ``from_llama_cpp``, ``from_mlx_lm``, ``from_vllm`` and ``from_openai``
make a generator, which keeps the vocabulary and everything that it compiled; call it as often as you like. Importing
this module imports no backend.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Unpack, overload

from interlock._core import ArgumentError
from interlock.generators.base import DEFAULT_MAX_TOKENS, Generator, TextType
from interlock.generators.call_arguments.arguments import MISSING, check_prompt
from interlock.generators.call_options import CallOptions
from interlock.generators.local import LocalGenerator
from interlock.generators.replies.completion import Completion
from interlock.generators.stream import AsyncStream, Stream
from interlock.generators.tool_loop.stream import ToolResult, ToolStream
from interlock.output_types import InvalidOutputError
from interlock.util.argument_types import require
from interlock.util.near_words import telling_slips
from interlock.util.quoting import quoted

if TYPE_CHECKING:
    from interlock.generators.llama_cpp import LlamaCppGenerator
    from interlock.generators.mlx_lm import MlxLmGenerator
    from interlock.generators.openai import AsyncOpenAIGenerator, OpenAIGenerator
    from interlock.generators.transformers import TransformersGenerator
    from interlock.generators.vllm import VllmGenerator

__all__ = [
    "AsyncStream",
    "Completion",
    "Generator",
    "LocalGenerator",
    "Stream",
    "ToolResult",
    "ToolStream",
    "from_llama_cpp",
    "from_mlx_lm",
    "from_openai",
    "from_transformers",
    "from_vllm",
    "generate",
]

T = TypeVar("T")


@telling_slips
def from_transformers(
    model: Any, tokenizer: Any = MISSING, *, whitespace: str = "spaced", chat: bool | None = None
) -> TransformersGenerator:
    """A generator of a causal language model of transformers.

    ``model`` and ``tokenizer`` are what ``AutoModelForCausalLM`` and ``AutoTokenizer`` load. ``whitespace`` is the one
    of JSON: ``"spaced"`` (as ``json.dumps`` writes), ``"compact"``, ``"flexible"`` or a pattern. ``chat`` says whether
    a text is the user's turn of a chat or the beginning of what the model continues; by default it is a turn where the
    tokenizer has a chat template.

    A call takes the options of transformers' ``generate`` (``temperature``, ``top_p``, ``do_sample``, ``num_beams`` and
    so on), and ``seed``, ``chat``, ``jump_forward`` (``False`` asks the model for every token) and ``stats`` (a
    ``JumpForwardStats`` that counts). Naming an option of sampling turns sampling on; otherwise the model's generation
    config decides.

    ``ArgumentError`` for what is no model or no tokenizer, and for a tokenizer that cannot be the model's, with the
    numbers of tokens of both; a warning for one that hardly is. The errors of ``Vocabulary.from_tokenizer``. Reading
    the vocabulary takes some tenths of a second.

    Example::

        gen = interlock.from_transformers(model, tokenizer)
        user = gen("Make up a user.", User, max_tokens=100)
    """
    require(whitespace=(whitespace, "text"), chat=(chat, "flag?"))
    if isinstance(model, str):
        raise ArgumentError(
            f"{quoted(model)} is a name: load the model first,\n"
            f"    model = transformers.AutoModelForCausalLM.from_pretrained({quoted(model)})\n"
            f"    tokenizer = transformers.AutoTokenizer.from_pretrained({quoted(model)})\n"
            "and pass both, from_transformers(model, tokenizer)"
        )
    if tokenizer is MISSING:
        raise ArgumentError("the tokenizer is missing: from_transformers(model, tokenizer)")
    with _needs("transformers"):
        from interlock.generators.transformers import TransformersGenerator

    return TransformersGenerator(model, tokenizer, whitespace=whitespace, chat=chat)


@telling_slips
def from_llama_cpp(llama: Any, *, whitespace: str = "spaced", chat: bool | None = None) -> LlamaCppGenerator:
    """A generator of a ``llama_cpp.Llama``.

    A call takes the options of ``create_completion`` and ``create_chat_completion`` (``temperature``, ``top_p``,
    ``seed`` and so on). ``whitespace`` and ``chat`` are those of ``from_transformers``; a model file has a chat
    template where its metadata says so.

    Example::

        gen = interlock.from_llama_cpp(llama_cpp.Llama("model.gguf", n_ctx=4096))
        answer = gen("Is water wet?", Literal["yes", "no"])
    """
    require(whitespace=(whitespace, "text"), chat=(chat, "flag?"))
    with _needs("llama-cpp"):
        from interlock.generators.llama_cpp import LlamaCppGenerator

    return LlamaCppGenerator(llama, whitespace=whitespace, chat=chat)


@telling_slips
def from_mlx_lm(
    model: Any, tokenizer: Any = MISSING, *, whitespace: str = "spaced", chat: bool | None = None
) -> MlxLmGenerator:
    """A generator of a model that ``mlx_lm.load`` returned, with its tokenizer.

    A call takes the options of ``mlx_lm.sample_utils.make_sampler`` (``temperature``, ``top_p``, ``top_k``,
    ``min_p``), of ``mlx_lm.generate.generate_step``, and ``seed``. ``whitespace`` and ``chat`` are those of
    ``from_transformers``.

    Example::

        gen = interlock.from_mlx_lm(*mlx_lm.load(folder))
        numbers = gen("Three primes.", list[int], max_tokens=40)
    """
    require(whitespace=(whitespace, "text"), chat=(chat, "flag?"))
    if tokenizer is MISSING:
        raise ArgumentError(
            "the tokenizer is missing: from_mlx_lm(model, tokenizer), or from_mlx_lm(*mlx_lm.load(folder))"
        )
    with _needs("mlx"):
        from interlock.generators.mlx_lm import MlxLmGenerator

    return MlxLmGenerator(model, tokenizer, whitespace=whitespace, chat=chat)


@telling_slips
def from_vllm(llm: Any, *, chat: bool | None = None) -> VllmGenerator:
    """A generator of vLLM's offline ``LLM`` object, which enforces the output with the backend that it was made with.

    A call takes the fields of vLLM's ``SamplingParams``. A list of prompts is one batch. The token budget is vLLM's: an
    output that it cuts off is an ``InvalidOutputError``.

    Example::

        gen = interlock.from_vllm(vllm.LLM("Qwen/Qwen3-8B"))
        users = gen([f"Make up user {i}." for i in range(64)], User)
    """
    require(chat=(chat, "flag?"))
    with _needs("vllm"):
        from interlock.generators.vllm import VllmGenerator

    return VllmGenerator(llm, chat=chat)


@telling_slips
def from_openai(
    client: Any, model: str, *, server: Literal["openai", "vllm", "sglang"] = "openai"
) -> OpenAIGenerator | AsyncOpenAIGenerator:
    """A generator of a server with OpenAI's interface; an ``AsyncOpenAI`` client makes one whose calls are awaited.

    The server enforces the output. A JSON type is sent as ``response_format``. With ``server="vllm"`` or ``"sglang"``
    patterns and choices are sent in the field that the server has for them; OpenAI itself has none, and gets them as an
    object with one property. A call takes the fields of ``client.chat.completions.create``. An output that the server
    cuts off, or refuses to write, is an ``InvalidOutputError``.

    Example::

        gen = interlock.from_openai(openai.OpenAI(), model="gpt-4.1-mini")
        user = gen("Make up a user.", User)
    """
    from interlock.generators.openai import AsyncOpenAIGenerator, OpenAIGenerator, is_asynchronous

    require(model=(model, "text"), server=(server, "text"))
    kind = AsyncOpenAIGenerator if is_asynchronous(client) else OpenAIGenerator
    return kind(client, model, server=server)


@contextlib.contextmanager
def _needs(extra: str) -> Iterator[None]:
    """``ModuleNotFoundError`` that says what to install, where the backend's own packages are missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] == "interlock":
            raise
        message = f"{error.name} is not installed, and this backend needs it: pip install 'interlock[{extra}]'"
        raise ModuleNotFoundError(message, name=error.name) from error


# What generate compiled for each model, while the model lives: generators that have let go of their model.
_generators: weakref.WeakKeyDictionary[Any, tuple[Any, Generator]] = weakref.WeakKeyDictionary()


@overload
def generate(
    model: Any,
    tokenizer: Any,
    prompt: str | Sequence[Mapping[str, Any]],
    output_type: type[T],
    *,
    errors: Literal["raise"] = ...,
    max_tokens: int = ...,
    **options: Unpack[CallOptions],
) -> T: ...
@overload
def generate(
    model: Any,
    tokenizer: Any,
    prompt: str | Sequence[Mapping[str, Any]],
    output_type: TextType = ...,
    *,
    errors: Literal["raise"] = ...,
    max_tokens: int = ...,
    **options: Unpack[CallOptions],
) -> str: ...
@overload
def generate(
    model: Any,
    tokenizer: Any,
    prompt: str | Sequence[Mapping[str, Any]],
    output_type: type[T],
    *,
    errors: Literal["return"],
    max_tokens: int = ...,
    **options: Unpack[CallOptions],
) -> T | InvalidOutputError: ...
@overload
def generate(
    model: Any,
    tokenizer: Any,
    prompt: str | Sequence[Mapping[str, Any]],
    output_type: TextType = ...,
    *,
    errors: Literal["return"],
    max_tokens: int = ...,
    **options: Unpack[CallOptions],
) -> str | InvalidOutputError: ...
@overload
def generate(
    model: Any,
    tokenizer: Any,
    prompt: Any,
    output_type: Any = ...,
    *,
    max_tokens: int = ...,
    stream: bool = ...,
    errors: Literal["raise", "return"] = ...,
    details: bool = ...,
    **options: Unpack[CallOptions],
) -> Any: ...
def generate(
    model: Any,
    tokenizer: Any = None,
    prompt: Any = MISSING,
    output_type: Any = str,
    *more: Any,
    max_tokens: int = DEFAULT_MAX_TOKENS,
    **options: Any,
) -> Any:
    """A value of ``output_type`` that the model writes for ``prompt``: one call, from prompt to ``User``.

    ``model`` and ``tokenizer`` are those of transformers or mlx-lm; a ``llama_cpp.Llama`` and a ``vllm.LLM`` bring
    their tokenizer, and ``tokenizer`` is ``None``. The generator is kept while the model lives, so that a second call
    reads no vocabulary and compiles nothing again. Everything else is as for a call of a ``Generator``.

    Example::

        user = interlock.generate(model, tokenizer, "Make up a user.", User, max_tokens=100)
    """
    check_prompt(prompt, options)
    return _generator_of(model, tokenizer)(prompt, output_type, *more, max_tokens=max_tokens, **options)


def _generator_of(model: Any, tokenizer: Any) -> Generator:
    try:
        known = _generators.get(model)
    except TypeError:
        known = None
    if known is not None and known[0] is tokenizer:
        return known[1].of_model(model)
    roots = {kind.__module__.partition(".")[0] for kind in type(model).__mro__}
    made: Generator
    if isinstance(model, str) and (" " in model or isinstance(tokenizer, type)):
        raise ArgumentError(
            f"the model comes first, and {quoted(model)} is a text: generate(model, tokenizer, prompt, output_type)"
        )
    if isinstance(model, str):
        raise ArgumentError(
            f"{quoted(model)} is a name: load the model, AutoModelForCausalLM.from_pretrained({quoted(model)})"
        )
    if isinstance(model, Generator):
        raise ArgumentError("this is a generator already: call it, gen(prompt, output_type)")
    if {"llama_cpp", "vllm"} & roots and isinstance(tokenizer, str | list | tuple):
        raise ArgumentError(
            f"the second argument is the tokenizer, and {quoted(str(tokenizer))} is none. A llama_cpp.Llama and a "
            "vllm.LLM bring their own, so None stands there: generate(llama, None, prompt, output_type)"
        )
    if "llama_cpp" in roots:
        made = from_llama_cpp(model)
    elif "vllm" in roots:
        made = from_vllm(model)
    elif "openai" in roots:
        raise ArgumentError("a client names no model: interlock.from_openai(client, model=...) makes a generator")
    elif "mlx" in roots:
        made = from_mlx_lm(model, tokenizer)
    elif {"transformers", "torch", "peft"} & roots:
        made = from_transformers(model, tokenizer)
    else:
        raise ArgumentError(
            f"{type(model).__name__} is no model of transformers, mlx-lm, llama.cpp or vLLM: the arguments are model, "
            "tokenizer, prompt, output type, in this order"
        )
    with contextlib.suppress(TypeError):
        _generators[model] = (tokenizer, made.of_model(None))
    return made
