"""`/metrics`: the figures of the project, for a Prometheus that scrapes the server."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from weir.metrics.written import MEDIA_TYPE, metrics_text
from weir.serve.reader import Reader

METRICS = "/metrics"


async def send_metrics(reader: Reader, request: Request) -> Response:
    """How far and how fresh everything is."""
    del request
    return Response(await reader.read(metrics_text), headers={"Content-Type": MEDIA_TYPE})
