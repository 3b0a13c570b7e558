"""A term as a text with prefixes has it."""

from __future__ import annotations

import re
from collections.abc import Mapping

_LOCAL = re.compile(r"\w(?:[\w.-]*[\w-])?")
"""What may be left of an IRI after a prefix: what needs no escapes."""


def short_term(term: str, prefixes: Mapping[str, str]) -> str:
    """A term in N-Triples form; an IRI shortened by the longest prefix that leaves a plain name."""
    if not term.startswith("<"):
        return term
    iri = term[1:-1]
    for prefix, begin in sorted(prefixes.items(), key=lambda item: -len(item[1])):
        if iri.startswith(begin) and _LOCAL.fullmatch(iri[len(begin) :]):
            return f"{prefix}:{iri[len(begin) :]}"
    return term
