"""Which sources are stopped or wait, and at what: the table `stopped_sources`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Literal, Self

from weir.errors import ConfigurationError, WeirError
from weir.ingest.changesets import Waiting
from weir.ingest.journal import JOB
from weir.ingest.sources.errors import GuardExceeded, SourceError
from weir.lake.delta.commit import write
from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake
from weir.lake.tables import STOPPED_SOURCES
from weir.text.near import meant
from weir.text.secret_values import without_secrets


@dataclass(frozen=True, slots=True)
class StoppedSource:
    """A row of `stopped_sources`."""

    source: str
    state: Literal["stopped", "waiting"]
    position: str | None
    reason: str
    excess: str | None
    since: datetime
    run_id: str

    @classmethod
    def by(cls, source: str, error: WeirError, now: datetime, run_id: str) -> Self:
        """A source that stopped because of an error."""
        position = error.position if isinstance(error, SourceError) else None
        excess = error.excess if isinstance(error, GuardExceeded) else None
        return cls(source, "stopped", position, without_secrets(str(error)), excess, now, run_id)

    @classmethod
    def of(cls, source: str, waiting: Waiting, now: datetime, run_id: str) -> Self:
        """A source that waits."""
        return cls(source, "waiting", waiting.position, waiting.reason, None, now, run_id)

    def accepts(self, position: str, excess: str) -> bool:
        """Whether a change set, and what is beyond the guards about it, is the one reported."""
        return (self.position, self.excess) == (position, excess)

    def waits_at(self, position: str | None) -> bool:
        """Whether it waits for this change set."""
        return (self.state, self.position) == ("waiting", position)

    def is_as(self, other: Self) -> bool:
        """Whether the two say the same, be it of different times."""
        return replace(self, since=other.since, run_id=other.run_id) == other


def stopped_sources(lake: Lake) -> dict[str, StoppedSource]:
    """The sources that are stopped or wait, by name."""
    if not lake.exists(STOPPED_SOURCES.name):
        return {}
    rows = lake.rows(STOPPED_SOURCES.name).to_pylist()
    return {row["source"]: StoppedSource(**row) for row in rows}


def record_stopped(
    lake: Lake,
    run_id: str,
    now: datetime,
    epoch: int,
    errors: Mapping[str, WeirError],
    waiting: Mapping[str, Waiting],
) -> None:
    """Record which sources stopped or wait, if that is not what is recorded.

    Args:
        lake: which holds the table.
        run_id: of the run that found it.
        now: the time.
        epoch: the newest.
        errors: by name of the source, why it stopped.
        waiting: by name of the source, what it waits for.
    """
    known = stopped_sources(lake)
    stopped = {
        **{name: StoppedSource.of(name, wait, now, run_id) for name, wait in waiting.items()},
        **{name: StoppedSource.by(name, error, now, run_id) for name, error in errors.items()},
    }
    for name, source in stopped.items():
        before = known.get(name)
        if before is None:
            continue
        if source.is_as(before):
            stopped[name] = before
        elif source.waits_at(source.position) and before.waits_at(source.position):
            # A file of it was written again.
            stopped[name] = replace(source, since=before.since)
    if stopped != known:
        rows = [asdict(stopped[name]) for name in sorted(stopped)]
        write(lake, STOPPED_SOURCES, rows, Metadata(run_id, JOB, epoch), mode="overwrite")


def permits(
    lake: Lake, accept: Collection[str], sources: Sequence[str], run_id: str
) -> Mapping[str, StoppedSource]:
    """The change sets that a person accepts, by name of the source.

    Of what the run itself has stopped at, nobody knew: another try of it does not accept that.

    Args:
        lake: has the table.
        accept: names of sources.
        sources: those that are declared.
        run_id: of the run.

    Raises:
        ConfigurationError: no source has such a name.
    """
    for name in accept:
        if name not in sources:
            known = ", ".join(sources) or "there are none"
            raise ConfigurationError(
                f"no source is named {name}", "", f"{meant(name, sources)}Sources: {known}."
            )
    return {
        name: source
        for name, source in stopped_sources(lake).items()
        if name in accept and source.run_id != run_id
    }
