"""An answer of a project, as Arrow tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from weir.answers.appended import UnknownChanges, appended_rows
from weir.answers.causes import CAUSE, Causes
from weir.answers.instants import instant_of
from weir.answers.logs import CHANGES, CURRENT, INTERVALS, answer_table, require_published
from weir.answers.moments import moment_of
from weir.answers.prefixes import prefixes_of
from weir.answers.sql import arrow_of
from weir.definitions.catalog import registered
from weir.definitions.definition import Definition
from weir.errors import ConfigurationError
from weir.expected_errors import as_user_error
from weir.progress.answer_commits import published_commits
from weir.progress.completion import Completion
from weir.project import Project, open_lake
from weir.status.streams import is_over_streams

if TYPE_CHECKING:
    from weir.why.explanation import ExplainedEpoch


@contextmanager
def user_errors() -> Iterator[None]:
    """Raise what a user can act on as a `WeirError`; what is a bug passes unchanged."""
    try:
        yield
    except Exception as error:
        expected = as_user_error(error)
        if expected is None or expected is error:
            raise
        raise expected from error


@dataclass(frozen=True, slots=True)
class Answer:
    """The published answer of a query or program.

    In tables, a variable has the values that the views of SQL have: those of the table
    `current/<name>` if there is one, else plain values as text; `<variable>_term` is the exact term
    in N-Triples form, `weight` the multiplicity of a row. Rows are ordered by all columns.

    name: of the query or program.
    """

    name: str
    _project: Project = field(repr=False)

    @property
    def definition(self) -> Definition:
        """What its file declares: text, description, owner, tags, columns.

        Raises:
            ConfigurationError: the file is gone, or wrong.
        """
        return registered(self._project.settings, self.name)

    @property
    def epoch(self) -> int | None:
        """The epoch up to which it is published; None if it is not."""
        with user_errors():
            published = Completion.read(open_lake(self._project.settings)).published(self.name)
            return None if published is None else published.epoch

    def current(self) -> pa.Table:
        """The newest answer: a column per variable, `weight`, exact terms.

        Raises:
            WeirError: nothing is published.
        """
        return self._view(CURRENT)

    def as_of(self, epoch: int | None = None, *, at: datetime | str | None = None) -> pa.Table:
        """The answer at an epoch: columns as `current`; values are text.

        Args:
            epoch: of the graph; over streams, the epoch as of which the answer is known.
            at: over streams, the instant at which rows hold, with its zone.

        Raises:
            WeirError: nothing is published, or not yet at this epoch or instant.
        """
        settings = self._project.settings
        with user_errors():
            require_published(settings, self.name)
            instant = at.isoformat() if isinstance(at, datetime) else at
            return answer_table(settings, self.name, moment_of(settings, self.name, instant, epoch))

    @property
    def cursor(self) -> str | None:
        """What is published now, for `changes(after=...)` later; None if nothing is."""
        with user_errors():
            lake = open_lake(self._project.settings)
            commits = published_commits(lake, Completion.read(lake), self.name)
        return None if commits is None else commits.cursor

    def changes(self, since: int = 0, *, after: str | None = None) -> pa.Table:
        """The changes of the answer, in the order of epochs.

        Columns: epoch, weight (+1 a row appeared, -1 it vanished), event_time, a column per
        variable as text, exact terms, `changed by`: the change set, or an edit of the query.

        Args:
            since: only those at later epochs. An edit publishes its difference at the newest epoch,
                which may be one that was read before.
            after: instead of it, a value of `cursor`: all that was published later, edits too.

        Raises:
            ConfigurationError: what was published after `after` is not known any more.
            WeirError: nothing is published.
        """
        if after is None:
            rows = self._view(CHANGES, f"WHERE epoch > {int(since)}")
        else:
            rows = self._published_after(after)
        with user_errors():
            lake = open_lake(self._project.settings)
            over_streams = is_over_streams(Completion.read(lake), self.name)
            epochs: list[Any] = rows["epoch"].to_pylist()
            times: list[Any] = rows["event_time"].to_pylist()
            causes = Causes.of(lake, self.name, {*epochs}, over_streams=over_streams)
            by_row = [causes.of_row(*row) for row in zip(epochs, times, strict=True)]
        return rows.append_column(CAUSE, pa.array(by_row, pa.string()))

    def _published_after(self, cursor: str) -> pa.Table:
        settings = self._project.settings
        with user_errors():
            require_published(settings, self.name)
            lake = open_lake(settings)
            commits = published_commits(lake, Completion.read(lake), self.name)
            assert commits is not None, "it is published"
            later = commits.since(cursor)
            if later is None:
                raise ConfigurationError(
                    f"{cursor!r} is no cursor of {self.name} as it is published now",
                    "",
                    "After it was dropped or restored, read `current` first; go on from `cursor`.",
                )
            try:
                return appended_rows(settings, lake, later)
            except UnknownChanges as error:
                raise ConfigurationError(
                    f"what was published of {self.name} after {cursor} is not known: {error}",
                    settings.lake,
                    "Read `current`, and go on from the present `cursor`.",
                ) from error

    def intervals(self) -> pa.Table:
        """Over streams, when each row held: a column per variable, since, until, weight, terms.

        Raises:
            WeirError: nothing is published, or the answer has no intervals.
        """
        with user_errors():
            require_published(self._project.settings, self.name)
            if not is_over_streams(Completion.read(open_lake(self._project.settings)), self.name):
                raise ConfigurationError(
                    f"{self.name} reads no stream, so its rows have epochs, not times",
                    "",
                    "`changes` has the epochs at which rows appeared and vanished.",
                )
        return self._view(INTERVALS)

    def why(
        self,
        row: Mapping[str, object] | None = None,
        *,
        epoch: int | None = None,
        at: datetime | str | None = None,
        limit: int = 5,
    ) -> ExplainedEpoch:
        """Which changes, or over streams which events, made rows appear or vanish at an epoch.

        Args:
            row: only rows with these values, by column: plain, shortened by a prefix of the query,
                or the exact term.
            epoch: by default, the newest that changed the answer.
            at: over streams, only rows of this instant, with its zone.
            limit: most rows that are explained.

        Raises:
            WeirError: there is no such column, or the epoch is not known any more.
        """
        from weir.why.explain import explain_epoch
        from weir.why.values import named_values

        with user_errors():
            definition = self.definition
            prefixes = prefixes_of(self._project.settings, self.name)
            chosen = ((name, str(value)) for name, value in (row or {}).items())
            values = named_values(definition, chosen, prefixes)
            time = at.isoformat() if isinstance(at, datetime) else at
            instant = None if time is None else instant_of(time, "at")
            return explain_epoch(self._project, definition, epoch, values, limit, instant)

    def _view(self, ending: str, where: str = "") -> pa.Table:
        with user_errors():
            require_published(self._project.settings, self.name)
            statement = f'SELECT * FROM "{self.name}{ending}" {where} ORDER BY ALL'
            return arrow_of(self._project.settings, statement)
