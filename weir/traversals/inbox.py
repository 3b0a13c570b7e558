"""The inbox of a traversal: `documents/<name>`, a commit per round.

A row is what is known of a page after a round; the quads that appear and vanish by it stand in the
row itself, so that ingest makes an epoch of a round without reading another one.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, Self

import pyarrow as pa
import pyarrow.dataset as ds

from weir.lake.delta.appended import NotAppended
from weir.lake.delta.commit import write
from weir.lake.delta.metadata import Metadata
from weir.lake.instants import seconds_since_1970, time_at
from weir.lake.lake import Lake
from weir.lake.tables import DOCUMENT_SUMMARIES, DOCUMENTS, document_summary, documents
from weir.rdf.reserved_graphs import about_graph, document_graph
from weir.remotes.http.caching import Stored as StoredHeaders
from weir.remotes.inbox import Inbox, from_mark
from weir.traversals.frontier import Member
from weir.traversals.known import Known
from weir.traversals.reading import DESCRIBED_BY
from weir.traversals.rules import Link
from weir.traversals.search import host_of

NOT_ASKED: Final = "known"
"""The outcome of a page that was not asked for in a round."""
SUMMARY_FORMAT = 2
"""Increased when a summary keeps other rows than before: earlier ones are then unused."""


@dataclass(frozen=True, slots=True)
class DocumentMark:
    """What the commit of a round says of itself. Instants are microseconds since 1970.

    Attributes:
        round: its number, from 1.
        evaluation: the instant of the evaluation.
        changed_round: the newest round up to this one that changes the graph; 0 if none does.
        changed_before: the newest one before this one; 0 if there is none.
        requests_version: of `requests` at the end of the round.
        is_last: whether the evaluation ended with it.
        stop: why it ended: done, budget or refused; empty before the end.
        not_fetched: by reason, IRIs that were not gone to.
        documents: of the dataset.
        rules: fingerprint of the rules by which links were read.
        hosts: those that are left alone, as `weir.traversals.hosts.Hosts.kept` gives them.
        freshness: of the last round of an evaluation, its rows of `freshness`, times as instants.
    """

    round: int
    evaluation: int
    changed_round: int
    changed_before: int
    requests_version: int
    is_last: bool
    stop: str = ""
    not_fetched: Mapping[str, int] = field(default_factory=dict, hash=False)
    documents: int = 0
    rules: str = ""
    hosts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, hash=False)
    freshness: tuple[Mapping[str, Any], ...] = field(default=(), hash=False)

    @property
    def not_before(self) -> None:
        """None: hosts that asked to be left alone are rows of `freshness`."""
        return

    @property
    def address(self) -> str:
        """Empty: see `Traversal.address`."""
        return ""

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows of `freshness` of the evaluation."""
        return [*map(from_mark, self.freshness)]

    @classmethod
    def of(cls, metadata: Metadata) -> Self:
        """From what a commit says."""
        return cls(**{**metadata.extra, "freshness": tuple(metadata.extra["freshness"])})


def document_inbox(traversal: str) -> Inbox[DocumentMark]:
    """The inbox of a traversal."""
    summary = document_summary(traversal)
    return Inbox(documents(traversal), DocumentMark, summary, SUMMARY_FORMAT)


@dataclass(frozen=True, slots=True)
class Page:
    """What a traversal knows of a page after a round.

    Attributes:
        known: what was answered.
        member: as a document of the dataset; None if it is none.
        is_suspect: whether it was said to be gone, and is not believed yet.
        content_round: the newest round that has its content; 0 without one.
    """

    known: Known
    member: Member | None = None
    is_suspect: bool = False
    content_round: int = 0


def pages_of(lake: Lake, traversal: str) -> dict[str, Page]:
    """What is known of each page, by IRI: from the summary and the rounds since."""
    table = lake.open(DOCUMENTS.name(traversal))
    if table is None:
        return {}
    names = document_summary(traversal).column_names
    try:
        _, later = document_inbox(traversal).since_summary(lake, table.version())
        rows = pa.concat_tables(
            [
                lake.rows(DOCUMENT_SUMMARIES.name(traversal), names),
                later.select(names),
            ],
            promote_options="permissive",
        )
    except NotAppended:
        # One of an earlier version lacks columns that were added since.
        stored = {field.name for field in table.schema().fields}
        rows = lake.rows(DOCUMENTS.name(traversal), [name for name in names if name in stored])
    rows = rows.sort_by([("round", "ascending"), ("ordinal", "ascending")])
    return {row["iri"]: _page(row) for row in rows.to_pylist()}


def outcomes_of(lake: Lake, traversal: str, evaluation: datetime) -> dict[str, str]:
    """The outcome of each page that was asked for in an evaluation, by IRI."""
    of_evaluation = [("evaluation", "=", evaluation), ("outcome", "!=", NOT_ASKED)]
    rows = lake.rows(DOCUMENTS.name(traversal), ["iri", "round", "outcome"], of_evaluation)
    return {row["iri"]: row["outcome"] for row in rows.sort_by("round").to_pylist()}


def contents_of(lake: Lake, traversal: str, rounds: Mapping[str, int]) -> dict[str, str]:
    """The content of some pages, by IRI.

    Args:
        lake: has the inbox.
        traversal: its name.
        rounds: by IRI, the round that has the content.
    """
    wanted = {iri: round_ for iri, round_ in rounds.items() if round_}
    if not wanted:
        return {}
    rows = lake.existing(DOCUMENTS.name(traversal)).to_pyarrow_dataset()
    chosen = rows.to_table(
        columns=["iri", "round", "content"],
        filter=ds.field("round").isin(sorted({*wanted.values()}))
        & ds.field("iri").isin(sorted(wanted)),
    )
    return {
        row["iri"]: row["content"] or ""
        for row in chosen.to_pylist()
        if wanted[row["iri"]] == row["round"] and row["content"] is not None
    }


def summarize(lake: Lake, traversal: str, pages: Mapping[str, Page], run_id: str) -> None:
    """Write a new summary if the rounds since the last one are a quarter of it, or more."""
    table = lake.open(DOCUMENTS.name(traversal))
    if table is None:
        return
    version, inbox = table.version(), document_inbox(traversal)
    try:
        _, later = inbox.since_summary(lake, version)
        if 4 * later.num_rows < len(pages):
            return
    except NotAppended:
        pass
    with suppress(NotAppended):
        metadata = inbox.summary_metadata(lake, version, run_id)
        rows = [{**row_of(iri, page), "round": 0, "ordinal": 0} for iri, page in pages.items()]
        write(lake, inbox.summary, rows, metadata, mode="overwrite")


def row_of(iri: str, page: Page) -> dict[str, Any]:
    """The columns of a page that say what is known of it."""
    known, member = page.known, page.member
    validity = known.validity
    return {
        "iri": iri,
        "host": host_of(iri),
        "depth": member.depth if member else None,
        "source": member.source if member else None,
        "is_member": member is not None,
        "aliases": json.dumps(sorted(member.aliases)) if member else None,
        "unreachable_since": _time(member.unreachable_since if member else None),
        "target": known.target or None,
        "by_header": known.by_header,
        "etag": validity.etag or None if validity else None,
        "last_modified": validity.last_modified or None if validity else None,
        "vary": validity.vary or None if validity else None,
        "cache_control": validity.cache_control or None if validity else None,
        "expires_at": validity.expires_at if validity else None,
        "is_heuristic": validity.heuristic if validity else None,
        "accept": validity.accept or None if validity else None,
        "due_at": _time(known.due_at),
        "first_at": _time(known.first_at or None),
        "asked_at": _time(known.asked_at or None),
        "answered_at": _time(known.answered_at or None),
        "answers": known.answers,
        "changes": known.changes,
        "failures": known.failures,
        "misses": known.misses,
        "is_suspect": page.is_suspect,
        "digest": known.digest or None,
        "links": None if known.links is None else _links_text(known.links),
        "content_round": page.content_round or None,
        "reason": known.reason or None,
        "fault": known.fault or None,
        "statements": json.dumps(known.statements) if known.statements else None,
        "hint": known.hint or None,
    }


def _page(row: Mapping[str, Any]) -> Page:
    """The page of a row."""
    links = (
        None if row["links"] is None else tuple(Link(*link) for link in json.loads(row["links"]))
    )
    due_at = _seconds(row["due_at"])
    validity = None
    if links is not None:
        validity = StoredHeaders(
            row["expires_at"].astimezone(UTC),
            bool(row["is_heuristic"]),
            row["etag"] or "",
            row["last_modified"] or "",
            row["vary"] or "",
            row["cache_control"] or "",
            row["accept"] or "",
        )
    known = Known(
        _seconds(row["first_at"]),
        _seconds(row["asked_at"]),
        _seconds(row["answered_at"]),
        due_at,
        links,
        row["digest"] or "",
        row["target"] or "",
        bool(row.get("by_header")),
        validity,
        row["failures"],
        row["misses"],
        row["answers"],
        row["changes"],
        row["reason"] or "",
        row["fault"] or "",
        tuple((iri, term) for iri, term in json.loads(row.get("statements") or "[]")),
        row.get("hint") or "",
    )
    member = None
    if row["is_member"]:
        since = row["unreachable_since"]
        member = Member(
            frozenset(json.loads(row["aliases"])),
            row["depth"],
            row["source"],
            None if since is None else seconds_since_1970(since),
        )
    return Page(known, member, row["is_suspect"], row["content_round"] or 0)


def quads_of(traversal: str, iri: str, content: str, aliases: Collection[str]) -> Iterable[str]:
    """The quads of a document of the dataset, as lines of N-Quads.

    Args:
        traversal: its name.
        iri: the document.
        content: its triples as N-Triples.
        aliases: the IRIs that lead to it.
    """
    graph, about = document_graph(traversal, iri), about_graph(traversal, iri)
    for line in content.splitlines():
        yield f"{line[:-1]}{graph} ."
    for alias in aliases:
        yield f"<{alias}> {DESCRIBED_BY} <{iri}> {about} ."


def _links_text(links: Iterable[Link]) -> str:
    return json.dumps(
        [
            [link.target] if link.step is None else [link.target, link.step, link.subject]
            for link in links
        ]
    )


def _time(seconds: float | None) -> Any:
    return None if seconds is None else time_at(round(seconds * 1_000_000))


def _seconds(time: Any) -> float:
    return 0.0 if time is None else float(seconds_since_1970(time))
