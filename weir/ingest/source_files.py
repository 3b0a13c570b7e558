"""The files that were read, and those of them that were changed later: the table `source_files`.

A file counts as unchanged if its size and time are those of a row about it, or if its size and
SHA-256 are. So a change is reported once, and a file that only got another time is read once more.

A file is named by the location as the file of sources has it, so that a project that was moved or
copied finds its own files.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any, Self

import pyarrow as pa
import pyarrow.compute as pc

from weir.ingest.changesets import ChangeSet, Document
from weir.ingest.sources.source import Source
from weir.lake.delta.commit import arrow_schema, write
from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake
from weir.lake.tables import SOURCE_FILES
from weir.rdf.files import is_unchanged, local_stat, opened_raw

COMPARED_FILES = 1_000
"""So many files are compared at each ingest: those that were written last."""
_BLOCK = 1 << 20
_COLUMNS = tuple(name for name in SOURCE_FILES.column_names if name != "run_id")


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A row of `source_files` but for the run; `path`: where the file is now."""

    source: str
    position: str
    file: str
    bytes: int
    modified: datetime | None
    sha256: str | None
    changed: bool
    path: str = field(default="", compare=False)

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
            _name_of(path, change_set.source),
            document.size,
            document.modified,
            digest,
            changed=False,
            path=path,
        )

    def is_as(self, other: Self) -> bool:
        """Whether two rows are of a file with the same size and time."""
        return (self.bytes, self.modified) == (other.bytes, other.modified)

    def row(self, run_id: str) -> dict[str, Any]:
        """The row of a run."""
        return {name: getattr(self, name) for name in _COLUMNS} | {"run_id": run_id}


def read_files(change_sets: Iterable[ChangeSet], hashed_bytes: int) -> list[SourceFile]:
    """The files of change sets that were read.

    Args:
        change_sets: the accepted ones of a batch.
        hashed_bytes: hashes are computed if the files have at most so many together.
    """
    documents = [
        (change_set, document) for change_set in change_sets for document in change_set.documents
    ]
    is_hashed = sum(document.size for _, document in documents) <= hashed_bytes
    return [SourceFile.of(*pair, is_hashed=is_hashed) for pair in documents]


def record_files(lake: Lake, files: Sequence[SourceFile], metadata: Metadata) -> None:
    """Record files, except what an earlier run has recorded, which died before its epochs."""
    if not files:
        return
    known = {*_recorded(lake, {file.position for file in files})}
    rows = [file.row(metadata.run_id) for file in files if file not in known]
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
        return tuple(file for file in self.new if file.changed)


def changed_files(lake: Lake, sources: Iterable[Source]) -> ChangedFiles:
    """Compare the newest `COMPARED_FILES` local files of sources, if they are still there.

    A file with another size, or time, is looked at; only one with another time is read.
    """
    changed, new = [], []
    for rows in _newest(lake, sources):
        now = _as_it_is(rows[-1])
        if now is None:
            continue
        same = [row for row in rows if row.is_as(now)]
        if not same:
            now = _compared(now, rows)
            new.append(now)
        else:
            # A content that was read is no change, though it may have been one in between.
            now = replace(now, changed=all(row.changed for row in same))
        if now.changed:
            changed.append(now)
    return ChangedFiles(tuple(changed), tuple(new))


def read_twice(lake: Lake, source: Source, positions: Collection[str]) -> list[tuple[str, str]]:
    """Change sets whose file was read under another name before that is gone: both positions.

    Args:
        lake: with the files that were read.
        source: whose files they are.
        positions: of the change sets that may have been read before.
    """
    rows = _as_declared(_stored(lake, [("source", "=", source.name)]), source)
    new = rows.filter(pc.is_in(rows["position"], pa.array([*positions], pa.string())))
    content = new["sha256"].drop_null()
    # Without their hashes most rows never become objects.
    alike = _as_files(rows.filter(pc.is_in(rows["sha256"], content)))
    renamed = []
    for now in _as_files(new):
        for before in alike:
            if (before.sha256, before.bytes) == (now.sha256, now.bytes) and not before.changed:
                path = _renamed(before.file, source.places)
                is_gone = path is not None and local_stat(path) is None
                if is_gone and before.position not in positions:
                    renamed.append((now.position, before.position))
    return renamed


def read_otherwise(lake: Lake, again: Lake, sources: Iterable[Source]) -> list[SourceFile]:
    """The files that were read again and have another content than when they were read first.

    Args:
        lake: with the files that were read.
        again: the lake into which they were read again.
        sources: whose files they are.
    """
    key = ["position", "file"]
    different = []
    for source in sources:
        of_source = [("source", "=", source.name)]
        first = _as_declared(_stored(lake, of_source), source)
        known: dict[tuple[str, str], list[SourceFile]] = {}
        now = _as_declared(_stored(again, of_source), source)
        # The table grows with every file that is read: those that are the same are no objects.
        same = now.join(
            first.filter(pc.invert(first["changed"])).select([*key, "bytes", "sha256"]),
            [*key, "bytes", "sha256"],
            join_type="left anti",
        )
        if not same.num_rows:
            continue
        for file in _as_files(first.filter(pc.is_in(first["file"], same["file"].combine_chunks()))):
            known.setdefault((file.position, file.file), []).append(file)
        for file in _as_files(same):
            before = [
                earlier
                for earlier in known.get((file.position, file.file), [])
                if not earlier.changed
            ]
            path = _renamed(file.file, source.places) or file.file
            if before and not _is_one_of(replace(file, path=path), before):
                different.append(replace(file, path=path))
    return different


def _is_one_of(file: SourceFile, before: Sequence[SourceFile]) -> bool:
    """Whether a file has the content of one of the rows about it, as far as they know it."""
    alike = [row for row in before if row.bytes == file.bytes]
    digests = {row.sha256 for row in alike}
    return bool(alike) and (None in digests or (file.sha256 or _sha256(file.path)) in digests)


def record_changes(lake: Lake, changes: ChangedFiles, metadata: Metadata) -> None:
    """Record what no run has recorded of files that were read, so that it is reported once."""
    if changes.new:
        rows = [file.row(metadata.run_id) for file in changes.new]
        write(lake, SOURCE_FILES, rows, metadata)


def _newest(lake: Lake, sources: Iterable[Source]) -> list[list[SourceFile]]:
    """The rows of each file that is compared."""
    stored = _stored(lake)
    stored = stored.filter(pc.is_valid(stored["modified"]))
    by_name = {source.name: source for source in sources}
    rows = pa.concat_tables(
        [stored.slice(0, 0), *(_as_declared(stored, source) for source in by_name.values())]
    )
    written = rows.group_by(["source", "file"]).aggregate([("modified", "max")])
    newest = written.sort_by([("modified_max", "descending")]).slice(0, COMPARED_FILES)
    chosen = newest.select(["source", "file"]).to_pylist()
    of_file: dict[tuple[str, str], list[SourceFile]] = {
        (row["source"], row["file"]): [] for row in chosen
    }
    # The table grows with every file that is read: few of its rows become objects.
    for file in _as_files(rows.filter(pc.is_in(rows["file"], newest["file"]))):
        if (file.source, file.file) in of_file:
            path = _renamed(file.file, by_name[file.source].places)
            # A path that is not known to be the source's may be another project's.
            if path is not None:
                of_file[file.source, file.file].append(replace(file, path=path))
    return [files for files in of_file.values() if files]


def _as_declared(stored: pa.Table, source: Source) -> pa.Table:
    """The rows of a source, with the names that its files have by its declaration of now.

    Earlier versions wrote paths, those of before if the project was moved since.
    """
    rows = stored.filter(pc.field("source") == source.name)
    locations = "|".join(re.escape(declared) for declared, _ in source.places)
    is_named = pc.match_substring_regex(rows["file"], f"^(?:{locations})(?:/|$)")
    if pc.all(is_named).as_py() is not False:
        return rows
    names = [
        name if known else _present_name(name, position, source)
        for name, position, known in zip(
            *(rows[column].to_pylist() for column in ("file", "position")),
            is_named.to_pylist(),
            strict=True,
        )
    ]
    column = pa.chunked_array([names], rows["file"].type)
    return rows.set_column(rows.column_names.index("file"), "file", column)


def _present_name(path: Any, position: Any, source: Source) -> str:
    """The name of a file by a path of it; the path, if it is not known.

    If it is below no location of now, the position helps: it is the file's name below the
    location, or the folder there that the file is in.
    """
    name = _name_of(path, source)
    if name != path:
        return name
    for declared, now in source.places:
        if PurePosixPath(path).name == PurePosixPath(now).name:
            return declared
    _, separator, below = f"{path}/".rpartition(f"/{position}/")
    return f"{source.places[0][0]}/{position}/{below}".rstrip("/") if separator else str(path)


def _name_of(path: str, source: Source) -> str:
    """A file by the location that it is at or below, as it is declared; else its path."""
    return _renamed(path, [(now, declared) for declared, now in source.places]) or path


def _renamed(name: str, places: Iterable[tuple[str, str]]) -> str | None:
    """The name with the first place that it is at or below replaced by its other; None if none."""
    for before, after in places:
        if name == before or name.startswith(f"{before}/"):
            return after + name[len(before) :]
    return None


def _compared(now: SourceFile, rows: Sequence[SourceFile]) -> SourceFile:
    """A file with another size or time than its rows: changed unless a row has its content."""
    alike = [row for row in rows if row.bytes == now.bytes and row.sha256 is not None]
    if not alike:
        return replace(now, changed=True)
    digest = _sha256(now.path)
    same = [row for row in alike if row.sha256 == digest]
    return replace(now, sha256=digest, changed=all(row.changed for row in same))


def _as_it_is(recorded: SourceFile) -> SourceFile | None:
    """A file that was recorded with its size and time, None if it is gone or cannot be read."""
    stat = local_stat(recorded.path)
    if stat is None:
        return None
    size, modified = stat
    return replace(recorded, bytes=size, modified=modified, sha256=None, changed=False)


def _recorded(lake: Lake, positions: Collection[str]) -> list[SourceFile]:
    """The rows of some change sets."""
    return _as_files(_stored(lake, [("position", "in", [*positions])]))


def _stored(lake: Lake, some: Sequence[tuple[str, str, Any]] | None = None) -> pa.Table:
    """The rows of the table that meet all conditions."""
    if not lake.exists(SOURCE_FILES.name):
        return arrow_schema(SOURCE_FILES).empty_table().select([*_COLUMNS])
    return lake.rows(SOURCE_FILES.name, _COLUMNS, some)


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
