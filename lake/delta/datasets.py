"""Parquet files of a table as Arrow data sets: each page is verified if its file has checksums."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
from deltalake import DeltaTable
from pyarrow import fs

from weir.lake.delta.checksums import PAGES_ARE_VERIFIED
from weir.lake.delta.data_files import names_of


def columns_of(table: DeltaTable) -> pa.Schema:
    """The columns of a table as an Arrow schema."""
    fields: Any = table.schema().to_arrow()
    return pa.schema(fields)


def dataset_of(
    files: fs.FileSystem,
    names: Iterable[str],
    schema: pa.Schema,
    bounds: Iterable[ds.Expression] | None = None,
) -> ds.FileSystemDataset:
    """The rows of Parquet files in their order, each page verified if its file has checksums.

    Args:
        files: below the folder of a table, of Weir or foreign.
        names: of the files.
        schema: the columns that are read; those that a file lacks are null.
        bounds: what is true of all rows of each file, by which a filter skips files.

    Raises:
        FileNotFoundError: a file is missing; this may show only when rows are read.
    """
    names = [*names]
    fragments = [
        PAGES_ARE_VERIFIED.make_fragment(name, files, partition_expression=bound)
        for name, bound in zip(names, bounds or [_true()] * len(names), strict=True)
    ]
    return ds.FileSystemDataset(fragments, schema, PAGES_ARE_VERIFIED, files)


def bounded_dataset(
    files: fs.FileSystem, listed: pa.Table, schema: pa.Schema, columns: Iterable[str]
) -> ds.FileSystemDataset:
    """The rows of all files of a table; a filter on one of some columns skips files.

    Args:
        files: below the folder of the table.
        listed: its files as the log gives them, with the bounds of their columns.
        schema: the columns that are read.
        columns: those whose bounds are used, if they are numbers or text.

    Raises:
        FileNotFoundError: a file is missing; this may show only when rows are read.
    """
    bounds = [_true()] * listed.num_rows
    for name in columns:
        if name in schema.names and _has_order(schema.field(name).type):
            of_column = _bounds(listed, name)
            bounds = [one & other for one, other in zip(bounds, of_column, strict=True)]
    return dataset_of(files, names_of(listed), schema, bounds)


def _bounds(listed: pa.Table, column: str) -> Iterator[ds.Expression]:
    """What is true of the column in all rows of each file."""
    known = [f"{bound}.{column}" for bound in ("min", "max", "null_count")]
    if not {*known} <= {*listed.column_names}:
        yield from [_true()] * listed.num_rows
        return
    field = ds.field(column)
    for least, most, nulls in zip(*(listed[name].to_pylist() for name in known), strict=True):
        if least is None or most is None or nulls is None:
            yield _true()
        else:
            lower, upper = field >= least, field <= most
            # Arrow understands a null beside one comparison, not beside two.
            yield (lower | field.is_null()) & (upper | field.is_null()) if nulls else lower & upper


def _has_order(kind: pa.DataType) -> bool:
    return pa.types.is_integer(kind) or pa.types.is_string(kind)


def _true() -> ds.Expression:
    return ds.scalar(True)
