"""`weir freshness`: how fresh the replicas of remotes and the documents of traversals are now."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weir.cli.options import Options, Output
from weir.cli.output import print_json, print_line, print_rows

if TYPE_CHECKING:
    from weir.remotes.freshness import RemoteState
    from weir.remotes.states import PatternState
    from weir.settings import Settings

_REMOTES = (
    *("remote", "state", "candidates", "never_asked", "oldest", "median", "p95", "fresh"),
    *("last_evaluation", "next_allowed"),
)
_BUDGETS = ("remote", "keys", "requests", "bytes", "seconds")
_PATTERNS = (
    *("remote", "queries", "pattern", "state", "candidates", "never_asked", "oldest", "median"),
    *("p95", "fresh"),
)


def freshness(
    context: typer.Context,
    patterns: Annotated[
        bool,
        typer.Option(
            "--patterns",
            help="Each pattern that a remote is asked for, and each host of a traversal, too.",
        ),
    ] = False,
) -> None:
    """Print how old remote answers and documents are; exit code 3 past `warn_after` or in error."""
    from weir.lake.damage.storage_errors import StorageError
    from weir.refresh.current import current_states
    from weir.remotes.source_freshness import source_freshness

    options = Options.of(context)
    settings = options.settings()
    now, started = datetime.now(UTC), time.monotonic()
    try:
        states = current_states(settings, now)
    except StorageError as error:
        if options.output is Output.json:
            _print_json([*_unreadable(settings, error)], now, time.monotonic() - started)
        raise
    seconds = time.monotonic() - started
    if options.output is Output.json:
        results = [source_freshness(state, now, seconds / len(states)) for state in states]
        _print_json(results, now, seconds)
    elif not states:
        print_line(
            f"No remote is declared in {settings.remotes}, and no traversal in"
            f" {settings.traversals}."
        )
    else:
        _print_tables(options, states, with_patterns=patterns)
    _raise_for(settings, states)


def _unreadable(settings: Settings, error: Exception) -> Iterator[dict[str, Any]]:
    """The results of all that is declared if a table cannot be read."""
    from weir.refresh.current import declared
    from weir.remotes.source_freshness import runtime_error

    for own in declared(settings):
        yield runtime_error(own, str(error))


def _print_json(results: list[dict[str, Any]], now: datetime, seconds: float) -> None:
    metadata = {"generated_at": now.isoformat().replace("+00:00", "Z")}
    print_json({"metadata": metadata, "results": results, "elapsed_time": seconds})


def _print_tables(options: Options, states: list[RemoteState], *, with_patterns: bool) -> None:
    print_rows(options.output, _REMOTES, [*map(_remote_row, states)], title="Remotes")
    used = [_used(state) for state in states if state.used is not None]
    if used:
        title = "Used by the last evaluation, of its budget"
        print_rows(options.output, _BUDGETS, used, title=title)
    if with_patterns:
        rows = [_pattern_row(state, pattern) for state in states for pattern in state.patterns]
        print_rows(options.output, _PATTERNS, rows, title="Patterns")
    for state in states:
        if state.reason:
            print_line(f"{state.remote.name}: {state.reason}")


def _remote_row(state: RemoteState) -> dict[str, Any]:
    return {
        "remote": state.remote.name,
        "state": state.state,
        "candidates": state.candidates,
        "never_asked": state.never_asked,
        "oldest": _age(state.largest("oldest")),
        "median": _age(state.largest("median")),
        "p95": _age(state.largest("p95")),
        "fresh": _share(state.share_fresh),
        "last_evaluation": state.evaluation,
        "next_allowed": state.next_allowed,
    }


def _pattern_row(state: RemoteState, pattern: PatternState) -> dict[str, Any]:
    return {
        "remote": state.remote.name,
        "queries": pattern.asked_by,
        "pattern": pattern.pattern,
        "state": pattern.state,
        "candidates": pattern.candidates,
        "never_asked": pattern.never_asked,
        "oldest": _age(pattern.oldest),
        "median": _age(pattern.median),
        "p95": _age(pattern.p95),
        "fresh": _share(pattern.share_fresh),
    }


def _age(seconds: float | None) -> timedelta | None:
    return None if seconds is None else timedelta(seconds=seconds)


def _share(share: float | None) -> str | None:
    return None if share is None else f"{share:.0%}"


def _used(state: RemoteState) -> dict[str, Any]:
    """How much of its budget the last evaluation has used, by unit: `12 of 50`."""
    assert state.used is not None, "it was evaluated"
    assert state.budget is not None, "it was evaluated"
    used = {
        unit: f"{_number(amount)} of {_number(state.budget[unit])}"
        for unit, amount in state.used.items()
    }
    return {"remote": state.remote.name, **used}


def _number(amount: float) -> str:
    return f"{amount:,}" if isinstance(amount, int) else f"{amount:,.1f}"


def _raise_for(settings: Settings, states: list[RemoteState]) -> None:
    """Fail if answers of a remote are too old.

    Raises:
        QualityError: they are: older than `warn_after`, or the remote is in error.
    """
    from weir.errors import QualityError

    wrong = [f"{state.remote.name}: {state.reason}" for state in states if state.is_late]
    if wrong:
        raise QualityError(
            f"replicas are not fresh enough: {'; '.join(wrong)}.",
            settings.lake,
            "See that `refresh_remotes` runs and that the remotes answer"
            " (`weir sql \"SELECT * FROM requests WHERE outcome <> 'answered'\"`), or raise their"
            " budgets.",
        )
