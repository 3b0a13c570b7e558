"""A run of ingest: its claim, its journal, and what it finishes first of a run that died."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from weir.ingest.epochs import Transaction, transactions_of
from weir.ingest.journal import JOB, Journal, unfinished
from weir.ingest.older_tables import refuse_older_tables, refuse_older_transactions
from weir.ingest.sources.all_sources import all_sources
from weir.ingest.sources.source import Source
from weir.project import Project
from weir.stage import Claim, Progress, claimed


@dataclass(frozen=True, slots=True)
class Ingest:
    """An ingest in progress; `start` is the newest epoch before it."""

    project: Project
    sources: Sequence[Source]
    journal: Journal
    run: Claim
    start: int
    progress: Progress

    def recover(self) -> tuple[Transaction, ...]:
        """Finish what a run that died had begun to commit, of the graph or of a stream.

        Raises:
            DamagedTable: a table is older than the others.
        """
        lake = self.project.lake
        refuse_older_tables(lake)
        done: list[Transaction] = []
        for begun in unfinished(lake, streams(self.sources)):
            transactions = transactions_of(begun)
            refuse_older_transactions(lake, self.journal.head(), transactions)
            self.progress("finishing what an earlier run had begun to commit")
            with self.project.engine(JOB) as engine:
                self.journal.finish(engine, begun)
            epochs = f"{transactions[0].epoch}..{transactions[-1].epoch}"
            self.progress(f"finished epochs {epochs}, which an earlier run had begun to commit")
            done += transactions
        self.journal.discard_late()
        return tuple(done)


@contextmanager
def ingesting(project: Project, run_id: str, progress: Progress) -> Iterator[Ingest]:
    """An ingest, under its claim.

    Raises:
        BusyError: another ingest is in progress.
        ConfigurationError: sources.yml or remotes.yml is wrong.
    """
    lake, settings = project.open_lake(), project.settings
    sources = all_sources(settings)
    with claimed(lake, JOB, run_id, settings.limits.lease_seconds) as run:
        journal = Journal(lake, run_id, settings.limits.literal_predicates)
        start = journal.head()
        yield Ingest(project, sources, journal, run, start, progress)
        run.totals |= {"from_epoch": start, "to_epoch": journal.head()}


def streams(sources: Iterable[Source]) -> list[str]:
    """The names of those sources that are streams."""
    return [source.name for source in sources if source.stream is not None]
