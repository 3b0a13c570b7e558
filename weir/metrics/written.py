"""Writes the figures of a project in the text format of Prometheus.

https://prometheus.io/docs/instrumenting/exposition_formats/
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from prometheus_client import CollectorRegistry, generate_latest

from weir.lake.counted import counted
from weir.lake.whole_files import write_whole
from weir.metrics.figures import Figures
from weir.project import Project
from weir.stage import StageResult

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Metrics(StageResult):
    """The file that was written."""

    file: Path
    lines: int

    @property
    def summary(self) -> str:
        """How many values, and where."""
        return f"{counted(self.lines, 'value')} in {self.file.name}"


def metrics_text(project: Project) -> str:
    """The figures of a project as it is now."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Figures.of(project))
    return generate_latest(registry).decode()


def write_metrics(project: Project, file: Path) -> Metrics:
    """Replace a file by the figures of a project as it is now; no claim is taken.

    The file is never there in part, so that a collector can read it at any time.
    """
    text = metrics_text(project)
    write_whole(file, text)
    return Metrics(file, sum(not line.startswith("#") for line in text.splitlines()))
