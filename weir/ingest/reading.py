"""The change sets of a batch to rows: each source reads its own, with what a reader gives it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import reduce
from itertools import count
from operator import add
from typing import TYPE_CHECKING

from weir.errors import WeirError
from weir.ingest.changesets import AcceptedChangeSets, ChangeSet, Document, SourcePosition
from weir.ingest.file_rows import FileTask
from weir.ingest.parsing import parse_by_tasks, parse_on_driver
from weir.ingest.rows import FileResult, Rows
from weir.ingest.sources.errors import SourceError, refused_link
from weir.project import Project
from weir.rdf.files import is_unchanged
from weir.rdf.parser_process import NoRoom, Volume
from weir.settings import Settings

if TYPE_CHECKING:
    from weir.compute.engine import Engine

_NO_ORDINAL = -1
"""Ordinal of documents of no change set of the batch."""


@dataclass(frozen=True, slots=True)
class ChangeSetReading:
    """What is known of a change set once it is read.

    change_id, event_time: for `transactions`; the time in UTC. changes, rejections: numbers of its
    rows. is_usable: False if nothing of it can be used, so that a state is left as it was.
    malformed: the rejections that are lines, or rows, of what is used; not the documents that are
    rejected as a whole. cut_off: how it ends in the middle, None if it does not. broken: which
    documents are rejected as a whole, and why, None if none is.
    """

    change_id: str | None
    event_time: datetime | None
    changes: int
    rejections: int
    is_usable: bool = True
    malformed: int = 0
    cut_off: str | None = None
    broken: str | None = None


@dataclass(frozen=True, slots=True)
class Carried:
    """A document of an earlier change set whose content counts for the state `ordinal` too."""

    document: int
    ordinal: int


@dataclass(frozen=True, slots=True)
class SourceReading:
    """What a source's change sets of a batch hold.

    rows: their rows. change_sets: by ordinal, also of the refused ones. carried: what counts for a
    state beside its own documents.
    """

    rows: Rows
    change_sets: Mapping[int, ChangeSetReading]
    carried: tuple[Carried, ...] = ()


@dataclass(frozen=True, slots=True)
class BatchReading:
    """What the change sets of a batch hold; `carried` by name of the source."""

    rows: Rows
    change_sets: Mapping[int, ChangeSetReading]
    carried: Mapping[str, tuple[Carried, ...]]


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """A document and what is known of it once it is parsed."""

    document: Document
    result: FileResult


@dataclass(frozen=True, slots=True)
class ParsedChangeSets:
    """The documents of some change sets: their rows, and by ordinal what is known of each."""

    rows: Rows
    documents: Mapping[int, tuple[ParsedDocument, ...]]


def read_batch(
    project: Project,
    engine: Engine,
    accepted: AcceptedChangeSets,
    positions: Mapping[str, SourcePosition],
) -> BatchReading:
    """Read the change sets of all sources.

    Args:
        project: whose sources they are.
        engine: for what is not parsed on the driver.
        accepted: the change sets; a source is stopped in it where it cannot continue.
        positions: by name, how far each source was ingested before the batch.
    """
    readings: dict[str, SourceReading] = {}
    reader = Reader(project, engine)
    for name, source in accepted.sources().items():
        try:
            readings[name] = source.read(accepted, positions[name], reader)
            for ordinal, change_set in accepted.of(name).items():
                rejections = readings[name].change_sets[ordinal].rejections
                stop_if_much_is_rejected(
                    accepted, ordinal, change_set, rejections, project.settings
                )
        except WeirError as error:
            accepted.stop_source(name, SourceError(error.what, error.where, error.hint))
    return BatchReading(
        reduce(add, (reading.rows for reading in readings.values()), Rows()),
        {
            ordinal: one
            for reading in readings.values()
            for ordinal, one in reading.change_sets.items()
        },
        {name: reading.carried for name, reading in readings.items()},
    )


def stop_if_much_is_rejected(
    accepted: AcceptedChangeSets,
    ordinal: int,
    change_set: ChangeSet,
    rejections: int,
    settings: Settings,
) -> None:
    """Stop a source at a change set with more rejected lines than are recorded."""
    limit = settings.limits.rejected_rows
    name = change_set.source.name
    is_stopped = ordinal not in accepted.change_sets
    if rejections > limit and not is_stopped:
        error = SourceError(
            f"source {name}: {change_set.position} has {rejections:,} rejected lines, more than"
            f" {limit:,} (rejected_rows)",
            change_set.source.location,
            "Correct it, or raise limits.rejected_rows; the source continues with it.",
        )
        accepted.stop(ordinal, error)


@dataclass(slots=True)
class Reader:
    """What sources read their change sets of one batch with.

    Args:
        project: whose sources they are; its parser parses on the driver.
        engine: for what is not parsed on the driver.
    """

    project: Project
    engine: Engine
    _numbers: Iterator[int] = field(default_factory=count)
    _parsed_bytes: int = 0
    _room: Volume | None = None

    def next_document(self) -> int:
        """The number of one more document of the batch."""
        return next(self._numbers)

    def parse(self, accepted: AcceptedChangeSets, source: str) -> ParsedChangeSets:
        """Parse the documents of a source's change sets.

        The source is stopped at one that it cannot read, and waits where one is being written.
        """
        for ordinal, change_set in accepted.of(source).items():
            refused = [
                document for document in change_set.documents if document.refused is not None
            ]
            if refused:
                accepted.stop(ordinal, _refused(change_set, refused[0]))
                break
        tasks: list[FileTask] = []
        documents: dict[int, Document] = {}
        change_sets = accepted.of(source)
        for ordinal, change_set in change_sets.items():
            for document in change_set.documents:
                number = self.next_document()
                documents[number] = document
                tasks.append(_task(ordinal, number, document, change_set.position))
        rows = self._parse(tasks)
        parsed: dict[int, tuple[ParsedDocument, ...]] = dict.fromkeys(change_sets, ())
        for result in sorted(rows.results, key=lambda file: file.document):
            document = documents[result.document]
            parsed[result.ordinal] += (ParsedDocument(document, result),)
        for ordinal, change_set in change_sets.items():
            growing = next(filter(_is_growing, change_set.documents), None)
            if growing is not None:
                accepted.wait(ordinal, f"{growing.request.file} is being written")
                break
            # What is in a listed file may be needed by what comes after it.
            unreadable = [
                document for document in parsed[ordinal] if document.result.unreadable is not None
            ]
            if unreadable:
                accepted.stop(ordinal, _unreadable(change_set, unreadable[0]))
                break
        return ParsedChangeSets(rows, parsed)

    def parse_earlier(self, document: Document, change_set: ChangeSet) -> tuple[Rows, FileResult]:
        """Parse a document of a change set that is ingested; its rows have no ordinal.

        Raises:
            SourceError: it cannot be read.
        """
        if document.refused is not None:
            raise _refused(change_set, document)
        task = _task(_NO_ORDINAL, self.next_document(), document, change_set.position)
        rows = self._parse([task])
        (result,) = rows.results
        if result.unreadable is not None:
            raise _unreadable(change_set, ParsedDocument(document, result))
        return rows, result

    def _parse(self, tasks: Sequence[FileTask]) -> Rows:
        """Parse on the driver as much of a batch as it may, the rest in Spark tasks.

        A file of some kilobytes can give gigabytes of rows: what comes out decides, too.
        """
        limits, placement = self.project.settings.limits, self.engine.placement
        room = self._room or placement.room_of_parsed
        size = self._parsed_bytes + sum(task.size for task in tasks)
        if placement.parses(size):
            with suppress(NoRoom):
                rows, self._room = parse_on_driver(tasks, self.project.parser, limits, room)
                self._parsed_bytes = size
                return rows
        spark = self.engine.spark
        folder = self.engine.staging(f"files-{self.next_document()}")
        return parse_by_tasks(spark, tasks, self.project.settings, folder)


def _task(ordinal: int, number: int, document: Document, position: str) -> FileTask:
    return FileTask(ordinal, number, document.name or position, document.size, document.request)


def _refused(change_set: ChangeSet, document: Document) -> SourceError:
    return refused_link(change_set.source, document.request.file, str(document.refused))


def _is_growing(document: Document) -> bool:
    """Whether a file is another one than when it was listed, before it was read."""
    return not is_unchanged(document.request.file, document.size, document.modified)


def _unreadable(change_set: ChangeSet, parsed: ParsedDocument) -> SourceError:
    return SourceError(
        f"source {change_set.source.name}: the file cannot be read: {parsed.result.unreadable}",
        parsed.document.request.file,
        "Correct it, or raise the limit that it exceeds; the source continues with it.",
    )
