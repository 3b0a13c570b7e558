"""Answers as files: CSV, JSON lines, Parquet, Arrow, DuckDB, and statements for other engines."""

from __future__ import annotations

import csv
import io
import json
import shutil
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import weir
from tests.support.projects.command_line import Weir
from weir.cli import main
from weir.export.tables import defined

DATA = r"""@prefix : <http://example.org/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:vase :title "Vase, \"Greek\"\nold"@en ; :worth 1200.5 ; :lent "2026-05-01"^^xsd:date ; :copies 1 .
:coin :title "Münze"@de ; :worth 80 ; :copies 900 .
:mask :title "" ; :worth 9000 ; :copies 2 .
"""
QUERY = """#+ description: What there is.
#+ columns: {worth: in euros}
#+ types: {worth: decimal(2)}
PREFIX : <http://example.org/>
SELECT ?title ?worth ?lent ?copies {
  ?o :title ?title ; :worth ?worth ; :copies ?copies . OPTIONAL { ?o :lent ?lent }
}
"""
ROWS: list[tuple[Any, ...]] = [
    ("", Decimal("9000.00"), None, 2, 1),
    ("Münze", Decimal("80.00"), None, 900, 1),
    ('Vase, "Greek"\nold', Decimal("1200.50"), date(2026, 5, 1), 1, 1),
]
NAMES = ["title", "worth", "lent", "copies", "weight"]


@pytest.fixture(scope="module")
def project_that_ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("objects")
    assert main(["init", str(folder)]) == 0
    (folder / "data/versions/001.ttl").write_text(DATA)
    (folder / "queries/objects.rq").write_text(QUERY)
    with weir.Project(folder) as project:
        project.run()
    return folder


@pytest.fixture(autouse=True)
def _here(project_that_ran: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(project_that_ran, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Weir:
    return Weir(capsys)


def test_csv_is_read_by_another_reader(call: Weir) -> None:
    assert call("export", "data", "objects", "--to", "o.csv").out == "Wrote 3 rows to o.csv.\n"
    head, *rows = csv.reader(io.StringIO(Path("o.csv").read_text(), newline=""))
    assert head == NAMES
    assert rows == [["" if cell is None else str(cell) for cell in row] for row in ROWS]


def test_an_unbound_value_differs_from_an_empty_text_in_csv(call: Weir) -> None:
    call("export", "data", "objects", "--to", "o.csv")
    assert '"",9000.00,,2,1' in Path("o.csv").read_text().splitlines()


def test_json_lines_have_an_object_per_row(call: Weir) -> None:
    call("export", "data", "objects", "--to", "o.jsonl")
    lines = Path("o.jsonl").read_text().splitlines()
    plain = [[cell if isinstance(cell, int | None) else str(cell) for cell in row] for row in ROWS]
    assert [json.loads(line) for line in lines] == [
        dict(zip(NAMES, row, strict=True)) for row in plain
    ]


def test_parquet_has_the_types_for_another_reader(call: Weir) -> None:
    call("export", "data", "objects", "--to", "o.parquet")
    read = duckdb.execute("SELECT * FROM 'o.parquet'")
    assert [str(column[1]) for column in read.description or ()] == [
        "VARCHAR",
        "DECIMAL(38,2)",
        "DATE",
        "BIGINT",
        "BIGINT",
    ]
    assert read.fetchall() == ROWS


def test_arrow_has_the_rows(call: Weir) -> None:
    call("export", "data", "objects", "--to", "o.arrow")
    table = pa.ipc.open_file("o.arrow").read_all()
    assert [tuple(row.values()) for row in table.to_pylist()] == ROWS


@pytest.mark.parametrize("option", ["--at", "--as-of"])
def test_an_earlier_answer_is_what_show_prints_of_it(call: Weir, option: str) -> None:
    first = [{**row, "weight": 1} for row in call("show", "objects", "--output", "json").json]
    Path("data/versions/002.ttl").write_text(DATA.replace(":copies 2", ":copies 3"))
    assert call("run").code == 0
    assert call("show", "objects", "--output", "json").json != first
    for epoch in ("1", "2"):
        called = call("export", "data", "objects", option, epoch, "--to", f"{epoch}.jsonl")
        assert called.out == f"Wrote 3 rows to {epoch}.jsonl.\n"
        rows = [json.loads(line) for line in Path(f"{epoch}.jsonl").read_text().splitlines()]
        shown = call("show", "objects", option, epoch, "--output", "json").json
        assert sorted(rows, key=str) == sorted(shown, key=str)
    assert Path("1.jsonl").read_text() != Path("2.jsonl").read_text()
    assert call("export", "data", "objects", option, "3").code == 2


def test_exact_terms_come_if_they_are_wanted(call: Weir) -> None:
    call("export", "data", "objects", "--to", "o.jsonl", "--terms")
    row = json.loads(Path("o.jsonl").read_text().splitlines()[1])
    assert (row["title_term"], row["title_lang"]) == ('"Münze"@de', "de")


@pytest.mark.parametrize("options", [[], ["--to", "-"]])
def test_without_a_file_csv_is_printed(
    capfdbinary: pytest.CaptureFixture[bytes], options: list[str]
) -> None:
    assert main(["export", "data", "objects", *options]) == 0
    assert capfdbinary.readouterr().out.startswith(b'"title","worth"')


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet", "arrow"])
def test_equal_answers_give_equal_files(call: Weir, ending: str) -> None:
    for name in ("a", "b"):
        assert call("export", "data", "objects", "--to", f"{name}.{ending}").code == 0
    assert Path(f"a.{ending}").read_bytes() == Path(f"b.{ending}").read_bytes()


@pytest.mark.parametrize(
    ("type_", "bytes_"), [(pa.decimal128(38, 2), 16), (pa.int64(), 8), (pa.date32(), 4)]
)
def test_what_memory_holds_below_missing_values_is_not_written(
    type_: pa.DataType, bytes_: int
) -> None:
    written = []
    for rest in (b"\x00", b"\xff"):
        # The first of three values is there. The bits of a bitmap beyond three are not used.
        bitmap = pa.py_buffer(bytes([0b001 | rest[0] & 0b11111000]))
        values = pa.py_buffer(b"\x01".ljust(bytes_, b"\x00") + rest * (2 * bytes_))
        column = pa.Array.from_buffers(type_, 3, [bitmap, values])
        batch = defined(pa.RecordBatch.from_arrays([column], ["x"]))
        assert batch.column(0).equals(column)
        output = io.BytesIO()
        with pa.ipc.new_file(output, batch.schema) as file:
            file.write_batch(batch)
        written.append(output.getvalue())
    assert written[0] == written[1]


def test_booleans_are_written_without_what_is_beyond_them() -> None:
    written = set()
    for rest in (0, 0b11111000):
        column = pa.Array.from_buffers(pa.bool_(), 3, [None, pa.py_buffer(bytes([0b101 | rest]))])
        buffer = defined(pa.RecordBatch.from_arrays([column], ["x"])).column(0).buffers()[1]
        assert buffer is not None
        written.add(buffer.to_pybytes()[:1])
    assert len(written) == 1


def test_an_ending_without_a_format_is_refused_with_those_that_have_one(call: Weir) -> None:
    refused = call("export", "data", "objects", "--to", "o.xlsx")
    assert refused.code == 2
    assert ".csv, .jsonl, .parquet, .arrow" in refused.err
    assert not Path("o.xlsx").exists()


def test_a_duckdb_file_has_a_table_per_answer_with_its_comments(call: Weir) -> None:
    assert call("export", "duckdb", "all.duckdb").out == "Wrote 2 tables to all.duckdb.\n"
    with duckdb.connect("all.duckdb", read_only=True) as database:
        assert database.execute("SELECT * FROM objects").fetchall() == ROWS
        comments = dict(
            database.execute("SELECT column_name, comment FROM duckdb_columns()").fetchall()
        )
        tables = "SELECT table_name, comment FROM duckdb_tables() ORDER BY ALL"
        assert database.execute(tables).fetchall()[1] == ("objects", "What there is.")
    assert comments["worth"] == "in euros"


def test_a_comment_on_a_column_that_is_not_published_yet_is_left_out(call: Weir) -> None:
    Path("queries/objects.rq").write_text(
        QUERY.replace("in euros}", 'in euros, what: "?"}')
        .replace("?copies {", "?copies ?what {")
        .replace(":copies ?copies .", ":copies ?copies ; a ?what .")
    )
    assert call("export", "duckdb", "all.duckdb").code == 0


def test_numbers_that_json_lacks_are_texts(call: Weir) -> None:
    Path("queries/odd.rq").write_text(
        'SELECT ?n { VALUES ?n { "INF"^^<http://www.w3.org/2001/XMLSchema#double> '
        '"NaN"^^<http://www.w3.org/2001/XMLSchema#double> 1e0 } }'
    )
    assert main(["run"]) == 0
    call("export", "data", "odd", "--to", "o.jsonl")

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    lines = Path("o.jsonl").read_text().splitlines()
    rows = [json.loads(line, parse_constant=refuse) for line in lines]
    assert sorted(str(row["n"]) for row in rows) == ["1.0", "inf", "nan"]


def test_a_file_with_anything_but_answers_is_not_replaced(call: Weir) -> None:
    with duckdb.connect("mine.duckdb") as database:
        database.execute("CREATE TABLE precious (x INTEGER)")
    Path("text.duckdb").write_text("mine")
    for name, why in (("mine", "no answers: precious"), ("text", "no DuckDB file")):
        before = Path(f"{name}.duckdb").read_bytes()
        refused = call("export", "duckdb", f"{name}.duckdb")
        assert refused.code == 2
        assert why in refused.err
        assert Path(f"{name}.duckdb").read_bytes() == before


def test_a_duckdb_file_is_replaced_as_a_whole(call: Weir) -> None:
    call("export", "duckdb", "all.duckdb")
    assert call("export", "duckdb", "all.duckdb", "--select", "exhibits").code == 0
    with duckdb.connect("all.duckdb", read_only=True) as database:
        assert database.execute("SELECT table_name FROM duckdb_tables()").fetchall() == [
            ("exhibits",)
        ]
    before = Path("all.duckdb").read_bytes()
    Path("queries/new.rq").write_text(QUERY)
    assert call("export", "duckdb", "all.duckdb", "--select", "none*").code == 2
    assert Path("all.duckdb").read_bytes() == before
    assert not [*Path().glob(".all*")]


@pytest.mark.parametrize(
    ("dialect", "statement"),
    [
        ("duckdb", "CREATE OR REPLACE VIEW \"objects\" AS SELECT * FROM delta_scan('{place}');"),
        ("spark", "CREATE TABLE IF NOT EXISTS `objects` USING delta LOCATION '{place}';"),
        (
            "trino",
            "CALL delta.system.register_table(schema_name => 'weir', table_name => 'objects',"
            " table_location => '{place}');",
        ),
    ],
)
def test_statements_name_the_tables_where_they_are(
    call: Weir, dialect: str, statement: str
) -> None:
    place = Path("lake/current/objects").absolute()
    printed = call("export", "views", "--dialect", dialect).out.splitlines()
    assert statement.format(place=place) in printed
    others = call("export", "views", "--dialect", dialect, "--exclude", "objects").out
    assert statement.format(place=place) not in others
