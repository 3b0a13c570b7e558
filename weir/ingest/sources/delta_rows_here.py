"""The rows of versions of a Delta table, contents and commits, where they are few: no Spark.

`delta_rows` gives the same of any number of rows. What decides are the limits of the driver: bytes
of the files that hold the changes, bytes of the table, and rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable as ForeignTable
from deltalake.exceptions import DeltaError
from pyarrow import fs

from weir.compute.engine import Engine
from weir.compute.placement import Extent
from weir.compute.relations import Statement
from weir.ingest import netting
from weir.ingest.changesets import ChangeSet
from weir.ingest.netting import QUAD
from weir.ingest.reading import SourceReading
from weir.ingest.rows import SCHEMA, rows_on_driver
from weir.ingest.sources.bags import bag_assertions
from weir.ingest.sources.delta_reading import reading_of
from weir.ingest.sources.delta_terms import UNCHECKED, checking, respelling
from weir.lake.delta.change_feed import CHANGE_TYPE, ChangeFeedGap
from weir.lake.delta.data_files import are_the_rows
from weir.lake.delta.feed_files import FeedFiles, NotByFiles, feed_files, file_path
from weir.lake.delta.file_rows import columns_of, dataset_of
from weir.lake.lake import files_below
from weir.settings import Limits

if TYPE_CHECKING:
    from weir.ingest.sources.delta import DeltaTable

_APPEARED = ("insert", "update_postimage")
_FEW: dict[str, pa.DataType] = {
    "ordinal": pa.int64(),
    "line": pa.int64(),
    "insert": pa.bool_(),
    **dict.fromkeys(QUAD, pa.string()),
    "time": pa.string(),
}


class _NotFew(Exception):  # noqa: N818  (named after what is wrong)
    """What is to be read is more than the driver takes."""


def read_versions_here(
    engine: Engine,
    prefix: str,
    source: DeltaTable,
    opened: Callable[[int], ForeignTable],
    change_sets: Mapping[int, ChangeSet],
    document: int,
    limits: Limits,
    storage_options: Mapping[str, str],
) -> SourceReading | None:
    """`delta_rows.read_versions` on the driver; None if that is Spark's.

    Args:
        engine: decides what the driver reads; has no relation on Spark afterwards.
        prefix: ends the names of the relations that are made.
        source: the table.
        opened: the table at a version.
        change_sets: by ordinal; contents and commits.
        document: the number of the table's content.
        limits: how much of a rejected row is recorded.
        storage_options: of the table's files.

    Raises:
        ChangeFeedGap: commits of the range, or files of theirs, are gone.
    """
    contents = {n: int(each.position) for n, each in change_sets.items() if each.state is not None}
    commits = {int(each.position): n for n, each in change_sets.items() if each.state is None}
    try:
        # The tables are looked at before anything is read.
        tables = {ordinal: opened(version) for ordinal, version in contents.items()}
        newest = opened(max(commits)) if commits else None
        files = files_below(source.location, storage_options)
        few = _Few(engine, source, files, opened)
        parts = [few.content(table, ordinal) for ordinal, table in tables.items()]
        if newest is not None and source.stream is None:
            parts.append(few.commits(prefix, newest, commits))
        elif newest is not None:
            parts.append(few.events(newest, commits))
        unchecked = pa.concat_tables(parts)
        few.refuse_many(unchecked)
    except (_NotFew, NotByFiles, DeltaError):
        # Versions that delta-rs does not open: Spark reads them, or says why not.
        return None
    except FileNotFoundError as error:
        raise ChangeFeedGap(
            f"{source.location}: files that its log names are no longer there"
        ) from error
    check = checking(source.first_name, source.graph_term, document, limits.raw_bytes)
    checked = pa.Table.from_batches(check(unchecked.to_batches()), schema=SCHEMA)
    return reading_of(rows_on_driver(checked), change_sets)


@dataclass(frozen=True)
class _Few:
    """Reads a table as long as it gives few rows.

    Every method raises _NotFew if it does not, and NotByFiles if its files are not its rows.

    Attributes:
        engine: decides what the driver reads.
        source: the table.
        files: below its folder.
        opened: the table at a version.
    """

    engine: Engine
    source: DeltaTable
    files: fs.FileSystem
    opened: Callable[[int], ForeignTable]

    def content(self, table: ForeignTable, ordinal: int) -> pa.Table:
        """The rows of a version, once each."""
        _refuse(table)
        size = Extent.of(table).bytes
        if not self.engine.placement.parses(size):
            raise _NotFew
        rows = self._rows(table, _files_of(table))
        once = rows.group_by([*QUAD, "time"]).aggregate([])
        return _unchecked(once, ordinal=ordinal, line=0, insert=True)

    def commits(self, prefix: str, newest: ForeignTable, ordinals: Mapping[int, int]) -> pa.Table:
        """What commits make appear or vanish, as `delta_rows` has it; `ordinals` is by version."""
        net = self._net(newest, ordinals)
        net = net.filter(pc.field("sign") != 0).drop_columns(["time"])
        changes, near, held = f"changes_of_{prefix}", f"near_of_{prefix}", f"held_of_{prefix}"
        spelled = self._respelled(changes, net)
        self._respelled(near, self._near(newest, spelled))
        engine = self.engine
        engine.make(Statement(held, netting.rows_about(near, changes, QUAD)))
        assertions = f"assertions_of_{prefix}"
        engine.make(Statement(assertions, bag_assertions(changes, held)))
        rows = engine.fetch_few(assertions, net.num_rows)
        if rows is None:
            raise _NotFew
        names = ["ordinal" if name == "epoch" else name for name in rows.column_names]
        return _unchecked(rows.rename_columns(names), time=None)

    def events(self, newest: ForeignTable, ordinals: Mapping[int, int]) -> pa.Table:
        """The rows that commits add, once each; `ordinals` is by version."""
        net = self._net(newest, ordinals)
        added = net.filter(pc.field("sign") > 0)
        named = added.rename_columns({"epoch": "ordinal"})
        return _unchecked(named, line=0, insert=True)

    def refuse_many(self, rows: pa.Table) -> None:
        """Refuse what is more than the driver looks at term by term."""
        placement = self.engine.placement
        if not placement.holds(rows.num_rows) or not placement.parses(rows.nbytes):
            raise _NotFew

    def _net(self, table: ForeignTable, ordinals: Mapping[int, int]) -> pa.Table:
        """The net changes of commits: epoch, which is the ordinal, QUAD, time, sign."""
        _refuse(table)
        found = {}
        for version, ordinal in ordinals.items():
            try:
                found[ordinal] = feed_files(self.files, version)
            except FileNotFoundError as error:
                raise ChangeFeedGap(
                    f"{self.source.location}: the log no longer holds version {version}, or a file"
                    " that it names"
                ) from error
            if found[ordinal].changes_table:
                # Between two such commits the table has one schema.
                for state in (version - 1, version):
                    self._refuse_another_schema(self.opened(state), table)
        if not self.engine.placement.parses(sum(each.bytes for each in found.values())):
            raise _NotFew
        parts = [*chain.from_iterable(self._changes(table, n, each) for n, each in found.items())]
        rows = pa.concat_tables(parts) if parts else self._changed(table, (), 0, 1)
        keys = ["epoch", *QUAD, "time"]
        return rows.group_by(keys).aggregate([("one", "sum")]).rename_columns([*keys, "sign"])

    def _changes(self, table: ForeignTable, ordinal: int, found: FeedFiles) -> Iterable[pa.Table]:
        """The changes of one commit: QUAD, time, epoch, one."""
        if found.inserted:
            yield self._changed(table, found.inserted, ordinal, 1)
        if found.deleted:
            yield self._changed(table, found.deleted, ordinal, -1)
        if found.of_feed:
            appeared = pc.field(CHANGE_TYPE).isin(pa.array(_APPEARED))
            yield self._changed(table, found.of_feed, ordinal, 1, appeared)
            yield self._changed(table, found.of_feed, ordinal, -1, ~appeared)

    def _changed(
        self,
        table: ForeignTable,
        names: Sequence[str],
        ordinal: int,
        one: int,
        where: pc.Expression | None = None,
    ) -> pa.Table:
        rows = self._rows(table, names, where)
        for name, value in (("epoch", ordinal), ("one", one)):
            rows = rows.append_column(name, pa.repeat(pa.scalar(value, pa.int64()), rows.num_rows))
        return rows

    def _near(self, table: ForeignTable, changes: pa.Table) -> pa.Table:
        """The rows that may be one of the `changes` in another spelling; see `delta_rows`."""
        if not self.engine.placement.reads(Extent.of(table), is_slice=False):
            raise _NotFew
        about = pc.field("subject").isin(pc.unique(changes["subject"])) & pc.field(
            "predicate"
        ).isin(pc.unique(changes["predicate"]))
        escaped = pc.match_substring(pc.field("subject"), "\\") | pc.match_substring(
            pc.field("predicate"), "\\"
        )
        return self._rows(table, _files_of(table), about | escaped).select([*QUAD])

    def _respelled(self, name: str, rows: pa.Table) -> pa.Table:
        """Make `rows` the relation `name`, their terms as Weir's tables spell them."""
        self.refuse_many(rows)
        respell = respelling(self.source.graph_term)
        spelled = pa.Table.from_batches(respell(rows.to_batches()), rows.schema)
        self.engine.load(name, spelled)
        return spelled

    def _rows(
        self, table: ForeignTable, names: Iterable[str], where: pc.Expression | None = None
    ) -> pa.Table:
        """The rows of files that meet `where`: QUAD, time and, in files of a feed, CHANGE_TYPE.

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
        parts, left = [scanner.projected_schema.empty_table()], self.engine.placement.driver_rows
        for batch in scanner.to_batches():
            rows = pa.Table.from_batches([batch])
            parts.append(rows if where is None else rows.filter(where))
            left -= parts[-1].num_rows
            if left < 0:
                raise _NotFew
        return _with_times(pa.concat_tables(parts))

    def _columns(self, table: ForeignTable) -> Any:
        """The columns of a quad; a term that is null becomes empty, which is none."""
        columns = self.source.columns
        # The stubs of pyarrow do not know expressions as arguments of functions.
        scalar: Any = pc.scalar
        coalesce: Any = pc.coalesce
        empty = scalar("")
        declared = (columns.graph, columns.subject, columns.predicate, columns.object)
        terms = {
            term: empty if name is None else coalesce(self._field(table, name), empty)
            for term, name in zip(QUAD, declared, strict=True)
        }
        time = scalar(None) if columns.time is None else self._field(table, columns.time)
        return {**terms, "time": time, CHANGE_TYPE: pc.field(CHANGE_TYPE)}

    def _field(self, table: ForeignTable, declared: str) -> pc.Expression:
        return pc.field(self._name(table, declared))

    def _names(self, table: ForeignTable) -> list[str]:
        """The columns that are read, once each."""
        columns = self.source.columns
        names = (*columns.of_terms, *filter(None, [columns.time]))
        return [*dict.fromkeys(self._name(table, name) for name in names)]

    def _name(self, table: ForeignTable, declared: str) -> str:
        """The name of a column as the table writes it."""
        for name in columns_of(table).names:
            if name.lower() == declared.lower():
                return str(name)
        raise NotByFiles(f"this version has no column {declared}")

    def _refuse_another_schema(self, table: ForeignTable, newest: ForeignTable) -> None:
        """Refuse a version whose files cannot be read as those of the newest one."""
        _refuse(table)
        then, now = columns_of(table), columns_of(newest)
        for name in self._names(newest):
            if name not in then.names or then.field(name).type != now.field(name).type:
                raise NotByFiles(f"version {table.version()} has another column {name}")


def _refuse(table: ForeignTable) -> None:
    if not are_the_rows(table):
        raise NotByFiles("the table needs a newer reader, or is partitioned")


def _files_of(table: ForeignTable) -> list[str]:
    paths = pa.table(table.get_add_actions())["path"].to_pylist()
    return [file_path(str(path)) for path in paths]


def _with_times(rows: pa.Table) -> pa.Table:
    """The rows with the column `time` as `weir.ingest.instants` reads it: text."""
    time = rows["time"]
    if pa.types.is_timestamp(time.type):
        time = time.cast(pa.timestamp("us", time.type.tz)).cast(pa.int64())
    return rows.set_column(rows.column_names.index("time"), "time", time.cast(pa.string()))


def _unchecked(rows: pa.Table, **same: object) -> pa.Table:
    """Rows of `UNCHECKED`; single values repeated."""
    arrays = [
        pa.array([same[name]] * rows.num_rows, _FEW[name])
        if name in same
        else rows[name].cast(_FEW[name])
        for name in UNCHECKED
    ]
    return pa.Table.from_arrays(arrays, names=[*UNCHECKED])
