"""The golden fixtures of the papers (format: `examples/README.md` beside them)."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyoxigraph as ox

from tests.support.generators.basic_cases import Quad

Row = tuple[tuple[str, str], ...]
"""Bindings of a solution: (variable, term), sorted."""


@dataclass(frozen=True)
class Fixture:
    """A query, a base graph, updates, and the deltas that each must give.

    `bag_query` is the query without DISTINCT, if its deltas differ.
    """

    name: str
    query: str
    bag_query: str | None
    base: frozenset[Quad]
    updates: tuple[tuple[frozenset[Quad], frozenset[Quad]], ...]
    expected: dict[str, Any]

    @property
    def history(self) -> tuple[tuple[frozenset[Quad], frozenset[Quad]], ...]:
        """The base as the first epoch, then the updates, without changes that have no effect."""
        present: set[Quad] = set()
        epochs = []
        for vanish, appear in ((frozenset(), self.base), *self.updates):
            gone = frozenset(vanish & present) - appear
            new = frozenset(appear - present)
            epochs.append((gone, new))
            present = (present - gone) | new
        return tuple(epochs)

    @property
    def deltas(self) -> list[Counter[Row]]:
        """Per epoch of `history`, the signed answers."""
        return self._signed_steps("initial", "deltas")

    @property
    def bag_deltas(self) -> list[Counter[Row]]:
        """Per epoch of `history`, the signed answers of `bag_query`."""
        return self._signed_steps("initial_bag", "deltas_bag")

    def _signed_steps(self, initial: str, deltas: str) -> list[Counter[Row]]:
        steps = [self.expected[initial], *(step[deltas] for step in self.expected["steps"])]
        return [_signed(step) for step in steps]


def read_fixture(folder: Path) -> Fixture:
    """The fixture in a folder."""
    updates = []
    for file in sorted((folder / "updates").glob("*.nqp")):
        lines = file.read_text().splitlines()
        vanish, appear = (
            _quads("\n".join(line[2:] for line in lines if line.startswith(letter + " ")))
            for letter in "DA"
        )
        updates.append((vanish, appear))
    bag = folder / "query-bag.rq"
    return Fixture(
        folder.name,
        (folder / "query.rq").read_text(),
        bag.read_text() if bag.exists() else None,
        _quads((folder / "base.nq").read_text()),
        tuple(updates),
        json.loads((folder / "expected.json").read_text()),
    )


def _quads(text: str) -> frozenset[Quad]:
    def graph(quad: ox.Quad) -> str:
        return "" if isinstance(quad.graph_name, ox.DefaultGraph) else str(quad.graph_name)

    parsed = ox.parse(text.encode(), format=ox.RdfFormat.N_QUADS)
    return frozenset((graph(q), str(q.subject), str(q.predicate), str(q.object)) for q in parsed)


def _signed(deltas: list[dict[str, Any]]) -> Counter[Row]:
    signed: Counter[Row] = Counter()
    for delta in deltas:
        signed[tuple(sorted(delta["bindings"].items()))] += delta["delta"]
    return signed
