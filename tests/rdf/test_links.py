"""Symbolic links in the folder of a source: which are followed, and which are listed as refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from weir.rdf.files import list_files


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    source = tmp_path / "source"
    (source / "a/b").mkdir(parents=True)
    (source / "a/b/1.nt").write_text("")
    (source / ".hidden").mkdir()
    (source / ".hidden/2.nt").write_text("")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/3.nt").write_text("")
    return source


def listed(folder: Path) -> dict[str, str | None]:
    return {file.name: file.refused for file in list_files(str(folder))}


@pytest.mark.parametrize(
    "target", ["../outside", "../outside/3.nt", "/proc/self/mem", "../source2"]
)
def test_a_link_that_leaves_the_folder_is_refused(folder: Path, target: str) -> None:
    (folder / "link.nt").symlink_to(target)
    files = listed(folder)
    assert files.keys() == {"a/b/1.nt", "link.nt"}
    assert "leaves the folder" in str(files["link.nt"])


@pytest.mark.parametrize("target", [".", "..", "../..", "../../a", "link"])
def test_a_link_that_makes_a_cycle_is_refused(folder: Path, target: str) -> None:
    (folder / "a/b/link").symlink_to(target)
    files = listed(folder)
    assert files.keys() == {"a/b/1.nt", "a/b/link"}
    assert "makes a cycle" in str(files["a/b/link"])


def test_two_links_that_make_a_cycle_end(folder: Path) -> None:
    (folder / "c").mkdir()
    (folder / "a/x").symlink_to("../c")
    (folder / "c/y").symlink_to("../a")
    files = listed(folder)
    assert {name: bool(reason) for name, reason in files.items()} == {
        "a/b/1.nt": False,
        "a/x/y": True,
        "c/y/b/1.nt": False,
        "c/y/x": True,
    }


def test_a_link_within_the_folder_is_followed(folder: Path) -> None:
    (folder / "2.nt").symlink_to(".hidden/2.nt")
    (folder / "copy").symlink_to("a")
    assert listed(folder) == {"a/b/1.nt": None, "2.nt": None, "copy/b/1.nt": None}


def test_a_link_that_leads_nowhere_is_refused(folder: Path) -> None:
    (folder / "2.nt").symlink_to("none.nt")
    assert "leads nowhere" in str(listed(folder)["2.nt"])


def test_the_folder_itself_may_be_a_link(folder: Path) -> None:
    link = folder.parent / "link"
    link.symlink_to(folder)
    assert listed(link) == {"a/b/1.nt": None}
