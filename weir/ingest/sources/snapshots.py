"""The kind `snapshots`: a folder of versions of a graph, an epoch each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal, Self

from pydantic import Field, PrivateAttr, field_validator

from weir.ingest.changesets import AcceptedChangeSets, ChangeSet, Document, SourcePosition, State
from weir.ingest.reading import ChangeSetReading, ParsedDocument, Reader, SourceReading
from weir.ingest.rows import Rows
from weir.ingest.sources.errors import SourceError
from weir.ingest.sources.files import FileSource, natural_order, new_change_sets, rdf_files
from weir.ingest.sources.guards import NOTHING, Tolerance
from weir.ingest.sources.versions import Version, carried
from weir.project import Project
from weir.rdf.files import FileInfo
from weir.rdf.records import BlankNodes, Format, ParseRequest
from weir.rdf.terms import iri_term


class Snapshots(FileSource):
    """A folder of versions, files or folders of files; each is an epoch, numbers in names count."""

    kind: Literal["snapshots"]
    format: Format | None = Field(
        None,
        description="format of all files: `n-triples`, `n-quads`, `turtle`, `trig`, `rdf-xml` or"
        " `json-ld`; else by their names",
    )
    base_iri: str | None = Field(None, description="what relative IRIs are resolved against")
    blank_nodes: BlankNodes = Field(
        "count",
        description="`count`: each blank node of a document is a node of its own; `merge`: those of"
        " equal content are one",
    )

    tolerates: ClassVar[Tolerance] = NOTHING

    @field_validator("base_iri")
    @classmethod
    def _is_absolute(cls, base_iri: str | None) -> str | None:
        return None if base_iri is None else iri_term(f"<{base_iri}>")[1:-1]

    _contexts: Mapping[str, str] = PrivateAttr(default_factory=dict)

    def with_contexts(self, contexts: Mapping[str, str]) -> Self:
        """The source with the files of remote contexts, by their IRIs."""
        copy = self.model_copy()
        copy._contexts = contexts
        return copy

    def pending(self, position: SourcePosition, project: Project) -> list[ChangeSet]:
        """The versions that are not ingested."""
        del project
        return new_change_sets(self._versions(), {*position.positions}, natural_order)

    def read(
        self, accepted: AcceptedChangeSets, position: SourcePosition, reader: Reader
    ) -> SourceReading:
        """The rows of the versions, and earlier documents instead of broken ones."""
        parsed = reader.parse(accepted, self.name)
        versions = {
            ordinal: Version(ordinal, _usable_numbers(documents))
            for ordinal, documents in parsed.documents.items()
        }
        earlier = _EarlierVersions(self, position.last, reader)
        # The events of a broken document are lost: earlier ones happened already.
        is_state = self.stream is None
        accepted_versions = [versions[ordinal] for ordinal in accepted.of(self.name) if is_state]
        carry = carried(accepted_versions, earlier.last_good)
        return SourceReading(
            parsed.rows + earlier.rows,
            {
                ordinal: ChangeSetReading(
                    change_id=None,
                    event_time=documents[0].result.header.event_time,
                    changes=sum(document.result.changes for document in documents),
                    rejections=sum(document.result.rejections for document in documents),
                    is_usable=versions[ordinal].is_usable,
                    malformed=sum(document.result.malformed for document in documents),
                    cut_off=_cut_off(documents),
                    broken=_broken(documents),
                )
                for ordinal, documents in parsed.documents.items()
            },
            carry,
        )

    def content(self, position: str) -> ChangeSet | None:
        """A version; None of a stream, and if the version is gone."""
        newest = next(iter(self.versions_until(position)), None)
        is_there = self.stream is None and newest is not None and newest.position == position
        return newest if is_there else None

    def versions_until(self, position: str) -> list[ChangeSet]:
        """The versions up to `position` that still exist, newest first."""
        last = natural_order(position)
        known = [version for version in self._versions() if natural_order(version.position) <= last]
        return known[::-1]

    def _versions(self) -> list[ChangeSet]:
        """The versions of the folder: its files, and its folders with all files in them."""
        versions: dict[str, list[Document]] = {}
        for file, format_ in rdf_files(self, self.location, self.glob, self.format):
            if format_ == "rdf-patch" and self.stream is None:
                raise SourceError(
                    f"source {self.name}: {file.name} is an RDF Patch, which is no version of a"
                    " graph",
                    file.path,
                    "Declare a source of the kind `patches` for it, or leave it out by `glob`.",
                )
            version, _, inner = file.name.partition("/")
            # A version that is one file is the same document from version to version.
            versions.setdefault(version, []).append(self._document(file, format_, name=inner))
        return [
            ChangeSet(
                self,
                version,
                State(),
                tuple(versions[version]),
                waits=self.unsettled(versions[version]),
            )
            for version in sorted(versions, key=natural_order)
        ]

    def _document(self, file: FileInfo, format_: Format, name: str) -> Document:
        request = ParseRequest(
            file.path,
            format_,
            "snapshot",
            scope=f"{self.first_name}/{name}",
            graph=self.graph_term,
            base=self.base_iri,
            blank_nodes=self.blank_nodes,
            contexts=self._contexts if format_ == "json-ld" else {},
        )
        return Document(name, file.size, request, file.modified, file.refused)


def _cut_off(documents: tuple[ParsedDocument, ...]) -> str | None:
    """The first document that ends in the middle, and how."""
    for parsed in documents:
        if parsed.result.cut_off is not None:
            name = parsed.document.name
            return f"{name}: {parsed.result.cut_off}" if name else parsed.result.cut_off
    return None


def _broken(documents: tuple[ParsedDocument, ...]) -> str | None:
    """The first document that is rejected as a whole, why, and how many there are."""
    refused = [document for document in documents if document.result.refusal is not None]
    if not refused:
        return None
    first = refused[0]
    where = f"{first.document.name}, " if first.document.name else ""
    others = f" ({len(refused)} of {len(documents)} documents)" if len(documents) > 1 else ""
    return f"{where}{first.result.refusal}{others}"


def _usable_numbers(documents: tuple[ParsedDocument, ...]) -> dict[str, int | None]:
    return {
        parsed.document.name: parsed.result.document if parsed.result.usable else None
        for parsed in documents
    }


class _EarlierVersions:
    """Documents of versions that are ingested, parsed again where a later one is broken.

    Args:
        source: whose versions they are.
        last: position of the last of them, None if there is none.
        reader: what to parse with.
    """

    def __init__(self, source: Snapshots, last: str | None, reader: Reader) -> None:
        self._source, self._last, self._reader = source, last, reader
        self.rows = Rows()
        """The rows of the documents that were found."""

    def last_good(self, name: str) -> int | None:
        """The number of the newest usable content of the document, or None if it had none.

        Raises:
            SourceError: the earlier versions are gone, or cannot be read.
        """
        if self._last is None:
            return None
        versions = self._source.versions_until(self._last)
        if not versions:
            raise SourceError(
                f"source {self._source.name}: {name or 'a document'} is broken, and the versions"
                " before, which hold its last good content, are gone",
                self._source.location,
                f"Bring {self._last} back, or repair the document.",
            )
        for version in versions:
            matches = [document for document in version.documents if document.name == name]
            if not matches:
                # A version of which nothing is usable leaves the state as it was.
                if any(self._usable_rows(document, version) for document in version.documents):
                    return None
                continue
            rows = self._usable_rows(matches[0], version)
            if rows is not None:
                self.rows += rows
                return rows.results[0].document
        return None

    def _usable_rows(self, document: Document, version: ChangeSet) -> Rows | None:
        """The rows of a document under a number of its own, None if it is not usable."""
        rows, result = self._reader.parse_earlier(document, version)
        return rows if result.usable else None
