"""Merge small files, consolidate logs, delete what is no longer needed."""

import sys
from collections.abc import Sequence

from weir.compact.stage import compact_lake
from weir.process.standard_streams import run_process
from weir.program import arg_parser, run_stage


def main(argv: Sequence[str] | None = None) -> int:
    """Compact the lake; returns an exit code of `weir.errors`."""
    return run_stage(arg_parser("compact", __doc__), compact_lake, argv)


if __name__ == "__main__":
    sys.exit(run_process(main))
