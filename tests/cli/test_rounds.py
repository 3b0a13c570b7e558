"""Rounds of a resident process: what they do, notice, report, keep and give back."""

from __future__ import annotations

import gc
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.projects.command_line import Weir
from weir.cli.run_output import answer_rows
from weir.expectations.run import library
from weir.ingest.batch import ingest_batch
from weir.lake.ledger.summary import read_ledger
from weir.pending import Pending
from weir.project import open_lake
from weir.resident.rounds import Round, Rounds
from weir.resident.stopping import StopRequest
from weir.settings import Settings
from weir.sparql.functions import values
from weir.stage import claimed

pytestmark = pytest.mark.usefixtures("initialised", "sampled")

EVERY = 5.0
FIRST = Path("data/versions/001.ttl")
TITLES = "SELECT ?t { ?x <http://example.org/title> ?t }"


class Clock:
    """Seconds that pass only when they are made to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Resident:
    """A resident process whose rounds are called one by one."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.rounds = Rounds(Settings.load, Path("weir.toml").absolute(), EVERY, self.clock)
        self.looks = Counter[str]()

    def next(self, *, after: float = EVERY) -> Round | None:
        self.clock.now += after
        return self.rounds.next()

    def stages(self, this_round: Round | None) -> list[str]:
        return [stage.stage for stage in this_round.done] if this_round is not None else []

    @property
    def opened(self) -> int:
        return sum(self.rounds.project.lake.opened.values())


@pytest.fixture
def resident(monkeypatch: pytest.MonkeyPatch) -> Iterator[Resident]:
    started = Resident()

    def counting(name: str) -> None:
        look = getattr(Pending, name).func

        def counted(pending: Pending) -> bool:
            started.looks[name] += 1
            answer: bool = look(pending)
            return answer

        monkeypatch.setattr(Pending, name, property(counted))

    for name in ("ingest", "answers"):
        counting(name)
    with started.rounds:
        yield started


def version(number: int, rooms: int = 1) -> None:
    """A version of the graph with so many further exhibits."""
    more = "".join(
        f':x{number}_{i} a :Exhibit ; :title "{number} {i}" ; :room "9" .\n' for i in range(rooms)
    )
    Path(f"data/versions/{number:03}.ttl").write_text(FIRST.read_text() + more)


def published(this_round: Round | None) -> list[tuple[str, str, int]]:
    assert this_round is not None
    assert not this_round.began, this_round.began
    return [(row["query"], row["mode"], row["rows"]) for row in answer_rows(this_round.done)]


def runs() -> int:
    """Rows of the ledger."""
    return open_lake(Settings.load()).rows("runs").num_rows


def settle(resident: Resident) -> None:
    """Rounds until nothing is left to look at."""
    while resident.next() is not None:
        pass


def test_a_round_publishes_what_is_new_and_the_next_one_has_nothing_to_report(
    resident: Resident, weir: Weir
) -> None:
    assert published(resident.next()) == [("exhibits", "initial", 2)]
    assert resident.next() is None
    version(2)
    assert published(resident.next()) == [("exhibits", "incremental", 1)]
    assert resident.next() is None
    shown = weir("show", "exhibits", "--output", "json").json
    assert {row["title"] for row in shown} == {"Greek vase", "Roman coin", "2 0"}


def test_each_round_that_does_something_is_a_run_of_its_own(resident: Resident) -> None:
    first = resident.next()
    version(2)
    second = resident.next()
    assert first is not None
    assert second is not None
    ids = {row["run_id"] for row in open_lake(Settings.load()).rows("runs").to_pylist()}
    assert ids == {first.run_id, second.run_id}


def test_a_file_that_is_changed_after_it_was_read_is_reported_once(resident: Resident) -> None:
    version(2)
    resident.next()
    settle(resident)
    version(2, rooms=3)
    this_round = resident.next()
    assert this_round is not None
    (done,) = this_round.done
    assert done.result is not None
    (warning,) = done.result.warnings
    assert "002.ttl was changed after it was read" in warning
    assert resident.next() is None


def test_an_empty_round_opens_and_asks_nothing_and_leaves_no_trace(resident: Resident) -> None:
    resident.next()
    settle(resident)
    looks, opened, rows = resident.looks.copy(), resident.opened, runs()
    for _ in range(5):
        assert resident.next() is None
    assert (resident.looks, resident.opened, runs()) == (looks, opened, rows)
    # Once in a while the tables are looked at all the same.
    assert resident.next(after=60) is None
    assert resident.looks["ingest"] == looks["ingest"] + 1
    assert runs() == rows


def test_a_round_opens_no_table_that_an_earlier_round_opened(resident: Resident) -> None:
    resident.next()
    version(2)
    resident.next()
    before = resident.opened
    version(3)
    assert published(resident.next()) == [("exhibits", "incremental", 2)]
    assert resident.opened == before


def test_edited_added_and_removed_queries_are_noticed(resident: Resident) -> None:
    resident.next()
    settle(resident)
    query = Path("queries/exhibits.rq")
    query.write_text(query.read_text().replace(":room ?room", ':room ?room, "1"'))
    assert published(resident.next()) == [("exhibits", "edited", 1)]
    settle(resident)
    Path("queries/titles.rq").write_text(TITLES)
    assert [row[:2] for row in published(resident.next())] == [("titles", "initial")]
    settle(resident)
    query.unlink()
    settle(resident)
    version(2)
    assert [name for name, _, _ in published(resident.next())] == ["titles"]


def test_the_commits_of_another_run_are_seen(resident: Resident, weir: Weir) -> None:
    resident.next()
    settle(resident)
    version(2)
    assert weir("run").code == 0
    rows = runs()
    assert resident.next() is None
    assert runs() == rows
    version(3, rooms=2)
    assert published(resident.next()) == [("exhibits", "incremental", 3)]
    shown = weir("show", "exhibits", "--output", "json").json
    assert {row["title"] for row in shown} == {"Greek vase", "Roman coin", "3 0", "3 1"}


@pytest.mark.parametrize("table", ["answers/exhibits", "embeddings/exhibits"])
def test_a_table_that_was_removed_is_noticed(resident: Resident, weir: Weir, table: str) -> None:
    resident.next()
    settle(resident)
    shutil.rmtree(Path(Settings.load().lake) / table)
    this_round = resident.next()
    assert this_round is not None
    assert any(stage.did_something for stage in this_round.done)
    assert len(weir("show", "exhibits", "--output", "json").json) == 2


def test_a_lake_that_was_replaced_by_a_copy_of_an_earlier_state_is_noticed(
    resident: Resident, weir: Weir
) -> None:
    resident.next()
    lake = Path(Settings.load().lake)
    shutil.copytree(lake, "copy")
    version(2)
    resident.next()
    settle(resident)
    shutil.rmtree(lake)
    Path("copy").rename(lake)
    assert published(resident.next()) == [("exhibits", "incremental", 1)]
    assert len(weir("show", "exhibits", "--output", "json").json) == 3


def test_a_failure_is_reported_when_it_begins_and_when_it_ends(resident: Resident) -> None:
    resident.next()
    Path("queries/broken.rq").write_text("SELECT")
    this_round = resident.next()
    assert this_round is not None
    (error,) = this_round.began
    assert "broken.rq" in str(error)
    for _ in range(8):
        assert resident.next() is None
    version(2)
    this_round = resident.next()
    assert this_round is not None
    assert (this_round.began, this_round.ended) == ([], [])
    assert [row["rows"] for row in answer_rows(this_round.done)] == [1]
    Path("queries/broken.rq").unlink()
    this_round = resident.next()
    assert this_round is not None
    assert this_round.began == []
    assert [str(ended) for ended in this_round.ended] == [str(error)]
    assert resident.next() is None


def test_what_failed_is_tried_again_at_growing_intervals_unless_something_changes(
    resident: Resident,
) -> None:
    resident.next()
    query = Path("queries/exhibits.rq")
    query.write_text("#+ max_rows: 1\n" + query.read_text())
    version(2)
    this_round = resident.next()
    assert this_round is not None
    assert any("row_count_is_within_max_rows" in str(error) for error in this_round.began)
    tried = []
    for number in range(1, 33):
        before = runs()
        assert resident.next() is None
        if runs() > before:
            tried.append(number)
    assert tried == [1, 3, 7, 15, 31]
    query.write_text(query.read_text().replace("max_rows: 1", "max_rows: 10"))
    this_round = resident.next()
    assert this_round is not None
    assert this_round.ended
    assert published(this_round) == [("exhibits", "incremental", 1)]


def test_a_round_beside_another_run_says_so_and_the_next_one_goes_on(resident: Resident) -> None:
    resident.next()
    version(2)
    with claimed(open_lake(Settings.load()), "maintain", "the other run", 60):
        this_round = resident.next()
        assert this_round is not None
        assert resident.stages(this_round) == ["ingest", "maintain", "validate", "publish"]
        assert ["the other run" in str(error) for error in this_round.began] == [True]
        assert resident.next() is None
    this_round = resident.next()
    assert this_round is not None
    assert ["the other run" in str(error) for error in this_round.ended] == [True]
    assert published(this_round) == [("exhibits", "incremental", 1)]


def test_while_another_run_has_not_ended_every_round_looks_for_what_it_commits(
    resident: Resident,
) -> None:
    resident.next()
    settle(resident)
    other = open_lake(Settings.load())
    open_claim = claimed(other, "validate", "the other run", 60)
    open_claim.__enter__()
    looks = resident.looks["ingest"]
    for _ in range(3):
        resident.next()
    assert resident.looks["ingest"] == looks + 3
    open_claim.__exit__(None, None, None)


def test_the_configuration_is_read_again_and_a_wrong_one_reported(resident: Resident) -> None:
    resident.next()
    settle(resident)
    config = Path("weir.toml")
    text = config.read_text()
    config.write_text("oops\n" + text)
    this_round = resident.next()
    assert this_round is not None
    assert "not TOML" in str(this_round.began[0])
    assert resident.next() is None
    config.write_text(text + "batch_epochs = 7\n")
    this_round = resident.next()
    assert this_round is not None
    assert "not TOML" in str(this_round.ended[0])
    assert resident.rounds.project.settings.limits.batch_epochs == 7
    version(2)
    assert published(resident.next()) == [("exhibits", "incremental", 1)]


def test_an_edited_declaration_of_sources_is_read_by_the_next_round(resident: Resident) -> None:
    resident.next()
    settle(resident)
    sources = Path("sources.yml")
    sources.write_text(sources.read_text() + "  - {name: more, kind: patches, location: more}\n")
    this_round = resident.next()
    assert this_round is not None
    assert "more: its location does not exist" in str(this_round.began[0])
    Path("more").mkdir()
    patch = 'TX .\nA <urn:x> <http://example.org/title> "X" .\nTC .\n'
    Path("more/1.rdfp").write_text(patch)
    this_round = resident.next()
    assert this_round is not None
    assert this_round.ended
    assert this_round.done[0].did_something


def test_a_stop_ends_a_round_after_the_stage_and_the_next_process_completes_it(
    resident: Resident, monkeypatch: pytest.MonkeyPatch
) -> None:
    resident.next()
    stop = StopRequest()

    def stopping(*arguments: Any) -> Any:
        stop.is_made = True
        return ingest_batch(*arguments)

    version(2)
    with monkeypatch.context() as patched:
        patched.setattr("weir.ingest.stage.ingest_batch", stopping)
        assert resident.stages(resident.rounds.next(stop)) == ["ingest"]
    with Resident().rounds as another:
        assert published(another.next()) == [("exhibits", "incremental", 1)]


def test_an_unexpected_error_of_a_round_is_raised(
    resident: Resident, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(pending: Pending) -> bool:
        del pending
        raise ZeroDivisionError

    monkeypatch.setattr(Pending, "ingest", property(fail))
    with pytest.raises(ZeroDivisionError):
        resident.next()


def test_nothing_grows_with_the_number_of_rounds(resident: Resident) -> None:
    library()
    from weir.expectations import registration

    kept = resident.rounds.project

    def held() -> Mapping[str, int]:
        lake, connection = kept.lake, kept.database._connection
        memory = "SELECT SUM(memory_usage_bytes) FROM duckdb_memory()"
        return {
            "tables": len(lake._tables),
            "histories": len(lake._histories),
            "databases": len(connection.execute("FROM duckdb_databases()").fetchall()),
            "relations": len(
                connection.execute(
                    "SELECT table_name FROM duckdb_tables() UNION ALL"
                    " SELECT view_name FROM duckdb_views() WHERE NOT internal"
                ).fetchall()
            ),
            "bytes of DuckDB": int(connection.execute(memory).fetchall()[0][0] or 0),
            "suites": len(registration._SUITES),
            "rows checked": len(registration._HELD),
            "ledger": read_ledger(lake).rows.num_rows,
            **objects(),
        }

    def objects() -> Counter[str]:
        """Those of classes of ours, and of what they hold."""
        # Values of terms are remembered, up to a number.
        values._remembered.cache_clear()
        gc.collect()
        classes = (type(object_) for object_ in gc.get_objects())
        packages = ("weir.", "deltalake.", "duckdb.", "sqlglot.")
        return Counter(
            f"{kind.__module__}.{kind.__qualname__}"
            for kind in classes
            if str(kind.__module__).startswith(packages)
        )

    number = 1
    counts: list[Mapping[str, int]] = []
    for rounds in (5, 15):
        for _ in range(rounds):
            number += 1
            version(number)
            assert resident.next() is not None
        counts.append(held())
    assert counts[0] == counts[1]
