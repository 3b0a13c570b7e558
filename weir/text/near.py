"""What was probably meant by a name that is not known."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

_SHOWN = 2
_CUTOFF = 0.7
_LOCAL = re.compile(r"([^/#:]*)>?\Z")


def near(name: str, known: Iterable[str]) -> list[str]:
    """The names that are nearest to one that is not known, the nearest first; mostly none."""
    by_folded: dict[str, str] = {}
    for each in known:
        by_folded.setdefault(each.casefold(), each)
    found = get_close_matches(name.casefold(), [*by_folded], _SHOWN, _CUTOFF)
    return [by_folded[folded] for folded in found]


def near_iris(iri: str, known: Iterable[str]) -> list[str]:
    """The IRIs whose last parts are nearest to that of one that is not known.

    In N-Triples form. Those that begin as it does come first.
    """
    local, locals_ = _local(iri), dict[str, list[str]]()
    for each in known:
        locals_.setdefault(_local(each), []).append(each)
    names = get_close_matches(local, [*locals_], _SHOWN, _CUTOFF)
    begin = iri.removesuffix(">").removesuffix(local)
    found = [each for name in names for each in locals_[name] if each != iri]
    return sorted(found, key=lambda each: not each.startswith(begin))[:_SHOWN]


def meant(name: str, known: Iterable[str]) -> str:
    """A question that names what is near, to stand before a hint; empty if nothing is."""
    found = near(name, known)
    return f"Did you mean {' or '.join(found)}? " if found else ""


def _local(iri: str) -> str:
    found = _LOCAL.search(iri)
    assert found is not None, "it may be empty"
    return found[1]
