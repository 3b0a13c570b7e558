"""Pages and other files outside of Delta tables are replaced as a whole, or not at all."""

from __future__ import annotations

import os
import re
import threading
import time
from pathlib import Path

import pytest

from weir.lake.whole_files import remove_drafts, whole_file, write_whole

CODE = Path(__file__).parents[2]
PARTIAL = re.compile(r"\.write_(?:text|bytes)\(")


def test_a_reader_never_finds_a_part_of_a_file_that_is_replaced(tmp_path: Path) -> None:
    page, seen = tmp_path / "reports" / "page.html", set[str]()
    texts = {letter * 2_000_000 for letter in "ab"}
    write_whole(page, min(texts))
    writing = threading.Event()

    def write() -> None:
        for _ in range(10):
            for text in texts:
                write_whole(page, text)
        writing.set()

    writer = threading.Thread(target=write)
    writer.start()
    while not writing.is_set():
        seen.add(page.read_text())
    writer.join()
    assert seen <= texts


def test_a_file_that_cannot_be_written_leaves_the_earlier_one_and_nothing_else(
    tmp_path: Path,
) -> None:
    page = tmp_path / "page.html"
    write_whole(page, "before")

    def fail() -> None:
        with whole_file(page) as output:
            output.write(b"aft")
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        fail()
    assert {file.name: file.read_text() for file in tmp_path.iterdir()} == {"page.html": "before"}


def test_the_file_behind_a_link_is_replaced_and_keeps_its_permissions(tmp_path: Path) -> None:
    page, link = tmp_path / "page.html", tmp_path / "link.html"
    page.write_text("before")
    page.chmod(0o640)
    link.symlink_to(page)
    write_whole(link, "after")
    assert link.is_symlink()
    assert (page.read_text(), page.stat().st_mode & 0o777) == ("after", 0o640)


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    pipe, read = tmp_path / "pipe", list[str]()
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    write_whole(pipe, "text")
    reader.join()
    assert read == ["text"]


def test_drafts_of_killed_processes_are_removed_and_nothing_else(tmp_path: Path) -> None:
    old = time.time() - 4000
    names = {
        ".1.txt.77": old,
        ".2.txt.78": time.time(),
        ".note.1": old,
        "1.txt": old,
        ".1.txt": old,
    }
    for name, written in names.items():
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (written, written))
    remove_drafts(tmp_path, re.compile(r"\d\.txt"))
    assert {file.name for file in tmp_path.iterdir()} == names.keys() - {".1.txt.77"}


def test_no_other_code_writes_files_in_place() -> None:
    packages = (CODE / package for package in ("weir", "lake", "expectations", "jobs"))
    files = (file for package in packages for file in package.rglob("*.py"))
    writers = {str(file.relative_to(CODE)) for file in files if PARTIAL.search(file.read_text())}
    # What is downloaded is compared with its hash before it is used.
    downloads = {f"weir/spark_setup/{name}.py" for name in ("java", "maven", "trust")}
    assert writers == downloads
