"""Where a traversal begins: the answer of a query, and the patterns of queries."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.support.opened import call, opened
from tests.support.projects.project import PATCHES, Project
from tests.traversals.served import Served
from tests.traversals.webs import Web
from weir.errors import ConfigurationError
from weir.ingest.stage import ingest_changes
from weir.refresh.seeds import matches_for, seeds_of
from weir.refresh.stage import RefreshResult, Surroundings, refresh_remotes
from weir.remotes.evaluation import Clock
from weir.traversals.declarations import load_traversals
from weir.traversals.reading import ReadingOptions
from weir.traversals.rules import Rules

NOW = datetime(2026, 1, 1, tzinfo=UTC)
MATCHES = """
traversals:
  - name: matches
    seeds: {query: matched}
    follow: none
    hosts: any
    contact: team@example.org
    gone_after: 1
    keep_unreachable: PT0S
"""
MATCHED = "SELECT ?label ?match WHERE { ?s <http://x/match> ?match ; <http://x/label> ?label }"
LABELS = "SELECT ?s ?l WHERE { GRAPH <urn:weir:web:matches> { ?s <http://x/label> ?l } }"
WEB = Web(
    {
        f"http://h.example/{n}": [(f"<http://h.example/{n}>", "<http://x/label>", f'"{n}"')]
        for n in range(4)
    }
)


def project_of(path: Path, query: str = MATCHED) -> Project:
    project = Project(path).declare(PATCHES)
    project.write("traversals.yml", MATCHES)
    project.query("matched", query)
    return project


def matching(number: int, match: str) -> tuple[str, str]:
    """The changes by which a resource has a match."""
    own = f"<http://x/{number}>"
    return f"A {own} <http://x/match> {match} .", f'A {own} <http://x/label> "l" .'


def refresh(project: Project, hour: int) -> tuple[RefreshResult, Served]:
    now = NOW.replace(hour=hour)
    served = Served(WEB, ReadingOptions("matches", Rules()), now)
    around = Surroundings(clock=Clock(lambda: now, lambda _: None), fetch=served)
    return call(refresh_remotes, project.settings, f"refresh-{hour}", surroundings=around), served


def documents(project: Project) -> set[str]:
    quads: dict[str, int] = {}
    for row in project.table("quads"):
        if row["graph"].startswith("<urn:weir:web:matches:http"):
            quads[row["subject"]] = quads.get(row["subject"], 0) + row["weight"]
    return {subject for subject, weight in quads.items() if weight}


def test_the_iris_of_an_answer_are_seeds_as_long_as_they_are_in_it(tmp_path: Path) -> None:
    project = project_of(tmp_path)
    project.query("labels", LABELS)
    project.change(*matching(1, "<http://h.example/1#me>"), *matching(2, '"http://h.example/2"'))
    assert not refresh(project, 0)[0].did_something
    project.stages("ingest", "maintain", "validate", "publish")
    refresh(project, 1)
    project.stages("ingest", "maintain", "validate", "publish")
    assert documents(project) == {"<http://h.example/1>"}
    project.change(
        "D <http://x/1> <http://x/match> <http://h.example/1#me> .",
        *matching(3, "<http://h.example/3>"),
    )
    project.stages("ingest", "maintain", "validate", "publish")
    refresh(project, 2)
    call(ingest_changes, project.settings, "ingest")
    assert documents(project) == {"<http://h.example/3>"}


def test_an_answer_without_an_iri_is_a_traversal_without_documents(tmp_path: Path) -> None:
    project = project_of(tmp_path)
    project.change(*matching(1, '"text"'))
    project.stages("ingest", "maintain", "validate", "publish")
    result, served = refresh(project, 1)
    assert (result.did_something, result.errors) == (True, ())
    assert served.asked == []


@pytest.mark.parametrize(
    ("query", "name", "what"),
    [
        (f"{LABELS[:-3]}. ?s ?p ?match }} }}", "matched", "which reads that traversal"),
        (MATCHED, "mached", "names the query mached, which is not registered"),
    ],
    ids=["reads the traversal", "not registered"],
)
def test_seeds_of_a_query_that_cannot_have_them_are_an_error_at_their_place(
    tmp_path: Path, query: str, name: str, what: str
) -> None:
    project = project_of(tmp_path, query)
    project.write("traversals.yml", MATCHES.replace("{query: matched}", f"{{query: {name}}}"))
    declared = load_traversals(project.settings.traversals)["matches"]
    with opened(project.settings) as own, pytest.raises(ConfigurationError, match=what) as error:
        seeds_of(own, own.open_lake(), declared, matches_for(own, declared))
    assert error.value.where.endswith("traversals.yml:3:5")
