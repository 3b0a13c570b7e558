"""Checks that the graph equals the last version of each snapshot source."""

from __future__ import annotations

from collections.abc import Iterator

from weir.audit.checked import CheckOf
from weir.audit.unexpected import unexpected
from weir.compute.engine import Engine
from weir.compute.relations import LakeQuery, StoredTable
from weir.compute.sql import (
    alias,
    all_of,
    bigint,
    column,
    columns,
    number,
    one_of,
    rows_of,
    select,
    subquery,
    sum_of,
    union_all,
)
from weir.expectations.suite import QualityResult
from weir.ingest.changesets import AcceptedChangeSets, ChangeSet
from weir.ingest.netting import QUAD, present_in
from weir.ingest.pending import source_positions
from weir.ingest.reading import Reader
from weir.ingest.sources.all_sources import sources_of_file
from weir.lake.tables import GRAPHS, QUADS
from weir.project import Project

SOURCES = CheckOf(
    "is_what_sources_say",
    "The graphs of a snapshot source are the version that was ingested last, as it is now.",
)


def source_results(engine: Engine, project: Project, head: int) -> Iterator[QualityResult]:
    """Check that the graphs of each snapshot source are its last ingested version.

    A version that is gone, or that had rejected lines, is not compared.
    """
    lake = project.lake
    positions = source_positions(lake)
    graphs = lake.rows(GRAPHS.name, ["graph", "source"]).to_pylist()
    wrong: list[str] = []
    total = 0
    for declared in sources_of_file(project.settings):
        source = declared.called_first(positions[declared.name].first_name)
        last = positions[source.name].last
        newest = None if last is None else source.content(last)
        if newest is None:
            continue
        owned = [row["graph"] for row in graphs if row["source"] == source.name]
        if not _load(engine, project, newest, f"version_{source.name}"):
            continue
        query = _difference(f"version_{source.name}", owned, head)
        differing, examples = unexpected(engine, f"wrong_{source.name}", query)
        total += differing
        wrong += [f"source {source.name}, {last}: {example}" for example in examples]
    yield SOURCES.result(QUADS.name, wrong, total)


def _load(engine: Engine, project: Project, version: ChangeSet, relation: str) -> bool:
    """Make the relation of the rows of a version; false if it has anything to reject."""
    name = version.source.name
    accepted = AcceptedChangeSets({0: version})
    parsed = Reader(project, engine).parse(accepted, name)
    results = [document.result for document in parsed.documents.get(0, ())]
    if accepted.stopped or accepted.waiting or any(result.rejections for result in results):
        return False
    engine.load(relation, parsed.rows.changes)
    return True


def _difference(version: str, owned: list[str], head: int) -> LakeQuery:
    """How version and graph differ: QUAD, and `missing`: 1 if the graph lacks the quad, else -1."""
    stored = StoredTable(
        f"stored_{version}",
        QUADS.name,
        where=all_of([column("epoch") <= number(head), one_of(column("graph"), owned)])
        if owned
        else column("epoch") < number(0),
    )
    log = select(*columns((*QUAD, "weight")), from_=rows_of(stored.name))
    in_version = select(*columns(QUAD), from_=rows_of(version), distinct=True)
    both = union_all(
        [
            select(
                *columns(QUAD),
                alias(bigint(number(1)), "weight"),
                from_=subquery(in_version, "version"),
            ),
            select(
                *columns(QUAD),
                alias(bigint(number(-1)), "weight"),
                from_=subquery(present_in(log), "present"),
            ),
        ]
    )
    rows = select(
        *columns(QUAD),
        alias(bigint(sum_of(column("weight"))), "missing"),
        from_=subquery(both, "both"),
        group_by=columns(QUAD),
        having=sum_of(column("weight")).neq(number(0)),
    )
    return LakeQuery(rows, (stored,))
