"""The logs of embeddings of what reads streams: their ids, and what they were computed from."""

from __future__ import annotations

from weir.definitions.definition import Definition
from weir.lake.delta.metadata import LOG_ID
from weir.lake.lake import Lake
from weir.lake.tables import EMBEDDINGS
from weir.maintain.tasks import JOB

UPSTREAMS = "upstreams"
"""What the metadata of embeddings has: the logs of the definitions that it reads, by name."""


def logs_of_upstreams(lake: Lake, definition: Definition) -> dict[str, str]:
    """The definitions whose streams one reads, with the ids of their logs."""
    return {upstream.query: log_of(lake, upstream.query) for upstream in definition.axis.upstreams}


def log_of(lake: Lake, name: str) -> str:
    """The id of the log of embeddings of a definition that reads streams."""
    last = lake.last_metadata(EMBEDDINGS.name(name), job=JOB)
    return "" if last is None else last[1].extra.get(LOG_ID, "")
