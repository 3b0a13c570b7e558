"""Each command that reads what is damaged names table, file and what to do."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from lake.checksums import NOTES
from lake.log_checks import LOG_NOTES
from tests.support.projects.command_line import Weir

COMMANDS = (
    ("status",),
    ("show", "exhibits"),
    ("log", "exhibits"),
    ("sql", "SELECT count(*) FROM exhibits_current"),
    ("sql", "SELECT count(*) FROM quads_current"),
    ("sql", "SELECT count(*) FROM runs"),
    ("report",),
    ("doctor",),
    ("audit",),
    ("repair", "--yes"),
    ("ingest",),
    ("run",),
)
TABLES = (
    "answers/exhibits",
    "embeddings/exhibits",
    "graphs",
    "quads",
    "quality",
    "runs",
    "source_files",
    "transactions",
    "triples",
)


def commits(table: str) -> list[Path]:
    return sorted(Path(f"lake/{table}/_delta_log").glob("*.json"))


def made_a_folder(file: Path) -> Path:
    file.unlink()
    file.mkdir()
    return file


def newest_commit(table: str) -> Path:
    return made_a_folder(commits(table)[-1])


def data_file(table: str) -> Path:
    return made_a_folder(max(Path(f"lake/{table}").glob("*.parquet")))


def flip(action: bytes, text: bytes) -> Callable[[str], Path]:
    """Flip a bit of a text of an action in commit 0, which nobody has noted."""

    def flipped(table: str) -> Path:
        Path(f"lake/{table}", NOTES, LOG_NOTES).unlink(missing_ok=True)
        file = commits(table)[0]
        content = bytearray(file.read_bytes())
        begins = b"\n" + content
        at = begins.index(b'\n{"' + action + b'"')
        content[content.index(text, at) + 3] ^= 4
        file.write_bytes(bytes(content))
        return file

    return flipped


DAMAGES: dict[str, Callable[[str], Path]] = {
    "a folder in place of a commit": newest_commit,
    "a folder in place of a data file": data_file,
    "the protocol": flip(b"protocol", b'"protocol"'),
    "the schema": flip(b"metaData", b'"metaData"'),
    "a version of the protocol": flip(b"protocol", b'"minReaderVersion"'),
    "a type of the schema": flip(b"metaData", b'\\"type\\"'),
}


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that has run, with a version that has not."""
    from jobs.cli import main

    folder = tmp_path_factory.mktemp("published")
    config = ("--config", str(folder / "weir.toml"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("expectations.run.import_ahead", lambda: None)
        patch.chdir(folder)
        assert main(["init"]) == 0
        assert main([*config, "run"]) == 0
    first = folder / "data/versions/001.ttl"
    (folder / "data/versions/003.ttl").write_text(first.read_text().replace('"1"', '"3"'))
    return folder


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("damage", DAMAGES)
def test_each_command_names_what_is_damaged(
    weir: Weir,
    monkeypatch: pytest.MonkeyPatch,
    published: Path,
    tmp_path: Path,
    damage: str,
    table: str,
) -> None:
    monkeypatch.setattr("expectations.run.import_ahead", lambda: None)
    found = []
    for number, command in enumerate(COMMANDS):
        folder = tmp_path / str(number)
        shutil.copytree(published, folder)
        monkeypatch.chdir(folder)
        file = DAMAGES[damage](table)
        found += wrong(weir, command, table, file)
        shutil.rmtree(folder)
    assert found == []


def wrong(weir: Weir, command: Sequence[str], table: str, file: Path) -> list[str]:
    """What a command does not say; nothing of one that does not read the file."""
    called = weir(*command)
    said = (called.out + called.err).replace("\n", " ")
    if "Unexpected error" in said or "Traceback" in said:
        return [f"{command}: {called.err}"]
    if called.code == 0:
        is_silent = command[0] == "audit"
        return [f"{command}: silent"] if is_silent else []
    next_ = "next: " if command[0] != "doctor" else ""
    missing = [text for text in (table, str(file.absolute()), next_) if text not in said]
    return [f"{command} lacks {missing}: {called.err}"] if missing else []
