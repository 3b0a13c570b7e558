"""The names of tables are written in `lake/tables` alone, and their folders say whose they are."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from weir.lake.lake import Lake
from weir.lake.tables import (
    ANSWERS,
    FAMILIES,
    RESERVED_NAMES,
    SHARED_TABLES,
    STREAMS,
    TableFamily,
    split_name,
)

ROOT = Path(__file__).parents[2]
PROGRAMS = sorted(
    path
    for folder in ("weir", "lake", "expectations", "dags", "jobs")
    for path in (ROOT / folder).rglob("*.py")
    if ROOT / "lake/tables" not in path.parents and not path.is_symlink()
)
FOLDERS = tuple(f"{family.folder}/" for family in FAMILIES)
TAKE_A_TABLE = {
    *("commits", "derive", "derived", "existing", "exists", "glob", "last_metadata", "location"),
    *("newest_commit", "newest_metadata", "open", "open_feed", "register_table", "rows", "using"),
    *("version", "StoredTable", "compact_files", "vacuum", "result", "remove", "missing_files"),
    *("folder", "commit", "follow"),
}
"""Functions and methods that are given the name of a table."""


def names_by_hand(program: str) -> Iterator[str]:
    """The names of tables that a program writes, but for those in its docstrings."""
    for node in ast.walk(ast.parse(program)):
        match node:
            case ast.JoinedStr(values=[ast.Constant(value=str(text)), *_]) if is_of_family(text):
                yield text
            case ast.Constant(value=str(text)) if is_of_family(text) and " " not in text:
                yield text
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=arguments):
                if name in TAKE_A_TABLE:
                    constants = [
                        argument.value
                        for argument in arguments
                        if isinstance(argument, ast.Constant)
                    ]
                    yield from RESERVED_NAMES.intersection(map(str, constants))


def is_of_family(text: str) -> bool:
    return text.startswith(FOLDERS)


@pytest.mark.parametrize(
    "program",
    [
        'f"answers/{query}"',
        '"embeddings/rooms"',
        'folder.glob(f"streams/*/{LOG}")',
        'lake.exists("quads")',
        'StoredTable("of_run", "runs")',
    ],
)
def test_a_name_that_is_written_by_hand_is_noticed(program: str) -> None:
    assert [*names_by_hand(program)]


@pytest.mark.parametrize("program", ['"the answers/day"', 'row["rejected"]', 'column("runs")'])
def test_other_text_is_no_name_of_a_table(program: str) -> None:
    assert not [*names_by_hand(program)]


def test_only_the_definitions_of_tables_write_their_names() -> None:
    assert len(PROGRAMS) > 400
    written = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in PROGRAMS
        for name in names_by_hand(path.read_text())
    }
    assert not written


@pytest.mark.parametrize("family", FAMILIES)
def test_the_name_of_a_table_of_a_family_says_whose_it_is(family: TableFamily) -> None:
    assert split_name(family.name("rooms")) == (family.folder, "rooms")


def test_a_shared_table_is_nobodys() -> None:
    assert [split_name(table.name)[1] for table in SHARED_TABLES] == [""] * len(SHARED_TABLES)


def test_no_folder_of_a_family_has_the_name_of_a_table() -> None:
    assert not RESERVED_NAMES.intersection(family.folder for family in FAMILIES)
    assert len({family.folder for family in FAMILIES}) == len(FAMILIES)


def test_whose_tables_there_are_is_read_from_the_folders(tmp_path: Path) -> None:
    for table in (ANSWERS.name("rooms"), ANSWERS.name("exhibits"), STREAMS.name("visits")):
        (tmp_path / table / "_delta_log").mkdir(parents=True)
    (tmp_path / ANSWERS.name("gone")).mkdir()
    assert Lake(str(tmp_path)).owners(ANSWERS) == ["exhibits", "rooms"]
