"""How much comes out of a parser is bounded, and what is large is not held in memory."""

from __future__ import annotations

import gzip
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.rdf.conftest import LIMITS
from weir.lake.scratch import scratch_folder
from weir.rdf.limits import ParseLimits
from weir.rdf.parser_process import NoRoom, ParserProcess, Volume, _DiscardedChanges
from weir.rdf.records import ParsedFile, ParseRequest
from weir.rdf.spool import Spool

SCHEMA = pa.schema([("number", pa.int64())])
GOOD = b"<a:s> <a:p> <a:o> .\n"


def batch(numbers: Sequence[int]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({"number": [*numbers]}, SCHEMA)


@given(sizes=st.lists(st.integers(0, 20), max_size=10), memory=st.integers(0, 400))
def test_a_spool_gives_back_what_was_appended_wherever_it_is(sizes: list[int], memory: int) -> None:
    spool = Spool(SCHEMA, memory)
    expected: list[int] = []
    for size in sizes:
        numbers = range(len(expected), len(expected) + size)
        expected += numbers
        spool.append(batch(numbers))
    assert spool.rows == len(expected)
    assert spool.take()["number"].to_pylist() == expected
    assert spool.rows == 0


def test_a_spool_leaves_no_file() -> None:
    # What other tests of this process have there may stay until it ends.
    before = {*scratch_folder().iterdir()}
    taken, cleared = Spool(SCHEMA, 0), Spool(SCHEMA, 0)
    for spool in (taken, cleared):
        spool.append(batch(range(1000)))
    assert len({*scratch_folder().iterdir()} - before) == 2
    table = taken.take()
    cleared.clear()
    assert {*scratch_folder().iterdir()} <= before
    assert table["number"].to_pylist() == [*range(1000)]


def parse(
    folder: Path, content: bytes, limits: ParseLimits, room: Volume | None = None
) -> list[ParsedFile]:
    """The file and a good one after it, parsed by one parser."""
    first, second = folder / "first.nt.gz", folder / "second.nt"
    first.write_bytes(gzip.compress(content))
    second.write_bytes(GOOD)
    with ParserProcess(limits) as parser:
        return [
            parser.parse(ParseRequest(str(first), "n-triples", "snapshot", "s"), room),
            parser.parse(ParseRequest(str(second), "n-triples", "snapshot", "s")),
        ]


@pytest.mark.parametrize(
    ("content", "limit", "reason"),
    [
        (GOOD * 100_000, {"parsed_rows": 50_000}, "more than 50,000 rows"),
        (GOOD * 100_000, {"parsed_bytes": 1_000_000}, "more than 1,000,000 bytes of rows"),
        (b"oops\n" * 100_000, {"rejected_rows": 1000}, "more than 1,000 of its lines are rejected"),
    ],
)
def test_a_file_that_gives_too_much_is_not_read_to_its_end(
    tmp_path: Path, content: bytes, limit: dict[str, int], reason: str
) -> None:
    large, good = parse(tmp_path, content, replace(LIMITS, **limit))
    assert reason in str(large.unreadable)
    assert (large.changes.num_rows, large.rejections.num_rows) == (0, 0)
    assert good.changes.num_rows == 1


def test_rows_beyond_the_memory_are_the_same_rows(tmp_path: Path) -> None:
    content = b"".join(b'<a:s> <a:p> "%d" .\n' % n for n in range(50_000)) + b"oops\n" * 10
    here, _ = parse(tmp_path, content, LIMITS)
    spooled, _ = parse(tmp_path, content, replace(LIMITS, parsed_memory_bytes=0))
    assert spooled.changes.equals(here.changes)
    assert spooled.rejections.equals(here.rejections)


def test_a_file_for_which_there_is_no_room_is_an_error_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(NoRoom):
        parse(tmp_path, GOOD * 1000, LIMITS, Volume(999, 10**9))
    assert parse(tmp_path, GOOD * 1000, LIMITS, Volume(1000, 10**9))[0].changes.num_rows == 1000


def test_changes_are_discarded_if_an_aborted_transaction_has_them() -> None:
    numbers = random.Random(1).sample(range(1, 1000), 40)
    ends = sorted(numbers)
    aborted = _DiscardedChanges()
    for since, until in zip(ends[::2], ends[1::2], strict=True):
        aborted.append(since, until)
    changes = np.arange(1000)
    expected = [
        any(since <= change < until for since, until in zip(ends[::2], ends[1::2], strict=True))
        for change in changes
    ]
    assert aborted.have(changes).tolist() == expected
