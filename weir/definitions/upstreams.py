"""Upstreams: which definition gives the stream, or the graph, that another one reads.

A query that says `REGISTER ISTREAM s AS CONSTRUCT ..` gives the stream `s`, one with the key
`graph` a derived graph. What reads them is maintained after it; definitions must not depend on each
other in a circle.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from weir.definitions.definition import Definition
from weir.definitions.derived_graphs import (
    DerivedGraphs,
    Unusable,
    over_derived,
    with_error,
)
from weir.errors import ConfigurationError
from weir.timeline.axis import Instants, Upstream

Linked: TypeAlias = Mapping[str, Definition | ConfigurationError]
"""By name the query with its upstreams, or what is wrong with them."""


def linked(queries: Sequence[Definition], unusable: Sequence[Unusable] = ()) -> Linked:
    """The queries, each with those that give its streams and graphs.

    Args:
        queries: all that are declared without an error.
        unusable: the other files.
    """
    givers: dict[str, list[Definition]] = {}
    for query in queries:
        if query.registration is not None and query.registration.stream is not None:
            givers.setdefault(query.registration.stream, []).append(query)
    links = _Links(givers, DerivedGraphs(queries, unusable))
    return {query.name: links.of(query) for query in queries}


def may_have_upstreams(query: Definition) -> bool:
    """Whether other definitions say what a query reads, or what is wrong with what it gives."""
    if query.axis.windows or query.registration is not None or query.graph is not None:
        return True
    return any(seed.scope.names_graphs for seed in query.body.seeds)


def in_order_of_upstreams(queries: Iterable[Definition]) -> list[Definition]:
    """Queries, each after those whose streams and graphs it reads; else in their order."""
    return [query for level in levels(queries) for query in level]


def levels(queries: Iterable[Definition]) -> list[list[Definition]]:
    """Queries in levels: those whose streams and graphs one reads are in levels before it."""
    by_name = {query.name: query for query in queries}
    depths: dict[str, int] = {}

    def depth(name: str) -> int:
        if name not in depths:
            upstreams = (up for up in by_name[name].upstreams if up in by_name)
            depths[name] = 1 + max(map(depth, upstreams), default=-1)
        return depths[name]

    ordered: dict[int, list[Definition]] = {}
    for name, query in by_name.items():
        ordered.setdefault(depth(name), []).append(query)
    return [ordered[number] for number in sorted(ordered)]


def all_upstreams_of(query: Definition) -> tuple[str, ...]:
    """The names of the queries on whose streams or graphs one depends, also by other queries."""
    names: dict[str, None] = {}
    for upstream in query.axis.upstreams:
        names |= dict.fromkeys((upstream.query, *upstream.others))
    for giver in query.derived:
        names |= dict.fromkeys((giver.name, *all_upstreams_of(giver)))
    return tuple(names)


class _CircleError(ConfigurationError):
    """Queries read each other's streams or graphs in a circle: the first is again at its end."""

    def __init__(self, circle: Sequence[Definition], query: Definition) -> None:
        self.circle = circle
        what = "streams" if any(one.axis.windows for one in circle) else "graphs"
        files = dict.fromkeys(f"{one.file.parent.name}/{one.file.name}" for one in circle)
        super().__init__(
            f"queries read each other's {what} in a circle:"
            f" {' -> '.join(one.name for one in circle)}",
            str(query.file),
            f"Have one of {', '.join(files)} read another one.",
        )

    def has(self, query: Definition) -> bool:
        """Whether a query is in the circle."""
        return any(one.name == query.name for one in self.circle)


class _Links:
    """Finds the upstreams of queries, each once.

    Args:
        givers: the queries that register each stream.
        graphs: the derived graphs.
    """

    def __init__(self, givers: Mapping[str, Sequence[Definition]], graphs: DerivedGraphs) -> None:
        self._givers = givers
        self._graphs = graphs
        self._known: dict[str, Definition | ConfigurationError] = {}

    def of(
        self, query: Definition, path: tuple[Definition, ...] = ()
    ) -> Definition | ConfigurationError:
        """The query with its upstreams, or what is wrong with it or with them."""
        names = [one.name for one in path]
        if query.name in names:
            return _CircleError((*path[names.index(query.name) :], query), query)
        if query.name not in self._known:
            try:
                self._known[query.name] = self._linked(query, (*path, query))
            except ConfigurationError as error:
                self._known[query.name] = error
        return self._known[query.name]

    def _linked(self, query: Definition, path: tuple[Definition, ...]) -> Definition:
        self._check_registration(query)
        self._graphs.check_giver(query)
        return self._with_graphs(self._with_streams(query, path), path)

    def _with_streams(self, query: Definition, path: tuple[Definition, ...]) -> Definition:
        upstreams = []
        axis = query.axis
        for stream in dict.fromkeys(window.stream for window in axis.windows):
            if stream not in self._givers:
                continue
            _check_one_giver(query, f"register the stream {stream}", self._givers[stream])
            giver = self._giver(query, self._givers[stream][0], "stream", path)
            _check_stream(query, giver, stream)
            assert isinstance(giver.axis, Instants), "an operator has a window"
            others = all_upstreams_of(giver)
            upstreams.append(Upstream(giver.name, stream, giver.axis, others))
        if not upstreams:
            return query
        assert isinstance(axis, Instants), "it has windows"
        return replace(query, axis=replace(axis, upstreams=tuple(upstreams)))

    def _with_graphs(self, query: Definition, path: tuple[Definition, ...]) -> Definition:
        named = self._graphs.named_by(query)
        for graph, givers in named.items():
            _check_one_giver(query, f"give the graph {graph}", givers)
        read = {graph: giver for graph, (giver,) in named.items()}
        read |= self._graphs.read_by(query)
        if not read:
            return query
        names = {what: giver.name for what, giver in read.items() if what != giver.name}
        unique = {giver.name: giver for giver in read.values()}
        givers = [self._giver(query, one, "graph", path) for one in unique.values()]
        return over_derived(query, names, givers)

    def _giver(
        self, reader: Definition, giver: Definition, what: str, path: tuple[Definition, ...]
    ) -> Definition:
        """What gives a stream or a graph, with its own upstreams."""
        linked = self.of(giver, path)
        if isinstance(linked, _CircleError) and linked.has(reader):
            raise _CircleError(linked.circle, reader)
        if isinstance(linked, ConfigurationError):
            raise with_error(giver.name, what, linked, str(reader.file))
        return linked

    def _check_registration(self, query: Definition) -> None:
        stream = None if query.registration is None else query.registration.stream
        if stream is None:
            return
        others = [giver for giver in self._givers[stream] if giver.name != query.name]
        if others:
            # None of them is taken: which one its readers mean, nobody knows.
            raise ConfigurationError(
                f"{_files(others)} registers the stream {stream} too",
                str(query.file),
                "Give one of the streams another name.",
            )


def _check_one_giver(reader: Definition, what: str, givers: Sequence[Definition]) -> None:
    if len(givers) > 1:
        raise ConfigurationError(
            f"{_files(givers)} {what}, which it reads",
            str(reader.file),
            f"Give one of the {what.split()[2]}s another name.",
        )


def _files(definitions: Sequence[Definition]) -> str:
    return " and ".join(definition.file.name for definition in definitions)


def _check_stream(reader: Definition, giver: Definition, stream: str) -> None:
    """Check that a registered stream has triples to read."""
    assert giver.registration is not None, "it registers the stream"
    if giver.registration.operator is None:
        raise ConfigurationError(
            f"{giver.file.name} registers {stream} without a stream operator",
            str(reader.file),
            "Write RSTREAM, ISTREAM or DSTREAM there: which of its rows the stream has.",
        )
    if not giver.writes_triples:
        raise ConfigurationError(
            f"the stream {stream} of {giver.file.name} has solutions, not triples",
            str(reader.file),
            "Write CONSTRUCT there: windows have triples.",
        )
