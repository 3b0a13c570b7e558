"""The scenario of the operators: the order of its steps, its oracle, and a run over Brick."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from bench import operators
from bench.histories import BrickHistory, Singles
from bench.operators import Operators, measured_seconds
from bench.oracle import Oracle
from bench.places import Project
from bench.prepared import form_of, is_ready, ready
from bench.processes import RunFailed
from bench.results import Rows, Scenario
from bench.schedules import EPOCH, FROM_SCRATCH, SINGLE, history_steps, single_steps
from bench.steps import Ingest, Maintain, Publish, Run, Step
from tests.support.catalogs import catalog_of

CHANGES = [Path(str(number)) for number in range(8)]
QUERY = "SELECT ?a ?b WHERE { ?a <urn:p> ?b }"


def _lags(steps: list[Step], first: int) -> list[tuple[str, str, int]]:
    """By run: the query, what it measures, and how many epochs it catches up."""
    taken, stands, lags = first, dict[str, int](), []
    for step in steps:
        match step:
            case Ingest(changes):
                taken += len(changes)
            case Maintain(query, measured_as):
                lags.append((query, measured_as, taken - stands.get(query, 0)))
                stands[query] = taken
    return lags


def test_a_measured_run_over_a_history_has_one_epoch() -> None:
    steps = history_steps({"a": [2, 3, 6], "b": [3, 5]}, CHANGES, 2)
    lags = _lags(steps, 2)
    assert Counter(query for query, as_, lag in lags if as_ == EPOCH) == {"a": 3, "b": 2}
    assert {lag for _, as_, lag in lags if as_} == {1}


def test_every_change_set_is_ingested_once_and_in_order() -> None:
    steps = history_steps({"a": [2, 3, 6], "b": [3, 5]}, CHANGES, 2)
    taken = [change for step in steps if isinstance(step, Ingest) for change in step.changes]
    assert taken == CHANGES[2:]


def test_every_query_ends_at_the_end_of_the_history() -> None:
    steps = history_steps({"a": [2], "b": [3]}, CHANGES, 2)
    last_take = max(i for i, step in enumerate(steps) if isinstance(step, Ingest))
    assert {step.query for step in steps[last_take:] if isinstance(step, Maintain)} == {"a", "b"}


def test_a_run_over_a_change_of_one_triple_has_one_epoch_and_the_first_round_is_not_measured() -> (
    None
):
    pairs = tuple((Path(f"d{n}"), Path(f"a{n}")) for n in range(4))
    steps = single_steps(Singles((Path("new"),), pairs), ["a", "b"], 2)
    lags = _lags(steps, 5)
    assert [lag for _, as_, lag in lags if as_ == SINGLE] == [1] * 4
    assert Counter(query for query, as_, _ in lags if as_ == FROM_SCRATCH) == {
        f"{query}_again{number}": 1 for query in "ab" for number in (1, 2)
    }
    assert steps[-1] == Publish(("a", "b", "a_again1", "b_again1"))


@pytest.mark.parametrize(
    ("measured_as", "mode"), [(EPOCH, "edited"), (SINGLE, "rebased"), (FROM_SCRATCH, "incremental")]
)
def test_a_run_of_another_mode_than_is_measured_is_an_error(measured_as: str, mode: str) -> None:
    with pytest.raises(RunFailed, match=mode):
        measured_seconds([Run("q", measured_as, mode, 1.0)])


def test_a_run_that_had_nothing_to_do_does_not_count() -> None:
    runs = [Run("q", EPOCH, "untouched", 1.0), Run("q", EPOCH, "incremental", 2.0)]
    assert measured_seconds(runs) == {EPOCH: {"q": [2.0]}}


def test_the_oracle_keeps_labels_of_blank_nodes_and_counts_rows(tmp_path: Path) -> None:
    head = tmp_path / "head.nt"
    head.write_text("_:x <urn:p> <urn:b> .\n<urn:a> <urn:p> <urn:b> .\n")
    answer = Oracle(head).answer("SELECT ?b WHERE { ?a <urn:p> ?b }")
    assert answer == {("<urn:b>",): 2}
    assert ("_:x", "<urn:b>") in Oracle(head).answer(QUERY)


def test_a_triple_that_matters_changes_the_answer_and_is_reported_as_it_was_written(
    tmp_path: Path,
) -> None:
    head = tmp_path / "head.nt"
    number = '"007"^^<http://www.w3.org/2001/XMLSchema#integer>'
    head.write_text(f"<urn:a> <urn:p> {number} .\n<urn:a> <urn:q> <urn:b> .\n")
    oracle = Oracle(head)
    before = oracle.answer(QUERY)
    assert oracle.triples_that_matter(
        QUERY, frozenset({"<urn:p>", "<urn:q>"}), 1, lambda _: True
    ) == [f"<urn:a> <urn:p> {number}"]
    assert oracle.answer(QUERY) == before
    with pytest.raises(ValueError, match="only 0"):
        oracle.triples_that_matter(QUERY, frozenset({"<urn:q>"}), 1, lambda _: True)


def test_rows_that_differ_do_not_agree_though_their_number_does() -> None:
    assert Rows("q", 3, oxigraph=3).agree
    assert not Rows("q", 3, oxigraph=3, differing=2).agree


def test_a_prepared_lake_is_stale_once_the_meaning_of_a_query_changes(tmp_path: Path) -> None:
    made = Project(tmp_path)
    queries = tmp_path / "queries"
    queries.mkdir()
    (queries / "q.rq").write_text(QUERY)
    ready(made, form_of(queries))
    (queries / "q.rq").write_text(f"{QUERY} # the same")
    assert is_ready(made, form_of(queries))
    (queries / "q.rq").write_text(QUERY.replace("<urn:p>", "<urn:q>"))
    assert not is_ready(made, form_of(queries))
    assert not is_ready(Project(tmp_path / "nothing"), form_of(queries))


@pytest.mark.parametrize("name", ["nomisma", "brick"])
def test_every_query_of_the_scenario_is_accepted(name: str) -> None:
    catalog = catalog_of(operators.QUERIES / name)
    assert not catalog.errors
    assert len(catalog.members) == len([*(operators.QUERIES / name).glob("*.rq")])


def test_the_operators_are_measured_and_all_sides_find_the_same_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operators, "WORK", tmp_path)
    scenario = Operators(1, 1, lambda _: None, (BrickHistory(),), 1).run()
    assert {rows.query for rows in scenario.rows} == {"brick_bgp", "brick_path_plus"}
    assert all(rows.agree and rows.weir for rows in scenario.rows)
    assert [len(line) for line in scenario.summary] == [len(scenario.summary[0])] * 3
    assert Scenario.load(scenario.save(tmp_path)) == scenario
    assert not scenario.full
