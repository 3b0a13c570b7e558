"""What users see of the tables `current/<name>`: `weir sql`, `retype`, `drop`, `audit`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from tests.support.built import AsBuilt
from tests.support.opened import call
from tests.support.projects.command_line import Weir
from tests.support.projects.handmade import HandMadeLake
from tests.support.projects.project import Project
from weir.audit.stage import examined
from weir.definitions.catalog import Catalog
from weir.errors import EXIT_USAGE, QualityError
from weir.lake.damage.storage_errors import DamagedTable
from weir.lake.lake import Lake
from weir.lake.tables import CURRENT
from weir.pending import Pending
from weir.progress.completion import Completion
from weir.project import open_lake
from weir.publish.stage import publish_answers
from weir.validate.stage import validate_answers

XSD = "http://www.w3.org/2001/XMLSchema#"
SELECT = "SELECT ?who ?age ?born ?seen ?ratio ?note WHERE { ?who <http://a/p> ?age }"
A, B = "<http://a/a>", "_:b"


def typed(lexical: object, datatype: str) -> str:
    return f'"{lexical}"^^<{XSD}{datatype}>'


ROWS = [
    (
        A,
        typed(9, "integer"),
        typed("2026-01-31", "date"),
        typed("2026-01-31T10:00:00.5Z", "dateTime"),
        typed("1.0E-2", "double"),
        '"vase\\n"@en',
    ),
    (B, typed("042", "integer"), None, typed("2026-01-31T10:00:00+02:00", "dateTime"), None, '"x"'),
]


@pytest.fixture(autouse=True)
def with_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are off by default."""
    monkeypatch.setenv("WEIR_LIMITS__CURRENT_ROWS", "1000000")


def _build(folder: Path) -> HandMadeLake:
    lake = HandMadeLake(Project(folder))
    lake.query("people", SELECT)
    lake.ingest(1)
    lake.maintain("people", [(1, 1, *row) for row in ROWS], base=1, mode="initial")
    run(lake)
    return lake


@pytest.fixture
def people(as_built: AsBuilt, monkeypatch: pytest.MonkeyPatch) -> HandMadeLake:
    """A query whose answer has `ROWS`; its project is the current folder."""
    lake = as_built(_build)
    monkeypatch.chdir(lake.project.folder)
    return lake


def run(lake: HandMadeLake) -> None:
    call(validate_answers, lake.settings, "v")
    call(publish_answers, lake.settings, "p")


@pytest.mark.usefixtures("people")
def test_sql_computes_with_the_types(weir: Weir) -> None:
    statement = (
        "SELECT max(age) AS oldest, sum(weight) AS n, min(seen) AS first FROM people_current"
    )
    called = weir("sql", statement, "--output", "json")
    assert called.code == 0, called.err
    assert called.json == [{"oldest": 42, "n": 2, "first": "2026-01-31T08:00:00+00:00"}]
    described = weir("sql", "DESCRIBE people_current", "--output", "json").json
    assert {row["column_name"]: row["column_type"] for row in described} == {
        "who": "VARCHAR",
        "age": "BIGINT",
        "born": "DATE",
        "seen": "TIMESTAMP WITH TIME ZONE",
        "ratio": "DOUBLE",
        "note": "VARCHAR",
        "weight": "BIGINT",
        "note_lang": "VARCHAR",
        **{f"{name}_term": "VARCHAR" for name in ("who", "age", "born", "seen", "ratio", "note")},
    }


@pytest.mark.usefixtures("people")
def test_sql_has_all_exact_terms(weir: Weir) -> None:
    names = ("who", "age", "born", "seen", "ratio", "note")
    terms = ", ".join(f"{name}_term" for name in names)
    statement = f"SELECT {terms} FROM people_current ORDER BY age"
    rows = weir("sql", statement, "--output", "json").json
    assert [tuple(row.values()) for row in rows] == ROWS


@pytest.mark.usefixtures("people")
def test_show_has_the_values_of_the_view_as_json(weir: Weir) -> None:
    shown = weir("show", "people", "--output", "json").json
    statement = "SELECT who, age, born, seen, ratio, note, weight FROM people_current ORDER BY who"
    in_view = weir("sql", statement, "--output", "json").json
    assert sorted(shown, key=lambda row: row["who"]) == in_view
    assert [(row["age"], row["ratio"]) for row in shown] == [(9, 0.01), (42, None)]
    (first, *_) = weir("show", "people", "--limit", "1", "--output", "json").json
    assert first == shown[0]


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize("options", [("--terms",), ("--at", "1"), ("--as-of", "1")])
def test_show_of_exact_terms_and_of_an_epoch_has_texts(
    weir: Weir, options: tuple[str, ...]
) -> None:
    shown = weir("show", "people", *options, "--output", "json").json
    assert {type(row["age"]) for row in shown} == {str}


def test_show_has_texts_if_the_table_is_behind(weir: Weir, people: HandMadeLake) -> None:
    shutil.rmtree(Path(people.settings.lake) / CURRENT.name("people"))
    rows = weir("show", "people", "--output", "json").json
    assert {row["age"] for row in rows} == {"9", "042"}


@pytest.mark.parametrize("number", ["INF", "-INF", "NaN"])
def test_json_has_no_infinite_number(weir: Weir, lake: HandMadeLake, number: str) -> None:
    lake.query("q", "SELECT ?x WHERE { ?s ?p ?x }")
    lake.ingest(1)
    lake.maintain("q", [(1, 1, typed(number, "double"))], base=1, mode="initial")
    run(lake)
    (row,) = json.loads(weir("show", "q", "--output", "json").out, parse_constant=pytest.fail)
    assert row["x"].lower() == number.lower()


def test_a_table_that_is_behind_is_not_read(weir: Weir, people: HandMadeLake) -> None:
    kept = Path(people.settings.lake) / CURRENT.name("people")
    earlier = kept.with_name("earlier")
    shutil.copytree(kept, earlier)
    people.ingest(1)
    people.maintain("people", [(2, -1, *ROWS[0])], base=1)
    run(people)
    shutil.rmtree(kept)
    earlier.rename(kept)
    rows = weir("sql", "SELECT age FROM people_current", "--output", "json").json
    assert rows == [{"age": "042"}]


def test_retype_has_the_next_run_decide_again(weir: Weir, people: HandMadeLake) -> None:
    gone = [(2, -1, *row) for row in ROWS]
    people.ingest(1)
    people.maintain("people", [*gone, (2, 1, A, '"old"', None, None, None, None)], base=1)
    with pytest.raises(QualityError, match="age is integer"):
        call(validate_answers, people.settings, "v")
    assert "The next run decides" in weir("retype", "people").out
    run(people)
    described = weir("sql", "DESCRIBE people_current", "--output", "json").json
    assert described[1]["column_type"] == "VARCHAR"


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize("rows", ["1000000", "0"])
def test_retype_of_no_query_names_the_nearest(
    weir: Weir, monkeypatch: pytest.MonkeyPatch, rows: str
) -> None:
    monkeypatch.setenv("WEIR_LIMITS__CURRENT_ROWS", rows)
    called = weir("retype", "peeple")
    assert called.code == EXIT_USAGE
    assert "there is no query peeple" in called.err
    assert "Did you mean people?" in called.err
    assert "next run" not in called.err


@pytest.mark.usefixtures("people")
def test_retype_without_typed_tables_says_what_to_set(
    weir: Weir, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEIR_LIMITS__CURRENT_ROWS", "0")
    called = weir("retype", "people")
    assert called.code == EXIT_USAGE
    assert "there is no table current/people, as limits.current_rows is 0" in called.err
    assert "Set `current_rows` under [limits] in weir.toml" in called.err
    assert "next run" not in called.err


def test_retype_of_a_query_that_wants_no_table_names_the_line_to_delete(
    weir: Weir, people: HandMadeLake
) -> None:
    people.query("people", f"#+ materialize: none\n{SELECT}")
    called = weir("retype", "people")
    assert (called.code, "Delete `materialize: none`." in called.err) == (EXIT_USAGE, True)


def test_retype_of_a_query_that_no_run_answered_leaves_its_types_to_the_next(
    weir: Weir, people: HandMadeLake
) -> None:
    people.query("new", SELECT)
    called = weir("retype", "new")
    assert called.code == EXIT_USAGE
    assert "there is no table current/new yet" in called.err
    assert "The next run decides its types." in called.err


def test_another_type_is_another_table_whose_change_feed_is_read_from_its_start(
    weir: Weir, people: HandMadeLake
) -> None:
    (noted,) = [row for row in ROWS if row[0] == B]
    people.ingest(1)
    people.maintain("people", [(2, -1, *noted), (2, 1, B, None, None, None, None, '"x"')], base=1)
    run(people)
    folder = str(Path(people.settings.lake) / CURRENT.name("people"))
    before = DeltaTable(folder).metadata().id
    people.query("people", f"#+ types: {{age: text}}\n{SELECT}")
    run(people)
    assert DeltaTable(folder).metadata().id != before
    feed = pa.table(DeltaTable(folder).load_cdf(0)).to_pylist()
    assert {(row["_change_type"], row["age"]) for row in feed} == {
        ("insert", "9"),
        ("insert", None),
    }
    assert weir("audit").code == 0


def test_drop_removes_the_table_and_its_types(weir: Weir, people: HandMadeLake) -> None:
    assert "Deleted current/people." in weir("drop", "people", "--yes").out
    lake = open_lake(people.settings)
    assert not lake.exists(CURRENT.name("people"))
    completion = Completion.read(lake)
    assert (completion.layout("people"), completion.has_table("people")) == (None, False)


def test_retype_works_for_a_table_that_is_gone(weir: Weir, people: HandMadeLake) -> None:
    shutil.rmtree(Path(people.settings.lake) / CURRENT.name("people"))
    assert "The next run decides" in weir("retype", "people").out
    assert Completion.read(open_lake(people.settings)).layout("people") is None


def test_a_table_that_is_behind_is_said_to_be(people: HandMadeLake) -> None:
    shutil.rmtree(Path(people.settings.lake) / CURRENT.name("people"))
    (state,) = call(lambda project: Pending(project).definitions, people.settings).values()
    assert (state.state, state.reason) == (
        "behind",
        "its table current/people is behind its log",
    )


def test_audit_compares_the_table_with_the_log(people: HandMadeLake) -> None:
    assert of_table(people) == {"equals_the_log": True}
    lake = open_lake(people.settings)
    lose_a_row(lake)
    assert of_table(people) == {"equals_the_log": False}


def lose_a_row(lake: Lake) -> None:
    """Replace the rows, as another program might."""
    table = lake.existing(CURRENT.name("people"))
    table.delete("age = 9")
    lake.refresh()


def of_table(lake: HandMadeLake) -> dict[str, bool]:
    results = call(examined, lake.settings, "a").results
    return {
        result.expectation: result.success
        for result in results
        if result.suite == CURRENT.folder and result.expectation == "equals_the_log"
    }


def test_a_table_whose_log_is_damaged_is_written_again(people: HandMadeLake) -> None:
    folder = open_lake(people.settings).folder(CURRENT.name("people"))
    for commit in (folder / "_delta_log").glob("*.json"):
        commit.write_bytes(b"")
    with pytest.raises(DamagedTable):
        open_lake(people.settings).open(CURRENT.name("people"))
    call(publish_answers, people.settings, "p")
    assert of_table(people) == {"equals_the_log": True}


def with_key(lake: HandMadeLake, key: str, *changes: tuple[int, int, str, str]) -> None:
    lake.query("ages", f"#+ key: {key}\nSELECT ?who ?age {{ ?who <http://a/p> ?age }}")
    lake.ingest(max(epoch for epoch, *_ in changes))
    lake.maintain("ages", changes, base=1, mode="initial")


def test_a_change_of_a_row_with_a_key_is_an_update(weir: Weir, lake: HandMadeLake) -> None:
    one, two, other = (typed(n, "integer") for n in (1, 2, 3))
    with_key(lake, "who", (1, 1, A, one), (2, -1, A, one), (2, 1, A, two), (2, 1, B, other))
    run(lake)
    lake.ingest(1)
    lake.maintain("ages", [(3, -1, B, other)], base=1)
    run(lake)
    statement = "SELECT epoch, change, age FROM ages_changes ORDER BY ALL"
    rows = weir("sql", statement, "--output", "json").json
    assert [tuple(row.values()) for row in rows] == [
        (1, "insert", "1"),
        (2, "insert", "3"),
        (2, "update_postimage", "2"),
        (2, "update_preimage", "1"),
        (3, "delete", "3"),
    ]


def test_changes_of_other_answers_have_no_such_column(weir: Weir, people: HandMadeLake) -> None:
    del people
    described = weir("sql", "DESCRIBE people_changes", "--output", "json").json
    assert "change" not in {row["column_name"] for row in described}


def test_two_rows_with_one_key_hold_the_answer(lake: HandMadeLake) -> None:
    with_key(lake, "[who]", (1, 1, A, typed(1, "integer")), (1, 1, A, typed(2, "integer")))
    with pytest.raises(QualityError, match="key"):
        run(lake)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("#+ key: whom\nSELECT ?who { ?who ?p ?o }", "key: the answer has no column whom"),
        ("#+ key: [o]\nSELECT ?o ?Change { ?o ?p ?Change }", "its column Change would be named"),
    ],
)
def test_a_key_that_cannot_be_one_is_refused(lake: HandMadeLake, text: str, what: str) -> None:
    lake.query("q", text)
    error = Catalog.of(lake.settings).errors["q"]
    assert what in str(error)
    assert "q.rq:1" in str(error)
