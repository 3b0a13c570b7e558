"""Sources that are declared no longer: what is said of them, retracting them, renaming them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.built import AsBuilt
from tests.support.dying import dies_at
from tests.support.opened import call
from tests.support.projects.project import Project
from weir.errors import ConfigurationError
from weir.ingest.pending import source_positions
from weir.ingest.source_names import drop_source, rename_source
from weir.lake.names import Name
from weir.project import open_lake

pytestmark = pytest.mark.usefixtures("sampled")

MUSEUM, ARCHIVE = (
    {"name": name, "kind": "patches", "location": name} for name in ("museum", "archive")
)
POINTS = [
    f"ingest:{moment}:{table}"
    for table in ("claim", "quads", "triples", "transactions", "graphs", "runs")
    for moment in ("before", "after")
]


def _quads(project: Project) -> set[tuple[object, ...]]:
    return project.state(max(epoch for (epoch,) in project.rows("transactions", "epoch")))


def _drop(project: Project, name: str) -> Any:
    return call(drop_source, project.settings, "drop", name=Name(name))


def _rename(project: Project, old: str, new: str) -> Any:
    return call(rename_source, project.settings, "rename", old=Name(old), new=Name(new))


def _build(folder: Path) -> Project:
    project = Project(folder).declare(MUSEUM, ARCHIVE)
    project.patch("museum/1.rdfp", "A <urn:a> <urn:p> _:n .", 'A _:n <urn:p> "1" <urn:g> .')
    project.patch("archive/1.rdfp", "A <urn:a> <urn:p> <urn:c> .")
    project.ingest()
    project.declare(ARCHIVE)
    return project


@pytest.fixture
def removed(as_built: AsBuilt) -> Project:
    """museum and archive are ingested; then only archive is declared."""
    return as_built(_build)


def test_a_run_says_that_a_source_is_declared_no_longer_and_that_its_quads_stay(
    removed: Project,
) -> None:
    for _ in range(2):
        (warning,) = removed.ingest().warnings
        assert "museum: it is no longer declared, and its 2 quads stay in the graph" in warning
        assert "weir drop --source museum" in warning


def test_a_dropped_source_is_retracted_as_an_epoch_and_others_stay(removed: Project) -> None:
    done = _drop(removed, "museum")
    assert (done.epoch, done.inserted, done.deleted) == (3, 0, 2)
    assert _quads(removed) == {("<urn:weir:graph:archive>", "<urn:a>", "<urn:p>", "<urn:c>")}
    assert len(removed.state(2)) == 3
    assert removed.rows("graphs", "source") == [("archive",)]
    assert removed.ingest().warnings == ()


def test_a_declared_source_is_not_dropped(removed: Project) -> None:
    with pytest.raises(ConfigurationError, match="is declared"):
        _drop(removed, "archive")
    with pytest.raises(ConfigurationError, match="no quads of a source other"):
        _drop(removed, "other")


def test_a_dropped_name_that_is_declared_again_stops_for_its_files_were_read(
    removed: Project,
) -> None:
    _drop(removed, "museum")
    removed.declare(MUSEUM, ARCHIVE)
    (error,) = removed.ingest().errors
    assert "the name cannot be used again: it was dropped" in str(error)
    removed.declare(MUSEUM | {"name": "museum_2"}, ARCHIVE)
    assert removed.ingest().errors == ()
    assert len(_quads(removed)) == 3


def test_the_graph_of_a_dropped_source_is_free(project: Project) -> None:
    project.declare(MUSEUM | {"graph": "urn:g"})
    project.patch("museum/1.rdfp", 'A <urn:a> <urn:p> "1" .')
    project.ingest()
    project.declare(ARCHIVE | {"graph": "urn:g"})
    project.patch("archive/1.rdfp", 'A <urn:a> <urn:p> "2" .')
    (error,) = project.ingest().errors
    assert "weir rename --source museum archive" in str(error)
    _drop(project, "museum")
    assert project.ingest().errors == ()
    assert _quads(project) == {("<urn:g>", "<urn:a>", "<urn:p>", '"2"')}


def test_a_renamed_source_goes_on_where_it_was_with_its_graph_and_its_blank_nodes(
    removed: Project,
) -> None:
    before = _quads(removed)
    removed.declare(MUSEUM | {"name": "musee"}, ARCHIVE)
    done = _rename(removed, "museum", "musee")
    assert (done.source, done.inserted, done.deleted) == ("musee", 0, 0)
    assert removed.ingest().warnings == ()
    assert _quads(removed) == before
    removed.patch("museum/2.rdfp", "D <urn:a> <urn:p> _:n .", 'A <urn:a> <urn:p> "2" .')
    result = removed.ingest()
    assert (result.errors, result.to_epoch - result.from_epoch) == ((), 1)
    assert {quad[3] for quad in _quads(removed) - before} == {'"2"'}
    assert len(before - _quads(removed)) == 1


def test_a_renamed_snapshot_source_changes_only_what_its_next_version_changes(
    project: Project,
) -> None:
    source = {"name": "museum", "kind": "snapshots", "location": "versions"}
    project.declare(source)
    project.write("versions/1.ttl", '<urn:a> <urn:p> [ <urn:q> "1" ], "2" .')
    project.ingest()
    before = _quads(project)
    project.declare(source | {"name": "musee"})
    _rename(project, "museum", "musee")
    project.write("versions/2.ttl", '<urn:a> <urn:p> [ <urn:q> "1" ], "3" .')
    assert project.ingest().errors == ()
    assert {quad[3] for quad in _quads(project) ^ before} == {'"2"', '"3"'}


def test_a_name_goes_back_and_forth(project: Project) -> None:
    project.patch("museum/1.rdfp", 'A <urn:a> <urn:p> "1" .')
    project.declare(MUSEUM)
    project.ingest()
    for old, new in (("museum", "musee"), ("musee", "museum"), ("museum", "musee")):
        project.declare(MUSEUM | {"name": new})
        _rename(project, old, new)
        assert (project.ingest().errors, project.rows("graphs", "source")) == ((), [(new,)])
    assert {row[0] for row in _quads(project)} == {"<urn:weir:graph:museum>"}


def test_only_a_declared_source_that_was_not_ingested_takes_a_name_over(removed: Project) -> None:
    with pytest.raises(ConfigurationError, match="no source musee is declared"):
        _rename(removed, "museum", "musee")
    with pytest.raises(ConfigurationError, match="archive was ingested itself"):
        _rename(removed, "museum", "archive")


@pytest.mark.parametrize("point", POINTS)
def test_a_drop_that_dies_has_retracted_all_or_nothing_after_the_next_run(
    removed: Project, point: str
) -> None:
    with dies_at(point):
        _drop(removed, "museum")
    removed.ingest()
    if source_positions(open_lake(removed.settings))["museum"].ended is None:
        _drop(removed, "museum")
    assert len(_quads(removed)) == 1
    assert removed.rows("graphs", "source") == [("archive",)]
    epochs = [epoch for (epoch,) in removed.rows("transactions", "epoch")]
    assert epochs == [1, 2, 3]


# A renaming commits neither quads nor triples.
@pytest.mark.parametrize(
    "point", [point for point in POINTS if not point.endswith((":quads", ":triples"))]
)
def test_a_renaming_that_dies_is_done_or_not_after_the_next_run(
    removed: Project, point: str
) -> None:
    removed.declare(MUSEUM | {"name": "musee"}, ARCHIVE)
    with dies_at(point):
        _rename(removed, "museum", "musee")
    if not source_positions(open_lake(removed.settings))["musee"].positions:
        _rename(removed, "museum", "musee")
    assert removed.ingest().errors == ()
    assert removed.rows("graphs", "source") == [("archive",), ("musee",), ("musee",)]
    assert len(_quads(removed)) == 3
