"""Append the validated new rows of every query to its answer table.

The answer table is a log: the sum of the weights up to an epoch is the answer at that epoch. One
commit takes it from its watermark to that of the embedding table, and carries the new watermark. So
the next run completes what a killed run left, and nothing is published twice. If the embedding
table does not continue the published answer (first publication, edited query, recomputed
embeddings), the difference between the two states is appended.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from weir.definitions.catalog import Catalog
from weir.definitions.checks import declared_checks
from weir.errors import QualityError, WeirError, causes, listed
from weir.lake.counted import counted
from weir.lake.ledger.runs import UNTOUCHED
from weir.progress.backlog import Backlog
from weir.progress.completion import Completion
from weir.progress.held import held_reasons, why_held
from weir.progress.verdicts import can_be_accepted
from weir.project import Project
from weir.publish.current_tables import CurrentTables, behind, is_concerned
from weir.publish.publication import Publication, move_watermark, publish
from weir.remotes.readiness import NotReady, Readiness, why_waits
from weir.stage import Progress, StageResult, claimed, silent

JOB: Literal["publish"] = "publish"


@dataclass(frozen=True, slots=True)
class PublishResult(StageResult):
    """The publications of the queries that had something to publish."""

    publications: tuple[Publication, ...] = ()

    def of(self, mode: str) -> list[Publication]:
        """The publications of a mode."""
        return [publication for publication in self.publications if publication.mode == mode]

    @property
    def changed_or_not_published(self) -> list[Publication]:
        """The publications, without those that only moved the watermark."""
        return [publication for publication in self.publications if publication.mode != UNTOUCHED]

    @property
    def published(self) -> list[Publication]:
        """The publications that committed to an answer table."""
        others = ("held", "waiting", "failed", UNTOUCHED)
        return [publication for publication in self.publications if publication.mode not in others]

    @property
    def did_something(self) -> bool:
        """Whether an answer was published, or its watermark moved."""
        not_published = ("waiting", "held", "failed")
        return any(publication.mode not in not_published for publication in self.publications)

    @property
    def only_waits(self) -> bool:
        """Whether there are answers to publish, and none was published."""
        return bool(self.publications) and not self.did_something

    @property
    def summary(self) -> str:
        """How many answers were published and were not, and how many rows were appended."""
        if not self.publications:
            return "nothing to publish"
        rows = counted(sum(publication.rows for publication in self.publications), "row")
        return f"{self.counts}; {rows} appended"

    @property
    def counts(self) -> str:
        """How many answers were published, and how many were not."""
        numbers = {
            "published": self.published,
            "unchanged": self.of(UNTOUCHED),
            "held back": self.of("held"),
            "waiting": self.of("waiting"),
            "failed": self.of("failed"),
        }
        return ", ".join(
            f"{len(publications):,} {what}"
            for what, publications in numbers.items()
            if publications
        )


def publish_answers(project: Project, run_id: str, progress: Progress = silent) -> PublishResult:
    """Append what is validated and not published yet.

    Raises:
        BusyError: another run publishes.
        QualityError: some answers are held back; the others were published.
        WeirError: some queries could not be published; the others were.
    """
    lake, settings = project.open_lake(), project.settings
    catalog = Catalog.of(settings)
    before = Completion.read(lake)
    limits = settings.limits
    if not (
        any(_work(before, catalog))
        or before.damaged(catalog.names)
        or any(behind(before, catalog.members, limits))
    ):
        return PublishResult()
    with claimed(lake, JOB, run_id, settings.limits.lease_seconds) as run:
        completion = Completion.read(lake)
        work = tuple(_work(completion, catalog))
        checks = declared_checks(settings.expectations, catalog).fingerprints
        graph_to = completion.graph_validated_to
        ready: list[Backlog] = []
        done: list[Publication] = []
        progress(f"publishing {counted(len(work), 'query')}")
        with project.engine(JOB) as engine:
            readiness = Readiness(engine, lake, completion, settings.remotes, datetime.now(UTC))
            reasons: dict[str, NotReady | None] = {}
            for query, error in completion.damaged(catalog.names).items():
                reasons[query] = NotReady("held", str(error))
                done.append(Publication(query, "failed", graph_to, reason=str(error)))
                progress(f"{query}: not published, {error}")
            for item in work:
                held = why_held(completion, item, checks)
                why = None if held is None else NotReady("held", held.reason)
                reasons[item.query] = why or _why_stale(readiness, catalog, item)
            for item in (_as_published(backlog, catalog) for backlog in work):
                reason = reasons[item.query] or why_waits(catalog.member(item.query), reasons)
                if reason is not None:
                    done.append(
                        Publication(item.query, reason.mode, item.to_epoch, reason=reason.reason)
                    )
                    progress(f"{item.query}: not published, {reason.reason}")
                elif not item.has_rows:
                    done.append(move_watermark(run, item))
                else:
                    ready.append(item)
            left = {query.name for query in behind(completion, catalog.members, limits)}
            done += publish(engine, lake, run, ready, limits.parallel_queries, progress)
            left |= {publication.query for publication in PublishResult(tuple(done)).published}
            tables = CurrentTables(engine, lake, run, limits, completion, progress)
            queries = [
                query
                for query in catalog.members
                if query.name in left and is_concerned(completion, query, limits)
            ]
            done += [
                Publication(
                    table.query, "failed", table.epoch, reason=table.reason, cause=table.cause
                )
                for table in tables.follow(queries, limits.parallel_queries)
            ]
        if any(publication.mode in ("held", "failed") for publication in done):
            # Its error replaces that of validate in the run, so it reports these, too.
            done += _failing(completion, catalog)
        result = PublishResult(tuple(done))
        progress(result.counts)
        _raise_for(result)
    return result


def _work(completion: Completion, catalog: Catalog) -> Iterator[Backlog]:
    """The backlog of the queries whose files have no error, one after the other.

    Files of others are not read, and tables as far as it is iterated.
    """
    for name in catalog.names:
        for item in completion.backlog([name]):
            if catalog.is_usable(name):
                yield item


def _why_stale(readiness: Readiness, catalog: Catalog, work: Backlog) -> NotReady | None:
    """Why answers of remotes do not suffice for a publication; None if they do."""
    query = catalog.member(work.query)
    if not query.services.blocks:
        return None
    return readiness.why_not(query, work.to_epoch, is_first=work.is_first_of_text)


def _as_published(work: Backlog, catalog: Catalog) -> Backlog:
    return work.of_services() if catalog.member(work.query).services.blocks else work


def _failing(completion: Completion, catalog: Catalog) -> list[Publication]:
    """The published answers that fail checks edited since; validate has reported them."""
    published = [item for item in completion.answers(catalog.names) if not item.is_to_publish]
    reasons = held_reasons(completion, published)
    return [
        Publication(item.query, "held", item.to_epoch, reason=reasons[item.query])
        for item in published
        if item.query in reasons and catalog.is_usable(item.query)
    ]


def _raise_for(result: PublishResult) -> None:
    failed, held = result.of("failed"), result.of("held")
    if not (failed or held):
        return
    error_type: type[WeirError] = WeirError if failed else QualityError
    hint = "Run again when the reason is gone." if failed else ""
    if held:
        hint = (
            "Answers that are held back are as before; `weir show --held NAME` prints the rows, and"
            " every run checks them again." + _how_to_accept(held) + " " + hint
        )
    reasons = [(p.query, p.reason) for p in (*failed, *held)]
    # The same text in every run, so that a resident process reports it once.
    parts = [
        f"{counted(len(publications), 'answer')} {what}"
        for publications, what in ((failed, "could not be published"), (held, "held back"))
        if publications
    ]
    what = f"{', '.join(parts)}:"
    error = error_type(what, "", hint.strip(), parts=listed(reasons), done=result)
    raise error from causes([p.cause for p in failed if p.cause is not None])


def _how_to_accept(held: Sequence[Publication]) -> str:
    names = [publication.query for publication in held if can_be_accepted(publication.reason)]
    options = " ".join(f"--accept {name}" for name in names)
    return f" If an answer is right, accept it: `weir run {options}`." if names else ""
