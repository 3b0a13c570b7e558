"""The names and times of what is declared to be refreshed, read without the rest.

Airflow reads its DAGs twice a minute: checking a policy or a budget there would import what only a
refresh needs.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, field_validator

from weir.files.text import text_if_any
from weir.files.yaml_file import DeclaredName, YamlFile
from weir.lake.tables import REPLICAS, TableFamily
from weir.text.durations import parse_duration

EVERY = "PT10M"
"""Time between two evaluations, where none is declared."""

_MINUTE = 60_000_000
_MINUTES = (1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30)
_HOURS = (1, 2, 3, 4, 6, 8, 12)
"""What divides an hour, and a day."""


@dataclass(frozen=True, slots=True)
class DeclaredRemote:
    """What scheduling a remote or a traversal needs.

    Attributes:
        name: its name.
        inbox: the table of its rounds.
        every_us: microseconds between two evaluations.
        connection: the Airflow connection with its secret, None without one.
    """

    name: str
    inbox: str
    every_us: int
    connection: str | None

    @property
    def pool(self) -> str:
        """The Airflow pool of its task, which has one slot."""
        return f"weir_{self.name}"


class Entry(BaseModel):
    """A declaration, as far as scheduling looks at it; `every` is empty where none is declared."""

    model_config = ConfigDict(extra="ignore")

    name: DeclaredName
    every: str = ""
    connection: str | None = None

    @field_validator("every")
    @classmethod
    def _is_duration(cls, value: str) -> str:
        check_every(value)
        return value


class _File(BaseModel):
    remotes: tuple[Entry, ...]


def check_every(text: str) -> None:
    """Check that the time between two evaluations is longer than 0.

    Raises:
        ValueError: it is not a duration, or it is 0.
    """
    if not parse_duration(text):
        raise ValueError("`every` must be longer than 0")


def declared_remotes(file: Path) -> tuple[DeclaredRemote, ...]:
    """The remotes that a file declares, in its order; none if there is no such file.

    Raises:
        ConfigurationError: it is not YAML, or a name or time is wrong, or a name is there twice;
            the rest is not looked at.
    """
    return declared_in(file, _File, "remotes", REPLICAS, EVERY)


def declared_in(
    file: Path, model: type[BaseModel], key: str, inboxes: TableFamily, every: str
) -> tuple[DeclaredRemote, ...]:
    """What a file declares to be refreshed, in its order; nothing if there is no such file.

    Args:
        file: declares it.
        model: of the file; its field `key` has the entries.
        key: under which they are.
        inboxes: the tables of their rounds.
        every: time between two evaluations where none is declared.

    Raises:
        ConfigurationError: as `declared_remotes`.
    """
    read = YamlFile.of(file, text_if_any(file))
    if read.content is None:  # no file, an empty one, or only comments
        return ()
    entries: tuple[Entry, ...] = getattr(read.validated(model), key)
    read.check_names(key, [entry.name for entry in entries])
    return tuple(
        DeclaredRemote(
            entry.name,
            inboxes.name(entry.name),
            parse_duration(entry.every or every),
            entry.connection,
        )
        for entry in entries
    )


def cron_of(every_us: int) -> str:
    """The cron expression that comes at least once in so many microseconds.

    It comes once a minute at most, and once a day at least, at regular intervals.
    """
    minutes = max(1, every_us // _MINUTE)
    if minutes < 60:
        return f"*/{max(step for step in _MINUTES if step <= minutes)} * * * *"
    if minutes < 24 * 60:
        return f"0 */{max(step for step in _HOURS if step <= minutes // 60)} * * *"
    return "0 0 * * *"
