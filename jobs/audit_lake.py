"""Examine what the lake holds: files, logs, answers; with `--full` also against the graph."""

import sys
from collections.abc import Sequence

from weir.audit.stage import audit_lake
from weir.process.standard_streams import run_process
from weir.program import arg_parser, run_stage


def main(argv: Sequence[str] | None = None) -> int:
    """Audit the lake; returns an exit code of `weir.errors`."""
    parser = arg_parser("audit", __doc__)
    parser.add_argument("--full", action="store_true", help="compute samples again, too")
    return run_stage(parser, audit_lake, argv)


if __name__ == "__main__":
    sys.exit(run_process(main))
