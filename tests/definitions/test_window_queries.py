"""Queries with windows in the catalog: front matter, fingerprint, cache and refusals."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest

from tests.support.catalogs import catalog_of
from weir.definitions import query as queries
from weir.definitions.compilation_cache import CompilationCache
from weir.definitions.plan_json import decoded, encoded
from weir.definitions.query import QueryBody, compile_query
from weir.errors import ConfigurationError
from weir.plan.scope import Scope
from weir.sparql.algebra.windows import CountWindow, Registration, TimeWindow, WindowClause
from weir.sparql.frontend.errors import UnsupportedQuery
from weir.timeline.axis import EPOCHS, Instants

_HEAD = "#+ t0: 2026-01-01T00:00:00+01:00\n#+ first: partial\n#+ bounds: (]\n"
_TEXT = (
    "REGISTER STREAM <u:out> AS SELECT ?s\n"
    "FROM NAMED WINDOW w ON s [RANGE 10m STEP 1m] FROM NAMED WINDOW v ON t [ELEMENTS 5]\n"
    "{ WINDOW w { ?s <u:p> ?o } WINDOW v { ?s <u:q> ?o } }\n"
)
_WINDOWS = (
    WindowClause("<urn:weir:window:w>", "<urn:weir:stream:s>", TimeWindow(600_000_000, 60_000_000)),
    WindowClause("<urn:weir:window:v>", "<urn:weir:stream:t>", CountWindow(5)),
)


def test_a_window_that_advances_by_several_elements_is_refused() -> None:
    text = "SELECT ?s FROM NAMED WINDOW w ON s [ELEMENTS 5 STEP 2] { WINDOW w { ?s <u:p> ?o } }"
    with pytest.raises(
        UnsupportedQuery, match="one late event changes every later window"
    ) as caught:
        compile_query(text, "q")
    assert (caught.value.line, caught.value.column) == (1, 37)


def test_a_query_from_the_cache_has_the_windows_of_the_compiled_one(tmp_path: Path) -> None:
    (tmp_path / "queries").mkdir()
    text = f"{_HEAD}#+ corrects_back: 10m\n# cached {tmp_path}\n{_TEXT}"
    (tmp_path / "queries" / "q.rq").write_text(text, encoding="utf-8")
    declaration = catalog_of(tmp_path / "queries").declarations[0]
    cache = CompilationCache(tmp_path / "cache")
    source = declaration.read()
    compiled = queries.read(declaration, source, cache)
    assert cache.find("q", source) is not None
    cached = queries.read(declaration, source, cache)
    assert cached == compiled
    assert (cached.axis.windows, cached.registration) == (_WINDOWS, Registration(None, "<u:out>"))
    assert cached.axis == Instants(
        _WINDOWS, 1_767_222_000_000_000, "partial", "(]", "close", 600_000_000
    )
    assert isinstance(cached.body, QueryBody)
    assert {part.scope for part in cached.body.components} == {
        Scope(window="<urn:weir:window:w>"),
        Scope(window="<urn:weir:window:v>"),
    }
    assert decoded(encoded(cached.body.plan)) == cached.body.plan
    assert cached.reads == frozenset()


def test_windows_without_keys_in_the_front_matter_have_the_defaults(tmp_path: Path) -> None:
    (tmp_path / "q.rq").write_text(_TEXT, encoding="utf-8")
    query = catalog_of(tmp_path).member("q")
    assert query.axis == Instants(_WINDOWS, 0, "full", "[)", "close", 0)


def test_the_graph_beside_windows_is_read() -> None:
    assert compile_query(_TEXT.replace("} }\n", "} ?s ?p ?o }\n"), "q").reads == {"triples"}


def test_a_query_without_windows_has_the_epochs_as_its_axis_and_no_registration(
    tmp_path: Path,
) -> None:
    (tmp_path / "q.rq").write_text("ASK { ?s ?p ?o }", encoding="utf-8")
    query = catalog_of(tmp_path).member("q")
    assert (query.axis, query.registration) == (EPOCHS, None)


def test_what_decides_the_content_of_windows_changes_fingerprint_and_shape() -> None:
    texts = [
        _TEXT,
        _TEXT.replace("10m", "11m"),
        _TEXT.replace("1m]", "2m]"),
        _TEXT.replace(" STEP 1m", ""),
        _TEXT.replace("ELEMENTS 5", "ELEMENTS 6"),
        _TEXT.replace("ELEMENTS 5", "ELEMENTS 5 STEP 1"),
        _TEXT.replace("ON s", "ON t"),
        _TEXT.replace("WINDOW v", "WINDOW x"),
        "#+ t0: 1970-01-01T00:00:01Z\n" + _TEXT,
        "#+ first: partial\n" + _TEXT,
        '#+ bounds: "(]"\n' + _TEXT,
        _TEXT.replace("SELECT", "SELECT ISTREAM"),
        _TEXT.replace("SELECT", "SELECT DSTREAM"),
        "#+ corrects_back: PT1S\n" + _TEXT,
    ]
    compiled = [compile_query(text, "q") for text in texts]
    assert all(one.fingerprint != two.fingerprint for one, two in combinations(compiled, 2))
    assert all(one.shape != two.shape for one, two in combinations(compiled, 2))


@pytest.mark.parametrize(
    "text",
    [
        _TEXT.replace("10m STEP 1m", "PT600S step PT1M"),
        _TEXT.replace("WINDOW w", "WINDOW <urn:weir:window:w>"),
        _TEXT.replace("STREAM <u:out>", "STREAM <u:other>"),
        "#+ t0: 1970-01-01T01:00:00+01:00\n#+ bounds: '[)'\n#+ corrects_back: 0s\n" + _TEXT,
        "REGISTER STREAM <u:out> AS SELECT ?s\nFROM NAMED WINDOW v ON t [ELEMENTS 5]\n"
        "FROM NAMED WINDOW w ON s [RANGE 10m STEP 1m]\n"
        "{ WINDOW w { ?s <u:p> ?o } WINDOW v { ?s <u:q> ?o } }\n",
    ],
    ids=["spelling", "name", "stream", "defaults", "order"],
)
def test_edits_that_keep_the_content_of_windows_keep_fingerprint_and_shape(text: str) -> None:
    one, two = compile_query(text, "q"), compile_query(_TEXT, "q")
    assert (one.fingerprint, one.shape) == (two.fingerprint, two.shape)


@pytest.mark.parametrize(
    "line",
    [
        "t0: 1970-01-01T00:00:00Z",
        "first: full",
        'bounds: "[)"',
        "report: close",
        "corrects_back: PT0S",
    ],
)
def test_keys_of_windows_are_refused_without_windows(line: str) -> None:
    with pytest.raises(
        ConfigurationError, match=f"{line.split(':')[0]} is for queries with"
    ) as got:
        compile_query(f"#+ description: x\n#+ {line}\nASK {{ ?s ?p ?o }}", "q")
    assert got.value.where == "q:2"


def test_of_several_refused_keys_of_windows_the_first_is_named() -> None:
    with pytest.raises(ConfigurationError, match="report is for") as caught:
        compile_query("#+ report: close\n#+ first: full\nASK { ?s ?p ?o }", "q")
    assert caught.value.where == "q:1"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("t0: 2026-01-01", "t0: write a time with its zone"),
        ("t0: 2026-01-01T00:00:00", "t0: "),
        ("t0: 1767225600", "t0: write a time with its zone"),
        ("t0: noon", "t0: "),
        ("first: none", "first: "),
        ('bounds: "[]"', "bounds: "),
        ("report: always", "report: "),
        ("corrects_back: P1M", "corrects_back: months and years have no fixed length"),
        ("corrects_back: 10", "corrects_back: write a duration"),
        ("corrects_back: ten", "corrects_back: it is not a duration"),
    ],
)
def test_a_wrong_value_of_a_key_of_windows_is_an_error_with_its_line(
    line: str, message: str
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        compile_query(f"#+ description: x\n#+ {line}\n{_TEXT}", "q")
    assert str(caught.value).startswith(f"q:2: {message}")
