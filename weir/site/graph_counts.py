"""How many triples the graph has of each predicate, and how many instances of each class.

What is known is extended by the epochs since, so that the cost follows the change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from weir.answers.logs import register_table
from weir.compute.sql import alias, bigint, column, number, rows_of, select, sum_of, text
from weir.lake.delta.bindings import Bindings
from weir.lake.lake import Lake
from weir.lake.tables import TRIPLES

_TYPE: Final = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
_LOG: Final = "triples log"
_MOST: Final = 100_000
"""Classes above which they are not counted: their counts are kept from one time to the next."""
_VOID: Final = """@prefix void: <http://rdfs.org/ns/void#> .

<#graph> a void:Dataset ;
"""


@dataclass(frozen=True, slots=True)
class GraphCounts:
    """The counts at an epoch.

    Attributes:
        epoch: the epoch.
        predicates: numbers of triples by predicate.
        classes: numbers of instances by class; None if there are too many classes.
    """

    epoch: int
    predicates: Mapping[str, int]
    classes: Mapping[str, int] | None

    @classmethod
    def of(cls, bindings: Bindings, lake: Lake, head: int, known: Mapping[str, Any]) -> Self:
        """The counts at the newest epoch.

        Args:
            bindings: of a connection.
            lake: has the triples.
            head: the newest epoch.
            known: what `to_json` gave at an earlier epoch; empty at first.
        """
        after = known.get("epoch", 0)
        predicates = dict(known.get("predicates", {}))
        classes = known.get("classes", {})
        if after >= head or not lake.exists(TRIPLES.name):
            return cls(after, predicates, classes)
        with bindings.scope(), lake.using(TRIPLES.name):
            register_table(bindings, lake, TRIPLES.name, _LOG)
            _add(predicates, _changes(bindings, "predicate", after, head))
            if classes is not None:
                classes = dict(classes)
                _add(classes, _changes(bindings, "object", after, head))
                classes = classes if len(classes) <= _MOST else None
        return cls(head, predicates, classes)

    def to_json(self) -> dict[str, Any]:
        """What is kept of them."""
        return {"epoch": self.epoch, "predicates": self.predicates, "classes": self.classes}

    def void(self) -> str:
        """The counts as VoID, in Turtle."""
        lines = [f"    void:triples {sum(self.predicates.values())}"]
        for predicate, triples in _sorted(self.predicates):
            lines.append(
                f"    void:propertyPartition [ void:property {predicate} ; void:triples {triples} ]"
            )
        for class_, entities in _sorted(self.classes or {}):
            # A class that is a literal or a blank node has no name to be found by.
            if class_.startswith("<"):
                lines.append(
                    f"    void:classPartition [ void:class {class_} ; void:entities {entities} ]"
                )
        return _VOID + " ;\n".join(lines) + " .\n"


def _changes(bindings: Bindings, of: str, after: int, head: int) -> Iterator[tuple[str, int]]:
    """By predicate, or by object of types, how many more triples there are."""
    epoch = column("epoch")
    where = [epoch > number(after), epoch <= number(head)]
    if of == "object":
        where.append(column("predicate").eq(text(_TYPE)))
    counted = select(
        column(of),
        alias(bigint(sum_of(column("weight"))), "number"),
        from_=rows_of(_LOG),
        where=where,
        group_by=[column(of)],
    )
    yield from bindings.connection.execute(counted.sql(dialect="duckdb")).fetchall()


def _add(counts: dict[str, int], changes: Iterator[tuple[str, int]]) -> None:
    for term, more in changes:
        counts[term] = counts.get(term, 0) + more
        if not counts[term]:
            del counts[term]


def _sorted(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))
