"""Attacks on storage: logs with a flipped bit, and commits that are not what was written.

    python -m tests.torture.storage --flips 500 --scenarios 100 --seed 1

A project lives for some steps, with streams, a program, a remote and edited queries; every table
has a checkpoint and commits after it. In a copy of it, one file of one table's log is damaged: a
bit is flipped, or a commit is repeated, swapped with the one before, missing, cut off or empty. The
inputs of another step have arrived. Then follow a run, `weir status` and an audit; what they say
must name the table and the file, or all epochs and published rows are those of the same project
without damage. With the file put back, the next run leaves what the undamaged project has.

Exits with 1 if anything was silent or lost.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import groupby
from pathlib import Path

from tests.support.projects.project import Project
from tests.torture.checks import differences, wrong_answers
from tests.torture.life import Work
from tests.torture.lived import Lived, Unwell, in_peace, lived, once, unexpected
from weir.errors import WeirError
from weir.lake.damage.log_checks import LOG_NOTES
from weir.lake.damage.storage_errors import DamagedTable
from weir.lake.delta.checksums import NOTES
from weir.lake.delta.commit_files import LOG

_FLIPS_OF_A_LIFE = 50
"""So many bits are flipped in copies of one life."""

_KINDS = {".json": "a commit", ".parquet": "a checkpoint"}
"""What files of a log are, by the end of their names."""
_SAY: tuple[Work, ...] = ("status", "audit")
"""What says after a run what is wrong."""

Changed = Mapping[Path, bytes | None]
"""New contents of files; None of one that is removed."""


def _commits(log: Path) -> list[Path]:
    return sorted(log.glob("*.json"))


def _next(log: Path) -> Path:
    *_, newest = _commits(log)
    return log / f"{int(newest.stem) + 1:020}.json"


def repeated(log: Path) -> Changed:
    """A copy of the commit before the one before is the newest."""
    files = _commits(log)
    return {_next(log): files[-3 if len(files) > 2 else 0].read_bytes()}


def swapped(log: Path) -> Changed:
    """The newest two commits are in each other's place."""
    *_, one, other = _commits(log)
    return {one: other.read_bytes(), other: one.read_bytes()}


def missing(log: Path) -> Changed:
    """The newest commit is not there."""
    return {_commits(log)[-1]: None}


def missing_within(log: Path) -> Changed:
    """The commit before the newest one is not there."""
    return {_commits(log)[-2]: None}


def truncated(log: Path) -> Changed:
    """The newest commit lacks its end."""
    *_, newest = _commits(log)
    content = newest.read_bytes()
    return {newest: content[: len(content) * 2 // 3]}


def emptied(log: Path) -> Changed:
    """The newest commit has no byte."""
    return {_commits(log)[-1]: b""}


def empty_newest(log: Path) -> Changed:
    """After the newest commit there is one without a byte."""
    return {_next(log): b""}


def older(log: Path) -> Changed:
    """The table is that of a backup from before its newest two commits, with what was noted."""
    newest = {file.name for file in _commits(log)[-2:]}
    notes = log.parent / NOTES / LOG_NOTES
    lines = notes.read_bytes().splitlines(keepends=True)
    kept = [line for line in lines if line.split()[-1].decode() not in newest]
    return {**dict.fromkeys(log / name for name in newest), notes: b"".join(kept)}


SCENARIOS: tuple[Callable[[Path], Changed], ...] = (
    *(repeated, swapped, missing, missing_within, truncated, emptied, empty_newest, older),
)


_LEAST: Mapping[Callable[[Path], Changed], int] = {swapped: 2, missing_within: 2, older: 3}
"""Commits that a log has at least to be damaged in a way."""


def flipped(log: Path, chance: random.Random) -> Changed:
    """A flipped bit in a commit, a checkpoint, or the record of the last checkpoint."""
    kinds = ("*.json", "*.json", "*.json", "*.parquet", "_last_checkpoint")
    files = sorted(log.glob(chance.choice(kinds))) or _commits(log)
    file = chance.choice(files)
    content = bytearray(file.read_bytes())
    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    return {file: bytes(content)}


@dataclass(frozen=True, slots=True)
class Damage:
    """A kind of damage, and what it makes of the log of a table."""

    kind: str
    table: str
    changed: Changed


class Came(StrEnum):
    """What came of damage."""

    NAMED = "named"
    HARMLESS = "without effect"
    UNNAMED = "said without the file"
    SILENT = "silent"
    LOST = "lost"

    @property
    def is_wrong(self) -> bool:
        """Whether it must not be."""
        return self in (Came.UNNAMED, Came.SILENT, Came.LOST)


@dataclass
class Tally:
    """What came of damage of each kind; `stopped`: how often a run said that it failed."""

    came: Counter[tuple[str, Came]] = field(default_factory=Counter)
    stopped: Counter[str] = field(default_factory=Counter)

    def table(self) -> str:
        """The table, as Markdown."""
        lines = ["| damage | done | the run stopped | " + " | ".join(Came) + " |"]
        lines.append("| --- " * (3 + len(Came)) + "|")
        for kind in dict.fromkeys(kind for kind, _ in self.came):
            numbers = [self.came[kind, came] for came in Came]
            cells = " | ".join(map(str, [sum(numbers), self.stopped[kind], *numbers]))
            lines.append(f"| {kind} | {cells} |")
        return "\n".join(lines)

    @property
    def is_good(self) -> bool:
        """Whether everything was named or without effect, and nothing was lost."""
        return not any(came.is_wrong for _, came in self.came)


@dataclass
class Storage:
    """Attacks on copies of projects.

    Attributes:
        folder: where they are.
        seed: of all that is random.
        report: receives what happens, line by line.
        only: the name of a way to damage a commit; None for all.
        tally: what happened so far.
    """

    folder: Path
    seed: int
    report: Callable[[str], None]
    only: str | None = None
    tally: Tally = field(default_factory=Tally)

    def flips(self, numbers: range, is_over: Callable[[], bool]) -> None:
        """Flip bits of logs in lives, `_FLIPS_OF_A_LIFE` in each."""
        for life_number, group in groupby(numbers, lambda number: number // _FLIPS_OF_A_LIFE):
            with self._lived(life_number) as life:
                for number in group:
                    self.flip(life, number)
                    if is_over():
                        return

    def flip(self, life: Lived, number: int) -> None:
        """Flip a bit of the log of some table in a copy of a life."""
        chance = random.Random(f"{self.seed}/flip {number}")

        def damage(project: Project) -> Damage:
            table = chance.choice(tables_of(project))
            changed = flipped(_log_of(project, table), chance)
            (file,) = changed
            kind = _KINDS.get(file.suffix, file.name)
            return Damage(f"a flipped bit in {kind}", table, changed)

        self._attack(f"flip {number}", life, damage)

    def scenarios(self, numbers: range, is_over: Callable[[], bool]) -> None:
        """Damage commits in copies of one life."""
        with self._lived(0) as life:
            for number in numbers:
                self.scenario(life, number)
                if is_over():
                    return

    def scenario(self, life: Lived, number: int) -> None:
        """Damage a commit in a copy of a life: by each number of another table, in another way."""
        chance = random.Random(f"{self.seed}/scenarios")
        ways = {}
        for table in tables_of(life.before):
            commits = len(_commits(_log_of(life.before, table)))
            possible = [
                way
                for way in SCENARIOS
                if self.only in (None, way.__name__) and commits >= _LEAST.get(way, 1)
            ]
            if possible:
                ways[table] = chance.sample(possible, len(possible))
        tables = chance.sample([*ways], len(ways))
        table = tables[number % len(tables)]
        way = ways[table][number // len(tables) % len(ways[table])]

        def damage(project: Project) -> Damage:
            kind = f"a commit: {way.__name__.replace('_', ' ')}"
            return Damage(kind, table, way(_log_of(project, table)))

        self._attack(f"scenario {number}", life, damage)

    @contextmanager
    def _lived(self, number: int) -> Iterator[Lived]:
        folder = self.folder / f"life{number}"
        folder.mkdir()
        self.report(f"life {number}")
        with lived(folder, f"{self.seed}/storage {number}") as life:
            if wrong := [*wrong_answers(life.twin, life.step)]:
                raise Unwell(f"the undisturbed project: {wrong[:3]}")
            yield life
        shutil.rmtree(folder)

    def _attack(self, name: str, life: Lived, damaged: Callable[[Project], Damage]) -> None:
        folder = self.folder / name.replace(" ", "-")
        project = life.copied(folder)
        damage = damaged(project)
        came, is_stopped, lines = self._came(life, project, damage.table, damage.changed)
        self.tally.came[damage.kind, came] += 1
        self.tally.stopped[damage.kind] += is_stopped
        files = ", ".join(file.name for file in damage.changed)
        self.report(f"  {name}: {damage.kind} of {damage.table}, {files}: {came}")
        for line in lines[:8]:
            self.report(f"    {line[:600]}")
        if came.is_wrong:
            self.report(f"FAILED: {name} (seed {self.seed})")
        shutil.rmtree(folder)

    def _came(
        self, life: Lived, project: Project, table: str, changed: Changed
    ) -> tuple[Came, bool, list[str]]:
        """What came of damage, whether the run stopped, and why that is wrong."""
        before, versions = {file: _content(file) for file in changed}, project.versions()
        _put(changed)
        ran = once(project, "run", life.step)
        errors = unexpected(project, ran)
        is_stopped = bool(errors) or ran.killed or ran.busy
        said, works = "\n".join(ran.errors), iter(_SAY)
        while not (is_named := _names(said, table, changed)) and (work := next(works, None)):
            ended = once(project, work, life.step)
            said += "\n".join(("", *ended.errors))
            errors += [f"{work} was killed"] if ended.killed else []
        wrong = Came.LOST if is_stopped else Came.SILENT
        if not is_stopped and not is_named:
            lines = [*self._differences(life, project)]
        else:
            # What a run has written itself is not put back.
            now = {file: _content(file) for file in changed}
            _put({file: before[file] for file in changed if now[file] == changed[file]})
            lines = [*self._left(life, project, versions if is_stopped else None)]
        if lines:
            return wrong, is_stopped, [*lines, *errors]
        if is_named:
            return Came.NAMED, is_stopped, []
        return (Came.UNNAMED, True, errors) if errors else (Came.HARMLESS, False, [])

    def _left(
        self, life: Lived, project: Project, before: Mapping[str, int | None] | None
    ) -> Iterator[str]:
        """What is wrong with the file back in its place, after another run if one had stopped."""
        if before is not None:
            after = project.versions()
            if all(after.get(table) == version for table, version in before.items()):
                # The run that stopped wrote nothing: what was there is there.
                return
            try:
                in_peace(project, "run", life.step)
            except Unwell as error:
                yield str(error)
                return
        yield from self._differences(life, project)

    def _differences(self, life: Lived, project: Project) -> Iterator[str]:
        try:
            yield from differences(project, life.twin)
        except (WeirError, DamagedTable) as error:
            yield str(error)


def tables_of(project: Project) -> list[str]:
    """The names of the tables of a lake."""
    lake = project.folder / "lake"
    return sorted(str(log.parent.relative_to(lake)) for log in lake.rglob(LOG))


def _names(said: str, table: str, changed: Changed) -> bool:
    """Whether a line of a text names a table and one of its files, unless it is a whole backup."""
    lines = [line for line in said.splitlines() if table in line]
    if any(file.name == LOG_NOTES for file in changed):
        return bool(lines)
    return any(file.name in line for line in lines for file in changed)


def _log_of(project: Project, table: str) -> Path:
    return project.folder / "lake" / table / LOG


def _content(file: Path) -> bytes | None:
    return file.read_bytes() if file.exists() else None


def _put(contents: Changed) -> None:
    for file, content in contents.items():
        if content is None:
            file.unlink(missing_ok=True)
        else:
            file.write_bytes(content)


def main() -> int:
    """Attack until everything is done, or so many seconds are over."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.torture.storage",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--flips", type=int, default=0, help="flipped bits (%(default)s)")
    parser.add_argument("--scenarios", type=int, default=0, help="damaged commits (%(default)s)")
    parser.add_argument("--only", help="damaged commits of this kind only (default: all)")
    parser.add_argument("--first", type=int, default=0, help="number of the first (%(default)s)")
    parser.add_argument("--seconds", type=float, default=7200, help="at most (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of all that is random (%(default)s)")
    options = parser.parse_args()
    started = time.monotonic()
    ends = started + float(options.seconds)

    def report(line: str) -> None:
        print(f"{time.monotonic() - started:6.0f} s  {line}", flush=True)

    def is_over() -> bool:
        return time.monotonic() > ends

    with tempfile.TemporaryDirectory(prefix="weir-torture-") as name:
        storage = Storage(Path(name), options.seed, report, options.only)
        if options.flips:
            storage.flips(range(options.first, options.first + options.flips), is_over)
        if options.scenarios:
            storage.scenarios(range(options.first, options.first + options.scenarios), is_over)
    print(f"\n{time.monotonic() - started:.0f} s (seed {options.seed})\n\n{storage.tally.table()}")
    return 0 if storage.tally.is_good else 1


if __name__ == "__main__":
    sys.exit(main())
