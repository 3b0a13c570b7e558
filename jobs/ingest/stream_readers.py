"""Queries over streams that no source gives."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from jobs.catalog.maintained import Maintained
from jobs.errors import ConfigurationError
from jobs.ingest.sources.declared import load_sources
from jobs.ingest.sources.source import Source
from jobs.streams.reading import streams_of


def undeclared_stream(query: Maintained, sources: Sequence[Source]) -> ConfigurationError | None:
    """What is wrong with a query that reads a stream which no source gives; None if nothing is."""
    if query.windowing is None:
        return None
    by_name = {source.name: source for source in sources}
    streams = [source.name for source in sources if source.stream is not None]
    listed = f"Streams: {', '.join(streams)}." if streams else "There are no streams yet."
    for name, iri in streams_of(query.windowing).items():
        source = by_name.get(name)
        if source is None:
            # An IRI that is not of a source has no name: sources are named by bare words.
            return ConfigurationError(
                f"no source gives the stream {iri if iri.startswith(name) else name}",
                str(query.file),
                "A stream is named as its source is: declare one with the key `stream` in"
                f" sources.yml. {listed}",
            )
        if source.stream is None:
            return ConfigurationError(
                f"the source {name} gives changes of the graph, not a stream",
                str(query.file),
                f"Read it without a window, or give it the key `stream`. {listed}",
            )
    return None


def undeclared_streams(queries: Iterable[Maintained], file: Path) -> dict[str, ConfigurationError]:
    """What is wrong with the queries whose streams `file` does not declare, by their names.

    Nothing is known if the file itself is wrong, which is an error of ingest.
    """
    over_streams = [query for query in queries if query.windowing is not None]
    if not over_streams:
        return {}
    try:
        sources = load_sources(file)
    except ConfigurationError:
        return {}
    found = {query.name: undeclared_stream(query, sources) for query in over_streams}
    return {name: error for name, error in found.items() if error is not None}
