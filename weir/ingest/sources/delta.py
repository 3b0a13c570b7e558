"""The kind `delta`: a Delta table of terms with its change feed on, an epoch per commit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from itertools import takewhile
from typing import ClassVar, Literal, Self

from deltalake import DeltaTable as ForeignTable
from deltalake.exceptions import DeltaError, TableNotFoundError
from deltalake.schema import PrimitiveType
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationInfo,
    field_validator,
)

from weir.errors import ConfigurationError
from weir.ingest.changesets import AcceptedChangeSets, ChangeSet, SourcePosition, State
from weir.ingest.reading import Reader, SourceReading
from weir.ingest.sources.delta_files import FileRows, NotFew
from weir.ingest.sources.delta_rows import VersionRows, read_versions
from weir.ingest.sources.errors import SourceError, errors_of
from weir.ingest.sources.source import Source
from weir.lake.damage.storage_errors import StorageError
from weir.lake.delta.change_feed import ChangeFeedGap, lost_files_are_a_gap
from weir.lake.delta.commit_files import LOG
from weir.lake.delta.feed_files import NotByFiles, read_commit
from weir.lake.lake import files_below, history
from weir.project import Project

_STATE = State()
_TIMES = tuple(map(PrimitiveType, ("string", "long", "timestamp", "timestamp_ntz")))


class Columns(BaseModel):
    """Names of the columns of a table of terms."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    subject: str = "subject"
    predicate: str = "predicate"
    object: str = "object"
    graph: str | None = None
    time: str | None = None

    @property
    def of_quad(self) -> tuple[str | None, str, str, str]:
        """The columns of graph (None if there is none), subject, predicate and object."""
        return self.graph, self.subject, self.predicate, self.object

    @property
    def of_terms(self) -> tuple[str, ...]:
        """The columns that hold terms: subject, predicate, object, and graph if there is one."""
        terms = (self.subject, self.predicate, self.object, self.graph)
        return tuple(name for name in terms if name is not None)

    @property
    def read(self) -> tuple[str, ...]:
        """The columns of the terms, and the time if there is one."""
        return self.of_terms if self.time is None else (*self.of_terms, self.time)


class DeltaTable(Source):
    """A Delta table of terms in N-Triples form with its change feed on; each commit is an epoch.

    The position is the version of the table. The first change set is the content of a version, all
    others are commits.
    """

    kind: Literal["delta"]
    # The newest file of the log says that there is something new.
    watched: ClassVar[str] = LOG
    columns: Columns = Field(
        Columns(),
        validate_default=True,
        description="which columns hold the terms; `time`, the time of an event: a timestamp, a"
        " number of microseconds since 1970, or an xsd:dateTime as text or as a literal",
    )
    starting_version: int | None = Field(
        None,
        ge=0,
        description="version whose content is the first epoch; else the newest at first sight",
    )

    _last_version: int | None = PrivateAttr(None)

    @field_validator("columns")
    @classmethod
    def _dates_events(cls, columns: Columns, info: ValidationInfo) -> Columns:
        stream = info.data.get("stream")
        is_dated = stream is not None and stream.time == "column"
        if is_dated and columns.time is None:
            raise ValueError("`time: column` needs the name of the column (`columns: {time: ...}`)")
        if columns.time is not None and not is_dated:
            raise ValueError("`time` is read by a stream with `time: column` only")
        return columns

    def as_first_read(self, positions: Sequence[str]) -> Self:
        """The table from the version whose content was the first epoch to that of the last one."""
        copy = self.model_copy(update={"starting_version": int(positions[0])})
        copy._last_version = int(positions[-1])
        return copy

    def pending(self, position: SourcePosition, project: Project) -> list[ChangeSet]:
        """The commits that are not ingested; before the first of them the content of a version."""
        table = self._open(project.settings.storage_options)
        newest = table.version()
        if position.last is not None:
            first = int(position.last) + 1
            # Before the table is read at another version.
            at = self._change_sets_of(table, first, project.settings.storage_options)
            self._refuse_another(table, position, position.last)
            return [at(version) for version in range(first, newest + 1)]
        first = newest if self.starting_version is None else self.starting_version
        if first > newest:
            raise ConfigurationError(
                f"source {self.name}: starting_version {first} does not exist yet,"
                f" the newest is {newest}",
                self.location,
                "Correct sources.yml.",
            )
        at = self._change_sets_of(table, first, project.settings.storage_options)
        return [at(first, _STATE), *(at(version) for version in range(first + 1, newest + 1))]

    def read(
        self, accepted: AcceptedChangeSets, position: SourcePosition, reader: Reader
    ) -> SourceReading:
        """The rows of the versions; where the feed has a gap, the newest content instead."""
        del position
        document = reader.next_document()
        try:
            return self._read(accepted, reader, document, self.name)
        except ChangeFeedGap:
            with errors_of(self):
                # Files of the batch's last version may be gone too; the newest has all of its own.
                accepted.replace_by(self._newest_content(reader.project.settings.storage_options))
            with errors_of(self, ChangeFeedGap):
                return self._read(accepted, reader, document, f"{self.name}-content")

    def _read(
        self, accepted: AcceptedChangeSets, reader: Reader, document: int, folder: str
    ) -> SourceReading:
        """The rows of the versions, by the driver if they are few, else by Spark.

        Args:
            accepted: which of the versions are read.
            reader: what to read with.
            document: the number of the table's content.
            folder: below that of staged rows, for those that Spark looks at.

        Raises:
            ChangeFeedGap: commits, or files of the versions, are gone.
        """
        engine, settings = reader.engine, reader.project.settings

        def read_by(rows: VersionRows) -> SourceReading:
            change_sets, staging = accepted.of(self.name), engine.staging(folder)
            limits = settings.limits
            return read_versions(engine, self, rows, change_sets, document, limits, staging)

        with errors_of(self), lost_files_are_a_gap(self.location):
            opened = partial(self._at, settings.storage_options)
            files = files_below(self.location, settings.storage_options)
            try:
                # Versions that delta-rs does not open: Spark reads them, or says why not.
                with suppress(NotFew, NotByFiles, DeltaError):
                    return read_by(FileRows(engine.placement, self, files, opened))
            except FileNotFoundError as error:
                raise ChangeFeedGap(
                    f"{self.location}: files that its log names are no longer there"
                ) from error

        from py4j.protocol import Py4JError  # type: ignore[import-untyped]
        from pyspark.errors import PySparkException

        from weir.ingest.sources.delta_spark import SparkRows

        # Started here: a session that does not start is no error of the source.
        spark = engine.spark
        with errors_of(self, PySparkException, Py4JError), lost_files_are_a_gap(self.location):
            return read_by(SparkRows(spark, self.location, self.columns))

    def _newest_content(self, storage_options: Mapping[str, str]) -> ChangeSet:
        table = self._open(storage_options)
        newest = table.version()
        return self._change_sets_of(table, newest, storage_options)(newest, _STATE)

    def _change_sets_of(
        self, table: ForeignTable, first: int, storage_options: Mapping[str, str]
    ) -> Callable[..., ChangeSet]:
        """What makes a change set of a version from `first` on, its content or its commit."""
        table_id = _table_id(table)
        with errors_of(self, StorageError):
            commits = history(
                table, partial(read_commit, files_below(table.table_uri, storage_options))
            )
            times = {
                commit["version"]: datetime.fromtimestamp(commit["timestamp"] / 1000, UTC)
                for commit in takewhile(lambda commit: commit["version"] >= first, commits)
                if "timestamp" in commit
            }

        def at(version: int, state: State | None = None) -> ChangeSet:
            return ChangeSet(
                self, str(version), state, change_id=table_id, event_time=times.get(version)
            )

        return at

    def _refuse_another(self, table: ForeignTable, position: SourcePosition, last: str) -> None:
        """Refuse a table that is not the one of which version `last` was ingested.

        Raises:
            SourceError: it is another one.
        """
        newest = table.version()
        why = f"the table's newest version is {newest}"
        if last.isdecimal() and int(last) <= newest:
            # A table that was replaced within its history has another id from there on.
            if position.last_id is None or position.last_id == _table_id(table):
                return
            with suppress(DeltaError):
                table.load_as_version(int(last))
                if position.last_id == _table_id(table):
                    return
            why = "the table there is a new one"
        raise SourceError(
            f"source {self.name}: {last} was ingested last, and {why}: it is not the same table",
            self.location,
            "Bring the table back, or declare the new one under another name.",
        )

    def _at(self, storage_options: Mapping[str, str], version: int) -> ForeignTable:
        """The table at a version."""
        return ForeignTable(self.location, version, storage_options=dict(storage_options) or None)

    def _open(self, storage_options: Mapping[str, str]) -> ForeignTable:
        """The table, if it is as declared."""
        try:
            options = dict(storage_options) or None
            table = ForeignTable(self.location, self._last_version, storage_options=options)
        except TableNotFoundError:
            raise ConfigurationError(
                f"source {self.name}: there is no Delta table",
                self.location,
                "Correct sources.yml.",
            ) from None
        if table.metadata().configuration.get("delta.enableChangeDataFeed") != "true":
            raise ConfigurationError(
                f"source {self.name}: the table has no change feed",
                self.location,
                "Set its property delta.enableChangeDataFeed to true.",
            )
        types = {field.name.lower(): field.type for field in table.schema().fields}
        for name in self.columns.read:
            if name.lower() not in types:
                raise ConfigurationError(
                    f"source {self.name}: the table has no column {name}, but {', '.join(types)}",
                    self.location,
                    "Name the columns of the terms in sources.yml (`columns:`).",
                )
        for name in self.columns.of_terms:
            if types[name.lower()] != PrimitiveType("string"):
                raise ConfigurationError(
                    f"source {self.name}: the column {name} is not a string",
                    self.location,
                    "Columns hold terms in N-Triples form; a view or another table can give it.",
                )
        time = self.columns.time
        if time is not None and types[time.lower()] not in _TIMES:
            raise ConfigurationError(
                f"source {self.name}: the column {time} holds no times",
                self.location,
                "Its type is string, long, timestamp or timestamp without time zone.",
            )
        return table


def _table_id(table: ForeignTable) -> str:
    return str(table.metadata().id)
