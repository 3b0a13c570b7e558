"""`python -m demo.streams`: streams through the DAGs, with a late file and a tick, and the answers.

The sensors of CSRBench are a stream, what does not change about them is the graph; the commits of
nomisma.org are a stream by their time. The data are in `shared/data` beside the checkout, or below
the folder `WEIR_SHARED`; the project is copied to `.cache/demo/streams` first.
"""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pyoxigraph as ox
from rich.console import Console

from demo.dags import DagRuns
from setup import database
from setup.steps import CACHE, run_pending
from weir.lake.lake import Lake
from weir.lake.tables import TRANSACTIONS
from weir.spark_setup.commands import SetupError

SOURCE = Path(__file__).resolve().parent
ROOT = SOURCE.parent.parent
SHARED = Path(os.environ.get("WEIR_SHARED", ROOT.parent / "shared")) / "data"
PROJECT = CACHE / "demo" / "streams"
BEGAN = datetime(2004, 8, 8, 6, 5, tzinfo=UTC)
"""When the observations of the first file were made."""
LATE_SECOND, LATE_COMMIT = 14, 35
CLOSE = "2004-08-08T06:05:20Z"
"""The close of the window with the late second."""

ALARMS = "SELECT epoch, weight, a1 AS sensor, event_time FROM alerts_changes"
ALARMS += " WHERE predicate = 'alarm' ORDER BY ALL"
COUNTS = "SELECT predicate, count(*) AS intervals FROM alerts_intervals GROUP BY ALL ORDER BY ALL"

OWL = "http://knoesis.wright.edu/ssw/ont/sensor-observation.owl#"
_STATIC = {
    f"<{OWL}parameter>": ("procedure", "observedProperty"),
    f"<{OWL}uom>": ("observedProperty", "uom"),
}
"""By predicate of the graph, which values of an observation its triples connect."""

console = Console(highlight=False, soft_wrap=True)


def main() -> int:
    """Three rounds of both DAGs: most files, what is late and new, and nothing but time."""
    new_project()
    seconds = sorted((SHARED / "csrbench" / "data").glob("*.ttl"))
    commits = sorted((SHARED / "nomisma" / "changes").iterdir())
    late, late_commit = seconds[LATE_SECOND], commits[LATE_COMMIT - 1]
    try:
        run_pending([database.step()])
        write_network(seconds)
        arrive_observations(second for second in seconds[:25] if second != late)
        arrive_commits(commit for commit in commits[:60] if commit != late_commit)
        run_dags("the graph, 24 of the first 25 seconds, 59 of the first 60 commits")
        first = newest_epoch()
        weir("status")
        weir("show", "hot", "--at", CLOSE)
        arrive_observations([late, *seconds[25:]])
        arrive_commits([late_commit, *commits[60:]])
        run_dags("the late second, the late commit, all others")
        weir("show", "hot", "--at", CLOSE)
        weir("show", "hot", "--at", CLOSE, "--as-of", str(first))
        run_dags("nothing arrives: time passes")
        weir("status")
        weir("log", "hot")
        weir("log", "silent")
        weir("log", "new_mints", "--limit", "16")
        weir("explain", "alerts")
        weir("sql", ALARMS)
        weir("sql", COUNTS)
    except (SetupError, FileNotFoundError) as error:
        console.print(f"demo: {error}", style="red")
        return 1
    return 0


def new_project() -> None:
    """Copy what is declared; there are no data yet."""
    shutil.rmtree(PROJECT, ignore_errors=True)
    for name in ("queries", "programs"):
        shutil.copytree(SOURCE / name, PROJECT / name)
    for name in ("weir.toml", "sources.yml"):
        shutil.copy2(SOURCE / name, PROJECT)


def newest_epoch() -> int:
    """The newest epoch of the lake."""
    rows = Lake(str(PROJECT / "lake")).rows(TRANSACTIONS.name, ["epoch"]).to_pylist()
    return max(int(row["epoch"]) for row in rows)


def write_network(files: Iterable[Path]) -> None:
    """Write what all observations of a sensor have in common as the one patch of the graph."""
    values: dict[str, dict[str, str]] = {}
    for file in files:
        for triple in ox.parse(path=str(file), format=ox.RdfFormat.TURTLE):
            name = triple.predicate.value.removeprefix(OWL)
            values.setdefault(str(triple.subject), {})[name] = str(triple.object)
    triples = set()
    for observation in values.values():
        if "result" in observation:
            about = observation | values[observation["result"]]
            for predicate, (subject, object_) in _STATIC.items():
                triples.add(f"{about[subject]} {predicate} {about[object_]}")
    folder = PROJECT / "data" / "network"
    folder.mkdir(parents=True)
    lines = ("H id <urn:csrbench:network> .", "TX .", *(f"A {edge} ." for edge in sorted(triples)))
    (folder / "1.rdfp").write_text("\n".join((*lines, "TC .", "")))


def arrive_observations(files: Iterable[Path]) -> None:
    """Copy files into the stream, each as old as the second in its name says."""
    for file in files:
        second = int(file.stem.removeprefix("data_"))
        _arrive(file, PROJECT / "data" / "sensors", BEGAN.timestamp() + second)


def arrive_commits(files: Iterable[Path]) -> None:
    """Copy patches into the stream, each as old as its commit."""
    with (SHARED / "nomisma" / "changes.tsv").open(encoding="utf-8") as table:
        dates = {row["number"]: row["date"] for row in csv.DictReader(table, delimiter="\t")}
    for file in files:
        number = str(int(file.name.partition(".")[0]))
        day = datetime.fromisoformat(dates[number]).replace(tzinfo=UTC)
        _arrive(file, PROJECT / "data" / "commits", day.timestamp())


def _arrive(file: Path, folder: Path, time: float) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    os.utime(shutil.copyfile(file, folder / file.name), (time, time))


def run_dags(what: str) -> None:
    """Run both DAGs once."""
    console.print(f"\n{what}", style="bold")
    runs = DagRuns(PROJECT, PROJECT / "lake", CACHE / "demo", console)
    runs.run("ingest_changes", "take in what has arrived")
    runs.run("maintain_queries", "compute, check and publish the changes of the answers")


def weir(*arguments: str) -> None:
    """Run the command on the project and print it with its output."""
    console.print(f"\n$ weir {' '.join(arguments)}", style="bold")
    done = subprocess.run(command(arguments), cwd=ROOT, capture_output=True, text=True, check=False)
    console.print(done.stdout + done.stderr, markup=False)


def command(arguments: Sequence[str]) -> list[str]:
    """The command line of `weir` for the project."""
    program = "import sys; from weir.cli import main; sys.exit(main())"
    return [sys.executable, "-c", program, "--config", str(PROJECT / "weir.toml"), *arguments]


if __name__ == "__main__":
    sys.exit(main())
