"""Relative IRI references against a base: RFC 3986, section 5."""

from __future__ import annotations

import re

# RFC 3986, appendix B; groups: scheme, authority, path, query, fragment.
_PARTS = re.compile(
    r"(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?\Z", re.S
)


def is_absolute(reference: str) -> bool:
    """Whether `reference` has a scheme."""
    match = _PARTS.match(reference)
    return match is not None and match[1] is not None


def resolve(reference: str, base: str) -> str:
    """The IRI that `reference` names in a document with the absolute IRI `base` (5.2.2).

    An absolute IRI stays as it is written, as in the data: SPARQL resolves relative ones only.
    """
    scheme, authority, path, query, fragment = _split(reference)
    if scheme is not None:
        return reference
    of_base = _split(base)
    scheme = of_base[0]
    assert scheme is not None, "a base is absolute"
    if authority is not None:
        path = _remove_dot_segments(path)
    else:
        authority = of_base[1]
        if path == "":
            path = of_base[2]
            query = of_base[3] if query is None else query
        else:
            path = _remove_dot_segments(path if path[0] == "/" else _merge(of_base, path))
    return (
        f"{scheme}:"
        + ("" if authority is None else f"//{authority}")
        + path
        + ("" if query is None else f"?{query}")
        + ("" if fragment is None else f"#{fragment}")
    )


_Split = tuple[str | None, str | None, str, str | None, str | None]


def _split(reference: str) -> _Split:
    match = _PARTS.match(reference)
    assert match is not None, "every string matches: the path takes what is left"
    return match[1], match[2], match[3], match[4], match[5]


def _merge(base: _Split, path: str) -> str:
    if base[1] is not None and base[2] == "":
        return f"/{path}"
    return base[2][: base[2].rfind("/") + 1] + path


def _remove_dot_segments(path: str) -> str:
    """RFC 3986, 5.2.4."""
    kept: list[str] = []
    left = path
    while left:
        if left.startswith("../"):
            left = left[3:]
        elif left.startswith("./"):
            left = left[2:]
        elif left.startswith("/./") or left == "/.":
            left = "/" + left[3:]
        elif left.startswith("/../") or left == "/..":
            left = "/" + left[4:]
            if kept:
                kept.pop()
        elif left in (".", ".."):
            left = ""
        else:
            end = left.find("/", 1)
            end = len(left) if end < 0 else end
            kept.append(left[:end])
            left = left[end:]
    return "".join(kept)
