"""Which query gives the stream that another one reads, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.catalogs import catalog_of
from weir.definitions.catalog import Catalog
from weir.definitions.upstreams import all_upstreams_of, in_order_of_upstreams
from weir.errors import ConfigurationError


def query(out: str, reads: str, form: str = "CONSTRUCT ISTREAM { ?s ?p ?o }") -> str:
    """A query that registers the stream `out` and reads another one."""
    return (
        f"REGISTER STREAM {out} AS {form}\n"
        f"FROM NAMED WINDOW w ON {reads} [RANGE PT10S STEP PT10S]\n"
        "WHERE { WINDOW w { ?s ?p ?o } }\n"
    )


def catalog(folder: Path, **texts: str) -> Catalog:
    for name, text in texts.items():
        (folder / f"{name}.rq").write_text(text)
    return catalog_of(folder)


def test_the_upstreams_of_a_query_are_those_that_give_its_streams(tmp_path: Path) -> None:
    declared = catalog(tmp_path, a=query("x", "readings"), b=query("y", "x"), c=query("z", "y"))
    assert [u.query for u in declared.member("c").axis.upstreams] == ["b"]
    assert all_upstreams_of(declared.member("c")) == ("b", "a")
    assert declared.member("a").axis.upstreams == ()


def test_queries_are_maintained_after_those_that_give_their_streams(tmp_path: Path) -> None:
    declared = catalog(tmp_path, a=query("x", "y"), b=query("y", "z"), c=query("z", "readings"))
    assert [member.name for member in in_order_of_upstreams(declared.members)] == ["c", "b", "a"]


def test_an_iri_names_the_stream_of_another_query(tmp_path: Path) -> None:
    declared = catalog(tmp_path, a=query("<u:x>", "readings"), b=query("y", "<u:x>"))
    assert [u.stream for u in declared.member("b").axis.upstreams] == ["<u:x>"]


def test_queries_that_read_each_others_streams_in_a_circle_are_all_refused(tmp_path: Path) -> None:
    declared = catalog(
        tmp_path,
        a=query("x", "z"),
        b=query("y", "x"),
        c=query("z", "y"),
        d=query("v", "readings"),
    )
    assert {*declared.errors} == {"a", "b", "c"}
    for name, error in declared.errors.items():
        assert "in a circle: a -> c -> b -> a" in error.what
        assert error.where.endswith(f"{name}.rq")


def test_a_query_that_reads_its_own_stream_is_refused(tmp_path: Path) -> None:
    declared = catalog(tmp_path, a=query("x", "x"))
    assert "in a circle: a -> a" in declared.errors["a"].what


def test_a_reader_of_a_circle_is_refused_with_its_reason(tmp_path: Path) -> None:
    declared = catalog(tmp_path, a=query("x", "x"), b=query("y", "x"))
    assert declared.errors["b"].what.startswith("the query a, whose stream it reads, has an error")


@pytest.mark.parametrize(
    ("form", "what"),
    [
        ("CONSTRUCT { ?s ?p ?o }", "without a stream operator"),
        ("SELECT ISTREAM *", "has solutions, not triples"),
    ],
)
def test_a_stream_without_triples_cannot_be_read(tmp_path: Path, form: str, what: str) -> None:
    declared = catalog(tmp_path, a=query("x", "readings", form), b=query("y", "x"))
    assert [*declared.errors] == ["b"]
    assert what in declared.errors["b"].what


def test_a_stream_is_registered_by_one_query(tmp_path: Path) -> None:
    """None of two is taken: a reader would get another stream by a new file."""
    declared = catalog(
        tmp_path, a=query("x", "readings"), b=query("x", "readings"), c=query("y", "x")
    )
    assert [*declared.errors] == ["a", "b", "c"]
    assert "a.rq registers the stream" in declared.errors["b"].what
    assert "b.rq registers the stream" in declared.errors["a"].what
    assert "a.rq and b.rq register the stream" in declared.errors["c"].what


def test_an_edit_of_the_operator_changes_the_fingerprint(tmp_path: Path) -> None:
    before = catalog(tmp_path, a=query("x", "readings")).member("a").fingerprint
    text = query("x", "readings", "CONSTRUCT DSTREAM { ?s ?p ?o }")
    assert catalog(tmp_path, a=text).member("a").fingerprint != before


@pytest.mark.parametrize(
    ("text", "place", "what"),
    [
        ("SELECT ISTREAM * WHERE { ?s ?p ?o }", "1:8", "a query without windows has no instants"),
        (
            "SELECT RSTREAM *\nFROM NAMED WINDOW w ON r [RANGE PT10S]\n"
            "WHERE { WINDOW w { ?s ?p ?o } }",
            "1:8",
            "no window has a STEP",
        ),
        (
            "#+ report: change\nSELECT *\nFROM NAMED WINDOW w ON r [RANGE PT10S]\n"
            "WHERE { WINDOW w { ?s ?p ?o } }",
            "1",
            "report: ",
        ),
        (
            "SELECT ISTREAM ?instant\nFROM NAMED WINDOW w ON r [RANGE PT10S]\n"
            "WHERE { WINDOW w { ?instant ?p ?o } }",
            "1:16",
            "the column instant of every stream out of a query",
        ),
    ],
)
def test_a_query_that_cannot_emit_its_stream_is_refused_at_its_place(
    tmp_path: Path, text: str, place: str, what: str
) -> None:
    error = catalog(tmp_path, a=text).errors["a"]
    assert isinstance(error, ConfigurationError)
    assert error.where.endswith(f"a.rq:{place}")
    assert what in error.what
