"""Every command that runs without Spark, over a lake written by hand."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.support.projects.command_line import Weir
from tests.support.projects.handmade import HandMadeLake, publish_by_hand
from tests.support.projects.project import Project
from weir.answers.prefixes import prefixes_of
from weir.definitions.catalog import Catalog
from weir.errors import EXIT_BUSY, EXIT_FAILED, EXIT_QUALITY, EXIT_USAGE
from weir.ingest.sources.declared import load_sources
from weir.lake.ledger.runs import FAILED, SUCCEEDED, LedgerRow, record
from weir.progress.watermarks import head
from weir.project import open_lake
from weir.settings import Settings
from weir.stage import claimed

SELECT = "SELECT ?s ?o WHERE { ?s <http://a/p> ?o }"
A, B, C = "<http://a/a>", r'"b\"\u0001"@en', "_:c"


@pytest.fixture
def published(
    written: HandMadeLake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> HandMadeLake:
    """q: (a, b) and (a, c) at epoch 1, (a, b) gone and (c, unbound) twice at epoch 2."""
    lake = written.copy(tmp_path / "project")
    monkeypatch.chdir(lake.project.folder)
    return lake


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> HandMadeLake:
    """What `published` copies."""
    lake = HandMadeLake(Project(tmp_path_factory.mktemp("written")))
    lake.query("q", SELECT)
    lake.ingest(2)
    changes = [(1, 1, A, B), (1, 1, A, C), (2, -1, A, B), (2, 2, C, None)]
    lake.maintain("q", changes, mode="initial")
    publish_by_hand(lake, "q", ["s", "o"], changes, watermark=2, is_maintained=True)
    return lake


def test_starting_imports_no_heavy_library() -> None:
    code = "import sys, weir.cli.app; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = done.stdout.split()
    loaded = {name.partition(".")[0] for name in modules}
    heavy = {
        *("pyspark", "great_expectations", "duckdb", "deltalake", "pyarrow", "pandas", "numpy"),
        *("rdflib", "pyoxigraph", "sqlglot", "pydantic", "yaml", "altair"),
    }
    assert (loaded & heavy, "weir.lake.lake" in modules) == (set(), False)


@pytest.mark.parametrize("command", ["show", "log"])
def test_printing_an_answer_imports_no_stage_parser_or_plan(
    published: HandMadeLake, command: str
) -> None:
    del published
    code = f"import sys; from weir.cli import main; main(['{command}', 'q']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {".".join(name.split(".")[:2]) for name in done.stdout.split()}
    assert "weir.cli" in loaded
    unused = ("ingest", "maintain", "validate", "publish", "plan", "sparql")
    assert loaded & {f"weir.{name}" for name in (*unused, "rdf", "engine", "timeline")} == set()


def test_init_writes_a_valid_project(
    weir: Weir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert weir("init", "museum").code == 0
    settings = Settings.load(tmp_path / "museum/weir.toml")
    assert [source.name for source in load_sources(settings.sources)] == ["museum"]
    catalog = Catalog.of(settings)
    assert ([query.name for query in catalog.members], catalog.errors) == (["exhibits"], {})


def test_answers_are_typed_tables_in_a_new_project_and_not_without_the_setting(
    weir: Weir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    weir("init")
    file = tmp_path / "weir.toml"
    assert Settings.load(file).limits.current_rows == 100_000
    file.write_text(file.read_text().replace("current_rows =", "# current_rows ="))
    assert Settings.load(file).limits.current_rows == 0


def test_init_refuses_a_folder_with_files(
    weir: Weir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("mine")
    called = weir("init")
    assert called.code == EXIT_USAGE
    assert "notes.txt" in called.err
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_show_prints_the_newest_answer_in_plain_values(weir: Weir, published: HandMadeLake) -> None:
    del published
    assert weir("show", "q", "--output", "json").json == [
        {"s": "_:c", "o": None, "weight": 2},
        {"s": "http://a/a", "o": "_:c", "weight": 1},
    ]


def test_show_prints_an_earlier_answer_in_exact_terms(weir: Weir, published: HandMadeLake) -> None:
    del published
    assert weir("show", "q", "--at", "1", "--terms", "--output", "json").json == [
        {"s": A, "o": B, "weight": 1},
        {"s": A, "o": C, "weight": 1},
    ]


@pytest.mark.parametrize("command", [("show", "q"), ("log", "q")])
def test_iris_are_shortened_for_people_by_the_prefixes_of_query_and_project(
    weir: Weir, published: HandMadeLake, command: tuple[str, str]
) -> None:
    assert A.strip("<>") in weir(*command).out
    published.project.write("weir.toml", 'lake = "lake"\n[prefixes]\nown = "http://a/"\n')
    assert "own:a" in weir(*command).out
    # That of the query comes first, also if its name is later.
    published.query("q", f"PREFIX zz: <http://a/>\n{SELECT}")
    assert "zz:a" in weir(*command).out
    for more in (("--full",), ("--terms",), ("--output", "json")):
        assert A.strip("<>") in weir(*command, *more).out


@pytest.mark.parametrize("command", ["show", "log"])
def test_shortened_rows_are_in_the_order_of_the_whole_ones(
    weir: Weir, lake: HandMadeLake, command: str
) -> None:
    lake.query("q", "PREFIX z: <http://a/>\nSELECT ?s ?o WHERE { ?s <http://a/p> ?o }")
    lake.ingest(1)
    subjects = ("<http://a/x>", "<http://b/x>", '"http://a/y"', "<http://a/x/y>")
    changes = [(1, 1, subject, None) for subject in subjects]
    lake.maintain("q", changes, mode="initial")
    publish_by_hand(lake, "q", ["s", "o"], changes, watermark=1, is_maintained=True)
    lines = [
        weir(command, "q", *more).out.replace("z:x", "http://a/x") for more in ([], ["--full"])
    ]
    values = [re.findall(r"http://\S+", shown) for shown in lines]
    assert values[0] == values[1] == ["http://a/x", "http://a/x/y", "http://a/y", "http://b/x"]
    first = weir(command, "q", "--limit", "1").out
    assert "z:x" in first


@pytest.mark.parametrize(
    ("text", "prefixes"),
    [
        ("PREFIX a: <urn:a:> prefix b: <urn:b:> SELECT * {}", {"a": "urn:a:", "b": "urn:b:"}),
        ("#+ owner: ana\nBASE <http://x/>\nPREFIX : # of all\n  <urn:a:>\n", {"": "urn:a:"}),
        ('PREFIX a: <urn:a:> SELECT * { ?s ?p """\nPREFIX b: <urn:b:>\n""" }', {"a": "urn:a:"}),
        # A relative one is left out; the project's has the name, then.
        ("PREFIX own: <other/>\n", {}),
        ("PREFIX own: <urn:a:>\n", {"own": "urn:a:"}),
        ("SELECT * {", {}),
    ],
)
def test_the_prefixes_of_a_query_are_those_of_its_prologue(
    lake: HandMadeLake, text: str, prefixes: dict[str, str]
) -> None:
    lake.query("q", text)
    settings = lake.settings.model_copy(update={"prefixes": {"own": "urn:own:"}})
    assert prefixes_of(settings, "q") == {"own": "urn:own:"} | prefixes
    assert next(iter(prefixes_of(settings, "q"))) == next(iter(prefixes), "own")


def test_the_prefixes_of_a_program_are_those_of_its_head(lake: HandMadeLake) -> None:
    folder = lake.settings.programs
    folder.mkdir()
    (folder / "alarms.lars").write_text('%+ prefixes: {"": "urn:a:", b: "urn:b:"}\nx(Y) :- z(Y).\n')
    assert prefixes_of(lake.settings, "alarms") == {"": "urn:a:", "b": "urn:b:"}
    (folder / "alarms.lars").write_text("%+ prefixes: [\n")
    assert prefixes_of(lake.settings, "alarms") == {}


def test_a_prefix_that_is_none_is_refused(weir: Weir, published: HandMadeLake) -> None:
    published.project.write("weir.toml", 'prefixes = {"a:" = "http://a/"}\n')
    called = weir("show", "q")
    assert called.code == EXIT_USAGE
    assert "'a:' is no prefix; write it without its colon" in called.err


def test_show_says_when_it_leaves_rows_out(weir: Weir, published: HandMadeLake) -> None:
    del published
    assert "--limit 0 for all" in weir("show", "q", "--limit", "1").out
    assert "--limit" not in weir("show", "q", "--limit", "2").out


def test_show_leaves_out_the_columns_of_earlier_texts_of_the_query(
    weir: Weir, lake: HandMadeLake
) -> None:
    lake.query("q", SELECT)
    lake.ingest(2)
    changes = [(1, 1, None, A), (2, -1, None, A), (2, 1, B)]
    publish_by_hand(lake, "q", ["new"], changes, watermark=2, stored=["old"])
    assert weir("show", "q", "--output", "json").json == [{"new": 'b"\x01', "weight": 1}]
    assert weir("log", "q", "--output", "json").json[0]["old"] == "http://a/a"


def test_show_has_the_columns_of_the_text_that_was_valid_at_the_epoch(
    weir: Weir, lake: HandMadeLake
) -> None:
    lake.query("q", SELECT)
    lake.ingest(6)
    first = [(2, 1, A), (2, 1, B)]
    publish_by_hand(lake, "q", ["old"], first, watermark=3, stored=["new"], base=2)
    edited = [(5, -1, None, A), (5, -1, None, B), (5, 1, B, None)]
    publish_by_hand(lake, "q", ["new"], edited, watermark=6, stored=["old"], base=5)
    old = [{"old": 'b"\x01', "weight": 1}, {"old": "http://a/a", "weight": 1}]
    new = [{"new": 'b"\x01', "weight": 1}]
    shown = {at: weir("show", "q", "--at", at, "--output", "json").json for at in "123456"}
    assert shown == {"1": [], "2": old, "3": old, "4": old, "5": new, "6": new}
    assert weir("show", "q", "--output", "json").json == new


def test_show_says_that_an_epoch_does_not_exist_yet(weir: Weir, published: HandMadeLake) -> None:
    newest = head(open_lake(published.settings))
    assert weir("show", "q", "--at", str(newest)).code == 0
    called = weir("show", "q", "--at", str(newest + 1))
    assert called.code == EXIT_USAGE
    assert f"the newest is {newest}" in called.err


def test_show_says_that_an_epoch_is_not_published(weir: Weir, lake: HandMadeLake) -> None:
    lake.query("q", SELECT)
    lake.ingest(3)
    publish_by_hand(lake, "q", ["s"], [(1, 1, A)], watermark=2)
    assert weir("show", "q", "--at", "2").code == 0
    called = weir("show", "q", "--at", "3")
    assert called.code == EXIT_USAGE
    assert "published up to epoch 2" in called.err


def test_log_prints_the_changes_of_the_given_epochs(weir: Weir, published: HandMadeLake) -> None:
    del published
    cause = {"event_time": "2026-01-03T00:00:00+00:00", "changed by": "s: 2"}
    assert weir("log", "q", "--from", "2", "--output", "json").json == [
        {"epoch": 2, "weight": 2, "s": "_:c", "o": None, **cause},
        {"epoch": 2, "weight": -1, "s": "http://a/a", "o": 'b"\x01', **cause},
    ]
    epochs = [row["epoch"] for row in weir("log", "q", "--to", "1", "--output", "json").json]
    assert epochs == [1, 1]


def test_rows_that_json_leaves_out_are_noted(weir: Weir, published: HandMadeLake) -> None:
    del published
    called = weir("show", "q", "--limit", "1", "--output", "json")
    assert (len(called.json), called.err) == (1, "note: the first 1 rows (--limit 0 for all)\n")
    assert weir("show", "q", "--output", "json").err == ""


def test_sql_reads_answers_as_views(weir: Weir, published: HandMadeLake) -> None:
    del published
    statement = "SELECT s, o, weight, s_term, o_term FROM q_current ORDER BY s"
    assert weir("sql", statement, "--output", "json").json == [
        {"s": "_:c", "o": None, "weight": 2, "s_term": C, "o_term": None},
        {"s": "http://a/a", "o": "_:c", "weight": 1, "s_term": A, "o_term": C},
    ]
    statement = "SELECT epoch, sum(weight) AS n FROM Q_CHANGES GROUP BY epoch ORDER BY epoch"
    assert weir("sql", statement, "--output", "json").json == [
        {"epoch": 1, "n": 2},
        {"epoch": 2, "n": 1},
    ]


def test_sql_reads_the_graph_as_it_is_now(weir: Weir, lake: HandMadeLake) -> None:
    lake.ingest(1)
    lake.ingest(1, weight=-1)
    assert weir("sql", "SELECT * FROM quads_current", "--output", "json").json == [
        {"graph": "", "subject": "<http://a/1>", "predicate": "<http://a/p>", "object": '"o"'}
    ]


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM read_csv('weir.toml')",
        "SELECT * FROM read_text('weir.toml')",
        "SELECT * FROM glob('*')",
    ],
)
@pytest.mark.usefixtures("published")
def test_sql_reads_nothing_but_the_views(weir: Weir, statement: str) -> None:
    called = weir("sql", statement)
    assert called.code == EXIT_FAILED
    assert re.search("access|configuration", called.err)


@pytest.mark.parametrize(
    "statement",
    [
        "COPY (SELECT 1) TO 'written.csv'",
        "COPY q_current TO 'lake/answers/q/_delta_log/00000000000000000009.json'",
        "ATTACH 'written.csv' AS other",
        "EXPORT DATABASE 'written.csv'",
        "INSTALL httpfs",
        "SET enable_external_access = true",
        "RESET lock_configuration",
        "CREATE TABLE t AS SELECT 1",
        "CREATE TABLE t AS PIVOT q_current ON s",
        "DROP VIEW runs",
        "INSERT INTO runs SELECT * FROM runs",
        "EXPLAIN ANALYZE CREATE TABLE t AS SELECT 1",
        "explain (analyze, format json) create table t as select 1",
        "CALL pragma_version()",
        "BEGIN",
    ],
)
@pytest.mark.usefixtures("published")
def test_sql_refuses_a_statement_that_does_not_only_read(
    weir: Weir, tmp_path: Path, statement: str
) -> None:
    before = sorted(tmp_path.rglob("*"))
    called = weir("sql", statement)
    assert (called.code, called.out) == (EXIT_USAGE, "")
    assert "`weir sql` only reads" in called.err
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT 1",
        "(SELECT 1)",
        "WITH a AS (SELECT 1) SELECT * FROM a",
        "FROM q_current",
        "VALUES (1)",
        "/* all */ SHOW TABLES",
        "DESCRIBE q_current",
        "SUMMARIZE q_current",
        "PIVOT q_current ON s USING count(*)",
        "/* two */ PIVOT q_current ON s USING count(*)",
        "EXPLAIN SELECT 1",
        "EXPLAIN ANALYZE (SELECT 1);",
        "explain (format json) select 1",
    ],
)
@pytest.mark.usefixtures("published")
def test_sql_runs_every_statement_that_reads(weir: Weir, statement: str) -> None:
    called = weir("sql", statement)
    assert (called.code, called.err) == (0, "")


@pytest.mark.usefixtures("published")
def test_sql_refuses_more_than_one_statement(weir: Weir) -> None:
    called = weir("sql", "SELECT 1; SELECT 2")
    assert (called.code, called.out) == (EXIT_USAGE, "")
    assert "these are 2 statements" in called.err


@pytest.mark.parametrize("statement", ["", "  \n", "/* nothing */"])
@pytest.mark.usefixtures("published")
def test_an_empty_statement_is_a_usage_error(weir: Weir, statement: str) -> None:
    called = weir("sql", statement)
    assert (called.code, called.out) == (2, "")
    assert "the statement is empty" in called.err


@pytest.mark.usefixtures("published")
def test_data_does_not_act_on_the_terminal(weir: Weir) -> None:
    """Escape sequences, C1 controls and bidirectional controls are shown as escapes."""
    hostile = "chr(27) || '[2J' || chr(155) || chr(8238) || chr(13) || chr(10)"
    called = weir("sql", f"SELECT {hostile} AS \"a\x1b[31m\", 'b' AS c")
    assert "\\x1b[2J\\x9b\\u202e\\r\\n" in called.out
    as_json = weir("--output", "json", "sql", f"SELECT {hostile} AS a")
    assert as_json.json == [{"a": "\x1b[2J\x9b\u202e\r\n"}]
    failed = weir("show", "no\x1b[31m\u202equery")
    for text in (called.out, as_json.out, failed.err):
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", text)


def test_sql_lists_the_views_when_one_does_not_exist(weir: Weir, published: HandMadeLake) -> None:
    del published
    called = weir("sql", "SELECT * FROM nothing")
    assert called.code == EXIT_FAILED
    assert "q_current, q_changes" in called.err


@pytest.mark.usefixtures("published")
def test_an_unknown_function_is_not_answered_with_the_views(weir: Weir) -> None:
    called = weir("sql", "SELECT summ(weight) FROM q_current")
    assert called.code == EXIT_FAILED
    assert "Function with name summ does not exist" in called.err
    assert "q_changes" not in called.err


@pytest.mark.parametrize("command", ["show", "log"])
def test_an_unpublished_query_and_an_unknown_one_get_different_errors(
    weir: Weir, published: HandMadeLake, command: str
) -> None:
    published.query("new", SELECT)
    called = weir(command, "new")
    assert (called.code, "weir run" in called.err) == (EXIT_USAGE, True)
    called = weir(command, "nothing")
    assert (called.code, "There are: q, new." in called.err) == (EXIT_USAGE, True)


def test_status_shows_the_state_of_every_query(weir: Weir, published: HandMadeLake) -> None:
    published.query("broken", "SELECT")
    published.query("new", SELECT)
    publish_by_hand(published, "removed", ["s"], [(1, 1, A)], watermark=1)
    published.query("held", SELECT)
    publish_by_hand(published, "held", ["s", "o"], [], watermark=0)
    published.maintain("held", [(1, -1, A, B)], mode="initial")
    lake = open_lake(published.settings)
    (maintained,) = [
        last[1].run_id for last in [lake.last_metadata("embeddings/held", job="maintain")] if last
    ]
    verdict = LedgerRow("v", "validate", 1, FAILED, "held", "initial", "wrong", -1, 2)
    rows = [
        LedgerRow("m", "maintain", 1, SUCCEEDED, "q", "incremental", "because", 1, 2),
        replace(verdict, table_version=1, checked_run=maintained),
    ]
    record(open_lake(published.settings), rows)
    by_query = {row.pop("query"): row for row in weir("status", "--output", "json").json["queries"]}
    assert {query: row["state"] for query, row in by_query.items()} == {
        "broken": "broken",
        "held": "held",
        "new": "new",
        "q": "current",
        "removed": "removed",
    }
    q, held = by_query["q"], by_query["held"]
    assert (q["published"], q["lag_epochs"], q["lag"], q["rows"]) == (2, 0, 0, 3)
    assert (q["mode"], q["reason"]) == ("incremental", "because")
    assert (held["watermark"], held["published"], held["lag_epochs"]) == (2, 0, 2)
    assert held["lag"] > 0
    assert held["reason"] == "wrong"
    assert "broken.rq" in by_query["broken"]["reason"]


def test_status_says_that_a_query_was_edited_and_not_run_yet(
    weir: Weir, published: HandMadeLake
) -> None:
    published.maintain("q", [(1, 1, A, B)], mode="initial")
    published.query("q", "SELECT ?s ?o WHERE { ?s <http://a/edited> ?o }")
    (edited,) = weir("status", "--output", "json").json["queries"]
    assert (edited["state"], edited["reason"]) == ("behind", "edited: the next run recomputes it")


def test_showing_a_query_that_is_not_published_says_what_is_wrong_with_its_file(
    weir: Weir, published: HandMadeLake
) -> None:
    published.query("broken", "SELECT ?s WHERE { ?s ?p }")
    called = weir("show", "broken")
    assert called.code == EXIT_USAGE
    assert "broken.rq:1:" in called.err


def test_status_of_an_empty_project_succeeds_and_lists_no_query(
    weir: Weir, lake: HandMadeLake
) -> None:
    del lake
    assert weir("status").code == 0
    assert weir("status", "--output", "json").json["queries"] == []


def test_the_site_of_an_empty_project_says_what_publishes_the_first_answers(
    weir: Weir, lake: HandMadeLake
) -> None:
    del lake
    assert weir("site", "--to", "pages").out.startswith("Wrote ")
    assert "Nothing was published yet." in Path("pages/index.html").read_text()


def test_drop_deletes_the_tables_of_a_query_only_when_confirmed(
    weir: Weir, published: HandMadeLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("typer.confirm", _refuse)
    assert weir("drop", "q").code != 0
    assert open_lake(published.settings).exists("answers/q")
    assert weir("drop", "q", "--yes").code == 0
    assert not open_lake(published.settings).exists("answers/q")
    assert weir("drop", "q", "--yes").code == EXIT_USAGE


def test_drop_refuses_to_run_beside_another_run(weir: Weir, published: HandMadeLake) -> None:
    with claimed(open_lake(published.settings), "maintain", "other", 60):
        called = weir("drop", "q", "--yes")
    assert called.code == EXIT_BUSY
    assert open_lake(published.settings).exists("answers/q")


def test_drop_warns_that_a_registered_query_will_be_computed_again(
    weir: Weir, published: HandMadeLake
) -> None:
    published.query("q", SELECT)
    called = weir("drop", "q", "--yes")
    assert "still registered" in called.out


def _refuse(question: str, *, abort: bool) -> None:
    import typer

    assert question.startswith("Delete answers/q, ")
    assert abort
    raise typer.Abort


@pytest.mark.usefixtures("museum")
def test_doctor_accepts_a_valid_project(weir: Weir) -> None:
    called = weir("doctor", "--output", "json")
    assert [row for row in called.json if not row["ok"]] == []
    assert called.code == 0


@pytest.mark.usefixtures("museum")
def test_doctor_says_what_is_wrong_and_how_to_fix_it(
    weir: Weir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("queries/bad.rq").write_text("SELECT")
    Path("sources.yml").write_text("sources: 1")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "no java"))
    called = weir("doctor", "--output", "json")
    wrong = {row["check"]: row["fix"] for row in called.json if not row["ok"]}
    assert wrong.keys() == {"Java", "query", "sources"}
    assert all(wrong.values())
    assert called.code == EXIT_FAILED


@pytest.mark.usefixtures("museum")
def test_doctor_finds_a_source_whose_location_does_not_exist(weir: Weir) -> None:
    Path("data/versions").rename("data/moved")
    wrong = [row for row in weir("doctor", "--output", "json").json if not row["ok"]]
    assert [row["check"] for row in wrong] == ["source museum"]
    assert "data/versions does not exist" in wrong[0]["found"]


def test_an_unknown_setting_is_named(weir: Weir, lake: HandMadeLake) -> None:
    del lake
    Path("weir.toml").write_text('lakes = "tables"\n')
    called = weir("status")
    assert called.code == EXIT_USAGE
    assert "lakes: no such setting" in called.err


def test_status_says_what_is_wrong_with_the_sources(weir: Weir, lake: HandMadeLake) -> None:
    del lake
    Path("sources.yml").write_text("sources:\n  - {name: a, kind: patches, locatio: x}\n")
    printed = weir("status").out
    assert "Nothing is ingested:" in printed
    assert "locatio" in printed


def test_a_missing_configuration_file_is_named(weir: Weir, tmp_path: Path) -> None:
    called = weir("status", "--config", str(tmp_path / "other.toml"))
    assert called.code == EXIT_USAGE
    assert "other.toml" in called.err
    assert "Traceback" not in called.err


@pytest.mark.parametrize("folder", ["queries", "notes/2026"])
def test_a_command_in_a_folder_of_a_project_is_about_the_project(
    weir: Weir, published: HandMadeLake, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    published.project.write("weir.toml", 'lake = "lake"\n')
    expected = weir("show", "q").out
    below = published.project.folder / folder
    below.mkdir(parents=True, exist_ok=True)
    monkeypatch.chdir(below)
    assert weir("show", "q").out == expected
    # A folder with queries or sources of its own is another project.
    (below / "sources.yml").write_text("sources: []\n")
    assert weir("show", "q").code == EXIT_USAGE


def test_the_configuration_of_another_user_above_is_passed_over(
    weir: Weir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its settings could run programs."""
    config = tmp_path / "weir.toml"
    config.write_text("unknown = 1\n")
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    assert "unknown" in weir("status").err
    if os.getuid():
        monkeypatch.setattr(os, "getuid", lambda: config.stat().st_uid + 1)
    else:
        os.chown(config, 12_345, -1)
    assert "unknown" not in weir("status").err


def test_a_folder_that_is_in_no_project_is_said_to_be_in_none(
    weir: Weir, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The folders of tests may be in that of the repository, which is a project.
    monkeypatch.chdir("/")
    called = weir("status")
    assert called.code == EXIT_USAGE
    assert "this folder is not a project, nor in one" in called.err


def test_the_version_is_that_of_the_package(weir: Weir) -> None:
    assert weir("--version").out == f"weir {version('weir')}\n"


def test_debug_shows_the_traceback(weir: Weir, tmp_path: Path) -> None:
    called = weir("status", "--debug", "--config", str(tmp_path / "other.toml"))
    assert called.code == EXIT_USAGE
    assert "Traceback" in called.err


def test_an_unknown_command_is_a_usage_error(weir: Weir) -> None:
    assert weir("nothing").code == EXIT_USAGE


@pytest.mark.usefixtures("museum")
def test_status_lists_every_source_with_what_waits_and_what_was_rejected(weir: Weir) -> None:
    more = "  - {name: absent, kind: patches, location: nowhere}\n"
    Path("sources.yml").write_text(Path("sources.yml").read_text() + more)
    museum: dict[str, object] = {
        "source": "museum",
        "state": "behind",
        "position": None,
        "epoch": None,
        "age": None,
        "pending": 1,
        "rejected": 0,
        "rejected_last": 0,
        "since": None,
        "reason": None,
        "changed": [],
        "unread": None,
        "missing": None,
    }
    absent, present = weir("status", "--output", "json").json["sources"]
    assert present == museum
    assert (absent["source"], absent["state"]) == ("absent", "stopped")
    assert "nowhere" in absent["reason"]
    printed = weir("status").out
    assert "absent: stopped, because " in printed
    assert printed.index("Sources") < printed.index("museum")


@pytest.mark.usefixtures("museum")
def test_status_says_what_of_the_last_change_set_could_not_be_used_until_it_is_corrected(
    weir: Weir,
) -> None:
    weir("ingest")
    good = sorted(Path("data/versions").glob("*.ttl"))[-1]
    good.with_name("900.ttl").write_text("<html>")
    assert weir("ingest").code == 3
    assert (weir("status").code, weir("status", "--fail-on", "stopped").code) == (0, 3)
    assert "museum: 1 rejected" not in weir("status").out
    weir("ingest", "--accept", "museum")
    called = weir("status", "--fail-on", "rejected")
    assert called.code == 3
    assert "museum: 1 rejected in 900.ttl, its last change set;" in called.out
    good.with_name("901.ttl").write_text(good.read_text())
    weir("ingest")
    assert weir("status", "--fail-on", "rejected").code == 0


@pytest.mark.parametrize(
    ("fail_on", "code"),
    [("held", 3), ("behind", 3), ("stopped", 3), ("stale", 0), ("stale, held", 3)],
)
def test_status_fails_on_the_faults_that_are_named(
    weir: Weir, published: HandMadeLake, fail_on: str, code: int
) -> None:
    published.query("new", SELECT)
    published.query("broken", "SELECT ?s WHERE { ?s ?p }")
    published.query("held", SELECT)
    published.maintain("held", [(2, 1, A, B)], mode="initial")
    last = open_lake(published.settings).last_metadata("embeddings/held", job="maintain")
    assert last is not None
    run = last[1].run_id
    verdict = LedgerRow("v", "validate", 1, FAILED, "held", "initial", "wrong", -1, 2)
    record(
        open_lake(published.settings), [replace(verdict, table_version=last[0], checked_run=run)]
    )
    called = weir("status", "--fail-on", fail_on)
    assert called.code == code
    reasons = {"held": "held held: wrong", "behind": "behind new", "stopped": "stopped broken"}
    for name, reason in reasons.items():
        assert (reason in called.err) == (name in fail_on)


def test_an_unknown_fault_is_refused(weir: Weir, published: HandMadeLake) -> None:
    del published
    called = weir("status", "--fail-on", "held,late")
    assert called.code == EXIT_USAGE
    assert "late: no such fault" in called.err


@pytest.mark.parametrize("fail_on", ["", " , "])
def test_a_list_of_no_fault_is_refused(weir: Weir, published: HandMadeLake, fail_on: str) -> None:
    del published
    called = weir("status", "--fail-on", fail_on)
    assert called.code == EXIT_USAGE
    assert "no fault is named" in called.err


def test_status_without_a_list_of_faults_does_not_fail(weir: Weir, published: HandMadeLake) -> None:
    published.query("new", SELECT)
    assert weir("status").code == 0


def test_ls_lists_what_is_declared_with_owner_tags_and_state(
    weir: Weir, published: HandMadeLake
) -> None:
    published.query("r", f"#+ owner: ana\n#+ tags: [x, y]\n#+ description: All.\n{SELECT}")
    published.query("s", "SELECT")
    rows = {row["name"]: row for row in weir("ls", "--output", "json").json}
    assert [*rows] == ["q", "r", "s"]
    assert [row["state"] for row in rows.values()] == ["current", "new", "broken"]
    known = {"owner": "ana", "tags": ["x", "y"], "description": "All.", "columns": ["s", "o"]}
    assert rows["r"] == rows["r"] | known | {"kind": "query", "reads": ["triples"]}
    assert "x, y" in weir("ls").out
    assert [row["name"] for row in weir("ls", "--select", "tag:x", "--output", "json").json] == [
        "r"
    ]
    assert "Nothing is selected." in weir("ls", "--select", "state:held").out
    for file in published.settings.queries.iterdir():
        file.unlink()
    assert "Nothing is declared: write a query" in weir("ls").out


def test_a_query_whose_text_is_another_one_than_that_of_its_rows_is_modified(
    weir: Weir, published: HandMadeLake
) -> None:
    assert weir("ls", "--select", "state:modified", "--output", "json").json == []
    published.query("q", SELECT.replace("/p>", "/other>"))
    (row,) = weir("ls", "--select", "state:modified", "--output", "json").json
    assert row["name"] == "q"


def test_status_of_a_selection_is_about_its_queries_alone(
    weir: Weir, published: HandMadeLake
) -> None:
    published.query("r", SELECT)
    selected = weir("status", "--exclude", "r", "--output", "json").json
    assert [query["query"] for query in selected["queries"]] == ["q"]
    assert weir("status", "--select", "r", "--fail-on", "behind").code == EXIT_QUALITY
    assert weir("status", "--select", "q", "--fail-on", "behind").code == 0
    assert "No query is selected." in weir("status", "--select", "state:held").out
    refused = weir("status", "--streams", "--fail-on", "stopped")
    assert (refused.code, "--streams prints no faults" in refused.err) == (EXIT_USAGE, True)
    refused = weir("status", "--streams", "--select", "q")
    assert (refused.code, "--streams prints no queries" in refused.err) == (EXIT_USAGE, True)


def test_a_removed_query_can_be_selected_and_left_out(weir: Weir, published: HandMadeLake) -> None:
    published.query("r", SELECT)
    (published.settings.queries / "q.rq").unlink()

    def names(*options: str) -> list[str]:
        shown = weir("status", *options, "--output", "json").json
        return [query["query"] for query in shown["queries"]]

    assert names("--select", "state:removed") == ["q"]
    assert names("--exclude", "r") == ["q"]
    assert names("--exclude", "q") == ["r"]


def test_a_query_that_is_current_has_no_note(weir: Weir, published: HandMadeLake) -> None:
    rows = [LedgerRow("m", "maintain", 1, SUCCEEDED, "q", "initial", "because", 0, 2)]
    record(open_lake(published.settings), rows)
    assert "because" not in weir("status").out
