"""Registered queries: front matter, names and columns, each error with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.catalogs import catalog_of
from weir.definitions.definition import Definition, Form
from weir.definitions.query import QueryBody
from weir.definitions.query_keys import QueryFrontMatter
from weir.errors import ConfigurationError
from weir.lake.tables import SHARED_TABLES
from weir.plan.scope import Scope

_QUERY = "SELECT * { ?s <u:p> ?o }\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of queries."""
    (tmp_path / "queries").mkdir()
    return tmp_path / "queries"


def _query(folder: Path, text: str, name: str = "q") -> Definition:
    """The query of a file of this text."""
    (folder / f"{name}.rq").write_bytes(text.encode())
    return catalog_of(folder).member(name)


def _body(query: Definition) -> QueryBody:
    """The body of a query."""
    assert isinstance(query.body, QueryBody)
    return query.body


def _error(folder: Path, text: str, name: str = "q.rq") -> ConfigurationError:
    """The error for a query file of this text; its place without the folder."""
    (folder / name).write_bytes(text.encode())
    with pytest.raises(ConfigurationError) as caught:
        catalog_of(folder).member(name.removesuffix(".rq"))
    caught.value.where = caught.value.where.removeprefix(f"{folder}/")
    return caught.value


def test_the_front_matter_sets_how_a_query_is_maintained(folder: Path) -> None:
    query = _query(
        folder,
        "#+ description: labels, of things\n#+ tags: [a, b]\n#+ default_graph: default\n"
        "#+ history: full\n#+ max_rows: 10\n#+ allow_product: true\n#+ owner: x@y\n\n# text\n"
        + _QUERY,
        "labels_2",
    )
    assert query.name == "labels_2"
    assert query.file == folder / "labels_2.rq"
    assert _body(query).compiled.front_matter == QueryFrontMatter(
        description="labels, of things",
        owner="x@y",
        tags=("a", "b"),
        default_graph="default",
        history="full",
        max_rows=10,
        allow_product=True,
    )
    assert (query.description, query.history) == ("labels, of things", "full")
    assert _body(query).plan.allow_product
    assert {component.scope for component in query.body.components} == {Scope(("",))}


def test_a_query_needs_no_front_matter(folder: Path) -> None:
    body = _body(_query(folder, _QUERY))
    assert body.compiled.front_matter == QueryFrontMatter()


@pytest.mark.parametrize(
    ("text", "form", "columns"),
    [
        ("SELECT ?o ?s { ?s <u:p> ?o }", "select", ("o", "s")),
        ("ASK { ?s <u:p> ?o }", "ask", ("answer",)),
        (
            "CONSTRUCT { ?s <u:q> ?o } { ?s <u:p> ?o }",
            "construct",
            ("subject", "predicate", "object"),
        ),
    ],
)
def test_the_output_of_a_query_is_its_answer_table(
    folder: Path, text: str, form: Form, columns: tuple[str, ...]
) -> None:
    query = _query(folder, f"#+ max_rows: 3\n{text}")
    output = query.output
    assert (output.columns, output.form) == (columns, form)
    assert output.guards.max_rows == 3
    assert output.guards.places["max_rows"] == "queries/q.rq:1"
    assert output.guards.max_change == 0.5


@pytest.mark.parametrize(
    ("pattern", "logs"),
    [
        ("{ ?s <u:p> ?o }", {"triples"}),
        ("FROM <u:g> { ?s <u:p> ?o }", {"quads"}),
        ("{ ?s <u:p> ?o GRAPH ?g { ?o <u:q> ?p } }", {"triples", "quads"}),
        ("{ VALUES ?s { 1 } }", set()),
    ],
)
def test_a_query_reads_the_logs_of_the_graphs_that_its_patterns_see(
    folder: Path, pattern: str, logs: set[str]
) -> None:
    assert _query(folder, f"SELECT * {pattern}").reads == logs


@pytest.mark.parametrize("line_end", ["\r\n", "\n"])
def test_an_unknown_key_is_an_error_with_its_line(folder: Path, line_end: str) -> None:
    text = line_end.join(["# about", "#+ description: x", "#+", "#+ histroy: full", _QUERY])
    error = _error(folder, text)
    assert error.where == "q.rq:4"
    assert error.what == "unknown key histroy"
    assert "history" in error.hint


@pytest.mark.parametrize(
    ("front_matter", "line", "what"),
    [
        ("#+ description: x\n#+ history: all", 2, "history: 'all' is none of current, full"),
        ("#+ max_rows: 0", 1, "max_rows: it must be at least 1"),
        ("#+ description: [", 1, "the front matter is not YAML"),
        ("#+ just words", 1, "the front matter has no keys"),
        ("#+ max_rows: many", 1, "max_rows: 'many' is not a whole number"),
        ("#+ tags: one", 1, "tags: 'one' is not a list"),
        ("#+ owner: x\n#+ owner: y", 1, "the front matter has a key twice"),
        ("#+ owner: \x07", 1, "the front matter is not YAML"),
        ("#+ 1: x", 1, "1: a key is a text"),
    ],
)
def test_a_wrong_front_matter_is_an_error_with_its_line(
    folder: Path, front_matter: str, line: int, what: str
) -> None:
    error = _error(folder, f"{front_matter}\n{_QUERY}")
    assert error.what.startswith(what)
    assert error.where == f"q.rq:{line}"


def test_an_error_in_the_query_has_the_line_of_the_file(folder: Path) -> None:
    assert _error(folder, "#+ owner: x\n\nSELECT * {\n ?s ?p }").where == "q.rq:4:2"


def test_a_file_whose_ending_is_in_capitals_is_said(folder: Path) -> None:
    (folder / "upper.RQ").write_text(_QUERY)
    (error,) = catalog_of(folder).errors.values()
    assert error.what == "the name of the file of a query ends in .rq, not .RQ"
    assert error.hint == "Rename it to upper.rq."


def test_a_file_whose_ending_is_in_capitals_is_no_rival(folder: Path) -> None:
    (folder / "q.RQ").write_text(_QUERY)
    assert _query(folder, _QUERY).name == "q"


@pytest.mark.parametrize("name", ["Q.rq", "1q.rq", "a-b.rq", "q.v2.rq", f"{'q' * 64}.rq", "é.rq"])
def test_a_name_that_cannot_be_a_table_is_refused(folder: Path, name: str) -> None:
    assert "cannot be the name of a query" in _error(folder, _QUERY, name).what


@pytest.mark.parametrize(
    ("variables", "place", "what"),
    [
        ("?s ?epoch", "1:11", "?epoch would be named like the column epoch"),
        ("?Weight", "1:8", "?Weight would be named like the column weight"),
        ("?event_time", "1:8", "?event_time would be named like the column event_time"),
        ("?s ?S", "1:11", "?S would be named like ?s"),
        ("?s ?s_term", "1:8", "?s_term would be named like the exact term of ?s"),
    ],
)
def test_columns_with_the_same_name_are_refused(
    folder: Path, variables: str, place: str, what: str
) -> None:
    text = f"SELECT {variables} {{ ?s <u:p> ?epoch }}"
    error = _error(folder, text)
    assert what in error.what
    assert error.where == f"q.rq:{place}"


def test_a_variable_that_is_not_selected_may_have_any_name(folder: Path) -> None:
    assert _query(folder, "SELECT ?s { ?s <u:p> ?epoch , ?S }").output.columns == ("s",)


@pytest.mark.parametrize("name", [table.name for table in SHARED_TABLES])
def test_a_query_cannot_have_the_name_of_a_table(folder: Path, name: str) -> None:
    error = _error(folder, _QUERY, f"{name}.rq")
    assert f"{name!r} is the name of a table" in error.what
    assert error.where == f"{name}.rq"


def test_line_ends_inside_the_text_stay_as_they_are(folder: Path) -> None:
    text = 'SELECT * { ?s <u:p> """a\r\nb""" }'
    assert _query(folder, text).text == text


def test_the_ten_queries_of_nomisma_are_accepted(shared: Path) -> None:
    catalog = catalog_of(shared / "data" / "nomisma" / "queries")
    assert len(catalog.members) == 10
    assert not catalog.errors
