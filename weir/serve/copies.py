"""A copy of the graph: a folder with two stores and a note of what they are."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from importlib.metadata import version
from itertools import count
from pathlib import Path
from typing import Self

from weir.lake.delta.appended import NotAppended, changed_files, commit_digest
from weir.lake.lake import Lake
from weir.lake.tables import QUADS, TRIPLES
from weir.lake.whole_files import write_whole
from weir.settings import Settings

_FORMAT = f"1, pyoxigraph {version('pyoxigraph')}"
_NOTE = "mirror.json"
STORES = ("graph", "spellings")
"""The stores of a copy (`weir.serve.store_worker`); queries read the first."""
LOGS = (QUADS, TRIPLES)
"""The logs of the graph: those of named graphs, and of their union."""


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy of the graph.

    Attributes:
        name: of its folder.
        epoch: of the graph.
        answers: by name, the published version of the answers that it has as graphs.
        logs: by table, its id, the version that was read, and the digest of that commit.
    """

    name: str
    epoch: int
    answers: Mapping[str, int]
    logs: Mapping[str, tuple[str, int, str]]

    def write(self, folder: Path) -> None:
        """Note it in its folder, whose stores are complete."""
        write_whole(folder / _NOTE, json.dumps({"format": _FORMAT, **asdict(self)}))

    def is_of(self, lake: Lake) -> bool:
        """Whether the logs of a lake have all that they had then, and later rows only."""
        return all(_begins_with(lake, name, log) for name, log in self.logs.items())

    @classmethod
    def read(cls, folder: Path) -> Self | None:
        """What is noted in a folder; None if it is not one of this version of Weir."""
        try:
            note = json.loads((folder / _NOTE).read_bytes())
            if note.pop("format") != _FORMAT:
                return None
            logs = {name: (log[0], int(log[1]), log[2]) for name, log in note.pop("logs").items()}
            return cls(**note, logs=logs)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError):
            return None


@contextmanager
def own_folder(settings: Settings) -> Iterator[Path]:
    """The first folder for copies of a lake that no other process uses."""
    key = hashlib.sha256(settings.lake.rstrip("/").encode()).hexdigest()[:20]
    for n in count():
        folder = settings.cache / "mirror" / f"{key}-{n}"
        folder.mkdir(parents=True, exist_ok=True)
        with folder.with_suffix(".lock").open("ab") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            yield folder
            return


def link(source: Path, target: Path) -> None:
    """A copy of the stores in a folder; files that never change are shared."""

    def take(file: str, to: str) -> None:
        if file.endswith(".sst"):
            os.link(file, to)
        else:
            shutil.copyfile(file, to)

    for store in STORES:
        with suppress(FileNotFoundError):
            shutil.copytree(
                source / store,
                target / store,
                copy_function=take,
                ignore=shutil.ignore_patterns("LOG*", "LOCK"),
            )


def logs_of(lake: Lake) -> dict[str, tuple[str, int, str]]:
    """By log, what a copy of now notes of it."""
    return dict(_logs(lake))


def _logs(lake: Lake) -> Iterator[tuple[str, tuple[str, int, str]]]:
    for log in LOGS:
        table = lake.existing(log.name)
        version = table.version()
        yield log.name, (str(table.metadata().id), version, commit_digest(lake, log.name, version))


def _begins_with(lake: Lake, name: str, log: tuple[str, int, str]) -> bool:
    """Whether a log has all that it had at a version, and later rows only."""
    table_id, version, digest = log
    table = lake.open(name)
    if table is None or str(table.metadata().id) != table_id:
        return False
    try:
        return commit_digest(lake, name, version) == digest and not any(
            changed_files(lake, name, later).removed
            for later in range(version + 1, table.version() + 1)
        )
    except NotAppended:
        return False
