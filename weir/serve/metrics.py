"""`/metrics`: the figures of the project, for a Prometheus that scrapes the server."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from weir.metrics.written import MEDIA_TYPE, metrics_text
from weir.project import Project
from weir.serve.reader import Reader

METRICS = "/metrics"


async def send_metrics(reader: Reader, request: Request) -> Response:
    """How far and how fresh everything is."""
    del request

    def read(project: Project) -> str:
        project.open_lake()
        return metrics_text(project)

    return Response(await reader.read(read), headers={"Content-Type": MEDIA_TYPE})
