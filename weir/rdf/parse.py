"""Parses one file of any format in this process; `worker` does so in a limited child process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, assert_never

from weir.rdf.compression import ArchiveError, CutOffArchive
from weir.rdf.documents import parse_document
from weir.rdf.files import opened
from weir.rdf.labelling import label_by_content, label_by_name
from weir.rdf.limits import ParseLimits
from weir.rdf.lines import parse_lines
from weir.rdf.parse_events import CutOff, ParseEvent, Unusable
from weir.rdf.patch import parse_patch
from weir.rdf.records import ParseRequest, Rejection


def parse(request: ParseRequest, limits: ParseLimits) -> Iterator[ParseEvent]:
    """The events of parsing one file; an `Unusable` discards all others.

    Raises:
        OSError: the file cannot be opened or read. (A broken compressed file is `Unusable`.)
    """
    try:
        with opened(request.path) as file:
            yield from _parse(file, request, limits)
    except ArchiveError as error:
        if isinstance(error, CutOffArchive):
            yield CutOff(str(error))
        yield Unusable(Rejection(request.file, 0, 0, str(error), ""))


def _parse(file: IO[bytes], request: ParseRequest, limits: ParseLimits) -> Iterator[ParseEvent]:
    match request.format:
        case "rdf-patch":
            yield from label_by_name(parse_patch(file, request, limits), request.scope)
        case "n-triples" | "n-quads":
            events = parse_lines(file, request, limits)
            if request.role == "patch":
                yield from label_by_name(events, request.scope)
            else:
                yield from label_by_content(events, request.scope, request.blank_nodes)
        case "turtle" | "trig" | "rdf-xml" | "json-ld":
            # By content, even for a patch: labels have no meaning outside a document.
            events = parse_document(file, request, limits)
            yield from label_by_content(events, request.scope, request.blank_nodes)
        case _:
            assert_never(request.format)
