"""Queries of one shape are computed together, and each ends as if it had been computed alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.oracles.projects import check_answers
from tests.support.projects.graphs import FIRST, LATER, ingest_change_sets, knows, name
from tests.support.projects.project import Project
from weir.compute.duck import DuckEngine
from weir.compute.engine import Engine
from weir.compute.relations import Statement
from weir.errors import WeirError
from weir.maintain import new_rows, same_shape

pytestmark = pytest.mark.usefixtures("sampled")

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PEOPLE = ("a", "b", "c", "d")
SHAPES = {
    "star": "SELECT ?p ?o {{ <urn:{0}> ?p ?o }}",
    "known": "SELECT ?x ?n {{ ?x <urn:knows> <urn:{0}> . ?x <urn:name> ?n }}",
    "optional": "SELECT * {{ <urn:{0}> <urn:knows> ?b OPTIONAL {{ ?b <urn:name> ?n }} }}",
    "counted": "SELECT (COUNT(*) AS ?k) {{ ?x <urn:knows> <urn:{0}> }}",
    "grouped": "SELECT ?x (COUNT(?y) AS ?k) {{ ?x <urn:knows> ?y FILTER(?y != <urn:{0}>) }} "
    "GROUP BY ?x",
    "lacking": "SELECT ?x {{ ?x <urn:name> ?n FILTER NOT EXISTS {{ ?x <urn:knows> <urn:{0}> }} }}",
    "asked": "ASK {{ ?x <urn:knows> <urn:{0}> . <urn:{0}> <urn:name> ?n }}",
    "first": "SELECT ?x {{ ?x <urn:knows> ?y FILTER(?y != <urn:{0}>) }} ORDER BY ?x LIMIT 1",
    "reached": "SELECT ?x {{ <urn:{0}> <urn:knows>+ ?x }}",
    "given": "SELECT ?v ?n {{ VALUES ?v {{ <urn:{0}> 1 }} ?v <urn:name> ?n }}",
    "made": "CONSTRUCT {{ _:b <urn:of> <urn:{0}> ; <urn:is> ?x }} {{ ?x <urn:knows> <urn:{0}> }}",
    "product": "SELECT * {{ ?x <urn:knows> <urn:{0}> . <urn:{0}> <urn:name> ?n . "
    "?c <urn:name> 'C' }}",
}
CHANGES = (*LATER, ("A " + name("a", "A"), "A " + knows("d", "a")), ("D " + name("a", "A"),))


def register(project: Project, names: Iterable[str] = SHAPES) -> None:
    for shape in names:
        for person in PEOPLE:
            project.query(f"{shape}_{person}", SHAPES[shape].format(person))


def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every query is computed by itself."""
    monkeypatch.setattr(same_shape, "_MEMBERS", 1)
    monkeypatch.setattr(same_shape, "_MEMBERS_WITH_STATE", 1)


def stored(project: Project) -> dict[str, Counter[tuple[Any, ...]]]:
    """The rows of every embedding table."""
    files = sorted((project.folder / "queries").glob("*.rq"))
    return {
        file.stem: Counter(tuple(row.items()) for row in project.table(f"embeddings/{file.stem}"))
        for file in files
    }


@pytest.mark.usefixtures("slow")
def test_each_query_of_a_shape_stores_what_it_stores_alone(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From nothing, in runs of one and several epochs, with new, edited and removed members."""
    register(project)
    ingest_change_sets(project, FIRST)
    other = project.copy(tmp_path / "alone")
    steps: list[dict[str, str | None]] = [
        {},
        {},
        {
            "star_a": None,
            "star_e": SHAPES["star"].format("e"),
            "first_b": SHAPES["first"].format("c"),
        },
        {},
        {"counted_a": SHAPES["counted"].format("z"), "optional_a": SHAPES["star"].format("a")},
        {},
    ]
    for change_set, edits in zip(CHANGES, steps, strict=True):
        for side in (project, other):
            for query, text in edits.items():
                if text is None:
                    side.remove_query(query)
                else:
                    side.query(query, text)
            with monkeypatch.context() as patched:
                if side is other:
                    alone(patched)
                result = side.maintain()
            assert result.failures == []
            if side is project:
                modes = result.modes
            else:
                assert result.modes == modes
            side.change(*change_set)
        assert stored(project) == stored(other)
    project.maintain()
    with monkeypatch.context() as patched:
        alone(patched)
        other.maintain()
    assert stored(project) == stored(other)
    project.stages("validate", "publish")
    last = len(project.change_sets)
    for query in stored(project):
        if not query.startswith(("first", "made")):
            check_answers(project, query, last, last)


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Counts the statements that DuckDB runs, the tables that are opened and the commits."""
    counts: Counter[str] = Counter()
    make, rows, opened = DuckEngine.make, DuckEngine.rows, Engine.open
    write, write_rows = Engine.write, Engine.write_rows

    def counted(name: str, function: Any) -> Any:
        def run(*args: Any, **options: Any) -> Any:
            counts[name] += 1
            return function(*args, **options)

        return run

    monkeypatch.setattr(DuckEngine, "make", counted("statements", make))
    monkeypatch.setattr(DuckEngine, "rows", counted("statements", rows))
    monkeypatch.setattr(Engine, "open", counted("tables", opened))
    monkeypatch.setattr(Engine, "write", counted("commits", write))
    monkeypatch.setattr(Engine, "write_rows", counted("commits", write_rows))
    return counts


def test_statements_do_not_grow_with_the_members_and_tables_with_those_touched(
    project: Project, tmp_path: Path, statements: Counter[str]
) -> None:
    people = [f"p{i}" for i in range(100)]
    ingest_change_sets(project, FIRST)
    project.change(*("A " + knows(person, "a") for person in people))
    initial, later = [], []
    for number in (2, 10, 100):
        numbered = project.copy(tmp_path / str(number))
        for person in people[:number]:
            numbered.query(f"star_{person}", SHAPES["star"].format(person))
            numbered.query(f"counted_{person}", SHAPES["counted"].format(person))
        statements.clear()
        numbered.maintain()
        initial.append((statements["statements"], statements["tables"], statements["commits"]))
        numbered.change("A " + knows(*people[:2]), "A " + knows(*people[1::-1]))
        statements.clear()
        assert Counter(numbered.maintain().modes.values())["incremental"] == 4
        later.append((statements["statements"], statements["tables"], statements["commits"]))
    assert [commits for *_, commits in initial] == [4, 20, 200]
    assert len({counts[:2] for counts in initial}) == 1
    # Two tables of the graph, and the stored state of two queries that count.
    assert {counts[1:] for counts in later} == {(4, 4)}
    assert len(set(later)) == 1


def test_a_query_without_a_new_row_has_no_commit_and_is_complete(project: Project) -> None:
    register(project, ("known",))
    project.query("alone", "SELECT ?x ?n { ?x <urn:knows> ?y . ?y <urn:name> ?n ; <urn:age> 7 }")
    ingest_change_sets(project, FIRST)
    project.maintain()
    before = project.versions()
    # The name concerns all of them; only one of the four has a solution with it.
    project.change("A " + name("a", "A"))
    modes = project.maintain().modes
    assert modes == {
        **dict.fromkeys(("known_a", "known_c", "known_d", "alone"), "untouched"),
        "known_b": "incremental",
    }
    after = project.versions()
    changed = {table for table in after if after[table] != before[table]}
    assert {table for table in changed if table.startswith("embeddings/")} == {"embeddings/known_b"}
    assert {project.watermark(query) for query in modes} == {3}
    # One row of the ledger for all that have no new row.
    rows = project.ledger("maintain")
    assert set(rows) == {"", "*", "known_b"}
    assert (rows["*"]["from_epoch"], rows["*"]["to_epoch"]) == (2, 3)
    # What was left out by mistake would be missing now.
    project.change("A " + knows("a", "d"), "A " + name("b", "Bea"))
    project.maintain()
    project.stages("validate", "publish")
    for query in modes:
        check_answers(project, query, 4, 4)


def test_a_member_whose_product_is_too_large_does_not_affect_the_others(project: Project) -> None:
    project.configure(product_rows=2)
    for person in PEOPLE:
        text = f"SELECT * {{ ?x <urn:knows> <urn:{person}> . ?y <urn:name> ?n }}"
        project.query(f"pairs_{person}", text)
    project.change("A " + name("a", "A"), *("A " + knows(x, "b") for x in "acd"))
    with pytest.raises(WeirError) as raised:
        project.maintain()
    assert "pairs_b" in str(raised.value)
    assert "3 x 1 = 3" in str(raised.value)
    assert "pairs_a" not in str(raised.value)
    assert [len(project.table(f"embeddings/pairs_{person}")) for person in "acd"]
    rows = project.ledger("maintain")
    assert {rows[f"pairs_{person}"]["status"] for person in "acd"} == {"succeeded"}
    assert rows["pairs_b"]["status"] == "failed"


def test_a_member_whose_commit_fails_does_not_affect_the_others(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(project, ("star",))
    ingest_change_sets(project, FIRST)
    write_rows = Engine.write_rows

    def failing(self: Engine, table: Any, *args: Any, **options: Any) -> Any:
        if table.name == "embeddings/star_b":
            raise OSError("the disk is full")
        return write_rows(self, table, *args, **options)

    with monkeypatch.context() as patched:
        patched.setattr(Engine, "write_rows", failing)
        with pytest.raises(WeirError, match="star_b: OSError: the disk is full"):
            project.maintain()
    rows = project.ledger("maintain")
    assert {query for query in rows if rows[query]["status"] == "failed"} == {"star_b", ""}
    assert project.maintain().modes == {"star_b": "initial"}


def test_members_are_computed_one_by_one_if_their_statements_fail(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(project, ("star", "counted"))
    ingest_change_sets(project, FIRST)
    make = Engine.make

    def failing(self: Engine, statement: Statement) -> None:
        if statement.name.startswith("s"):
            raise MemoryError("too much at once")
        make(self, statement)

    monkeypatch.setattr(Engine, "make", failing)
    result = project.maintain()
    assert set(result.modes.values()) == {"initial"}
    assert len(result.modes) == 8
    assert result.failures == []


@pytest.mark.usefixtures("slow")
def test_many_new_rows_are_written_by_condition(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(project, ("star", "optional", "counted"))
    ingest_change_sets(project, FIRST)
    other = project.copy(tmp_path / "other")
    project.maintain()
    monkeypatch.setattr(Engine, "fetch_few", lambda *_: None)
    other.maintain()
    assert stored(other) == stored(project)
    for side in (project, other):
        ingest_change_sets(side, LATER)
        side.maintain()
    assert stored(other) == stored(project)


def test_groups_of_one_shape_have_a_bounded_number_of_members(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(project, ("star", "counted"))
    ingest_change_sets(project, FIRST)
    monkeypatch.setattr(same_shape, "_MEMBERS", 3)
    monkeypatch.setattr(same_shape, "_MEMBERS_WITH_STATE", 2)
    sizes: list[int] = []
    original = same_shape.rows_of_members

    def noted(engine: Engine, members: list[Any], *args: Any) -> Any:
        sizes.append(len(members))
        return original(engine, members, *args)

    monkeypatch.setattr(new_rows, "rows_of_members", noted)
    project.maintain()
    assert sizes == [3, 3]
    sizes.clear()
    project.change(*("A " + knows(x, x) for x in PEOPLE))
    project.maintain()
    assert sizes == [2, 2, 3]


def test_spark_alone_stores_what_the_driver_stores(
    spark: SparkSession, project: Project, tmp_path: Path
) -> None:
    register(project, ("star", "optional", "asked"))
    ingest_change_sets(project, FIRST)
    other = project.copy(tmp_path / "other")
    for _ in range(2):
        project.maintain()
        # Not before: the limits hold for ingest, too.
        other.configure(driver_rows=0)
        other.maintain(spark)
        assert stored(other) == stored(project)
        other.configure()
        for side in (project, other):
            side.change(*LATER[0], "A " + knows("d", "a"))
