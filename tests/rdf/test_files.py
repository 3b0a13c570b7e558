"""Listing and opening files by path and URI."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from weir.rdf.files import format_of, list_files, opened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("b.nq", "a/2 é.ttl", "a/10.nt.gz", "_SUCCESS", ".hidden/x.nq", "a/_tmp/x.nq"):
        file = tmp_path / "in put" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(name.encode())
    return tmp_path / "in put"


def test_the_files_of_a_folder_are_listed_by_name(folder: Path) -> None:
    files = list_files(str(folder))
    assert [file.name for file in files] == ["a/10.nt.gz", "a/2 é.ttl", "b.nq"]
    assert [Path(file.path) for file in files] == [folder / file.name for file in files]
    assert files[2].size == 4


def test_a_folder_is_named_with_or_without_a_slash_at_the_end(folder: Path) -> None:
    assert list_files(f"{folder}/") == list_files(str(folder))


def test_a_relative_folder_gives_relative_paths(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder.parent)
    assert [file.path for file in list_files("in put/a")] == [
        "in put/a/10.nt.gz",
        "in put/a/2 é.ttl",
    ]


def test_a_file_is_listed_as_itself(folder: Path) -> None:
    [file] = list_files(str(folder / "b.nq"))
    assert (file.name, file.path) == ("b.nq", str(folder / "b.nq"))


def test_a_missing_folder_is_an_error(folder: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no such file or folder"):
        list_files(str(folder / "c"))


def test_files_of_a_uri_are_listed_and_opened_by_uri(folder: Path) -> None:
    files = list_files(folder.as_uri())
    assert [file.name for file in files] == ["a/10.nt.gz", "a/2 é.ttl", "b.nq"]
    for file in files[1:]:
        with opened(file.path) as stream:
            assert stream.read() == file.name.encode()


def test_a_file_named_gz_is_decompressed(tmp_path: Path) -> None:
    file = tmp_path / "x.nq.GZ"
    file.write_bytes(gzip.compress(b"one") + gzip.compress(b"two"))
    with opened(str(file)) as stream:
        assert stream.read() == b"onetwo"


@pytest.mark.parametrize(
    ("name", "syntax"),
    [
        ("a.nt", "n-triples"),
        ("a.NQ.gz", "n-quads"),
        ("a.b.ttl", "turtle"),
        ("x/y.trig.gz", "trig"),
        ("a.rdf", "rdf-xml"),
        ("a.owl", "rdf-xml"),
        ("a.xml", "rdf-xml"),
        ("a.jsonld", "json-ld"),
        ("a.json.gz", "json-ld"),
        ("a.nqp.gz", "rdf-patch"),
        ("a.rdfp", "rdf-patch"),
        ("a.patch", "rdf-patch"),
        ("a.txt", None),
        ("nt", None),
        (".nt", "n-triples"),
        ("a.gz", None),
    ],
)
def test_the_format_is_that_of_the_name(name: str, syntax: str | None) -> None:
    assert format_of(name) == syntax
