"""Queries and remotes that are looked at one after the other are not taken for each other."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from tests.support.opened import call
from tests.support.projects.replicas import IRI, ReplicaProject
from weir.errors import QualityError
from weir.publish.stage import PublishResult, publish_answers
from weir.refresh.stage import refresh_remotes
from weir.remotes import known_keys

pytestmark = pytest.mark.usefixtures("sampled")

NEW, OLD = "http://remote.example/new", "http://remote.example/old"
_KEY = "<http://e/k>"
_SETTINGS = {"every": "PT1S", "contact": "tests@example.org", "pause": "PT0S"}


@pytest.fixture
def project(tmp_path: Path) -> ReplicaProject:
    return with_a_triple(tmp_path)


def with_a_triple(folder: Path) -> ReplicaProject:
    """A project with a triple, about whose subject the remote knows something."""
    made = ReplicaProject(folder)
    made.declare_remote()
    made.change_set(f"A {_KEY} <http://e/p> {_KEY} .")
    made.remote.set("http://e/k", "http://e/l", 1)
    return made


def published(project: ReplicaProject) -> dict[str, str]:
    """What a run publishes: the mode of each query."""
    project.stages("ingest", "maintain", "validate")
    result: object
    try:
        result = call(publish_answers, project.settings, "test")
    except QualityError as held:
        result = held.done
    assert isinstance(result, PublishResult)
    return {publication.query: publication.mode for publication in result.publications}


def test_keys_are_those_of_the_query_after_one_whose_table_has_no_rows(
    project: ReplicaProject,
) -> None:
    """The tables have other columns."""
    block = f"SERVICE <{IRI}> {{ ?k <http://e/l> 1 }}"
    project.query("a", f"SELECT ?k {{ ?k <http://e/none> 1 {block} }}")
    project.query("b", f"SELECT * {{ ?x <http://e/p> ?y . ?y <http://e/p> ?k {block} }}")
    assert published(project) == {"a": "initial", "b": "waiting"}


def test_a_first_answer_waits_after_one_whose_table_has_no_rows(project: ReplicaProject) -> None:
    """The tables have the same columns."""
    block = f"SERVICE <{IRI}> {{ ?k <http://e/l> ?v }}"
    project.query("a", f"SELECT ?k {{ ?k <http://e/none> ?v {block} }}")
    project.query("b", f"SELECT ?k {{ ?k <http://e/p> ?v MINUS {{ {block} }} }}")
    for _ in range(2):
        assert published(project).get("b") == "waiting"
    assert not (project.folder / "lake" / "answers" / "b").exists()


@pytest.fixture
def two(summarized: ReplicaProject, tmp_path: Path) -> ReplicaProject:
    """Two remotes: what `old` said is summarized, and `new` was never asked."""
    return summarized.copy(tmp_path / "two")


@pytest.fixture(scope="module")
def summarized(tmp_path_factory: pytest.TempPathFactory) -> ReplicaProject:
    """What `two` copies."""
    project = with_a_triple(tmp_path_factory.mktemp("summarized"))
    declared = [{"name": "old", "iri": OLD, **_SETTINGS}, {"name": "new", "iri": NEW, **_SETTINGS}]
    project.remotes(*declared)
    project.query(
        "q", f"SELECT * {{ ?k <http://e/p> ?k SERVICE <{OLD}> {{ ?k <http://e/l> ?v }} }}"
    )
    project.run()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(known_keys, "_COMMITS", 1)
        for _ in range(3):
            refresh(project, "old")
    assert (project.folder / "lake" / "replica_summaries" / "old").exists()
    project.run()
    return project


def refresh(project: ReplicaProject, *names: str) -> None:
    project.now += timedelta(seconds=10)
    call(
        refresh_remotes,
        project.settings,
        "refresh",
        names=names,
        surroundings=project.surroundings(),
    )


def test_a_query_of_two_remotes_of_which_one_was_never_asked_waits(two: ReplicaProject) -> None:
    two.query(
        "both",
        f"SELECT * {{ ?k <http://e/p> ?k SERVICE <{OLD}> {{ ?k <http://e/l> ?v }}"
        f" SERVICE <{NEW}> {{ ?k <http://e/l> ?w }} }}",
    )
    assert published(two)["both"] == "waiting"
    refresh(two)
    two.stages("ingest", "maintain")
    refresh(two)
    assert published(two)["both"] == "initial"
    assert len(two.answer("both")) == 1


@pytest.mark.usefixtures("slow")
@pytest.mark.parametrize("names", ["ab", "ba"])
def test_the_keys_of_two_remotes_are_looked_at_one_after_the_other(
    two: ReplicaProject, names: str
) -> None:
    """In whichever order: one has a summary, the other has not, and at first no inbox."""
    for name, remote in zip(names, (NEW, OLD), strict=True):
        block = f"SERVICE <{remote}> {{ ?k <http://e/l> ?{name} }}"
        two.query(name, f"SELECT ?k ?{name} {{ ?k <http://e/p> ?k {block} }}")
    assert published(two) == {"a": "waiting", "b": "waiting"}
    refresh(two)
    two.run()
    for name in names:
        assert len(two.answer(name)) == 1


def test_max_staleness_is_enforced_after_a_remote_without_a_summary(two: ReplicaProject) -> None:
    for name, remote, limit in (("a", NEW, "P99999D"), ("b", OLD, "PT20S")):
        text = f"SELECT ?x ?k {{ ?x <http://e/p> ?k SERVICE <{remote}> {{ ?k <http://e/l> ?v }} }}"
        two.query(name, f"#+ max_staleness: {limit}\n{text}")
    published(two)
    refresh(two)
    two.stages("ingest", "maintain")
    refresh(two)
    modes = published(two)
    assert (modes["a"], modes["b"]) == ("initial", "held")
