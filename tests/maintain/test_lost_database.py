"""DuckDB may fail by a fault of its own while queries are computed: it answers nothing any more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Never

import duckdb
import pytest

from tests.support.oracles.projects import check_answers
from tests.support.projects.graphs import FIRST, NAMES, PAIRS, ingest_change_sets
from tests.support.projects.project import Project
from weir.compute.database import Database
from weir.compute.engine import Engine
from weir.compute.lost_rows import ATTEMPTS
from weir.errors import WeirError
from weir.maintain import new_rows

FATAL = (
    "FATAL Error: Failed: database has been invalidated because of a previous fatal error.\n"
    'Original error: "a fault of DuckDB"'
)


class _Ended:
    """The connection of a database that failed."""

    def execute(self, *_: object) -> Never:
        raise duckdb.FatalException(FATAL)

    cursor = sql = execute

    def close(self) -> None:
        """As of a connection."""


@pytest.fixture
def computed(project: Project) -> Project:
    """Two queries of one shape, one of another, and a graph."""
    project.query("pairs", PAIRS)
    project.query("names", NAMES)
    for name in ("a", "b"):
        project.query(f"known_by_{name}", f"SELECT ?x {{ <urn:{name}> <urn:knows> ?x }}")
    ingest_change_sets(project, FIRST)
    return project


@pytest.fixture
def fail(monkeypatch: pytest.MonkeyPatch) -> Callable[[], Never]:
    """Has the databases of this process fail, and raises what DuckDB then does."""
    opened: list[Any] = []
    engine = Database.engine

    def noted(database: Database) -> object:
        opened.append(database)
        return engine(database)

    monkeypatch.setattr(Database, "engine", noted)

    def failed() -> Never:
        for database in opened:
            database._connection = _Ended()
        raise duckdb.FatalException(FATAL)

    return failed


def _answers_are_right(project: Project) -> None:
    project.stages("validate", "publish")
    for query in ("pairs", "names", "known_by_a", "known_by_b"):
        check_answers(project, query, 2, 2)


def test_what_a_failed_database_had_is_computed_again_in_the_same_run(
    computed: Project, fail: Callable[[], Never], monkeypatch: pytest.MonkeyPatch
) -> None:
    write, left = Engine.write, [None]

    def write_after_a_failure(engine: Engine, *arguments: Any, **options: Any) -> object:
        if left:
            left.pop()
            fail()
        return write(engine, *arguments, **options)

    monkeypatch.setattr(Engine, "write", write_after_a_failure)
    lines: list[str] = []
    computed.maintain(progress=lines.append)
    warnings = [line for line in lines if "they are computed again" in line]
    assert ["DuckDB failed" in line for line in warnings] == [True]
    _answers_are_right(computed)


def test_queries_over_which_a_database_failed_together_are_computed_one_by_one(
    computed: Project, fail: Callable[[], Never], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(new_rows, "rows_of_members", lambda *_: fail())
    computed.maintain()
    _answers_are_right(computed)


def test_a_database_that_fails_again_and_again_is_an_error_and_the_next_run_goes_on(
    computed: Project, fail: Callable[[], Never], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[None] = []

    def always(*_: object, **__: object) -> Never:
        calls.append(None)
        fail()

    with monkeypatch.context() as patched:
        patched.setattr(Engine, "write", always)
        with pytest.raises(WeirError, match="DuckDB failed"):
            computed.maintain()
    assert len(calls) >= ATTEMPTS
    computed.maintain()
    _answers_are_right(computed)
