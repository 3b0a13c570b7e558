"""What is around an instant of an answer over streams: events that came and went, and the graph.

At an instant, as known at an epoch, the answer differs from that right before it by what entered or
left a window, and by what changed in the graph. If the instant was final at an earlier epoch, a row
corrects it: then it comes from the events of the epoch, wherever they are in a window, or from its
changes of the graph. To take a step back is to evaluate streams that do not have the event at all,
or a graph in which the change was not made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from weir.compute.relations import Statement
from weir.compute.sql import (
    alias,
    all_of,
    any_of,
    case,
    column,
    columns,
    descending,
    negated,
    number,
    rows_of,
    select,
    subquery,
)
from weir.engine.relations import EpochRange
from weir.engine.thresholds import Thresholds
from weir.engine.windows import EVENT, LastElements, Window, event_intervals
from weir.plan.leaves import Component
from weir.plan.lookups import by_scope
from weir.plan.scope import Scope
from weir.timeline.graph_log import GraphLog, read_graph
from weir.why.explanation import Event, Part
from weir.why.graph import MOST_CHANGES, holds_at, marked_graph, no_rows
from weir.why.graph_changes import make_newest
from weir.why.last_elements import KnownEvent, LastEvents
from weir.why.marked import Mark, MarkedRows, differs, marks_of
from weir.why.moments import Moment
from weir.why.plan_surroundings import Content, PlanSurroundings
from weir.why.whole_match import StoredGraph
from weir.why.worlds import Worlds

KNOWN, KNOWN_UNDONE = "known", "known_undone"
KNOWN_EVENT = (*EVENT, KNOWN, KNOWN_UNDONE)
"""The columns of an event: whether it is known at an epoch, and whether at the epoch before."""
_ORDER = ("instant", "epoch", "line")


class TooManyChangesError(Exception):
    """There are more than `MOST_CHANGES`."""


@dataclass(frozen=True, slots=True)
class StreamReads:
    """What a query over streams reads around a moment.

    Attributes:
        windows: by name.
        streams: the stream of each window.
        events: by stream, the relation of its events (`KNOWN_EVENT`): at least those that windows
            have right before the instant, or at it.
        graph: the log of the graph, on the axis of `GraphEpochs.times`; None if it reads none.
        scans: whether that may be read as a whole to look triples up.
        thresholds: when to give up looking up in the graph.
    """

    windows: Mapping[str, Window]
    streams: Mapping[str, str]
    events: Mapping[str, str]
    graph: GraphLog | None
    thresholds: Thresholds
    scans: bool = True


def around_moment(worlds: Worlds, reads: StreamReads, moment: Moment) -> PlanSurroundings:
    """Read what is around a moment.

    Raises:
        TooManyChangesError: more changed than is looked at.
    """
    return _Reading(worlds, reads, moment).surroundings()


@dataclass(frozen=True, slots=True)
class _Reading:
    worlds: Worlds
    reads: StreamReads
    moment: Moment

    def surroundings(self) -> PlanSurroundings:
        """The surroundings of the moment."""
        scopes = by_scope(self.worlds.body.components)
        content: dict[Scope, Content] = {}
        steps: dict[Part, int] = {}
        if any(scope.window is None for scope in scopes):
            self._open_graph()
        for i, (scope, parts) in enumerate(scopes.items()):
            if scope.window is None:
                content[scope] = rows = self._graph(f"why_marked{i}", scope, parts)
            else:
                content[scope] = rows = self._window(f"why_marked{i}", scope.window)
            for step, weight in self._steps(rows).items():
                steps[step] = max(steps.get(step, weight), weight)
        if len(steps) > MOST_CHANGES:
            raise TooManyChangesError
        for scope in scopes:
            if scope.window is None:
                continue
            window = self.reads.windows[scope.window]
            if isinstance(window, LastElements):
                content[scope] = self._last_events(scope.window, window, steps)
        corrected = self.moment.epoch if self.moment.corrects else None
        looks_back = not self.moment.is_first
        log = self.reads.graph
        return PlanSurroundings(
            self.worlds,
            content,
            steps,
            self._known(),
            looks_back,
            corrected,
            None if log is None else StoredGraph(log.stored, self.reads.scans),
            self._graph_epochs(),
        )

    def _graph_epochs(self) -> Mapping[Mark, int]:
        """By mark, the epoch that the state of the graph is of."""
        held, log = self.moment.graph.held, self.reads.graph
        if log is None:
            return held
        # What a log begins with holds from the first instant on.
        begins = max(log.begins.values(), default=0)
        return {mark: max(epoch, begins) for mark, epoch in held.items()}

    def _known(self) -> Mapping[Mark, list[exp.Expr] | None]:
        """What is stored of the answer and its parts."""
        instant, epoch = number(self.moment.instant), number(self.moment.epoch)
        before: list[exp.Expr] = [column("instant") < instant]
        after: list[exp.Expr] = [column("instant") <= instant]
        undone = column("epoch") < epoch
        known: dict[Mark, list[exp.Expr] | None] = {
            "before": before,
            "after": after,
            "before_undone": [*before, undone],
            "after_undone": [*after, undone],
        }
        if self.moment.is_first:
            known |= {"before": None, "before_undone": None}
        return known

    def _steps(self, rows: MarkedRows) -> Mapping[Part, int]:
        """What may have changed the answer; of events the weight that they have as causes."""
        engine, corrects = self.worlds.engine, self.moment.corrects
        if corrects:
            moved = differs(("before", "before_undone"), ("after", "after_undone"))
        else:
            moved = differs(("before", "after"))
        if rows.stream is None:
            # At the first instant, the whole graph is new.
            if self.moment.is_first and not corrects:
                return {}
            return dict.fromkeys(rows.parts(engine, moved, MOST_CHANGES), 0)
        came = any_of([column("before"), column("after")]) if corrects else column("after")
        steps: dict[Part, int] = {}
        for weight, is_so in ((-1, negated(came.copy())), (1, came)):
            some = rows.parts(engine, all_of([moved.copy(), is_so]), MOST_CHANGES)
            steps |= dict.fromkeys(some, weight)
        return steps

    def _events(self, stream: str) -> exp.Select:
        """The events of a stream that matter: those of before the epoch only where it corrects."""
        known = [] if self.moment.corrects else [column(KNOWN)]
        return select(*columns(KNOWN_EVENT), from_=rows_of(self.reads.events[stream]), where=known)

    def _window(self, name: str, window: str) -> MarkedRows:
        """The events that are in a window right before the instant, or at it.

        Of a window of the last elements, those of the instant that others push out again, too, and
        those of the epoch, if it corrects the instant.
        """
        kind, stream = self.reads.windows[window], self.reads.streams[window]
        events, instant, corrects = f"{name}_events", self.moment.instant, self.moment.corrects
        self.worlds.engine.make(Statement(events, self._events(stream)))
        if isinstance(kind, LastElements) and corrects:
            # Any of them may push others out.
            held: exp.Query = select(
                *columns(KNOWN_EVENT),
                alias(number(instant - 1), "since"),
                alias(number(instant + 1), "until"),
                from_=rows_of(events),
                where=[
                    column("instant") <= number(instant),
                    column(KNOWN).neq(column(KNOWN_UNDONE)),
                ],
            )
        else:
            held = event_intervals(events, kind, instant - 1, instant, KNOWN_EVENT)
            if isinstance(kind, LastElements):
                held = _with_displaced(held, instant)
        before, after = holds_at(instant - 1), holds_at(instant)
        if self.moment.is_first:
            before = exp.false()
        undone = column(KNOWN_UNDONE) if corrects else exp.false()
        marks: Mapping[Mark, exp.Expr] = {
            "before": all_of([column(KNOWN), before]),
            "after": all_of([column(KNOWN), after]),
            "before_undone": all_of([undone, before.copy()]),
            "after_undone": all_of([undone.copy(), after.copy()]),
        }
        marked = select(*columns(EVENT), *marks_of(marks), from_=subquery(held, "held"))
        there = select(
            "*",
            from_=subquery(marked, "marked"),
            where=[any_of([column(mark) for mark in marks])],
        )
        self.worlds.engine.make(Statement(name, there, "cache"))
        return MarkedRows(name, stream)

    def _last_events(
        self, window: str, kind: LastElements, steps: Mapping[Part, int]
    ) -> LastEvents:
        """What a window of the last elements may have when steps are taken back."""
        stream, instant = self.reads.streams[window], self.moment.instant
        own = sum(isinstance(step, Event) and step.stream == stream for step in steps)
        before, after = (
            self._newest(stream, upto, kind.elements + own) for upto in (instant - 1, instant)
        )
        return LastEvents(kind.elements, [] if self.moment.is_first else before, after)

    def _newest(self, stream: str, upto: int, most: int) -> list[KnownEvent]:
        """The last events of a stream up to an instant, from the newest on."""
        newest_first = select(
            *columns(KNOWN_EVENT),
            from_=subquery(self._events(stream), "events"),
            where=[column("instant") <= number(upto)],
            order_by=[descending(column(name)) for name in _ORDER],
            limit=most,
        )
        events = []
        for s, p, o, *rest, known, undone in self.worlds.engine.rows(newest_first):
            instant, epoch, line = (int(str(value)) for value in rest)
            event = Event(stream, (str(s), str(p), str(o)), instant, epoch, line)
            events.append(KnownEvent(event, bool(known), self.moment.corrects and bool(undone)))
        return events

    def _open_graph(self) -> None:
        """Name the logs of the graph on an axis, and the rows of the moment's changes."""
        assert self.reads.graph is not None, "it reads the graph"
        engine, graph = self.worlds.engine, self.moment.graph
        log = replace(self.reads.graph, settled=graph.settled, times=graph.times)
        log.on_axis(engine, low=0, origin=0)
        make_newest(engine, log, graph.changes)

    def _graph(self, name: str, scope: Scope, parts: list[Component]) -> MarkedRows:
        """The triples that change, and what they can join with; all, at the first instant."""
        engine, graph, moment = self.worlds.engine, self.moment.graph, self.moment
        if not graph.times and not moment.is_first:
            return no_rows(engine, name, scope)
        axis = EpochRange(0, 2, from_nothing=moment.is_first)
        lookups, limits = self.worlds.body.lookups, self.reads.thresholds
        relation = read_graph(engine, parts, lookups, scope, axis, limits, f"{name}_graph")
        before = holds_at(2 if graph.own_is_earlier else 0)
        if moment.is_first:
            before = exp.false()
        marks: Mapping[Mark, exp.Expr] = {
            "before": before,
            "after": holds_at(2),
            "before_undone": exp.false() if moment.is_first else holds_at(0),
            "after_undone": holds_at(1 if moment.corrects else 0),
        }
        return marked_graph(engine, name, scope, relation, marks)


def _with_displaced(held: exp.Query, instant: int) -> exp.Select:
    """The events of a window of the last elements, with all of an instant: if later ones of it had
    not happened, those that they push out would be there.
    """
    is_own = column("instant").eq(number(instant))
    return select(
        *columns((*KNOWN_EVENT, "since")),
        alias(case((is_own, number(instant + 1)), otherwise=column("until")), "until"),
        from_=subquery(held, "held"),
    )
