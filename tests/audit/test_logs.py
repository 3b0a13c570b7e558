"""A log that is not what was written is never gone on from: each table, each kind of damage."""

from __future__ import annotations

import hashlib
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from deltalake import DeltaTable

from tests.audit.test_audit import TABLES
from tests.support.damage import flip_a_bit, newest_commit
from tests.support.laws import Seeds
from tests.support.opened import call
from tests.support.projects.project import Project
from weir.audit.checked import table_of
from weir.audit.stage import examined
from weir.errors import WeirError
from weir.lake.damage.log_checks import LOG_NOTES
from weir.lake.damage.storage_errors import DamagedTable
from weir.lake.delta.checksums import NOTES
from weir.lake.delta.commit_files import LOG, checkpoint_files, commit_file
from weir.lake.lake import Lake
from weir.progress.watermarks import head
from weir.project import open_lake

FOURTH = ('A <urn:z> <urn:title> "z" <urn:g>', 'A <urn:z> <urn:room> "9" <urn:g>')


def commits(lake: Lake, table: str) -> list[Path]:
    """The commit files of a table, the newest last."""
    return sorted((Path(lake.root) / table / LOG).glob("*.json"))


def copied(lake: Lake, table: str) -> None:
    """A copy of the commit before the one before is the newest."""
    files = commits(lake, table)
    shutil.copyfile(files[-3], files[-1].with_name(f"{len(files):020}.json"))


def swapped(lake: Lake, table: str) -> None:
    """The newest two commits are in each other's place."""
    *_, one, other = commits(lake, table)
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)


def missing(lake: Lake, table: str) -> None:
    newest_commit(lake, table).unlink()


def missing_within(lake: Lake, table: str) -> None:
    commits(lake, table)[-2].unlink()


def truncated(lake: Lake, table: str) -> None:
    file = newest_commit(lake, table)
    file.write_bytes(file.read_bytes()[:-20])


def emptied(lake: Lake, table: str) -> None:
    newest_commit(lake, table).write_bytes(b"")


def a_line_less(lake: Lake, table: str) -> None:
    file = newest_commit(lake, table)
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:-1]))


DAMAGES: tuple[Callable[[Lake, str], None], ...] = (
    *(copied, swapped, missing, missing_within, truncated, emptied, a_line_less),
)


def rows_of(folder: Path) -> list[str]:
    """The rows of a table as its log says, damaged or not."""
    return sorted(map(repr, DeltaTable(folder).to_pyarrow_table().to_pylist()))


every_damage = pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
every_table = pytest.mark.parametrize("table", TABLES)


@every_damage
@every_table
def test_no_table_is_read_with_a_damaged_log(
    project: Project, table: str, damage: Callable[[Lake, str], None]
) -> None:
    damage(open_lake(project.settings), table)
    with pytest.raises(DamagedTable) as raised:
        open_lake(project.settings).rows(table)
    assert f"/{table}/" in raised.value.where


@pytest.mark.usefixtures("sampled")
@every_damage
@every_table
def test_an_audit_names_the_table_of_a_damaged_log(
    project: Project, table: str, damage: Callable[[Lake, str], None]
) -> None:
    damage(open_lake(project.settings), table)
    failed = call(examined, project.settings, "audit").failed
    assert any(table_of(result) == table for result in failed)


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("damage", [copied, swapped])
@pytest.mark.parametrize("table", ["answers/rooms", "embeddings/rooms"])
@pytest.mark.parametrize("are_noted", [True, False], ids=["noted", "of an earlier version"])
def test_no_row_is_published_twice_after_a_repeated_or_swapped_commit(
    project: Project,
    table: str,
    damage: Callable[[Lake, str], None],
    are_noted: bool,
) -> None:
    lake = open_lake(project.settings)
    folder = Path(lake.root)
    damage(lake, table)
    if not are_noted:
        (folder / table / NOTES / LOG_NOTES).unlink()
    before = rows_of(folder / "answers/rooms")
    project.change(*FOURTH)
    with pytest.raises(WeirError, match=table):
        project.run()
    assert rows_of(folder / "answers/rooms") == before


def test_a_table_from_an_older_backup_than_the_ledger_is_not_gone_on_from(
    project: Project, tmp_path: Path
) -> None:
    folder = Path(project.settings.lake) / "answers/rooms"
    shutil.copytree(folder, tmp_path / "backup")
    project.change(*FOURTH)
    project.run()
    shutil.rmtree(folder)
    shutil.copytree(tmp_path / "backup", folder)
    project.change('A <urn:y> <urn:title> "y" <urn:g>', 'A <urn:y> <urn:room> "8" <urn:g>')
    with pytest.raises(WeirError, match="is complete up to epoch 3, and version"):
        project.run()


def test_the_newest_epoch_is_that_of_the_rows(project: Project) -> None:
    """Also of a log that nothing is noted of."""
    lake = open_lake(project.settings)
    file = newest_commit(lake, "transactions")
    text = file.read_text()
    assert '\\"epoch\\": 3' in text or '\\"epoch\\":3' in text
    file.write_text(
        text.replace('\\"epoch\\": 3', '\\"epoch\\": 11').replace('\\"epoch\\":3', '\\"epoch\\":11')
    )
    (Path(lake.root) / "transactions" / NOTES / LOG_NOTES).unlink()
    assert head(open_lake(project.settings)) == 3


def test_a_commit_that_was_removed_may_be_made_again(project: Project) -> None:
    """As the hint says, without what is noted of it."""
    lake = open_lake(project.settings)
    folder = Path(lake.root) / "answers/rooms"
    newest_commit(lake, "answers/rooms").unlink()
    (folder / NOTES / LOG_NOTES).unlink()
    assert open_lake(project.settings).rows("answers/rooms").num_rows


@pytest.mark.parametrize("content", [b"", b'{"commitInfo":'], ids=["empty", "cut off"])
def test_a_commit_that_cannot_be_read_is_forgotten_when_it_is_removed(
    project: Project, content: bytes
) -> None:
    """As the hint says."""
    lake = open_lake(project.settings)
    file = commits(lake, "answers/rooms")[-1]
    newest = file.with_name(f"{int(file.stem) + 1:020}.json")
    newest.write_bytes(content)
    with pytest.raises(DamagedTable):
        open_lake(project.settings).rows("answers/rooms")
    newest.unlink()
    assert open_lake(project.settings).rows("answers/rooms").num_rows
    project.change(*FOURTH)
    project.run()


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("missing", [1, 2])
@pytest.mark.parametrize("table", TABLES)
def test_a_log_without_the_commits_of_its_checkpoint_is_named(
    project: Project, table: str, missing: int
) -> None:
    lake = open_lake(project.settings)
    lake.existing(table).create_checkpoint()
    for file in commits(lake, table)[-missing:]:
        file.unlink()
    shutil.rmtree(Path(lake.root) / table / NOTES)

    def go_on() -> None:
        project.change(*FOURTH)
        project.run()

    with pytest.raises((WeirError, DamagedTable), match=rf"table {table}\b"):
        go_on()


def test_a_process_that_goes_on_reads_a_table_that_was_restored_in_place(project: Project) -> None:
    """Also where what is noted of it is in the same file as before, and is longer than it was."""
    folder = Path(open_lake(project.settings).root) / "answers/rooms"
    rows = open_lake(project.settings).rows("answers/rooms").num_rows
    notes = folder / NOTES / LOG_NOTES
    other = newest_commit(open_lake(project.settings), "answers/rooms")
    text = other.read_text()
    other.write_text(text.replace("{", "{ ", 1))
    changed = hashlib.blake2b(other.read_bytes(), digest_size=8).hexdigest()
    lines = [line for line in notes.read_text().splitlines() if not line.endswith(other.name)]
    notes.write_text("\n".join([f"{changed} {other.name}", *lines, *lines, ""]))
    assert open_lake(project.settings).rows("answers/rooms").num_rows == rows


def test_a_log_below_a_folder_that_cannot_be_written_is_read(project: Project) -> None:
    lake = open_lake(project.settings)
    rows = lake.rows("quads").num_rows
    notes = Path(lake.root) / "quads" / NOTES
    shutil.rmtree(notes)
    notes.write_text("no folder")
    assert open_lake(project.settings).rows("quads").num_rows == rows


@pytest.mark.law("flips of logs")
def test_no_flipped_bit_of_any_log_is_silent(project: Project, seeds: Seeds) -> None:
    """It is said, with the table and the file, or it is without effect."""
    lake = open_lake(project.settings)
    for table in TABLES:
        lake.existing(table).create_checkpoint()
        folder = Path(lake.root) / table
        # One more commit after the checkpoint.
        if table == "quads":
            project.change(*FOURTH)
            project.run()
    lake = open_lake(project.settings)
    expected = {table: (lake.version(table), rows_of(Path(lake.root) / table)) for table in TABLES}
    for seed in seeds:
        rng = random.Random(f"flip of a log {seed}")
        table = rng.choice(TABLES)
        folder = Path(lake.root) / table
        files = [
            *(file for file in (folder / LOG).iterdir() if file.is_file()),
            *checkpoint_files(folder),
            folder / commit_file(expected[table][0] or 0),
        ]
        file = rng.choice(sorted(files))
        content = file.read_bytes()
        flip_a_bit(file, rng)
        said = read_again(project, table)
        file.write_bytes(content)
        assert said in (expected[table], str(file)), (seed, file)


def read_again(project: Project, table: str) -> object:
    """The version and the rows of a table; the file that is said to be damaged, if one is."""
    again = open_lake(project.settings)
    try:
        return again.version(table), sorted(map(repr, again.rows(table).to_pylist()))
    except DamagedTable as error:
        return error.where
