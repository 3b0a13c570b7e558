"""What ingest makes of a stream, from the definitions: change set after change set, in Python."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from weir.ingest.event_time import TWO_TIMES
from weir.ingest.instants import NO_TIME, NO_ZONE
from weir.ingest.lateness import BEFORE_START, TOO_EARLY, TOO_LATE

TIME = "<urn:t>"
Row = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Triple:
    """A triple; one that dates its subject has its instant, None without a zone."""

    subject: str
    predicate: str
    object: str
    instant: int | None = None


@dataclass(frozen=True, slots=True)
class Keys:
    """Keys of the stream, in microseconds."""

    delay: int = 0
    lateness: int = 0
    ahead: int = 300_000_000
    idle: int | None = None
    starts: int | None = None


@dataclass(slots=True)
class StreamModel:
    """A stream whose subjects are dated by `TIME`.

    events: subject, predicate, object, instant, line, epoch. late: the same, frontier, reason.
    rejected: position, subject, predicate, object, reason. epochs: epoch, position, frontier, rows,
    late, early.
    """

    keys: Keys
    events: list[Row] = field(default_factory=list)
    late: list[Row] = field(default_factory=list)
    rejected: list[Row] = field(default_factory=list)
    epochs: list[Row] = field(default_factory=list)
    starts: int | None = None
    frontier: int | None = None
    last: int = 0

    def take(self, position: str, triples: Sequence[Triple], now: int) -> None:
        """The next change set, ingested at the instant `now`."""
        epoch, keys = len(self.epochs) + 1, self.keys
        self.last = now
        dated: list[tuple[Row, int]] = []
        seen: set[Triple] = set()
        for line, triple in enumerate(triples, start=1):
            terms = (triple.subject, triple.predicate, triple.object)
            dating = [t for t in triples if (t.subject, t.predicate) == (triple.subject, TIME)]
            instants = {dated.instant for dated in dating}
            if not dating:
                reason = NO_TIME
            elif None in instants:
                reason = NO_ZONE
            elif len(instants) > 1:
                reason = TWO_TIMES
            else:
                if triple not in seen:
                    dated.append(((*terms, dating[0].instant, line, epoch), dating[0].instant or 0))
                seen.add(triple)
                continue
            self.rejected.append((position, *terms, reason))
        latest, before = now + keys.ahead, self.frontier
        known = [instant for _, instant in dated if instant <= latest]
        if keys.starts is not None:
            self.starts = keys.starts
        elif self.starts is None and known:
            self.starts = min(known)
        counts = [0, 0, 0]
        for row, instant in dated:
            reason = ""
            if instant > latest:
                reason = TOO_EARLY
                counts[2] += 1
            elif self.starts is not None and instant < self.starts:
                reason = BEFORE_START
            elif before is not None and instant < before - keys.lateness:
                reason = TOO_LATE
            if reason:
                counts[1] += 1
                self.late.append((*row, before, reason))
                continue
            counts[0] += 1
            self.events.append(row)
            moved = instant - keys.delay
            self.frontier = moved if self.frontier is None else max(self.frontier, moved)
        self.epochs.append((epoch, position, self.frontier, *counts))

    def pass_time(self, now: int) -> None:
        """A run at the instant `now` without input."""
        idle = self.keys.idle
        if idle is None or self.frontier is None or now - self.last < idle:
            return
        self.last = now
        self.frontier = max(self.frontier, now - self.keys.delay)
        self.epochs.append((len(self.epochs) + 1, None, self.frontier, 0, 0, 0))
