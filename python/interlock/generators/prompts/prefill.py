"""Prefill: a chat that ends with a message of the assistant, which the model goes on with.

A chat template that opens the model's turn writes that message as one that has ended, and a new turn behind it. So the
chat is written with a mark behind the last message, and cut off there. transformers does the same for
``continue_final_message``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from interlock._core import ArgumentError, Index, InterlockError, LimitError, UnsupportedError
from interlock.explain import explain
from interlock.generators.call_arguments.prefill_text import prefill_of
from interlock.generators.prompts.chat_content import templated
from interlock.generators.prompts.trailing_blank import check_trailing_blank
from interlock.integrations._prefilled import PrefilledIndex
from interlock.util.longest_tokens import longest_tokens
from interlock.util.quoting import quoted, shortened

__all__ = ["chat_up_to_prefill", "prefilled", "templated_up_to_prefill"]

Messages = list[dict[str, Any]]

_MARK = "qzxPREFILLxzq"
_IN_A_PROGRAM = (
    "; or, for a text in front of the value, have a program write the value behind it, "
    "gen.program(messages).gen(None, output_type)"
)


def templated_up_to_prefill(tokenizer: Any, messages: Messages, tools: Any = None) -> str:
    """``chat_up_to_prefill`` by the chat template of a tokenizer that has ``apply_chat_template``."""
    more = {} if tools is None else {"tools": tools}

    def render(chat: Messages) -> str:
        return str(tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=False, **more))

    return chat_up_to_prefill(messages, lambda chat: templated(tokenizer, chat, tools), render)


def chat_up_to_prefill(messages: Messages, fitted: Callable[[Messages], Messages], render: Callable[..., str]) -> str:
    """A chat that ends with a prefill, as the template writes it up to the prefill's end. ``fitted`` gives contents
    the form that the template reads, and ``render`` writes a chat without opening a turn.

    ``ArgumentError`` where the template does not write the last message.
    """
    prefill = prefill_of(messages) or ""
    # What a template makes of a text may depend on it, so the text is tried first, and the mark alone then.
    for text in dict.fromkeys((prefill + _MARK, _MARK)):
        marked = fitted([*messages[:-1], {**messages[-1], "content": text}])
        try:
            whole, found, _ = render(marked).rpartition(_MARK)
        except Exception as error:
            raise ArgumentError(
                f"the chat template writes no chat that ends with a message of the assistant: {error}. Leave the "
                "message out, and the model begins its answer itself"
            ) from error
        if found and whole.endswith(prefill):
            return whole
        if found and text == _MARK:
            return whole + prefill
    raise ArgumentError(
        "the chat template does not write the assistant's message at the end of the chat, so the model cannot go on "
        "with it: leave the message out"
    )


def prefilled(
    index: Index,
    prefill: str | None,
    prompt_ids: Sequence[int],
    what: str,
    remedy: str = _IN_A_PROGRAM,
    with_blanks: Callable[[str], Index] | None = None,
) -> Index | PrefilledIndex:
    """``index`` behind a prefill, whose tokens the prompt's end with. ``what`` is what the index permits,
    ``remedy`` how else a text may stand in front of it, and ``with_blanks`` makes it with other blanks of JSON.

    ``ArgumentError`` for a prefill that begins no output, with the place where it goes wrong. One that ends with a
    blank warns, see ``trailing_blank``.
    """
    if not prefill:
        return index
    try:
        begun = PrefilledIndex(index, prefill, prompt_ids)
    except ArgumentError as error:
        raise _no_beginning(index, prefill, what, remedy, with_blanks) from error
    check_trailing_blank(begun)
    return begun


def _no_beginning(
    index: Index, prefill: str, what: str, remedy: str, with_blanks: Callable[[str], Index] | None
) -> ArgumentError:
    said = (
        f"the chat ends with a message of the assistant, {quoted(prefill)}, which the model goes on with, and no "
        f"{what} begins with it"
    )
    try:
        found = explain(index, prefill)
    except InterlockError:
        return ArgumentError(f"{said}: leave the message out{remedy}")
    rest = prefill[found.character :]
    why = f": {quoted(rest, 20)} at character {found.character} is refused"
    expected = shortened(found.forced.decode("utf-8", "replace"), 40)
    if expected:
        why += f", {expected!r} must come there"
    hints = [problem.hint or problem.message for problem in found.problems if "text ends" not in problem.message]
    if way := _other_blanks(index, prefill, with_blanks):
        return ArgumentError(f"{said}{why}. {way}")
    # A text in front of the value is no slip in it.
    if found.character and hints:
        why += f" ({hints[0]})"
    return ArgumentError(f"{said}{why}. Leave the message out{remedy}")


def _other_blanks(index: Index, prefill: str, with_blanks: Callable[[str], Index] | None) -> str:
    """What is to be done where blanks alone keep a prefill from beginning an output; empty where they do not."""
    bare = prefill.strip()
    if bare != prefill and bare and _begins(index, bare):
        return f"Leave out the blanks around it, and begin with {quoted(bare)}"
    for blanks in ("spaced", "compact", "flexible") if with_blanks is not None else ():
        try:
            fits = with_blanks is not None and _begins(with_blanks(blanks), prefill)
        except (LimitError, UnsupportedError):
            continue
        if fits:
            return f"Pass whitespace={blanks!r}, which has the blanks of this message"
    return ""


def _begins(index: Index, text: str) -> bool:
    ids, at = longest_tokens(index.vocabulary, text.encode())
    return at == len(text.encode()) and index.guide().advance_many(ids) == len(ids)
