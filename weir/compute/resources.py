"""What a process keeps open between runs: tables of the lake, DuckDB, a parser, Spark."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Self

from weir.compute.database import Database
from weir.compute.session import Session, late_session
from weir.lake.lake import Lake
from weir.rdf.worker import ParserProcess

if TYPE_CHECKING:
    from weir.settings import Settings


class Resources:
    """Opened when they are first needed; `Settings.keeping` lets the stages share them.

    Only for one run at a time.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @cached_property
    def lake(self) -> Lake:
        """The tables that were opened."""
        return Lake(self._settings.lake, self._settings.storage_options)

    @cached_property
    def database(self) -> Database:
        """DuckDB."""
        return Database(self._settings)

    @cached_property
    def parser(self) -> ParserProcess:
        """The process that parses input."""
        return ParserProcess.of(self._settings.limits)

    @cached_property
    def session(self) -> Session:
        """The Spark session, started by the first run that needs it."""
        return late_session(self._settings)

    def close(self) -> None:
        """Give all back but Spark, of which a process can only have one session."""
        for name in ("database", "parser"):
            kept = self.__dict__.pop(name, None)
            if kept is not None:
                kept.close()
        self.__dict__.pop("lake", None)
