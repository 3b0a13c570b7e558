"""A damaged log of the graph is read again from the sources."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from jobs.audit.repairs import Repair
from jobs.audit_lake import examined
from jobs.errors import QualityError
from jobs.repair_lake import RepairResult, repair_lake
from lake.commit import write
from lake.lake import Lake
from lake.removal import remove_table
from lake.storage_errors import DamagedTable
from lake.tables import TRANSACTIONS, Table
from tests.support.damage import append_foreign, data_files, flip_a_bit, newest_commit
from tests.support.oracles.projects import check_answers
from tests.support.projects.project import PATCHES, SNAPSHOTS, Project, no_spark

_DELETED = 'D <urn:b> <urn:room> "2" <urn:g>'


def lost_file(project: Project) -> None:
    """The first data file of `quads`."""
    data_files(project.settings.open_lake(), "quads")[0].unlink()


def flipped(project: Project) -> None:
    """A bit of each data file of `quads`."""
    for file in data_files(project.settings.open_lake(), "quads"):
        flip_a_bit(file, random.Random(3))


def garbled(project: Project) -> None:
    """The newest commit of `quads`."""
    newest_commit(project.settings.open_lake(), "quads").write_text("{")


def gone(project: Project) -> None:
    """All of `quads`."""
    remove_table(project.settings.open_lake().location("quads"))


def wrong_quad(project: Project) -> None:
    """A row that no epoch has."""
    wrong = {**project.table("quads")[0], "object": '"never"'}
    append_foreign(project.settings.open_lake(), "quads", [wrong])


DAMAGES = (lost_file, flipped, garbled, gone, wrong_quad)


def rebuild(project: Project, said: list[Repair] | None = None) -> RepairResult:
    """Repair from the sources; `said` receives what is said before."""

    def confirm(planned: Sequence[Repair]) -> bool:
        if said is not None:
            said.extend(planned)
        return True

    return repair_lake(no_spark, project.settings, "repair", from_sources=True, confirm=confirm)


def failed(project: Project) -> list[str]:
    """The checks that do not hold after a repair."""
    return [
        each.expectation for each in examined(no_spark, project.settings, "a", full=True).failed
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
    for each in (project, whole):
        each.run()
        each.change('D <urn:a> <urn:room> "3" <urn:g>')
        each.run()
    for query in ("rooms", "in_g"):
        assert project.signed(query) == whole.signed(query)
        check_answers(project, query, 3, 6)


def test_what_the_sources_no_longer_have_is_retracted_and_said_before(project: Project) -> None:
    project.change_sets[0].unlink()
    before = project.signed("rooms")
    flipped(project)
    said: list[Repair] = []
    rebuild(project, said)
    assert [each.what for each in said] == [
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
        data_files(project.settings.open_lake(), "quads"), key=lambda file: file.stat().st_mtime_ns
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
    result = repair_lake(
        no_spark, project.settings, "repair", from_sources=True, confirm=lambda _: False
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
        patch.setattr("jobs.audit.from_sources.write", dies_at_transactions)
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
    remove_table(project.settings.open_lake().location(table))
    project.change_set(_DELETED)
    for stage in (project.ingest, project.maintain):
        with pytest.raises(
            DamagedTable, match=f"the table {table} is gone, and 3 epochs are known"
        ):
            stage()
    assert not project.settings.open_lake().exists(table)


def test_a_repair_names_the_rebuild(project: Project) -> None:
    flipped(project)
    with pytest.raises(QualityError, match="or have `weir repair --from-sources` rebuild it"):
        repair_lake(no_spark, project.settings, "repair")
