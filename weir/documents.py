"""What a run writes at its end for readers outside of the lake: site, figures, artefacts, lineage.

Each has a setting, which says where. What shows the project as it is has a command of its own, too;
events of lineage are of one run.
"""

from __future__ import annotations

from weir.project import Project
from weir.settings import Document
from weir.stage import StageResult


def write_document(
    project: Project, name: Document, run_id: str, stage: str | None = None
) -> StageResult:
    """Write one as the settings say, from the lake as it is now; no claim is taken.

    Args:
        project: the project.
        name: which one.
        run_id: of the run that ends with it.
        stage: of which events of lineage are; None for all of the run.
    """
    match name:
        case "site":
            from weir.site.writing import write_site

            return write_site(project)
        case "metrics":
            from weir.metrics.written import write_metrics

            assert project.settings.metrics is not None, "it is wanted"
            return write_metrics(project, project.settings.metrics)
        case "artifacts":
            from weir.artifacts.written import write_artifacts

            return write_artifacts(project)
        case "openlineage":
            from weir.lineage.emission import emit_events

            return emit_events(project, run_id, stage)
