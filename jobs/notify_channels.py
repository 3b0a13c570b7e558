"""Notify the channels of a project of what changed in its answers; without Spark."""

import sys
from collections.abc import Sequence

from weir.notify.stage import notify_channels
from weir.process.standard_streams import run_process
from weir.program import arg_parser, run_stage


def main(argv: Sequence[str] | None = None) -> int:
    """Run the stage notify; returns an exit code of `weir.errors`."""
    return run_stage(arg_parser("notify", __doc__), notify_channels, argv, on_spark=False)


if __name__ == "__main__":
    sys.exit(run_process(main))
