"""Ingest of whole versions, on the driver."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.support.projects.project import PATCHES, SNAPSHOTS, Project
from weir.errors import ConfigurationError
from weir.ingest.reading import Carried
from weir.ingest.sources.versions import Version, carried

BROKEN = "<urn:s> <urn:p> oops"


def turtle(*numbers: int) -> str:
    return "".join(f'<urn:s> <urn:p> "{number}" .\n' for number in numbers)


def objects(project: Project, epoch: int) -> str:
    return " ".join(sorted(str(quad[3]).strip('"') for quad in project.state(epoch)))


@pytest.fixture
def project(project: Project) -> Project:
    """A project with one source, of snapshots."""
    return project.declare(SNAPSHOTS)


def test_each_version_is_an_epoch_in_the_order_of_its_number(project: Project) -> None:
    project.write("versions/v9.ttl", turtle(1, 2))
    project.write("versions/v10.ttl", turtle(2, 3))
    project.write("versions/v11/a.ttl", turtle(3))
    project.write("versions/v11/b.nt", turtle(4))
    project.ingest()
    assert [row[0] for row in project.rows("transactions", "position")] == [
        "v10.ttl",
        "v11",
        "v9.ttl",
    ]
    assert [objects(project, epoch) for epoch in (1, 2, 3)] == ["1 2", "2 3", "3 4"]


def test_a_later_run_continues_from_the_state_in_the_lake(project: Project) -> None:
    project.write("versions/1.ttl", turtle(1, 2))
    project.ingest()
    project.write("versions/2.ttl", turtle(2, 3))
    project.write("versions/3.ttl", turtle(1, 3))
    project.ingest()
    assert [objects(project, epoch) for epoch in (1, 2, 3)] == ["1 2", "2 3", "1 3"]
    assert len(project.rows("quads")) == 6


def test_a_triple_is_one_in_however_many_graphs(project: Project) -> None:
    statement, one, other = "<urn:s> <urn:p> <urn:o>", "<urn:g>", "<urn:h>"
    versions = [[one], [one, other], [other], [], [other], [one]]
    for number, graphs in enumerate(versions, start=1):
        text = "".join(f"{statement} {graph} .\n" for graph in graphs)
        project.write(f"versions/{number}.nq", text + f"<urn:v> <urn:p> <urn:o> {one} .\n")
        project.ingest()
    changes = [
        row for row in project.rows("triples", "subject", "epoch", "weight") if row[0] == "<urn:s>"
    ]
    assert sorted(change[1:] for change in changes) == [(1, 1), (4, -1), (5, 1)]


def test_changes_that_come_with_a_version_are_netted(project: Project) -> None:
    project.declare(SNAPSHOTS, PATCHES)
    for number, added in ((1, "<urn:a>"), (2, "<urn:b>")):
        project.write(f"versions/{number}.ttl", turtle(number))
        quads = (f"A <urn:s> <urn:p> {term} <urn:g> ." for term in ("<urn:a>", added))
        project.patch(f"changes/{number}.rdfp", *quads)
        project.ingest()
    counts = project.rows("transactions", "source", "inserted", "deleted")
    assert sorted(counts) == [("p", 1, 0), ("p", 1, 0), ("s", 1, 0), ("s", 1, 1)]


def test_a_version_that_is_named_base_is_an_epoch_once(project: Project) -> None:
    project.write("versions/base/a.ttl", turtle(1))
    project.ingest()
    assert project.ingest().is_empty
    assert project.rows("transactions", "position") == [("base",)]


def test_an_unchanged_blank_node_is_no_change(project: Project) -> None:
    node = "<urn:s> <urn:p> [ <urn:q> 1 ; <urn:r> [ <urn:q> 2 ] ] .\n"
    project.write("versions/1.ttl", node)
    project.write("versions/2.ttl", '<urn:a> <urn:p> "new", [ <urn:q> 3 ] .\n' + node)
    project.ingest()
    assert project.rows("transactions", "epoch", "inserted", "deleted") == [(1, 4, 0), (2, 3, 0)]


def test_a_remote_context_of_json_ld_is_the_file_that_sources_yml_names(project: Project) -> None:
    project.write("contexts/c.jsonld", '{"@context": {"p": "urn:p"}}')
    project.write(
        "sources.yml",
        yaml.safe_dump({"sources": [SNAPSHOTS], "contexts": {"http://ex/c": "contexts/c.jsonld"}}),
    )
    project.write("versions/1.jsonld", '{"@context": "http://ex/c", "@id": "urn:s", "p": "1"}')
    assert project.ingest().errors == ()
    assert objects(project, 1) == "1"
    project.write("versions/2.jsonld", '{"@context": "http://ex/d", "@id": "urn:s", "p": "1"}')
    (error,) = project.ingest().errors
    assert "the remote context http://ex/d is not fetched: name a local file" in error.what


def test_a_context_whose_file_is_gone_stops_the_source(project: Project) -> None:
    declared = {"sources": [SNAPSHOTS], "contexts": {"http://ex/c": "gone.jsonld"}}
    project.write("sources.yml", yaml.safe_dump(declared))
    project.write("versions/1.jsonld", '{"@context": "http://ex/c", "@id": "urn:s", "p": "1"}')
    (error,) = project.ingest().errors
    assert "gone.jsonld" in error.what
    assert project.rows("transactions", "position") == []


def test_a_patch_is_no_version(project: Project) -> None:
    project.write("versions/1.ttl", turtle(1))
    project.write("versions/2.rdfp", 'TX .\nD <urn:s> <urn:p> "1" .\nTC .\n')
    (error,) = project.ingest().errors
    assert "2.rdfp is an RDF Patch, which is no version of a graph" in error.what


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ({"sources": [SNAPSHOTS | {"base_iri": "example.org/x"}]}, "not an IRI"),
        (
            {"sources": [SNAPSHOTS], "contexts": {"https://schema.org/": "https://schema.org/c"}},
            "contexts are never fetched",
        ),
    ],
)
def test_a_wrong_base_and_a_context_by_url_are_errors_of_the_file(
    project: Project, declared: dict[str, object], message: str
) -> None:
    project.write("sources.yml", yaml.safe_dump(declared))
    with pytest.raises(ConfigurationError, match=message) as raised:
        project.ingest()
    assert "sources.yml:" in raised.value.where


READINGS = """@prefix : <urn:> .
:a :reading [ :value 5 ], [ :value 5 ] .
:b :reading [ :value 5 ] .
"""


def test_equal_blank_nodes_of_a_document_are_counted(project: Project) -> None:
    project.write("versions/1.ttl", READINGS)
    project.write("versions/2.ttl", READINGS.replace("[ :value 5 ], [ :value 5 ]", "[ :value 5 ]"))
    project.write("versions/3.ttl", READINGS + ":c :reading [ :value 5 ] .")
    project.ingest()
    assert project.rows("transactions", "epoch", "inserted", "deleted") == [
        (1, 6, 0),
        (2, 0, 2),
        (3, 4, 0),
    ]


def test_equal_blank_nodes_are_one_where_the_source_says_so(project: Project) -> None:
    project.declare(SNAPSHOTS | {"blank_nodes": "merge"})
    project.write("versions/1.ttl", READINGS)
    project.ingest()
    assert project.rows("transactions", "inserted", "deleted") == [(3, 0)]


def test_a_blank_node_names_a_graph_of_its_own_in_every_version(project: Project) -> None:
    graphs = (
        "@prefix : <urn:> . _:g { :b :p 2 . :b :q _:x } _:h { :b :p 2 } _:g :about :b . :a :p 1 ."
    )
    project.write("versions/1.trig", graphs)
    project.write("versions/2.trig", graphs.replace("_:g", "_:a").replace("_:h", "_:g"))
    project.write("versions/3.trig", graphs.replace("_:g { :b :p 2", "_:g { :b :p 3"))
    project.ingest()
    assert project.rows("transactions", "epoch", "inserted", "deleted") == [
        (1, 5, 0),
        (2, 0, 0),
        (3, 1, 1),
    ]
    names = {name for (name,) in project.rows("graphs", "graph") if str(name).startswith("_:")}
    assert len(names) == 2


def ingest_all(project: Project) -> None:
    """Ingest what there is, and accept each version at which the source stops."""
    accept: list[str] = []
    while project.ingest(accept=accept).errors:
        accept = ["s"]


def test_a_broken_document_stops_its_source_until_it_is_corrected(project: Project) -> None:
    project.declare(SNAPSHOTS, PATCHES)
    project.write("versions/1.ttl", turtle(1))
    project.write("versions/2/a.ttl", turtle(2))
    project.write("versions/2/b.ttl", BROKEN)
    project.write("versions/3.ttl", turtle(3))
    project.patch("changes/1.rdfp", 'A <urn:s> <urn:p> "9" .')
    for _ in range(2):
        result = project.ingest()
        (error,) = result.errors
        assert (error.exit_code, error.where) == (3, str(project.folder / "versions"))
        assert "2 is broken: b.ttl, line 1, column 17: " in error.what
        assert "(1 of 2 documents)" in error.what
        assert "`weir ingest --accept s`" in error.hint
    assert objects(project, 9) == "1 9"
    assert project.rows("rejected", "position", "file", "line") == [("2", "b.ttl", 1)]
    project.write("versions/2/b.ttl", turtle(4))
    assert project.ingest().errors == ()
    assert [objects(project, epoch) for epoch in (3, 4)] == ["2 4 9", "3 9"]


def test_a_first_version_that_is_broken_makes_no_epoch(project: Project) -> None:
    project.write("versions/1.ttl", BROKEN)
    (error,) = project.ingest().errors
    assert "1.ttl is broken: line 1" in error.what
    assert project.rows("transactions", "position") == []


def test_blank_graphs_stay_apart_where_equal_blank_nodes_are_one(project: Project) -> None:
    project.declare(SNAPSHOTS | {"blank_nodes": "merge"})
    project.write(
        "versions/1.trig",
        "_:g { <urn:b> <urn:p> [ <urn:q> 1 ] } _:h { <urn:b> <urn:p> [ <urn:q> 1 ] }",
    )
    project.ingest()
    assert len({graph for graph, *_ in project.state(1)}) == 2
    assert len({o for *_, o in project.state(1) if str(o).startswith("_:")}) == 1


def test_a_source_that_counts_where_it_merged_gets_new_labels_once(project: Project) -> None:
    project.declare(SNAPSHOTS | {"blank_nodes": "merge"})
    project.write("versions/1.ttl", READINGS)
    project.ingest()
    project.declare(SNAPSHOTS)
    for version in (2, 3):
        project.write(f"versions/{version}.ttl", READINGS)
        project.ingest(accept=["s"])
    assert project.rows("transactions", "epoch", "inserted", "deleted") == [
        (1, 3, 0),
        (2, 6, 3),
        (3, 0, 0),
    ]


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("in_one_run", [True, False])
def test_the_last_good_version_of_a_broken_document_stays_once_it_is_accepted(
    project: Project, in_one_run: bool
) -> None:
    project.write("versions/1/a.ttl", turtle(1))
    project.write("versions/1/b.ttl", turtle(2))
    project.write("versions/2/a.ttl", BROKEN)
    project.write("versions/2/b.ttl", turtle(3))
    if not in_one_run:
        ingest_all(project)
    project.write("versions/3/a.ttl", BROKEN)
    project.write("versions/3/b.ttl", turtle(4))
    project.write("versions/4/a.ttl", turtle(5))
    project.write("versions/4/b.ttl", BROKEN)
    ingest_all(project)
    states = [objects(project, epoch) for epoch in (1, 2, 3, 4)]
    assert states == ["1 2", "1 3", "1 4", "4 5"]
    rejected = project.rows("rejected", "position", "file", "line")
    assert rejected == [("2", "a.ttl", 1), ("3", "a.ttl", 1), ("4", "b.ttl", 1)]


def test_what_is_carried_into_a_version_is_written_by_it(project: Project) -> None:
    """Its graph may be another one by now."""
    project.declare(SNAPSHOTS | {"graph": "urn:g"})
    project.write("versions/1/a.ttl", turtle(1))
    project.write("versions/1/b.ttl", turtle(2))
    project.ingest()
    project.declare(SNAPSHOTS | {"graph": "urn:h"})
    project.write("versions/2/a.ttl", "")
    project.write("versions/2/b.ttl", BROKEN)
    ingest_all(project)
    project.write("versions/3/b.ttl", turtle(2))
    project.ingest()
    assert sorted(project.rows("graphs", "graph")) == [("<urn:g>",), ("<urn:h>",)]
    changes = project.rows("quads", "graph", "object", "epoch", "weight")
    assert sorted(changes) == [
        ("<urn:g>", '"1"', 1, 1),
        ("<urn:g>", '"1"', 2, -1),
        ("<urn:g>", '"2"', 1, 1),
        ("<urn:g>", '"2"', 2, -1),
        ("<urn:h>", '"2"', 2, 1),
    ]
    triples = project.rows("triples", "object", "epoch", "weight")
    assert sorted(triples) == [('"1"', 1, 1), ('"1"', 2, -1), ('"2"', 1, 1)]


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("in_one_run", [True, False])
def test_a_version_without_usable_documents_removes_none(
    project: Project, in_one_run: bool
) -> None:
    project.write("versions/1/a.ttl", turtle(1))
    project.write("versions/1/b.ttl", turtle(2))
    if not in_one_run:
        project.ingest()
    project.write("versions/2/a.ttl", BROKEN)
    if not in_one_run:
        ingest_all(project)
    project.write("versions/3/a.ttl", turtle(3))
    project.write("versions/3/b.ttl", BROKEN)
    ingest_all(project)
    assert [objects(project, epoch) for epoch in (1, 2, 3)] == ["1 2", "1 2", "2 3"]


def test_a_version_that_is_accepted_though_it_is_broken_changes_nothing(project: Project) -> None:
    project.write("versions/1.ttl", turtle(1))
    project.ingest()
    project.write("versions/2.ttl", BROKEN)
    ingest_all(project)
    project.write("versions/3.ttl", turtle(2))
    project.ingest()
    assert [objects(project, epoch) for epoch in (1, 2, 3)] == ["1", "1", "2"]


def test_a_broken_document_without_its_last_good_version_stops_the_source(project: Project) -> None:
    project.write("versions/1/a.ttl", turtle(1))
    project.write("versions/1/b.ttl", turtle(2))
    project.ingest()
    for name in "ab":
        (project.folder / f"versions/1/{name}.ttl").unlink()
    project.write("versions/2/a.ttl", BROKEN)
    project.write("versions/2/b.ttl", turtle(3))
    (error,) = project.ingest().errors
    assert "last good content, are gone" in str(error)
    assert objects(project, 9) == "1 2"


def test_another_source_of_the_same_graph_is_refused(project: Project) -> None:
    project.declare(
        SNAPSHOTS | {"graph": "urn:g"},
        {"name": "t", "kind": "patches", "location": "changes", "graph": "urn:g"},
    )
    project.write("versions/1.ttl", turtle(1))
    project.patch("changes/1.rdfp", 'A <urn:s> <urn:p> "2" .')
    (error,) = project.ingest().errors
    assert "1.rdfp writes <urn:g>, which belongs to the source s" in str(error)
    assert objects(project, 9) == "1"


DOCUMENTS = st.dictionaries(st.sampled_from("abc"), st.booleans())


def at_a_time(versions: list[dict[str, bool]], before: dict[str, int]) -> set[tuple[int, int]]:
    """The carried documents, computed one version at a time from the state before it."""
    times = set()
    state: dict[str, int] = dict(before)
    for ordinal, documents in enumerate(versions):
        if not any(documents.values()):
            continue
        following = {}
        for name, usable in documents.items():
            if usable:
                following[name] = number_of(ordinal, name)
            elif name in state:
                following[name] = state[name]
                times.add((state[name], ordinal))
        state = following
    return times


def number_of(ordinal: int, name: str) -> int:
    return 10 * ordinal + "abc".index(name)


@given(
    versions=st.lists(DOCUMENTS, max_size=6),
    before=st.dictionaries(st.sampled_from("abc"), st.integers(100, 110)),
)
def test_broken_documents_are_carried_from_the_newest_version_that_has_them(
    versions: list[dict[str, bool]], before: dict[str, int]
) -> None:
    parsed = [
        Version(i, {name: number_of(i, name) if good else None for name, good in documents.items()})
        for i, documents in enumerate(versions)
    ]
    last_good: Callable[[str], int | None] = before.get
    assert {*carried(parsed, last_good)} == {
        Carried(document, ordinal) for document, ordinal in at_a_time(versions, before)
    }
