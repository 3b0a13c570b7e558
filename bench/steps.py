"""A fresh process that ingests change sets and maintains queries one by one, in one session.

    python -m bench.steps JOB.json

Each query has a configuration of its own over the same lake, so that a run maintains this query
only and leaves the others where they are. A run is the maintain stage: what it reads of the ledger
and the watermarks, its computation, and its commits.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from bench.places import Project, put
from bench.processes import run_process

if TYPE_CHECKING:
    from weir.project import Project as OpenProject


@dataclass(frozen=True, slots=True)
class Ingest:
    """Copy change sets to where the source is, and ingest them."""

    changes: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Maintain:
    """Bring one query up to date; `measured_as` names what its time measures, if anything."""

    query: str
    measured_as: str = ""


@dataclass(frozen=True, slots=True)
class Publish:
    """Validate and publish the answers of all `queries`."""

    queries: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Compact:
    """Merge the small files of the ledger and of the transactions, as `compact_lake` does daily.

    Every stage reads them, so the time of a run would depend on the number of runs before it.
    """


Step = Ingest | Maintain | Publish | Compact


@dataclass(frozen=True, slots=True)
class Run:
    """A run of the maintain stage: what it measures, its mode, seconds."""

    query: str
    measured_as: str
    mode: str
    seconds: float


def run_steps(made: Project, changes: Path, queries: Path, steps: Iterable[Step]) -> list[Run]:
    """Do the steps in a fresh process.

    Args:
        made: the project; its source is the folder `changes`.
        changes: where change sets are copied to.
        queries: where the texts of the queries are. `NAME_again1` is a copy of the query NAME.
        steps: in this order.

    Raises:
        RunFailed: with the last lines that were printed.
    """
    steps = [*steps]
    configs = {
        step.query: str(registered(made, (step.query,), queries))
        for step in steps
        if isinstance(step, Maintain)
    }
    written = [_as_json(step, made, queries) for step in steps]
    job, result = made.folder / "job.json", made.folder / "result.json"
    result.unlink(missing_ok=True)
    job.write_text(
        json.dumps(
            {
                "config": str(made.config),
                "changes": str(changes),
                "configs": configs,
                "steps": written,
                "result": str(result),
            }
        )
    )
    run_process([sys.executable, "-m", "bench.steps", job], made, result=result)
    return [Run(**run) for run in json.loads(result.read_text())]


def copies_of(query: str, count: int) -> tuple[str, ...]:
    """Names under which a query is registered again, to be computed from scratch."""
    return tuple(f"{query}_again{number}" for number in range(1, count + 1))


def _as_json(step: Step, made: Project, queries: Path) -> list[object]:
    match step:
        case Ingest(files):
            return ["ingest", *map(str, files)]
        case Maintain(query, measured_as):
            return ["maintain", query, measured_as]
        case Publish(names):
            return ["publish", str(registered(made, names, queries))]
        case Compact():
            return ["compact"]
        case _:
            assert_never(step)


def registered(made: Project, names: Sequence[str], queries: Path) -> Path:
    """A configuration that has these queries and nothing else."""
    title = names[0] if len(names) == 1 else "all"
    folder = made.folder / "registered" / title
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        original = queries / f"{name.partition('_again')[0]}.rq"
        shutil.copy2(original, folder / f"{name}.rq")
    config = made.folder / f"weir_{title}.toml"
    lines = made.config.read_text().splitlines()
    others = [line for line in lines if not line.startswith("queries")]
    config.write_text("\n".join([f"queries = {json.dumps(str(folder))}", *others]) + "\n")
    return config


def main(argv: Sequence[str]) -> int:
    """Do the job that `run_steps` wrote."""
    from weir.ingest.stage import ingest_changes
    from weir.lake.tables import RUNS, TRANSACTIONS
    from weir.lake.upkeep.maintenance import compact_files
    from weir.maintain.stage import maintain_queries
    from weir.process.leaving import collect_rarely
    from weir.project import Project as OpenProject
    from weir.settings import Settings
    from weir.stage import new_run_id

    # As `weir run` does.
    collect_rarely()
    job = json.loads(Path(argv[0]).read_text())
    project = OpenProject.load(Path(job["config"]))
    of_query = {
        name: OpenProject(Settings.load(Path(file)), project.session)
        for name, file in job["configs"].items()
    }
    runs: list[Run] = []
    for step in job["steps"]:
        match step:
            case ["ingest", *changes]:
                for change in changes:
                    put(Path(change), Path(job["changes"]))
                errors = ingest_changes(project, new_run_id("ingest")).errors
                if errors:
                    raise errors[0]
            case ["maintain", query, measured_as]:
                started = time.monotonic()
                result = maintain_queries(of_query[query], new_run_id("maintain"))
                seconds = time.monotonic() - started
                runs.append(Run(query, measured_as, result.modes.get(query, ""), seconds))
            case ["publish", config]:
                _publish(OpenProject(Settings.load(Path(config)), project.session))
            case ["compact"]:
                for table in (RUNS, TRANSACTIONS):
                    limits = project.settings.limits
                    compact_files(project.open_lake(), table.name, limits.file_bytes)
    Path(job["result"]).write_text(json.dumps([asdict(run) for run in runs]))
    return 0


def _publish(project: OpenProject) -> None:
    from weir.publish.stage import publish_answers
    from weir.stage import new_run_id
    from weir.validate.stage import validate_answers

    with project:
        validate_answers(project, new_run_id("validate"))
        publish_answers(project, new_run_id("publish"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
