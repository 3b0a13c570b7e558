"""What is taken out of the environment of the image, and what stays."""

from __future__ import annotations

import shutil
from pathlib import Path
from zipfile import ZipFile

import pyarrow
import pytest

from docker.slim import (
    PARTS,
    Part,
    link_same_libraries,
    missing_libraries,
    take_out,
    take_out_libraries,
)


def write(folder: Path, *names: str) -> None:
    """Write files with their own names."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)


def names(folder: Path) -> set[str]:
    """The files below a folder."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_what_the_patterns_name_is_taken_out(tmp_path: Path) -> None:
    write(tmp_path, "a/tests/one.py", "a/b/tests/two.py", "a/tests.py", "c.h", "a/d.h")
    take_out(tmp_path, Part("parts", "a reason", ("*/**/tests", "*/**/*.h")))
    assert names(tmp_path) == {"a/tests.py", "c.h"}


def test_what_is_kept_stays(tmp_path: Path) -> None:
    write(tmp_path, "jars/hive-metastore-2.jar", "jars/hive-storage-api-2.jar")
    take_out(tmp_path, Part("Hive", "a reason", ("jars/hive-*.jar",), kept="hive-storage-api-"))
    assert names(tmp_path) == {"jars/hive-storage-api-2.jar"}


def test_a_pattern_that_names_nothing_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, "a.jar")
    with pytest.raises(SystemExit, match=r"b-\*\.jar names nothing: look at 'a part' again"):
        take_out(tmp_path, Part("a part", "a reason", ("a.jar", "b-*.jar")))


def test_a_pattern_that_names_only_what_is_kept_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, "a.jar")
    with pytest.raises(SystemExit, match="names nothing"):
        take_out(tmp_path, Part("a part", "a reason", ("*.jar",), kept="a"))


def test_folders_that_are_named_twice_are_taken_out_once(tmp_path: Path) -> None:
    write(tmp_path, "a/tests/tests/one.py")
    take_out(tmp_path, Part("tests", "a reason", ("*/**/tests",)))
    assert names(tmp_path) == set()


def test_a_jar_keeps_the_library_of_this_machine_and_all_else(tmp_path: Path) -> None:
    jar = tmp_path / "native.jar"
    with ZipFile(jar, "w") as archive:
        for name in ("A.class", "META-INF/MANIFEST.MF", "linux/amd64/lib.so", "win/amd64/lib.dll"):
            archive.writestr(name, name)
    take_out_libraries(jar, "linux/amd64/")
    with ZipFile(jar) as archive:
        kept = {name: archive.read(name).decode() for name in archive.namelist()}
    assert set(kept) == {"A.class", "META-INF/MANIFEST.MF", "linux/amd64/lib.so"}
    assert all(name == content for name, content in kept.items())
    assert names(tmp_path) == {"native.jar"}


def test_a_jar_without_a_library_of_this_machine_is_an_error(tmp_path: Path) -> None:
    jar = tmp_path / "native.jar"
    with ZipFile(jar, "w") as archive:
        archive.writestr("linux/amd64/lib.so", "")
    with pytest.raises(SystemExit, match=r"native\.jar has no linux/aarch64/"):
        take_out_libraries(jar, "linux/aarch64/")


def test_copies_of_a_library_become_links_to_one(tmp_path: Path) -> None:
    for name in ("libarrow.so", "libarrow.so.26", "libarrow.so.26.0.1"):
        (tmp_path / name).write_bytes(b"arrow")
    (tmp_path / "libparquet.so").write_bytes(b"parquet")
    link_same_libraries(tmp_path)
    links = {path.name for path in tmp_path.iterdir() if path.is_symlink()}
    assert links == {"libarrow.so", "libarrow.so.26"}
    assert (tmp_path / "libarrow.so").read_bytes() == b"arrow"


def test_a_library_that_was_taken_out_and_is_needed_is_named_with_what_needs_it(
    tmp_path: Path,
) -> None:
    (module,) = Path(pyarrow.__file__).parent.glob("_csv.*.so")
    shutil.copy(module, tmp_path)
    missing = missing_libraries(tmp_path)
    assert {user for user, _ in missing} == {module.name}
    assert any(name.startswith("libarrow.so") for _, name in missing)


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.what)
def test_every_part_says_why_nothing_needs_it(part: Part) -> None:
    assert part.why
    assert part.patterns
