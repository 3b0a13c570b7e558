"""How fresh the replica of a pattern is, and in a word: by the limits of its remote (pure).

Ages grow when no evaluation runs: an age is what the last evaluation measured and the time since.
An evaluation itself reports what it measured, with no time since.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, Self

from weir.lake.counted import counted
from weir.remotes.asking import NOT_AGAIN
from weir.remotes.declarations import Remote
from weir.sparql.frontend.rspql.durations import parse_duration

State = Literal["unused", "never_evaluated", "fresh", "backing_off", "warn", "error"]
STATES: Final[tuple[State, ...]] = (
    "unused",
    "never_evaluated",
    "fresh",
    "warn",
    "backing_off",
    "error",
)
"""From the best to the worst. unused: no query asks for it; never_evaluated: it was not refreshed
since a query asks for it; backing_off: it must not be asked for now."""

UNITS: Final = ("keys", "requests", "bytes", "seconds")
"""What a budget is of."""
Row = Mapping[str, Any]
"""A row of `freshness`."""


@dataclass(frozen=True, slots=True)
class Missed:
    """Keys that the newest evaluation was to ask for, without an answer that is taken.

    Attributes:
        failed: whose request failed.
        too_large: with more mappings than `max_rows`.
        suspect: that came back empty, with so many others that it is not believed yet.
        refused: that were not asked for because the project allows no request to the remote.
        failure: why the newest of `failed` was not answered, or why no request is allowed.
    """

    failed: int = 0
    too_large: int = 0
    suspect: int = 0
    refused: int = 0
    failure: str = ""

    @classmethod
    def of(cls, row: Row) -> Self:
        """As a row of `freshness` has it."""
        refused = row["not_asked"] if row["stop"] == "refused" else 0
        missed = (row["failed"], row["too_large"], row["suspect"], refused)
        return cls(*missed, row.get("failure") or "")

    @property
    def keys(self) -> int:
        """How many they are."""
        return self.failed + self.too_large + self.suspect + self.refused

    def reasons(self, max_rows: int) -> Iterator[str]:
        """Why, with what can be done about it: a text per kind."""
        because = f": {self.failure}" if self.failure else ""
        if self.refused:
            yield f"{counted(self.refused, 'key')} not asked for{because}"
        if self.failed:
            yield f"{counted(self.failed, 'key')} failed{'' if self.refused else because}"
        if self.too_large:
            yield (
                f"{counted(self.too_large, 'key')} had more mappings than `max_rows`"
                f" ({max_rows:,}) and kept what they had: raise it, or narrow the block"
            )
        if self.suspect:
            yield (
                f"{counted(self.suspect, 'key')} came back empty at once and kept what they had:"
                " the next evaluation has to say the same"
            )


NOTHING_MISSED: Final = Missed()


@dataclass(frozen=True, slots=True)
class PatternState:
    """How fresh the replica of a pattern is; ages in seconds.

    Attributes:
        pattern: its id.
        state: of it.
        reason: why it is in this state, or empty.
        candidates: keys that answers depend on, at the last evaluation; None before the first.
        never_asked: those of them without an answer.
        oldest: age of the oldest candidate's answer; None if there is none.
        median: median of the ages, the same way.
        p95: 95th percentile of the ages, the same way.
        share_fresh: share of the candidates that were fresh at the last evaluation, or None.
        waiting: time since the pattern is known, if none of its keys was ever answered.
        answered: keys that the last evaluation got an answer for.
        missed: keys that it got none for.
        queries: the names of those that ask for it.
        text: what they ask.
    """

    pattern: str
    state: State = "fresh"
    reason: str = ""
    candidates: int | None = None
    never_asked: int | None = None
    oldest: float | None = None
    median: float | None = None
    p95: float | None = None
    share_fresh: float | None = None
    waiting: float | None = None
    answered: int = 0
    missed: Missed = NOTHING_MISSED
    queries: tuple[str, ...] = ()
    text: str = ""

    @property
    def asked_by(self) -> str:
        """The names of its queries, for people; the id of a pattern says nothing to them."""
        return ", ".join(self.queries) or "no query any more"


def pattern_state(
    remote: Remote,
    row: Row,
    *,
    since: float = 0.0,
    waiting: float | None = None,
    backing_off: str | None = None,
) -> PatternState:
    """How fresh the replica of a pattern is some time after an evaluation.

    Args:
        remote: as declared.
        row: what the evaluation measured.
        since: seconds since then.
        waiting: seconds since the pattern is known; counts if none of its keys was ever answered.
        backing_off: why the remote must not be asked now; None if it may be.
    """
    oldest, median, p95 = (
        None if row[f"{name}_seconds"] is None else row[f"{name}_seconds"] + since
        for name in ("oldest", "median", "p95")
    )
    is_answered = not row["candidates"] or row["never_asked"] != row["candidates"]
    measured = PatternState(
        row["pattern"],
        candidates=row["candidates"],
        never_asked=row["never_asked"],
        oldest=oldest,
        median=median,
        p95=p95,
        share_fresh=row["share_fresh"],
        waiting=None if is_answered else waiting,
        answered=row["answered"],
        missed=Missed.of(row),
    )
    state, reason = assess(remote, measured, backing_off)
    return replace(measured, state=state, reason=reason)


def assess(
    remote: Remote, measured: PatternState, backing_off: str | None = None
) -> tuple[State, str]:
    """The state of a pattern, and all that is wrong with it; fresh has no reason.

    Args:
        remote: has the limits.
        measured: the pattern, but for its state.
        backing_off: why the remote must not be asked now; None if it may be.
    """
    errors = _errors(remote, measured)
    waits = [] if backing_off is None else [backing_off]
    warnings = _warnings(remote, measured, backing_off, is_error=bool(errors))
    state: State = "fresh"
    if errors:
        state = "error"
    elif waits:
        state = "backing_off"
    elif warnings:
        state = "warn"
    return state, "; ".join([*errors, *waits, *warnings])


def severity(state: State, missed: Missed) -> tuple[int, int]:
    """The larger, the worse: what a remote of several patterns shows is that of its worst one."""
    return STATES.index(state), missed.keys


def _errors(remote: Remote, measured: PatternState) -> list[str]:
    reason = _too_old(measured, "error_after", remote.error_after)
    if reason:
        return [reason]
    least, share = remote.min_fresh, measured.share_fresh
    if least is not None and share is not None and share < least:
        return [f"{share:.0%} of the keys are fresh; `min_fresh` is {least:.0%}"]
    return []


def _warnings(
    remote: Remote, measured: PatternState, backing_off: str | None, *, is_error: bool
) -> list[str]:
    warnings = []
    reason = _too_old(measured, "warn_after", remote.warn_after)
    if reason and not is_error:
        warnings.append(reason)
    missed, never = measured.missed, measured.never_asked
    failure = missed.failure.removesuffix(NOT_AGAIN)
    if backing_off is not None and failure in backing_off:
        missed = replace(missed, failure="")  # it is said already
    warnings += missed.reasons(remote.max_rows)
    if never:
        verb = "was" if never == 1 else "were"
        warnings.append(f"{counted(never, 'key')} {verb} never answered")
    return warnings


def _too_old(measured: PatternState, name: str, limit: str | None) -> str:
    seconds, oldest, waiting = limit_seconds(limit), measured.oldest, measured.waiting
    if seconds is None:
        return ""
    if oldest is not None and oldest > seconds:
        return f"the oldest answer is {age_text(oldest)} old; `{name}` is {limit}"
    if waiting is not None and waiting > seconds:
        keys = f"{measured.candidates:,} keys"
        return f"none of its {keys} was answered in {age_text(waiting)}; `{name}` is {limit}"
    return ""


def limit_seconds(duration: str | None) -> float | None:
    """The seconds of a duration of remotes.yml; None if it is not set."""
    return None if duration is None else parse_duration(duration) / 1_000_000


def age_text(seconds: float) -> str:
    """An age as people read it: 45s, 12m, 3h, 2d; one digit after the point where it matters."""
    for unit, size in (("d", 86_400), ("h", 3_600), ("m", 60)):
        if seconds >= size:
            return f"{seconds / size:.1f}".removesuffix(".0") + unit
    return f"{seconds:.0f}s"
