"""From which instant on a query over streams lacks nothing, and up to which one nothing changes."""

from __future__ import annotations

from collections.abc import Mapping

from weir.compute.engine import Engine
from weir.compute.relations import Statement
from weir.engine.relations import BEFORE_ALL, FOREVER
from weir.engine.windows import LastElements
from weir.lake.lake import Lake
from weir.lake.tables import OUTPUT_STREAMS
from weir.progress.streams import Frontiers, accepted_lateness, deleted_events
from weir.timeline.axis import Instants, Upstream
from weir.timeline.elements import known_elements
from weir.timeline.reading import began_at, open_events, read_horizons
from weir.timeline.retention import (
    complete_from,
    elements_complete_from,
    horizons_before,
    settled,
)
from weir.timeline.stream_names import stream_name, streams_of
from weir.timeline.timeline import Timeline
from weir.timeline.windows import windows_of


def settled_until(
    lake: Lake, axis: Instants, epoch: int, lateness: Mapping[str, int] | None = None
) -> int | None:
    """An instant before which no later leg begins; None if nothing is settled.

    Args:
        lake: holds the streams.
        axis: the windows of the query.
        epoch: the epoch up to which it is maintained.
        lateness: by stream, for how many microseconds before its frontier it may take events, if
            that may be longer than at its last ingest.
    """
    frontiers = Frontiers.read(lake)
    horizon = read_horizons(lake, axis, frontiers).horizon(epoch)
    if horizon is None:
        return None
    bounds = []
    for name in streams_of(axis):
        frontier = frontiers.at(name, epoch)
        assert frontier is not None, "there is a horizon"
        longest = max(accepted_lateness(lake, name), (lateness or {}).get(name, 0))
        bounds.append((frontier, longest))
    for upstream in axis.upstreams:
        # Its stream changes where its answer does.
        before = settled_until(lake, upstream.axis, epoch, lateness)
        assert before is not None, "there is a horizon"
        bounds.append((before, 0))
    return settled(horizon, axis.corrects_back, bounds, axis.grid)


def first_complete(
    engine: Engine, lake: Lake, axis: Instants, timeline: Timeline, after: int, last: int
) -> int:
    """The first instant from which on no window of a query lacks events that were deleted.

    `BEFORE_ALL` if they never do; `FOREVER` if a window over elements lacks some at every instant
    so far.

    Args:
        engine: reads the events of windows over elements.
        lake: holds the streams.
        axis: the windows of the query.
        timeline: of the query.
        after: the epoch up to which the query is maintained.
        last: the newest epoch.
    """
    instants = [BEFORE_ALL]
    windows = windows_of(axis)
    for clause in axis.windows:
        window, upstream = windows[clause.name], axis.upstream(clause.stream)
        kept_from = _kept_from(lake, clause.stream, upstream)
        if kept_from is None:
            continue
        if not isinstance(window, LastElements):
            instants.append(complete_from(window, kept_from))
            continue
        events, horizons = "kept", "horizons_before"
        with engine.scope() as own:
            if upstream is None:
                open_events(own, lake, events, stream_name(clause.stream), last)
            else:
                own.open(f"{events}_stored", OUTPUT_STREAMS.name(upstream.query))
                own.make(Statement(events, known_elements(f"{events}_stored", last)))
            own.load(horizons, horizons_before(timeline.arrivals))
            query = elements_complete_from(events, window, kept_from, horizons, after)
            instants.append(next((int(str(at)) for (at,) in own.rows(query)), FOREVER))
    latest = max(instants)
    return latest if latest in (BEFORE_ALL, FOREVER) else axis.grid.next_begin(latest)


def _kept_from(lake: Lake, stream_: str, upstream: Upstream | None) -> int | None:
    """The first instant from which on a stream has all that it should have; None if always."""
    if upstream is None:
        deleted = deleted_events(lake, stream_name(stream_))
        return None if deleted is None else deleted.before
    begins = began_at(lake, upstream)
    if begins is None or upstream.axis.output == "rstream":
        return begins
    # What changed at the first instant itself is not known.
    return begins + 1
