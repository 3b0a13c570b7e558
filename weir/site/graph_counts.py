"""How many triples the graph has of each predicate, and how many instances of each class; of the
largest of them, also over time.

What is known is extended by the epochs since, so that the cost follows the change.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Self

from sqlglot import exp

from weir.answers.logs import register_table
from weir.compute.sql import alias, bigint, column, number, one_of, rows_of, select, sum_of, text
from weir.lake.delta.bindings import Bindings
from weir.lake.lake import Lake
from weir.lake.tables import TRIPLES

_TYPE: Final = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
_LOG: Final = "triples log"
_MOST: Final = 100_000
"""Classes above which they are not counted: their counts are kept from one time to the next."""
_LARGEST: Final = 7
"""Classes and predicates whose counts over time are known."""
_POINTS: Final = 200
"""Most points of these."""
Series = Mapping[str, Sequence[tuple[int, int]]]
"""By term, its count from an epoch on."""
_VOID: Final = """@prefix void: <http://rdfs.org/ns/void#> .

<#graph> a void:Dataset ;
"""


@dataclass(frozen=True, slots=True)
class GraphCounts:
    """The counts at an epoch.

    Attributes:
        table_id: of the log of triples; empty if there is none.
        epoch: the epoch.
        predicates: numbers of triples by predicate.
        classes: numbers of instances by class; None if there are too many classes.
        predicates_over_time: those of the largest, as far back as the log goes.
        classes_over_time: the same of classes.
    """

    table_id: str
    epoch: int
    predicates: Mapping[str, int]
    classes: Mapping[str, int] | None
    predicates_over_time: Series = field(default_factory=dict)
    classes_over_time: Series = field(default_factory=dict)

    @classmethod
    def of(cls, bindings: Bindings, lake: Lake, head: int, known: Mapping[str, Any]) -> Self:
        """The counts at the newest epoch.

        Args:
            bindings: of a connection.
            lake: has the triples.
            head: the newest epoch.
            known: what `to_json` gave at an earlier epoch; empty at first.
        """
        log = lake.open(TRIPLES.name)
        table_id = "" if log is None else str(log.metadata().id)
        if known.get("table") != table_id or known["epoch"] > head:
            # It is another lake, or a copy of before.
            known = {}
        after = known.get("epoch", 0)
        predicates = dict(known.get("predicates", {}))
        classes = known.get("classes", {})
        of_predicates = _pairs(known.get("predicates_over_time", {}))
        of_classes = _pairs(known.get("classes_over_time", {}))
        if after >= head or log is None:
            return cls(table_id, after, predicates, classes, of_predicates, of_classes)
        with bindings.scope(), lake.using(TRIPLES.name):
            register_table(bindings, lake, TRIPLES.name, _LOG)
            changes = _Changes(bindings, "predicate", after, head)
            _add(predicates, changes.totals())
            of_predicates = changes.series(predicates, of_predicates)
            if classes is not None:
                classes, changes = dict(classes), _Changes(bindings, "object", after, head)
                _add(classes, changes.totals())
                classes = classes if len(classes) <= _MOST else None
                of_classes = changes.series(classes or {}, of_classes)
        return cls(table_id, head, predicates, classes, of_predicates, of_classes)

    def to_json(self) -> dict[str, Any]:
        """What is kept of them."""
        return {
            "table": self.table_id,
            "epoch": self.epoch,
            "predicates": self.predicates,
            "classes": self.classes,
            "predicates_over_time": self.predicates_over_time,
            "classes_over_time": self.classes_over_time,
        }

    def void(self, endpoint: str = "") -> str:
        """The counts as VoID, in Turtle; the dataset is `#graph`.

        https://www.w3.org/TR/void/

        Args:
            endpoint: the address at which the graph is queried; empty for none.
        """
        # A class that is a literal or a blank node has no name to be found by.
        classes = [pair for pair in _sorted(self.classes or {}) if pair[0].startswith("<")]
        lines = [f"    void:sparqlEndpoint <{endpoint}>"] if endpoint else []
        lines.append(f"    void:triples {sum(self.predicates.values())}")
        lines.append(f"    void:properties {len(self.predicates)}")
        if self.classes is not None:
            lines.append(f"    void:classes {len(self.classes)}")
        for predicate, triples in _sorted(self.predicates):
            lines.append(
                f"    void:propertyPartition [ void:property {predicate} ; void:triples {triples} ]"
            )
        for class_, entities in classes:
            lines.append(
                f"    void:classPartition [ void:class {class_} ; void:entities {entities} ]"
            )
        return _VOID + " ;\n".join(lines) + " .\n"


@dataclass(frozen=True, slots=True)
class _Changes:
    """How many more triples there are, by predicate, or by object of types."""

    bindings: Bindings
    of: str
    after: int
    head: int

    def totals(self) -> list[tuple[str, int]]:
        """By term, those of the epochs after `after`."""
        return self._rows([column(self.of)], [column("epoch") > number(self.after)])

    def series(self, counts: Mapping[str, int], known: Series) -> Series:
        """The counts over time of the largest terms.

        Args:
            counts: of all terms now.
            known: the series up to `after`; a term that is larger now than it was may have none.
        """
        largest = [term for term, _ in _sorted(counts)[:_LARGEST]]
        points = {term: [*known.get(term, ())] for term in largest}
        new = [term for term in largest if not points[term]]
        extended = [term for term in largest if points[term]]
        for term, epoch, more in (*self._by_epoch(new, 0), *self._by_epoch(extended, self.after)):
            if more:
                count = points[term][-1][1] if points[term] else 0
                points[term].append((epoch, count + more))
        return {term: _thinned(points[term]) for term in largest}

    def _by_epoch(self, terms: Sequence[str], after: int) -> list[tuple[str, int, int]]:
        if not terms:
            return []
        where = [column("epoch") > number(after), one_of(column(self.of), terms)]
        return sorted(self._rows([column(self.of), column("epoch")], where))

    def _rows(self, by: Sequence[exp.Expr], where: Sequence[exp.Expr]) -> list[Any]:
        where = [*where, column("epoch") <= number(self.head)]
        if self.of == "object":
            where.append(column("predicate").eq(text(_TYPE)))
        counted = select(
            *by,
            alias(bigint(sum_of(column("weight"))), "number"),
            from_=rows_of(_LOG),
            where=where,
            group_by=by,
        )
        return self.bindings.connection.execute(counted.sql(dialect="duckdb")).fetchall()


def _thinned(points: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Every second of too many points, the first and the last among them."""
    if len(points) <= _POINTS:
        return points
    return [points[0], *points[:0:-2][::-1]]


def _pairs(series: Mapping[str, Any]) -> Series:
    """A series as JSON gave it."""
    return {term: [(epoch, count) for epoch, count in points] for term, points in series.items()}


def _add(counts: dict[str, int], changes: Iterable[tuple[str, int]]) -> None:
    for term, more in changes:
        counts[term] = counts.get(term, 0) + more
        if not counts[term]:
            del counts[term]


def _sorted(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))
