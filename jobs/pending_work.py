"""Say by the exit code whether maintain, validate or publish has anything to do; without Spark."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from weir.errors import EXIT_NOTHING_TO_DO
from weir.pending import Pending
from weir.process.standard_streams import run_process
from weir.program import exit_code_of
from weir.project import Project


def main(argv: Sequence[str] | None = None) -> int:
    """Look for work; returns 0 if there is some, else `EXIT_NOTHING_TO_DO`."""
    parser = argparse.ArgumentParser(prog="pending_work", description=__doc__)
    parser.add_argument("--config", type=Path, help="configuration file (default: weir.toml)")
    config = parser.parse_args(argv).config

    def work() -> int:
        with Project.load(config) as project:
            return 0 if Pending(project).answers else EXIT_NOTHING_TO_DO

    return exit_code_of(work)


if __name__ == "__main__":
    sys.exit(run_process(main))
