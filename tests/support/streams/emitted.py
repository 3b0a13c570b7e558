"""The law of streams out of queries: at every epoch they are what the operators' definitions say.

The definitions are evaluated over the log of the answer, which has laws of its own.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import get_args

from tests.support.streams.memory import StreamMemory, StreamRow
from weir.engine.fixpoint import make
from weir.engine.windows import SteppedWindow, Window
from weir.plan.plan import ANSWER
from weir.sparql.algebra.windows import StreamOperator
from weir.timeline.emission import Emission

OPERATORS: tuple[StreamOperator, ...] = get_args(StreamOperator)
Emitted = dict[StreamOperator, list[StreamRow]]
"""By operator the rows of the stream."""
Row = tuple[str | None, ...]


def emit(memory: StreamMemory, after: int, last: int) -> Emitted:
    """What the streams of a query get from the epochs (after, last], once these were run."""
    with memory.engine.scope():
        return _emit(memory, after, last)


def _emit(memory: StreamMemory, after: int, last: int) -> Emitted:
    windows = [*memory.windows.values()]
    row = [column for _, column in memory.plan.columns]
    memory.engine.bindings.view("answers", f"FROM stored WHERE node = '{ANSWER}'")
    timeline = memory.timeline(last)
    emitted: Emitted = {operator: [] for operator in operators(memory.windows)}
    if timeline.horizon(last) is None:
        return emitted
    for operator, rows in emitted.items():
        emission = Emission(operator, windows, timeline, after, last)
        statement = emission.statement(memory.engine, "answers", row, 10**9, operator)
        make(memory.engine, statement)
        columns = ", ".join(["epoch", "instant", "weight", *row])
        made = memory.connection.execute(f"SELECT {columns} FROM {statement.name}").fetchall()
        rows += [(e, t, w, tuple(values)) for e, t, w, *values in made]
    return emitted


def operators(windows: Mapping[str, Window]) -> list[StreamOperator]:
    """The operators that a query with these windows may have."""
    closes = any(isinstance(window, SteppedWindow) for window in windows.values())
    return [operator for operator in OPERATORS if closes or operator != "rstream"]


def broken_streams(
    windows: Sequence[Window],
    origin: int,
    horizons: Sequence[int | None],
    log: Sequence[StreamRow],
    emitted: Emitted,
) -> Iterator[str]:
    """At which epoch and instant a stream is not what its operator is defined as.

    Args:
        windows: of the query.
        origin: its first instant.
        horizons: the last instant that is final at each epoch, from epoch 0 on.
        log: of the answer.
        emitted: the streams out of it.
    """
    for operator, elements in emitted.items():
        changes: dict[int, Counter[Row]] = defaultdict(Counter)
        streamed: dict[int, Counter[Row]] = defaultdict(Counter)
        reached = origin - 1
        for epoch, horizon in enumerate(horizons):
            touched = []
            for rows, by_instant in ((log, changes), (elements, streamed)):
                for at, instant, weight, row in rows:
                    if at == epoch:
                        by_instant[instant][row] += weight
                        touched.append(instant)
            if horizon is None:
                if touched:
                    yield f"{operator}: epoch {epoch} has rows before anything is final"
                continue
            first = min([reached + 1, *touched])
            state: Counter[Row] = Counter()
            for instant in sorted(changes):
                if instant < first:
                    state.update(changes[instant])
            for instant in range(first, horizon + 1):
                change = changes.get(instant, Counter())
                state.update(change)
                expected = _defined(operator, windows, origin, instant, change, state)
                has = {row: n for row, n in streamed.get(instant, Counter()).items() if n}
                if has != expected:
                    yield f"{operator}: at epoch {epoch}, instant {instant}: {has}, not {expected}"
                    return
            reached = max(reached, horizon)


def _defined(
    operator: StreamOperator,
    windows: Sequence[Window],
    origin: int,
    instant: int,
    change: Counter[Row],
    state: Counter[Row],
) -> dict[Row, int]:
    match operator:
        case "istream":
            return {row: n for row, n in change.items() if n > 0}
        case "dstream":
            return {row: -n for row, n in change.items() if n < 0}
        case "rstream":
            closes = instant >= origin and any(_closes(window, instant) for window in windows)
            return {row: n for row, n in state.items() if n} if closes else {}


def _closes(window: Window, instant: int) -> bool:
    """Whether a window closes at an instant: at t0 + R + kB, k >= 0; all after t0 if partial."""
    if not isinstance(window, SteppedWindow):
        return False
    full = window.origin + window.width
    is_on_grid = (instant - full) % window.step == 0
    begins = instant >= full if window.first == "full" else instant > window.origin
    return is_on_grid and begins
