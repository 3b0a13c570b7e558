"""What a new query names and the graph does not have: most often it is misspelt.

The answer is right, and mostly empty; nothing else would say so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sqlglot import exp

from jobs.compute.engine import Engine
from jobs.compute.sql import all_of, column, one_of, rows_of, select, text
from jobs.maintain.tasks import Task
from jobs.near import near_iris
from jobs.plan.leaves import Scope
from jobs.rdf.replica_graphs import is_reserved
from lake.tables import TRIPLES

_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
_KNOWN = 5_000
"""So many predicates, or types, are compared with one that is not there."""
_SHOWN = 3
"""So much is said of a query."""


def unmatched(
    engine: Engine, tasks: Sequence[Task], graphs: Mapping[Scope, str]
) -> Iterator[tuple[str, str]]:
    """Of queries that are new or edited: their names, and what no triple of the graph has.

    Args:
        engine: knows `triples` and the relations of `graphs`.
        tasks: what is computed over the whole graph.
        graphs: per scope, the interval relation of its triples.
    """
    new = [task for task in tasks if task.mode in ("initial", "edited")]
    missing = {scope: _Missing.of(engine, scope, name, new) for scope, name in graphs.items()}
    if not any(each.predicates or each.types for each in missing.values()):
        return
    predicates = _known(engine, column("predicate"), [])
    types = _known(engine, column("object"), [column("predicate").eq(text(_TYPE))])
    if not predicates:
        # There is no graph yet.
        return
    for task in new:
        said: dict[str, None] = {}
        for seed in task.planned.seeds:
            shape, of_scope = seed.shape, missing.get(seed.scope)
            if of_scope is None:
                continue
            if shape.predicate in of_scope.predicates:
                said[_sentence("predicate", shape.predicate, predicates)] = None
            elif shape.predicate == _TYPE and shape.object in of_scope.types:
                said[_sentence("type", shape.object, types)] = None
        if said:
            yield task.query.name, "; ".join([*said][:_SHOWN])


class _Missing:
    """The constants of new queries that no triple of a scope has.

    Attributes:
        predicates: in the place of the predicate.
        types: as objects of rdf:type.
    """

    def __init__(self, predicates: frozenset[str], types: frozenset[str]) -> None:
        self.predicates, self.types = predicates, types

    @classmethod
    def of(cls, engine: Engine, scope: Scope, graph: str, tasks: Sequence[Task]) -> _Missing:
        shapes = [
            seed.shape for task in tasks for seed in task.planned.seeds if seed.scope == scope
        ]
        predicates = {each.predicate for each in shapes if each.predicate is not None}
        predicates = {each for each in predicates if not is_reserved(each)}
        types = {
            each.object for each in shapes if each.predicate == _TYPE and each.object is not None
        }
        return cls(
            frozenset(predicates - _present(engine, graph, column("predicate"), predicates, [])),
            frozenset(
                types
                - _present(
                    engine, graph, column("object"), types, [column("predicate").eq(text(_TYPE))]
                )
            ),
        )


def _present(
    engine: Engine, graph: str, place: exp.Column, wanted: set[str], where: list[exp.Expr]
) -> set[str]:
    if not wanted:
        return set()
    among = all_of([one_of(place.copy(), sorted(wanted)), *where])
    found = select(place, from_=rows_of(graph), where=[among], distinct=True)
    return {str(row[0]) for row in engine.rows(found)}


def _known(engine: Engine, place: exp.Column, where: list[exp.Expr]) -> list[str]:
    found = select(place, from_=rows_of(TRIPLES.name), where=where, distinct=True).limit(_KNOWN)
    return [str(row[0]) for row in engine.rows(found)]


def _sentence(kind: str, iri: str | None, known: Sequence[str]) -> str:
    assert iri is not None, "it is a constant"
    found = near_iris(iri, known)
    similar = f" (near: {', '.join(found)})" if found else ""
    what = "no triple has the predicate" if kind == "predicate" else "nothing has the type"
    return f"{what} {iri}{similar}"
