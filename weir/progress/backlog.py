"""What a query's embedding table holds that its answer table does not have yet (no Spark)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from weir.lake.delta.metadata import WHOLE_STATE, Metadata
from weir.lake.lake import Lake
from weir.lake.tables import EMBEDDINGS
from weir.progress.watermarks import Watermark

HORIZON = "horizon"
"""Key in the metadata of a query over streams: the last instant that was evaluated."""

PREDICATES = "predicates"
"""Key in the metadata of a program: the names of the arguments of each predicate."""

REPAIRED = -1
"""The version of the embeddings in the metadata of a repaired answer: it follows from none."""

UNKNOWN = "unknown"
"""Key in the metadata of an answer over streams, optional: `unknown_instants`."""

DIFFERENCE_AT = "difference_at"
"""Key in the metadata of an answer, optional: `Backlog.difference_at`."""

SINCE = "since"
"""Key in the metadata of an answer, optional: `answered_since`."""


@dataclass(frozen=True, slots=True)
class LaterStart:
    """The instants that an answer over streams lacks because events had been deleted before.

    Attributes:
        begins: the first instant at which the embeddings have the answer.
        unknown_from: the answer at the instants from this one up to `begins` is unknown; equal to
            `begins` if all earlier instants had been published.
    """

    begins: int
    unknown_from: int

    @classmethod
    def from_json(cls, extra: Mapping[str, Any]) -> Self | None:
        """The inverse of `to_json`; None for a query that begins with its streams."""
        begins = extra.get("begins")
        return None if begins is None else cls(begins, extra["unknown_from"])

    def to_json(self) -> dict[str, Any]:
        """For the metadata of every commit of the embeddings."""
        return {"begins": self.begins, "unknown_from": self.unknown_from}


@dataclass(frozen=True, slots=True)
class Backlog:
    """The epochs (from_epoch, to_epoch] of a query that are not published yet; none if all are.

    Attributes:
        maintained: how far the embedding table is complete.
        published: how far the answer table is complete; None before the first publication.
        rebuilt: whether the embedding table does not continue the published answer, so that the
            difference between the two states is to be published.
        reason: why it was rebuilt, or empty.
        as_one_state: whether only the state at `to_epoch` is published, not the changes before it
            (`of_services`).
    """

    query: str
    maintained: Watermark
    published: Watermark | None
    rebuilt: bool
    reason: str
    as_one_state: bool = False

    @property
    def columns(self) -> tuple[tuple[str, int], ...]:
        """(published column, number of its variable), in the order of the query."""
        return columns_of(self.maintained.metadata)

    @property
    def variables(self) -> tuple[str, ...]:
        """The columns of the embedding table that have the values of `columns`."""
        return tuple(f"v{number}" for _, number in self.columns)

    @property
    def is_over_streams(self) -> bool:
        """Whether the query reads streams, so that its rows also have an instant."""
        return HORIZON in self.maintained.metadata.extra

    @property
    def later_start(self) -> LaterStart | None:
        """Where a query over streams begins; None if it begins with its streams."""
        return LaterStart.from_json(self.maintained.metadata.extra)

    @property
    def unknown(self) -> list[list[int]]:
        """The instants [since, until) at which the answer, once published, is unknown."""
        before = [] if self.published is None else unknown_instants(self.published.metadata)
        start = self.later_start
        if not self.rebuilt or start is None or start.unknown_from == start.begins:
            return before
        return [*before, [start.unknown_from, start.begins]]

    @property
    def snapshot(self) -> int:
        """The version of the embedding table to read."""
        return self.maintained.snapshot

    @property
    def from_epoch(self) -> int:
        """The epoch before the first one to publish; if `rebuilt`, the epoch before the base."""
        if self.rebuilt or self.published is None:
            return self.maintained.metadata.base - 1
        return self.published.epoch

    @property
    def to_epoch(self) -> int:
        """The watermark of the embedding table."""
        return self.maintained.epoch

    @property
    def is_to_publish(self) -> bool:
        """Whether anything is to be published, be it that the watermark moves."""
        return self.rebuilt or self.to_epoch > self.from_epoch

    @property
    def has_rows(self) -> bool:
        """Whether there may be rows to publish; if not, only the watermark moves."""
        return self.rebuilt or self.maintained.metadata.watermark > self.from_epoch

    @property
    def rows_before(self) -> int:
        """The number of rows of the answer at `from_epoch`; 0 if `rebuilt`."""
        return 0 if self.rebuilt else self.rows_published

    @property
    def rows_published(self) -> int:
        """The number of rows of the published answer."""
        return 0 if self.published is None else int(self.published.metadata.extra["rows"])

    @property
    def is_first_of_text(self) -> bool:
        """Whether no answer of the present text of the query is published yet."""
        return self.mode in ("initial", "edited")

    @property
    def state_at(self) -> int | None:
        """The epoch whose state is published as a whole; None if each row has its own epoch."""
        if self.as_one_state:
            return self.to_epoch
        if not self.rebuilt or self.published is None:
            return None
        return max(self.maintained.metadata.base, self.published.epoch)

    @property
    def difference_at(self) -> int | None:
        """The epoch at which a difference to the published answer is published; None if none is."""
        return None if self.published is None else self.state_at

    @property
    def since(self) -> int | None:
        """The first epoch with an answer of this text; None if it is the base."""
        if self.as_one_state:
            return self.to_epoch
        if self.published is None or self.is_first_of_text:
            return None
        since = self.published.metadata.extra.get(SINCE)
        return None if since is None else int(since)

    def of_services(self) -> Self:
        """The backlog as a query with SERVICE publishes it.

        While remotes are being asked for the first time, its embeddings are incomplete, so the
        first publication is one state, without the epochs before it. Answers over streams have new
        keys at every instant and are published as usual.
        """
        return replace(self, as_one_state=self.is_first_of_text and not self.is_over_streams)

    @property
    def mode(self) -> str:
        """The mode in the ledger: `initial`, `incremental`, `edited` or `rebased`."""
        if self.published is None:
            return "initial"
        if not self.rebuilt:
            return "incremental"
        old, new = self.published.metadata, self.maintained.metadata
        return "edited" if old.fingerprint != new.fingerprint else "rebased"


def columns_of(metadata: Metadata) -> tuple[tuple[str, int], ...]:
    """The published columns that a commit names: (name, number of the variable)."""
    return tuple((name, number) for name, number in metadata.extra["columns"])


def unknown_instants(published: Metadata) -> list[list[int]]:
    """The instants [since, until) at which a published answer is unknown.

    Events that they need had been deleted before they were evaluated.
    """
    return [*published.extra.get(UNKNOWN, ())]


def answered_since(published: Metadata) -> int:
    """The first epoch at which the published version of the query has an answer."""
    return int(published.extra.get(SINCE, published.base))


def backlog_of(
    lake: Lake, query: str, maintained: Watermark | None, published: Watermark | None
) -> Backlog | None:
    """What a query has to publish; None if it is complete, or not maintained yet.

    Args:
        lake: that the watermarks were read from.
        query: its name.
        maintained: how far the embedding table is complete.
        published: how far the answer table is.
    """
    if maintained is None:
        return None
    if published is not None and maintained.epoch < published.epoch:
        # A query over streams is recomputed leg by leg, and has not caught up yet.
        return None
    table = EMBEDDINGS.name(query)
    reason = _why_rebuilt(lake, table, maintained, published)
    backlog = Backlog(
        query=query,
        maintained=maintained,
        published=published,
        rebuilt=reason is not None,
        reason=reason or "",
    )
    return backlog if backlog.is_to_publish else None


def _why_rebuilt(
    lake: Lake, table: str, maintained: Watermark, published: Watermark | None
) -> str | None:
    if published is None:
        return "nothing was published before"
    old, new = published.metadata, maintained.metadata
    if old.fingerprint != new.fingerprint:
        return "it was edited"
    published_from = int(old.extra["embeddings_version"])
    if published_from == REPAIRED:
        return "the published rows were repaired"
    if old.base != new.base or _was_replaced(lake, table, published_from, maintained.version):
        return f"the embeddings were recomputed at epoch {new.base}"
    return None


def _was_replaced(lake: Lake, table_name: str, after: int, last: int) -> bool:
    """Whether a commit after the version `after`, up to `last`, replaced all rows."""
    # Usually there is no later commit, and the table need not be opened.
    for commit in lake.commits(table_name) if after < last else ():
        if commit["version"] <= after:
            return False
        if commit["version"] > last:
            continue
        metadata = Metadata.from_json(commit.get("userMetadata"))
        if metadata is not None and metadata.job == "maintain" and metadata.mode in WHOLE_STATE:
            return True
    return False
