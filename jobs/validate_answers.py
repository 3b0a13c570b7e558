"""Check the rows that are not published yet."""

import sys
from collections.abc import Sequence

from weir.expectations.run import import_ahead
from weir.process.standard_streams import run_process
from weir.program import arg_parser, named_list, run_stage
from weir.validate.stage import validate_answers


def main(argv: Sequence[str] | None = None) -> int:
    """Run the stage validate; returns an exit code of `weir.errors`."""
    # Imported while Spark starts.
    import_ahead()
    parser = arg_parser("validate", __doc__)
    accept = "names of queries, separated by commas, whose answer may be beyond its guards"
    parser.add_argument("--accept", type=named_list, default=(), help=accept)
    return run_stage(parser, validate_answers, argv)


if __name__ == "__main__":
    sys.exit(run_process(main))
