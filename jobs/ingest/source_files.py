"""The files that were read, and those of them that were changed later: the table `source_files`.

A file counts as unchanged if its size and time are those of a row about it, or if its size and
SHA-256 are. So a change is reported once, and a file that only got another time is read once more.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, Self

import pyarrow as pa
import pyarrow.compute as pc

from jobs.ingest.changesets import ChangeSet, Document
from jobs.rdf.files import is_unchanged, local_stat, opened_raw
from lake.commit import arrow_schema, write
from lake.lake import Lake
from lake.metadata import Metadata
from lake.tables import SOURCE_FILES

COMPARED_FILES = 1_000
"""So many files are compared at each ingest: those that were written last."""
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A row of `source_files` but for the run."""

    source: str
    position: str
    file: str
    bytes: int
    modified: datetime | None
    sha256: str | None
    changed: bool

    @classmethod
    def of(cls, change_set: ChangeSet, document: Document, *, is_hashed: bool) -> Self:
        """A document that was read as it was listed."""
        path = document.request.file
        digest = _sha256(path) if is_hashed and local_stat(path) is not None else None
        if not is_unchanged(path, document.size, document.modified):
            # The hash may be that of another content.
            digest = None
        return cls(
            change_set.source.name,
            change_set.position,
            path,
            document.size,
            document.modified,
            digest,
            changed=False,
        )

    def is_as(self, other: Self) -> bool:
        """Whether two rows are of a file with the same size and time."""
        return (self.bytes, self.modified) == (other.bytes, other.modified)


def read_files(change_sets: Iterable[ChangeSet], hashed_bytes: int) -> list[SourceFile]:
    """The files of change sets that were read.

    Args:
        change_sets: the accepted ones of a batch.
        hashed_bytes: hashes are computed if the files have at most so many together.
    """
    found = [(each, document) for each in change_sets for document in each.documents]
    is_hashed = sum(document.size for _, document in found) <= hashed_bytes
    return [SourceFile.of(*each, is_hashed=is_hashed) for each in found]


def record_files(lake: Lake, files: Sequence[SourceFile], metadata: Metadata) -> None:
    """Record files, except what an earlier run has recorded, which died before its epochs."""
    if not files:
        return
    known = {*_recorded(lake, {each.position for each in files})}
    rows = [asdict(each) | {"run_id": metadata.run_id} for each in files if each not in known]
    if rows:
        write(lake, SOURCE_FILES, rows, metadata)


def copy_files(lake: Lake, old: str, new: str, metadata: Metadata) -> None:
    """Record the files of a source under its new name, too, unless they are."""
    if not lake.exists(SOURCE_FILES.name) or _stored(lake, [("source", "=", new)]).num_rows:
        return
    rows = _stored(lake, [("source", "=", old)]).to_pylist()
    if rows:
        renamed = [row | {"source": new, "run_id": metadata.run_id} for row in rows]
        write(lake, SOURCE_FILES, renamed, metadata)


@dataclass(frozen=True, slots=True)
class ChangedFiles:
    """What the comparison of files with their rows finds.

    Attributes:
        changed: files whose content is not what was read, each as it is.
        new: rows that no run has recorded: files that were changed, or got another time only.
    """

    changed: tuple[SourceFile, ...]
    new: tuple[SourceFile, ...]

    @property
    def reported(self) -> tuple[SourceFile, ...]:
        """The changes that no run has reported."""
        return tuple(each for each in self.new if each.changed)


def changed_files(lake: Lake, sources: Collection[str]) -> ChangedFiles:
    """Compare the newest `COMPARED_FILES` local files of sources, if they are still there.

    A file with another size, or time, is looked at; only one with another time is read.
    """
    changed, new = [], []
    for rows in _newest(lake, sources):
        now = _as_it_is(rows[-1])
        if now is None:
            continue
        same = [each for each in rows if each.is_as(now)]
        if not same:
            now = _compared(now, rows)
            new.append(now)
        else:
            # A content that was read is no change, though it may have been one in between.
            now = replace(now, changed=all(each.changed for each in same))
        if now.changed:
            changed.append(now)
    return ChangedFiles(tuple(changed), tuple(new))


def record_changes(lake: Lake, found: ChangedFiles, metadata: Metadata) -> None:
    """Record what no run has recorded of files that were read, so that it is reported once."""
    if found.new:
        rows = [asdict(each) | {"run_id": metadata.run_id} for each in found.new]
        write(lake, SOURCE_FILES, rows, metadata)


def _newest(lake: Lake, sources: Collection[str]) -> list[list[SourceFile]]:
    """The rows of each file that is compared."""
    rows = _stored(lake)
    is_of_source = pc.is_in(rows["source"], pa.array([*sources], pa.string()))
    rows = rows.filter(pc.and_(is_of_source, pc.is_valid(rows["modified"])))
    written = rows.group_by(["source", "file"]).aggregate([("modified", "max")])
    newest = written.sort_by([("modified_max", "descending")]).slice(0, COMPARED_FILES)
    chosen = newest.select(["source", "file"]).to_pylist()
    of_file: dict[tuple[str, str], list[SourceFile]] = {
        (each["source"], each["file"]): [] for each in chosen
    }
    # The table grows with every file that is read: few of its rows become objects.
    for each in _as_files(rows.filter(pc.is_in(rows["file"], newest["file"]))):
        if (each.source, each.file) in of_file:
            of_file[each.source, each.file].append(each)
    return [*of_file.values()]


def _compared(now: SourceFile, rows: Sequence[SourceFile]) -> SourceFile:
    """A file with another size or time than its rows: changed unless a row has its content."""
    alike = [each for each in rows if each.bytes == now.bytes and each.sha256 is not None]
    if not alike:
        return replace(now, changed=True)
    digest = _sha256(now.file)
    same = [each for each in alike if each.sha256 == digest]
    return replace(now, sha256=digest, changed=all(each.changed for each in same))


def _as_it_is(recorded: SourceFile) -> SourceFile | None:
    """A file that was recorded with its size and time, None if it is gone or cannot be read."""
    found = local_stat(recorded.file)
    if found is None:
        return None
    size, modified = found
    return replace(recorded, bytes=size, modified=modified, sha256=None, changed=False)


def _recorded(lake: Lake, positions: Collection[str]) -> list[SourceFile]:
    """The rows of some change sets."""
    return _as_files(_stored(lake, [("position", "in", [*positions])]))


def _stored(lake: Lake, some: Sequence[tuple[str, str, Any]] | None = None) -> pa.Table:
    """The rows of the table that meet all conditions."""
    names = [name for name in SOURCE_FILES.column_names if name != "run_id"]
    if not lake.exists(SOURCE_FILES.name):
        return arrow_schema(SOURCE_FILES).empty_table().select(names)
    return lake.rows(SOURCE_FILES.name, names, some)


def _as_files(rows: pa.Table) -> list[SourceFile]:
    return [SourceFile(**row) for row in rows.to_pylist()]


def _sha256(path: str) -> str | None:
    """The hash of a file's bytes; None if it cannot be read."""
    digest = hashlib.sha256()
    try:
        with opened_raw(path) as file:
            while block := file.read(_BLOCK):
                digest.update(block)
    except OSError:
        return None
    return digest.hexdigest()
