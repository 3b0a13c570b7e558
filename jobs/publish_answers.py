"""Append validated rows to the answer tables."""

import sys
from collections.abc import Sequence

from weir.process.standard_streams import run_process
from weir.program import arg_parser, run_stage
from weir.publish.stage import publish_answers


def main(argv: Sequence[str] | None = None) -> int:
    """Run the stage publish; returns an exit code of `weir.errors`."""
    return run_stage(arg_parser("publish", __doc__), publish_answers, argv)


if __name__ == "__main__":
    sys.exit(run_process(main))
