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
        found: dict[str, set[Triple]] = {}
        for graph, *triple in quads:
            s, p, o = triple
            found.setdefault(graph, set()).add((s, p, o))
        if dataset.from_graphs is not None:
            merged: Iterable[str] = dataset.from_graphs
        else:
            merged = found if dataset.default_graph == "union" else [""]
        names = (
            [graph for graph in found if graph]
            if dataset.named_graphs is None
            else dataset.named_graphs
        )
        return cls(
            frozenset(triple for graph in merged for triple in found.get(graph, ())),
            {name: frozenset(found.get(name, ())) for name in names},
            {},
        )
