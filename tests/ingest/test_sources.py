"""sources.yml: its keys, and the line of every mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from jobs.errors import ConfigurationError
from jobs.ingest.sources.declared import load_sources
from jobs.ingest.sources.delta import DeltaTable
from jobs.ingest.sources.files import natural_order
from jobs.ingest.sources.patches import Patches
from jobs.ingest.sources.snapshots import Snapshots

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
        ("kind: patch", "kind: patches", 2, "kind"),
        ("name: Coins", "name: coins", 2, "name"),
        ("name: coins", "name: brick", 7, "two sources"),
        ("graph: no iri", "graph: http://example.org/g", 10, "not an IRI"),
        ("columns: {subjekt: s}", "columns: {subject: s, predicate: p, object: o}", 16, "subjekt"),
        ("  sauce:", "sources:", 1, "sauce"),
        ("kind: 'patches", "kind: patches", 17, "not YAML"),
    ],
)
def test_a_mistake_is_reported_with_its_line(
    tmp_path: Path, wrong: str, right: str, line: int, message: str
) -> None:
    file = write(tmp_path, GOOD.replace(right, wrong, 1))
    with pytest.raises(ConfigurationError) as caught:
        load_sources(file)
    assert caught.value.where.startswith(f"{file}:")
    assert message in str(caught.value)
    assert caught.value.where == f"{file}:{line}"


def test_a_missing_file_is_a_configuration_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="weir init"):
        load_sources(tmp_path / "sources.yml")


def test_numbers_in_names_count() -> None:
    names = ["v10", "v9", "v1.10", "v1.9", "a", "2", "10"]
    assert sorted(names, key=natural_order) == ["2", "10", "a", "v1.9", "v1.10", "v9", "v10"]
