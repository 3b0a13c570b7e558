"""The catalog: names without reading, members on demand, a bad file does not affect the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.catalogs import catalog_of
from tests.support.projects.project import Project
from weir.definitions import catalog
from weir.definitions import query as queries
from weir.definitions.catalog import Catalog
from weir.definitions.kinds import QUERY
from weir.definitions.names import declared_names, folders_of
from weir.errors import ConfigurationError

_QUERY = "SELECT * { ?s <u:p> ?o }\n"
_PROGRAM = '%+ stream: readings\n%+ prefixes: {"": "u:"}\na(X) <- p(X).\n'


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that are compiled from now on, by a process without a cache in memory."""
    texts: list[str] = []
    compile_query = queries.compile_query

    def counted(text: str, file: str) -> queries.CompiledQuery:
        texts.append(text)
        return compile_query(text, file)

    monkeypatch.setattr(queries, "compile_query", counted)
    catalog._compiled.cache_clear()
    return texts


def test_one_bad_file_does_not_hide_the_others(tmp_path: Path) -> None:
    (tmp_path / "b.rq").write_text(_QUERY)
    (tmp_path / "a.rq").write_text("SELECT")
    (tmp_path / "c.rq").write_bytes(b"# \xff\n" + _QUERY.encode())
    (tmp_path / "d.rq").write_bytes(b"\xef\xbb\xbf" + _QUERY.encode())
    (tmp_path / "e.rq").mkdir()
    (tmp_path / "F.rq").write_text(_QUERY)
    # As Emacs locks a file that it has open.
    (tmp_path / ".#b.rq").symlink_to("nobody@nowhere")
    (tmp_path / "notes.txt").write_text("no query")
    declared = catalog_of(tmp_path)
    assert [member.name for member in declared.members] == ["b", "d"]
    assert list(declared.errors) == ["F", "a", "c", "e"]
    assert [declared.is_usable(name) for name in "abcdeF"] == [
        False,
        True,
        False,
        True,
        False,
        False,
    ]
    for name, error in declared.errors.items():
        assert Path(error.where.split(":")[0]) == tmp_path / f"{name}.rq"
        with pytest.raises(ConfigurationError) as caught:
            declared.member(name)
        assert caught.value is error


def test_a_query_and_a_program_of_one_name_are_both_refused(tmp_path: Path) -> None:
    project = Project(tmp_path)
    for name in "ab":
        project.query(name, _QUERY)
    for name in "ac":
        project.program(name, _PROGRAM)
    declared = Catalog.of(project.settings)
    assert [member.name for member in declared.members] == [*declared.names] == ["b", "c"]
    assert [member.kind.name for member in declared.members] == ["query", "program"]
    assert declared_names(folders_of(project.settings)) == ("b", "c")
    assert not declared.is_usable("a")
    with pytest.raises(ConfigurationError, match=r"a\.lars declares the name 'a' too"):
        declared.member("a")
    assert [*declared.errors] == ["a"]


def test_names_come_from_file_names_and_nothing_is_read(
    tmp_path: Path, compiled: list[str]
) -> None:
    for name in ("b.rq", "a.rq", ".#a.rq", "Q.rq", "quads.rq", "notes.txt"):
        (tmp_path / name).write_text(_QUERY)
    (tmp_path / "unreadable.rq").mkdir()
    assert declared_names({QUERY: tmp_path}) == ("a", "b", "unreadable")
    assert catalog_of(tmp_path).names == ("a", "b", "unreadable")
    assert compiled == []


def test_only_what_is_needed_is_compiled_and_only_once(tmp_path: Path, compiled: list[str]) -> None:
    for name in "abc":
        (tmp_path / f"{name}.rq").write_text(f"{_QUERY}# {name}")
    first, second = catalog_of(tmp_path), catalog_of(tmp_path)
    assert first.member("b") == second.member("b")
    assert compiled == [f"{_QUERY}# b"]
    assert first.members == second.members
    assert sorted(compiled) == [f"{_QUERY}# {name}" for name in "abc"]


def test_a_text_with_an_error_is_also_compiled_once(tmp_path: Path, compiled: list[str]) -> None:
    (tmp_path / "a.rq").write_text("SELECT")
    assert [*catalog_of(tmp_path).errors] == [*catalog_of(tmp_path).errors] == ["a"]
    assert compiled == ["SELECT"]


def test_an_edited_file_is_seen_by_the_next_catalog_and_not_by_this_one(tmp_path: Path) -> None:
    file = tmp_path / "a.rq"
    file.write_text(_QUERY)
    before = catalog_of(tmp_path)
    assert before.member("a").text == _QUERY
    file.write_text("SELECT ?s { ?s <u:p> ?o }")
    assert before.member("a").text == _QUERY
    assert catalog_of(tmp_path).member("a").output.columns == ("s",)


def test_an_empty_folder_declares_nothing(tmp_path: Path) -> None:
    declared = catalog_of(tmp_path)
    assert (declared.names, declared.members, declared.errors) == ((), (), {})


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="the folder of queries does not exist"):
        catalog_of(tmp_path / "nowhere")
