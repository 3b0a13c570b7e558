"""Derived graphs in a lake: what gives them is edited, held, killed; readers follow in one run."""

from __future__ import annotations

import errno
import random
from pathlib import Path
from typing import Any

import pytest

from tests.support.built import AsBuilt
from tests.support.dying import dies_at
from tests.support.generators.derived_lives import READERS, DerivedLife
from tests.support.laws import Seeds
from tests.support.projects.graphs import FIRST, LATER, ingest_change_sets, knows
from tests.support.projects.project import PATCHES, Project
from weir.compute.writing import Commit
from weir.definitions.catalog import registered
from weir.errors import WeirError
from weir.lake.lake import Lake
from weir.lake.tables import DERIVED
from weir.maintain.derived_graphs import DerivedGraph
from weir.pending import Pending
from weir.project import Project as Opened
from weir.why.explain import explain_epoch
from weir.why.explanation import Change

MUTUAL = "#+ graph: urn:d:up\nCONSTRUCT { ?b <urn:knows> ?a } WHERE { ?a <urn:knows> ?b }"
READER = "#+ reads: [up]\nSELECT ?a ?b WHERE { ?a <urn:knows> ?b . ?b <urn:knows> ?a }"
NAMED = "SELECT ?a ?b FROM <urn:d:up> WHERE { ?a <urn:knows> ?b }"


def begun(folder: Path) -> Project:
    project = Project(folder).declare(PATCHES)
    project.query("up", MUTUAL)
    project.query("reader", READER)
    project.query("named", NAMED)
    ingest_change_sets(project, FIRST)
    project.run()
    return project


@pytest.fixture
def project(as_built: AsBuilt) -> Project:
    """A project with a derived graph, two readers, and two epochs."""
    return as_built(begun)


def test_a_graph_that_cannot_be_written_fails_its_query_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = Project(tmp_path).declare(PATCHES, parallel_queries=1)
    write, error = DerivedGraph.write, OSError(errno.ENOSPC, "no space left on device")

    def failing(graph: DerivedGraph, *arguments: Any) -> Commit:
        if graph.giver.name == "a":
            raise error
        return write(graph, *arguments)

    for name in ("a", "b", "c"):
        project.query(name, MUTUAL.replace("urn:d:up", f"urn:d:{name}"))
    project.query("reader", READER.replace("up", "c"))
    ingest_change_sets(project, FIRST)
    with monkeypatch.context() as patched:
        patched.setattr(DerivedGraph, "write", failing)
        with pytest.raises(WeirError, match="a: the disk is full"):
            project.maintain()
    failed = {row["query"] for row in project.table("runs") if row["status"] == "failed"}
    assert failed - {None} == {"a"}
    lake = Lake(project.settings.lake)
    assert [lake.exists(DERIVED.name(name)) for name in ("a", "b", "c")] == [False, True, True]
    project.maintain()
    assert Lake(project.settings.lake).exists(DERIVED.name("a"))


@pytest.mark.law("derived lives")
def test_readers_have_the_answers_over_the_graph_and_what_is_constructed(
    tmp_path: Path, seeds: Seeds
) -> None:
    for seed in seeds:
        life = DerivedLife(
            Project(tmp_path / str(seed)).declare(PATCHES), random.Random(f"derived life {seed}")
        )
        life.begin()
        done = 0
        for _ in range(4):
            edited = life.advance()
            if not life.project.change_sets:
                continue
            life.project.run()
            expected = life.expected()
            # Of a text that is new or edited, only the state at the newest epoch is known.
            first = done + 1 if done and not edited else len(life.project.change_sets)
            done = len(life.project.change_sets)
            for name in READERS:
                for epoch in range(first, done + 1):
                    at = f"seed {seed}, {name} at {epoch}"
                    assert life.project.answer(name, epoch) == expected[name][epoch - 1], at


def test_readers_have_the_rows_of_the_same_run(project: Project) -> None:
    project.change("A " + knows("d", "e"))
    modes = project.run().modes
    assert {modes[name] for name in ("up", "reader", "named")} == {"incremental"}
    assert [row for row in project.signed("named") if row[0] == 3] == [
        (3, 1, (("a", "<urn:e>"), ("b", "<urn:d>")))
    ]


def test_a_change_that_leaves_the_derived_graph_alone_leaves_its_readers_alone(
    project: Project,
) -> None:
    project.change('A <urn:a> <urn:name> "Ann"')
    assert project.run().modes == dict.fromkeys(("up", "reader", "named"), "untouched")


def test_the_union_of_all_graphs_has_no_derived_triple(project: Project) -> None:
    project.query("all", "SELECT ?a ?b WHERE { ?a <urn:knows> ?b }")
    project.query("each", "SELECT ?g WHERE { GRAPH ?g { ?a <urn:knows> ?b } }")
    project.run()
    assert (("a", "<urn:b>"), ("b", "<urn:a>")) not in project.answer("all")
    assert {dict(row)["g"] for row in project.answer("each")} == {"<urn:g>", "<urn:h>"}


def test_readers_of_a_graph_whose_query_is_edited_are_recomputed(project: Project) -> None:
    project.query("up", MUTUAL.replace("?b <urn:knows> ?a", "?a <urn:knows> <urn:z>", 1))
    modes = project.run().modes
    assert modes == {"up": "edited", "reader": "rebased", "named": "rebased"}
    why = "the query up, whose graph it reads, was recomputed"
    assert project.ledger("maintain")["named"]["reason"] == why
    assert {dict(row)["b"] for row in project.answer("named")} == {"<urn:z>"}
    assert project.run().modes == {}


def test_a_query_that_begins_to_give_a_graph_is_not_recomputed(project: Project) -> None:
    project.query("lazy", "CONSTRUCT { ?a <urn:x> ?b } WHERE { ?a <urn:knows> ?b }")
    project.query("of_lazy", NAMED.replace("urn:d:up", "urn:d:lazy").replace("knows", "x"))
    project.run()
    assert not project.answer("of_lazy")
    text = "#+ graph: urn:d:lazy\nCONSTRUCT { ?a <urn:x> ?b } WHERE { ?a <urn:knows> ?b }"
    project.query("lazy", text)
    assert project.run().modes == {"of_lazy": "edited"}
    assert len(project.answer("of_lazy")) == len(project.answer("lazy"))


def test_a_reader_of_a_graph_that_is_gone_fails_by_name_and_reads_the_data_by_iri(
    project: Project,
) -> None:
    project.remove_query("up")
    project.change("A <urn:x> <urn:knows> <urn:y> <urn:d:up>")
    with pytest.raises(WeirError) as raised:
        project.run()
    (failure,) = raised.value.parts
    assert "reader.rq:1" in failure
    assert "there is no derived graph up" in failure
    project.remove_query("reader")
    project.run()
    assert project.answer("named") == {(("a", "<urn:x>"), ("b", "<urn:y>")): 1}


def test_readers_are_held_while_the_graph_that_they_read_is(project: Project) -> None:
    project.query("up", "#+ max_rows: 1\n" + MUTUAL)
    before = project.signed("named")
    project.change("A " + knows("d", "e"))
    with pytest.raises(WeirError):
        project.run()
    with pytest.raises(WeirError) as raised:
        project.publish()
    why = "the query up, whose graph it reads, is not published"
    assert why in str(raised.value.parts)
    assert project.signed("named") == before
    with Opened(project.settings) as opened:
        state = Pending(opened).definitions["named"]
    assert (state.state, state.reason) == ("held", why)


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("moment", ["after:embeddings/up", "before:derived/up", "after:derived/up"])
def test_a_run_that_dies_beside_the_graph_is_completed_by_the_next(
    project: Project, tmp_path: Path, moment: str
) -> None:
    ingest_change_sets(project, LATER)
    whole = project.copy(tmp_path / "whole")
    whole.run()
    with dies_at(f"maintain:{moment}"):
        project.maintain()
    project.run()
    for name in ("up", "reader", "named"):
        assert project.signed(name) == whole.signed(name)
    assert project.rows(DERIVED.name("up")) == whole.rows(DERIVED.name("up"))
    assert project.run().modes == {}


def test_full_history_begins_where_the_derived_graph_does(project: Project) -> None:
    project.query("full", NAMED.replace("SELECT", "#+ history: full\nSELECT", 1))
    project.change("A " + knows("d", "e"))
    project.run()
    assert {epoch for epoch, *_ in project.signed("full")} == {2, 3}
    assert project.answer("full") == project.answer("named")


def test_selected_readers_bring_what_they_read(project: Project) -> None:
    project.change("A " + knows("d", "e"))
    assert {*project.maintain(only=["named"]).modes} == {"up", "named"}


def test_a_row_is_explained_by_the_changes_of_the_derived_graph(project: Project) -> None:
    project.change("A " + knows("d", "e"))
    project.run()
    with Opened(project.settings) as opened:
        explained = explain_epoch(opened, registered(project.settings, "named"), 3, {}, 5)
    (one,) = explained.rows
    (cause,) = one.changes
    assert isinstance(cause, Change)
    assert (cause.graph, cause.triple) == (
        DERIVED.name("up"),
        ("<urn:e>", "<urn:knows>", "<urn:d>"),
    )
