"""Write the site, figures and artefacts of a project, as far as its settings say where."""

import sys
from collections.abc import Sequence

from weir.documents import write_document
from weir.process.standard_streams import run_process
from weir.program import arg_parser, run_stage
from weir.project import Project
from weir.stage import Progress


def write_documents(project: Project, run_id: str, progress: Progress) -> None:
    """Write them; `run_id` is not needed, as nothing is recorded."""
    del run_id
    for name in project.settings.documents:
        progress(f"wrote {write_document(project, name).summary}")


def main(argv: Sequence[str] | None = None) -> int:
    """Write them; returns an exit code of `weir.errors`."""
    return run_stage(arg_parser("documents", __doc__), write_documents, argv, on_spark=False)


if __name__ == "__main__":
    sys.exit(run_process(main))
