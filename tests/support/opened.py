"""What a stage, or another function of a project, gives for some settings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Concatenate, NoReturn, ParamSpec, TypeVar

from weir.compute.engine import Engine
from weir.compute.session import Spark
from weir.lake.lake import Lake
from weir.pending import Pending
from weir.project import Project
from weir.settings import Settings
from weir.status.queries import QueryStatus, query_statuses

P = ParamSpec("P")
R = TypeVar("R")


def no_spark() -> NoReturn:
    """A session that must not be started: the run has to work without Spark."""
    raise AssertionError("Spark was asked for")


def opened(settings: Settings, spark: Spark = no_spark) -> Project:
    """A project of these settings, to be closed."""
    return Project(settings, spark)


def call(
    function: Callable[Concatenate[Project, P], R],
    settings: Settings,
    *arguments: P.args,
    **options: P.kwargs,
) -> R:
    """What a function gives for a project of these settings, which must not start Spark."""
    with opened(settings) as project:
        return function(project, *arguments, **options)


def on_spark(
    spark: Spark, function: Callable[..., R], settings: Settings, *arguments: Any, **options: Any
) -> R:
    """The same with Spark."""
    with opened(settings, spark) as project:
        return function(project, *arguments, **options)


def has_pending_work(settings: Settings) -> bool:
    """Whether maintain, validate or publish has anything to do."""
    return call(lambda project: Pending(project).answers, settings)


def statuses_of(settings: Settings) -> list[QueryStatus]:
    """The status of each query."""
    return call(lambda project: query_statuses(Pending(project)), settings)


@contextmanager
def engine_of(
    settings: Settings, job: str, spark: Spark = no_spark, lake: Lake | None = None
) -> Iterator[Engine]:
    """The engine of a stage."""
    with opened(settings, spark) as project, project.engine(job, lake) as engine:
        yield engine
