"""Queries over streams that no source gives."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from weir.definitions.definition import Definition
from weir.definitions.upstreams import in_order_of_upstreams
from weir.errors import ConfigurationError
from weir.ingest.sources.declared import load_sources
from weir.ingest.sources.source import Source
from weir.timeline.stream_names import stream_name, streams_of


def undeclared_stream(query: Definition, sources: Sequence[Source]) -> ConfigurationError | None:
    """What is wrong with a query that reads a stream which no source gives; None if nothing is."""
    by_name = {source.name: source for source in sources}
    streams = [source.name for source in sources if source.stream is not None]
    listed = f"Streams: {', '.join(streams)}." if streams else "There are no streams yet."
    for upstream in query.axis.upstreams:
        if stream_name(upstream.stream) in streams:
            return ConfigurationError(
                f"the source {stream_name(upstream.stream)} gives the stream that"
                f" {upstream.query} registers, too",
                str(query.file),
                "Give one of them another name.",
            )
    for name in streams_of(query.axis):
        source = by_name.get(name)
        if source is None:
            return ConfigurationError(
                f"no source gives the stream {name}",
                str(query.file),
                "A stream is named as its source is: declare one with the key `stream` in"
                " sources.yml; or a query registers it: REGISTER STREAM name AS CONSTRUCT"
                " ISTREAM; or a program writes it: `write_stream`."
                f" {listed}",
            )
        if source.stream is None:
            return ConfigurationError(
                f"the source {name} gives changes of the graph, not a stream",
                str(query.file),
                f"{query.kind.as_graph}, or give it the key `stream`. {listed}",
            )
    return None


def undeclared_streams(queries: Iterable[Definition], file: Path) -> dict[str, ConfigurationError]:
    """What is wrong with the queries whose streams `file` does not declare, by their names.

    Nothing is known if the file itself is wrong, which is an error of ingest.
    """
    over_streams = [query for query in queries if query.axis.windows]
    if not over_streams:
        return {}
    try:
        sources = load_sources(file)
    except ConfigurationError:
        return {}
    errors: dict[str, ConfigurationError] = {}
    for query in in_order_of_upstreams(over_streams):
        error = undeclared_stream(query, sources)
        for upstream in query.axis.upstreams:
            if upstream.query in errors:
                error = ConfigurationError(
                    f"the query {upstream.query}, whose stream it reads, has an error",
                    str(query.file),
                    f"Correct {upstream.query} first.",
                )
        if error is not None:
            errors[query.name] = error
    return errors
