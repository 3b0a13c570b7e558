"""What monitors see of a project, as metrics of Prometheus.

https://prometheus.io/docs/practices/naming/. All are gauges as of the lake: none counts since the
start of a process.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from weir.lake.ledger.runs import FAILED
from weir.pending import Pending
from weir.progress.completion import Completion
from weir.project import Project
from weir.status.status import FAULTS, Status

NAMES: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "weir_graph_epoch": ("Newest epoch of the graph", ()),
    "weir_graph_quads": ("Quads of the graph at its newest epoch", ()),
    "weir_faults": ("Queries, sources, remotes or channels with this fault", ("fault",)),
    "weir_answer_state": ("1 for the state that an answer is in", ("answer", "state")),
    "weir_answer_epoch": ("Epoch up to which an answer is published", ("answer",)),
    "weir_answer_lag_epochs": ("Epochs that an answer lacks", ("answer",)),
    "weir_answer_lag_seconds": ("Since when it lacks the oldest of them", ("answer",)),
    "weir_answer_rows": ("Rows of a published answer", ("answer",)),
    "weir_answer_warnings": ("1 if a check of an answer warns", ("answer",)),
    "weir_source_state": ("1 for the state that a source is in", ("source", "state")),
    "weir_source_epoch": ("Newest epoch of a source", ("source",)),
    "weir_source_age_seconds": ("Since when it was ingested", ("source",)),
    "weir_source_pending": ("Change sets of a source that wait", ("source",)),
    "weir_source_rejected": ("Lines and documents of a source that were rejected", ("source",)),
    "weir_stream_frontier_timestamp_seconds": ("Up to when a stream is complete", ("stream",)),
    "weir_remote_state": ("1 for the state that a remote is in", ("remote", "state")),
    "weir_remote_oldest_seconds": ("Age of the oldest answer of a remote", ("remote",)),
    "weir_remote_never_asked": ("Keys of a remote without an answer yet", ("remote",)),
    "weir_stage_end_timestamp_seconds": ("When a stage last ended", ("stage",)),
    "weir_stage_seconds": ("How long it took", ("stage",)),
    "weir_stage_failed": ("1 if it failed", ("stage",)),
}
"""What each metric is, and its labels."""


@dataclass(frozen=True, slots=True, eq=False)
class Figures(Collector):
    """The metrics of a project, as of its lake when they were read.

    Attributes:
        families: a metric of each name that has values.
    """

    families: Sequence[Metric]

    @classmethod
    def of(cls, project: Project) -> Figures:
        """Those of a project as it is now; what is damaged is left out as `weir status` does."""
        metrics = {
            name: GaugeMetricFamily(name, text, labels=labels)
            for name, (text, labels) in NAMES.items()
        }
        pending = Pending(project)
        status = Status.of(project, pending=pending)
        for name, labels, value in _values(pending.completion, status):
            if value is not None:
                metrics[name].add_metric(labels, value)
        return cls([metric for metric in metrics.values() if metric.samples])

    def collect(self) -> Sequence[Metric]:
        """As the client library asks for them."""
        return self.families


_Value = tuple[str, tuple[str, ...], float | None]


def _values(completion: Completion, status: Status) -> Iterator[_Value]:
    yield "weir_graph_epoch", (), completion.head
    yield "weir_graph_quads", (), completion.quads
    faults = Counter(fault for fault, _, _ in status.faults())
    for fault in FAULTS:
        yield "weir_faults", (fault,), faults[fault]
    for query in status.queries:
        name = (query.query,)
        yield "weir_answer_state", (query.query, query.state), 1
        yield "weir_answer_epoch", name, query.published
        yield "weir_answer_lag_epochs", name, query.lag_epochs
        yield "weir_answer_lag_seconds", name, query.lag.total_seconds()
        yield "weir_answer_rows", name, query.rows
        yield "weir_answer_warnings", name, query.warning is not None
    for source in status.sources.sources:
        name = (source.source,)
        yield "weir_source_state", (source.source, source.state), 1
        yield "weir_source_epoch", name, source.epoch
        age = source.age
        yield "weir_source_age_seconds", name, None if age is None else age.total_seconds()
        yield "weir_source_pending", name, source.pending
        yield "weir_source_rejected", name, source.rejected
    for stream in status.streams:
        frontier = stream.frontier
        yield "weir_stream_frontier_timestamp_seconds", (stream.stream,), _timestamp(frontier)
    for remote in status.remotes:
        name = (remote.remote.name,)
        yield "weir_remote_state", (*name, remote.state), 1
        yield "weir_remote_oldest_seconds", name, remote.largest("oldest")
        yield "weir_remote_never_asked", name, remote.never_asked
    # A job for one thing, as a refresh, has its name behind a colon; of these the newest counts.
    stages = {job.partition(":")[0]: row for job, row in completion.newest_runs.items()}
    for stage, row in sorted(stages.items()):
        yield "weir_stage_end_timestamp_seconds", (stage,), _timestamp(row["recorded_at"])
        yield "weir_stage_seconds", (stage,), row["seconds"]
        yield "weir_stage_failed", (stage,), row["status"] == FAILED


def _timestamp(time: datetime | None) -> float | None:
    return None if time is None else time.timestamp()
