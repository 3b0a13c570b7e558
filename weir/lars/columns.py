"""The columns of published atoms; importing them does not import the grammar."""

from __future__ import annotations

PREDICATE = "predicate"
"""The column with the predicate of an atom, as a literal: all columns of answers are RDF terms."""

TRIPLE_COLUMNS = ("subject", "predicate", "object")
"""The columns of a triple, which is the answer of a program that gives a graph."""


def argument_columns(arity: int) -> tuple[str, ...]:
    """The columns of an atom's arguments: a1, a2, ..."""
    return tuple(f"a{i}" for i in range(1, arity + 1))


def predicate_term(predicate: str) -> str:
    """A predicate as an RDF literal."""
    return f'"{predicate}"'
