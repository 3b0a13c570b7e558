"""The dataset of the reference evaluator: which triples and graphs a pattern is evaluated on."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tests.support.generators.basic_cases import Quad
from tests.support.oracles.reference_paths import Triple
from weir.sparql.algebra.queries import Dataset


@dataclass(frozen=True)
class Graphs:
    """What a pattern is evaluated on.

    Attributes:
        active: the triples of the active graph.
        named: the named graphs that GRAPH reads.
        given: the solution that an EXISTS is evaluated for: its values are substituted in every
            triple pattern, path and expression of the pattern.
        most: the most solutions that any part of a pattern may have.
    """

    active: frozenset[Triple]
    named: Mapping[str, frozenset[Triple]]
    given: Mapping[str, str]
    most: float = math.inf

    @classmethod
    def of(cls, quads: Iterable[Quad], dataset: Dataset = Dataset()) -> Graphs:  # noqa: B008
        """The graphs of a dataset; FROM NAMED names a graph even if it has no triples."""
        by_graph: dict[str, set[Triple]] = {}
        for graph, *triple in quads:
            s, p, o = triple
            by_graph.setdefault(graph, set()).add((s, p, o))
        if dataset.from_graphs is not None:
            merged: Iterable[str] = dataset.from_graphs
        else:
            merged = by_graph if dataset.default_graph == "union" else [""]
        names = (
            [graph for graph in by_graph if graph]
            if dataset.named_graphs is None
            else dataset.named_graphs
        )
        return cls(
            frozenset(triple for graph in merged for triple in by_graph.get(graph, ())),
            {name: frozenset(by_graph.get(name, ())) for name in names},
            {},
        )
