"""The changes of the demo's answers: per query and version, the rows added and removed."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from weir.lake.lake import Lake
from weir.lake.tables import ANSWER_COLUMNS, RUNS, TRANSACTIONS, answers

Row = tuple[str, ...]
PREFIXES = (
    ("https://brickschema.org/schema/1.1/Brick#", "brick1.1:"),
    ("https://brickschema.org/schema/Brick#", "brick:"),
    ("https://brickschema.org/schema/BrickTag#", "tag:"),
    ("https://brickschema.org/schema/BrickShape#", "bsh:"),
    ("https://w3id.org/rec#", "rec:"),
    ("http://qudt.org/vocab/unit/", "unit:"),
    ("http://qudt.org/vocab/quantitykind/", "quantity:"),
    ("http://www.w3.org/2004/02/skos/core#", "skos:"),
)
LONGEST = 48


@dataclass(frozen=True, slots=True)
class Delta:
    """The changes of the answer of one query by one version."""

    version: str
    added: Counter[Row]
    removed: Counter[Row]
    rows: int

    def examples(self, limit: int) -> list[str]:
        """At most `limit` rows as text; preferably those in which one value replaced another."""
        before, after = _by_first(self.removed), _by_first(self.added)
        replaced = [
            f"{key}: {', '.join(old)} -> {', '.join(new)}"
            for key in sorted(before.keys() & after.keys())
            if len(old := before[key]) == 1 and len(new := after[key]) == 1 and old != new
        ]
        added = [f"+ {' '.join(row)}" for row in sorted(map(_shown_row, self.added))]
        removed = [f"- {' '.join(row)}" for row in sorted(map(_shown_row, self.removed))]
        mixed = [line for pair in zip(added, removed, strict=False) for line in pair]
        return (replaced or mixed or added or removed)[:limit]


@dataclass(frozen=True, slots=True)
class Version:
    """One version of the ontology: the folder of its file, its epoch, its numbers of changes."""

    name: str
    epoch: int
    inserted: int
    deleted: int
    rejected: int


def versions(lake: str) -> list[Version]:
    """The ingested versions, in order."""
    rows = Lake(lake).rows(TRANSACTIONS.name).sort_by("epoch").to_pylist()
    counts = ("epoch", "inserted", "deleted", "rejected")
    return [Version(row["position"].split("/")[0], *(row[name] for name in counts)) for row in rows]


def stage_seconds(lake: str, since: datetime) -> dict[str, float]:
    """The seconds of each stage that ended after `since`, without its start-up."""
    rows = Lake(lake).rows(RUNS.name).sort_by("recorded_at").to_pylist()
    return {
        row["job"]: row["seconds"]
        for row in rows
        if row["recorded_at"] >= since and row["query"] is None and row["seconds"] is not None
    }


def deltas(lake: str, query: str) -> Iterator[Delta]:
    """The published answer of `query`, version by version."""
    table = Lake(lake).rows(answers(query, ()).name)
    variables = [name for name in table.column_names if name not in ANSWER_COLUMNS]
    by_epoch: dict[int, list[tuple[int, Row]]] = defaultdict(list)
    for record in table.to_pylist():
        row = tuple(record[name] or "" for name in variables)
        by_epoch[record["epoch"]].append((record["weight"], row))
    rows = 0
    for version in versions(lake):
        signed = by_epoch[version.epoch]
        rows += sum(weight for weight, _ in signed)
        yield Delta(version.name, _counted(signed, 1), _counted(signed, -1), rows)


def shown(term: str) -> str:
    """A term in short: IRIs with prefixes, literals without datatypes, long texts cut."""
    text = term
    if term.startswith("<"):
        text = term[1:-1]
        for namespace, prefix in PREFIXES:
            text = text.replace(namespace, prefix, 1)
    elif literal := re.fullmatch(r'"(.*)"(@[\w-]+|\^\^<.*>)?', term, re.DOTALL):
        tag = literal[2] or ""
        return f'"{_cut(literal[1])}"{tag if tag.startswith("@") else ""}'
    return _cut(text)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _shown_row(row: Row) -> Row:
    return tuple(shown(term) for term in row)


def _by_first(rows: Counter[Row]) -> dict[str, Sequence[str]]:
    rest: dict[str, list[str]] = defaultdict(list)
    for row in map(_shown_row, rows):
        if len(row) > 1:
            rest[row[0]].append(" ".join(row[1:]))
    return dict(rest)


def _counted(signed: Sequence[tuple[int, Row]], sign: int) -> Counter[Row]:
    counted: Counter[Row] = Counter()
    for weight, row in signed:
        if weight * sign > 0:
            counted[row] += abs(weight)
    return counted
