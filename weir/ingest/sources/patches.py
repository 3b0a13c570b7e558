"""The kind `patches`: a folder of RDF Patch files, an epoch each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field, ValidationInfo, field_validator

from weir.errors import ConfigurationError
from weir.ingest.changesets import AcceptedChangeSets, ChangeSet, Document, SourcePosition
from weir.ingest.reading import ChangeSetReading, Reader, SourceReading
from weir.ingest.rows import FileResult
from weir.ingest.sources.errors import SourceError
from weir.ingest.sources.files import FileSource, new_change_sets, rdf_files
from weir.project import Project
from weir.rdf.files import FileInfo
from weir.rdf.records import Format, ParseRequest

BASE = "base"
"""Position of the file that holds the graph before the first patch."""


class Patches(FileSource):
    """A folder of RDF Patch files; each is an epoch, in the order of their names."""

    kind: Literal["patches"]
    base: str | None = Field(
        None, description="file that holds the graph before the first patch; the first epoch"
    )
    base_id: str | None = Field(None, description="the id that the first patch's `H prev` names")

    locations: ClassVar[tuple[str, ...]] = ("location", "base")
    names_deletions: ClassVar[bool] = True
    unnumbered: ClassVar[tuple[str, ...]] = (BASE,)

    @field_validator("base")
    @classmethod
    def _is_of_a_graph(cls, base: str | None, info: ValidationInfo) -> str | None:
        if base is not None and info.data.get("stream") is not None:
            raise ValueError("a stream has no base")
        return base

    def pending(self, position: SourcePosition, project: Project) -> list[ChangeSet]:
        """The patches that are not ingested; before the first of them the base."""
        del project
        patches = [
            self._change_set(file.name, self._document(file, format_))
            for file, format_ in rdf_files(self, self.location, self.glob)
            if format_ == "rdf-patch"
        ]
        new = new_change_sets(patches, {*position.positions} - {BASE}, lambda name: name)
        if self.base is None or position.last is not None:
            return new
        base = self._change_set(BASE, self._base_document(self.base), self.base_id)
        return [base, *new]

    def read(
        self, accepted: AcceptedChangeSets, position: SourcePosition, reader: Reader
    ) -> SourceReading:
        """The rows of the patches; the source stops at one that is broken or does not follow."""
        change_sets = accepted.of(self.name)
        parsed = reader.parse(accepted, self.name)
        results = {ordinal: one.result for ordinal, (one,) in parsed.documents.items()}
        ids = {ordinal: _change_id(change_sets[ordinal], one) for ordinal, one in results.items()}
        self._refuse_broken_patch(accepted, results)
        if self.stream is None:
            self._stop_at_broken_chain(accepted, results, ids, position.last_id)
        return SourceReading(
            parsed.rows,
            {
                ordinal: ChangeSetReading(
                    ids[ordinal],
                    one.header.event_time,
                    one.changes,
                    one.rejections,
                    malformed=one.malformed,
                    cut_off=one.cut_off,
                )
                for ordinal, one in results.items()
            },
        )

    def _change_set(
        self, position: str, document: Document, change_id: str | None = None
    ) -> ChangeSet:
        documents = (document,)
        waits = self.unsettled(documents)
        return ChangeSet(self, position, documents=documents, change_id=change_id, waits=waits)

    def _document(self, file: FileInfo, format_: Format) -> Document:
        request = ParseRequest(
            file.path, format_, "patch", scope=self.first_name, graph=self.graph_term, base=None
        )
        return Document(file.name, file.size, request, file.modified, file.refused)

    def _base_document(self, location: str) -> Document:
        for file, format_ in rdf_files(self, location):
            # A file is listed as itself.
            if file.path == location:
                return self._document(file, format_)
        raise ConfigurationError(
            f"source {self.name}: its base is a folder, not a file",
            location,
            "Name one file that holds the graph before the first patch (`base:` in sources.yml).",
        )

    def _refuse_broken_patch(
        self, accepted: AcceptedChangeSets, results: Mapping[int, FileResult]
    ) -> None:
        """Stop at a patch, or a base, that is rejected as a whole.

        It may still be on its way into the folder, and what comes after it builds on it. Of a
        snapshot, on the other hand, the next version replaces all.
        """
        for ordinal, change_set in accepted.of(self.name).items():
            refusal = results[ordinal].refusal
            if refusal is not None:
                error = SourceError(
                    f"source {self.name}: the file cannot be used: {refusal}",
                    change_set.documents[0].request.file,
                    "Complete or correct the file (or raise the limit that it exceeds); the"
                    " source continues with it.",
                )
                accepted.refuse(ordinal, error)
                return

    def _stop_at_broken_chain(
        self,
        accepted: AcceptedChangeSets,
        results: Mapping[int, FileResult],
        ids: Mapping[int, str | None],
        last_id: str | None,
    ) -> None:
        """Stop at a patch whose `H prev` is not the id of the change set before it."""
        before = last_id
        for ordinal, change_set in accepted.of(self.name).items():
            previous = results[ordinal].header.previous_id
            if previous is not None and before is not None and previous != before:
                error = SourceError(
                    f"source {self.name}: its `H prev` is {previous}, but the change set before it"
                    f" is {before}",
                    change_set.documents[0].request.file,
                    "Put the missing patches into the folder, or correct the header.",
                )
                accepted.stop(ordinal, error)
                return
            before = ids[ordinal]


def _change_id(change_set: ChangeSet, result: FileResult) -> str | None:
    """The declared id of the base; of a patch, the one in its header."""
    return change_set.change_id if change_set.position == BASE else result.header.change_id
