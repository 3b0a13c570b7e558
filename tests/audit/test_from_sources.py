"""A damaged log of the graph is read again from the sources."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, Transaction, write_deltalake

from tests.remotes.test_evaluations import EVERY, POPULATION, project_of
from tests.support.damage import append_foreign, data_files, flip_a_bit, newest_commit
from tests.support.dying import dies_at
from tests.support.opened import call
from tests.support.oracles.projects import check_answers
from tests.support.projects.project import PATCHES, SNAPSHOTS, Project
from weir.audit.repair import RepairResult, repair_lake
from weir.audit.repairs import Repair
from weir.audit.stage import examined
from weir.errors import BusyError, QualityError, WeirError
from weir.ingest.source_names import drop_source, rename_source
from weir.lake.damage.storage_errors import DamagedTable
from weir.lake.delta.commit import write
from weir.lake.delta.file_commits import append
from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake
from weir.lake.ledger.runs import ABANDONED, LedgerRow, record
from weir.lake.names import Name
from weir.lake.tables import QUADS, TRANSACTIONS, Table
from weir.lake.upkeep.consolidated import note_consolidation
from weir.project import open_lake
from weir.remotes.checks import rounds as checked
from weir.remotes.replica_inbox import replica_inbox

pytestmark = pytest.mark.usefixtures("sampled")

_DELETED = 'D <urn:b> <urn:room> "2" <urn:g>'


def lost_file(project: Project) -> None:
    """The first data file of `quads`."""
    data_files(open_lake(project.settings), "quads")[0].unlink()


def flipped(project: Project) -> None:
    """A bit of each data file of `quads`."""
    for file in data_files(open_lake(project.settings), "quads"):
        flip_a_bit(file, random.Random(3))


def garbled(project: Project) -> None:
    """The newest commit of `quads`."""
    newest_commit(open_lake(project.settings), "quads").write_text("{")


def gone(project: Project) -> None:
    """All of `quads`."""
    open_lake(project.settings).remove("quads")


def wrong_quad(project: Project) -> None:
    """A row that no epoch has."""
    wrong = {**project.table("quads")[0], "object": '"never"'}
    append_foreign(open_lake(project.settings), "quads", [wrong])


DAMAGES = (lost_file, flipped, garbled, gone, wrong_quad)


def rebuild(project: Project, said: list[Repair] | None = None) -> RepairResult:
    """Repair from the sources; `said` receives what is said before."""

    def confirm(planned: Sequence[Repair]) -> bool:
        if said is not None:
            said.extend(planned)
        return True

    return call(repair_lake, project.settings, "repair", from_sources=True, confirm=confirm)


def failed(project: Project) -> list[str]:
    """The checks that do not hold after a repair."""
    return [
        result.expectation for result in call(examined, project.settings, "a", full=True).failed
    ]


@pytest.mark.parametrize("damage", DAMAGES)
def test_the_log_of_every_epoch_is_read_again(
    project: Project, damage: Callable[[Project], None]
) -> None:
    project.change('A <urn:c> <urn:room> "5" <urn:g>', 'A <urn:c> <urn:title> "c" <urn:g>')
    quads, triples = project.rows("quads"), project.rows("triples")
    damage(project)
    done = rebuild(project).done
    assert "with every epoch: answers stay as they are" in done[0].what
    assert project.rows("quads") == quads
    assert project.rows("triples") == triples
    assert failed(project) == []


@pytest.mark.parametrize("damage", DAMAGES)
def test_queries_go_on_from_a_rebuilt_log(
    project: Project, tmp_path: Path, damage: Callable[[Project], None]
) -> None:
    """One that is behind too, and one that is ahead of what is published."""
    project.change('A <urn:c> <urn:room> "5" <urn:g>', 'A <urn:c> <urn:title> "c" <urn:g>')
    project.maintain()
    project.change(_DELETED)
    whole = project.copy(tmp_path / "whole")
    damage(project)
    rebuild(project)
    for life in (project, whole):
        life.run()
        life.change('D <urn:a> <urn:room> "3" <urn:g>')
        life.run()
    for query in ("rooms", "in_g"):
        assert project.signed(query) == whole.signed(query)
        check_answers(project, query, 3, 6)


def test_what_the_sources_no_longer_have_is_retracted_and_said_before(project: Project) -> None:
    project.change_sets[0].unlink()
    before = project.signed("rooms")
    flipped(project)
    said: list[Repair] = []
    rebuild(project, said)
    assert [repair.what for repair in said] == [
        "rebuilt from the sources, 3 quads, as epoch 4: the next run publishes the difference to"
        " what was published; earlier epochs that were not published come with it",
        "source p: 3 of 5 quads, 2 are lost (0001.rdfp cannot be read again)",
    ]
    project.run()
    after = project.signed("rooms")
    assert [row for row in after if row[0] <= 3] == before
    assert {row[0] for row in after if row not in before} == {4}
    assert project.answer("rooms").total() == 1
    assert failed(project) == []
    project.patch("changes/0004.rdfp", 'A <urn:b> <urn:title> "b" <urn:g> .')
    project.run()
    assert project.answer("rooms").total() == 2


def test_rows_of_intact_files_take_the_place_of_change_sets_that_are_gone(
    project: Project,
) -> None:
    """The patches are gone that the first file of the log has; another file is lost."""
    project.change_sets[0].unlink()
    quads = project.rows("quads")
    flip_a_bit(data_files_by_epoch(project)[2], random.Random(3))
    assert "with every epoch" in rebuild(project).done[0].what
    assert project.rows("quads") == quads
    assert failed(project) == []


def data_files_by_epoch(project: Project) -> list[Path]:
    """The data files of `quads`, in the order of their commits."""
    return sorted(
        data_files(open_lake(project.settings), "quads"), key=lambda file: file.stat().st_mtime_ns
    )


def test_of_versions_that_are_gone_the_next_one_has_the_state(tmp_path: Path) -> None:
    project = Project(tmp_path).declare(SNAPSHOTS)
    project.query("q", "SELECT ?r { ?x <urn:room> ?r }")
    for number in (1, 2, 3):
        project.write(f"versions/{number}.nt", f'<urn:a> <urn:room> "{number}" .\n')
        project.run()
    (tmp_path / "versions/1.nt").unlink()
    before = project.signed("q")
    flipped(project)
    assert "changes before epoch 2 are a state from now on" in rebuild(project).done[0].what
    project.write("versions/4.nt", '<urn:a> <urn:room> "4" .\n')
    project.run()
    assert [row for row in project.signed("q") if row[0] <= 3] == before
    assert [row[:2] for row in project.signed("q") if row[0] > 3] == [(4, -1), (4, 1)]
    assert failed(project) == []


def test_a_file_that_was_edited_since_is_named_and_its_content_becomes_an_epoch(
    tmp_path: Path,
) -> None:
    project = Project(tmp_path).declare(SNAPSHOTS)
    project.query("q", "SELECT ?r { ?x <urn:room> ?r }")
    project.write("versions/1.nt", '<urn:a> <urn:room> "1" .\n')
    project.run()
    project.write("versions/1.nt", '<urn:a> <urn:room> "99" .\n')
    flipped(project)
    said: list[Repair] = []
    rebuild(project, said)
    assert "versions/1.nt has other content than was read" in said[1].what
    project.run()
    assert [row[:2] for row in project.signed("q")] == [(1, 1), (2, -1), (2, 1)]


def test_quads_of_a_source_that_is_no_longer_declared_are_said(project: Project) -> None:
    shutil.copytree(project.folder / "changes", project.folder / "others")
    project.declare({**PATCHES, "name": "other", "location": "none"})
    project.folders("none")
    flipped(project)
    said: list[Repair] = []
    rebuild(project, said)
    assert said[1].what == "source p: 0 of 5 quads, 5 are lost (it is no longer declared)"


def test_a_rebuild_that_is_not_confirmed_changes_nothing(project: Project) -> None:
    flipped(project)
    before = project.versions()
    result = call(
        repair_lake, project.settings, "repair", from_sources=True, confirm=lambda _: False
    )
    assert result.done == ()
    assert {**project.versions(), "quality": 0} == {**before, "quality": 0}
    assert not (Path(project.settings.lake) / "_rebuilt").exists()


def test_a_rebuild_that_dies_is_repeated_and_loses_nothing(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.change_sets[0].unlink()
    quads = project.rows("quads")
    flip_a_bit(data_files_by_epoch(project)[2], random.Random(3))

    with monkeypatch.context() as patch:
        patch.setattr("weir.audit.replacement.write", dies_at_transactions)
        with pytest.raises(RuntimeError, match="killed"):
            rebuild(project)
    with pytest.raises(DamagedTable, match="the table quads is gone"):
        project.ingest()
    rebuild(project)
    assert project.rows("quads") == quads
    assert failed(project) == []


def dies_at_transactions(lake: Lake, table: Table, *rest: Any, **options: Any) -> int:
    """Writing, until the epochs are written."""
    if table == TRANSACTIONS:
        raise RuntimeError("killed")
    return write(lake, table, *rest, **options)


@pytest.mark.parametrize("table", ["quads", "triples", "graphs"])
def test_a_table_of_the_graph_that_is_gone_is_no_empty_one(project: Project, table: str) -> None:
    open_lake(project.settings).remove(table)
    project.change_set(_DELETED)
    for stage in (project.ingest, project.maintain):
        with pytest.raises(
            DamagedTable, match=f"the table {table} is gone, and 3 epochs are known"
        ) as raised:
            stage()
        assert ("--from-sources" in raised.value.hint) == (table != "graphs")
    assert not open_lake(project.settings).exists(table)


def test_without_the_owners_of_graphs_nothing_is_rebuilt(project: Project) -> None:
    open_lake(project.settings).remove("graphs")
    flipped(project)
    files = sorted((project.folder / "lake/quads").iterdir())
    with pytest.raises(WeirError, match="without the table graphs"):
        rebuild(project)
    assert sorted((project.folder / "lake/quads").iterdir()) == files


def test_without_a_source_that_is_left_nothing_is_rebuilt(project: Project) -> None:
    """A row that nobody wrote was retracted with those of its graph."""
    row = {**project.table("quads")[0], "object": '"never"', "weight": 1}
    append_foreign(open_lake(project.settings), "quads", [row])
    project.declare(SNAPSHOTS)
    call(drop_source, project.settings, "d", name=Name("p"))
    files = sorted((project.folder / "lake/quads").iterdir())
    with pytest.raises(WeirError, match="no source of it is left"):
        rebuild(project)
    assert sorted((project.folder / "lake/quads").iterdir()) == files
    assert not (project.folder / "lake/_rebuilt").exists()


def test_a_repair_names_the_rebuild(project: Project) -> None:
    flipped(project)
    with pytest.raises(QualityError, match="or have `weir repair --from-sources` rebuild it"):
        call(repair_lake, project.settings, "repair")


@pytest.fixture
def versions(tmp_path: Path) -> Project:
    """Three versions of a snapshot source, of which the last is not validated."""
    project = Project(tmp_path).declare(SNAPSHOTS)
    project.query("q", "SELECT ?r { ?x <urn:room> ?r }")
    for number in (1, 2, 3):
        project.write(f"versions/{number}.nt", f'<urn:a> <urn:room> "{number}" .\n')
        if number < 3:
            project.run()
    project.ingest()
    return project


def test_an_epoch_that_is_a_state_before_it_was_validated_is_published(versions: Project) -> None:
    for number in (1, 2):
        (versions.folder / f"versions/{number}.nt").unlink()
    flipped(versions)
    assert "changes before epoch 3 are a state from now on" in rebuild(versions).done[0].what
    versions.run()
    assert versions.answer("q").total() == 1
    assert {epoch for epoch, *_ in versions.signed("q")} == {1, 2, 3}
    assert failed(versions) == []


def test_the_newest_version_that_is_gone_with_its_rows_is_retracted(versions: Project) -> None:
    """As many quads are left as there were, but others."""
    versions.run()
    (versions.folder / "versions/3.nt").unlink()
    garbled(versions)
    said: list[Repair] = []
    rebuild(versions, said)
    assert "as epoch 4: the next run publishes the difference" in said[0].what
    assert said[1].what == "source s: 1 of 1 quad (3.nt cannot be read again)"
    versions.run()
    assert [row[:2] for row in versions.signed("q") if row[0] > 3] == [(4, -1), (4, 1)]
    assert {*versions.state(4)} == {("<urn:weir:graph:s>", "<urn:a>", "<urn:room>", '"2"')}


def test_a_source_without_quads_whose_file_was_edited_is_rebuilt(tmp_path: Path) -> None:
    project = Project(tmp_path).declare(PATCHES)
    project.query("q", "SELECT ?r { ?x <urn:room> ?r }")
    project.change('A <urn:a> <urn:room> "1"')
    project.change('D <urn:a> <urn:room> "1"')
    project.run()
    first = project.change_sets[0]
    first.write_text(f"# edited\n{first.read_text()}")
    flipped(project)
    said: list[Repair] = []
    rebuild(project, said)
    assert "0001.rdfp has other content than was read" in said[1].what
    project.run()
    assert failed(project) == []


def test_each_file_is_compared_however_many_there_are(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weir.ingest.source_files.COMPARED_FILES", 1)
    first = project.change_sets[0]
    first.write_text(first.read_text().replace('"a"', '"z"'))
    flipped(project)
    said: list[Repair] = []
    rebuild(project, said)
    assert "0001.rdfp has other content than was read" in said[1].what


def test_of_an_archived_newest_patch_the_others_are_read_without_a_log(project: Project) -> None:
    project.change_sets[-1].unlink()
    before = project.state(2)
    garbled(project)
    said: list[Repair] = []
    rebuild(project, said)
    assert said[1].what == "source p: 5 of 5 quads (0003.rdfp cannot be read again)"
    assert "as epoch 4" in said[0].what
    assert project.state(4) == before


@pytest.mark.parametrize("is_lost", [False, True])
def test_a_missing_patch_in_the_middle_takes_its_rows_only_from_the_log(
    project: Project, is_lost: bool
) -> None:
    project.change_sets[1].unlink()
    quads = project.rows("quads")
    files = data_files_by_epoch(project)
    for number in (0, 1, 2) if is_lost else (0, 2):
        flip_a_bit(files[number], random.Random(3))
    what = rebuild(project).done[0].what
    if is_lost:
        assert "3 quads, as epoch 4" in what
        assert project.state(4) == {
            ("<urn:g>", "<urn:a>", "<urn:title>", '"a"'),
            ("<urn:g>", "<urn:b>", "<urn:title>", '"b"'),
            ("<urn:g>", "<urn:a>", "<urn:room>", '"3"'),
        }
    else:
        assert "with every epoch" in what
        assert project.rows("quads") == quads
    project.run()
    assert failed(project) == []


POINTS = (
    "repair:before:take:quads",
    "repair:before:take:triples",
    "repair:after:take:triples",
    "repair:before:put:triples",
    "repair:before:put:quads",
    "repair:after:put:quads",
)


@pytest.mark.parametrize("is_whole", [False, True])
@pytest.mark.parametrize("point", POINTS)
def test_a_rebuild_that_is_killed_at_any_point_is_repeated(
    project: Project, point: str, is_whole: bool
) -> None:
    """With all change sets, and with a correction."""
    quads = project.rows("quads")
    if not is_whole:
        project.change_sets[0].unlink()
    flipped(project)
    with dies_at(point):
        rebuild(project)
    if point not in (POINTS[0], POINTS[-1]):
        with pytest.raises(DamagedTable, match="the table quads is gone"):
            project.ingest()
    if point == POINTS[-1]:
        assert open_lake(project.settings).exists("quads")
    else:
        rebuild(project)
    if is_whole:
        assert project.rows("quads") == quads
    else:
        assert len(project.state(9)) == 3
    project.run()
    assert failed(project) == []
    assert project.answer("rooms").total() == (2 if is_whole else 1)


def abandoned(lake: Lake, number: int) -> None:
    """Another run marks the claim as dead."""
    record(lake, [LedgerRow("repair", "ingest", number, ABANDONED)])


def committed(lake: Lake, number: int) -> None:
    """Another run with the same claim commits."""
    transaction = Transaction("weir-commits-of-ingest", (number + 1) * 2**20 + 1)
    append(lake.existing("transactions"), (), transaction=transaction)


@pytest.mark.parametrize("other", [abandoned, committed])
def test_a_repair_whose_claim_was_taken_over_moves_nothing(
    project: Project, other: Callable[[Lake, int], None]
) -> None:
    flipped(project)
    files = sorted((project.folder / "lake/quads").iterdir())

    def take_over(planned: Sequence[Repair]) -> bool:
        del planned
        rows = [row for row in project.table("runs") if row["job"] == "ingest"]
        other(open_lake(project.settings), max(row["number"] for row in rows))
        return True

    with pytest.raises(BusyError, match="another run of ingest"):
        call(repair_lake, project.settings, "repair", from_sources=True, confirm=take_over)
    assert sorted((project.folder / "lake/quads").iterdir()) == files
    assert not (project.folder / "lake/_replaced").exists()


DELTA = {"name": "d", "kind": "delta", "location": "table"}
_FEED = {"delta.enableChangeDataFeed": "true"}


def delta_rows(*rooms: int) -> pa.Table:
    """A row for each room."""
    return pa.table(
        {
            "subject": ["<urn:a>"] * len(rooms),
            "predicate": ["<urn:room>"] * len(rooms),
            "object": [f'"{room}"' for room in rooms],
        }
    )


@pytest.fixture
def of_delta(tmp_path: Path) -> Project:
    """A project over a Delta table, of which three versions are ingested."""
    project = Project(tmp_path).declare(DELTA)
    project.query("q", "SELECT ?r { ?x <urn:room> ?r }")
    table = str(tmp_path / "table")
    write_deltalake(table, delta_rows(1), configuration=_FEED)
    project.run()
    write_deltalake(table, delta_rows(2), mode="append")
    project.run()
    DeltaTable(table).delete("object = '\"1\"'")
    project.run()
    return project


def vacuumed(project: Project) -> None:
    """Delete what the newest version of the table does not need."""
    table = DeltaTable(str(project.folder / "table"))
    table.vacuum(retention_hours=0, dry_run=False, enforce_retention_duration=False)
    shutil.rmtree(project.folder / "table/_change_data", ignore_errors=True)


def test_the_log_of_a_delta_source_is_read_again(of_delta: Project) -> None:
    quads = of_delta.rows("quads")
    flipped(of_delta)
    assert "with every epoch" in rebuild(of_delta).done[0].what
    assert of_delta.rows("quads") == quads
    assert failed(of_delta) == []


def test_of_a_vacuumed_delta_source_the_last_version_is_the_state(of_delta: Project) -> None:
    before = of_delta.state(3)
    vacuumed(of_delta)
    flipped(of_delta)
    rebuild(of_delta)
    assert of_delta.state(9) == before
    of_delta.run()
    assert [row[0] for row in of_delta.signed("q")] == [1, 2, 3]
    assert failed(of_delta) == []


def test_a_version_that_was_not_ingested_gets_no_old_epoch(of_delta: Project) -> None:
    """What was ingested last is gone, too: it is retracted until the next version is ingested."""
    write_deltalake(str(of_delta.folder / "table"), delta_rows(7), mode="overwrite")
    vacuumed(of_delta)
    flipped(of_delta)
    said: list[Repair] = []
    rebuild(of_delta, said)
    assert "source d: 0 of 1 quad, 1 are lost" in said[1].what
    assert of_delta.state(9) == set()
    of_delta.run()
    assert {quad[3] for quad in of_delta.state(9)} == {'"7"'}
    assert of_delta.answer("q").total() == 1
    assert failed(of_delta) == []


def test_a_source_that_took_the_name_of_a_dropped_one_keeps_its_epochs(tmp_path: Path) -> None:
    """Both have change sets of the same names."""
    other = {**PATCHES, "name": "o", "location": "others"}
    project = Project(tmp_path).declare(other, PATCHES)
    project.query("q", "SELECT ?r { ?x <urn:room> ?r }")
    project.patch("others/1.rdfp", 'A <urn:o> <urn:room> "o" <urn:o> .')
    project.patch("changes/1.rdfp", 'A <urn:a> <urn:room> "1" <urn:p> .')
    project.run()
    project.declare(SNAPSHOTS)
    call(drop_source, project.settings, "d", name=Name("p"))
    project.declare({**other, "name": "p"})
    call(rename_source, project.settings, "r", old=Name("o"), new=Name("p"))
    project.run()
    held = [row for row in project.rows("quads") if row[0] == "<urn:o>"]
    flipped(project)
    rebuild(project)
    assert project.rows("quads") == held
    assert failed(project) == []


def test_renamed_and_dropped_sources_and_streams_stay_what_they_are(tmp_path: Path) -> None:
    other = {**PATCHES, "name": "o", "location": "others"}
    events = {**PATCHES, "name": "e", "location": "events", "stream": {"time": "transaction"}}
    project = Project(tmp_path).declare(PATCHES, other, events)
    project.query("q", "SELECT ?r { ?x <urn:room> ?r }")
    project.patch("events/1.rdfp", 'A <urn:e> <urn:room> "1" .', time="2026-01-01T00:00:00Z")
    project.patch("others/1.rdfp", 'A <urn:o> <urn:room> "o" .')
    project.patch("changes/0001.rdfp", 'A <urn:a> <urn:room> "1" .', id_="urn:1")
    project.run()
    project.declare({**PATCHES, "name": "renamed"}, events)
    call(rename_source, project.settings, "r", old=Name("p"), new=Name("renamed"))
    call(drop_source, project.settings, "d", name=Name("o"))
    project.patch("changes/0002.rdfp", 'A <urn:a> <urn:room> "2" .', id_="urn:2", previous="urn:1")
    project.run()
    assert project.table("streams/e")
    before, newest = project.state(9), len(project.table("transactions"))
    flipped(project)
    done = rebuild(project).done
    assert "changes before epoch" in done[0].what
    assert project.state(9) == before
    assert len(project.table("transactions")) == newest
    project.patch("changes/0003.rdfp", 'A <urn:a> <urn:room> "3" .', id_="urn:3", previous="urn:2")
    project.run()
    assert project.answer("q").total() == 3
    assert failed(project) == []


def test_a_change_set_that_cannot_be_used_any_more_is_left_out_and_later_ones_are_read(
    tmp_path: Path,
) -> None:
    project = Project(tmp_path).declare(PATCHES)
    project.query("q", "SELECT ?r { ?x <urn:room> ?r }")
    for number in (1, 2, 3):
        previous = f"urn:{number - 1}" if number > 1 else ""
        line = f'A <urn:a> <urn:room> "{number}" .'
        project.patch(f"changes/{number}.rdfp", line, id_=f"urn:{number}", previous=previous)
        project.run()
    quads = project.rows("quads")
    project.patch("changes/2.rdfp", 'A <urn:a> <urn:room> "9" .', id_="urn:9", previous="urn:8")
    for file in data_files_by_epoch(project)[::2]:
        flip_a_bit(file, random.Random(3))
    rebuild(project)
    assert project.rows("quads") == quads
    assert failed(project) == []


def test_a_consolidated_log_has_the_state_of_patches_that_are_gone(project: Project) -> None:
    held = project.state(2)
    lake = open_lake(project.settings)
    rows = [row for row in project.table("quads") if row["epoch"] > 2]
    names = ("graph", "subject", "predicate", "object")
    rows += [{**dict(zip(names, quad, strict=True)), "epoch": 2, "weight": 1} for quad in held]
    note_consolidation(lake, "quads", 2)
    write(lake, QUADS, rows, Metadata("c", "compact", 2), mode="overwrite")
    before = project.rows("quads")
    append_foreign(lake, "quads", [{**rows[0], "object": '"never"'}])
    project.change_sets[0].unlink()
    assert "changes before epoch 2 are a state from now on" in rebuild(project).done[0].what
    assert project.rows("quads") == before
    assert failed(project) == []


@pytest.mark.usefixtures("slow")
@pytest.mark.parametrize("is_shortened", [False, True])
def test_the_rounds_of_a_remote_are_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_shortened: bool
) -> None:
    """Where old rounds have left the inbox, too."""
    monkeypatch.setattr(checked, "LOG_COMMITS", 0)
    project = project_of(tmp_path)
    project.run()
    for value in (20, 30):
        project.now += EVERY
        project.remote.set("http://x/a", POPULATION, value)
        project.refresh()
        open_lake(project.settings).existing("replicas/wd").create_checkpoint()
        project.run()
    if is_shortened:
        checked.delete_old_rounds(open_lake(project.settings), replica_inbox("wd"), 3)
    before, answer = project.state(99), project.answer("cities")
    epochs = len(project.table("transactions"))
    flipped(project)
    said: list[Repair] = []
    rebuild(project, said)
    if not is_shortened:
        assert project.state(99) == before
        assert len(project.table("transactions")) == epochs
        project.run()
        assert project.answer("cities") == answer
    else:
        assert "cannot be read again" in "".join(repair.what for repair in said)
        assert len(project.table("transactions")) == epochs + 1
