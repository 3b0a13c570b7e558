"""A command over a damaged lake names table, file and what to do, or does what it does without.

That is: it prints the same, and leaves the same rows in the answer.
"""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest

from tests.support.damage import damage_the_pages
from tests.support.projects.command_line import Called, Weir
from weir.lake.damage.log_checks import LOG_NOTES
from weir.lake.delta.checksums import NOTES
from weir.lake.lake import Lake

COMMANDS = (
    ("status", "--fail-on", "stopped"),
    ("show", "exhibits"),
    ("log", "exhibits"),
    ("sql", "SELECT count(*) FROM exhibits_current"),
    ("sql", "SELECT count(*) FROM quads_current"),
    ("sql", "SELECT count(*) FROM runs"),
    ("site",),
    ("doctor",),
    ("audit",),
    ("repair", "--yes"),
    ("run",),
)
NEXT = {"status": "a backup", "doctor": ""}
"""How a command begins what to do, where it is not as an error of the command line does."""
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


def data_file(table: str) -> Path:
    return max(Path(f"lake/{table}").glob("*.parquet"))


def folder_for_a_commit(table: str) -> Path:
    return made_a_folder(commits(table)[-1])


def folder_for_a_data_file(table: str) -> Path:
    return made_a_folder(data_file(table))


def damaged_pages(table: str) -> Path:
    file = data_file(table)
    damage_the_pages(file)
    return file


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
    "a folder in place of a commit": folder_for_a_commit,
    "a folder in place of a data file": folder_for_a_data_file,
    "pages of a data file": damaged_pages,
    "the protocol": flip(b"protocol", b'"protocol"'),
    "the schema": flip(b"metaData", b'"metaData"'),
    "a version of the protocol": flip(b"protocol", b'"minReaderVersion"'),
    "a type of the schema": flip(b"metaData", b'\\"type\\"'),
}


@pytest.fixture(scope="module")
def published(museum_that_ran: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that has run, with a version that has not."""
    folder = tmp_path_factory.mktemp("published")
    shutil.copytree(museum_that_ran, folder, dirs_exist_ok=True)
    first = folder / "data/versions/001.ttl"
    (folder / "data/versions/003.ttl").write_text(first.read_text().replace('"1"', '"3"'))
    return folder


@dataclass(frozen=True, slots=True)
class Done:
    """What a command did in a copy of the project.

    Attributes:
        code: its exit code.
        said: what it printed, in one line, without the folder of the copy.
        rows: of the answer, how often each is there.
    """

    code: int
    said: str
    rows: Counter[tuple[Any, ...]]

    @classmethod
    def of(cls, called: Called) -> Done:
        """What a call did in the current folder."""
        printed = f"{called.out} {called.err}".replace(str(Path.cwd()), "PROJECT")
        return cls(called.code, " ".join(printed.split()), rows_of_the_answer())

    @property
    def timeless(self) -> str:
        """What was printed, but for run ids, times, free space and the lines of tables."""
        return _OF_ONE_RUN.sub("_", self.said)

    @property
    def state(self) -> Counter[tuple[Any, ...]]:
        """The newest answer."""
        answer: Counter[tuple[Any, ...]] = Counter()
        for (_, weight, title, room, _), times in self.rows.items():
            answer[title, room] += weight * times
        return +answer


_OF_ONE_RUN = re.compile(
    r"\d{8}T\d{6}-[0-9a-f]{6}"
    r"|\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d|\d+:\d\d:\d\d"
    r"|(?<=ingest|intain|lidate|ublish) \d+\.\d"
    r"|[\d,]+ MiB free"
    r"|─+"
)


def rows_of_the_answer() -> Counter[tuple[Any, ...]]:
    rows = Lake("lake").rows("answers/exhibits").to_pylist()
    return Counter(tuple(row.values()) for row in rows)


@dataclass(frozen=True, slots=True)
class Copies:
    """Copies of a project, each for one command, and what the commands do in one without damage."""

    published: Path
    folder: Path
    weir: Weir
    monkeypatch: pytest.MonkeyPatch
    whole: dict[Sequence[str], Done]

    def enter(self) -> None:
        """Make a copy the current folder."""
        self.monkeypatch.chdir(self.folder)
        for old in self.folder.iterdir():
            shutil.rmtree(old)
        # In no place does the process know files of another copy.
        copy = mkdtemp(dir=self.folder)
        shutil.copytree(self.published, copy, dirs_exist_ok=True)
        self.monkeypatch.chdir(copy)

    def without_damage(self, command: Sequence[str]) -> Done:
        """What a command does without damage."""
        if command not in self.whole:
            self.enter()
            self.whole[command] = Done.of(self.weir(*command))
        return self.whole[command]

    def restore(self, file: Path) -> None:
        """Put a file that is damaged back, as from a backup; not if its table was removed."""
        if not file.parent.exists():
            return
        if file.is_dir():
            file.rmdir()
        shutil.copy2(self.published / file, file)
        # It may be noted as it was.
        for notes in Path("lake").rglob(f"{NOTES}/{LOG_NOTES}"):
            notes.unlink()


@pytest.fixture(scope="module")
def whole() -> dict[Sequence[str], Done]:
    """What the commands do without damage, as far as it was needed."""
    return {}


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("damage", DAMAGES)
def test_each_command_names_what_is_damaged_or_does_what_it_does_without(
    weir: Weir,
    monkeypatch: pytest.MonkeyPatch,
    published: Path,
    whole: dict[Sequence[str], Done],
    tmp_path: Path,
    damage: str,
    table: str,
) -> None:
    copies = Copies(published, tmp_path, weir, monkeypatch, whole)
    wrong = [
        f"{command}: {reason}"
        for command in COMMANDS
        for reason in faults(copies, command, table, DAMAGES[damage])
    ]
    assert wrong == []


def faults(
    copies: Copies, command: Sequence[str], table: str, damage: Callable[[str], Path]
) -> Iterator[str]:
    """What a command does over a damaged table, and should not."""
    without, run = copies.without_damage(command), copies.without_damage(("run",))
    copies.enter()
    file = damage(table)
    called = copies.weir(*command)
    said = f"{called.out} {called.err}".replace("\n", " ")
    if "Unexpected error" in said or "Traceback" in said:
        yield called.err
    elif called.code:
        next_ = NEXT.get(command[0], "next: ")
        missing = [text for text in (table, str(file.absolute()), next_) if text not in said]
        if missing:
            yield f"lacks {missing}: {said}"
        copies.restore(file)
        if not rows_of_the_answer() <= run.rows:
            yield "publishes what no run does without damage"
    elif command[0] == "repair":
        if table not in called.out:
            yield f"does not repair: {said}"
        again = copies.weir("run")
        if again.code:
            yield f"leaves what a run cannot read: {again.err}"
        elif Done.of(again).state != run.state:
            yield "leads to another answer"
    elif command[0] == "audit":
        yield "is silent"
    else:
        copies.restore(file)
        done = Done.of(called)
        if done.timeless != without.timeless:
            yield f"prints {done.timeless} and not {without.timeless}"
        if done.rows != without.rows:
            yield "leaves other rows in the answer"
