"""What of SPARQL 1.1 is refused, why, and what to write instead."""

from __future__ import annotations

from dataclasses import dataclass

from jobs.sparql.frontend.errors import UnsupportedQuery
from jobs.sparql.frontend.tree import Source

_UNSTABLE = "its value changes though no triple does, so an answer kept up to date has no meaning"


@dataclass(frozen=True, slots=True)
class Refusal:
    """A construct that is refused; the first of `keywords` in the text is where."""

    what: str
    keywords: tuple[str, ...]
    reason: str
    instead: str


def _unstable(name: str, instead: str) -> Refusal:
    return Refusal(f"{name}()", (name,), _UNSTABLE, instead)


REFUSALS: dict[str, Refusal] = {
    "DescribeQuery": Refusal(
        "DESCRIBE", ("DESCRIBE",), "SPARQL does not define its answer", "Write a CONSTRUCT query."
    ),
    "ServiceGraphPattern": Refusal(
        "SERVICE",
        ("SERVICE",),
        "a query reads only what has been ingested",
        "Declare the remote data as a source.",
    ),
    "Builtin_NOW": _unstable("NOW", "Write the moment as a constant, or filter the answer table."),
    "Builtin_RAND": _unstable("RAND", "Sample the answer table."),
    "Builtin_UUID": _unstable("UUID", "Write BNODE(), or a blank node into a CONSTRUCT template."),
    "Builtin_STRUUID": _unstable("STRUUID", "Write a hash of the values it stands for: MD5(...)."),
}


def refusal(construct: str, source: Source) -> UnsupportedQuery:
    """The error for a construct by the name of its production; an unknown one is refused as well.

    It is placed at the first of its keywords.
    """
    known = REFUSALS.get(construct)
    if known is None:
        return source.unsupported(
            construct, None, "unknown to Weir, and nothing is guessed", "Leave it out."
        )
    return source.unsupported(
        known.what, source.first_word(*known.keywords), known.reason, known.instead
    )
