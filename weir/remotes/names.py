"""The names and times of the declared remotes, read without the rest of their declaration.

Airflow reads its DAGs twice a minute: checking a policy or a budget there would import what only a
refresh needs.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from weir.errors import ConfigurationError
from weir.files.text import read_text
from weir.files.yaml_file import DeclaredName, YamlFile
from weir.sparql.frontend.rspql.durations import parse_duration

EVERY = "PT10M"
"""Time between two evaluations, where none is declared."""

_MINUTE = 60_000_000
_MINUTES = (1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30)
_HOURS = (1, 2, 3, 4, 6, 8, 12)
"""What divides an hour, and a day."""


@dataclass(frozen=True, slots=True)
class DeclaredRemote:
    """What scheduling a remote needs.

    Attributes:
        name: its name.
        every_us: microseconds between two evaluations.
        connection: the Airflow connection with its secret, None without one.
    """

    name: str
    every_us: int
    connection: str | None

    @property
    def pool(self) -> str:
        """The Airflow pool of its task, which has one slot."""
        return f"weir_{self.name}"


class _Remote(BaseModel):
    model_config = ConfigDict(extra="ignore")

    name: DeclaredName
    every: str = EVERY
    connection: str | None = None

    @field_validator("every")
    @classmethod
    def _is_duration(cls, value: str) -> str:
        check_every(value)
        return value


class _File(BaseModel):
    remotes: tuple[_Remote, ...]


def check_every(text: str) -> None:
    """Check the time between two evaluations.

    Raises:
        ValueError: it is not a duration, or none at all.
    """
    if not parse_duration(text):
        raise ValueError("`every` is no time at all")


def declared_remotes(file: Path) -> tuple[DeclaredRemote, ...]:
    """The remotes that a file declares, in its order; none if there is no such file.

    Raises:
        ConfigurationError: it is not YAML, or a name or time is wrong; the rest is not looked at.
    """
    try:
        text = read_text(file)
    except FileNotFoundError:
        return ()
    read = YamlFile.of(file, text)
    if read.content is None:  # empty, or only comments
        return ()
    try:
        remotes = _File.model_validate(read.content).remotes
    except ValidationError as error:
        raise read.mistake(error, _File) from None
    names = [remote.name for remote in remotes]
    for index, name in enumerate(names):
        if name in names[:index]:
            where = read.place(["remotes", index, "name"])
            raise ConfigurationError(f"two remotes are named {name}", where)
    return tuple(
        DeclaredRemote(remote.name, parse_duration(remote.every), remote.connection)
        for remote in remotes
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
