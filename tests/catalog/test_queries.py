"""The registry: front matter, names and columns, and that one bad file hides no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from jobs.catalog.queries import FrontMatter, Registry, load_query, load_registry
from jobs.errors import ConfigurationError
from lake.tables import SHARED_TABLES

_QUERY = "SELECT * { ?s <u:p> ?o }\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of queries."""
    (tmp_path / "queries").mkdir()
    return tmp_path / "queries"


def _error(folder: Path, text: str, name: str = "q.rq") -> ConfigurationError:
    """The error for a query file of this text; its place without the folder."""
    (folder / name).write_bytes(text.encode())
    with pytest.raises(ConfigurationError) as caught:
        load_query(folder / name)
    caught.value.where = caught.value.where.removeprefix(f"{folder}/")
    return caught.value


def test_the_front_matter_says_how_a_query_is_kept(folder: Path) -> None:
    (folder / "labels_2.rq").write_text(
        "#+ description: labels, of things\n#+ tags: [a, b]\n#+ default_graph: default\n"
        "#+ history: full\n#+ max_rows: 10\n#+ allow_product: true\n#+ owner: x@y\n\n# text\n"
        + _QUERY
    )
    query = load_query(folder / "labels_2.rq")
    assert query.name == "labels_2"
    assert query.file == folder / "labels_2.rq"
    assert query.front_matter == FrontMatter(
        description="labels, of things",
        owner="x@y",
        tags=("a", "b"),
        default_graph="default",
        history="full",
        max_rows=10,
        allow_product=True,
    )
    assert query.query.dataset.default_graph == "default"


def test_a_query_needs_no_front_matter(folder: Path) -> None:
    (folder / "q.rq").write_text(_QUERY)
    assert load_query(folder / "q.rq").front_matter == FrontMatter()


@pytest.mark.parametrize("line_end", ["\r\n", "\n"])
def test_an_unknown_key_is_an_error_with_its_line(folder: Path, line_end: str) -> None:
    text = line_end.join(["# about", "#+ description: x", "#+", "#+ histroy: full", _QUERY])
    error = _error(folder, text)
    assert error.where == "q.rq:4"
    assert error.what == "unknown key histroy"
    assert "history" in error.instead


@pytest.mark.parametrize(
    ("front_matter", "line", "what"),
    [
        ("#+ description: x\n#+ history: all", 2, "history: Input should be"),
        ("#+ max_rows: 0", 1, "max_rows: Input should be greater"),
        ("#+ description: [", 1, "the front matter is not YAML"),
        ("#+ just words", 1, "the front matter has no keys"),
        ("#+ owner: x\n#+ owner: y", 1, "the front matter has a key twice"),
        ("#+ owner: \x07", 1, "the front matter is not YAML"),
        ("#+ 1: x", 1, "1: Keys should be strings"),
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
    (folder / "q.rq").write_text("SELECT ?s { ?s <u:p> ?epoch , ?S }")
    load_query(folder / "q.rq")


def test_one_bad_file_does_not_hide_the_others(folder: Path) -> None:
    (folder / "b.rq").write_text(_QUERY)
    (folder / "a.rq").write_text("SELECT")
    (folder / "c.rq").write_bytes(b"# \xff\n" + _QUERY.encode())
    (folder / "d.rq").write_bytes(b"\xef\xbb\xbf" + _QUERY.encode())
    (folder / "e.rq").mkdir()
    # As Emacs locks a file that it has open.
    (folder / ".#b.rq").symlink_to("nobody@nowhere")
    (folder / "notes.txt").write_text("no query")
    registry = load_registry(folder)
    assert [query.name for query in registry.queries] == ["b", "d"]
    assert [Path(error.where.split(":")[0]).name for error in registry.errors] == [
        "a.rq",
        "c.rq",
        "e.rq",
    ]


@pytest.mark.parametrize("name", [table.name for table in SHARED_TABLES])
def test_a_query_cannot_have_the_name_of_a_table(folder: Path, name: str) -> None:
    (folder / f"{name}.rq").write_text(_QUERY)
    (error,) = load_registry(folder).errors
    assert f"{name!r} is the name of a table" in error.what
    assert error.where.endswith(f"{name}.rq")


def test_an_empty_folder_has_no_queries(folder: Path) -> None:
    assert load_registry(folder) == Registry((), ())


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="the folder of queries is not there"):
        load_registry(tmp_path / "nowhere")


def test_the_text_is_kept_as_it_is(folder: Path) -> None:
    text = 'SELECT * { ?s <u:p> """a\r\nb""" }'
    (folder / "q.rq").write_bytes(text.encode())
    assert load_query(folder / "q.rq").text == text


def test_the_queries_of_nomisma_are_registered(shared: Path) -> None:
    registry = load_registry(shared / "data" / "nomisma" / "queries")
    assert len(registry.queries) == 10
    assert not registry.errors
