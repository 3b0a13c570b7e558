"""Streams out of queries: which query gives the stream that another one reads.

A query that says `REGISTER ISTREAM s AS CONSTRUCT ..` gives the stream `s`. Queries that read it in
a window are maintained after it; they must not depend on each other in a circle.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from weir.definitions.definition import Definition
from weir.errors import ConfigurationError
from weir.timeline.axis import Instants, Upstream

Linked: TypeAlias = Mapping[str, Definition | ConfigurationError]
"""By name the query with its upstreams, or what is wrong with them."""


def linked(queries: Sequence[Definition]) -> Linked:
    """The queries, each with those that give its streams."""
    givers: dict[str, list[Definition]] = {}
    for query in queries:
        if query.registration is not None and query.registration.stream is not None:
            givers.setdefault(query.registration.stream, []).append(query)
    links = _Links(givers)
    return {query.name: links.of(query) for query in queries}


def in_order_of_streams(queries: Iterable[Definition]) -> list[Definition]:
    """Queries, each after those that give its streams; else in the order that they have."""
    by_name = {query.name: query for query in queries}
    ordered: dict[str, Definition] = {}

    def add(query: Definition) -> None:
        for upstream in query.axis.upstreams:
            if upstream.query in by_name and upstream.query not in ordered:
                add(by_name[upstream.query])
        ordered[query.name] = query

    for query in by_name.values():
        if query.name not in ordered:
            add(query)
    return [*ordered.values()]


def all_upstreams_of(query: Definition) -> tuple[str, ...]:
    """The names of the queries on whose streams a query depends, also by other queries."""
    names: dict[str, None] = {}
    open_ = [*query.axis.upstreams]
    while open_:
        upstream = open_.pop()
        names[upstream.query] = None
        open_ += upstream.axis.upstreams
    return tuple(names)


class _CircleError(ConfigurationError):
    """Queries read each other's streams in a circle: `path`, the first again at its end."""

    def __init__(self, path: tuple[str, ...], query: Definition) -> None:
        self.path = path
        super().__init__(
            f"queries read each other's streams in a circle: {' -> '.join(path)}",
            str(query.file),
            "Have one of them read another stream.",
        )


class _Links:
    """Finds the upstreams of queries, each once.

    Args:
        givers: the queries that register each stream.
    """

    def __init__(self, givers: Mapping[str, Sequence[Definition]]) -> None:
        self._givers = givers
        self._known: dict[str, Definition | ConfigurationError] = {}

    def of(self, query: Definition, path: tuple[str, ...] = ()) -> Definition | ConfigurationError:
        """The query with its upstreams, or what is wrong with it or with them."""
        if query.name in path:
            return _CircleError((*path[path.index(query.name) :], query.name), query)
        if query.name not in self._known:
            try:
                self._known[query.name] = self._linked(query, (*path, query.name))
            except ConfigurationError as error:
                self._known[query.name] = error
        return self._known[query.name]

    def _linked(self, query: Definition, path: tuple[str, ...]) -> Definition:
        self._check_registration(query)
        upstreams = []
        axis = query.axis
        for stream in dict.fromkeys(window.stream for window in axis.windows):
            if stream not in self._givers:
                continue
            _check_one_giver(query, stream, self._givers[stream])
            giver = self.of(self._givers[stream][0], path)
            if isinstance(giver, _CircleError) and query.name in giver.path:
                raise _CircleError(giver.path, query)
            if isinstance(giver, ConfigurationError):
                name = self._givers[stream][0].name
                raise ConfigurationError(
                    f"the query {name}, whose stream it reads, has an error: {giver.what}",
                    str(query.file),
                    f"Correct {name} first.",
                )
            _check_stream(query, giver, stream)
            assert isinstance(giver.axis, Instants), "an operator has a window"
            upstreams.append(Upstream(giver.name, stream, giver.axis))
        if not upstreams:
            return query
        assert isinstance(axis, Instants), "it has windows"
        return replace(query, axis=replace(axis, upstreams=tuple(upstreams)))

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


def _check_one_giver(reader: Definition, stream: str, givers: Sequence[Definition]) -> None:
    if len(givers) > 1:
        raise ConfigurationError(
            f"{_files(givers)} register the stream {stream}, which it reads",
            str(reader.file),
            "Give one of the streams another name.",
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
