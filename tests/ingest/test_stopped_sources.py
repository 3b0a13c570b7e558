"""A source that cannot be read stops alone: the others are ingested, and the run fails."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from pyspark.sql import SparkSession

from tests.support.opened import no_spark, on_spark
from tests.support.projects.project import Project
from weir.ingest.sources.errors import SourceError
from weir.ingest.stage import IngestResult, ingest_or_fail

GOOD = {"name": "good", "kind": "patches", "location": "good"}
FEED = {"delta.enableChangeDataFeed": "true"}
ROW = {"subject": ["<urn:s>"], "predicate": ["<urn:p>"], "object": ['"1"']}


def table(folder: Path, columns: dict[str, list[Any]], feed: bool = True) -> None:
    write_deltalake(folder, pa.table(columns), mode="append", configuration=FEED if feed else None)


def ingest_beside_a_good_source(
    project: Project, source: dict[str, Any], spark: Any = no_spark
) -> tuple[IngestResult, str]:
    """The result and the one error, whichever of the two sources comes first."""
    project.declare({"name": "bad"} | source, GOOD)
    project.patch("good/1.rdfp", 'A <urn:s> <urn:p> "good" .')
    result = project.ingest(spark)
    assert [(ingested.name, ingested.epochs) for ingested in result.sources][1] == ("good", 1)
    assert result.sources[1].error is None
    assert (result.from_epoch, result.to_epoch) == (0, 1 + result.sources[0].epochs)
    (error,) = result.errors
    assert error is result.sources[0].error
    assert str(project.folder / "bad") in str(error)
    assert "source bad: " in str(error)
    with pytest.raises(SourceError, match="source bad: "):
        on_spark(spark, ingest_or_fail, project.settings, "run")
    return result, str(error)


@pytest.mark.parametrize("kind", ["patches", "snapshots"])
def test_a_file_that_cannot_be_opened_stops_its_source_at_it(project: Project, kind: str) -> None:
    project.write("bad/1.nq", '<urn:s> <urn:p> "1" <urn:g> .')
    project.patch("bad/1.rdfp", 'A <urn:s> <urn:p> "1" <urn:g> .')
    second = "2.rdfp" if kind == "patches" else "2.nq"
    # It is listed, but reading it fails for every user (EIO).
    (project.folder / "bad" / second).symlink_to("/proc/self/mem")
    (project.folder / "bad" / f"3.{second[2:]}").symlink_to("/proc/self/mem")
    glob = "*.rdfp" if kind == "patches" else "*.nq"
    source = {"kind": kind, "location": "bad", "glob": glob}
    result, message = ingest_beside_a_good_source(project, source)
    assert result.sources[0].position == f"1.{'rdfp' if kind == 'patches' else 'nq'}"
    assert second in message
    assert project.rows("rejected") == []


def test_an_earlier_version_that_cannot_be_opened_is_not_skipped(project: Project) -> None:
    project.declare({"name": "bad", "kind": "snapshots", "location": "bad"})
    for version in (1, 2):
        project.write(f"bad/{version}/a.ttl", f"<urn:s> <urn:p> {version} .")
        project.write(f"bad/{version}/b.ttl", f"<urn:s> <urn:q> {version} .")
    project.ingest()
    (project.folder / "bad/2/a.ttl").unlink()
    (project.folder / "bad/2/a.ttl").symlink_to("/proc/self/mem")
    project.write("bad/3/a.ttl", "broken")
    project.write("bad/3/b.ttl", "<urn:s> <urn:q> 3 .")
    (error,) = project.ingest().errors
    assert "bad/2/a.ttl" in str(error)
    assert len(project.rows("transactions")) == 2


def test_a_location_of_an_unknown_kind_stops_its_source_only(project: Project) -> None:
    project.declare({"name": "bad", "kind": "patches", "location": "xyz://nowhere/bad"}, GOOD)
    project.patch("good/1.rdfp", 'A <urn:s> <urn:p> "good" .')
    (error,) = project.ingest().errors
    assert "source bad: " in str(error)
    assert project.rows("transactions", "source") == [("good",)]


@pytest.mark.parametrize(
    ("columns", "declared", "feed", "message"),
    [
        (ROW, {}, False, "change feed"),
        (ROW, {"columns": {"subject": "s"}}, True, "no column s"),
        (ROW | {"object": [1]}, {}, True, "object is not a string"),
    ],
)
def test_a_foreign_table_that_is_not_as_declared_stops_its_source_before_it_is_read(
    project: Project,
    columns: dict[str, list[Any]],
    declared: dict[str, Any],
    feed: bool,
    message: str,
) -> None:
    table(project.folder / "bad", columns, feed)
    source = {"kind": "delta", "location": "bad", **declared}
    _, error = ingest_beside_a_good_source(project, source)
    assert message in error


def test_a_foreign_table_that_lost_what_was_ingested_stops_its_source(project: Project) -> None:
    project.declare({"name": "bad", "kind": "patches", "location": "bad"})
    project.patch("bad/7.rdfp", 'A <urn:s> <urn:p> "1" .')
    project.ingest()
    table(project.folder / "table", ROW)
    project.declare({"name": "bad", "kind": "delta", "location": "table"})
    (error,) = project.ingest().errors
    assert "source bad: " in str(error)
    assert "7.rdfp" in str(error)


def test_a_foreign_table_whose_newest_files_are_lost_stops_its_source_only(
    spark: SparkSession, project: Project
) -> None:
    table(project.folder / "bad", ROW)
    for uri in DeltaTable(project.folder / "bad").file_uris():
        Path(uri).unlink()
    _, message = ingest_beside_a_good_source(project, {"kind": "delta", "location": "bad"}, spark)
    assert "no longer there" in message


def test_a_folder_that_is_linked_from_elsewhere_stops_its_source_only(project: Project) -> None:
    project.write("elsewhere/1.nq", '<urn:s> <urn:p> "1" <urn:g> .')
    project.folders("bad")
    (project.folder / "bad/link").symlink_to("../elsewhere")
    source = {"kind": "snapshots", "location": "bad"}
    result, message = ingest_beside_a_good_source(project, source)
    assert result.sources[0].position is None
    assert "leaves the folder of the source" in message
    assert "bad/link" in message
