"""The columns of published atoms; importing them does not import the grammar."""

from __future__ import annotations

PREDICATE = "predicate"
"""The column of an answer's predicate: a literal, as all columns of answers are RDF terms."""


def argument_columns(arity: int) -> tuple[str, ...]:
    """The columns of the arguments of an atom."""
    return tuple(f"a{i}" for i in range(1, arity + 1))


def predicate_term(predicate: str) -> str:
    """A predicate as an RDF term."""
    return f'"{predicate}"'
