"""Parsing of untrusted files in a child process with memory and CPU limits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jobs.rdf.limits import ParseLimits
from jobs.rdf.records import ParsedFile, ParseRequest


def parse_files(requests: Sequence[ParseRequest], limits: ParseLimits) -> Iterator[ParsedFile]:
    """Parse each file, in order, one result per request.

    A file that kills the child process is rejected as a whole with the reason; a new child goes on with the rest.
    """
    raise NotImplementedError
