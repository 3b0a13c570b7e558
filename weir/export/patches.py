"""The published changes of a CONSTRUCT query as a folder of RDF Patch, a file for each epoch.

https://jena.apache.org/documentation/rdf-patch/

The names of the files sort as the epochs do, each names the one before it (`H prev`), and none is
written again: what an edit of the query changes at an epoch that has its file is a further part of
that epoch. A folder depends on nothing but the log, and on what it has already. So a run that is
killed is continued by the next, and two at once write the same.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Self
from uuid import NAMESPACE_URL, uuid5

from weir.errors import ConfigurationError
from weir.export.triples import Change, Triples, published_triples
from weir.lake.instants import time_text
from weir.lake.interrupts import heed
from weir.lake.whole_files import remove_drafts, whole_file
from weir.project import Project

_NAME = re.compile(r"([0-9]{12})(?:_([0-9]{3}))?\.rdfp")
_ID = "H id <{}> .\n"
_DATE_TIME = "http://www.w3.org/2001/XMLSchema#dateTime"
_CODES = {"A ": True, "D ": False}


@dataclass(frozen=True, slots=True)
class WrittenPatch:
    """A file that was written: its epoch, and how many triples appear and vanish."""

    file: Path
    epoch: int
    added: int
    deleted: int


@dataclass(frozen=True, slots=True, order=True)
class _Part:
    """A file of a folder: the first of an epoch is part 1."""

    epoch: int
    part: int = 1

    @property
    def name(self) -> str:
        """Its name, which sorts by epoch and part."""
        further = f"_{self.part:03}" if self.part > 1 else ""
        return f"{self.epoch:012}{further}.rdfp"

    @classmethod
    def all_in(cls, folder: Path) -> list[Self]:
        """The files of a folder that have such a name, in order; none if there is no folder."""
        if not folder.is_dir():
            return []
        names = (_NAME.fullmatch(file.name) for file in folder.iterdir())
        return sorted(cls(int(name[1]), int(name[2] or 1)) for name in names if name is not None)

    def id_in(self, log_id: str) -> str:
        """The IRI of the patch of a log."""
        return uuid5(NAMESPACE_URL, f"weir:{log_id}/{self.name}").urn


def write_patches(
    project: Project,
    query: str,
    folder: Path,
    first: int | None = None,
    last: int | None = None,
) -> Iterator[WrittenPatch]:
    """Write the patches that a folder does not have yet; epochs without a change have none.

    Args:
        project: has the answer.
        query: the name of a CONSTRUCT query.
        folder: of its patches; it is made if it is missing.
        first: the epoch at which an empty folder begins; readers need the state before it.
        last: the last epoch; by default the newest at which the answer is published.

    Yields:
        Each file, once it is complete.

    Raises:
        QualityError: the answer is held back, and none was published before.
        ConfigurationError: there is no such query or no such epoch, it is no CONSTRUCT, or the
            folder has the patches of another log, or would lack some.
    """
    with published_triples(project, query) as triples:
        until = triples.known_epoch(last, "--until")
        parts, own = _Part.all_in(folder), list[_Part]()
        begin = first or 0
        if parts:
            newest = parts[-1]
            _require_continued(triples, folder, newest)
            _refuse_gap(folder, newest, first)
            begin = newest.epoch + 1
            if triples.was_edited_at(newest.epoch):
                begin, own = newest.epoch, [part for part in parts if part.epoch == newest.epoch]
        if until < begin:
            return
        folder.mkdir(parents=True, exist_ok=True)
        remove_drafts(folder, _NAME)
        changes = triples.changes(begin, until, _changes_in(folder, own) if own else None)
        times = triples.times(begin, until)
        before = parts[-1].id_in(triples.log_id) if parts else None
        for epoch, of_epoch in groupby(changes, key=lambda change: change[0]):
            heed()
            part, time = _Part(epoch), times.get(epoch)
            if own and epoch == begin:
                # An edit of the query changed what the folder has; it has no time.
                part, time = _Part(epoch, own[-1].part + 1), None
            head = _head(part.id_in(triples.log_id), before, time)
            yield _written(folder / part.name, epoch, head, of_epoch)
            before = part.id_in(triples.log_id)


def _require_continued(triples: Triples, folder: Path, newest: _Part) -> None:
    """Refuse a folder whose newest file is not of the log."""
    file = folder / newest.name
    with file.open(encoding="utf-8", newline="\n") as lines:
        if lines.readline() == _ID.format(newest.id_in(triples.log_id)):
            return
    raise ConfigurationError(
        f"it is no patch of the answer that {triples.query} has now: it is of another query, or the"
        " query was dropped and computed again",
        str(file),
        "Name another folder, which then begins with the whole answer.",
    )


def _refuse_gap(folder: Path, newest: _Part, first: int | None) -> None:
    if first is not None and first > newest.epoch + 1:
        raise ConfigurationError(
            f"the folder ends at epoch {newest.epoch}, so --from {first} would leave epochs out",
            str(folder),
            "Leave --from out, or name another folder.",
        )


def _changes_in(folder: Path, parts: Sequence[_Part]) -> Iterator[tuple[bool, str]]:
    """The changes of some files: whether a triple appears, and the triple."""
    for part in parts:
        with (folder / part.name).open(encoding="utf-8", newline="\n") as lines:
            for line in lines:
                appears = _CODES.get(line[:2])
                if appears is not None:
                    yield appears, line[2:].removesuffix("\n")


def _head(own: str, before: str | None, time: datetime | None) -> str:
    head = _ID.format(own)
    if before is not None:
        head += f"H prev <{before}> .\n"
    if time is not None:
        head += f'H time "{time_text(time)}"^^<{_DATE_TIME}> .\n'
    return f"{head}TX .\n"


def _written(file: Path, epoch: int, head: str, changes: Iterator[Change]) -> WrittenPatch:
    numbers = {True: 0, False: 0}
    with whole_file(file) as output:
        output.write(head.encode())
        for _, appears, triple in changes:
            numbers[appears] += 1
            output.write(f"{'A' if appears else 'D'} {triple}\n".encode())
        output.write(b"TC .\n")
        # A file is never looked at again: a power failure must not leave half of it.
        output.flush()
        os.fsync(output.fileno())
    return WrittenPatch(file, epoch, numbers[True], numbers[False])
