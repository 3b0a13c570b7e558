"""Commands over a damaged lake name table and file and end with 1; doctor finds missing files."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.damage import damage_the_pages
from tests.support.projects.command_line import Weir
from weir.errors import EXIT_FAILED, EXIT_QUALITY, EXIT_USAGE

LOG = "lake/triples/_delta_log"


def newest(pattern: str) -> Path:
    return max(Path().glob(pattern))


def garble_a_commit() -> Path:
    file = newest(f"{LOG}/*.json")
    file.write_text("{not json")
    return file


def empty_a_commit() -> Path:
    file = newest(f"{LOG}/*.json")
    file.write_bytes(b"")
    return file


def remove_a_data_file() -> Path:
    file = newest("lake/transactions/*.parquet")
    file.unlink()
    return file


def put_a_file_in_the_place_of_the_lake() -> Path:
    shutil.rmtree("lake")
    Path("lake").write_text("mine")
    return Path("lake")


@pytest.fixture(autouse=True)
def project(has_run: None) -> None:
    """A project that has run, with a second version that has not, and no Spark."""
    del has_run
    first = Path("data/versions/001.ttl")
    Path("data/versions/002.ttl").write_text(first.read_text().replace('"1"', '"2"'))


@pytest.mark.parametrize(
    "damage",
    [
        garble_a_commit,
        empty_a_commit,
        remove_a_data_file,
        put_a_file_in_the_place_of_the_lake,
    ],
)
def test_a_damaged_lake_is_named_by_run_and_doctor(weir: Weir, damage: Callable[[], Path]) -> None:
    file = damage()
    called = weir("run")
    assert called.code == EXIT_FAILED
    assert str(file) in called.err
    assert "next: " in called.err
    for noise in ("Traceback", "Unexpected error", "unknown>", "\x1b"):
        assert noise not in called.err
    findings = weir("doctor", "--output", "json")
    assert findings.code == EXIT_FAILED
    wrong = [row for row in findings.json if not row["ok"] and row["check"] != "Java"]
    assert [row for row in wrong if str(file) in row["found"] and row["fix"]]


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize(
    ("table", "arguments"),
    [
        ("runs", ["run"]),
        ("runs", ["status"]),
        ("runs", ["repair", "--yes"]),
        ("source_files", ["run"]),
        ("source_files", ["status"]),
        ("quality", ["site"]),
        ("answers/exhibits", ["show", "exhibits"]),
        ("answers/exhibits", ["log", "exhibits"]),
        ("current/exhibits", ["sql", "SELECT count(*) FROM exhibits_current"]),
        ("quads", ["sql", "SELECT count(*) FROM quads_current"]),
    ],
)
def test_a_damaged_data_file_is_named_by_every_command_that_reads_it(
    weir: Weir, table: str, arguments: list[str]
) -> None:
    file = newest(f"lake/{table}/*.parquet")
    damage_the_pages(file)
    called = weir(*arguments)
    assert called.code == EXIT_FAILED
    assert f"not what was written (table {table})\nwhere: {file.absolute()}\nnext: " in called.err
    assert "Unexpected error" not in called.err


def test_the_file_at_the_place_of_the_lake_is_named_itself(weir: Weir) -> None:
    file = put_a_file_in_the_place_of_the_lake()
    assert f"where: {file.absolute()}\n" in weir("run").err


def test_audit_prints_every_damaged_file(weir: Weir) -> None:
    for number in range(2, 5):
        Path(f"data/versions/00{number}.ttl").write_text(f'<urn:a> <urn:p> "{number}" .')
        weir("run")
    files = [*Path("lake/quads").glob("*.parquet")]
    assert len(files) > 2
    for file in files:
        damage_the_pages(file)
    called = weir("audit")
    assert called.code == EXIT_QUALITY
    assert [file for file in files if str(file.absolute()) not in called.err] == []


@pytest.mark.parametrize("command", [["audit"], ["repair", "--yes"]])
def test_without_a_lake_nothing_is_audited_or_written(weir: Weir, command: list[str]) -> None:
    shutil.rmtree("lake")
    called = weir(*command)
    assert called.code == EXIT_USAGE
    assert f"there is no lake at {Path('lake').absolute()}" in called.err
    assert not Path("lake").exists()


@pytest.mark.parametrize("table", ["triples", "embeddings/exhibits", "answers/exhibits"])
def test_doctor_names_the_repair_of_a_table_that_follows_from_others(
    weir: Weir, table: str
) -> None:
    newest(f"lake/{table}/*.parquet").unlink()
    findings = weir("doctor", "--output", "json").json
    (fix,) = {row["fix"] for row in findings if row["check"] == f"table {table}"}
    assert "`weir repair` rebuilds the table" in fix


def test_doctor_says_that_it_does_not_read_the_content_of_files(weir: Weir) -> None:
    damage_the_pages(newest("lake/quads/*.parquet"))
    findings = weir("doctor", "--output", "json").json
    (row,) = (row for row in findings if row["check"] == "files of tables")
    assert row["ok"]
    assert row["found"].endswith(" are there; `weir audit` reads them")
