"""Where the benchmark works: project folders, copies of lakes, and what a run wrote."""

from __future__ import annotations

import json
import os
import shutil
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from bench.results import Written

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / ".cache" / "bench"
RESULTS = Path(__file__).resolve().parent / "results"
QUERIES = Path(__file__).resolve().parent / "queries"
COMPILED = ".weir_cache"
"""Where a project has its compiled queries, unless it says otherwise."""


def shared_data() -> Path:
    """The folder of the shared data sets.

    Raises:
        FileNotFoundError: it does not exist.
    """
    folder = Path(os.environ.get("WEIR_SHARED", ROOT.parent / "shared")) / "data"
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder} does not exist; WEIR_SHARED can name another folder")
    return folder


@dataclass(frozen=True, slots=True)
class Project:
    """A project folder of Weir with a lake of its own."""

    folder: Path

    @property
    def config(self) -> Path:
        """The configuration file."""
        return self.folder / "weir.toml"

    @property
    def lake(self) -> Path:
        """The folder of the tables."""
        return self.folder / "lake"


def project(
    folder: Path, queries: Path, *sources: Mapping[str, Any], lake: Path | None = None
) -> Project:
    """A new project folder, with a copy of `lake` if one is given.

    Args:
        folder: is removed first.
        queries: the folder of the registered queries.
        sources: as sources.yml declares them.
        lake: where to copy the tables from, and the compiled queries beside them: a project that
            has run before has both.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    made = Project(folder)
    # JSON strings and lists are TOML and YAML too.
    made.config.write_text(
        f'lake = "lake"\nqueries = {json.dumps(str(queries))}\nsources = "sources.yml"\n'
    )
    (folder / "sources.yml").write_text(yaml.safe_dump({"sources": [*map(dict, sources)]}))
    if lake is not None:
        copy_lake(lake, made.lake)
        compiled = lake.parent / COMPILED
        if compiled.is_dir():
            shutil.copytree(compiled, folder / COMPILED)
    return made


def copy_lake(lake: Path, to: Path) -> None:
    """A copy that costs no space: data files are never written twice, so links of them do.

    The paths are new, so Spark and Delta have nothing of this copy in memory.
    """

    def copy(source: str, target: str) -> None:
        if source.endswith(".parquet") and "_delta_log" not in source:
            os.link(source, target)
        else:
            shutil.copy2(source, target)

    shutil.copytree(lake, to, copy_function=copy)


def files_of(lake: Path) -> dict[Path, int]:
    """The files of a lake with their sizes, without checksum files."""
    return {
        file.relative_to(lake): file.stat().st_size
        for file in lake.rglob("*")
        if file.is_file() and file.suffix != ".crc"
    }


def written(before: Mapping[Path, int], after: Mapping[Path, int]) -> list[Written]:
    """What is new in `after`, per table; all embedding tables are one line, all answers too."""
    sums: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for file, size in after.items():
        if before.get(file) == size:
            continue
        in_log = "_delta_log" in file.parts
        counts = sums[file.parts[0]]
        counts[1 if in_log else 0] += size
        counts[2] += 1
    return [Written(table, data, log, files) for table, (data, log, files) in sorted(sums.items())]


def patches(folder: Path, change_sets: Iterable[Path]) -> Path:
    """A new folder that holds copies of `change_sets`."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for change_set in change_sets:
        put(change_set, folder)
    return folder


def put(change_set: Path, folder: Path) -> None:
    """Copy a change set, a file or a folder of files, into the folder of a source."""
    if change_set.is_dir():
        shutil.copytree(change_set, folder / change_set.name)
    else:
        shutil.copy2(change_set, folder)
