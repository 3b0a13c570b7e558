"""A project as a run works on it: its settings, and what is open of it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

from weir.compute.session import Session, Spark, late_session, session_of

if TYPE_CHECKING:
    from weir.compute.database import Database
    from weir.compute.early_rows import EarlyRows
    from weir.compute.engine import Engine
    from weir.compute.indexes import Indexes
    from weir.lake.lake import Lake
    from weir.lake.storage.storage import Storage
    from weir.rdf.parser_process import ParserProcess
    from weir.settings import Settings


def open_lake(settings: Settings) -> Lake:
    """The lake of a project, for commands that only read it."""
    from weir.lake.lake import Lake

    return Lake(settings.lake, storage=_storage(settings))


def _storage(settings: Settings) -> Storage:
    """The files of the lake; all lakes of a process share what they brought from a store."""
    from weir.lake.lake import storage_of
    from weir.lake.storage.cache import Cache

    options = settings.store
    key = settings.lake, tuple(sorted(options.items()))
    if key not in _opened:
        cache = Cache(settings.cache / "objects", settings.limits.cache_bytes)
        _opened[key] = storage_of(settings.lake, options, cache)
    return _opened[key]


_opened: dict[object, Storage] = {}


class Project:
    """What stages share: the settings, the lake, DuckDB, a parser, Spark.

    Everything but the settings is opened, and its code imported, when it is first needed; it stays
    open until `close`. One run at a time may use it.

    Attributes:
        settings: as they were read.
        session: gives the Spark session; the first call starts it.
        early_rows: of definitions, by name: what ingest computed of epochs that it committed.
    """

    def __init__(
        self,
        settings: Settings,
        spark: Spark | None = None,
        name: str = "weir",
        *,
        lake: Lake | None = None,
        session: Session | None = None,
        parser: ParserProcess | None = None,
    ) -> None:
        """Open nothing.

        Args:
            settings: as they were read.
            spark: the session; without one, the first stage that needs it starts it.
            name: of that session.
            lake: instead of that of the settings.
            session: gives the session of another project.
            parser: that of another project, which closes it.
        """
        self.settings = settings
        self.early_rows: dict[str, EarlyRows] = {}
        self._resources = ExitStack()
        own = late_session(settings, name) if spark is None else session_of(spark)
        self.session: Session = own if session is None else session
        if lake is not None:
            self.__dict__["lake"] = lake
        if parser is not None:
            self.__dict__["parser"] = parser

    @classmethod
    def load(cls, config: Path | None = None, name: str = "weir") -> Self:
        """The project of a configuration file, or of `weir.toml` in this folder.

        Raises:
            ConfigurationError: the file is wrong.
        """
        from weir.settings import Settings

        return cls(Settings.load(config), name=name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @cached_property
    def lake(self) -> Lake:
        """The lake as it was when `open_lake` was last called."""
        return open_lake(self.settings)

    def open_lake(self) -> Lake:
        """The lake as it is now; a stage calls this once."""
        if "lake" in self.__dict__:
            self.lake.catch_up()
            from weir.lake.ledger.claims import see_others

            see_others(self.lake)
        return self.lake

    @cached_property
    def database(self) -> Database:
        """DuckDB."""
        from weir.compute.database import Database

        return self._resources.enter_context(closing(Database(self.settings)))

    @cached_property
    def parser(self) -> ParserProcess:
        """The process that parses input."""
        from weir.rdf.limits import ParseLimits
        from weir.rdf.parser_process import ParserProcess

        limits = ParseLimits.of(self.settings.limits)
        return self._resources.enter_context(ParserProcess(limits, self.settings.store))

    @cached_property
    def indexes(self) -> Indexes:
        """The indexes of the logs of the lake."""
        from weir.compute.indexes import Indexes, IndexLimits

        limits = self.settings.limits
        return self._resources.enter_context(
            closing(
                Indexes(
                    self.lake,
                    self.settings.cache / "index",
                    self.database,
                    IndexLimits(self.settings.index, limits.index_rows, limits.index_most_rows),
                )
            )
        )

    def engine(
        self, job: str, lake: Lake | None = None, progress: Callable[[str], None] | None = None
    ) -> Engine:
        """An engine that computes relations over the lake of the project, or another one.

        Args:
            job: names its folder of staged files.
            lake: instead of that of the project; it has no indexes.
            progress: called with what takes long.
        """
        from weir.compute.engine import Engine

        indexes = self.indexes if lake is None else None
        if indexes is not None and progress is not None:
            indexes.progress = progress
        return Engine.of(
            lake or self.lake, self.session, self.database, self.settings.limits, job, indexes
        )

    def _remember(self) -> None:
        """Let the next process of this machine begin with what this one knows of the store."""
        from weir.lake.damage.storage_errors import StorageError
        from weir.lake.ledger.claims import see_others

        # What was done is committed; the next process asks the store.
        with suppress(StorageError):
            if not see_others(self.lake):
                self.lake.storage.remember()

    def close(self) -> None:
        """Close everything but Spark: a process can have only one session."""
        if "lake" in self.__dict__:
            self._remember()
        self._resources.close()
        for name in ("indexes", "database", "parser", "lake"):
            self.__dict__.pop(name, None)
