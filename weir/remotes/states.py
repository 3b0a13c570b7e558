"""How fresh the replica of a pattern is, in a word: by the limits of its remote (pure)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal

from weir.lake.counted import counted
from weir.remotes.asking import NOT_AGAIN
from weir.remotes.declarations import Remote
from weir.remotes.missed import NOTHING_MISSED, Missed
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


@dataclass(frozen=True, slots=True)
class Aged:
    """The answers that a pattern has, at some time; ages in seconds.

    Attributes:
        candidates: keys that answers depend on.
        never_answered: those of them without an answer.
        oldest: age of the oldest answer; None if there is none.
        share_fresh: share of the candidates that are younger than `warn_after`, or None.
        waiting: time since the pattern is known, if none of its keys was ever answered.
        backing_off: why the remote must not be asked now; None if it may be.
        missed: what the newest evaluation asked for in vain.
    """

    candidates: int
    never_answered: int
    oldest: float | None
    share_fresh: float | None
    waiting: float | None = None
    backing_off: str | None = None
    missed: Missed = NOTHING_MISSED


def assess(remote: Remote, aged: Aged) -> tuple[State, str]:
    """The state of a pattern, and all that is wrong with it; fresh has no reason."""
    errors = _errors(remote, aged)
    waits = [] if aged.backing_off is None else [aged.backing_off]
    warnings = _warnings(remote, aged, is_error=bool(errors))
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


def _errors(remote: Remote, aged: Aged) -> list[str]:
    reason = _too_old(aged, "error_after", remote.error_after)
    if reason:
        return [reason]
    least, share = remote.min_fresh, aged.share_fresh
    if least is not None and share is not None and share < least:
        return [f"{share:.0%} of the keys are fresh; `min_fresh` is {least:.0%}"]
    return []


def _warnings(remote: Remote, aged: Aged, *, is_error: bool) -> list[str]:
    found = []
    reason = _too_old(aged, "warn_after", remote.warn_after)
    if reason and not is_error:
        found.append(reason)
    missed = aged.missed
    failure = missed.failure.removesuffix(NOT_AGAIN)
    if aged.backing_off is not None and failure in aged.backing_off:
        missed = replace(missed, failure="")  # it is said already
    found += missed.reasons(remote.max_rows)
    if aged.never_answered:
        verb = "was" if aged.never_answered == 1 else "were"
        found.append(f"{counted(aged.never_answered, 'key')} {verb} never answered")
    return found


def _too_old(aged: Aged, name: str, limit: str | None) -> str:
    seconds = limit_seconds(limit)
    if seconds is None:
        return ""
    if aged.oldest is not None and aged.oldest > seconds:
        return f"the oldest answer is {age_text(aged.oldest)} old; `{name}` is {limit}"
    if aged.waiting is not None and aged.waiting > seconds:
        waiting = age_text(aged.waiting)
        return (
            f"none of its {aged.candidates:,} keys was answered in {waiting}; `{name}` is {limit}"
        )
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
