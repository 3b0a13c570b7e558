"""The mode of each query and its reason in the ledger; answers compared with pyoxigraph's."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from deltalake import DeltaTable

from tests.support.opened import no_spark
from tests.support.oracles.projects import check_answers
from tests.support.projects.graphs import (
    FIRST,
    LATER,
    NAMES,
    PAIRS,
    PRODUCT,
    QUERIES,
    TWO_GRAPHS,
    ingest_change_sets,
    knows,
    name,
)
from tests.support.projects.project import PATCHES, Project
from weir.compute.session import Spark
from weir.errors import WeirError
from weir.lake.tables import QUADS, TRIPLES
from weir.lake.upkeep.maintenance import consolidate
from weir.project import open_lake

pytestmark = pytest.mark.usefixtures("sampled")

_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """All queries after the first two epochs; not to be changed."""
    project = Project(tmp_path_factory.mktemp("begun")).declare(PATCHES)
    for query, text in QUERIES.items():
        project.query(query, text)
    ingest_change_sets(project, FIRST)
    project.run()
    return project


@pytest.fixture
def going(begun: Project, tmp_path: Path) -> Project:
    """A copy of `begun`."""
    return begun.copy(tmp_path / "going")


def test_a_new_query_starts_with_the_state_at_the_newest_epoch(begun: Project) -> None:
    rows = begun.ledger("maintain")
    for query in QUERIES:
        row = rows[query]
        assert (row["mode"], row["from_epoch"], row["to_epoch"]) == ("initial", 0, 2)
        assert {epoch for epoch, *_ in begun.signed(query)} <= {2}
        check_answers(begun, query, 2, 2)


@pytest.mark.usefixtures("slow")
def test_a_query_with_full_history_has_every_epoch(project: Project) -> None:
    for query, text in QUERIES.items():
        project.query(query, f"#+ history: full\n{text}")
    ingest_change_sets(project, FIRST + LATER)
    assert project.run().modes == dict.fromkeys(QUERIES, "initial")
    for query in QUERIES:
        check_answers(project, query, 1, 6)
    before = {query: project.signed(query) for query in QUERIES}
    project.change("D " + name("c", "C"))
    modes = project.run().modes
    # `knowers` is touched, but its answer stays.
    untouched = {query for query in QUERIES if modes[query] == "untouched"}
    assert untouched == {"pairs", "mutual", "knowers"}
    assert set(modes.values()) == {"incremental", "untouched"}
    for query in QUERIES:
        check_answers(project, query, 1, 7)
        assert [row for row in project.signed(query) if row[0] <= 6] == before[query]


# All methods of reading the graph give the same rows; these limits force each on a small graph.
WAYS = {
    "driver": ({}, "incremental"),
    "bulk": ({"bulk_share": 0}, "full"),
    "small_graph": ({"bulk_quads": 1_000}, "incremental"),
    "large_neighbourhood": ({"neighbourhood_rows": 1}, "full"),
}
WAYS_OF_SPARK = {
    "spark": ({"driver_rows": 0, "broadcast_rows": 1}, "incremental"),
    "large_answers": ({"driver_rows": 1}, "incremental"),
    "large_tables": ({"driver_scan_rows": 0}, "incremental"),
    "large_tables_in_bulk": ({"driver_scan_rows": 0, "bulk_share": 0}, "full"),
}


@pytest.mark.parametrize("way", WAYS)
def test_changes_give_the_delta_of_every_epoch(going: Project, way: str) -> None:
    _check_deltas(going, no_spark, *WAYS[way])


@pytest.mark.parametrize("way", WAYS_OF_SPARK)
def test_changes_give_the_delta_of_every_epoch_on_spark(
    spark: SparkSession, going: Project, way: str
) -> None:
    _check_deltas(going, spark, *WAYS_OF_SPARK[way])


def _check_deltas(going: Project, session: Spark, limits: Mapping[str, float], mode: str) -> None:
    ingest_change_sets(going, LATER)
    # Afterwards: the limits hold for ingest too.
    going.configure(**limits)
    modes = going.run(session).modes
    assert set(modes) == set(QUERIES)
    assert {modes[query] for query in ("pairs", "names", "knowers", "mutual")} == {mode}
    for query in QUERIES:
        assert going.watermark(query) == 6
        check_answers(going, query, 2, 6)


def test_the_ledger_says_what_was_read_of_the_graph_for_the_queries_at_one_epoch(
    going: Project,
) -> None:
    ingest_change_sets(going, LATER)
    going.run()
    read = going.ledger("reading")
    assert {row["mode"] for row in read.values()} == {"incremental"}
    union = read["the union of all graphs"]
    assert (union["from_epoch"], union["to_epoch"]) == (2, 6)
    predicates = {"<urn:knows>", "<urn:name>"}
    changes = [row for row in going.table("triples") if row["epoch"] > 2]
    assert union["rows_in"] == sum(row["predicate"] in predicates for row in changes)
    assert union["rows_out"] > 0
    assert union["seconds"] > 0
    going.configure(bulk_share=0)
    going.change("D " + name("c", "C"))
    going.run()
    whole = going.ledger("reading")["the union of all graphs"]
    assert (whole["mode"], whole["rows_in"], whole["rows_out"]) == ("full", 1, 0)
    assert whole["reason"].startswith("1 changes are over bulk_share = 0 of the 4 quads")


def test_an_untouched_query_costs_a_row_of_the_ledger_and_no_commit(project: Project) -> None:
    project.query("pairs", PAIRS)
    project.query("names", NAMES)
    ingest_change_sets(project, FIRST)
    project.run()
    before = project.versions()
    ingest_change_sets(project, (('A <urn:a> <urn:age> "7"',), ("A " + name("c", "Z"),)))
    assert project.run().modes == {"pairs": "untouched", "names": "incremental"}
    after = project.versions()
    assert after["embeddings/pairs"] == before["embeddings/pairs"]
    assert after["answers/pairs"] == before["answers/pairs"]
    row = project.ledger("maintain")["pairs"]
    assert (row["mode"], row["from_epoch"], row["to_epoch"]) == ("untouched", 2, 4)
    assert project.watermark("pairs") == 4
    # The next run starts where the untouched one ended.
    ingest_change_sets(project, (("A " + knows("z", "b"),),))
    assert project.run().modes == {"pairs": "incremental", "names": "incremental"}
    rows = project.ledger("maintain")
    assert {rows[query]["from_epoch"] for query in ("pairs", "names")} == {4}
    assert {rows[query]["rows_in"] for query in ("pairs", "names")} == {1}
    check_answers(project, "pairs", 2, 5)
    check_answers(project, "names", 2, 5)


def test_a_change_of_a_type_that_no_filter_names_leaves_a_query_untouched(
    project: Project,
) -> None:
    project.query("typed", "SELECT ?s { ?s a ?c FILTER(?c IN (<urn:A>, <urn:B>)) }")
    ingest_change_sets(project, (("A <urn:x> <urn:p> <urn:y>",),))
    project.run()
    ingest_change_sets(project, ((f"A <urn:x> {_TYPE} <urn:C>",),))
    assert project.run().modes == {"typed": "untouched"}
    ingest_change_sets(project, ((f"A <urn:x> {_TYPE} <urn:B>",),))
    assert project.run().modes == {"typed": "incremental"}
    check_answers(project, "typed", 1, 3)


def test_the_size_of_a_product_is_checked_where_statements_are_made_at_once(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weir.timeline.evaluation._FEW", 0)
    project.configure(product_rows=3)
    project.query("product", PRODUCT)
    ingest_change_sets(project, (("A " + knows("a", "b"), "A " + name("b", "B")),))
    project.run()
    ingest_change_sets(project, (("A " + knows("a", "c"), "A " + name("c", "C")),))
    with pytest.raises(WeirError, match="2 x 2 = 4 rows, more than product_rows = 3"):
        project.maintain()


def test_a_run_records_that_a_plan_looks_at_all_of_its_rows(project: Project) -> None:
    project.query("first", f"{NAMES} LIMIT 1")
    project.query("all", NAMES)
    ingest_change_sets(project, FIRST)
    project.run()
    ingest_change_sets(project, (("A " + name("c", "Z"),),))
    assert project.run().modes == {"first": "incremental", "all": "incremental"}
    rows = project.ledger("maintain")
    assert "looks at all stored rows below" in rows["first"]["reason"]
    assert rows["all"]["reason"] is None


def test_an_edited_query_publishes_the_difference_at_the_newest_epoch(project: Project) -> None:
    project.query("q", "SELECT ?a ?b WHERE { ?a <urn:knows> ?b . ?b <urn:name> ?n }")
    project.query("other", NAMES)
    ingest_change_sets(project, FIRST)
    project.run()
    old = project.answer("q", 2)
    project.query("q", NAMES)
    assert project.run().modes == {"q": "edited"}
    row = project.ledger("maintain")["q"]
    assert (row["from_epoch"], row["to_epoch"]) == (2, 2)
    assert project.columns("answers/q") == ["epoch", "weight", "a", "b", "event_time", "n"]
    assert old != project.answer("q", 2)
    check_answers(project, "q", 2, 2)
    ingest_change_sets(project, LATER)
    assert project.run().modes == {"q": "incremental", "other": "incremental"}
    check_answers(project, "q", 2, 6)


def test_an_edit_without_a_change_of_meaning_changes_nothing(project: Project) -> None:
    project.query("q", PAIRS)
    ingest_change_sets(project, FIRST)
    project.run()
    before = project.versions()
    project.query("q", f"#+ description: the same\n# really\n{PAIRS.replace(' ?', '  ?')}")
    assert project.run().modes == {}
    assert project.versions() == before


def test_a_query_that_is_edited_while_it_is_behind_skips_to_the_newest_epoch(
    project: Project,
) -> None:
    project.query("q", PAIRS)
    ingest_change_sets(project, FIRST)
    project.run()
    published = project.signed("q")
    ingest_change_sets(project, LATER)
    project.query("q", "SELECT DISTINCT ?b WHERE { ?a <urn:knows> ?b }")
    assert project.run().modes == {"q": "edited"}
    assert [row for row in project.signed("q") if row[0] <= 2] == published
    assert {row[0] for row in project.signed("q")} == {2, 6}
    check_answers(project, "q", 6, 6)


def lose_the_oldest_commits(project: Project, table: str, keep: int) -> None:
    """As the clean-up of the log does: write a checkpoint and delete the commits before it."""
    log = Path(open_lake(project.settings).location(table)) / "_delta_log"
    DeltaTable(str(log.parent)).create_checkpoint()
    for commit in sorted(log.glob("*.json"))[:-keep]:
        commit.unlink()


def test_after_a_gap_in_the_change_feed_the_answer_is_rebuilt(going: Project) -> None:
    published = {query: going.signed(query) for query in QUERIES}
    ingest_change_sets(going, LATER)
    lose_the_oldest_commits(going, "triples", keep=2)
    lose_the_oldest_commits(going, "quads", keep=2)
    assert set(going.run().modes.values()) == {"rebased"}
    row = going.ledger("maintain")["names"]
    assert (row["mode"], row["from_epoch"], row["to_epoch"]) == ("rebased", 2, 6)
    assert "the log no longer holds version" in row["reason"]
    for query in QUERIES:
        assert [row for row in going.signed(query) if row[0] <= 2] == published[query]
        check_answers(going, query, 2, 6)
    going.change("D " + name("c", "C"))
    assert "rebased" not in going.run().modes.values()
    for query in QUERIES:
        check_answers(going, query, 6, 7)


def test_a_removed_query_keeps_its_tables_and_catches_up_when_it_returns(project: Project) -> None:
    project.query("q", PAIRS)
    project.query("stays", NAMES)
    ingest_change_sets(project, FIRST)
    project.run()
    before = project.signed("q")
    project.remove_query("q")
    ingest_change_sets(project, LATER)
    assert project.run().modes == {"stays": "incremental"}
    assert project.signed("q") == before
    project.query("q", PAIRS)
    assert project.run().modes == {"q": "incremental"}
    check_answers(project, "q", 2, 6)


@pytest.mark.parametrize("way", ["incremental", "full"])
def test_a_query_that_returns_to_consolidated_logs_is_rebuilt(
    spark: SparkSession, project: Project, way: str
) -> None:
    project.configure(**WAYS["bulk"][0] if way == "full" else {})
    queries = {"one": PAIRS, "two": TWO_GRAPHS}
    for query, text in queries.items():
        project.query(query, text)
    project.change("A " + knows("a", "b"), "A " + name("b", "B"), "A " + name("b", "B", "h"))
    project.run()
    for query in queries:
        project.remove_query(query)
    project.change("D " + knows("a", "b"))
    project.stages("validate", "publish")
    for table in (QUADS, TRIPLES):
        result = consolidate(spark, open_lake(project.settings), table, 2, 0.01, 100)
        assert result.after < result.before
    for query, text in queries.items():
        project.query(query, text)
    project.query("with_history", f"#+ history: full\n{PAIRS}")
    project.change("A " + knows("c", "b"))
    modes = dict.fromkeys(queries, "rebased") | {"with_history": "initial"}
    assert project.run().modes == modes
    assert "epoch 2" in project.ledger("maintain")["two"]["reason"]
    assert "history from epoch 2 on" in project.ledger("maintain")["with_history"]["reason"]
    for query in queries:
        check_answers(project, query, 3, 3)
    check_answers(project, "with_history", 2, 3)


def test_a_query_that_cannot_be_maintained_fails_alone(project: Project) -> None:
    project.configure(product_rows=3)
    project.query("good", NAMES)
    project.query("large", PRODUCT)
    project.query("wrong", "SELECT ?a WHERE { ?a <urn:knows> }")
    ingest_change_sets(project, FIRST)
    with pytest.raises(WeirError, match="2 queries could not be maintained") as error:
        project.maintain()
    assert error.value.exit_code == 1
    assert "more than product_rows = 3" in str(error.value)
    assert "wrong.rq:1:" in str(error.value)
    rows = project.ledger("maintain")
    assert {query: rows[query]["status"] for query in rows} == {
        "": "failed",
        "good": "succeeded",
        "large": "failed",
    }
    project.stages("validate", "publish")
    check_answers(project, "good", 2, 2)
    # Corrected, it starts where it would have started; the others continue from where they are.
    ingest_change_sets(project, LATER)
    project.remove_query("wrong")
    project.query("large", f"#+ allow_product: true\n{PRODUCT}")
    assert project.run().modes == {"good": "incremental", "large": "initial"}
    check_answers(project, "good", 2, 6)
    check_answers(project, "large", 6, 6)


def test_running_again_commits_nothing(going: Project) -> None:
    ingest_change_sets(going, LATER)
    going.run()
    before = going.versions()
    going.ingest()
    assert going.run().modes == {}
    assert going.versions() == before


def test_nothing_is_maintained_before_the_first_epoch(project: Project) -> None:
    project.query("q", PAIRS)
    project.ingest()
    assert project.run().modes == {}
    ingest_change_sets(project, FIRST)
    assert project.run().modes == {"q": "initial"}
    check_answers(project, "q", 2, 2)
