"""Ingest of RDF Patch files, on the driver."""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.opened import call
from tests.support.projects.project import PATCHES, Project
from weir.errors import BusyError, ConfigurationError
from weir.ingest.sources.errors import SourceError
from weir.ingest.stage import ingest_or_fail, is_anything_pending
from weir.lake.ledger.claims import claim
from weir.project import open_lake
from weir.rdf import parser_process as worker
from weir.rdf.parser_process import ParserProcess

OTHER = PATCHES | {"name": "q", "location": "other"}
OWN_GRAPH = "<urn:weir:graph:p>"
S, P = "<urn:s>", "<urn:p>"


def line(letter: str, number: int, graph: str = "") -> str:
    return f'{letter} {S} {P} "{number}" {graph} .'


QUADS = st.tuples(st.sampled_from(["", "<urn:g>"]), st.integers(0, 3))
CHANGE_SETS = st.lists(
    st.lists(st.tuples(st.sampled_from("AD"), QUADS), max_size=5), min_size=1, max_size=6
)


@settings(max_examples=5, deadline=None)
@given(change_sets=CHANGE_SETS, batch=st.integers(1, 4), first_run=st.integers(0, 6))
def test_the_state_at_every_epoch_is_that_of_the_patches_so_far(
    change_sets: list[list[tuple[str, tuple[str, int]]]], batch: int, first_run: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        project = Project(Path(folder)).declare(PATCHES, batch_epochs=batch)
        state: set[tuple[str, str, str, str]] = set()
        states = []
        for number, change_set in enumerate(change_sets, start=1):
            lines = [line(letter, n, graph) for letter, (graph, n) in change_set]
            project.patch(f"changes/{number:02}.rdfp", *lines)
            for letter, (graph, n) in change_set:
                quad = (graph or OWN_GRAPH, S, P, f'"{n}"')
                (state.add if letter == "A" else state.discard)(quad)
            states.append({*state})
            if number == first_run:
                project.ingest()
        project.ingest()
        assert [project.state(epoch + 1) for epoch in range(len(states))] == states
        triples = project.rows("triples", "object", "epoch", "weight")
        for epoch, expected in enumerate(states, start=1):
            held = {
                o
                for o, e, w in triples
                if sum(x for p, f, x in triples if p == o and f <= epoch) > 0
            }
            assert held == {quad[3] for quad in expected}


def test_running_again_commits_nothing(project: Project) -> None:
    project.patch("changes/1.rdfp", line("A", 1))
    project.ingest()
    versions = project.versions()
    result = project.ingest()
    assert (result.from_epoch, result.to_epoch) == (1, 1)
    assert project.versions() == versions
    assert not call(is_anything_pending, project.settings)


def test_every_change_set_is_an_epoch_even_if_nothing_changes(project: Project) -> None:
    project.patch("changes/1.rdfp", line("A", 1))
    project.patch("changes/2.rdfp", line("A", 1), "A nonsense .")
    project.patch("changes/3.rdfp")
    project.ingest()
    columns = ("epoch", "position", "inserted", "deleted", "rejected")
    assert project.rows("transactions", *columns) == [
        (1, "1.rdfp", 1, 0, 0),
        (2, "2.rdfp", 0, 0, 1),
        (3, "3.rdfp", 0, 0, 0),
    ]


def test_a_malformed_line_is_rejected_with_its_place_and_its_neighbours_are_ingested(
    project: Project,
) -> None:
    project.patch("changes/1.rdfp", line("A", 1), f'A {S} {P} "2 .', line("A", 3))
    project.ingest()
    assert {quad[3] for quad in project.state(1)} == {'"1"', '"3"'}
    ((source, position, file, number, raw),) = project.rows(
        "rejected", "source", "position", "file", "line", "raw"
    )
    assert (source, position, file, number) == ("p", "1.rdfp", "1.rdfp", 3)
    assert raw == f'A {S} {P} "2 .'


def test_the_base_is_the_first_epoch(project: Project) -> None:
    project.declare(PATCHES | {"base": "base.nq.gz", "base_id": "urn:0"})
    with gzip.open(project.folder / "base.nq.gz", "wt") as base:
        base.write(f'{S} {P} "0" .\n')
    project.patch("changes/1.rdfp", line("A", 1), id_="urn:1", previous="urn:0")
    project.ingest()
    assert project.rows("transactions", "epoch", "position", "change_id") == [
        (1, "base", "urn:0"),
        (2, "1.rdfp", "urn:1"),
    ]
    assert {quad[3] for quad in project.state(2)} == {'"0"', '"1"'}


@pytest.mark.parametrize("in_one_run", [True, False])
def test_a_patch_that_does_not_follow_the_last_stops_its_source_only(
    project: Project, in_one_run: bool
) -> None:
    project.declare(PATCHES, OTHER)
    project.patch("changes/1.rdfp", line("A", 1), id_="urn:1")
    if not in_one_run:
        project.ingest()
    project.patch("changes/2.rdfp", line("A", 2), id_="urn:2", previous="urn:lost")
    project.patch("changes/3.rdfp", line("A", 3), id_="urn:3", previous="urn:2")
    project.patch("other/1.rdfp", line("A", 4))
    result = project.ingest()
    (error,) = result.errors
    assert "`H prev` is urn:lost, but the change set before it is urn:1" in str(error)
    assert str(project.folder / "changes/2.rdfp") in str(error)
    assert [row[0] for row in project.rows("transactions", "position")] == ["1.rdfp", "1.rdfp"]
    project.patch("changes/2.rdfp", line("A", 2), id_="urn:2", previous="urn:1")
    assert project.ingest().errors == ()
    assert {quad[3] for quad in project.state(4)} == {'"1"', '"2"', '"3"', '"4"'}


def test_a_source_that_writes_anothers_graph_is_stopped_before_that_change_set(
    project: Project,
) -> None:
    project.declare(PATCHES, OTHER)
    project.patch("changes/1.rdfp", line("A", 1, "<urn:g>"))
    project.patch("other/1.rdfp", line("A", 2, "<urn:h>"))
    project.patch("other/2.rdfp", line("A", 3, "<urn:h>"), line("D", 1, "<urn:g>"))
    (error,) = project.ingest().errors
    assert "<urn:g>" in str(error)
    assert "source p" in str(error)
    assert "source q" in str(error)
    assert {quad[3] for quad in project.state(9)} == {'"1"', '"2"'}
    assert project.rows("graphs", "graph", "source") == [("<urn:g>", "p"), ("<urn:h>", "q")]


def test_stopped_sources_make_the_command_fail(project: Project) -> None:
    project.declare(PATCHES | {"location": "nowhere"})
    with pytest.raises(SourceError, match="its location does not exist"):
        call(ingest_or_fail, project.settings, "run")


def test_a_patch_that_appears_late_stops_the_source(project: Project) -> None:
    project.patch("changes/2.rdfp", line("A", 2))
    project.ingest()
    project.patch("changes/1.rdfp", line("A", 1))
    (error,) = project.ingest().errors
    assert "1.rdfp appeared after later change sets" in str(error)


def test_blank_nodes_of_a_source_are_the_same_in_every_patch_and_of_no_other_source(
    project: Project,
) -> None:
    project.declare(PATCHES, OTHER)
    project.patch("changes/1.rdfp", f'A _:x {P} "1" .')
    project.patch("changes/2.rdfp", f'D _:x {P} "1" .', f'A _:x {P} "2" .')
    project.patch("other/1.rdfp", f'A _:x {P} "3" .')
    project.ingest()
    subjects = {quad[3]: quad[1] for quad in project.state(3)}
    assert subjects.keys() == {'"2"', '"3"'}
    assert subjects['"2"'] != subjects['"3"']


def test_a_blank_node_names_the_same_graph_in_every_patch(project: Project) -> None:
    project.patch("changes/1.rdfp", f'A {S} {P} "1" _:g .', f'A {S} {P} "2" <_:g> .')
    project.patch("changes/2.rdfp", f'D {S} {P} "1" _:g .', f"A _:g {P} 3 .")
    project.ingest()
    graphs = {quad[3]: quad[0] for quad in project.state(2)}
    assert str(graphs['"2"']).startswith("_:b")
    (subject,) = (quad[1] for quad in project.state(2) if str(quad[1]).startswith("_:"))
    assert subject == graphs['"2"']
    assert len(graphs) == 2


def test_a_second_ingest_at_the_same_time_is_refused(project: Project) -> None:
    project.patch("changes/1.rdfp", line("A", 1))
    claim(open_lake(project.settings), "ingest", "other", lease_seconds=60)
    with pytest.raises(BusyError, match="run other of ingest"):
        project.ingest()


UNFINISHED = "TX .\n" + line("A", 2) + "\n"
BROKEN_FILES = {
    "2.rdfp": (UNFINISHED.encode(), "no TC"),
    "2.rdfp.gz": (gzip.compress(UNFINISHED.encode(), mtime=0)[:-9], "compressed file is broken"),
}


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("in_one_run", [True, False])
@pytest.mark.parametrize("name", [*BROKEN_FILES])
def test_a_patch_that_is_broken_as_a_whole_stops_its_source_until_it_is_repaired(
    project: Project, name: str, in_one_run: bool
) -> None:
    project.declare(PATCHES, OTHER)
    content, reason = BROKEN_FILES[name]
    project.patch("changes/1.rdfp", line("A", 1), id_="urn:1")
    if not in_one_run:
        project.ingest()
    (project.folder / "changes" / name).write_bytes(content)
    project.patch("changes/3.rdfp", line("A", 3))
    project.patch("other/1.rdfp", line("A", 4))
    for _ in range(2):
        (error,) = project.ingest().errors
        assert reason in str(error)
        assert str(project.folder / "changes" / name) in str(error)
        assert project.rows("transactions", "source", "position") == [
            ("p", "1.rdfp"),
            ("q", "1.rdfp"),
        ]
        ((source, position, recorded),) = project.rows("rejected", "source", "position", "reason")
        assert (source, position) == ("p", name)
        assert reason in str(recorded)
    (project.folder / "changes" / name).unlink()
    project.patch("changes/2.rdfp", line("A", 2), id_="urn:2", previous="urn:1")
    assert project.ingest().errors == ()
    assert {quad[3] for quad in project.state(9)} == {'"1"', '"2"', '"3"', '"4"'}


def test_one_parser_process_serves_all_sources_of_a_batch(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[object] = []
    start = worker._Child.__init__
    monkeypatch.setattr("weir.rdf.parser_process.ParserProcess", ParserProcess)
    monkeypatch.setattr(
        worker._Child, "__init__", lambda child, limits: started.append(start(child, limits))
    )
    project.declare(PATCHES, OTHER)
    for folder in ("changes", "other"):
        project.patch(f"{folder}/1.rdfp", line("A", 1))
    assert project.ingest().to_epoch == 2
    assert len(started) == 1


def test_a_base_that_is_broken_as_a_whole_stops_its_source(project: Project) -> None:
    project.declare(PATCHES | {"base": "base.ttl"})
    project.write("base.ttl", f"{S} {P} oops")
    project.patch("changes/1.rdfp", line("A", 1))
    (error,) = project.ingest().errors
    assert str(project.folder / "base.ttl") in str(error)
    assert project.rows("transactions") == []


def test_a_patch_that_kills_the_parser_stops_its_source(project: Project) -> None:
    project.declare(PATCHES, parse_seconds=1)
    project.patch("changes/1.rdfp", line("A", 1))
    project.patch("changes/2.rdfp", f"A {S} {P} 'row by row' .\n" * 400_000)
    project.patch("changes/3.rdfp", line("A", 3))
    (error,) = project.ingest().errors
    assert "parsing took more than 1 seconds of CPU" in str(error)
    assert {quad[3] for quad in project.state(9)} == {'"1"'}


def test_what_one_form_of_a_row_adds_another_deletes(project: Project) -> None:
    project.declare(PATCHES)
    project.patch("changes/1.rdfp", f"A {S} {P} 5 .", f"A _:b {P} true .", f"A <_:c> {P} 'x' .")
    integer = '"5"^^<http://www.w3.org/2001/XMLSchema#integer>'
    boolean = '"true"^^<http://www.w3.org/2001/XMLSchema#boolean>'
    project.patch("changes/2.rdfp", f"D {S} {P} {integer} .", f"D <_:b> {P} {boolean} .")
    project.patch("changes/3.rdfp", f'D _:c {P} "x" .')
    result = project.ingest()
    assert not result.errors
    assert project.rows("rejected") == []
    assert [len(project.state(epoch)) for epoch in (1, 2, 3)] == [3, 1, 0]


def test_of_a_broken_chain_and_a_broken_patch_after_it_the_chain_is_reported(
    project: Project,
) -> None:
    project.patch("changes/1.rdfp", line("A", 1), id_="urn:1")
    project.patch("changes/2.rdfp", line("A", 2), id_="urn:2", previous="urn:lost")
    project.write("changes/3.rdfp", UNFINISHED)
    (error,) = project.ingest().errors
    assert "`H prev` is urn:lost" in str(error)


@pytest.mark.parametrize(
    ("base", "message"),
    [("two", "is a folder"), ("none", "is a folder"), ("base.txt", "a known ending")],
)
def test_a_base_that_is_no_file_of_a_known_format_stops_its_source_only(
    project: Project, base: str, message: str
) -> None:
    project.declare(PATCHES | {"base": base}, OTHER)
    project.write("two/a.nq", f'{S} {P} "1" .')
    project.write("two/b.nq", f'{S} {P} "2" .')
    (project.folder / "none").mkdir()
    project.write("base.txt", "")
    project.patch("changes/1.rdfp", line("A", 1))
    project.patch("other/1.rdfp", line("A", 4))
    (error,) = project.ingest().errors
    assert isinstance(error, ConfigurationError)
    assert message in error.what
    assert error.where == str(project.folder / base)
    assert error.hint
    assert project.rows("transactions", "source") == [("q",)]
