"""The triples that make an atom that rules read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from weir.compute.protocol import SqlEngine
from weir.compute.sql import column, columns, rows_of, select, text
from weir.engine.graph import POSITIONS
from weir.lars.atoms import AtomPattern
from weir.sparql.algebra.expressions import Constant
from weir.sparql.algebra.patterns import TriplePattern
from weir.why.derivation_tree import MOST_SOLUTIONS
from weir.why.explanation import Triple


def triples_of(
    engine: SqlEngine, held: str, pattern: AtomPattern, values: Sequence[str]
) -> Sequence[Triple]:
    """Triples of the graph that make an atom.

    Args:
        engine: has the triples.
        held: the relation of those that hold, by `POSITIONS`.
        pattern: of the atom.
        values: its arguments.
    """

    def matching(wanted: Sequence[str | None]) -> Sequence[Triple]:
        where = [
            column(name).eq(text(term))
            for name, term in zip(POSITIONS, wanted, strict=True)
            if term is not None
        ]
        some = select(*columns(POSITIONS), from_=rows_of(held), where=where, limit=MOST_SOLUTIONS)
        return [(str(s), str(p), str(o)) for s, p, o in engine.rows(some)]

    return made_of(pattern, values, matching)


def made_of(
    pattern: AtomPattern,
    values: Sequence[str],
    matching: Callable[[Sequence[str | None]], Sequence[Triple]],
) -> Sequence[Triple]:
    """The triples of one solution of the pattern of an atom; none if there is no solution.

    Args:
        pattern: of the atom.
        values: its arguments.
        matching: the triples that have some terms; None stands for any.
    """
    bound = dict(zip(pattern.arguments, values, strict=True))
    return next(_solutions(pattern.triples, bound, matching), ())


def _solutions(
    patterns: Sequence[TriplePattern],
    bound: Mapping[str, str],
    matching: Callable[[Sequence[str | None]], Sequence[Triple]],
) -> Iterator[Sequence[Triple]]:
    """The triples of each solution of a pattern in which some variables have values."""
    if not patterns:
        yield ()
        return
    first, *others = patterns
    wanted = [
        node.term if isinstance(node, Constant) else bound.get(node.name) for node in first.nodes
    ]
    for triple in matching(wanted):
        values = dict(bound)
        for node, term in zip(first.nodes, triple, strict=True):
            own = node.term if isinstance(node, Constant) else values.setdefault(node.name, term)
            if own != term:
                break
        else:
            for rest in _solutions(others, values, matching):
                yield (triple, *rest)
