"""RDF Patch: headers, transactions, added and deleted quads."""

from __future__ import annotations

from jobs.rdf.records import Header


def read_header(file: str) -> Header:
    """The header of a patch (path or URI, `.gz` or not); reads no further than the header lines.

    Raises:
        OSError: the file cannot be read.
    """
    raise NotImplementedError
