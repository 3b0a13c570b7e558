"""Times to instants, on both engines, against Python's own calendar."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from tests.support.duck import DuckOfTest
from weir.compute.relations import Statement
from weir.compute.spark import SparkEngine
from weir.compute.sql import column, rows_of, select
from weir.ingest.instants import NO_TIME, NO_ZONE, NOT_A_TIME, TOO_FAR, with_instants, zone_offsets
from weir.lake.instants import FIRST, LAST, instant_text, microseconds

XSD = "http://www.w3.org/2001/XMLSchema#"
VIENNA = "Europe/Vienna"
Found = dict[str | None, tuple[int | None, str | None]]

EXAMPLES: dict[str | None, tuple[int | None, str | None]] = {
    "1970-01-01T00:00:00Z": (0, None),
    "1970-01-01T00:00:00.000001Z": (1, None),
    "1970-01-01T00:00:00.0000019Z": (1, None),
    "1969-12-31T23:59:59.999999Z": (-1, None),
    "1970-01-01T01:30:00+01:30": (0, None),
    "1969-12-31T10:00:00-14:00": (0, None),
    "1969-12-31T24:00:00Z": (0, None),
    "0001-01-01T00:00:00Z": (microseconds(datetime(1, 1, 1, tzinfo=UTC)), None),
    "9999-12-31T23:59:59Z": (microseconds(datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)), None),
    "2000-02-29T00:00:00Z": (microseconds(datetime(2000, 2, 29, tzinfo=UTC)), None),
    "1900-02-29T00:00:00Z": (None, NOT_A_TIME),
    "2026-02-29T00:00:00Z": (None, NOT_A_TIME),
    "2026-04-31T00:00:00Z": (None, NOT_A_TIME),
    "2026-01-01T24:00:01Z": (None, NOT_A_TIME),
    "2026-01-01T10:00:60Z": (None, NOT_A_TIME),
    "0000-01-01T00:00:00Z": (None, TOO_FAR),
    "-0044-03-15T12:00:00Z": (None, TOO_FAR),
    "-0001-01-01T00:00:00": (None, TOO_FAR),
    "10000-01-01T00:00:00Z": (None, TOO_FAR),
    "123456789-12-31T24:00:00-14:00": (None, TOO_FAR),
    "0001-01-01T00:00:00+00:01": (None, TOO_FAR),
    "0001-01-01T00:00:00-14:00": (FIRST + 14 * 3_600_000_000, None),
    "9999-12-31T24:00:00Z": (None, TOO_FAR),
    "9999-12-31T23:59:59.999999Z": (LAST, None),
    "9999-12-31T23:59:59-00:01": (None, TOO_FAR),
    "10000-13-01T00:00:00Z": (None, NOT_A_TIME),
    "02026-01-01T00:00:00Z": (None, NOT_A_TIME),
    "+2026-01-01T00:00:00Z": (None, NOT_A_TIME),
    f'"-0044-03-15T12:00:00Z"^^<{XSD}dateTime>': (None, TOO_FAR),
    str(FIRST): (FIRST, None),
    str(FIRST - 1): (None, TOO_FAR),
    str(LAST): (LAST, None),
    str(LAST + 1): (None, TOO_FAR),
    "9" * 18: (None, TOO_FAR),
    "9" * 30: (None, TOO_FAR),
    "2026-01-01T00:00:00+14:01": (None, NOT_A_TIME),
    "2026-01-01": (None, NOT_A_TIME),
    "2026-01-01T00:00:00Z\n": (None, NOT_A_TIME),
    "soon": (None, NOT_A_TIME),
    "": (None, NOT_A_TIME),
    "-17": (-17, None),
    '"17"': (None, NOT_A_TIME),
    f'"17"^^<{XSD}integer>': (None, NOT_A_TIME),
    f'"1970-01-01T00:00:01Z"^^<{XSD}dateTime>': (1_000_000, None),
    f'"1970-01-01T00:00:01Z"^^<{XSD}dateTimeStamp>': (1_000_000, None),
    '"1970-01-01T00:00:01Z"': (1_000_000, None),
    f'"1970-01-01"^^<{XSD}date>': (None, NOT_A_TIME),
    '"1970-01-01T00:00:01Z"@en': (None, NOT_A_TIME),
    "<urn:x>": (None, NOT_A_TIME),
    "2026-01-01T00:00:00": (None, NO_ZONE),
    None: (None, NO_TIME),
}


def times(texts: list[str | None]) -> pa.Table:
    return pa.table({"time": pa.array(texts, pa.string()), "raw": pa.array(texts, pa.string())})


def statement() -> Statement:
    rows = select(column("raw"), column("time"), from_=rows_of("times"))
    return Statement("dated", with_instants(rows, ("raw",), "offsets"))


def instants(texts: list[str | None], zone: str | None = None) -> Found:
    engine = DuckOfTest()
    engine.load("times", times(texts))
    engine.load("offsets", zone_offsets(zone))
    engine.make(statement())
    rows = engine.arrow("dated").to_pylist()
    return {row["raw"]: (row["instant"], row["reason"]) for row in rows}


@pytest.mark.parametrize("text", EXAMPLES)
def test_a_time_is_read_exactly_or_has_a_reason(text: str | None) -> None:
    assert instants([text]) == {text: EXAMPLES[text]}


def test_an_instant_beyond_all_times_is_shown_as_the_nearest() -> None:
    assert instant_text(FIRST - 1) == instant_text(FIRST) == "0001-01-01T00:00:00Z"
    assert instant_text(LAST + 10**18) == "9999-12-31T23:59:59.999999Z"


def local_times(seed: int, count: int) -> list[datetime]:
    rng = random.Random(seed)
    first = datetime(1960, 1, 1, tzinfo=UTC)
    local = [first + timedelta(microseconds=rng.randrange(4 * 10**15)) for _ in range(count)]
    # Around the changes of the clocks.
    for year in (1981, 2026):
        for month, day in ((3, 29), (9, 27), (10, 25)):
            local += [
                datetime(year, month, day, hour, minute, tzinfo=UTC)
                for hour in range(5)
                for minute in (0, 59)
            ]
    return local


@pytest.mark.parametrize("zone", [VIENNA, "America/St_Johns", "Pacific/Apia", "UTC"])
def test_times_without_a_zone_are_those_of_the_declared_one(zone: str) -> None:
    clocks = local_times(1, 200)
    texts: list[str | None] = [clock.isoformat().removesuffix("+00:00") for clock in clocks]
    read = instants(texts, zone)
    for text, clock in zip(texts, clocks, strict=True):
        assert read[text] == (microseconds(clock.replace(tzinfo=ZoneInfo(zone))), None), text


def test_both_engines_read_the_same_instants(spark: SparkSession) -> None:
    clocks = local_times(2, 30)
    texts = [*EXAMPLES, *(clock.isoformat().removesuffix("+00:00") for clock in clocks)]
    engine = SparkEngine(spark, 10_000)
    for name, rows in (("times", times(texts)), ("offsets", zone_offsets(VIENNA))):
        engine.register(name, engine.send(rows))
    collected = engine.frame(statement().select).collect()
    engine.release()
    on_spark = {row["raw"]: (row["instant"], row["reason"]) for row in collected}
    assert on_spark == instants(texts, VIENNA)
