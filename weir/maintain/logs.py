"""The logs of definitions that others read: their ids, and what was computed from them."""

from __future__ import annotations

from weir.definitions.definition import Definition
from weir.errors import WeirError
from weir.lake.delta.metadata import LOG_ID, Metadata
from weir.lake.lake import Lake
from weir.lake.tables import DERIVED, EMBEDDINGS
from weir.maintain.tasks import JOB

UPSTREAMS = "upstreams"
"""What the metadata of embeddings has: the logs of the definitions that it reads, by name."""


def logs_of_upstreams(lake: Lake, definition: Definition) -> dict[str, str]:
    """The definitions whose streams or graphs one reads, with the ids of their logs."""
    streams = {up.query: log_of(lake, up.query) for up in definition.axis.upstreams}
    return streams | {one.name: _log_of_graph(lake, one.name) for one in definition.derived}


def recomputed_upstream(lake: Lake, definition: Definition, embeddings: Metadata) -> str | None:
    """What a definition reads and was recomputed since some embeddings of it; None if nothing was.

    Raises:
        DamagedTable: what it reads cannot be read.
    """
    read = embeddings.extra.get(UPSTREAMS, {})
    logs = logs_of_upstreams(lake, definition)
    return next((name for name, log_id in logs.items() if log_id not in read.values()), None)


def begin_of_graphs(lake: Lake, definition: Definition) -> int:
    """The epoch at which all derived graphs that a definition reads are known; 0 without any.

    Raises:
        WeirError: one of them is not computed yet.
    """
    begins = [0]
    for giver in definition.derived:
        last = _last_of_graph(lake, giver.name)
        if last is None:
            raise WeirError(
                f"the graph of {giver.name}, which it reads, is not computed yet",
                definition.file.name,
                "`weir run` computes both.",
            )
        begins.append(last.base)
    return max(begins)


def _log_of_graph(lake: Lake, giver: str) -> str:
    last = _last_of_graph(lake, giver)
    return "" if last is None else str(last.extra[LOG_ID])


def _last_of_graph(lake: Lake, giver: str) -> Metadata | None:
    last = lake.last_metadata(DERIVED.name(giver), job=JOB)
    return None if last is None else last[1]


def log_of(lake: Lake, name: str) -> str:
    """The id of the log of embeddings of a definition; empty if it has none."""
    last = lake.last_metadata(EMBEDDINGS.name(name), job=JOB)
    return "" if last is None else last[1].extra.get(LOG_ID, "")
