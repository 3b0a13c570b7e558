"""What a query's embedding table holds that its answer table does not have yet (no Spark)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from jobs.progress.watermarks import Mark, mark, untouched
from lake.lake import Lake
from lake.metadata import Metadata

WHOLE_STATE = ("initial", "migrated", "rebased")
"""Modes of the commits that replace all rows of an embedding table by the state at the base."""


@dataclass(frozen=True, slots=True)
class Unpublished:
    """The range of epochs (from_epoch, to_epoch] of a query that validate and publish have to do.

    Attributes:
        maintained: how far the embedding table is complete.
        published: how far the answer table is, or None before the first publication.
        snapshot: the version of the embedding table to read.
        anew: whether the embedding table starts with another state than the one published from, so
            that the difference between the two is to be published.
        reason: why it is anew, or empty.
    """

    query: str
    maintained: Mark
    published: Mark | None
    snapshot: int
    anew: bool
    reason: str

    @property
    def columns(self) -> tuple[tuple[str, int], ...]:
        """Published column -> number of its variable, in the order of the query."""
        return columns_of(self.maintained.metadata)

    @property
    def from_epoch(self) -> int:
        """The rows of later epochs are checked; they start from nothing if `anew`."""
        if self.anew or self.published is None:
            return self.maintained.metadata.base - 1
        return self.published.watermark

    @property
    def to_epoch(self) -> int:
        """The watermark of the embedding table."""
        return self.maintained.watermark

    @property
    def has_rows(self) -> bool:
        """Whether there may be rows to publish; if not, only the watermark has moved."""
        return self.anew or self.maintained.metadata.watermark > self.from_epoch

    @property
    def rows_before(self) -> int:
        """The number of rows of the answer at `from_epoch`."""
        return 0 if self.anew else self.rows_published

    @property
    def rows_published(self) -> int:
        """The number of rows of the published answer."""
        return 0 if self.published is None else int(self.published.metadata.extra["rows"])

    @property
    def mode(self) -> str:
        """The mode in the ledger."""
        if self.published is None:
            return "initial"
        if not self.anew:
            return "incremental"
        old, new = self.published.metadata, self.maintained.metadata
        return "migrated" if old.fingerprint != new.fingerprint else "rebased"


def columns_of(metadata: Metadata) -> tuple[tuple[str, int], ...]:
    """The published columns that a commit names: (name, number of the variable)."""
    return tuple((name, number) for name, number in metadata.extra["columns"])


def unpublished(lake: Lake, queries: Iterable[str]) -> tuple[Unpublished, ...]:
    """What each query has to publish; none if it is complete, or not maintained yet."""
    maintained, published = untouched(lake, "maintain"), untouched(lake, "publish")
    found = (_unpublished(lake, query, maintained, published) for query in queries)
    return tuple(work for work in found if work is not None)


_Ranges = Mapping[str, tuple[tuple[int, int], ...]]


def _unpublished(
    lake: Lake, query: str, maintained_ranges: _Ranges, published_ranges: _Ranges
) -> Unpublished | None:
    table, answers = f"embeddings/{query}", f"answers/{query}"
    # The version comes first: maintain has no commit between the one found after it and this
    # version, so the snapshot has exactly the rows that the commit's watermark speaks of.
    newest = lake.version(table)
    maintained = mark(lake, table, "maintain", maintained_ranges.get(query, ()))
    if maintained is None:
        return None
    published = mark(lake, answers, "publish", published_ranges.get(query, ()))
    reason = _why_anew(lake, table, maintained, published)
    work = Unpublished(
        query=query,
        maintained=maintained,
        published=published,
        snapshot=max(newest or 0, maintained.version),
        anew=reason is not None,
        reason=reason or "",
    )
    return work if work.anew or work.to_epoch > work.from_epoch else None


def _why_anew(lake: Lake, table: str, maintained: Mark, published: Mark | None) -> str | None:
    if published is None:
        return "nothing was published before"
    old, new = published.metadata, maintained.metadata
    if old.fingerprint != new.fingerprint:
        return "the query was edited"
    published_from = int(old.extra["embeddings_version"])
    if old.base != new.base or _replaced_since(lake, table, published_from):
        return f"the embeddings were computed anew at epoch {new.base}"
    return None


def _replaced_since(lake: Lake, table_name: str, published_from: int) -> bool:
    """Whether a commit after `published_from` replaced all rows."""
    for commit in lake.commits(table_name):
        if commit["version"] <= published_from:
            return False
        metadata = Metadata.from_json(commit.get("userMetadata"))
        if metadata is not None and metadata.job == "maintain" and metadata.mode in WHOLE_STATE:
            return True
    return False
