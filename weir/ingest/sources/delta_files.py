"""The rows of a Delta table as its files have them, where they are few: no Spark.

What is few are the limits of the driver: bytes of the files that hold the changes, bytes of the
table, and rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable as ForeignTable
from pyarrow import fs

from weir.compute.engine import Engine
from weir.compute.placement import Extent, Placement
from weir.ingest.netting import QUAD
from weir.lake.delta.change_feed import CHANGE_TYPE, COMMIT_VERSION, ChangeFeedGap
from weir.lake.delta.data_files import are_the_rows
from weir.lake.delta.datasets import columns_of, dataset_of
from weir.lake.delta.feed_files import FeedFiles, NotByFiles, feed_files, file_path

if TYPE_CHECKING:
    from weir.ingest.sources.delta import DeltaTable


class NotFew(Exception):  # noqa: N818  (named after what is wrong)
    """What is to be read is more than the driver takes."""


@dataclass(frozen=True, slots=True)
class FileRows:
    """Reads a table by its files, as long as it gives few rows.

    Every method raises NotFew where the rows are more than the driver takes, and NotByFiles where
    the files are not the rows.

    Attributes:
        placement: decides what the driver reads.
        source: the table.
        files: below its folder.
        opened: the table at a version.
    """

    placement: Placement
    source: DeltaTable
    files: fs.FileSystem
    opened: Callable[[int], ForeignTable]

    def content(self, version: int) -> pa.Table:
        """The rows of a version."""
        table = self._at(version)
        if not self.placement.parses(Extent.of(table).bytes):
            raise NotFew
        return self._rows(table, _files_of(table))

    def changes(self, first: int, last: int) -> pa.Table:
        """The rows that commits changed."""
        newest = self._at(last)
        commits = {version: self._commit(version) for version in range(first, last + 1)}
        for version, commit in commits.items():
            if commit.changes_table:
                # Between two such commits the table has one schema.
                for state in (version - 1, version):
                    self._refuse_another_schema(state, newest)
        if not self.placement.parses(sum(commit.bytes for commit in commits.values())):
            raise NotFew
        parts = [self._changed(newest, (), first)]
        for version, commit in commits.items():
            parts += [
                self._changed(newest, commit.inserted, version, "insert"),
                self._changed(newest, commit.deleted, version, "delete"),
                self._changed(newest, commit.of_feed, version),
            ]
        rows = pa.concat_tables(parts)
        self._refuse_many(rows.num_rows)
        return rows

    def near(self, engine: Engine, version: int, changes: str) -> pa.Table:
        """The rows about the subjects and predicates of `changes`, and those with an escape."""
        table = self._at(version)
        if not self.placement.reads(Extent.of(table), is_slice=False):
            raise NotFew
        changed = engine.fetch_few(changes)
        assert changed is not None, "they are few, too"
        subject, predicate = pc.field("subject"), pc.field("predicate")
        about = subject.isin(pc.unique(changed["subject"])) & predicate.isin(
            pc.unique(changed["predicate"])
        )
        escaped = pc.match_substring(subject, "\\") | pc.match_substring(predicate, "\\")
        return self._rows(table, _files_of(table), about | escaped)

    def many(self, engine: Engine, relation: str) -> NoReturn:
        """Nothing that the driver cannot look at row by row."""
        del engine, relation
        raise NotFew

    def _at(self, version: int) -> ForeignTable:
        table = self.opened(version)
        if not are_the_rows(table):
            raise NotByFiles("the table needs a newer reader, or is partitioned")
        return table

    def _commit(self, version: int) -> FeedFiles:
        try:
            return feed_files(self.files, version)
        except FileNotFoundError as error:
            raise ChangeFeedGap(
                f"{self.source.location}: the log no longer holds version {version}, or a file"
                " that it names"
            ) from error

    def _changed(
        self, table: ForeignTable, names: Iterable[str], version: int, kind: str | None = None
    ) -> pa.Table:
        """The rows of files of a commit; what happened to them is in the files if not `kind`."""
        rows = self._rows(table, names)
        if kind is not None:
            kinds = pa.repeat(pa.scalar(kind, pa.string()), rows.num_rows)
            rows = rows.set_column(rows.column_names.index(CHANGE_TYPE), CHANGE_TYPE, kinds)
        versions = pa.repeat(pa.scalar(version, pa.int64()), rows.num_rows)
        return rows.append_column(COMMIT_VERSION, versions)

    def _rows(
        self, table: ForeignTable, names: Iterable[str], where: pc.Expression | None = None
    ) -> pa.Table:
        """The rows of files that meet `where`: QUAD, time and CHANGE_TYPE, in files of a feed.

        Writers store text in several of Arrow's types, not all of which Arrow can compare: `where`
        is about the rows as they are returned. A filter of the scanner would be compared with the
        statistics of the files, in the types of their writers.
        """
        schema = columns_of(table)
        fields = {name: schema.field(name) for name in self._names(table)}
        # Files of a change feed have it beside the columns of the table.
        fields[CHANGE_TYPE] = pa.field(CHANGE_TYPE, pa.string())
        dataset = dataset_of(self.files, names, pa.schema([*fields.values()]))
        scanner = dataset.scanner(self._columns(table))
        parts, count = [_as_text(scanner.projected_schema.empty_table())], 0
        self._refuse_many(count)
        for batch in scanner.to_batches():
            rows = _as_text(pa.Table.from_batches([batch]))
            parts.append(rows if where is None else rows.filter(where))
            count += parts[-1].num_rows
            self._refuse_many(count)
        return pa.concat_tables(parts)

    def _refuse_many(self, rows: int) -> None:
        if not self.placement.holds(rows):
            raise NotFew

    def _columns(self, table: ForeignTable) -> Any:
        # The stubs of pyarrow do not know expressions as arguments of functions.
        scalar: Any = pc.scalar
        coalesce: Any = pc.coalesce
        declared = self.source.columns
        terms = {
            term: scalar("") if name is None else coalesce(pc.field(_name(table, name)), scalar(""))
            for term, name in zip(QUAD, declared.of_quad, strict=True)
        }
        time = scalar(None) if declared.time is None else pc.field(_name(table, declared.time))
        return {**terms, "time": time, CHANGE_TYPE: pc.field(CHANGE_TYPE)}

    def _names(self, table: ForeignTable) -> list[str]:
        """The columns that are read, once each."""
        return [*dict.fromkeys(_name(table, name) for name in self.source.columns.read)]

    def _refuse_another_schema(self, version: int, newest: ForeignTable) -> None:
        """Refuse a version whose files cannot be read as those of the newest one."""
        then, now = columns_of(self._at(version)), columns_of(newest)
        for name in self._names(newest):
            if name not in then.names or then.field(name).type != now.field(name).type:
                raise NotByFiles(f"version {version} has another column {name}")


def _name(table: ForeignTable, declared: str) -> str:
    """The name of a column as the table writes it."""
    for name in columns_of(table).names:
        if name.lower() == declared.lower():
            return str(name)
    raise NotByFiles(f"this version has no column {declared}")


def _files_of(table: ForeignTable) -> list[str]:
    paths = pa.table(table.get_add_actions())["path"].to_pylist()
    return [file_path(str(path)) for path in paths]


def _as_text(rows: pa.Table) -> pa.Table:
    """The rows with text of one type, and times as `weir.ingest.instants` reads them."""
    time = rows["time"]
    if pa.types.is_timestamp(time.type):
        time = time.cast(pa.timestamp("us", time.type.tz)).cast(pa.int64())
    rows = rows.set_column(rows.column_names.index("time"), "time", time)
    return rows.cast(pa.schema([(name, pa.string()) for name in rows.column_names]))
