"""The answers that a project whose graph changes by change sets must have, by pyoxigraph."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

import pyoxigraph as ox

from tests.support.oracles.answers import FALSE, TRUE
from tests.support.projects.project import Project, Solution, solution
from weir.plan.lower import CONSTRUCT_COLUMNS

_FROM = re.compile(r"FROM <([^>]*)>")


def check_answers(project: Project, name: str, first: int, last: int) -> None:
    """Compare the published answer with pyoxigraph's at every epoch of `first`..`last`."""
    query, quads = (project.folder / f"queries/{name}.rq").read_text(), states(project)
    for epoch in range(first, last + 1):
        assert project.answer(name, epoch) == evaluate(query, quads[epoch - 1]), (name, epoch)


def states(project: Project) -> list[frozenset[ox.Quad]]:
    """The quads that hold after each change set of a project."""
    held: set[ox.Quad] = set()
    after = []
    for file in project.change_sets:
        for line in file.read_text().splitlines():
            if line[:2] in ("A ", "D "):
                (quad,) = ox.parse(line[2:].encode(), format=ox.RdfFormat.N_QUADS)
                (held.add if line[0] == "A" else held.discard)(quad)
        after.append(frozenset(held))
    return after


def evaluate(query: str, quads: Iterable[ox.Quad]) -> Counter[Solution]:
    """The answer of a query over the merge of all graphs, or of those after FROM.

    The merge is made here: pyoxigraph counts a triple once per graph.
    """
    graphs = {ox.NamedNode(graph) for graph in _FROM.findall(query)}
    store = ox.Store()
    store.extend(
        ox.Quad(quad.subject, quad.predicate, quad.object)
        for quad in quads
        if not graphs or quad.graph_name in graphs
    )
    return solutions(store, _FROM.sub("", query))


def solutions(store: ox.Store, query: str) -> Counter[Solution]:
    """The answer of a query over a store, as the columns of a published one have it."""
    result = store.query(query)
    if isinstance(result, ox.QueryBoolean):
        return Counter([(("answer", TRUE if result else FALSE),)])
    if isinstance(result, ox.QueryTriples):
        triples = {(t.subject, t.predicate, t.object) for t in result}
        return Counter(
            solution(dict(zip(CONSTRUCT_COLUMNS, triple, strict=True))) for triple in triples
        )
    names = [variable.value for variable in result.variables]
    return Counter(solution({name: row[name] for name in names}) for row in result)
