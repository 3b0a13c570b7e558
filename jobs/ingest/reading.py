"""The change sets of a batch to rows, source by source, each by its kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import count
from operator import add

from jobs.errors import WeirError
from jobs.ingest.changesets import (
    BASE,
    ChangeSet,
    Consumed,
    Document,
    SourceError,
    errors_of,
    newest_content,
    versions_before,
)
from jobs.ingest.parsing import FileTask, parse_by_tasks, parse_on_driver
from jobs.ingest.rows import FileResult, Rows
from jobs.ingest.sources.declared import DeltaTable, Patches, Snapshots, Source
from jobs.ingest.versions import Carried, Version, carried
from jobs.ingest.workplace import Taken, Workplace
from jobs.rdf.records import ParseRequest
from lake.change_feed import ChangeFeedGap, lost_files_are_a_gap

_NO_ORDINAL = -1
"""Ordinal of documents of versions that are already in."""


@dataclass(frozen=True, slots=True)
class ReadBatch:
    """The rows of a batch.

    results: by ordinal, those of its documents. carried: by source, earlier documents that count
    for its versions. versions: by source, the ordinals of the versions that can be used.
    """

    rows: Rows
    results: Mapping[int, tuple[FileResult, ...]]
    carried: Mapping[str, tuple[Carried, ...]]
    versions: Mapping[str, tuple[int, ...]]


def read_batch(workplace: Workplace, taken: Taken, consumed: Mapping[str, Consumed]) -> ReadBatch:
    """Read all change sets; a source that cannot go on is stopped where it cannot.

    Args:
        workplace: what to work with.
        taken: the change sets; changed where a source stops.
        consumed: what of each source is already in.
    """
    numbers = count()
    names: dict[int, str] = {}
    tasks = []
    for ordinal, change_set in taken.change_sets.items():
        for document in change_set.documents:
            number = next(numbers)
            names[number] = document.name
            tasks.append(_task(ordinal, number, change_set.source, change_set.position, document))
    parts: list[Rows] = []
    limits = workplace.settings.limits
    if sum(task.size for task in tasks) > limits.driver_parse_bytes:
        parts.append(
            parse_by_tasks(
                workplace.distributed().spark, tasks, limits, f"{workplace.staging}/files"
            )
        )
    elif tasks:
        parts.append(parse_on_driver(tasks, limits))
    _stop_at_unreadable(taken, tasks, [each for part in parts for each in part.results])
    for name, of_source in taken.by_source().items():
        if any(isinstance(each.source, DeltaTable) for each in of_source.values()):
            try:
                parts.append(_read_table(workplace, taken, name, next(numbers)))
            except WeirError as error:
                stopped = SourceError(error.what, error.where, error.instead)
                taken.stop(min(of_source), stopped)
    carry: dict[str, tuple[Carried, ...]] = {}
    usable: dict[str, tuple[int, ...]] = {}
    for name, of_source in taken.by_source().items():
        first, *_ = of_source.values()
        if isinstance(first.source, Snapshots):
            results = [each for part in parts for each in part.results]
            versions = list(_versions(of_source, results, names))
            earlier = _Earlier(workplace, first.source, consumed[name].last, numbers)
            try:
                carry[name] = carried(versions, earlier.last_good)
            except SourceError as error:
                taken.stop(min(of_source), error)
                continue
            usable[name] = tuple(each.ordinal for each in versions if each.is_usable)
            parts += earlier.rows
        elif isinstance(first.source, DeltaTable):
            usable[name] = tuple(
                ordinal for ordinal, each in of_source.items() if each.kind == "content"
            )
    rows = reduce(add, parts, Rows())
    by_ordinal: dict[int, tuple[FileResult, ...]] = {}
    for result in rows.results:
        by_ordinal[result.ordinal] = (*by_ordinal.get(result.ordinal, ()), result)
    return ReadBatch(rows, by_ordinal, carry, usable)


def _stop_at_unreadable(
    taken: Taken, tasks: Sequence[FileTask], results: Sequence[FileResult]
) -> None:
    """Stop each source at a file that is listed and cannot be read: what is in it may be needed."""
    paths = {task.document: task.request.file for task in tasks}
    # Of several change sets of a source the last one told is the earliest.
    for result in sorted(results, key=lambda each: -each.ordinal):
        if result.unreadable is not None and result.ordinal in taken.change_sets:
            source = taken.change_sets[result.ordinal].source
            taken.stop(result.ordinal, _unreadable(source, paths[result.document], result))


def _unreadable(source: Source, path: str, result: FileResult) -> SourceError:
    return SourceError(
        f"source {source.name}: the file cannot be read: {result.unreadable}",
        path,
        "Make it readable; the source goes on with it.",
    )


def refuse_broken_patches(taken: Taken, results: Mapping[int, Sequence[FileResult]]) -> None:
    """Stop each source of patches at a patch, or a base, that is rejected as a whole.

    It may still be on its way into the folder. What comes after it builds on it; of a snapshot
    only, the next version says all there is to say.
    """
    for of_source in taken.by_source().values():
        for ordinal, change_set in of_source.items():
            refusal = results[ordinal][0].refusal if change_set.kind == "patch" else None
            if refusal is not None:
                error = SourceError(
                    f"source {change_set.source.name}: the file cannot be used: {refusal}",
                    change_set.documents[0].path,
                    "Complete or correct the file (or raise the limit that it exceeds); the"
                    " source goes on with it.",
                )
                taken.refuse(ordinal, error)
                break


def refuse_broken_chains(
    taken: Taken, results: Mapping[int, Sequence[FileResult]], consumed: Mapping[str, Consumed]
) -> None:
    """Stop each source of patches at a patch whose `H prev` is not the id before it."""
    for name, of_source in taken.by_source().items():
        before = consumed[name].last_id
        for ordinal, change_set in of_source.items():
            header = results[ordinal][0].header if change_set.kind == "patch" else None
            if header is None:
                continue
            previous = header.previous_id
            if previous is not None and before is not None and previous != before:
                error = SourceError(
                    f"source {name}: its `H prev` is {previous}, but the change set before it is"
                    f" {before}",
                    change_set.documents[0].path,
                    "Put the missing patches into the folder, or correct the header.",
                )
                taken.stop(ordinal, error)
                break
            before = change_id(change_set, results[ordinal])


def change_id(change_set: ChangeSet, results: Sequence[FileResult]) -> str | None:
    """The id of the patch, or of the table that the change set is from."""
    if change_set.position == BASE and isinstance(change_set.source, Patches):
        return change_set.source.base_id
    if change_set.kind == "patch":
        return results[0].header.change_id
    return change_set.table_id


def _task(ordinal: int, number: int, source: Source, position: str, document: Document) -> FileTask:
    is_snapshot = isinstance(source, Snapshots)
    request = ParseRequest(
        document.path,
        document.format,
        "snapshot" if is_snapshot else "patch",
        scope=f"{source.name}/{document.name}" if is_snapshot else source.name,
        graph=source.graph_term,
        base=source.base_iri if isinstance(source, Snapshots) else None,
    )
    return FileTask(ordinal, number, document.name or position, document.size, request)


def _read_table(workplace: Workplace, taken: Taken, name: str, document: int) -> Rows:
    """The rows of a foreign table; where its feed has a gap, its newest content instead."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    from jobs.ingest.foreign import foreign_rows

    limits = workplace.settings.limits
    of_source = taken.of(name)
    staging = f"{workplace.staging}/{name}"
    source = of_source[max(of_source)].source
    assert isinstance(source, DeltaTable)
    # A session that does not start is no error of the source.
    engine = workplace.distributed()

    def rows(change_sets: Mapping[int, ChangeSet], folder: str) -> Rows:
        with lost_files_are_a_gap(source.location):
            return foreign_rows(
                engine,
                workplace.name(name),
                source,
                [*change_sets.items()],
                document,
                limits,
                folder,
            )

    with errors_of(source, PySparkException, Py4JError, ChangeFeedGap):
        try:
            return rows(of_source, staging)
        except ChangeFeedGap:
            # Of the batch's last version files may be gone too; the newest has all of its own.
            content = newest_content(source, workplace.settings.storage_options)
            taken.replace([*of_source], content)
            return rows(taken.of(name), f"{staging}-content")


def _versions(
    of_source: Mapping[int, ChangeSet], results: Sequence[FileResult], names: Mapping[int, str]
) -> Iterator[Version]:
    for ordinal in of_source:
        yield Version(
            ordinal,
            {
                names[each.document]: each.document if each.usable else None
                for each in results
                if each.ordinal == ordinal
            },
        )


class _Earlier:
    """Documents of versions that are already in, parsed again where a later one is broken."""

    def __init__(
        self, workplace: Workplace, source: Snapshots, last: str | None, numbers: Iterator[int]
    ) -> None:
        self.workplace, self.source, self.last, self.numbers = workplace, source, last, numbers
        self.rows: list[Rows] = []

    def last_good(self, name: str) -> int | None:
        """The number of the newest usable content of the document, or None if it had none."""
        if self.last is None:
            return None
        versions = versions_before(self.source, self.last)
        if not versions:
            raise SourceError(
                f"source {self.source.name}: {name or 'a document'} is broken, and the versions"
                " before, which hold its last good content, are gone",
                self.source.location,
                f"Bring {self.last} back, or mend the document.",
            )
        for documents in versions:
            found = [document for document in documents if document.name == name]
            if not found:
                # A version that has nothing usable is no version.
                if any(self._parsed(document) for document in documents):
                    return None
                continue
            rows = self._parsed(found[0])
            if rows is not None:
                self.rows.append(rows)
                return rows.results[0].document
        return None

    def _parsed(self, document: Document) -> Rows | None:
        """The rows of a document under a number of its own, None if it is not usable."""
        assert self.last is not None, "asked for an earlier version"
        task = _task(_NO_ORDINAL, next(self.numbers), self.source, self.last, document)
        rows = parse_on_driver([task], self.workplace.settings.limits)
        (result,) = rows.results
        if result.unreadable is not None:
            raise _unreadable(self.source, document.path, result)
        return rows if result.usable else None
