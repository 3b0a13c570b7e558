"""Maintain queries over streams, each after those that give its streams."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from weir.catalog.maintained import Maintained
from weir.catalog.output_streams import in_order_of_streams, upstreams_of
from weir.catalog.windowing import Upstream
from weir.errors import WeirError
from weir.lake.damage.storage_errors import DamagedTable
from weir.lake.lake import Lake
from weir.maintain.emitted_streams import OutputStream
from weir.maintain.outcome import Outcome
from weir.maintain.stream_query import UPSTREAMS, StreamQuery, logs_of_upstreams
from weir.maintain.tasks import Task
from weir.progress.completion import Completion
from weir.project import Project
from weir.stage import Progress


@dataclass(frozen=True, slots=True)
class StreamQueries:
    """Maintains queries over streams, one after the other, and the streams out of them."""

    project: Project
    outcome: Outcome
    completion: Completion
    progress: Progress

    @property
    def lake(self) -> Lake:
        """The lake of the project."""
        return self.project.lake

    def maintain(
        self, queries: Iterable[Maintained], tasks: Mapping[str, Task], put_off: Collection[str]
    ) -> None:
        """Bring the embeddings of queries over streams, and their streams, to the last epoch.

        One may fail by itself, with those that read its stream.

        Args:
            queries: all that can be maintained.
            tasks: by name, of those that are behind.
            put_off: others, whose streams are not complete, or cannot be read.
        """
        failed = {*put_off}
        waiting: set[str] = set()
        one = StreamQuery(self.project, self.outcome, self.completion, self.progress)
        for query in in_order_of_streams(queries):
            try:
                task = tasks.get(query.name) or self._later_task(query)
            except DamagedTable as error:
                failed.add(query.name)
                self.outcome.failed(self._task_at_rest(query), error)
                continue
            if task is None:
                continue
            waits_for = [each.query for each in upstreams_of(query) if each.query in waiting]
            if waits_for:
                waiting.add(query.name)
                self.outcome.waits(task, f"waits for the stream of the query {waits_for[0]}")
                continue
            try:
                for upstream in upstreams_of(query):
                    _check_upstream(query, upstream, failed)
                if not one.maintain(self._after_upstreams(task)):
                    waiting.add(query.name)
            except Exception as error:  # noqa: BLE001  (recorded, raised for all at the end)
                failed.add(query.name)
                self.outcome.failed(task, error)

    def _later_task(self, query: Maintained) -> Task | None:
        """The task of a query at the last epoch, if a run ended before all that follows from it."""
        task = self._task_at_rest(query)
        if task.stored is None:
            return None
        output = OutputStream.of(query)
        is_behind = output is not None and output.is_behind(self.lake, task.stored.metadata)
        return task if is_behind or self._after_upstreams(task).stored is None else None

    def _task_at_rest(self, query: Maintained) -> Task:
        """The task of a query that is at the last epoch."""
        stored = self.completion.maintained(query.name)
        return Task(query, "incremental", "", base=None, stored=stored)

    def _after_upstreams(self, task: Task) -> Task:
        """The task; one that recomputes the query if a stream that it reads was recomputed."""
        if task.stored is None:
            return task
        read = task.stored.metadata.extra.get(UPSTREAMS, {})
        for name, log_id in logs_of_upstreams(self.lake, task.query).items():
            if read.get(name) != log_id:
                reason = f"the query {name}, whose stream it reads, was recomputed"
                return task.from_the_first_instant(reason)
        return task


def _check_upstream(query: Maintained, upstream: Upstream, failed: Collection[str]) -> None:
    if upstream.query in failed:
        raise WeirError(
            f"the query {upstream.query}, whose stream it reads, was not maintained",
            query.file.name,
            "It is maintained again when that query is.",
        )
