"""The stages of `weir run` in this process, on a project that is open."""

from __future__ import annotations

from bench.processes import RunFailed
from weir.door import guarded
from weir.ingest.stage import ingest_changes
from weir.maintain.stage import maintain_queries
from weir.project import Project
from weir.publish.stage import publish_answers
from weir.validate.stage import validate_answers


def run_stages(project: Project) -> None:
    """From the pending change sets to the published answers.

    Raises:
        RunFailed: a change set was not taken.
    """
    result = guarded(ingest_changes, project, "bench")
    if result.errors:
        raise RunFailed(str(result.errors[0]))
    for stage in (maintain_queries, validate_answers, publish_answers):
        stage(project, "bench")
