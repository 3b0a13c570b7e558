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
from weir.remotes.kept import Kept, Words
from weir.text.durations import age_text, duration_seconds

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
        too_large: whose answer is larger than it may be.
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
        """The missed keys that a row of `freshness` counts."""
        refused = row["not_asked"] if row["stop"] == "refused" else 0
        missed = (row["failed"], row["too_large"], row["suspect"], refused)
        return cls(*missed, row.get("failure") or "")

    @property
    def keys(self) -> int:
        """The number of missed keys, of all kinds."""
        return self.failed + self.too_large + self.suspect + self.refused

    def reasons(self, words: Words) -> Iterator[str]:
        """Why, with what can be done about it: a text per kind."""
        unit = words.unit
        because = f": {self.failure}" if self.failure else ""
        if self.refused:
            yield f"{counted(self.refused, unit)} not asked for{because}"
        if self.failed:
            yield f"{counted(self.failed, unit)} failed{'' if self.refused else because}"
        if self.too_large:
            yield f"{counted(self.too_large, unit)} {words.too_large}"
        if self.suspect:
            yield f"{counted(self.suspect, unit)} {words.suspect}"


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
        left_out: links that `limits` leave out.
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
    left_out: int = 0
    queries: tuple[str, ...] = ()
    text: str = ""

    @property
    def asked_by(self) -> str:
        """The names of its queries, for people; the id of a pattern says nothing to them."""
        return ", ".join(self.queries) or "no query any more"


def pattern_state(
    remote: Kept,
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
        left_out=row.get("left_out") or 0,
    )
    state, reason = assess(remote, measured, backing_off)
    return replace(measured, state=state, reason=reason)


def assess(
    remote: Kept, measured: PatternState, backing_off: str | None = None
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


def _errors(remote: Kept, measured: PatternState) -> list[str]:
    reason = _too_old(measured, "error_after", remote.error_after, remote.words)
    if reason:
        return [reason]
    least, share = remote.min_fresh, measured.share_fresh
    if least is not None and share is not None and share < least:
        unit = remote.words.unit
        return [f"{share:.0%} of the {unit}s are fresh; `min_fresh` is {least:.0%}"]
    return []


def _warnings(
    remote: Kept, measured: PatternState, backing_off: str | None, *, is_error: bool
) -> list[str]:
    warnings = []
    reason = _too_old(measured, "warn_after", remote.warn_after, remote.words)
    if reason and not is_error:
        warnings.append(reason)
    missed, never = measured.missed, measured.never_asked
    failure = missed.failure.removesuffix(NOT_AGAIN)
    if backing_off is not None and failure in backing_off:
        missed = replace(missed, failure="")  # it is said already
    warnings += missed.reasons(remote.words)
    if never:
        verb = "was" if never == 1 else "were"
        warnings.append(f"{counted(never, remote.words.unit)} {verb} never answered")
    if measured.left_out:
        warnings.append(f"{counted(measured.left_out, 'link')} beyond `limits`")
    return warnings


def _too_old(measured: PatternState, name: str, limit: str | None, words: Words) -> str:
    seconds, oldest, waiting = duration_seconds(limit), measured.oldest, measured.waiting
    if seconds is None:
        return ""
    if oldest is not None and oldest > seconds:
        return f"the oldest answer is {age_text(oldest)} old; `{name}` is {limit}"
    if waiting is not None and waiting > seconds:
        keys = f"{measured.candidates:,} {words.unit}s"
        return f"none of its {keys} was answered in {age_text(waiting)}; `{name}` is {limit}"
    return ""
