"""An answer over streams, as known at an epoch, to be explained at its instants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from sqlglot import exp

from weir.compute.engine import Engine
from weir.compute.relations import Statement
from weir.compute.sql import (
    alias,
    ascending,
    bigint,
    column,
    columns,
    number,
    row_number,
    rows_of,
    select,
    subquery,
    union_all,
)
from weir.definitions.definition import Definition
from weir.definitions.program import ProgramBody
from weir.engine.graph import POSITIONS
from weir.engine.relations import FOREVER
from weir.engine.windows import EVENT, look_back
from weir.errors import ConfigurationError
from weir.lake.instants import instant_text
from weir.lake.tables import OUTPUT_STREAMS, STREAMS
from weir.progress.backlog import LaterStart
from weir.progress.completion import Completion
from weir.project import Project
from weir.timeline.axis import Instants
from weir.timeline.completeness import first_complete
from weir.timeline.consolidation import ConsolidatedLog
from weir.timeline.elements import known_elements
from weir.timeline.graph_log import GraphLog
from weir.timeline.reading import open_graph_log, read_timeline
from weir.timeline.stream_names import stream_name
from weir.timeline.timeline import Timeline
from weir.timeline.windows import windows_of
from weir.why.explanation import Part
from weir.why.graph import MOST_SCANNED, looked_up, too_many_changes
from weir.why.moments import Moment
from weir.why.programs import ProgramSurroundings
from weir.why.surroundings import Surroundings
from weir.why.windows import (
    KNOWN,
    KNOWN_UNDONE,
    StreamReads,
    TooManyChangesError,
    around_moment,
)
from weir.why.worlds import Worlds


@dataclass(frozen=True, slots=True)
class StreamAnswer:
    """An answer over streams, as known at an epoch.

    Attributes:
        project: whose lake it is.
        completion: of the lake.
        definition: of the answer.
        axis: of the definition.
        epoch: the epoch.
        timeline: up to it.
        known_from: the first instant whose rows can be explained, and why no earlier one.
    """

    project: Project
    completion: Completion
    definition: Definition
    axis: Instants
    epoch: int
    timeline: Timeline
    known_from: tuple[int, str]

    @classmethod
    def read(
        cls,
        project: Project,
        completion: Completion,
        engine: Engine,
        definition: Definition,
        axis: Instants,
        epoch: int,
    ) -> Self:
        """Read what is known of it."""
        stored = completion.maintained(definition.name)
        recorded = {} if stored is None else stored.metadata.extra
        start = LaterStart.from_json(recorded)
        timeline = read_timeline(
            engine,
            completion.lake,
            axis,
            reads_graph=bool(definition.logs),
            after=epoch - 1,
            last=epoch,
            begins=None if start is None else start.begins,
        )
        until = ConsolidatedLog.from_json(recorded).until
        complete = first_complete(engine, completion.lake, axis, timeline, epoch, epoch)
        # Right before the instant, windows have to be complete, too.
        after = complete if complete == timeline.origin else complete + 1
        known = [(after, "what its windows or its graph had before is not known")]
        if until is not None:
            known.append((until + 1, "what changed before was consolidated"))
        return cls(project, completion, definition, axis, epoch, timeline, max(known))

    def around(self, engine: Engine, instant: int) -> Surroundings[Part]:
        """What is around an instant.

        Args:
            engine: has the embeddings up to the epoch as `STORED`; keeps the relations.
            instant: the instant.

        Raises:
            ConfigurationError: it is not known any more.
            WeirError: too much changed.
        """
        self._require_known(instant)
        definition, moment = self.definition, Moment.of(self.timeline, instant, self.epoch)
        shown = [stored for _, stored in definition.columns]
        worlds = Worlds(engine, definition.body, definition.width, shown)
        windows = windows_of(self.axis)
        streams = {clause.name: self._stream(clause.stream) for clause in self.axis.windows}
        reads = StreamReads(
            windows,
            streams,
            self._open_events(engine, moment),
            self._open_graph(engine, moment) if definition.logs else None,
            looked_up(self.project, self.completion),
            self.completion.quads <= MOST_SCANNED,
        )
        try:
            if isinstance(definition.body, ProgramBody):
                rules, limit = definition.body.rules, self.project.settings.limits.product_rows
                return ProgramSurroundings.read(worlds, rules, reads, self.timeline, moment, limit)
            return around_moment(worlds, reads, moment)
        except TooManyChangesError:
            raise too_many_changes(self.completion, definition.name, self.epoch) from None

    def _stream(self, iri: str) -> str:
        """The name of a stream, or of the query whose output it is."""
        upstream = self.axis.upstream(iri)
        return stream_name(iri) if upstream is None else upstream.query

    def _require_known(self, instant: int) -> None:
        begins, why = self.known_from
        if instant < begins:
            at = instant_text(begins)
            raise ConfigurationError(
                f"why {self.definition.name} changed at {instant_text(instant)} is not known any"
                f" more: {why}",
                self.completion.lake.root,
                f"Rows of {at} and later can be explained."
                if begins < FOREVER
                else "Rows can be explained once enough events have arrived.",
            )

    def _open_graph(self, engine: Engine, moment: Moment) -> GraphLog:
        """Name the logs of the graph, as they are known at the epoch of a moment."""
        lake, logs, graph = self.completion.lake, self.definition.logs, moment.graph
        return open_graph_log(engine, lake, logs, graph.settled, graph.times, moment.epoch)

    def _open_events(self, engine: Engine, moment: Moment) -> Mapping[str, str]:
        """By stream, the relation of the events that its windows may have: `KNOWN_EVENT`."""
        windows, relations = windows_of(self.axis), dict[str, str]()
        back: dict[str, list[int | None]] = {}
        for clause in self.axis.windows:
            back.setdefault(clause.stream, []).append(look_back(windows[clause.name]))
        for i, (iri, widths) in enumerate(back.items()):
            known = [width for width in widths if width is not None]
            # What windows have right before the instant, too.
            bounded = len(known) == len(widths)
            oldest = moment.instant - 1 - self.axis.grid.unit - max(known) if bounded else None
            where = None if oldest is None else column("instant") > number(oldest)
            name = relations[self._stream(iri)] = f"why_events{i}"
            upstream, stored, lake = self.axis.upstream(iri), f"{name}_stored", self.completion.lake
            if upstream is None:
                table = STREAMS.name(stream_name(iri))
                engine.open(stored, table, version=lake.version(table), where=where)
                engine.make(Statement(name, _known_events(stored, self.epoch)))
            else:
                engine.open(stored, OUTPUT_STREAMS.name(upstream.query), where=where)
                engine.make(Statement(name, _known_elements(stored, self.epoch), "cache"))
        return relations


def _known_events(stored: str, epoch: int) -> exp.Select:
    """The events of a source that are known at an epoch."""
    return select(
        *columns(EVENT),
        alias(exp.true(), KNOWN),
        alias(column("epoch") < number(epoch), KNOWN_UNDONE),
        from_=rows_of(stored),
        where=[column("epoch") <= number(epoch)],
    )


def _known_elements(stored: str, epoch: int) -> exp.Select:
    """The elements of the output of a query that are known at an epoch, or at that before it.

    At an instant they are in the order of their texts, as `elements_as_events` has them.
    """
    parts: list[exp.Query] = [
        select(
            *columns((*POSITIONS, "instant")),
            alias(is_known, KNOWN),
            alias(is_known_undone, KNOWN_UNDONE),
            from_=subquery(known_elements(stored, at), "elements"),
        )
        for at, is_known, is_known_undone in (
            (epoch, exp.true(), exp.false()),
            (epoch - 1, exp.false(), exp.true()),
        )
    ]
    place = row_number([column("instant")], [ascending(column(name)) for name in POSITIONS])
    return select(
        *columns((*POSITIONS, "instant")),
        alias(number(0), "epoch"),
        alias(bigint(place), "line"),
        alias(exp.LogicalOr(this=column(KNOWN)), KNOWN),
        alias(exp.LogicalOr(this=column(KNOWN_UNDONE)), KNOWN_UNDONE),
        from_=subquery(union_all(parts), "known"),
        group_by=columns((*POSITIONS, "instant")),
    )
