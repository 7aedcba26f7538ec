"""The shortest way from where a guide stands to the end of its output."""

from __future__ import annotations

from interlock._core import Guide, InterlockError

__all__ = ["guide_of_shortest_way"]


def guide_of_shortest_way(guide: Guide, most: int | None = None) -> Guide | None:
    """A guide in the same place whose budget leaves room for a short way to the end alone. ``None`` where no way is
    known, and where the output would have more than ``most`` tokens in all.
    """
    try:
        whole = guide.num_tokens + guide.min_tokens_to_finish()
        # A budget holds at each token by what is known of the rest there, which may be more than was needed.
        for more in (0, 16, 64):
            if most is not None and whole + more > most:
                return None
            ahead = guide.index.guide(max_tokens=whole + more)
            if ahead.advance_many(guide.tokens) == guide.num_tokens:
                return ahead
    except InterlockError:
        pass
    return None
