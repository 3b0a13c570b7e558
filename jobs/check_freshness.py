"""Check how fresh the replicas are; without Spark."""

import sys
from collections.abc import Sequence

from weir.process.standard_streams import run_process
from weir.program import arg_parser, run_stage
from weir.refresh.check import check_freshness


def main(argv: Sequence[str] | None = None) -> int:
    """Check the freshness of remotes; returns an exit code of `weir.errors`."""
    return run_stage(arg_parser("freshness", __doc__), check_freshness, argv, on_spark=False)


if __name__ == "__main__":
    sys.exit(run_process(main))
