"""`weir try`: the answer of a text now, which is not registered."""

from __future__ import annotations

import io
from collections import Counter
from pathlib import Path

import pytest

from tests.support.projects.command_line import Weir, files
from tests.support.projects.project import Project
from tests.support.streams.projects import event_project, readings
from weir.progress.completion import Completion
from weir.project import open_lake
from weir.settings import Settings
from weir.stage import claimed

HEAD = "PREFIX : <http://example.org/>\n"
COUNTED = """PREFIX : <http://example.org/>
SELECT ?s (COUNT(*) AS ?n) FROM NAMED WINDOW :w ON readings [RANGE PT10S STEP PT10S]
WHERE { WINDOW :w { ?r :of ?s } } GROUP BY ?s"""


@pytest.mark.usefixtures("has_run")
def test_the_answer_is_that_of_the_graph_and_nothing_is_written(weir: Weir) -> None:
    Path("elsewhere.sparql").write_text(HEAD + "SELECT ?t { ?e :title ?t }")
    with claimed(open_lake(Settings.load()), "maintain", "other", 60):
        during = files("lake")
        tried = weir("try", "elsewhere.sparql", "--output", "json")
        assert files("lake") == during
    assert tried.code == 0
    assert [row["t"] for row in tried.json["answer"]] == ["Bronze mask", "Greek vase", "Roman coin"]
    assert (tried.json["rows"], tried.json["epoch"]) == (3, 1)
    assert weir("ls", "--output", "json").json[0]["name"] == "exhibits"


@pytest.mark.usefixtures("has_run")
def test_what_is_shown_is_limited_and_what_no_triple_has_is_said(
    weir: Weir, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = HEAD + "SELECT * { ?e :title ?t OPTIONAL { ?e :rom ?r } }"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    tried = weir("try", "-", "--limit", "1")
    assert "epoch 1: 3 rows, " in tried.out
    assert "the first 1 shown (--limit 0 for all)" in tried.out
    assert "warning: no triple has the predicate <http://example.org/rom>" in tried.out


@pytest.mark.usefixtures("has_run")
@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("SELECT", "queries/q.rq:1:1"),
        ("SELECT * { SERVICE <http://x.org/> { ?s ?p ?o } }", "queries/q.rq:1:20"),
    ],
)
def test_a_text_that_cannot_be_used_is_refused_with_its_place(
    weir: Weir, text: str, where: str
) -> None:
    Path("queries/q.rq").write_text(text)
    tried = weir("try", "queries/q.rq")
    assert tried.code == 2
    assert where in tried.err


@pytest.mark.usefixtures("has_run")
def test_the_limits_of_a_run_hold(weir: Weir, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEIR_LIMITS__PRODUCT_ROWS", "5")
    Path("q.rq").write_text(HEAD + "SELECT * { ?e :title ?t . ?f :room ?r }")
    tried = weir("try", "q.rq")
    assert tried.code == 1
    assert "more than product_rows = 5" in tried.err


@pytest.mark.usefixtures("has_run")
def test_the_types_and_the_stored_rows_are_those_of_a_run_that_has_the_query(
    weir: Weir, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEIR_LIMITS__CURRENT_ROWS", "1000")
    Path("queries/counted.rq").write_text(
        HEAD + "SELECT ?r (COUNT(*) AS ?n) (MAX(?t) AS ?m) ?x"
        " { ?e :room ?r OPTIONAL { ?e :title ?t ; :none ?x } } GROUP BY ?r ?x"
    )
    tried = weir("try", "queries/counted.rq", "--output", "json").json
    assert weir("run").code == 0
    lake = open_lake(Settings.load())
    layout = Completion.read(lake).layout("counted")
    assert layout is not None
    assert tried["types"] == {name: str(type_) for name, type_ in layout.types.items()}
    assert tried["types"]["n"] == "integer"
    stored = Counter(lake.existing("embeddings/counted").to_pyarrow_table()["node"].to_pylist())
    assert {row["node"]: row["rows"] for row in tried["stored"]} == stored
    assert len(stored) > 1
    assert all(row["is"] for row in tried["stored"])


@pytest.mark.usefixtures("has_run")
def test_a_value_that_a_type_of_the_front_matter_cannot_have_is_said(weir: Weir) -> None:
    Path("q.rq").write_text(f"#+ types: {{t: integer}}\n{HEAD}SELECT ?t {{ ?e :title ?t }}")
    tried = weir("try", "q.rq")
    assert tried.code == 0
    assert "warning: ?t is integer, and" in tried.out


@pytest.mark.usefixtures("initialised")
def test_without_a_graph_there_is_no_answer(weir: Weir) -> None:
    tried = weir("try", "queries/exhibits.rq")
    assert (tried.code, "nothing is ingested yet" in tried.err) == (2, True)
    assert not Path("lake").exists()


def test_a_query_over_streams_is_tried_like_any_other(
    weir: Weir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project: Project = event_project(tmp_path, "ASK { ?s ?p ?o }")
    project.write("events/1.ttl", readings(("a", 1), ("b", 2), ("b", 3), ("a", 25)))
    project.run()
    monkeypatch.chdir(tmp_path)
    Path("counted.rq").write_text(COUNTED)
    tried = weir("try", "counted.rq", "--output", "json")
    project.query("counted", COUNTED)
    project.run()
    assert tried.json["answer"] == weir("show", "counted", "--output", "json").json
    difference = weir("diff", "--output", "json")
    assert difference.json == []
