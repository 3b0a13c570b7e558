"""Validate and publish over a lake written by hand."""

from __future__ import annotations

import json
import random
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.support.opened import call, no_spark, on_spark, statuses_of
from tests.support.projects.handmade import HandMadeLake, event_time
from weir import stage as stages
from weir.compute.session import Spark
from weir.errors import QualityError
from weir.lake.delta import commit
from weir.lake.delta.commit import write
from weir.lake.delta.metadata import Metadata
from weir.lake.ledger import claims
from weir.lake.ledger import runs as ledger
from weir.lake.tables import SOURCE_FILES, TRANSACTIONS
from weir.progress.completion import Completion
from weir.project import Project, open_lake
from weir.publish.stage import PublishResult, publish_answers
from weir.site.writing import write_site
from weir.validate.stage import validate_answers

pytestmark = pytest.mark.usefixtures("sampled")

SELECT = "SELECT ?s ?o WHERE { ?s <http://a/p> ?o }"
DISTINCT = "SELECT DISTINCT ?s WHERE { ?s <http://a/p> ?o }"
A, B, C = "<http://a/a>", '"b"@en', "_:c"


def watermark(lake: HandMadeLake, query: str) -> int:
    published = Completion.read(open_lake(lake.settings)).published(query)
    assert published is not None
    return published.epoch


def run(lake: HandMadeLake, session: Spark = no_spark, run_id: str = "r") -> None:
    on_spark(session, validate_answers, lake.settings, run_id)
    on_spark(session, publish_answers, lake.settings, run_id)


def publish_first(lake: HandMadeLake, *queries: str) -> None:
    """Queries with one solution, published at epoch 1."""
    lake.ingest(1)
    for name in queries:
        lake.query(name, SELECT)
        lake.maintain(name, [(1, 1, A, B)], base=1, mode="initial")
    run(lake)


def test_the_first_publication_has_every_row_with_its_epoch_and_event_time(
    lake: HandMadeLake,
) -> None:
    lake.query("q", SELECT)
    lake.ingest(3)
    lake.maintain("q", [(1, 1, A, B), (1, 2, A, None), (3, -1, A, B)], mode="initial")
    run(lake)
    assert lake.rows("answers/q")[0].keys() == {"epoch", "weight", "s", "o", "event_time"}
    assert lake.answers("q") == [(1, 1, A, B), (1, 2, A, None), (3, -1, A, B)]
    assert all(row["event_time"] == event_time(row["epoch"]) for row in lake.rows("answers/q"))
    assert watermark(lake, "q") == 3
    published = Completion.read(open_lake(lake.settings)).published("q")
    assert published is not None
    assert published.metadata.extra["rows"] == 2


@pytest.mark.parametrize("queries", [["one"], ["one", "two"]], ids=["alone", "together"])
def test_a_row_without_an_event_time_has_that_of_its_file_or_of_its_ingest(
    lake: HandMadeLake, queries: list[str]
) -> None:
    lake.ingest(3)
    stored = open_lake(lake.settings)
    changed, ingested = event_time(90), event_time(80)
    rows = lake.rows("transactions")
    for row in rows[1:]:
        row |= {"event_time": None, "ingested_at": ingested}
    shutil.rmtree(stored.location("transactions"))
    write(open_lake(lake.settings), TRANSACTIONS, rows, Metadata("ingest", "ingest", 3))
    file = {"source": "s", "position": "2", "bytes": 1, "run_id": "ingest", "changed": False}
    files = [file | {"file": name, "modified": event_time(70 + len(name))} for name in ("a", "bb")]
    files.append(file | {"file": "a", "modified": changed, "changed": True})
    write(open_lake(lake.settings), SOURCE_FILES, files, Metadata("ingest", "ingest", 3))
    for name in queries:
        lake.query(name, SELECT)
        lake.maintain(name, [(epoch, 1, A, f'"{epoch}"') for epoch in (1, 2, 3)], mode="initial")
    run(lake)
    for name in queries:
        assert {row["epoch"]: row["event_time"] for row in lake.rows(f"answers/{name}")} == {
            1: event_time(1),
            2: event_time(72),
            3: ingested,
        }


def test_later_publications_append_only_the_new_rows(session: Spark, lake: HandMadeLake) -> None:
    lake.query("q", SELECT)
    lake.ingest(1)
    lake.maintain("q", [(1, 1, A, B)], base=1, mode="initial")
    run(lake, session)
    lake.ingest(2)
    lake.maintain("q", [(2, 1, A, C), (3, -1, A, B)], base=1)
    run(lake, session)
    assert lake.answers("q") == [(1, 1, A, B), (2, 1, A, C), (3, -1, A, B)]
    assert watermark(lake, "q") == 3


def test_queries_with_similar_names_are_published_separately(
    lake: HandMadeLake,
) -> None:
    names = ("q", "q_all", "q_candidates", "q_whole", "stored_q", "new_q")
    for name in names:
        lake.query(name, SELECT)
    lake.ingest(1)
    for name in names:
        lake.maintain(name, [(1, 1, A, f'"{name}"')], base=1, mode="initial")
    call(validate_answers, lake.settings, "first")
    call(publish_answers, lake.settings, "first")
    assert {name: lake.answers(name) for name in names} == {
        name: [(1, 1, A, f'"{name}"')] for name in names
    }


def test_running_again_commits_nothing(lake: HandMadeLake) -> None:
    lake.query("q", SELECT)
    lake.ingest(1)
    lake.maintain("q", [(1, 1, A, B)], mode="initial")
    run(lake)
    before = lake.versions()
    run(lake)
    assert lake.versions() == before


def test_an_answer_without_rows_is_published_as_an_empty_table(lake: HandMadeLake) -> None:
    lake.query("q", SELECT)
    lake.ingest(1)
    lake.maintain("q", [], base=1, mode="initial")
    run(lake)
    assert lake.answers("q") == []
    assert watermark(lake, "q") == 1


def test_epochs_that_touch_nothing_move_the_watermark_without_a_commit(lake: HandMadeLake) -> None:
    lake.query("untouched", SELECT)
    lake.query("other_nodes_only", SELECT)
    lake.ingest(2)
    for name in ("untouched", "other_nodes_only"):
        lake.maintain(name, [(2, 1, A, B)], base=2, mode="initial")
    run(lake)
    before = lake.versions()
    lake.ingest(2)
    lake.leave_untouched("untouched", 2)
    lake.maintain("other_nodes_only", [], base=2)
    run(lake)
    after = lake.versions()
    assert {name for name in before if before[name] != after[name]} == {"quality", "runs"}
    assert [watermark(lake, name) for name in ("untouched", "other_nodes_only")] == [4, 4]
    lake.ingest(1)
    for name in ("untouched", "other_nodes_only"):
        lake.maintain(name, [(5, -1, A, B)], base=2)
    run(lake)
    assert lake.answers("untouched") == [(2, 1, A, B), (5, -1, A, B)]


def test_an_edited_query_publishes_the_difference_and_keeps_its_old_columns(
    session: Spark, lake: HandMadeLake
) -> None:
    lake.query("q", SELECT)
    lake.ingest(2)
    lake.maintain("q", [(1, 1, A, B), (1, 2, A, None)], mode="initial")
    run(lake, session)
    # Edited without a new epoch: the difference comes at an epoch that is published already.
    lake.query("q", "SELECT ?s ?p WHERE { ?s ?p ?o }")
    lake.maintain("q", [(2, 2, A, None), (2, 1, C, A)], base=2, mode="edited")
    run(lake, session)
    rows = lake.rows("answers/q")
    assert Counter((r["epoch"], r["weight"], r["s"], r["p"], r["o"]) for r in rows) == {
        (1, 1, A, None, B): 1,
        (1, 2, A, None, None): 1,
        (2, -1, A, None, B): 1,
        (2, 1, C, A, None): 1,
    }
    before = lake.versions()
    run(lake, session)
    assert lake.versions() == before


def test_a_new_column_of_a_small_answer_needs_no_spark(lake: HandMadeLake) -> None:
    lake.query("q", SELECT)
    lake.ingest(1)
    lake.maintain("q", [(1, 1, A, B)], mode="initial")
    for run_id in ("first", "edited"):
        call(validate_answers, lake.settings, run_id)
        call(publish_answers, lake.settings, run_id)
        lake.query("q", "SELECT ?s ?p WHERE { ?s ?p ?o }")
        lake.maintain("q", [(1, 1, A, C)], base=1, mode="edited")
    assert Counter((r["weight"], r["s"], r["p"], r["o"]) for r in lake.rows("answers/q")) == {
        (1, A, None, B): 1,
        (-1, A, None, B): 1,
        (1, A, C, None): 1,
    }


def test_an_edit_that_changes_no_row_is_published_once(lake: HandMadeLake) -> None:
    lake.query("q", SELECT)
    lake.ingest(1)
    lake.maintain("q", [(1, 1, A, B)], mode="initial")
    run(lake)
    lake.query("q", "SELECT ?s ?o WHERE { ?s <http://a/p> ?o . ?s <http://a/p> ?o }")
    lake.maintain("q", [(1, 1, A, B)], base=1, mode="edited")
    run(lake)
    before = lake.versions()
    run(lake)
    assert (lake.answers("q"), lake.versions()) == ([(1, 1, A, B)], before)


def test_rows_recomputed_at_the_same_epoch_publish_the_difference(lake: HandMadeLake) -> None:
    lake.query("q", SELECT)
    lake.ingest(1)
    lake.maintain("q", [(1, 1, A, B)], base=1, mode="initial")
    run(lake)
    lake.maintain("q", [(1, 1, A, C)], base=1, mode="rebased")
    run(lake)
    assert lake.answers("q") == [(1, -1, A, B), (1, 1, A, B), (1, 1, A, C)]
    times = [row["event_time"] for row in lake.rows("answers/q")]
    assert sorted(times, key=str) == [event_time(1), None, None], "no change of the graph made them"


def test_a_failed_check_holds_back_its_query_alone_until_the_rows_are_right(
    lake: HandMadeLake,
) -> None:
    publish_first(lake, "good", "bad")
    lake.ingest(1)
    lake.maintain("good", [(2, -1, A, B)], base=1)
    lake.maintain("bad", [(2, -1, A, C)], base=1)
    for _ in range(2):
        with pytest.raises(QualityError, match="multiplicity_is_not_negative"):
            call(validate_answers, lake.settings, "r2")
        with pytest.raises(QualityError, match="bad"):
            call(publish_answers, lake.settings, "r2")
        assert lake.answers("bad") == [(1, 1, A, B)]
        assert lake.answers("good") == [(1, 1, A, B), (2, -1, A, B)]
    failed = [row for row in lake.rows("quality") if not row["success"]]
    assert {(row["table"], row["query"], row["from_epoch"], row["to_epoch"]) for row in failed} == {
        ("embeddings/bad", "bad", 1, 2)
    }
    assert "_:c" in json.loads(failed[0]["observed"])["examples"][0]
    lake.maintain("bad", [(2, 1, A, C)], base=2, mode="rebased")
    run(lake, run_id="r3")
    assert lake.answers("bad") == [(1, 1, A, B), (2, -1, A, B), (2, 1, A, C)]


def test_a_wrong_quad_holds_back_every_query(lake: HandMadeLake) -> None:
    publish_first(lake, "touched", "untouched")
    lake.ingest(1, weight=2)
    lake.maintain("touched", [(2, 1, A, C)], base=1)
    lake.leave_untouched("untouched", 1)
    with pytest.raises(QualityError, match="the graph: weight_is_a_sign"):
        call(validate_answers, lake.settings, "r2")
    with pytest.raises(QualityError, match="2 answers held back"):
        call(publish_answers, lake.settings, "r2")
    assert [watermark(lake, name) for name in ("touched", "untouched")] == [1, 1]
    statuses = statuses_of(lake.settings)
    assert [status.state for status in statuses] == ["held", "held"]
    assert "the graph: weight_is_a_sign" in (statuses[0].reason or "")


@pytest.mark.parametrize("weight", [1, 2])
def test_status_and_publish_give_the_same_reason_for_an_answer_that_is_held(
    lake: HandMadeLake, weight: int
) -> None:
    """Whether the rows alone fail, or the graph, too."""
    publish_first(lake, "q")
    lake.ingest(1, weight=weight)
    lake.maintain("q", [(2, -1, A, C)], base=1)
    with pytest.raises(QualityError):
        call(validate_answers, lake.settings, "r2")
    with pytest.raises(QualityError) as error:
        call(publish_answers, lake.settings, "r2")
    assert isinstance(error.value.done, PublishResult)
    (publication,) = error.value.done.publications
    (status,) = statuses_of(lake.settings)
    assert (publication.mode, publication.reason) == (status.state, status.reason)


def test_a_query_is_not_held_by_a_failure_of_another(lake: HandMadeLake) -> None:
    publish_first(lake, "good", "bad")
    lake.ingest(1)
    lake.maintain("good", [(2, 1, A, C)], base=1)
    lake.maintain("bad", [(2, -1, A, C)], base=1)
    with pytest.raises(QualityError, match="bad"):
        call(validate_answers, lake.settings, "r2")
    lake.ingest(1)
    lake.maintain("good", [(3, 1, B, C)], base=1)
    states = {status.query: status.state for status in statuses_of(lake.settings)}
    assert states == {"good": "behind", "bad": "held"}


def test_rows_that_came_after_the_check_are_not_published(lake: HandMadeLake) -> None:
    lake.query("q", SELECT)
    lake.ingest(1)
    lake.maintain("q", [(1, 1, A, B)], mode="initial")
    call(validate_answers, lake.settings, "r")
    lake.ingest(1)
    lake.maintain("q", [(2, 1, A, C)])
    with pytest.raises(QualityError, match="held back"):
        call(publish_answers, lake.settings, "r")
    run(lake)
    assert lake.answers("q") == [(1, 1, A, B), (2, 1, A, C)]


def test_the_rows_of_recreated_tables_are_checked_again(lake: HandMadeLake) -> None:
    """Their versions and epochs are those that passed the checks before."""
    lake.query("q", "#+ max_rows: 1\n" + SELECT)
    lake.ingest(1)
    lake.maintain("q", [(1, 1, A, B)], mode="initial")
    run(lake)
    for table in ("answers/q", "embeddings/q"):
        open_lake(lake.settings).remove(table)
    lake.maintain("q", [(1, 1, A, B), (1, 1, A, C)], mode="initial")
    with pytest.raises(QualityError, match="row_count_is_within_max_rows"):
        run(lake)


def test_rows_that_cannot_be_read_hold_back_their_query_alone(lake: HandMadeLake) -> None:
    lake.ingest(1)
    for name in ("damaged", "good"):
        lake.query(name, SELECT)
        lake.maintain(name, [(1, 1, A, B)], mode="initial")
    (file,) = (lake.settings.project / "lake/embeddings/damaged").glob("*.parquet")
    file.write_bytes(b"PAR1 no PAR1")
    with pytest.raises(QualityError, match="damaged: rows_can_be_read"):
        call(validate_answers, lake.settings, "r")
    with pytest.raises(QualityError, match="damaged"):
        call(publish_answers, lake.settings, "r")
    assert lake.answers("good") == [(1, 1, A, B)]


def test_a_raised_limit_lets_the_answer_through(lake: HandMadeLake) -> None:
    lake.query("q", "#+ max_rows: 1\n" + SELECT)
    lake.ingest(1)
    lake.maintain("q", [(1, 1, A, B), (1, 1, A, C)], mode="initial")
    with pytest.raises(QualityError, match="row_count_is_within_max_rows"):
        call(validate_answers, lake.settings, "r")
    lake.query("q", "#+ max_rows: 2\n" + SELECT)
    run(lake)
    assert len(lake.answers("q")) == 2


def test_the_rows_of_an_edited_query_wait_for_maintain(lake: HandMadeLake) -> None:
    lake.query("q", SELECT)
    lake.ingest(1)
    lake.maintain("q", [(1, 1, A, B)], mode="initial")
    lake.query("q", DISTINCT)
    call(validate_answers, lake.settings, "r")
    with pytest.raises(QualityError, match="not been checked yet"):
        call(publish_answers, lake.settings, "r")


def test_a_removed_query_keeps_its_answers(lake: HandMadeLake) -> None:
    lake.query("q", SELECT)
    lake.ingest(1)
    lake.maintain("q", [(1, 1, A, B)], mode="initial")
    run(lake)
    (lake.settings.queries / "q.rq").unlink()
    lake.ingest(1)
    run(lake)
    assert lake.answers("q") == [(1, 1, A, B)]


def test_the_results_of_checks_are_on_a_page_with_examples_escaped(
    lake: HandMadeLake, tmp_path: Path
) -> None:
    lake.query("q", SELECT)
    lake.ingest(1)
    lake.maintain("q", [(1, -1, "<http://a/a&b>", B)], mode="initial")
    with pytest.raises(QualityError):
        call(validate_answers, lake.settings, "r")
    write_site(Project(lake.settings), tmp_path / "site")
    page = (tmp_path / "site/checks.html").read_text()
    assert "No row vanishes more often than it appeared." in page
    assert "http://a/a&amp;b" in page


class Killed(BaseException):
    """The process died here."""


@pytest.fixture
def die_at(monkeypatch: pytest.MonkeyPatch) -> Any:
    """`die_at(name)`: the next run dies at that checkpoint, and writes nothing after it."""

    def die(name: str) -> None:
        def checkpoint(passed: str) -> None:
            if passed == name:
                # A dead process records no end of its run.
                monkeypatch.setattr(stages, "end_claim", lambda *_, **__: None)
                raise Killed(name)

        monkeypatch.setattr(commit, "checkpoint", checkpoint)
        monkeypatch.setattr(ledger, "checkpoint", checkpoint)
        monkeypatch.setattr(claims, "checkpoint", checkpoint)
        monkeypatch.setattr(claims, "lives", lambda *_: False)

    return die


POINTS = [
    (stage, f"{stage.__name__.partition('_')[0]}:{when}:{table}")
    for stage, tables in (
        (validate_answers, ("claim", "quality", "runs")),
        (publish_answers, ("claim", "answers/q", "runs")),
    )
    for when in ("before", "after")
    for table in tables
]


@pytest.mark.usefixtures("slow")
def test_a_run_killed_anywhere_and_run_again_publishes_every_row_once(
    lake: HandMadeLake,
    die_at: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lake.query("q", SELECT)
    expected: list[tuple[Any, ...]] = []
    for number, (stage, point) in enumerate(POINTS, start=1):
        lake.ingest(1)
        changes = [(number, 1, A, f'"{number}"')]
        lake.maintain("q", changes, mode="incremental" if expected else "initial")
        expected += changes
        if stage is publish_answers:
            call(validate_answers, lake.settings, "r")
        die_at(point)
        with pytest.raises(Killed):
            call(stage, lake.settings, "killed")
        monkeypatch.undo()
        monkeypatch.setattr(claims, "lives", lambda *_: False)
        run(lake)
        assert lake.answers("q") == sorted(expected, key=repr), point


@pytest.mark.parametrize("seed", [1, 2])
def test_the_published_log_sums_to_the_answer_over_random_histories(
    lake: HandMadeLake, seed: int
) -> None:
    """Random histories of changes, untouched epochs, edits and recomputations, against a model."""
    rng = random.Random(seed)
    lake.query("q", SELECT)
    texts = [SELECT, "SELECT ?s ?o WHERE { ?s <http://a/p> ?o . ?o ?p ?s }"]
    state: Counter[tuple[Any, ...]] = Counter()
    base = marked = 0
    for step in range(8):
        if step == 0 or rng.random() < 0.8:
            lake.ingest(rng.randint(1, 2))
        action = (
            "initial"
            if step == 0
            else rng.choice(["delta", "delta", "untouched", "rebuild", "edit"])
        )
        if action == "untouched":
            lake.leave_untouched("q", marked)
        elif action == "delta" and lake.epochs > marked:
            changes: list[tuple[Any, ...]] = []
            for epoch in range(marked + 1, lake.epochs + 1):
                for values in rng.sample([(A, B), (A, C), (C, None), (None, B)], 2):
                    weight = rng.randint(-state[values], 2)
                    if weight:
                        changes.append((epoch, weight, *values))
                        state[values] += weight
            lake.maintain("q", changes, base=base)
        elif action != "delta":
            if action == "edit":
                texts.reverse()
                lake.query("q", texts[0])
            state = Counter({(A, B): rng.randint(0, 2), (None, C): rng.randint(0, 1)})
            base = lake.epochs
            rows = [(base, weight, *values) for values, weight in state.items() if weight]
            lake.maintain("q", rows, base=base, mode="initial" if step == 0 else "rebased")
        marked = lake.epochs
        if rng.random() < 0.7:
            run(lake, run_id=f"r{step}")
            assert published_state(lake) == +state, (seed, step, action)
            assert watermark(lake, "q") == marked
    run(lake)
    assert published_state(lake) == +state


def published_state(lake: HandMadeLake) -> Counter[tuple[Any, ...]]:
    state: Counter[tuple[Any, ...]] = Counter()
    for row in lake.rows("answers/q"):
        state[(row["s"], row["o"])] += row["weight"]
    return +state
