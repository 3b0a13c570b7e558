"""Input and output of the parsers, as frozen values and Arrow schemas."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

import pyarrow as pa

Format = Literal["n-triples", "n-quads", "turtle", "trig", "rdf-xml", "json-ld", "rdf-patch"]
Role = Literal["patch", "snapshot"]
BlankNodes = Literal["count", "merge"]


def _schema(**columns: pa.DataType) -> pa.Schema:
    return pa.schema([pa.field(name, type_, nullable=False) for name, type_ in columns.items()])


CHANGES = _schema(
    line=pa.int64(),
    insert=pa.bool_(),
    graph=pa.string(),
    subject=pa.string(),
    predicate=pa.string(),
    object=pa.string(),
)
"""Quads that are inserted or deleted, in the order of `line`; a quad may occur more than once.

line: from 1; 0 where the format has no lines (documents). insert: False = deletion. graph: `<iri>`,
or '' for none. subject, predicate, object: N-Triples form.
"""

REJECTIONS = _schema(
    file=pa.string(), line=pa.int64(), column=pa.int64(), reason=pa.string(), raw=pa.string()
)
"""Rejected input; the columns are the fields of `Rejection`."""


@dataclass(frozen=True, slots=True)
class Rejection:
    """Input that could not be used.

    line: from 1, 0 = the file as a whole. column: in characters from 1, 0 = unknown.
    raw: the text, cut.
    """

    file: str
    line: int
    column: int
    reason: str
    raw: str


@dataclass(frozen=True, slots=True)
class Header:
    """The header of an RDF Patch; a value is None if it is missing.

    change_id, previous_id: the IRI of `H id` and `H prev` without brackets (a literal: its text).
    event_time: the first header whose value is an xsd:dateTime literal, in UTC.
    """

    change_id: str | None = None
    previous_id: str | None = None
    event_time: datetime | None = None


@dataclass(frozen=True, slots=True)
class ParseRequest:
    """One file to parse.

    file: path or URI.
    role: 'patch' = changes, blank nodes by label; 'snapshot' = a whole state (every row an
        insertion), blank nodes by content.
    scope: within which a blank node is one node: the source's name for a patch, the source's name
        and the document's relative name for a snapshot.
    graph: `<iri>` of the quads that name no graph, or '' for the unnamed graph.
    base: IRI that relative IRIs of the document are resolved against; None = they are errors.
    blank_nodes: of a document, whether each is a node of its own, or those of equal content one.
    contexts: by IRI of a remote context of JSON-LD, path or URI of a file that has it.
    copy: path of a local copy of its bytes; None if `file` is a path itself.
    """

    file: str
    format: Format
    role: Role
    scope: str
    graph: str = ""
    base: str | None = None
    blank_nodes: BlankNodes = "count"
    contexts: Mapping[str, str] = field(default_factory=dict, hash=False)
    copy: str | None = None

    @property
    def path(self) -> str:
        """The local file that has its bytes."""
        return self.copy or self.file


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """A parsed file.

    changes: schema `CHANGES`. rejections: schema `REJECTIONS`.
    refusal: why the file was rejected as a whole (broken document, broken archive, transaction
        without end, parser process died), one of the rejections; then `changes` is empty.
    unreadable: why the file could not be opened or read; then its content is unknown.
    cut_off: how it ends in the middle, None if it does not; it may be usable all the same.
    """

    request: ParseRequest
    header: Header
    changes: pa.Table
    rejections: pa.Table
    refusal: Rejection | None
    unreadable: str | None = None
    cut_off: str | None = None

    @property
    def usable(self) -> bool:
        """Whether the file could be read and was not rejected as a whole."""
        return self.refusal is None and self.unreadable is None
