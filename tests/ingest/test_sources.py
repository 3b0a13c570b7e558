"""sources.yml: its keys, and the place of every mistake."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from weir.errors import ConfigurationError
from weir.ingest.sources.declared import load_sources
from weir.ingest.sources.delta import DeltaTable
from weir.ingest.sources.files import natural_order
from weir.ingest.sources.patches import Patches
from weir.ingest.sources.snapshots import Snapshots
from weir.ingest.sources.stream import TimeOfSubject

GOOD = """\
sources:
  - name: coins
    kind: patches
    location: changes
    base: base.nq.gz
    base_id: urn:uuid:1
  - name: brick
    kind: snapshots
    location: s3://bucket/brick
    graph: http://example.org/g
    format: turtle
  - name: house
    kind: delta
    location: /data/house
    graph: default
    columns: {subject: s, predicate: p, object: o}
"""


def write(folder: Path, text: str) -> Path:
    file = folder / "sources.yml"
    file.write_text(text)
    return file


def test_each_kind_is_read_with_locations_relative_to_the_file(tmp_path: Path) -> None:
    coins, brick, house = load_sources(write(tmp_path, GOOD))
    assert isinstance(coins, Patches)
    assert (coins.location, coins.base) == (f"{tmp_path}/changes", f"{tmp_path}/base.nq.gz")
    assert coins.graph_term == "<urn:weir:graph:coins>"
    assert isinstance(brick, Snapshots)
    assert (brick.location, brick.graph_term) == ("s3://bucket/brick", "<http://example.org/g>")
    assert isinstance(house, DeltaTable)
    assert (house.location, house.graph_term) == ("/data/house", "")


@pytest.mark.parametrize(
    ("wrong", "right", "line", "message"),
    [
        ("base_uri: x", "base_id: urn:uuid:1", 6, "base_uri"),
        ("kind: patch", "kind: patches", 3, "kind"),
        ("name: Coins", "name: coins", 2, "name"),
        ("name: coins", "name: brick", 7, "two sources"),
        ("graph: no iri", "graph: http://example.org/g", 10, "not an IRI"),
        ("columns: {subjekt: s}", "columns: {subject: s, predicate: p, object: o}", 16, "subjekt"),
        ("  sauce:", "sources:", 1, "sauce"),
        ("kind: 'patches", "kind: patches", 17, "not YAML"),
    ],
)
def test_a_mistake_is_reported_with_its_place(
    tmp_path: Path, wrong: str, right: str, line: int, message: str
) -> None:
    file = write(tmp_path, GOOD.replace(right, wrong, 1))
    with pytest.raises(ConfigurationError) as caught:
        load_sources(file)
    assert caught.value.where.startswith(f"{file}:")
    assert message in str(caught.value)
    assert re.fullmatch(rf"{re.escape(str(file))}:{line}:[0-9]+", caught.value.where)


@pytest.mark.parametrize(
    ("text", "what", "next_"),
    [
        ("", "it declares no source", "Write `sources:`"),
        ("# nothing\n", "it declares no source", "Write `sources:`"),
        ("sources:\n", "sources: it is empty", ""),
        ("sources: {}", "sources: it is not a list", ""),
        ("hello", "the file: 'hello' is not a mapping of keys to values", ""),
        ("sauces: []", "sauces: unknown key", "Did you mean sources?"),
        (
            "sources: [{name: a, kind: snapshot, location: d}]",
            "sources.0.kind: 'snapshot' is none of patches, snapshots, delta",
            "Did you mean snapshots?",
        ),
        (
            "sources: [{name: a, location: d}]",
            "sources.0.kind: it is missing",
            "Write one of patches, snapshots, delta.",
        ),
        (
            "sources: [{name: a, kind: snapshots, path: d}]",
            "sources.0.path: unknown key",
            "Missing: location.",
        ),
        (
            "sources: [{name: a, kind: snapshots, locaton: d}]",
            "sources.0.locaton: unknown key",
            "Did you mean location? The keys are name, location,",
        ),
        (
            "sources: [{name: My Museum, kind: snapshots, location: d}]",
            "sources.0.name: 'My Museum' cannot be a name, which is a lower-case letter",
            "",
        ),
        (
            "sources: [{name: a, kind: snapshots, location: d, settle: soon}]",
            "sources.0.settle: 'soon' is not a number",
            "",
        ),
        (
            "sources: [{name: a, kind: patches, location: d, stream: {dely: PT1S}}]",
            "sources.0.stream.dely: unknown key",
            "Did you mean delay?",
        ),
    ],
)
def test_a_mistake_is_said_in_words_with_the_keys_that_there_are(
    tmp_path: Path, text: str, what: str, next_: str
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        load_sources(write(tmp_path, text))
    assert caught.value.what.startswith(what)
    assert next_ in caught.value.hint


def test_a_missing_file_is_a_configuration_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="weir init"):
        load_sources(tmp_path / "sources.yml")


def test_numbers_in_names_are_ordered_by_their_value() -> None:
    names = ["v10", "v9", "v1.10", "v1.9", "a", "2", "10"]
    assert sorted(names, key=natural_order) == ["2", "10", "a", "v1.9", "v1.10", "v9", "v10"]


STREAMS = """\
sources:
  - name: readings
    kind: patches
    location: readings
    stream:
      time: {predicate: http://example.org/time}
      delay: PT1.5S
      lateness: P1DT2H
      idle: PT5M
      starts: 2026-01-01T01:00:00+01:00
      timezone: Europe/Vienna
      max_late_share: 0.1
  - name: house
    kind: delta
    location: /data/house
    columns: {time: seen}
    stream: {time: column}
"""


def test_times_and_durations_of_a_stream_are_read_in_microseconds(tmp_path: Path) -> None:
    readings, house = (source.stream for source in load_sources(write(tmp_path, STREAMS)))
    assert readings is not None
    assert house is not None
    assert readings.time == TimeOfSubject("<http://example.org/time>")
    assert (readings.delay, readings.lateness) == (1_500_000, 26 * 3_600_000_000)
    assert (readings.idle, readings.keep) == (300_000_000, None)
    assert readings.starts_at == 1_767_225_600_000_000
    assert (house.time, house.delay, house.ahead) == ("column", 0, 300_000_000)
    assert (house.starts_at, house.idle, house.max_late_share) == (None, None, 1.0)


@pytest.mark.parametrize(
    ("wrong", "right", "line", "message"),
    [
        ("late: PT1S", "delay: PT1.5S", 7, "stream.late: unknown key"),
        ("delay: P1M", "delay: PT1.5S", 7, "stream.delay: not a duration"),
        ("delay: PT", "delay: PT1.5S", 7, "stream.delay: not a duration"),
        ("delay: 5", "delay: PT1.5S", 7, "stream.delay: not a duration"),
        (
            "time: when",
            "time: {predicate: http://example.org/time}",
            6,
            "stream.time: not `column`",
        ),
        ("time: {graph: a b}", "time: {predicate: http://example.org/time}", 6, "not an IRI"),
        ("time: column", "time: {predicate: http://example.org/time}", 5, "files have no columns"),
        ("idle: PT0S", "idle: PT5M", 9, "stream.idle: it must be more than 0"),
        ("starts: 2026-01-01T00:00:00", "starts: 2026-01-01T01:00:00+01:00", 10, "with a zone"),
        ("starts: 2026-01-01", "starts: 2026-01-01T01:00:00+01:00", 10, "with a zone"),
        ("timezone: Vienna", "timezone: Europe/Vienna", 11, "not the name of a time zone"),
        ("max_late_share: 2", "max_late_share: 0.1", 12, "it must be at most 1"),
        ("base: b.nq\n    stream:", "stream:", 5, "a stream has no base"),
        ("columns: {subject: s}", "columns: {time: seen}", 16, "needs the name of the column"),
        ("stream: {time: transaction}", "stream: {time: column}", 16, "`time` is read by a stream"),
    ],
)
def test_a_mistake_of_a_stream_is_reported_with_its_place(
    tmp_path: Path, wrong: str, right: str, line: int, message: str
) -> None:
    file = write(tmp_path, STREAMS.replace(right, wrong))
    with pytest.raises(ConfigurationError) as caught:
        load_sources(file)
    assert re.fullmatch(rf"{re.escape(str(file))}:{line}:[0-9]+", caught.value.where)
    assert message in caught.value.what
