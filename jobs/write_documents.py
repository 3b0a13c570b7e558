"""Write the site, figures, artefacts and lineage of a project, as far as its settings say where."""

import sys
from collections.abc import Sequence
from typing import Literal

from weir.documents import write_document
from weir.process.standard_streams import run_process
from weir.program import arg_parser, run_stage
from weir.project import Project
from weir.stage import Progress


def write_documents(
    project: Project,
    run_id: str,
    progress: Progress,
    lineage_of: Literal["ingest", "refresh"] | None = None,
) -> None:
    """Write them; the events of lineage are those of the run `run_id`.

    Args:
        project: the project.
        run_id: of the run.
        progress: of the steps.
        lineage_of: send the events of this stage alone, and write nothing else; None for all.
    """
    names = project.settings.documents if lineage_of is None else ("openlineage",)
    for name in names:
        written = write_document(project, name, run_id, lineage_of)
        for warning in written.warnings:
            progress(f"WARNING: {warning}")
        progress(f"wrote {written.summary}")


def main(argv: Sequence[str] | None = None) -> int:
    """Write them; returns an exit code of `weir.errors`."""
    parser = arg_parser("documents", __doc__)
    stage = "send the events of lineage of this stage, and write nothing else"
    parser.add_argument("--lineage-of", choices=("ingest", "refresh"), help=stage)
    return run_stage(parser, write_documents, argv, on_spark=False)


if __name__ == "__main__":
    sys.exit(run_process(main))
