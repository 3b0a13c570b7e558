"""Print what a run did for each query, as JSON; without Spark.

A list of objects with the keys of `weir.publish.results.QueryResult`.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from weir.process.standard_streams import run_process
from weir.program import exit_code_of
from weir.publish.results import query_results
from weir.settings import Settings


def main(argv: Sequence[str] | None = None) -> int:
    """Print what a run did for each query; returns an exit code of `weir.errors`."""
    parser = argparse.ArgumentParser(prog="published_answers", description=__doc__)
    parser.add_argument("--config", type=Path, help="configuration file (default: weir.toml)")
    parser.add_argument("--run-id", required=True, help="id of the run in the ledger")
    options = parser.parse_args(argv)

    def work() -> None:
        results = query_results(Settings.load(options.config), options.run_id)
        print(json.dumps([asdict(result) for result in results]))

    return exit_code_of(work)


if __name__ == "__main__":
    sys.exit(run_process(main))
