"""The stage that checks remotes: what it accepts, and what each expectation finds wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest

from tests.support.opened import call
from tests.support.projects.project import Project
from tests.support.replicas.written import (
    EVERY,
    REMOTES,
    START,
    RemoteTables,
    Written,
    remote_project,
)
from weir.errors import EXIT_QUALITY, QualityError
from weir.jobs.check_freshness import main
from weir.lake.lake import Lake
from weir.lake.ledger.runs import ABANDONED, LedgerRow, record
from weir.lake.tables import QUALITY, RUNS, Table
from weir.project import open_lake
from weir.refresh.check import check_freshness
from weir.remotes import current
from weir.remotes.checks import rounds
from weir.remotes.current import Filter
from weir.remotes.freshness import RemoteState

pytestmark = pytest.mark.usefixtures("sampled")


@pytest.fixture
def tables(tmp_path: Path) -> RemoteTables:
    return remote_project(tmp_path)


def soon(tables: RemoteTables) -> datetime:
    """A minute after the last evaluation."""
    return tables.evaluation(tables.rounds) + timedelta(minutes=1)


def failures(
    tables: RemoteTables, *, now: datetime | None = None, run_id: str = "c"
) -> dict[str, int]:
    """Suite and expectation of what the next check finds wrong -> how many rows."""
    try:
        call(check_freshness, tables.settings, run_id, now=now or soon(tables))
        is_error = False
    except QualityError:
        is_error = True
    rows = open_lake(tables.settings).rows(QUALITY.name).to_pylist()
    newest = max(row["recorded_at"] for row in rows)
    failed = {
        f"{row['table'].partition('/')[0]}.{row['expectation']}": row["unexpected_rows"]
        for row in rows
        if row["recorded_at"] == newest and not row["success"]
    }
    assert bool(failed) == is_error
    return failed


def state(tables: RemoteTables, now: datetime) -> RemoteState:
    (of_remote,) = call(check_freshness, tables.settings, "c", now=now).states
    return of_remote


ROUNDS: tuple[Mapping[str, tuple[str, ...] | None], ...] = (
    {"a": ('"1"', '"2"', '"2"'), "b": ('"1"',), "c": ()},
    {"a": ('"1"', '"2"', '"2"'), "b": ('"2"',), "c": None},
    {"d": None},
    {},
    {"b": (), "c": ('"3"',), "d": ('"1"',)},
    {"a": ('"1"', '"2"', '"2"'), "c": ('"3"',)},
)


def test_rounds_as_the_refresh_writes_them_are_accepted(tables: RemoteTables) -> None:
    for number, answers in enumerate(ROUNDS, 1):
        tables.refresh(answers, not_asked=number % 2)
        assert failures(tables, run_id=f"c{number}") == {}
    tables.ingest(1, 2, 5)
    assert failures(tables) == {}


def test_rounds_are_checked_once(tables: RemoteTables) -> None:
    for answers in ROUNDS:
        tables.refresh(answers)
    lines: list[str] = []
    for _ in range(2):
        call(check_freshness, tables.settings, "c", lines.append, now=soon(tables))
    tables.refresh({"a": ('"9"',)})
    call(check_freshness, tables.settings, "c", lines.append, now=soon(tables))
    assert [line for line in lines if line.startswith("checked")] == [
        f"checked {rounds} of 1 remote" for rounds in ("6 rounds", "0 rounds", "1 round")
    ]


def test_the_cost_of_a_check_does_not_depend_on_the_rounds_before(
    tables: RemoteTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []

    def counting(lake: Lake, table: Table, filters: Sequence[Filter] = ()) -> pa.Table:
        rows = current.rows_of(lake, table, filters)
        read.append(rows.num_rows)
        return rows

    monkeypatch.setattr(rounds, "rows_of", counting)
    costs = []
    for number in range(1, 6):
        tables.refresh({"a": (f'"{number}"',), "b": ('"1"',)})
        tables.ingest(number)
        read.clear()
        assert failures(tables, run_id=f"c{number}") == {}
        costs.append(sum(read))
    assert len(set(costs[2:])) == 1, costs


def break_budget(written: Written) -> None:
    written.settled()[0]["bytes"] = 200_000
    written.freshness[0]["bytes_used"] += 195_000


def break_seconds(written: Written) -> None:
    written.settled()[0]["seconds"] = 8.1
    written.freshness[0]["seconds_used"] += 7.85


def break_keys(written: Written) -> None:
    written.settled()[0]["keys"] = 20
    written.freshness[0]["keys_used"] += 19


def break_requests(written: Written) -> None:
    for row in written.settled():
        row["requests"] = 2
    written.freshness[0]["requests_used"] *= 2


def only_reserved(written: Written) -> None:
    """Its reservation counts as spent, of all but the requests that could be sent."""
    written.requests.remove(written.settled()[0])
    written.freshness[0] |= {"bytes_used": 30_000, "seconds_used": 2.0}


def twice_settled(written: Written) -> None:
    written.requests.append(dict(written.settled()[0]))


def other_host(written: Written) -> None:
    written.requests[0]["host"] = written.requests[1]["host"] = "evil.example.org"


def other_host_in_the_url(written: Written) -> None:
    written.requests[1]["url"] = "https://evil.example.org/sparql"


def too_soon(written: Written) -> None:
    first, second, *_ = written.settled()
    second["started_at"] = first["started_at"] + timedelta(milliseconds=900)


def secret_in_the_url(written: Written) -> None:
    written.requests[1]["url"] = "https://wd.example.org/sparql?query=x"


def user_in_the_url(written: Written) -> None:
    written.requests[1]["url"] = "https://me@wd.example.org/sparql"


def asked_twice(written: Written) -> None:
    written.inbox.append(dict(written.asked()[1]))
    written.freshness[0] |= {"elected": 4, "answered": 4, "changed": 4}


def other_content(written: Written) -> None:
    written.asked()[0]["content"] = "0" * 64


def other_rows(written: Written) -> None:
    written.asked()[0]["rows"] += 1


def negative(written: Written) -> None:
    written.mappings()[0]["before"] = -1


def lost_mapping(written: Written) -> None:
    written.inbox.remove(written.mappings()[-1])


def mapping_of_a_failed_key(written: Written) -> None:
    key = written.asked()[0]
    key |= {"status": "failed", "reason": "it did not answer"}
    written.freshness[0] |= {"failed": 1, "answered": 2, "changed": 2}


def more_changes_than_answers(written: Written) -> None:
    written.asked()[0] |= {"answers": 1, "changes": 2}


def unknown_request(written: Written) -> None:
    written.asked()[0]["request_id"] = "another"


def unknown_pattern(written: Written) -> None:
    for row in (*written.inbox, *written.freshness):
        row["pattern"] = "p2"


def same_round(written: Written) -> None:
    written.commits = 2
    del written.inbox[:]
    del written.requests[:]
    nothing = ("elected", "answered", "changed", "requests_used", "keys_used", "bytes_used")
    written.freshness[0] |= dict.fromkeys((*nothing, "seconds_used"), 0)
    written.extra["changed_round"] = 1


def a_gap(written: Written) -> None:
    written.extra["round"] = 3
    written.extra["changed_round"] = 3
    for row in (*written.inbox, *written.freshness):
        row["round"] = 3
    for row in written.asked():
        row["rows_round"] = 3


def unmarked_change(written: Written) -> None:
    written.extra["changed_round"] = 1


def wrong_sum(written: Written) -> None:
    written.freshness[0]["elected"] += 1


def wrong_count(written: Written) -> None:
    written.freshness[0] |= {"changed": 2, "unchanged": 1}


def wrong_use(written: Written) -> None:
    written.freshness[0]["keys_used"] += 1


def two_rows(written: Written) -> None:
    written.freshness.append(dict(written.freshness[0]))


def more_unasked_than_candidates(written: Written) -> None:
    written.freshness[0]["never_asked"] = written.freshness[0]["candidates"] + 1


def disordered_ages(written: Written) -> None:
    written.freshness[0]["median_seconds"] = 1000.0


def no_share(written: Written) -> None:
    written.freshness[0]["share_fresh"] = 1.5


def too_old(written: Written) -> None:
    written.freshness[0]["oldest_seconds"] = 3600.0


def few_fresh(written: Written) -> None:
    written.freshness[0]["share_fresh"] = 0.49


BROKEN: tuple[tuple[Callable[[Written], None], str, int], ...] = (
    (break_budget, "requests.budget_is_kept", 3),
    (break_seconds, "requests.budget_is_kept", 3),
    (break_keys, "requests.budget_is_kept", 3),
    (break_requests, "requests.budget_is_kept", 3),
    (only_reserved, "requests.every_request_is_settled_or_abandoned", 1),
    (twice_settled, "requests.every_request_is_settled_or_abandoned", 1),
    (other_host, "requests.only_declared_hosts", 1),
    (other_host_in_the_url, "requests.only_declared_hosts", 1),
    (too_soon, "requests.politeness_is_kept", 1),
    (secret_in_the_url, "requests.urls_have_no_secret", 1),
    (user_in_the_url, "requests.urls_have_no_secret", 1),
    (asked_twice, "replicas.keys_are_asked_once_per_round", 1),
    (other_content, "replicas.content_agrees_with_mappings", 1),
    (other_rows, "replicas.content_agrees_with_mappings", 1),
    (negative, "replicas.content_agrees_with_mappings", 1),
    (lost_mapping, "replicas.content_agrees_with_mappings", 1),
    (mapping_of_a_failed_key, "replicas.only_answers_change_mappings", 1),
    (more_changes_than_answers, "replicas.changes_are_among_answers", 1),
    (unknown_request, "replicas.keys_have_a_request", 1),
    (unknown_pattern, "replicas.patterns_are_registered", 3),
    (same_round, "rounds.evaluated_once", 1),
    (a_gap, "rounds.evaluated_once", 1),
    (unmarked_change, "rounds.changes_are_marked", 1),
    (wrong_sum, "freshness.counts_add_up", 1),
    (wrong_count, "freshness.counts_agree_with_the_round", 1),
    (wrong_use, "freshness.use_agrees_with_requests", 1),
    (two_rows, "freshness.one_row_per_evaluation", 2),
    (more_unasked_than_candidates, "freshness.candidates_are_counted", 1),
    (disordered_ages, "freshness.ages_are_in_order", 1),
    (no_share, "freshness.share_fresh_is_a_share", 1),
    (too_old, "current_freshness.oldest_is_young_enough", 1),
    (few_fresh, "current_freshness.enough_is_fresh", 1),
)


@pytest.mark.parametrize(
    ("change", "expectation", "rows"), BROKEN, ids=[change.__name__ for change, *_ in BROKEN]
)
def test_each_kind_of_wrong_round_fails_its_expectation_alone(
    tables: RemoteTables, change: Callable[[Written], None], expectation: str, rows: int
) -> None:
    first = {"a": ('"1"',), "b": ('"1"',), "c": ('"1"',)}
    tables.refresh(first)
    assert failures(tables, run_id="before") == {}
    written = tables.next({"a": ('"2"', '"3"'), "b": ('"2"',), "c": ('"2"',)})
    change(written)
    tables.write(written)
    assert failures(tables) == {expectation: rows}


def test_every_expectation_is_broken_by_a_test() -> None:
    from weir.expectations.documents import DOCUMENTS_SUITE
    from weir.expectations.freshness import CURRENT_FRESHNESS_SUITE
    from weir.remotes.checks.frames import FRAMES

    suites = [suite for suite, _ in FRAMES if suite is not DOCUMENTS_SUITE]
    suites.append(CURRENT_FRESHNESS_SUITE)
    every = {
        f"{suite.name}.{expectation.name}" for suite in suites for expectation in suite.expectations
    }
    # The tests below break these.
    others = {"rounds.rounds_with_changes_are_epochs", "current_freshness.answered_in_time"}
    assert every == {expectation for _, expectation, _ in BROKEN} | others


@pytest.mark.parametrize("ingested", [(2,), (1, 1, 2), (1, 2, 3)])
def test_a_round_that_is_no_epoch_or_two_is_found(
    tables: RemoteTables, ingested: tuple[int, ...]
) -> None:
    tables.refresh({"a": ('"1"',)})
    tables.refresh({"a": ('"2"',)})
    tables.refresh({"a": ('"2"',)})
    assert failures(tables, run_id="before") == {}
    tables.ingest(*ingested)
    assert failures(tables) == {"rounds.rounds_with_changes_are_epochs": 1}


def test_a_round_is_no_epoch_before_it_is_ingested(tables: RemoteTables) -> None:
    for number in range(1, 5):
        tables.refresh({"a": (f'"{number}"',)})
    tables.ingest(1, 2)
    assert failures(tables, run_id="first") == {}
    tables.ingest(3)
    assert failures(tables, run_id="second") == {}
    tables.ingest(3)
    assert failures(tables) == {"rounds.rounds_with_changes_are_epochs": 1}


def test_a_round_that_is_ingested_before_it_is_complete_is_accepted(tables: RemoteTables) -> None:
    tables.refresh({"a": ('"1"',)})
    written = tables.next({"a": ('"2"',)})
    freshness, written.freshness = written.freshness, []
    tables.write(written)
    tables.ingest(1, 2)
    assert failures(tables, run_id="first") == {}
    tables.write(Written(2, [], [], freshness, {}, commits=0))
    assert failures(tables, run_id="second") == {}


def test_a_request_of_a_run_that_died_needs_no_end(tables: RemoteTables) -> None:
    tables.refresh({"a": ('"1"',)})
    for run_id in ("refresh", "another"):
        written = tables.next({"a": ('"2"',), "b": ('"1"',)})
        lost, other = [row | {"run_id": run_id} for row in written.requests[:1]], written.requests
        lost[0]["request_id"] = f"lost {run_id}"
        written.requests = [*lost, *other]
        spent = {unit: lost[0][unit] for unit in ("requests", "keys", "bytes", "seconds")}
        for unit, amount in spent.items():
            written.freshness[0][f"{unit}_used"] += amount
        tables.write(written)
        failed = failures(tables, run_id=f"c {run_id}")
        expected = {"requests.every_request_is_settled_or_abandoned": 1}
        assert failed == (expected if run_id == "refresh" else {})
    # Of a retry, the ledger knows that the first attempt died; the failed check is made again.
    row = LedgerRow("refresh", "refresh:wd", 1, ABANDONED)
    record(open_lake(tables.settings), [row])
    assert failures(tables, run_id="c refresh") == {}


def test_a_retry_of_a_failed_check_fails_again_and_a_later_run_does_not(
    tables: RemoteTables,
) -> None:
    written = tables.next({"a": ('"1"',)})
    wrong_sum(written)
    tables.write(written)
    for _ in range(3):
        assert failures(tables, run_id="same") == {"freshness.counts_add_up": 1}
    assert failures(tables, run_id="later") == {}


def test_a_request_during_a_wait_is_found(tables: RemoteTables) -> None:
    at = tables.evaluation(1)
    tables.refresh({"a": ('"1"',)}, asked_until=at + 2 * EVERY)
    tables.refresh({})
    assert failures(tables, run_id="first") == {}
    tables.refresh({"a": ('"1"',)})
    assert failures(tables, run_id="second") == {}
    tables.refresh({}, asked_until=tables.evaluation(5) + timedelta(seconds=1))
    tables.refresh({"a": ('"1"',)})
    assert failures(tables) == {"requests.politeness_is_kept": 1}


def test_a_wait_holds_for_the_address_that_it_was_asked_for(tables: RemoteTables) -> None:
    until = tables.evaluation(3)
    tables.refresh({"a": ('"1"',)}, asked_until=until, address="before")
    tables.refresh({"a": ('"1"',)}, address="after")
    assert failures(tables) == {}


def test_rounds_begin_again_when_the_tables_were_removed(tables: RemoteTables) -> None:
    import shutil

    for _ in range(3):
        tables.refresh({"a": ('"1"',)})
    assert failures(tables, run_id="before") == {}
    for name in ("requests", "replicas", "freshness"):
        shutil.rmtree(tables.folder / "lake" / name)
    again = RemoteTables(tables.folder)
    written = again.next({"a": ('"1"',)})
    wrong_sum(written)
    again.write(written)
    assert failures(again) == {"freshness.counts_add_up": 1}


def test_age_grows_while_nothing_is_refreshed(tables: RemoteTables) -> None:
    tables.refresh({"a": ('"1"',)})
    at = tables.evaluation(1)
    for minutes, expected in ((19, "fresh"), (21, "warn"), (59, "warn")):
        assert state(tables, at + timedelta(minutes=minutes)).state == expected
    late = at + timedelta(minutes=61)
    assert failures(tables, now=late) == {"current_freshness.oldest_is_young_enough": 1}
    with pytest.raises(QualityError, match="the oldest answer is 1h old; `error_after` is PT1H"):
        call(check_freshness, tables.settings, "c", now=late)


def test_a_remote_that_was_never_evaluated_is_an_error_when_that_is_due(
    tables: RemoteTables,
) -> None:
    assert state(tables, START + timedelta(minutes=59)).state == "never_evaluated"
    failed = failures(tables, now=START + timedelta(minutes=61))
    assert failed == {"current_freshness.answered_in_time": 1}


def test_a_remote_that_never_answers_is_an_error_when_that_is_due(tables: RemoteTables) -> None:
    tables.refresh({"a": None})
    assert failures(tables, now=START + timedelta(minutes=59)) == {}
    failed = failures(tables, now=START + timedelta(minutes=61))
    assert failed == {"current_freshness.answered_in_time": 1}


def test_a_remote_that_no_query_asks_for_is_never_late(tmp_path: Path) -> None:
    Project(tmp_path).write("remotes.yml", REMOTES)
    tables = RemoteTables(tmp_path)
    assert state(tables, START + timedelta(days=9)).state == "unused"


def test_a_remote_that_wants_a_pause_is_backing_off_until_then(tables: RemoteTables) -> None:
    until = tables.evaluation(1) + timedelta(minutes=15)
    tables.refresh({"a": ('"1"',)}, not_before=until, not_before_reason="throttled")
    backing_off = state(tables, soon(tables))
    assert (backing_off.state, backing_off.reason) == ("backing_off", "throttled")
    # It is asked every ten minutes: by the first evaluation after the pause.
    assert backing_off.next_allowed == tables.evaluation(1) + timedelta(minutes=20)
    assert state(tables, until + timedelta(seconds=1)).state == "fresh"


def test_a_remote_with_wrong_rounds_does_not_fail_another(tmp_path: Path) -> None:
    second = REMOTES.partition("\n")[2].replace("wd", "fb")
    one = remote_project(tmp_path, REMOTES + second)
    other = RemoteTables(tmp_path, "fb")
    other.register("p1")
    one.refresh({"a": ('"1"',)})
    written = other.next({"a": ('"1"',)})
    for row in written.requests:
        row["host"] = "fb.example.org"
    for row in written.settled():
        row["url"] = "https://fb.example.org/sparql"
    wrong_sum(written)
    other.write(written)
    with pytest.raises(QualityError, match=r"hold no answer: fb: counts_add_up \(1 row\)\."):
        call(check_freshness, one.settings, "c", now=soon(one))
    rows = open_lake(one.settings).rows(RUNS.name).to_pylist()
    about = {row["query"]: row["status"] for row in rows if row["query"]}
    assert about == {"wd": "succeeded", "fb": "failed"}


def test_without_remotes_nothing_is_written(tmp_path: Path) -> None:
    tables = remote_project(tmp_path)
    (tmp_path / "remotes.yml").unlink()
    assert call(check_freshness, tables.settings, "c").states == ()
    assert not open_lake(tables.settings).exists(RUNS.name)


def test_the_task_exits_with_3_when_a_replica_is_too_old(
    tables: RemoteTables, capsys: pytest.CaptureFixture[str]
) -> None:
    tables.refresh({"a": ('"1"',)})
    config = str(tables.folder / "weir.toml")
    assert main(["--config", config, "--run-id", "c"]) == EXIT_QUALITY
    assert "wd: oldest_is_young_enough (1 row)" in capsys.readouterr().err
