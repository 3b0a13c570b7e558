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
"""Inserted and deleted quads, in the order of `line`; a quad may occur more than once.

Columns:
    line: from 1; 0 in formats without lines (documents).
    insert: false for a deletion.
    graph: `<iri>`, or '' for none.
    subject, predicate, object: in N-Triples form.
"""

REJECTIONS = _schema(
    file=pa.string(), line=pa.int64(), column=pa.int64(), reason=pa.string(), raw=pa.string()
)
"""Rejected input; the columns are the fields of `Rejection`."""


@dataclass(frozen=True, slots=True)
class Rejection:
    """Input that could not be used.

    Attributes:
        file: path or URI.
        line: from 1; 0 for the file as a whole.
        column: in characters from 1; 0 if unknown.
        reason: why not.
        raw: the beginning of the text.
    """

    file: str
    line: int
    column: int
    reason: str
    raw: str


@dataclass(frozen=True, slots=True)
class Header:
    """The header of an RDF Patch; missing values are None.

    Attributes:
        change_id: the IRI of `H id` without brackets, or the text of a literal.
        previous_id: the same of `H prev`.
        event_time: the first value of the header that is an xsd:dateTime literal, in UTC.
    """

    change_id: str | None = None
    previous_id: str | None = None
    event_time: datetime | None = None


@dataclass(frozen=True, slots=True)
class ParseRequest:
    """One file to parse.

    Attributes:
        file: path or URI.
        format: of the file.
        role: a `patch` has changes, and identifies blank nodes by label; a `snapshot` is a whole
            state, whose rows are all insertions, and identifies blank nodes by content.
        scope: equal blank nodes of different scopes are different nodes. For a patch it is the
            source's name, for a snapshot also the document's relative name.
        graph: `<iri>` for quads that name no graph, or '' for the default graph.
        base: IRI against which relative IRIs are resolved; if None, they are errors.
        blank_nodes: whether nodes of equal content are different nodes (`count`) or one (`merge`).
        contexts: path or URI of a file by the IRI of the JSON-LD context that it has.
        copy: path of a local copy; None if `file` is a path itself.
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
        """The path of the local file with its bytes."""
        return self.copy or self.file


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """A parsed file.

    Attributes:
        request: by which it was parsed.
        header: of an RDF Patch.
        changes: with the schema `CHANGES`.
        rejections: with the schema `REJECTIONS`.
        refusal: the rejection of the file as a whole (broken document or archive, transaction
            without end, death of the parser process); then `changes` is empty.
        unreadable: why the file could not be opened or read; then its content is unknown.
        cut_off: how the file is cut off, None if it is not; it may nevertheless be usable.
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
