"""Ingest the new change sets of all sources."""

import sys
from collections.abc import Sequence
from functools import partial

from weir.door import guarded
from weir.ingest.stage import ingest_or_fail
from weir.process.standard_streams import run_process
from weir.program import arg_parser, named_list, run_stage


def main(argv: Sequence[str] | None = None) -> int:
    """Run the stage ingest; returns an exit code of `weir.errors`."""
    parser = arg_parser("ingest", __doc__)
    accept = "sources, separated by commas: the change set that stopped each is taken in"
    parser.add_argument("--accept", type=named_list, default=(), help=accept)
    return run_stage(parser, partial(guarded, ingest_or_fail), argv)


if __name__ == "__main__":
    sys.exit(run_process(main))
