"""A project in Python: its answers, its runs, its status."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa

from weir.answers.logs import Printed
from weir.answers.sql import arrow_of
from weir.answers.unpublished import answer_names
from weir.api.answer import Answer, user_errors
from weir.definitions.names import no_query
from weir.errors import WeirError, worst_of
from weir.lake.names import Name
from weir.pending import Pending
from weir.pipeline import Reporting, StageName, StageRun, errors_of, run_pipeline, warnings_of
from weir.project import Project as OpenProject
from weir.requested_run import RequestedRun
from weir.settings import CONFIG_FILE, Settings
from weir.stage import Progress, new_run_id, silent

if TYPE_CHECKING:
    from weir.status.status import Status


@dataclass(frozen=True, slots=True)
class Run:
    """What a run did.

    Attributes:
        run_id: its name in the tables `runs` and `quality`.
        stages: in their order; none after ingest if nothing was to do.
        errors: of stages, sources, queries and remotes.
        warnings: what does not fail a run, but should be known.
    """

    run_id: str
    stages: tuple[StageRun, ...]
    errors: tuple[WeirError, ...]
    warnings: tuple[str, ...]


class Answers(Mapping[str, Answer]):
    """The answers of a project by name: those that are published, and those that are declared."""

    def __init__(self, project: OpenProject) -> None:
        self._project = project

    def __getitem__(self, name: str) -> Answer:
        names = self._names()
        if name not in names:
            error = no_query(self._project.settings, name, names)
            raise KeyError(f"{error.what}. {error.hint}")
        return Answer(name, self._project)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())

    def _names(self) -> list[str]:
        with user_errors():
            return sorted(answer_names(self._project.settings))


class Project:
    """A project, opened to run and read it.

    It keeps open what runs and reads need; `close` it, or use it as a context manager. One thread
    at a time may use it. Other processes may run and read the project meanwhile.
    """

    def __init__(self, path: str | PathLike[str] = ".") -> None:
        """Read the configuration.

        Args:
            path: the folder of the project, or its configuration file.

        Raises:
            ConfigurationError: there is no such file or folder, or the configuration is wrong.
        """
        file = Path(path)
        with user_errors():
            settings = Settings.load(file / CONFIG_FILE if file.is_dir() else file)
        self._project = OpenProject(settings)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close what is open."""
        self._project.close()

    @property
    def settings(self) -> Settings:
        """The configuration."""
        return self._project.settings

    @property
    def answers(self) -> Answers:
        """The answers by name."""
        return Answers(self._project)

    def run(
        self,
        *,
        select: Sequence[str] = (),
        exclude: Sequence[str] = (),
        refresh: bool = False,
        accept: Sequence[str] = (),
        retry: Sequence[str] = (),
        check: bool = True,
        progress: Callable[[str, str], None] | None = None,
    ) -> Run:
        """Ingest, maintain, validate and publish, as `weir run` does with these options.

        Args:
            select: only these queries: names, patterns, `tag:`, `owner:`, `kind:`, `state:`.
            exclude: without these.
            refresh: whether to ask the remotes that are due.
            accept: sources that are stopped and queries that are held, to go on with.
            retry: queries to try though they took more than a limit.
            check: whether an error is raised; the rest of the run is done before.
            progress: called with the name of a stage and a line for each of its steps.

        Raises:
            QualityError: a check holds an answer.
            BusyError: another run is at work.
            WeirError: a stage, a source or a query failed: the worst of the errors.
        """
        with user_errors():
            requested = RequestedRun(
                refresh=refresh,
                accept=[*map(Name, accept)],
                retry=retry,
                select=select,
                exclude=exclude,
            )
            pending = Pending(self._project)
            options, without_effect = requested.options(self._project, pending)
            run_id = new_run_id("run")
            reporting = _reporting(progress)
            stages = tuple(run_pipeline(self._project, run_id, options, reporting, pending))
            errors = tuple(errors_of(stages))
            notes = (f"{name}: nothing is stopped or held" for name in without_effect)
            result = Run(run_id, stages, errors, (*warnings_of(stages), *notes))
        if check and errors:
            raise worst_of(errors)
        return result

    def status(self) -> Status:
        """How far queries, sources, streams and remotes are; `faults()` is what is wrong."""
        from weir.status.status import Status

        with user_errors():
            return Status.of(self._project)

    def sql(self, statement: str) -> pa.Table:
        """The result of a SELECT over the views, as of `weir sql`.

        Raises:
            WeirError: the statement does more than reading, or DuckDB cannot run it.
        """
        with user_errors():
            return arrow_of(self._project.settings, statement)

    def try_(self, text: str) -> pa.Table:
        """The answer of the text of a query now, which is not registered.

        Columns: one per variable, as text; `weight`.

        Raises:
            ConfigurationError: the text is wrong, or nothing was ingested yet.
            WeirError: the query exceeds a limit.
        """
        from weir.review.tried import given, tried

        with user_errors():
            definition = given(self._project, None, text.encode())
            with tried(self._project, definition, silent) as answer:
                (names, rows), _ = answer.rows(Printed(limit=0))
        *values, weights = zip(*rows, strict=True) if rows else [()] * len(names)
        columns: list[Any] = [
            *(pa.array(cells, pa.string()) for cells in values),
            pa.array(weights, pa.int64()),
        ]
        return pa.table(columns, names=[*names])


def _reporting(progress: Callable[[str, str], None] | None) -> Reporting:
    def of_stage(stage: StageName) -> AbstractContextManager[Progress]:
        return nullcontext(silent if progress is None else partial(progress, stage))

    return of_stage
