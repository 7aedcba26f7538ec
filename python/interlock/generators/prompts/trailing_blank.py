"""A prefill that ends with a blank, behind which a model writes unlikely tokens.

Tokenizers write a blank as one token with the word behind it. Behind a blank that stands alone a model cannot write
that token any more, and what it writes in its place was rare in its training text. Programs take the blank back, and
let the model choose the longer token (`interlock.programs.healing`); a prefill stands as it is, so its author is told.
"""

from __future__ import annotations

from itertools import islice

from interlock._core import Guide, Vocabulary
from interlock.integrations._prefilled import PrefilledIndex
from interlock.util.caller_warnings import warn_caller
from interlock.util.longest_tokens import longest_tokens, tokens_by_bytes
from interlock.util.quoting import quoted

__all__ = ["TrailingBlankWarning", "check_trailing_blank", "warn_trailing_blank"]

# So many longer tokens are tried.
_TRIED = 4096


class TrailingBlankWarning(UserWarning):
    """A chat ends with a message of the assistant whose last character is a blank, and the model would have written
    that blank as the beginning of a longer token.

    The value is of its type, and the model's choice may be a poor one. Leave the blank out: the model then writes it
    itself. Or let a program write the value behind the blank.
    """

    __module__ = "interlock"  # Where programs find it, as tracebacks should say.


def check_trailing_blank(begun: PrefilledIndex) -> None:
    """Warn if the prefill ends with a blank that is a token, and a longer token could have stood there."""
    if not begun.text.endswith(" "):
        return
    last = begun.vocabulary.token_bytes(begun.ids[-1])
    longer = (token for token in tokens_by_bytes(begun.vocabulary) if len(token) > len(last) and token.startswith(last))
    guide = begun.guide()
    if any(_fits(guide, token[len(last) :], begun.vocabulary) for token in islice(longer, _TRIED)):
        warn_trailing_blank(
            begun.text,
            ", or have a program write the value behind it, gen.program(messages).gen(None, output_type), which takes "
            "the blank back where a longer token fits",
        )


def _fits(guide: Guide, rest: bytes, vocabulary: Vocabulary) -> bool:
    """Whether the guide takes ``rest``."""
    ids, spelled = longest_tokens(vocabulary, rest)
    return spelled == len(rest) and guide.validate(ids) == len(ids)


def warn_trailing_blank(prefill: str, remedy: str = "") -> None:
    """Warn at the caller's line that ``prefill`` ends with a blank. ``remedy`` is what else may be done."""
    warn_caller(
        f"the chat ends with a message of the assistant, {quoted(prefill)}, whose last character is a blank. Models "
        "write a blank as one token with the word behind it, and choose worse behind one that stands alone: leave it "
        f"out, so that the model writes it{remedy}",
        TrailingBlankWarning,
    )
