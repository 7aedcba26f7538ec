"""The shortest way from where a guide stands to the end of its output."""

from __future__ import annotations

from interlock._core import Guide, InterlockError

__all__ = ["guide_of_shortest_way"]


def guide_of_shortest_way(guide: Guide, most: int | None = None) -> Guide | None:
    """A guide in the same place whose budget leaves room for the shortest way to the end alone. ``None`` where
    no way is known, and where the output would have more than ``most`` tokens in all.
    """
    try:
        whole = guide.num_tokens + guide.min_tokens_to_finish()
        if most is not None and whole > most:
            return None
        ahead = guide.index.guide(max_tokens=whole)
    except InterlockError:
        return None
    ahead.advance_many(guide.tokens)
    return ahead
