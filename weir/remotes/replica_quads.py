"""The rows of a replica as quads: a node for each mapping, with a quad for each term it binds.

`weir.plan.services` has the plan that reads them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from weir.rdf.reserved_graphs import MARK, replica_graph, replica_predicate
from weir.remotes.key_rows import MAPPING, mapping_of

Quad = tuple[str, str, str, str]
"""Graph, subject, predicate, object, in N-Triples form."""


@dataclass(frozen=True, slots=True)
class RowPattern:
    """What the rows of a block have.

    Attributes:
        remote: the IRI of the remote, in N-Triples form.
        id: of the pattern (`weir.sparql.algebra.services.pattern_id`).
        is_marked: whether a row has a mark, because its mapping may bind nothing.
    """

    remote: str
    id: str
    is_marked: bool

    def quads_of(self, mapping: Mapping[str, str], ordinals: Iterable[int]) -> Iterator[Quad]:
        """The quads of some of the equal rows of a mapping, by their numbers from 1.

        Args:
            mapping: the terms of the variables that it binds, in N-Triples form.
            ordinals: up to the number of times that the remote gives it.
        """
        graph = replica_graph(self.remote)
        for ordinal in ordinals:
            row = self._row(mapping, ordinal)
            if self.is_marked:
                yield graph, row, replica_predicate(self.id), MARK
            for variable, term in mapping.items():
                yield graph, row, replica_predicate(self.id, variable), term

    def _row(self, mapping: Mapping[str, str], ordinal: int) -> str:
        content = json.dumps([self.remote, self.id, sorted(mapping.items()), ordinal])
        return f"_:r{hashlib.sha256(content.encode()).hexdigest()[:32]}"


def changes_of(
    rows: Iterable[Mapping[str, Any]], patterns: Mapping[str, RowPattern]
) -> Iterator[tuple[bool, Quad]]:
    """The quads that appear (True) and vanish (False) by a round.

    Args:
        rows: of the round.
        patterns: by id, what the rows of each pattern have.

    Raises:
        KeyError: a row is of another pattern.
    """
    for row in rows:
        if row["part"] != MAPPING:
            continue
        before, after = row["before"], row["multiplicity"]
        ordinals = range(min(before, after) + 1, max(before, after) + 1)
        mapping = dict(mapping_of(row["mapping"]))
        for quad in patterns[row["pattern"]].quads_of(mapping, ordinals):
            yield after > before, quad
