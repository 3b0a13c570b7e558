"""What a review computes beside a lake: of programs, on Spark, with a lake in an object store."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from bench.object_store import Store
from tests.end_to_end.test_object_store import CHANGES, project_in
from tests.support.opened import opened
from tests.support.projects.graphs import FIRST, NAMES, ingest_change_sets
from tests.support.projects.project import Project
from tests.support.streams.projects import OFTEN, SEEN, event_project, readings
from weir.compute.session import Spark
from weir.definitions.catalog import Catalog
from weir.progress.completion import Completion
from weir.project import Project as OpenedProject
from weir.review.differences import differences
from weir.review.edits import edits_of_published
from weir.stage import silent

PROGRAM = """\
%+ stream: readings
%+ unit: PT5S
%+ prefixes: {"": "http://example.org/"}
%+ atoms: {"of(S)": "?R :of ?S"}
@T seen(S) <- win^3 @T of(S).
"""


def announced(project: OpenedProject) -> dict[str, Counter[tuple[Any, ...]]]:
    """By query, the rows that `weir diff` has with their weights."""
    lake = project.open_lake()
    catalog, completion = Catalog.of(project.settings), Completion.read(lake)
    edits = [*edits_of_published(project.settings, catalog, completion)]
    rows = {}
    for one in differences(project, edits, 0, silent):
        assert not one.error
        rows[one.name] = Counter({tuple(map(str, row)): weight for weight, *row in one.rows})
    return rows


def published(project: Project, name: str, *left_out: str) -> Counter[tuple[Any, ...]]:
    """The sums of the weights of a published log by its rows, without some columns."""
    total: Counter[tuple[Any, ...]] = Counter()
    for row in project.table(f"answers/{name}"):
        weight = row.pop("weight")
        kept = (value for column, value in row.items() if column not in ("epoch", *left_out))
        total[tuple(map(str, kept))] += weight
    return Counter({row: weight for row, weight in total.items() if weight})


def minus(
    rows: Counter[tuple[Any, ...]], others: Counter[tuple[Any, ...]]
) -> Counter[tuple[Any, ...]]:
    difference = Counter(rows)
    difference.subtract(others)
    return Counter({row: weight for row, weight in difference.items() if weight})


def test_a_program_is_computed_like_a_query(tmp_path: Path) -> None:
    project = event_project(tmp_path, "ASK { ?s ?p ?o }")
    project.write("events/1.ttl", readings(("a", 1), ("b", 2), ("b", 31), ("a", 95)))
    project.run()
    project.program("steady", PROGRAM)
    with opened(project.settings) as own:
        rows = announced(own)
    project.run()
    assert rows == {"steady": published(project, "steady")}
    assert rows["steady"]


def test_a_lake_in_a_store_is_only_read(tmp_path: Path, object_store: Store) -> None:
    address = object_store.empty()
    project = project_in(tmp_path, address, object_store)
    for change_set in CHANGES:
        project.change(*change_set)
    project.run()
    project.query("names", "SELECT ?x ?n WHERE { ?x <urn:knows> ?y . ?x <urn:name> ?n }")
    objects, answer = object_store.objects(address), published(project, "names", "event_time")
    before = objects.below("")
    with opened(project.settings) as own:
        rows = announced(own)
    assert objects.below("") == before
    project.run()
    assert rows == {"names": minus(published(project, "names", "event_time"), answer)}
    assert rows["names"]


def test_spark_computes_what_is_above_the_limits_of_the_driver(
    project: Project, quick_spark: Spark
) -> None:
    ingest_change_sets(project, FIRST)
    project.configure(driver_rows=0)
    project.query("names", NAMES)
    with opened(project.settings, quick_spark) as own:
        rows = announced(own)
    project.run(quick_spark)
    assert rows == {"names": published(project, "names", "event_time")}


def test_a_selection_of_a_run_has_the_queries_whose_streams_are_read(tmp_path: Path) -> None:
    project = event_project(tmp_path, SEEN)
    project.query("often", OFTEN)
    project.query("other", "ASK { ?s ?p ?o }")
    project.write("events/1.ttl", readings(("a", 1), ("b", 12), ("a", 25)))
    project.ingest()
    result = project.maintain(only=["often"])
    assert {*result.modes} == {"q", "often"}
    assert {*project.maintain().modes} == {"other"}
