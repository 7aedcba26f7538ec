"""References between documents as URIs: joined as the core joins them (``src/schema/uri.rs``).

Identifiers in real schemas are often no valid URIs, so nothing is validated, and a base may itself be relative or
empty. ``urllib`` joins only below schemes that it knows, and leaves ``../`` of relative bases as it is.
"""

from __future__ import annotations

import re

__all__ = ["joined"]

_PARTS = re.compile(r"(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?://([^/?]*))?([^?]*)(?:\?(.*))?", re.DOTALL)
"""Scheme, authority, path and query of a URI without a fragment; what is missing is ``None``."""


def joined(base: str, reference: str) -> str:
    """A reference seen from a base, both without fragments (RFC 3986, section 5.2).

    >>> joined("", "../m.json"), joined("s/r.json", "../m.json"), joined("http://h/a/b?q", "c"), joined("x:/a/b", "./c")
    ('m.json', 'm.json', 'http://h/a/c', 'x:/a/c')
    """
    if not reference:
        return base
    scheme, authority, path, query = _parts(base)
    own_scheme, own_authority, own_path, own_query = _parts(reference)
    if own_scheme is not None:
        if own_authority is None and not own_path.startswith("/"):
            return reference  # Opaque URIs such as `urn:` have no segments.
        return _written(own_scheme, own_authority, _without_dots(own_path), own_query)
    if own_authority is not None:
        return _written(scheme, own_authority, _without_dots(own_path), own_query)
    if not own_path:
        return _written(scheme, authority, path, query if own_query is None else own_query)
    if own_path.startswith("/"):
        folder = ""
    elif authority is not None and not path:
        folder = "/"
    else:
        folder = path[: path.rfind("/") + 1]
    return _written(scheme, authority, _without_dots(folder + own_path), own_query)


def _parts(uri: str) -> tuple[str | None, str | None, str, str | None]:
    found = _PARTS.fullmatch(uri)
    assert found is not None  # Each part may be missing, and the path takes what is left.
    return found[1], found[2], found[3], found[4]


def _written(scheme: str | None, authority: str | None, path: str, query: str | None) -> str:
    front = (f"{scheme}:" if scheme is not None else "") + (f"//{authority}" if authority is not None else "")
    return front + path + (f"?{query}" if query is not None else "")


def _without_dots(path: str) -> str:
    """A path without the segments ``.`` and ``..``; one of them at the end leaves the folder."""
    segments = path.removeprefix("/").split("/")
    if not {".", ".."} & set(path.split("/")):
        return path
    kept: list[str] = []
    for segment in segments:
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in (".", ".."):
        kept.append("")
    return ("/" if path.startswith("/") else "") + "/".join(kept)
