"""What messages about an unknown name say: the known names, and those that are nearest to it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

_SHOWN = 2
_ENUMERATED = 20
_CUTOFF = 0.7
_LOCAL = re.compile(r"([^/#:]*)>?\Z")


def near(name: str, known: Iterable[str]) -> list[str]:
    """At most two known names that are near an unknown one, nearest first; mostly none."""
    by_folded: dict[str, str] = {}
    for other in known:
        by_folded.setdefault(other.casefold(), other)
    matches = get_close_matches(name.casefold(), [*by_folded], _SHOWN, _CUTOFF)
    return [by_folded[folded] for folded in matches]


def near_iris(iri: str, known: Iterable[str]) -> list[str]:
    """At most two known IRIs whose local names are near that of an unknown one.

    All are in N-Triples form. IRIs in the same namespace come first.
    """
    local, by_local = _local(iri), dict[str, list[str]]()
    for other in known:
        by_local.setdefault(_local(other), []).append(other)
    names = get_close_matches(local, [*by_local], _SHOWN, _CUTOFF)
    namespace = iri.removesuffix(">").removesuffix(local)
    matches = [other for name in names for other in by_local[name] if other != iri]
    return sorted(matches, key=lambda other: not other.startswith(namespace))[:_SHOWN]


def meant(name: str, known: Iterable[str]) -> str:
    """A question with the nearest names, to be put before a hint; empty if there are none."""
    names = near(name, known)
    return f"Did you mean {' or '.join(names)}? " if names else ""


def enumerated(names: Sequence[str]) -> str:
    """Names for a message, not more than a screen has; `none` if there are none."""
    shown = ", ".join(names[:_ENUMERATED]) or "none"
    more = len(names) - _ENUMERATED
    return f"{shown}, and {more:,} more" if more > 0 else shown


def _local(iri: str) -> str:
    match = _LOCAL.search(iri)
    assert match is not None, "it may be empty"
    return match[1]
