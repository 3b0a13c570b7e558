"""Which answers a run has published (no Spark).

As a program it prints them as JSON: a list of `query`, `epoch`, `version`. The tables decide, not
the outcome of the run: it may have been killed after its commits, or have held other answers back.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import pyarrow.compute as pc

from jobs.catalog.names import declared_names, folders_of
from jobs.expected_errors import as_user_error
from jobs.printable import printable_lines
from jobs.progress.completion import Completion
from jobs.settings import Settings
from jobs.standard_streams import run_process
from lake.lake import Lake
from lake.ledger import SUCCEEDED
from lake.tables import RUNS


@dataclass(frozen=True, slots=True)
class PublishedAnswer:
    """An answer that a run has appended to.

    Attributes:
        epoch: up to which it is published.
        version: of `answers/<query>`: the commit of the run.
    """

    query: str
    epoch: int
    version: int


def published_answers(settings: Settings, run_id: str) -> tuple[PublishedAnswer, ...]:
    """The answers with a commit of this run, by name."""
    lake = settings.open_lake()
    found = {each.query: each for each in _recorded(lake, run_id)}
    completion = Completion.read(lake)
    names = declared_names(folders_of(settings))
    damaged = completion.damaged(names)
    for query in (name for name in names if name not in damaged):
        published = completion.published(query)
        if published is not None and published.metadata.run_id == run_id:
            epoch = published.metadata.watermark
            found[query] = PublishedAnswer(query, epoch, published.version)
    return tuple(found[query] for query in sorted(found))


def _recorded(lake: Lake, run_id: str) -> list[PublishedAnswer]:
    """Those that the ledger has: others may have published on top."""
    if not lake.exists(RUNS.name):
        return []
    filters = [("run_id", "=", run_id), ("job", "=", "publish"), ("status", "=", SUCCEEDED)]
    rows = lake.rows(RUNS.name, ["query", "to_epoch", "table_version"], filters)
    committed = rows.filter(pc.is_valid(rows["table_version"]))
    return [
        PublishedAnswer(row["query"], row["to_epoch"], row["table_version"])
        for row in committed.to_pylist()
    ]


def main(argv: Sequence[str] | None = None) -> int:
    """Print the answers that the run has published."""
    parser = argparse.ArgumentParser(prog="published_answers", description=__doc__)
    parser.add_argument("--config", type=Path, help="configuration file (default: weir.toml)")
    parser.add_argument("--run-id", required=True, help="id of the run in the ledger")
    options = parser.parse_args(argv)
    try:
        found = published_answers(Settings.load(options.config), options.run_id)
    except Exception as error:
        expected = as_user_error(error)
        if expected is None:
            raise
        print(printable_lines("\n".join(expected.lines())), file=sys.stderr)
        return expected.exit_code
    print(json.dumps([asdict(each) for each in found]))
    return 0


if __name__ == "__main__":
    sys.exit(run_process(main))
