"""When a log has an index, and what the engine does with it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pytest
from sqlglot import exp

from tests.support.opened import no_spark
from weir.compute.database import Database
from weir.compute.engine import Engine, SparkShape
from weir.compute.indexes import Indexes, IndexLimits, IndexMode
from weir.compute.placement import Placement
from weir.compute.relations import Lookup
from weir.lake.delta.commit import write
from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake
from weir.lake.tables import TRIPLES
from weir.settings import Settings

ROWS = 3_000
WANTED = exp.select("key", "predicate").from_("keys")


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with closing(Database(Settings(lake=str(tmp_path / "lake")))) as opened:
        yield opened


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """Three thousand triples, in which each subject has three."""
    table = pa.table(
        {
            "subject": [f"<urn:s{i // 3}>" for i in range(ROWS)],
            "predicate": [f"<urn:p{i % 3}>" for i in range(ROWS)],
            "object": [f'"{i}"' for i in range(ROWS)],
            "epoch": [1] * ROWS,
            "weight": [1] * ROWS,
        }
    )
    write(Lake(str(tmp_path / "lake")), TRIPLES, table, Metadata("r", "ingest", 1))
    return Lake(str(tmp_path / "lake"))


def engine_with(
    lake: Lake,
    database: Database,
    said: list[str],
    *,
    mode: IndexMode = "auto",
    least: int = 0,
    most: int = 10**9,
    driver_rows: int = 10_000,
    driver_bytes: int = 10**9,
) -> Engine:
    folder, limits = Path(lake.root).parent / "index", IndexLimits(mode, least, most)
    indexes = Indexes(lake, folder, database, limits, said.append)
    placement = Placement(driver_rows, driver_bytes, 10**9, 0)
    shape = SparkShape(broadcast_rows=10, rows_per_file=1_000)
    return Engine(lake, no_spark, database.engine(), placement, shape, indexes)


def looks_up(engine: Engine, *keys: tuple[str, str | None]) -> bool:
    names, predicates = zip(*keys, strict=True)
    columns = [pa.array(names, pa.string()), pa.array(predicates, pa.string())]
    engine.load("keys", pa.table(columns, ["key", "predicate"]))
    key = ("subject", "predicate")
    return engine.look_up(Lookup("rows", TRIPLES.name, key, WANTED.copy(), null_is_any=True))


def test_the_rows_of_keys_are_found_in_a_table_that_only_spark_would_read(
    lake: Lake, database: Database
) -> None:
    said: list[str] = []
    with engine_with(lake, database, said, driver_bytes=1) as engine:
        assert looks_up(engine, ("<urn:s7>", None), ("<urn:s8>", "<urn:p1>"), ("<urn:s>", None))
        rows = engine.rows(exp.select("object").from_("rows").order_by("object"))
    assert rows == [('"21"',), ('"22"',), ('"23"',), ('"25"',)]
    assert said == ["making the index of triples by subject, 3,000 rows"]


@pytest.mark.parametrize(
    ("mode", "least", "most", "has_one"),
    [
        ("auto", ROWS, ROWS, True),
        ("auto", ROWS + 1, 10**9, False),
        ("auto", 0, ROWS - 1, False),
        ("on", ROWS + 1, 0, True),
        ("off", 0, 10**9, False),
    ],
)
def test_a_table_has_an_index_by_its_size_unless_the_project_says_otherwise(
    lake: Lake, database: Database, mode: IndexMode, least: int, most: int, has_one: bool
) -> None:
    with engine_with(lake, database, [], mode=mode, least=least, most=most) as engine:
        assert looks_up(engine, ("<urn:s7>", None)) is has_one
    assert [*Path(lake.root).parent.rglob("index.json")] == [
        *(Path(lake.root).parent.rglob("subject/index.json") if has_one else ())
    ]


def test_many_keys_are_left_to_a_scan(lake: Lake, database: Database) -> None:
    with engine_with(lake, database, []) as engine:
        assert not looks_up(engine, *((f"<urn:s{i}>", None) for i in range(7)))
    with engine_with(lake, database, []) as engine:
        assert looks_up(engine, *((f"<urn:s{i}>", None) for i in range(6)))


def test_without_rows_for_the_driver_nothing_is_looked_up(lake: Lake, database: Database) -> None:
    with (
        engine_with(lake, database, [], driver_rows=0) as engine,
        pytest.raises(AssertionError, match="Spark"),
    ):
        looks_up(engine, ("<urn:s7>", None))
    assert not [*Path(lake.root).parent.rglob("index.json")]


def test_a_damaged_index_is_left_to_a_scan_with_a_message_and_made_again(
    lake: Lake, database: Database
) -> None:
    with engine_with(lake, database, []) as engine:
        assert looks_up(engine, ("<urn:s7>", None))
    (blocks,) = Path(lake.root).parent.rglob("*.rows")
    blocks.write_bytes(b"x" * blocks.stat().st_size)
    said: list[str] = []
    with engine_with(lake, database, said) as engine:
        assert not looks_up(engine, ("<urn:s7>", None))
    assert len(said) == 1
    assert said[0].startswith("the index of triples by subject is not used: block ")
    with engine_with(lake, database, said) as engine:
        assert looks_up(engine, ("<urn:s7>", None))


def test_the_index_of_a_table_that_is_gone_is_removed_with_the_next_one(
    lake: Lake, database: Database
) -> None:
    with engine_with(lake, database, []) as engine:
        assert looks_up(engine, ("<urn:s7>", None))
    (note,) = Path(lake.root).parent.rglob("index.json")
    gone = note.parents[1].with_name("embeddings") / "gone" / "node"
    shutil.copytree(note.parent, gone)
    shutil.rmtree(note.parent)
    with engine_with(lake, database, []) as engine:
        assert looks_up(engine, ("<urn:s7>", None))
    assert not gone.exists()
    assert note.exists()
