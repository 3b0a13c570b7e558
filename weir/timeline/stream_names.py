"""The names of the streams that windows read."""

from __future__ import annotations

from collections.abc import Mapping

from weir.sparql.frontend.rspql.names import STREAM_IRI
from weir.timeline.axis import Axis


def stream_name(iri: str) -> str:
    """The name of the stream that an IRI of a window clause means; N-Triples form."""
    begin = f"<{STREAM_IRI}"
    return iri.removeprefix(begin).removesuffix(">") if iri.startswith(begin) else iri


def streams_of(axis: Axis) -> Mapping[str, str]:
    """The streams of sources that a query reads: their names, with their IRIs in N-Triples form."""
    given = {upstream.stream for upstream in axis.upstreams}
    iris = [window.stream for window in axis.windows if window.stream not in given]
    return {stream_name(iri): iri for iri in iris}


def all_streams_of(axis: Axis) -> frozenset[str]:
    """The names of the streams of sources on which a query depends, also by other queries."""
    others = (all_streams_of(upstream.axis) for upstream in axis.upstreams)
    return frozenset(streams_of(axis)).union(*others)
