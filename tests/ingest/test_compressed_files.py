"""Sources of compressed files: each ending is read as the file inside, or said not to be."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
from collections.abc import Callable

import pyarrow as pa
import pytest

from tests.support.projects.project import Project

TRIPLE = '<urn:s> <urn:p> "{}" .\n'


def zipped(content: bytes, name: str) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr(name, content)
    return made.getvalue()


def put(project: Project, name: str, content: bytes) -> None:
    file = project.folder / name
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(content)


def positions(project: Project) -> list[object]:
    return [position for _, position in project.rows("transactions", "epoch", "position")]


def test_versions_of_any_ending_are_in_the_order_of_their_numbers(project: Project) -> None:
    project.declare({"name": "s", "kind": "snapshots", "location": "versions", "glob": "v*"})
    packed: dict[str, Callable[[bytes], bytes]] = {
        "v8.ttl.zip": lambda content: zipped(content, "any"),
        "v9.nt.bz2": bz2.compress,
        "v10.ttl.xz": lzma.compress,
        "v11.nq.zst": lambda content: pa.compress(content, codec="zstd", asbytes=True),
        "v12.zip": lambda content: zipped(content, "data/v12.nt"),
        "v13.trig.gz": gzip.compress,
    }
    for name, pack in packed.items():
        put(project, f"versions/{name}", pack(TRIPLE.format(name).encode()))
    result = project.ingest()
    assert not result.errors
    assert not result.warnings
    assert positions(project) == [*packed]


def test_patches_and_their_base_may_be_compressed(project: Project) -> None:
    source = {"name": "p", "kind": "patches", "location": "changes", "base": "base.zip"}
    project.declare(source)
    put(project, "base.zip", zipped(TRIPLE.format(0).encode(), "base.ttl"))
    patch = f"TX .\nA {TRIPLE.format(1)}TC .\n".encode()
    put(project, "changes/1.zip", zipped(patch, "1.rdfp"))
    put(project, "changes/2.nqp.xz", lzma.compress(patch))
    result = project.ingest()
    assert not result.errors
    assert positions(project) == ["base", "1.zip", "2.nqp.xz"]


def test_archives_that_are_not_read_are_said_with_what_is(project: Project) -> None:
    project.declare({"name": "s", "kind": "snapshots", "location": "versions"})
    project.write("versions/1.ttl", TRIPLE)
    project.write("versions/2.tar.gz", "")
    two = io.BytesIO()
    with zipfile.ZipFile(two, "w") as archive:
        archive.writestr("a.ttl", "")
        archive.writestr("b.ttl", "")
    put(project, "versions/3.zip", two.getvalue())
    (warning,) = project.ingest().warnings
    assert "2.tar.gz (an archive that is not read: .gz, .bz2, .xz, .zst, .zip with one" in warning
    assert "3.zip (a zip file with 2 files ('a.ttl', 'b.ttl'); one is read)" in warning
    assert project.rows("transactions", "position") == [("1.ttl",)]


def test_a_zip_that_is_still_being_copied_stops_its_source_until_it_is_whole(
    project: Project,
) -> None:
    project.declare({"name": "s", "kind": "snapshots", "location": "versions"})
    whole = zipped(TRIPLE.format(1).encode(), "1.ttl")
    put(project, "versions/1.zip", whole[:-30])
    project.write("versions/2.ttl", TRIPLE)
    (error,) = project.ingest().errors
    assert "it has no directory at its end" in str(error)
    assert project.rows("transactions", "position") == []
    put(project, "versions/1.zip", whole)
    assert not project.ingest().errors
    assert project.rows("transactions", "position") == [("1.zip",), ("2.ttl",)]


@pytest.mark.parametrize("ending", ["xz", "bz2", "zst"])
def test_a_version_that_is_cut_off_is_not_ingested(project: Project, ending: str) -> None:
    project.declare({"name": "s", "kind": "snapshots", "location": "versions"})
    content = "".join(TRIPLE.format(number) for number in range(100)).encode()
    packed = {
        "xz": lzma.compress(content),
        "bz2": bz2.compress(content),
        "zst": pa.compress(content, codec="zstd", asbytes=True),
    }[ending]
    put(project, f"versions/1.nt.{ending}", packed[:-9])
    (error,) = project.ingest().errors
    assert f"1.nt.{ending} is cut off: the compressed file is broken" in str(error)
    assert project.rows("transactions", "position") == []
