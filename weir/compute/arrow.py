"""Arrow rows of several owners, such as queries, in one table."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc


class RowsByKey:
    """Rows that can be looked up by a text column.

    Args:
        rows: ordered by `key`, which has no null.
        key: the name of the column.
    """

    def __init__(self, rows: pa.Table, key: str) -> None:
        self._rows = rows
        runs = pc.call_function("run_end_encode", [rows[key].combine_chunks()])
        ends = runs.run_ends.to_pylist()
        begins = [0, *ends][: len(ends)]
        values = map(str, runs.values.to_pylist())
        self._slices = {
            value: (begin, end - begin)
            for value, begin, end in zip(values, begins, ends, strict=True)
        }

    def __getitem__(self, value: str) -> pa.Table:
        """The rows whose key is `value`, possibly none."""
        return self._rows.slice(*self._slices.get(value, (0, 0)))
