"""A fresh process that maintains queries by the neighbourhood or the whole graph.

    python -m bench.both_ways JOB.json

Each run is the maintain stage, for one query or for all together, over the same epochs. The
configurations say which way is taken. Seconds are those of the processor, of this process and of
the JVM that it started: other work of the machine changes them little.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.places import Project
from bench.processes import run_process
from bench.steps import registered

Way = str
LOOKED_UP, WHOLE = "looked_up", "whole"
TOGETHER = "all together"
LIMITS: Mapping[Way, Mapping[str, float]] = {
    LOOKED_UP: {"bulk_share": 1e9, "bulk_quads": 0},
    WHOLE: {"bulk_share": 0, "bulk_quads": 0},
}
"""The settings by which each way is taken for any number of changes."""
_COLUMNS = ("rows_in", "rows_out", "seconds")


@dataclass(frozen=True, slots=True)
class WayRun:
    """A run of one query, or of all together.

    Attributes:
        query: which, or `TOGETHER`.
        mode: by which what was touched was maintained.
        changes: the most of a scope.
        looked_up: rows that were looked up.
        reading: seconds of the clock for reading the changes and the graph.
        processor: seconds of the processor for the whole stage.
    """

    query: str
    mode: str
    changes: int
    looked_up: int
    reading: float
    processor: float


def take(made: Project, way: Way) -> Project:
    """Configure a project so that it takes one of the ways."""
    with made.config.open("a", encoding="utf-8") as config:
        config.write("[limits]\n")
        config.writelines(f"{name} = {limit}\n" for name, limit in LIMITS[way].items())
    return made


def maintained(
    projects: Sequence[Project],
    queries: Path,
    *,
    together: bool = False,
    settings: Mapping[str, str] | None = None,
) -> list[list[WayRun]]:
    """Maintain all queries of each project, in one fresh process.

    Args:
        projects: in this order; all queries have embeddings in their lakes.
        queries: the folder of the texts.
        together: in one run; else one by one.
        settings: further WEIR_* variables.

    Raises:
        RunFailed: with the last lines that were printed.
    """
    names = names_of(queries)
    groups = {TOGETHER: names} if together else {name: (name,) for name in names}
    configs = [
        [[label, str(registered(made, group, queries))] for label, group in groups.items()]
        for made in projects
    ]
    job, result = projects[0].folder / "job.json", projects[0].folder / "result.json"
    job.write_text(json.dumps({"configs": configs, "result": str(result)}))
    arguments = [sys.executable, "-m", "bench.both_ways", str(job)]
    run_process(arguments, projects[0], settings=settings, result=result)
    return [[WayRun(**run) for run in runs] for runs in json.loads(result.read_text())]


def names_of(queries: Path) -> tuple[str, ...]:
    """The names of the queries in a folder."""
    return tuple(sorted(file.stem for file in queries.glob("*.rq")))


def processor_seconds() -> float:
    """Seconds of the processor, user and system, of this process and its running descendants."""
    spent, children = {}, defaultdict(list)
    for pid, parent, seconds in _processes():
        spent[pid] = seconds
        children[parent].append(pid)
    waiting, total = [*children[os.getpid()]], time.process_time()
    while waiting:
        pid = waiting.pop()
        total += spent[pid]
        waiting += children[pid]
    return total


def _processes() -> Iterator[tuple[int, int, float]]:
    """Every process: its number, that of its parent, its seconds of the processor (Linux)."""
    ticks = os.sysconf("SC_CLK_TCK")
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                text = (folder / "stat").read_text()
            except OSError:
                # It ended meanwhile.
                continue
            # The name before the last bracket may have spaces.
            fields = text.rpartition(")")[2].split()
            yield int(folder.name), int(fields[1]), (int(fields[11]) + int(fields[12])) / ticks


def _mode(modes: set[str]) -> str:
    """The mode of what was touched; the queries of a group read the graph in the same way."""
    return next((mode for mode in ("full", "incremental") if mode in modes), "untouched")


def main(argv: Sequence[str]) -> int:
    """Do the job that `maintained` wrote."""
    from weir.lake.tables import RUNS
    from weir.maintain.stage import maintain_queries
    from weir.maintain.tasks import READING
    from weir.process.leaving import collect_rarely
    from weir.project import Project as OpenProject
    from weir.settings import Settings
    from weir.stage import new_run_id

    # As `weir run` does.
    collect_rarely()
    job = json.loads(Path(argv[0]).read_text())
    session = OpenProject.load(Path(job["configs"][0][0][1])).session
    results: list[list[WayRun]] = []
    for configs in job["configs"]:
        results.append([])
        for query, config in configs:
            run_id = new_run_id("maintain")
            with OpenProject(Settings.load(Path(config)), session) as project:
                before = processor_seconds()
                result = maintain_queries(project, run_id)
                processor = processor_seconds() - before
                about = [("run_id", "=", run_id), ("job", "=", READING)]
                read = project.open_lake().rows(RUNS.name, _COLUMNS, about).to_pylist()
            results[-1].append(
                WayRun(
                    query,
                    _mode({*result.modes.values()}),
                    max((row["rows_in"] for row in read), default=0),
                    sum(row["rows_out"] for row in read),
                    sum(row["seconds"] for row in read),
                    processor,
                )
            )
    Path(job["result"]).write_text(json.dumps([[asdict(run) for run in runs] for runs in results]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
