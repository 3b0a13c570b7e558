"""The table `current/<name>` is the published answer, with types; by a lake written by hand."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from tests.support.dying import dies_at
from tests.support.opened import call
from tests.support.projects.handmade import Change, HandMadeLake
from weir.compute.engine import Engine
from weir.errors import QualityError, WeirError
from weir.lake.ledger.runs import RETYPED, SUCCEEDED, LedgerRow, record
from weir.lake.tables import CURRENT
from weir.progress.completion import Completion
from weir.project import open_lake
from weir.publish.stage import PublishResult, publish_answers
from weir.validate.stage import validate_answers

SELECT = "SELECT ?s ?o WHERE { ?s <http://a/p> ?o }"
DISTINCT = "SELECT DISTINCT ?s ?o WHERE { ?s <http://a/p> ?o }"
XSD = "http://www.w3.org/2001/XMLSchema#"
A, B, C = "<http://a/a>", "<http://a/b>", "_:c"


@pytest.fixture(autouse=True)
def with_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are off by default."""
    monkeypatch.setenv("WEIR_LIMITS__CURRENT_ROWS", "1000000")


def typed(lexical: object, datatype: str) -> str:
    return f'"{lexical}"^^<{XSD}{datatype}>'


def number(value: int) -> str:
    return typed(value, "integer")


def publish(lake: HandMadeLake) -> PublishResult:
    return call(publish_answers, lake.settings, "p")


def checked(lake: HandMadeLake) -> None:
    call(validate_answers, lake.settings, "v")


def add(lake: HandMadeLake, *changes: Change, query: str = "q", mode: str = "incremental") -> None:
    """One epoch with some changes of a query, checked and published."""
    lake.ingest(1)
    new = [(lake.epochs, *change) for change in changes]
    base = lake.epochs if mode != "incremental" else base_of(lake, query)
    lake.maintain(query, new, base=base, mode=mode)
    checked(lake)
    publish(lake)


def base_of(lake: HandMadeLake, query: str) -> int:
    maintained = Completion.read(open_lake(lake.settings)).maintained(query)
    assert maintained is not None
    return maintained.metadata.base


def begin(lake: HandMadeLake, *changes: Change, text: str = SELECT, query: str = "q") -> None:
    lake.query(query, text)
    add(lake, *changes, query=query, mode="initial")


def table(lake: HandMadeLake, query: str = "q") -> DeltaTable:
    return DeltaTable(open_lake(lake.settings).location(CURRENT.name(query)))


def rows(lake: HandMadeLake, query: str = "q") -> list[dict[str, Any]]:
    current = table(lake, query).to_pyarrow_table().to_pylist()
    return sorted(current, key=repr)


def types(lake: HandMadeLake) -> Mapping[str, str]:
    schema = pa.schema(table(lake).schema().to_arrow())  # type: ignore[arg-type]
    return {field.name: str(field.type) for field in schema}


def is_there(lake: HandMadeLake) -> bool:
    return open_lake(lake.settings).exists(CURRENT.name("q"))


def test_values_have_the_type_of_their_datatype(lake: HandMadeLake) -> None:
    begin(lake, (1, A, number(42)), (1, B, number(9)))
    assert types(lake) == {"s": "string", "o": "int64", "count": "int64"}
    assert rows(lake) == [
        {"s": "http://a/a", "o": 42, "count": 1},
        {"s": "http://a/b", "o": 9, "count": 1},
    ]


def test_a_set_has_no_count_and_unbound_values_are_null(lake: HandMadeLake) -> None:
    begin(lake, (1, A, None), (1, C, number(1)), text=DISTINCT)
    assert rows(lake) == [{"s": "_:c", "o": 1}, {"s": "http://a/a", "o": None}]


def test_a_change_of_the_answer_is_a_change_of_the_table_at_its_epoch(lake: HandMadeLake) -> None:
    begin(lake, (1, A, number(42)), (2, B, number(9)))
    before = table(lake).version()
    add(lake, (-1, A, number(42)), (1, A, number(43)), (-1, B, number(9)))
    assert rows(lake) == [
        {"s": "http://a/a", "o": 43, "count": 1},
        {"s": "http://a/b", "o": 9, "count": 1},
    ]
    stored = Completion.read(open_lake(lake.settings)).current("q")
    assert stored is not None
    assert stored.epoch == lake.epochs == 2
    assert stored.metadata.mode == "incremental"
    feed = pa.table(table(lake).load_cdf(before + 1)).to_pylist()
    assert {(row["_change_type"], row["o"], row["count"]) for row in feed} == {
        ("delete", 42, 1),
        ("insert", 43, 1),
        ("delete", 9, 2),
        ("insert", 9, 1),
    }


def test_a_run_without_changes_writes_nothing(lake: HandMadeLake) -> None:
    begin(lake, (1, A, number(42)))
    version = table(lake).version()
    lake.ingest(1)
    checked(lake)
    publish(lake)
    publish(lake)
    assert table(lake).version() == version


def test_an_empty_answer_is_an_empty_table(lake: HandMadeLake) -> None:
    begin(lake)
    assert rows(lake) == []
    add(lake, (1, A, number(1)))
    assert rows(lake) == [{"s": "http://a/a", "o": 1, "count": 1}]
    assert types(lake)["o"] == "int64"
    add(lake, (-1, A, number(1)))
    assert rows(lake) == []
    assert types(lake)["o"] == "int64"


def test_the_exact_term_is_beside_a_value_that_does_not_say_it(lake: HandMadeLake) -> None:
    begin(lake, (1, A, number(1)))
    add(lake, (1, B, typed("007", "integer")), (1, C, typed("x", "integer")))
    assert rows(lake) == [
        {"s": "_:c", "o": None, "count": 1, "o_term": typed("x", "integer")},
        {"s": "http://a/a", "o": 1, "count": 1, "o_term": None},
        {"s": "http://a/b", "o": 7, "count": 1, "o_term": typed("007", "integer")},
    ]
    add(lake, (-1, A, number(1)), (-1, B, typed("007", "integer")))
    assert [row["s"] for row in rows(lake)] == ["_:c"]


def test_text_has_its_language_beside_it(lake: HandMadeLake) -> None:
    begin(lake, (1, A, '"vase"@en'), (1, A, '"vase"'))
    assert rows(lake) == [
        {"s": "http://a/a", "o": "vase", "count": 1, "o_lang": "en"},
        {"s": "http://a/a", "o": "vase", "count": 1, "o_lang": None},
    ]


def test_a_value_that_does_not_fit_holds_the_answer_until_types_are_decided_again(
    lake: HandMadeLake,
) -> None:
    begin(lake, (1, A, number(42)))
    before = rows(lake)
    with pytest.raises(QualityError, match=r'values_fit_their_types: \?o is integer, and "x"'):
        add(lake, (1, B, '"x"'))
    with pytest.raises(QualityError):
        publish(lake)
    assert rows(lake) == before
    assert len(lake.answers("q")) == 1
    retype(lake)
    checked(lake)
    publish(lake)
    assert types(lake)["o"] == "string"
    assert {(row["o"], row["o_term"]) for row in rows(lake)} == {("42", None), ("x", '"x"')}


def test_a_value_that_has_gone_again_before_it_is_published_holds_nothing(
    lake: HandMadeLake,
) -> None:
    begin(lake, (1, A, number(42)))
    lake.ingest(2)
    lake.maintain("q", [(2, 1, B, '"x"'), (3, -1, B, '"x"')], base=1)
    checked(lake)
    publish(lake)
    assert [row["o"] for row in rows(lake)] == [42]


def retype(lake: HandMadeLake) -> None:
    opened = open_lake(lake.settings)
    version = opened.version(CURRENT.name("q"))
    row = LedgerRow("r", "current", 1, SUCCEEDED, "q", RETYPED, table_version=version)
    record(opened, [row])


def test_a_type_is_pinned(lake: HandMadeLake) -> None:
    lake.query("q", f"#+ types: {{o: decimal(1)}}\n{SELECT}")
    add(lake, (1, A, number(42)), mode="initial")
    assert types(lake)["o"] == "decimal128(38, 1)"
    with pytest.raises(QualityError, match=r"\?o is decimal\(1\), .* 2 digits.*; its front"):
        add(lake, (1, B, typed("1.25", "decimal")))


def test_a_pin_that_is_added_changes_the_type(lake: HandMadeLake) -> None:
    begin(lake, (1, A, number(42)))
    lake.query("q", f"#+ types: {{o: double}}\n{SELECT}")
    publish(lake)
    assert types(lake)["o"] == "double"
    lake.query("q", f"#+ types: {{o: date}}\n{SELECT}")
    with pytest.raises(WeirError, match=r"its table current/q is as before: .* is date, and"):
        publish(lake)
    assert types(lake)["o"] == "double"


def test_no_table_is_made_where_the_definition_says_so(lake: HandMadeLake) -> None:
    begin(lake, (1, A, B), text=f"#+ materialize: none\n{SELECT}")
    assert not is_there(lake)
    lake.query("q", SELECT)
    publish(lake)
    assert is_there(lake)
    lake.query("q", f"#+ materialize: none\n{SELECT}")
    publish(lake)
    assert not is_there(lake)


def test_a_table_that_is_gone_or_never_was_is_computed_from_the_log(lake: HandMadeLake) -> None:
    begin(lake, (1, A, number(1)), (1, B, number(2)))
    add(lake, (-1, B, number(2)))
    before = rows(lake)
    shutil.rmtree(Path(lake.settings.lake) / CURRENT.name("q"))
    publish(lake)
    assert rows(lake) == before


def test_a_log_that_was_made_again_is_followed(lake: HandMadeLake) -> None:
    begin(lake, (1, A, number(1)))
    for name in ("answers/q", "embeddings/q"):
        shutil.rmtree(Path(lake.settings.lake) / name)
    add(lake, (1, B, number(2)), mode="initial")
    assert rows(lake) == [{"s": "http://a/b", "o": 2, "count": 1}]


def test_an_edit_with_the_same_columns_is_a_change(lake: HandMadeLake) -> None:
    begin(lake, (1, A, number(1)), (1, B, number(2)))
    lake.query("q", SELECT.replace("a/p", "a/other"))
    add(lake, (1, A, number(1)), (1, C, number(3)), mode="edited")
    assert [row["o"] for row in rows(lake)] == [3, 1]
    stored = Completion.read(open_lake(lake.settings)).current("q")
    assert stored is not None
    assert stored.metadata.mode == "incremental"


def test_an_edit_of_the_columns_replaces_them(lake: HandMadeLake) -> None:
    begin(lake, (1, A, number(1)))
    lake.query("q", "SELECT ?o ?t WHERE { ?s <http://a/p> ?o OPTIONAL { ?s <http://a/t> ?t } }")
    add(lake, (1, number(1), typed("2026-01-01", "date")), mode="edited")
    assert types(lake) == {"o": "int64", "t": "date32[day]", "count": "int64"}
    assert [row["o"] for row in rows(lake)] == [1]
    add(lake, (-1, number(1), typed("2026-01-01", "date")))
    assert rows(lake) == []


def test_a_column_that_comes_back_with_another_type_has_a_feed_of_its_own(
    lake: HandMadeLake,
) -> None:
    begin(lake, (1, A, number(1)))
    lake.query("q", "SELECT ?t WHERE { ?s <http://a/t> ?t }")
    add(lake, (1, A), mode="edited")
    lake.query("q", SELECT)
    add(lake, (1, A, B), mode="edited")
    feed = pa.table(table(lake).load_cdf(0)).to_pylist()
    assert [row["o"] for row in feed] == ["http://a/b"]


def test_a_large_answer_has_no_table(lake: HandMadeLake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEIR_LIMITS__CURRENT_ROWS", "2")
    begin(lake, *((1, A, number(n)) for n in range(3)))
    assert not is_there(lake)
    add(lake, (-1, A, number(0)))
    assert is_there(lake)
    add(lake, (1, A, number(0)), (1, A, number(4)))
    assert len(rows(lake)) == 4
    add(lake, *((1, B, number(n)) for n in range(3)))
    assert not is_there(lake)


def test_by_default_a_table_costs_nothing(
    lake: HandMadeLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("WEIR_LIMITS__CURRENT_ROWS")
    asked = list[str]()
    monkeypatch.setattr(Completion, "current", lambda _, query: asked.append(query))
    begin(lake, (1, A, number(1)))
    add(lake, (1, A, number(2)))
    assert publish(lake) == PublishResult()
    assert not asked
    assert not (Path(lake.settings.lake) / CURRENT.folder).exists()


def test_tables_are_removed_when_the_limit_is_0_again(
    lake: HandMadeLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(lake, (1, A, number(1)))
    monkeypatch.delenv("WEIR_LIMITS__CURRENT_ROWS")
    publish(lake)
    assert not is_there(lake)
    runs = open_lake(lake.settings).version("runs")
    publish(lake)
    # Nothing is to do: no claim is taken.
    assert open_lake(lake.settings).version("runs") == runs


def test_an_answer_that_the_driver_cannot_hold_is_tried_once(
    lake: HandMadeLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as context:
        context.setattr(Engine, "fetch_few", lambda *_, **__: None)
        begin(lake, (1, A, number(1)))
        runs = open_lake(lake.settings).version("runs")
        assert publish(lake) == PublishResult()
        assert open_lake(lake.settings).version("runs") == runs
    add(lake, (1, B, number(2)))
    assert len(rows(lake)) == 2


def test_types_of_a_table_that_is_not_made_hold_nothing(
    lake: HandMadeLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEIR_LIMITS__CURRENT_ROWS", "2")
    begin(lake, (1, A, number(1)))
    add(lake, *((1, B, number(n)) for n in range(3)))
    assert not is_there(lake)
    add(lake, (1, C, '"x"'))


def test_a_damaged_table_that_is_not_wanted_is_removed(lake: HandMadeLake) -> None:
    begin(lake, (1, A, number(1)))
    log = Path(lake.settings.lake) / CURRENT.name("q") / "_delta_log"
    for commit in log.glob("*.json"):
        commit.write_bytes(b"")
    lake.query("q", f"#+ materialize: none\n{SELECT}")
    publish(lake)
    assert not is_there(lake)


def test_a_failure_is_one_of_the_table(lake: HandMadeLake) -> None:
    begin(lake, (1, A, number(42)))
    lake.query("q", f"#+ types: {{o: date}}\n{SELECT}")
    lake.ingest(1)
    lake.leave_untouched("q", 1)
    checked(lake)
    with pytest.raises(WeirError, match="its table current/q is as before"):
        publish(lake)
    completion = Completion.read(open_lake(lake.settings))
    published = completion.published("q")
    assert published is not None
    assert published.epoch == lake.epochs
    assert completion.about_current["q"]["status"] == "failed"
    assert completion.about_current["q"]["mode"] == "initial"


def test_a_table_is_not_built_by_a_text_that_is_held(lake: HandMadeLake) -> None:
    begin(lake, (2, A, number(1)))
    shutil.rmtree(Path(lake.settings.lake) / CURRENT.name("q"))
    lake.query("q", DISTINCT)
    publish(lake)
    assert not is_there(lake)
    lake.query("q", SELECT)
    publish(lake)
    assert rows(lake) == [{"s": "http://a/a", "o": 1, "count": 2}]


@pytest.mark.parametrize("point", ["before", "after"])
@pytest.mark.parametrize("is_first", [True, False])
def test_what_a_killed_publish_left_is_completed(
    lake: HandMadeLake, point: str, is_first: bool
) -> None:
    lake.query("q", SELECT)
    if not is_first:
        begin(lake, (1, A, number(1)), (1, A, number(2)))
    with dies_at(f"publish:{point}:current/q"):
        mode = "initial" if is_first else "incremental"
        change = (1, A, number(1)) if is_first else (-1, A, number(1))
        add(lake, change, mode=mode)
    publish(lake)
    assert [row["o"] for row in rows(lake)] == ([1] if is_first else [2])
    version = table(lake).version()
    publish(lake)
    assert table(lake).version() == version


def test_a_table_that_a_killed_run_wrote_is_recorded_and_can_be_done_without(
    lake: HandMadeLake,
) -> None:
    begin(lake, (1, A, number(1)), text=f"#+ materialize: none\n{SELECT}")
    lake.query("q", SELECT)
    with dies_at("publish:after:current/q"):
        publish(lake)
    assert is_there(lake)
    version = table(lake).version()
    publish(lake)
    assert table(lake).version() == version
    assert publish(lake) == PublishResult()
    lake.query("q", f"#+ materialize: none\n{SELECT}")
    publish(lake)
    assert not is_there(lake)
