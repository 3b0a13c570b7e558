"""Write the site of a project and what catalogues read, as far as its settings name folders."""

import sys
from collections.abc import Sequence

from weir.artifacts.written import write_artifacts
from weir.process.standard_streams import run_process
from weir.program import arg_parser, run_stage
from weir.project import Project
from weir.site.writing import write_site
from weir.stage import Progress


def write_documents(project: Project, run_id: str, progress: Progress) -> None:
    """Write them; `run_id` is not needed, as nothing is recorded."""
    del run_id
    # The site first: it says what is wrong where the artefacts cannot be written.
    if project.settings.site is not None:
        progress(f"wrote {write_site(project).summary}")
    if project.settings.artifacts is not None:
        progress(f"wrote {write_artifacts(project).summary}")


def main(argv: Sequence[str] | None = None) -> int:
    """Write them; returns an exit code of `weir.errors`."""
    return run_stage(arg_parser("documents", __doc__), write_documents, argv, on_spark=False)


if __name__ == "__main__":
    sys.exit(run_process(main))
