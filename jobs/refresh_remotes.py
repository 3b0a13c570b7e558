"""Ask the remotes that are due; without Spark."""

import sys
from collections.abc import Sequence

from weir.errors import EXIT_NOTHING_TO_DO
from weir.process.standard_streams import run_process
from weir.program import arg_parser, exit_code_of, named, progress_log, reported
from weir.project import Project
from weir.refresh.stage import Surroundings, has_rounds_to_ingest, refresh_remotes
from weir.remotes.connections import read_credentials
from weir.stage import new_run_id


def main(argv: Sequence[str] | None = None) -> int:
    """Refresh remotes; returns an exit code of `weir.errors`."""
    parser = arg_parser("refresh", __doc__)
    parser.add_argument("--remote", type=named, action="append", default=[], help="default: all")
    secrets = "read logins and passwords by connection from standard input, as JSON"
    parser.add_argument("--credentials", action="store_true", help=secrets)
    nothing = f"exit with {EXIT_NOTHING_TO_DO} if ingest has nothing to take from the remotes"
    parser.add_argument("--event", action="store_true", help=nothing)
    options = parser.parse_args(argv)

    def work() -> int:
        around = Surroundings(read_credentials(sys.stdin) if options.credentials else {})
        run_id, names = options.run_id or new_run_id("refresh"), options.remote
        with Project.load(options.config, "weir refresh") as project:
            with progress_log("refresh") as progress:
                done = refresh_remotes(project, run_id, progress, names=names, surroundings=around)
            # Rounds that an earlier, killed run has committed count as its own.
            is_idle = options.event and not has_rounds_to_ingest(project, done)
        return reported(done.errors) or (EXIT_NOTHING_TO_DO if is_idle else 0)

    return exit_code_of(work)


if __name__ == "__main__":
    sys.exit(run_process(main))
