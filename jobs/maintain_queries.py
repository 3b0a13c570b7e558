"""Bring the embeddings of all queries up to the newest epoch."""

import sys
from collections.abc import Sequence

from weir.maintain.stage import maintain_queries
from weir.process.standard_streams import run_process
from weir.program import arg_parser, run_stage


def main(argv: Sequence[str] | None = None) -> int:
    """Run the stage maintain; returns an exit code of `weir.errors`."""
    return run_stage(arg_parser("maintain", __doc__), maintain_queries, argv)


if __name__ == "__main__":
    sys.exit(run_process(main))
