"""Audits and repairs of derived graphs."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from tests.support.built import AsBuilt
from tests.support.projects.project import PATCHES, Project
from weir.audit.repair import repair_lake
from weir.audit.stage import examined
from weir.lake.tables import DERIVED
from weir.project import Project as Opened

LINKS = "#+ graph: urn:d:links\nCONSTRUCT { ?x <urn:linked> ?y } WHERE { ?x <urn:p> ?y }"
READER = "#+ reads: [links]\nSELECT ?y WHERE { ?x <urn:linked> ?y }"


def begun(folder: Path) -> Project:
    project = Project(folder).declare(PATCHES)
    project.query("links", LINKS)
    project.query("linked", READER)
    for line in ("A <urn:a> <urn:p> <urn:b>", "A <urn:b> <urn:p> <urn:c>"):
        project.change(line)
        project.run()
    project.change("D <urn:a> <urn:p> <urn:b>")
    project.run()
    return project


@pytest.fixture
def project(as_built: AsBuilt) -> Project:
    """A derived graph and its reader, after three change sets."""
    return as_built(begun)


def failed(project: Project) -> list[str]:
    """The tables that an audit finds wrong."""
    with Opened(project.settings) as opened:
        return [result.suite for result in examined(opened, "audit").failed]


def damage(project: Project) -> None:
    """Append a triple that does not follow."""
    table = DeltaTable(project.settings.lake + "/" + DERIVED.name("links"))
    (row,) = table.to_pyarrow_table().slice(0, 1).to_pylist()
    wrong = pa.Table.from_pylist([row | {"object": "<urn:wrong>"}])
    write_deltalake(table, wrong, mode="append")


def test_a_derived_graph_with_a_triple_too_many_is_noticed(project: Project) -> None:
    assert failed(project) == []
    damage(project)
    assert "derived" in failed(project)


def test_a_repaired_derived_graph_is_written_again(project: Project) -> None:
    before = project.rows(DERIVED.name("links"))
    damage(project)
    with Opened(project.settings) as opened:
        repair_lake(opened, "repair")
    project.run()
    assert project.rows(DERIVED.name("links")) == before
    assert project.answer("linked") == {(("y", "<urn:c>"),): 1}
    assert failed(project) == []
