"""Literals as readers that know nothing of Weir see them, in the table `current/<name>`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import polars
import pyarrow as pa
import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from weir.lake.delta.hashed_files import overwrite_hashed
from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake
from weir.typed.layout import Layout
from weir.typed.rows import decided_types, typed_state

XSD = "http://www.w3.org/2001/XMLSchema#"
BIG = 2**63 - 1
COLUMNS: Mapping[str, Mapping[str, Any]] = {
    "number": {
        '"42"^^xsd:integer': 42,
        '"007"^^xsd:integer': 7,
        '"-5"^^xsd:int': -5,
        '"255"^^xsd:unsignedByte': 255,
        f'"{BIG}"^^xsd:long': BIG,
        '"ten"^^xsd:integer': None,
    },
    "large": {
        f'"{BIG + 1}"^^xsd:integer': Decimal(BIG + 1),
        f'"{"9" * 38}"^^xsd:integer': Decimal("9" * 38),
        '"1"^^xsd:integer': Decimal(1),
    },
    "larger": {f'"{"9" * 39}"^^xsd:integer': "9" * 39, '"1"^^xsd:integer': "1"},
    "price": {
        '"1.5"^^xsd:decimal': Decimal("1.50"),
        '"1.50"^^xsd:decimal': Decimal("1.50"),
        '"-.25"^^xsd:decimal': Decimal("-0.25"),
        '"3"^^xsd:integer': Decimal("3.00"),
    },
    "ratio": {
        '"1.5E0"^^xsd:double': 1.5,
        '"1e3"^^xsd:double': 1000.0,
        '"0.1"^^xsd:float': 0.10000000149011612,
        '"INF"^^xsd:double': math.inf,
        '"-INF"^^xsd:double': -math.inf,
        '"2"^^xsd:integer': 2.0,
    },
    "open": {
        '"true"^^xsd:boolean': True,
        '"0"^^xsd:boolean': False,
        '"yes"^^xsd:boolean': None,
    },
    "born": {
        '"1969-07-20"^^xsd:date': date(1969, 7, 20),
        '"0044-03-15"^^xsd:date': date(44, 3, 15),
        '"2026-02-28Z"^^xsd:date': date(2026, 2, 28),
        '"2026-02-30"^^xsd:date': None,
    },
    "seen": {
        '"2026-01-31T10:00:00Z"^^xsd:dateTime': datetime(2026, 1, 31, 10, tzinfo=UTC),
        '"2026-01-31T10:00:00+02:00"^^xsd:dateTime': datetime(2026, 1, 31, 8, tzinfo=UTC),
        '"2026-01-31T10:00:00"^^xsd:dateTime': datetime(2026, 1, 31, 10, tzinfo=UTC),
        '"2026-01-31T10:00:00.1234567Z"^^xsd:dateTime': datetime(
            2026, 1, 31, 10, 0, 0, 123_456, UTC
        ),
        '"2026-01-31T24:00:00Z"^^xsd:dateTime': datetime(2026, 2, 1, tzinfo=UTC),
        '"1850-01-01T00:00:00Z"^^xsd:dateTime': datetime(1850, 1, 1, tzinfo=UTC),
    },
    "year": {'"2026"^^xsd:gYear': "2026", '"2026Z"^^xsd:gYear': "2026Z"},
    "took": {'"P1DT2H"^^xsd:duration': "P1DT2H", '"PT60S"^^xsd:duration': "PT60S"},
    "link": {"<http://example.org/a b>": "http://example.org/a b", "_:b0": "_:b0"},
    "title": {'"vase"@en': "vase", '"Vase"@de-at': "Vase", '"vase"': "vase", '"a\\nb"': "a\nb"},
    "mixed": {'"x"': "x", '"1"^^xsd:integer': "1", "<http://a>": "http://a"},
    "own": {'"POINT(1 2)"^^<http://geo/wkt>': "POINT(1 2)"},
}
ROWS = [
    (name, term.replace("xsd:", f"<{XSD}") + (">" if "xsd:" in term else ""), value)
    for name, values in COLUMNS.items()
    for term, value in values.items()
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table with a row per literal, numbered by `n`."""
    names = ["n", *COLUMNS]
    records = [
        {"n": f'"{n}"^^<{XSD}integer>', name: term} for n, (name, term, _) in enumerate(ROWS)
    ]
    schema = pa.schema([(name, pa.string()) for name in names])
    rows = pa.Table.from_pylist(records, schema)
    layout = Layout.of(decided_types(rows, {}), is_set=True)
    layout, typed = typed_state(layout, rows)
    lake = Lake(str(tmp_path_factory.mktemp("lake")))
    table = layout.table("q")
    overwrite_hashed(lake, table, typed, None, Metadata("r", "publish", 1))
    return lake.folder(table.name)


def check(rows: Mapping[int, Mapping[str, Any]]) -> None:
    assert len(rows) == len(ROWS) >= 40
    for n, (name, term, value) in enumerate(ROWS):
        seen = rows[n][name]
        assert (seen, type(seen)) == (value, type(value)), (name, term)
        exact = rows[n].get(f"{name}_term")
        assert exact is None or exact == term
        if value is None:
            assert exact == term


def by_number(rows: list[dict[str, Any]]) -> dict[int, dict[str, Any]]:
    return {row["n"]: row for row in rows}


def test_arrow_and_delta_rs(folder: Path) -> None:
    check(by_number(DeltaTable(str(folder)).to_pyarrow_table().to_pylist()))


def test_duckdb(folder: Path) -> None:
    files = DeltaTable(str(folder)).file_uris()
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        result = connection.execute("SELECT * FROM read_parquet($files)", {"files": files})
        names = [name for name, *_ in result.description]
        rows = [dict(zip(names, row, strict=True)) for row in result.fetchall()]
    for row in rows:
        row["seen"] = row["seen"] and row["seen"].astimezone(UTC)
    check(by_number(rows))


def test_pandas(folder: Path) -> None:
    frame = DeltaTable(str(folder)).to_pandas(types_mapper=_arrow_dtype())
    assert frame["price"].sum() == Decimal("5.75")
    assert str(frame.dtypes["number"]) == "int64[pyarrow]"
    assert str(frame.dtypes["price"]) == "decimal128(38, 2)[pyarrow]"
    assert str(frame.dtypes["seen"]) == "timestamp[us, tz=UTC][pyarrow]"
    check(by_number(pa.Table.from_pandas(frame, preserve_index=False).to_pylist()))


def test_polars(folder: Path) -> None:
    frame = polars.read_delta(str(folder))
    assert frame.schema["number"] == polars.Int64
    assert frame.schema["price"] == polars.Decimal(38, 2)
    assert frame.schema["seen"] == polars.Datetime("us", "UTC")
    rows = frame.to_dicts()
    for row in rows:
        row["seen"] = row["seen"] and row["seen"].astimezone(UTC)
    check(by_number(rows))


def _arrow_dtype() -> Any:
    import pandas as pd

    return pd.ArrowDtype


@pytest.mark.spark
def test_spark(folder: Path, spark: SparkSession) -> None:
    frame = spark.read.format("delta").load(str(folder))
    rows = [row.asDict() for row in frame.collect()]
    for row in rows:
        row["seen"] = row["seen"] and row["seen"].astimezone(UTC)
    check(by_number(rows))
    types = dict(frame.dtypes)
    assert (types["number"], types["price"], types["ratio"], types["born"], types["seen"]) == (
        "bigint",
        "decimal(38,2)",
        "double",
        "date",
        "timestamp",
    )


@pytest.mark.spark
def test_spark_reads_the_change_feed(folder: Path, spark: SparkSession) -> None:
    options = {"readChangeFeed": "true", "startingVersion": "0"}
    feed = spark.read.format("delta").options(**options).load(str(folder))
    assert {row["_change_type"] for row in feed.collect()} == {"insert"}
    assert feed.count() == len(ROWS)
