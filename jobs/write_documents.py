"""Write the site, figures, artefacts and lineage of a project, as far as its settings say where."""

import sys
from collections.abc import Sequence

from weir.documents import write_document
from weir.process.standard_streams import run_process
from weir.program import arg_parser, run_stage
from weir.project import Project
from weir.stage import Progress


def write_documents(project: Project, run_id: str, progress: Progress) -> None:
    """Write them; the events of lineage are those of the run `run_id`."""
    for name in project.settings.documents:
        written = write_document(project, name, run_id)
        for warning in written.warnings:
            progress(f"WARNING: {warning}")
        progress(f"wrote {written.summary}")


def main(argv: Sequence[str] | None = None) -> int:
    """Write them; returns an exit code of `weir.errors`."""
    return run_stage(arg_parser("documents", __doc__), write_documents, argv, on_spark=False)


if __name__ == "__main__":
    sys.exit(run_process(main))
