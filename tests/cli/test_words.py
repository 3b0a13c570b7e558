"""What commands say: what is meant, what there is, and why something failed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.projects.command_line import Weir
from weir.errors import EXIT_FAILED, EXIT_USAGE
from weir.publish import publication
from weir.text.near import meant, near, near_iris

EX = "http://example.org/"


@pytest.mark.usefixtures("initialised")
def test_a_new_query_with_a_predicate_that_no_triple_has_is_said(weir: Weir) -> None:
    titles = f"PREFIX : <{EX}> SELECT ?t {{ ?e :titel ?t OPTIONAL {{ ?e :room ?r }} }}"
    Path("queries/titles.rq").write_text(titles)
    first = weir("run", "--output", "json")
    assert first.json["warnings"] == [
        f"titles: no triple has the predicate <{EX}titel> (near: <{EX}title>)"
    ]
    assert weir("run", "--output", "json").json["warnings"] == []
    Path("queries/titles.rq").write_text(titles.replace("titel", "title"))
    assert weir("run", "--output", "json").json["warnings"] == []


@pytest.mark.usefixtures("initialised")
def test_a_query_with_a_type_that_nothing_has_is_said(weir: Weir) -> None:
    file = Path("data/versions/001.ttl")
    file.write_text(file.read_text() + ":vase a :Exhibit .\n")
    Path("queries/all.rq").write_text(f"PREFIX : <{EX}> SELECT ?e {{ ?e a :Exibit ; :room ?r }}")
    assert weir("run", "--output", "json").json["warnings"] == [
        f"all: nothing has the type <{EX}Exibit> (near: <{EX}Exhibit>)"
    ]


@pytest.mark.usefixtures("initialised")
def test_a_graph_without_triples_makes_no_query_suspicious(weir: Weir) -> None:
    Path("sources.yml").write_text("sources: []\n")
    assert weir("run", "--output", "json").json["warnings"] == []


@pytest.mark.usefixtures("has_run")
@pytest.mark.parametrize(
    "command",
    [
        ("show", "exibits"),
        ("log", "exibits"),
        ("explain", "exibits"),
        ("drop", "exibits", "--yes"),
        ("run", "--retry", "exibits"),
    ],
    ids=" ".join,
)
def test_a_misspelt_query_is_an_error_that_says_what_is_near(
    weir: Weir, command: tuple[str, ...]
) -> None:
    called = weir(*command)
    assert (called.code, "Did you mean exhibits?" in called.err) == (EXIT_USAGE, True)


@pytest.mark.usefixtures("initialised")
def test_a_misspelt_source_is_an_error_that_says_what_is_near(weir: Weir) -> None:
    called = weir("ingest", "--accept", "musem")
    assert (called.code, "Did you mean museum?" in called.err) == (EXIT_USAGE, True)


@pytest.mark.usefixtures("has_run")
@pytest.mark.parametrize("statement", ["SHOW TABLES", "show all tables;", "/* all */ SHOW VIEWS"])
def test_sql_shows_the_views_that_there_are(weir: Weir, statement: str) -> None:
    names = [row["name"] for row in weir("sql", statement, "--output", "json").json]
    assert {"exhibits_current", "exhibits_changes", "quads_current", "runs"} <= {*names}
    assert names == sorted(names)
    assert weir("sql", f"SELECT count(*) FROM {names[0]}").code == 0


@pytest.mark.usefixtures("initialised")
@pytest.mark.parametrize(
    ("query", "error", "next_"),
    [
        ("INSERT DATA { <u:a> <u:b> 1 }", "INSERT: it is an update", "sources alone change"),
        ("PREFIX : <u:> DELETE { :a :b :c } WHERE {}", "DELETE: it is an update", "Write SELECT"),
        ("SELCT * { ?s ?p ?o }", "SELCT: not a keyword", "Did you mean SELECT?"),
    ],
)
def test_what_is_no_query_is_named_for_what_it_is(
    weir: Weir, query: str, error: str, next_: str
) -> None:
    Path("queries/wrong.rq").write_text(query)
    called = weir("explain", "wrong")
    assert (called.code, error in called.err, next_ in called.err) == (EXIT_USAGE, True, True)


@pytest.mark.usefixtures("initialised")
def test_debug_shows_why_a_query_failed_and_not_only_that_one_did(
    weir: Weir, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("the innermost reason")

    monkeypatch.setattr(publication, "_publish_one", fail)
    called = weir("run", "--debug")
    assert called.code == EXIT_FAILED
    assert "RuntimeError: the innermost reason" in called.err
    assert "in fail" in called.err


@pytest.mark.usefixtures("initialised")
def test_no_line_of_doctor_is_padded_to_the_width_of_another(weir: Weir) -> None:
    Path("queries/wrong.rq").write_text("SELECT")
    lines = weir("doctor").out.splitlines()
    assert max(map(len, lines)) < 250
    assert [line for line in lines if line != line.rstrip()] == []
    assert any(line.startswith("WRONG  query: ") for line in lines)


def test_what_is_near_is_named_and_what_is_not_is_not() -> None:
    assert near("Exibits", ["exhibits", "titles"]) == ["exhibits"]
    assert near("x", ["exhibits", "titles"]) == []
    assert meant("titls", ["titles", "tiles"]) == "Did you mean titles or tiles? "
    assert meant("x", []) == ""
    known = [f"<{EX}title>", "<http://purl.org/dc/terms/title>", f"<{EX}room>", "<u:titel#>"]
    assert near_iris(f"<{EX}titel>", known) == [f"<{EX}title>", "<http://purl.org/dc/terms/title>"]
    assert near_iris("<https://schema.org/name>", ["<http://schema.org/name>"]) == [
        "<http://schema.org/name>"
    ]
    assert near_iris("<u:x>", known) == []


def test_every_command_says_alike_that_there_is_no_query(weir: Weir, museum: None) -> None:
    del museum
    said = set()
    for command in (
        ("show", "exhibit"),
        ("log", "exhibit"),
        ("watch", "exhibit"),
        ("explain", "exhibit"),
        ("why", "exhibit"),
        ("run", "--retry", "exhibit"),
        ("export", "data", "exhibit"),
    ):
        refused = weir(*command)
        assert refused.code == 2
        said.add(refused.err.partition("error: ")[2])
    assert len(said) == 1, said
    assert "next: Did you mean exhibits? There are: exhibits." in said.pop()
