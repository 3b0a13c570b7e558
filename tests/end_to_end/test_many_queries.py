"""Fifty queries, three of them touched: what a run costs, and runs that are killed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.support.killed import call_killed
from tests.support.projects.project import PATCHES, Project
from tests.support.stages import opened_lakes
from weir.compute.duck import DuckEngine
from weir.compute.relations import Statement
from weir.progress.completion import Completion
from weir.project import open_lake

REGISTERED = 50
TOUCHED = ("facts0", "facts1", "facts2")


def published(folder: Path, registered: int) -> Project:
    """A project with published answers, half of each of two shapes, and a change set to take in."""
    project = Project(folder).declare(PATCHES)
    for number in range(registered // 2):
        thing = f"<urn:thing{number}>"
        project.query(f"facts{number}", f"SELECT ?p ?o WHERE {{ {thing} ?p ?o }}")
        project.query(
            f"links{number}", f"SELECT ?x ?n WHERE {{ ?x <urn:to> {thing} ; <urn:name> ?n }}"
        )
    project.change(
        *(f'A <urn:thing{number}> <urn:name> "{number}" <urn:g>' for number in range(30)),
        *(
            f"A <urn:thing{number}> <urn:to> <urn:thing{number + 1}> <urn:g>"
            for number in range(30)
        ),
    )
    project.run()
    project.change_set(
        *(f'A <urn:thing{number}> <urn:age> "{number}" <urn:g>' for number in range(len(TOUCHED)))
    )
    return project


@pytest.fixture(scope="module")
def fifty(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return published(tmp_path_factory.mktemp("fifty") / "project", REGISTERED)


@pytest.fixture(scope="module")
def done(fifty: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The same project after an undisturbed run."""
    project = fifty.copy(tmp_path_factory.mktemp("done") / "project")
    project.run()
    return project


def watermarks(project: Project) -> dict[str, tuple[int | None, int | None]]:
    """How far each query is maintained, and published."""
    completion = Completion.read(open_lake(project.settings))
    by_query = {}
    for file in sorted((project.folder / "queries").glob("*.rq")):
        maintained, published = (
            read(file.stem) for read in (completion.maintained, completion.published)
        )
        by_query[file.stem] = (
            maintained.epoch if maintained else None,
            published.epoch if published else None,
        )
    return by_query


def cost(project: Project, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """What a run of all stages opens, makes and commits."""
    counted: Counter[str] = Counter()
    make = DuckEngine.make

    def making(engine: DuckEngine, statement: Statement) -> None:
        counted["statements"] += 1
        make(engine, statement)

    def versions() -> int:
        logs = Path(project.settings.lake).rglob("_delta_log/*.json")
        return len(list(logs))

    before = versions()
    with opened_lakes(monkeypatch) as lakes, monkeypatch.context() as patched:
        patched.setattr(DuckEngine, "make", making)
        project.run()
    counted["tables opened"] = sum(lake.opened.total() for lake in lakes)
    counted["commits"] = versions() - before
    return counted


@pytest.mark.usefixtures("slow")
def test_a_run_costs_the_same_however_many_queries_are_registered(
    fifty: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = cost(published(tmp_path / "few", 10), monkeypatch)
    assert cost(fifty.copy(tmp_path / "many"), monkeypatch) == few


def test_a_change_set_commits_to_the_tables_of_touched_queries_only(
    fifty: Project, done: Project
) -> None:
    before, after = fifty.versions(), done.versions()
    changed = {name for name in after if after[name] != before.get(name)}
    answers = {name for name in changed if name.startswith(("answers/", "embeddings/"))}
    assert answers == {f"{kind}/{query}" for kind in ("answers", "embeddings") for query in TOUCHED}


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize(
    "point",
    [
        "maintain:after:embeddings/facts1",
        "maintain:before:runs",
        "validate:after:runs",
        "publish:after:answers/facts1",
        "publish:before:runs",
    ],
)
def test_a_run_over_many_queries_that_is_killed_is_completed(
    fifty: Project, done: Project, tmp_path: Path, point: str
) -> None:
    project = fifty.copy(tmp_path / "project")
    call_killed(Project.run, project, at=point)
    project.run()
    for query in (*TOUCHED, "facts3", "links1"):
        assert project.signed(query) == done.signed(query)
        assert project.table(f"embeddings/{query}") == done.table(f"embeddings/{query}")
    assert watermarks(project) == watermarks(done)
    before = project.versions()
    assert project.run().modes == {}
    assert project.versions() == before
