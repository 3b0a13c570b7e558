"""`make demo`: run the DAGs on five versions of the Brick ontology and show the answers.

`airflow dags test` runs the DAG files with their real operators, without a scheduler: each task is
a spark-submit. Then the answer tables are read without Spark.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from deltalake import DeltaTable
from rich.console import Console
from rich.table import Table
from rich.text import Text

from demo.changes import Delta, deltas, versions
from demo.dags import DagRuns
from setup import database
from setup.steps import CACHE, run_pending
from weir.project import Project
from weir.settings import CONFIG_FILE, Settings
from weir.site.writing import write_site
from weir.spark_setup.commands import SetupError

PROJECT = Path(__file__).resolve().parent
LAKE = PROJECT / "lake"
LOGS = CACHE / "demo"
DAGS = {
    "ingest_changes": "read the five versions and store their changes",
    "maintain_queries": "compute, check and publish the changes of ten answers",
}
# Every run appends rows to these; all others change only if there is something new.
LEDGERS = ("runs", "quality")
EXAMPLES = 2
TRY = (
    'setup/run weir --config demo/weir.toml sql "SELECT weight, class, parent'
    ' FROM class_tree_changes WHERE epoch = 5 ORDER BY class"'
)

console = Console(highlight=False, soft_wrap=False, width=None if sys.stdout.isatty() else 130)


def main() -> int:
    """Run both DAGs, then show the changes."""
    started = time.monotonic()
    before = table_versions()
    try:
        run_pending([database.step()])
        runs = DagRuns(PROJECT, LAKE, LOGS, console)
        for dag, purpose in DAGS.items():
            runs.run(dag, purpose)
    except SetupError as error:
        console.print(f"demo: {error}", style="red")
        return 1
    show_versions()
    for query in sorted(PROJECT.glob("queries/*.rq")):
        show(query)
    show_tables(before, time.monotonic() - started)
    site = write_site(Project(Settings.load(PROJECT / CONFIG_FILE)))
    console.print(f"\nAll of it to look at: {site.index}")
    return 0


def table_versions() -> dict[str, int]:
    """The newest version of every table of the demo's lake."""
    logs = sorted(LAKE.rglob("_delta_log")) if LAKE.exists() else []
    return {str(log.parent.relative_to(LAKE)): DeltaTable(log.parent).version() for log in logs}


def show_versions() -> None:
    """Print the changes of the graph per version."""
    table = Table()
    for column in ("Brick", "epoch", "triples +", "-", "rejected lines"):
        table.add_column(column, justify="right")
    for version in versions(str(LAKE)):
        cells = (version.epoch, version.inserted, version.deleted, version.rejected)
        table.add_row(version.name, *(str(cell or "") for cell in cells))
    console.print("\nthe graph", style="bold")
    console.print(table)


def show(query: Path) -> None:
    """Print the changes of a query's answer per version."""
    description = query.read_text().splitlines()[0].removeprefix("#+ description: ")
    table = Table()
    for column in ("Brick", "+", "-", "rows"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("for example", overflow="fold")
    for delta in deltas(str(LAKE), query.stem):
        table.add_row(*_cells(delta))
    console.print(f"\n{query.stem}: {description}", style="bold", soft_wrap=True)
    console.print(table)


def _cells(delta: Delta) -> tuple[str | Text, ...]:
    added, removed = delta.added.total(), delta.removed.total()
    shown = Text("\n".join(delta.examples(EXAMPLES)))
    return (delta.version, str(added or ""), str(removed or ""), str(delta.rows), shown)


def show_tables(before: dict[str, int], seconds: float) -> None:
    """Print the location of the tables, the number of commits, and a command to try next."""
    after = table_versions()
    changed = [name for name, version in after.items() if before.get(name) != version]
    committed = [name for name in changed if name not in LEDGERS]
    count = len(after) - len(LEDGERS)
    console.print()
    if committed:
        console.print(f"demo: {len(committed)} of {count} tables have new commits")
    else:
        console.print(f"demo: nothing new: all {count} tables are at the same version as before")
    lake = LAKE.relative_to(Path.cwd()) if LAKE.is_relative_to(Path.cwd()) else LAKE
    console.print(f"demo: Delta tables: {lake}/answers/<query>, {lake}/quads and others")
    console.print("demo: try: " + TRY, soft_wrap=True)
    console.print(f"demo: {seconds:.0f} s in all")


if __name__ == "__main__":
    sys.exit(main())
