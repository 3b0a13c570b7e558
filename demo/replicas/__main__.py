"""`python -m demo.replicas`: Listing 1 of ACQUA.F+ through the DAGs, with Apache Jena Fuseki.

Users are mentioned in a stream; how many followers they have is at an endpoint on this machine, and
changes. The project is copied to `.cache/demo/replicas` first.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from rich.console import Console

from demo.dags import DagRuns
from demo.fuseki import Fuseki, running_fuseki
from setup import database
from setup.steps import CACHE, run_pending
from weir.spark_setup.commands import SetupError

SOURCE = Path(__file__).resolve().parent
ROOT = SOURCE.parent.parent
PROJECT = CACHE / "demo" / "replicas"
FUSEKI_LOG = CACHE / "demo" / "fuseki"
NAMESPACE = "http://example.org/"
FOLLOWERS = {"ann": 150_000, "bob": 99_990, "cat": 100_000, "dan": 90_500, "eve": 250_000}
CHANGES = ({"bob": 100_001, "eve": 99_000}, {"cat": 100_002, "ann": 150_100})
"""What changes at the endpoint before the second and the third round."""
MENTIONS: tuple[dict[int, tuple[str, ...]], ...] = (
    {95: ("ann", "bob", "cat"), 5: ("eve",)},
    {5: ("dan", "cat")},
    {5: ("bob",)},
)
"""Who is mentioned so many seconds before each round."""

console = Console(highlight=False, soft_wrap=True)


def main() -> int:
    """Three rounds: mentions arrive, the endpoint changes, the DAGs run."""
    try:
        run_pending([database.step()])
        FUSEKI_LOG.mkdir(parents=True, exist_ok=True)
        with running_fuseki(FUSEKI_LOG) as endpoint:
            new_project(endpoint.port)
            change(endpoint, FOLLOWERS)
            for number, mentions in enumerate(MENTIONS):
                if number:
                    change(endpoint, CHANGES[number - 1])
                for seconds, users in mentions.items():
                    mention(seconds, *users)
                listed = ", ".join(user for users in mentions.values() for user in users)
                run_dags(f"round {number + 1}, mentioned: {listed}")
                weir("freshness")
                weir("sql", ANSWERS)
        weir("explain", "influencers")
        weir("log", "influencers")
        weir("sql", STREAM)
        weir("sql", EVALUATIONS)
        weir("status")
    except (SetupError, FileNotFoundError) as error:
        console.print(f"demo: {error}", style="red")
        return 1
    return 0


STREAM = "SELECT event_time, subject FROM influencers_stream WHERE weight > 0 ORDER BY ALL"
ANSWERS = "SELECT key, mapping, answered_at FROM replica_followers ORDER BY key"
EVALUATIONS = (
    "SELECT round, candidates, elected, answered, changed, keys_used, alpha,"
    " never_asked, round(oldest_seconds)::INT AS oldest, state FROM freshness ORDER BY round"
)


def new_project(port: int) -> None:
    """Copy what is declared; there are no data yet."""
    shutil.rmtree(PROJECT, ignore_errors=True)
    shutil.copytree(SOURCE / "queries", PROJECT / "queries")
    for name in ("weir.toml", "sources.yml", "remotes.yml"):
        text = (SOURCE / name).read_text(encoding="utf-8")
        (PROJECT / name).write_text(text.replace("PORT", str(port)), encoding="utf-8")


def change(endpoint: Fuseki, followers: dict[str, int]) -> None:
    """Change how many followers users have at the endpoint."""
    for user, count in followers.items():
        name = f"<{NAMESPACE}{user}> <{NAMESPACE}hasFollowers>"
        endpoint.update(f"DELETE WHERE {{ {name} ?n }} ; INSERT DATA {{ {name} {count} }}")


def mention(seconds: int, *users: str) -> None:
    """Append mentions of so many seconds ago to the stream."""
    folder = PROJECT / "data" / "mentions"
    folder.mkdir(parents=True, exist_ok=True)
    number = len([*folder.iterdir()])
    at = (datetime.now(UTC) - timedelta(seconds=seconds)).isoformat(timespec="seconds")
    lines = [
        f'H time "{at}"^^<http://www.w3.org/2001/XMLSchema#dateTime> .',
        "TX .",
        *(f'A <{NAMESPACE}{user}> <{NAMESPACE}hasMentions> "{number}" .' for user in users),
        "TC .",
        "",
    ]
    (folder / f"{number}.rdfp").write_text("\n".join(lines), encoding="utf-8")


def run_dags(what: str) -> None:
    """Run the DAGs: the answers up to now, what the endpoint says, the answers with it."""
    console.print(f"\n{what}", style="bold")
    runs = DagRuns(PROJECT, PROJECT / "lake", CACHE / "demo", console)
    runs.run("ingest_changes", "take in what has arrived")
    runs.run("maintain_queries", "evaluate the windows that have closed")
    runs.run("refresh_remotes", "ask the endpoint within the budget")
    runs.run("ingest_changes", "take in what it said")
    runs.run("maintain_queries", "compute, check and publish the changes of the answers")


def weir(*arguments: str) -> None:
    """Run the command on the project and print it with its output."""
    console.print(f"\n$ weir {' '.join(arguments)}", style="bold")
    program = "import sys; from weir.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", program, "--config", str(PROJECT / "weir.toml"), *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    console.print(done.stdout + done.stderr, markup=False)


if __name__ == "__main__":
    sys.exit(main())
