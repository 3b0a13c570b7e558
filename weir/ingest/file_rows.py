"""The rows that parsing a file yields, in one schema.

Processes of Spark import this module to parse: it imports neither an engine nor the lake, which
would take them three times as long as the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

import pyarrow as pa

from weir.rdf.limits import ParseLimits
from weir.rdf.parser_process import ParserProcess
from weir.rdf.records import ParsedFile, ParseRequest, Rejection

_FIELDS: list[tuple[str, pa.DataType]] = [
    ("part", pa.string()),
    ("ordinal", pa.int32()),
    ("document", pa.int32()),
    ("line", pa.int64()),
    ("insert", pa.bool_()),
    ("graph", pa.string()),
    ("subject", pa.string()),
    ("predicate", pa.string()),
    ("object", pa.string()),
    ("time", pa.string()),
    ("file", pa.string()),
    ("column", pa.int64()),
    ("reason", pa.string()),
    ("raw", pa.string()),
    ("change_id", pa.string()),
    ("previous_id", pa.string()),
    ("event_time", pa.timestamp("us", tz="UTC")),
    ("changes", pa.int64()),
    ("rejections", pa.int64()),
    ("unreadable", pa.string()),
    ("cut_off", pa.string()),
]
SCHEMA = pa.schema(_FIELDS)
"""The rows that parsing a file yields, of one schema so that a Spark task can return them.

part: `change`, `rejection`, or `file` for the one row per file. ordinal: of the change set in its
batch. document: number of the file in its batch. time: of an event, if a column has it; text that
`weir.ingest.instants` reads. file: what rejections call it. reason: of a file, why it was rejected
as a whole. Columns of other parts are null.
"""


@dataclass(frozen=True, slots=True)
class FileTask:
    """A file to parse: which change set and which document it is, and what rejections call it."""

    ordinal: int
    document: int
    name: str
    size: int
    request: ParseRequest


def parse_groups(
    groups: Sequence[Sequence[FileTask]], limits: ParseLimits, most: int, store: Mapping[str, str]
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """A function that parses the groups of files whose numbers are in the column `id`.

    Args:
        groups: of files.
        limits: of parsing a file.
        most: rows of a batch that it yields.
        store: options of the object store of the files, by the names of delta-rs.
    """

    def parse(numbers: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with ParserProcess(limits, store) as parser:
            for batch in numbers:
                for number in batch.to_pylist():
                    for task in groups[number["id"]]:
                        yield from file_rows(task, parser.parse(task.request), most)

    return parse


def file_rows(task: FileTask, parsed: ParsedFile, most: int) -> Iterator[pa.RecordBatch]:
    place = {"ordinal": task.ordinal, "document": task.document}
    for batch in parsed.changes.to_batches(max_chunksize=most):
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        yield record_batch("change", batch.num_rows, **place, **columns)
    for batch in parsed.rejections.to_batches(max_chunksize=most):
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        del columns["file"]
        yield record_batch("rejection", batch.num_rows, **place, **columns, file=task.name)
    yield record_batch(
        "file",
        1,
        **place,
        file=task.name,
        **asdict(parsed.header),
        changes=parsed.changes.num_rows,
        rejections=parsed.rejections.num_rows,
        reason=parsed.refusal and _message(parsed.refusal),
        unreadable=parsed.unreadable,
        cut_off=parsed.cut_off,
    )


def _message(refusal: Rejection) -> str:
    if not refusal.line:
        return refusal.reason
    column = f", column {refusal.column}" if refusal.column else ""
    return f"line {refusal.line}{column}: {refusal.reason}"


def record_batch(part: str, count: int, **columns: object) -> pa.RecordBatch:
    """`count` rows of one part; arrays as given, single values repeated, the rest null."""
    values = {"part": part, **columns}
    arrays = []
    for field in SCHEMA:
        value = values.get(field.name)
        if isinstance(value, pa.Array):
            arrays.append(value.cast(field.type))
        else:
            arrays.append(pa.repeat(pa.scalar(value, field.type), count))
    return pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)
