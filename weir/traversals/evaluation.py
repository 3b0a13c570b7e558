"""One evaluation of a traversal: ask for what the search comes to, commit rounds of what came.

| committed | killed after it, the next run |
| --- | --- |
| `requests`: reserved, one amount for a chunk of requests | counts it as spent |
| `requests`: settled | knows what was spent; the pages are asked for again |
| `documents/<name>`: a round | goes on with what it knows; ingest takes the round |
| `documents/<name>`: the last round | has nothing to ask for |

A round that is not the last never takes a document out of the dataset: what another link would
have led to may not be known yet.
"""

from __future__ import annotations

import math
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from weir.lake.counted import counted
from weir.lake.instants import microseconds, seconds_since_1970
from weir.lake.lake import Lake
from weir.remotes.budget import Amount, spent
from weir.remotes.inbox import in_mark
from weir.remotes.policies.candidates import Candidate, Evaluation
from weir.remotes.policies.election import elect
from weir.remotes.request_log import EvaluationLog, shown_url, version_of_requests
from weir.stage import Progress, silent
from weir.text.durations import parse_duration
from weir.traversals.declarations import Declared
from weir.traversals.freshness import EndedEvaluation, freshness_rows
from weir.traversals.frontier import Frontier, Traversal, hosts_of
from weir.traversals.hints import statements_of
from weir.traversals.hosts import Hosts
from weir.traversals.inbox import (
    NOT_ASKED,
    DocumentMark,
    Page,
    contents_of,
    document_inbox,
    outcomes_of,
    pages_of,
    quads_of,
    row_of,
    summarize,
)
from weir.traversals.known import UNKNOWN, Answer, Change, Known
from weir.traversals.reading import Reading, triples_of
from weir.traversals.rules import Rules
from weir.traversals.search import Reach, SearchLimits, host_of

CHUNK = 100
"""Most requests that are reserved as one amount."""
ROUND_PAGES, ROUND_SHARE = 500, 0.1
"""After so many pages a round is committed, but no less than this share of all that are known: a
round takes a search over these.
"""
ROUND_SECONDS, ROUND_BYTES = 30.0, 64 << 20
"""After so long, or with so much on the wire, it is committed, too."""
_LEAST_SECONDS = 0.5
"""With less time left no request is sent."""
_LEAST_BYTES = 2_000


@dataclass(frozen=True, slots=True)
class Ask:
    """A page to ask for, and what is known of it, for conditions."""

    iri: str
    known: Known


@dataclass(frozen=True, slots=True)
class Came:
    """What came of a request.

    Attributes:
        iri: the page.
        answer: what it means for the page; None if nothing: it is robots.txt, its host is to be
            left alone, or less was left for it than it may take.
        reading: what the document holds; None if there is none.
        status: of HTTP; None if none came.
        took: requests, bytes and seconds.
        outcome: answered, or the kind of failure.
        peer: network address that it was sent to; empty if to none.
        started_at: when it was sent.
        retry_after: seconds for which the server asks to be left alone.
        unreadable: the host whose robots.txt it is, if it could not be read; else empty.
        reason: why there is no answer; empty if there is one.
    """

    iri: str
    answer: Answer | None
    reading: Reading | None
    status: int | None
    took: Amount
    outcome: str
    peer: str
    started_at: datetime
    retry_after: float = 0.0
    unreadable: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class _Taken:
    """What came of a page, what it was beside what was known, and the id of its request."""

    came: Came
    change: Change
    request_id: str


Fetch = Callable[[Sequence[Ask], Amount], Iterable[Came]]
"""Asks for pages within an amount, and gives what came of every request, in the order in which it
came. A page for which nothing of the amount was left does not come, or with nothing taken.
"""


@dataclass(slots=True)
class TraversalEvaluation:
    """An evaluation.

    Attributes:
        declared: the traversal.
        rules: which links are followed.
        seeds: IRIs.
        lake: has the inbox.
        log: of the requests.
        fetch: asks for pages.
        now: the time.
        progress: receives a line per round.
        asked: the pages that were asked for with the outcome of each, those of a run that was
            killed among them.
    """

    declared: Declared
    rules: Rules
    seeds: tuple[str, ...]
    lake: Lake
    log: EvaluationLog
    fetch: Fetch
    now: Callable[[], datetime]
    progress: Progress = silent
    asked: dict[str, str] = field(default_factory=dict)
    _pages: dict[str, Page] = field(default_factory=dict)
    _taken: dict[str, _Taken] = field(default_factory=dict)
    _mark: DocumentMark | None = None
    _began: float = 0.0
    _spent: Amount = field(default_factory=Amount)
    _until: float = math.inf

    def run(self) -> DocumentMark:
        """Evaluate, and return the mark of the last round."""
        name = self.declared.traversal.name
        last = document_inbox(name).last(self.lake)
        self._mark = last.mark if last else None
        self._pages = pages_of(self.lake, name)
        if self._mark is not None and self._is_of_this_evaluation(self._mark):
            self.asked = outcomes_of(self.lake, name, self.log.evaluation)
        self._spent = spent(self.log.entries())
        frontier = self._frontier()
        if self._mark is not None and self._mark.rules != self._read_by:
            self._read_again(frontier)
        stop = self._ask(frontier)
        reach = frontier.finish(self._seconds())
        not_fetched = self._not_fetched(frontier, reach)
        if "budget" in not_fetched:
            stop = "budget"
        mark = self._commit(frontier, stop, reach, not_fetched)
        summarize(self.lake, name, self._pages, self.log.run_id)
        return mark

    def _is_of_this_evaluation(self, mark: DocumentMark) -> bool:
        return mark.evaluation == microseconds(self.log.evaluation)

    def _frontier(self) -> Frontier:
        own = self.declared.traversal
        limits = SearchLimits(own.limits.depth, own.limits.documents, own.limits.per_host)
        traversal = Traversal(
            self.seeds,
            self.rules,
            limits,
            hosts_of(own.hosts, self.seeds),
            parse_duration(own.keep_unreachable) / 1_000_000,
            own.gone_after,
            parse_duration(own.recheck_after) / 1_000_000 if own.hints else 0.0,
        )
        return Frontier(
            traversal,
            {iri: page.known for iri, page in self._pages.items()},
            {iri: page.member for iri, page in self._pages.items() if page.member},
            frozenset(iri for iri, page in self._pages.items() if page.is_suspect),
            Hosts.read(self._mark.hosts if self._mark else {}),
        )

    def _ask(self, frontier: Frontier) -> str:
        """Ask for waves of pages; returns why it ended: done or budget."""
        self._began = time.monotonic()
        self._until = self._began + self._left().seconds
        while wave := frontier.wave(self._seconds()):
            wanted = self._in_order(frontier, wave)
            if not wanted:
                return "budget"
            while wanted:
                left = self._left()
                number = min(CHUNK, left.requests, left.bytes // _LEAST_BYTES, len(wanted))
                if number <= 0 or left.seconds < _LEAST_SECONDS:
                    return "budget"
                chunk, wanted = wanted[:number], wanted[number:]
                asks = [Ask(iri, frontier.known.get(iri, UNKNOWN)) for iri in chunk]
                fetched = self._fetched(asks, left)
                if not fetched:
                    return "budget"
                for request_id, came in fetched:
                    self._take(frontier, request_id, came)
                wanted = frontier.hosts.admitted(wanted, self._seconds())
                if self._is_round(len(frontier.known)):
                    frontier.grow()
                    self._commit(frontier)
        return "done"

    def _is_round(self, known: int) -> bool:
        """Whether what came is to be committed."""
        pages = len(self._taken)
        bytes_ = sum(taken.came.took.bytes for taken in self._taken.values())
        is_late = time.monotonic() - self._began > ROUND_SECONDS
        return pages >= max(ROUND_PAGES, ROUND_SHARE * known) or is_late or bytes_ >= ROUND_BYTES

    def _take(self, frontier: Frontier, request_id: str, came: Came) -> None:
        now = self._seconds()
        if came.unreadable:
            frontier.hosts.leave_alone(came.unreadable, came.retry_after, now, came.reason)
        if came.answer is None:
            # What another document interrupted is asked for once more; that one was answered.
            if came.outcome != "interrupted":
                frontier.pass_over(came.iri)
            return
        if came.took.requests:
            host = host_of(came.iri)
            frontier.hosts.note(host, came.outcome, came.retry_after, now, came.reason)
        change = frontier.take(came.iri, came.answer, now)
        self._taken[came.iri] = _Taken(came, change, request_id)

    def _in_order(self, frontier: Frontier, wave: Sequence[str]) -> list[str]:
        """The pages of a wave in the order to ask for them, by the policy.

        All are there if the requests suffice; bytes or seconds may not.
        """
        own = self.declared.traversal
        candidates, of_host = [], Counter[str]()
        for iri in wave:
            known, host = frontier.known.get(iri, UNKNOWN), host_of(iri)
            asked_at = known.asked_at if known.first_at else None
            # Hosts take turns, so that one with many pages keeps no other one waiting.
            of_host[host] += 1
            candidates.append(Candidate(iri, asked_at, interval=known.interval, tie=of_host[host]))
        at = Evaluation(self._seconds(), None, own.every_us / 1_000_000)
        budget = min(len(wave), self._left().requests)
        elected = [chosen.key for chosen in elect(own.rule, candidates, at, budget)]
        if budget == len(wave):
            return [*dict.fromkeys((*elected, *wave))]
        # The other half is for what the pages of other hosts lead to.
        return _at_most_of_host(elected, -(-budget // 2))

    def _left(self) -> Amount:
        """What is left of the budget."""
        budget = self.declared.traversal.budget
        most = Amount(budget.requests, budget.requests, budget.bytes, budget.seconds)
        left = most.less(self._spent)
        # Hosts that want to be left alone between two requests make it no longer.
        return replace(left, seconds=min(left.seconds, max(self._until - time.monotonic(), 0.0)))

    def _fetched(self, asks: Sequence[Ask], most: Amount) -> list[tuple[str, Came]]:
        """Reserve an amount, ask within it, and settle it by what each request took.

        What came has the id of its request, in `requests`; an empty one if none was sent.
        """
        chunk = uuid.uuid4().hex
        now = self.now()
        # One more for each host: its robots.txt. Of bytes and seconds, half of what is left: if the
        # run is killed, the next one has the other half.
        hosts = len({host_of(ask.iri) for ask in asks})
        requests = min(len(asks) + hosts, most.requests)
        share = Amount(
            requests,
            requests,
            max(most.bytes // 2, _LEAST_BYTES),
            max(most.seconds / 2, _LEAST_SECONDS),
        )
        reserved = self.log.row(chunk, "reserved", share) | self._at("", now, None)
        self.log.append([reserved])
        came = [
            (f"{chunk}-{n}" if one.answer is not None or one.took.requests else "", one)
            for n, one in enumerate(self.fetch(asks, share), 1)
        ]
        settled: list[Mapping[str, Any]] = []
        for id_, one in came:
            if id_:
                took = replace(one.took, keys=one.took.requests)
                self._spent += took
                row = self.log.row(id_, "settled", took)
                settled.append(row | self._at(one.iri, one.started_at, one))
        nothing = self.log.row(chunk, "settled", Amount()) | self._at("", now, None)
        self.log.append([*settled, nothing])
        return came

    def _at(self, iri: str, started_at: datetime, came: Came | None) -> dict[str, Any]:
        return {
            # Of an amount for several requests there is no address.
            "host": host_of(iri) or None,
            "url": shown_url(iri) if iri else None,
            "method": "GET" if came else None,
            "peer": came.peer or None if came else None,
            "status": came.status if came else None,
            "outcome": came.outcome if came else None,
            "reason": (getattr(came.answer, "reason", "") or came.reason or None) if came else None,
            "attempt": 1,
            "started_at": started_at,
        }

    def _commit(
        self,
        frontier: Frontier,
        stop: str = "",
        reach: Reach | None = None,
        not_fetched: Mapping[str, int] | None = None,
    ) -> DocumentMark:
        """Commit a round of what came since the last one, and of the pages that it changes.

        Args:
            frontier: the evaluation.
            stop: why it ended.
            reach: what a search comes to at its end; None before.
            not_fetched: by reason, IRIs that were not gone to.
        """
        before = self._mark
        number = before.round + 1 if before else 1
        rows = self._rows(frontier, number)
        self.asked |= {row["iri"]: row["outcome"] for row in rows if row["outcome"] != NOT_ASKED}
        is_changed = any(row["inserted"] or row["deleted"] for row in rows)
        changed_before = before.changed_round if before else 0
        mark = DocumentMark(
            number,
            microseconds(self.log.evaluation),
            number if is_changed else changed_before,
            changed_before,
            version_of_requests(self.lake),
            is_last=reach is not None,
            stop=stop,
            not_fetched=dict(not_fetched or {}),
            documents=len(frontier.members),
            rules=self._read_by,
            hosts=frontier.hosts.kept(),
            freshness=self._freshness(frontier, number, stop, reach) if reach else (),
        )
        inbox = document_inbox(self.declared.traversal.name)
        inbox.append(self.lake, mark, rows, self.log.run_id)
        self._mark, self._taken = mark, {}
        asked = counted(len(self.asked), "page")
        self.progress(f"round {number}: {asked} asked for, {mark.documents:,} documents")
        self._began = time.monotonic()
        return mark

    def _not_fetched(self, frontier: Frontier, reach: Reach) -> dict[str, int]:
        """By reason, IRIs that were not gone to, and pages that were never answered."""
        numbers: Counter[str] = Counter()
        for (reason, _), number in reach.left_out.items():
            numbers[reason] += number
        now = self._seconds()
        for iri in reach.asked:
            if not frontier.known.get(iri, UNKNOWN).first_at:
                is_left_alone = frontier.hosts.is_left_alone(iri, now)
                numbers["left_alone" if is_left_alone else "budget"] += 1
        return dict(numbers)

    def _freshness(
        self, frontier: Frontier, number: int, stop: str, reach: Reach
    ) -> tuple[Mapping[str, Any], ...]:
        ended = EndedEvaluation(
            number,
            self.log.evaluation,
            self._seconds(),
            frontier.known,
            frontier.members,
            reach.asked,
            self.asked,
            frontier.hinted,
            reach.left_out,
            frontier.hosts,
            spent(self.log.entries()),
            stop,
        )
        rows = freshness_rows(self.declared.traversal, ended, self.log.run_id)
        return tuple(map(in_mark, rows))

    def _rows(self, frontier: Frontier, number: int) -> list[dict[str, Any]]:
        """The rows of a round: pages that were asked for, then those that changed otherwise."""
        changed = [
            iri
            for iri in sorted(frontier.touched)
            if iri not in self._taken and self._after(frontier, iri, number) != self._pages.get(iri)
        ]
        frontier.touched.clear()
        touched = {iri: self._after(frontier, iri, number) for iri in (*self._taken, *changed)}
        contents = self._contents(touched)
        rows = []
        for ordinal, (iri, page) in enumerate(touched.items(), 1):
            inserted, deleted = self._difference(iri, page, contents)
            rows.append(
                row_of(iri, page)
                | self._what_came(iri, page, number)
                | {
                    "round": number,
                    "ordinal": ordinal,
                    "evaluation": self.log.evaluation,
                    "inserted": inserted or None,
                    "deleted": deleted or None,
                    "run_id": self.log.run_id,
                }
            )
            self._pages[iri] = page
        return rows

    def _what_came(self, iri: str, page: Page, number: int) -> dict[str, Any]:
        """The columns about the request for a page."""
        taken = self._taken.get(iri)
        if taken is None:
            nothing = ("status", "media_type", "bytes", "content", "request_id")
            return {"outcome": NOT_ASKED, **dict.fromkeys(nothing)}
        outcome: str = taken.change
        if outcome == "gone" and page.known.is_document:  # it is not believed yet
            outcome = "suspect" if page.is_suspect else "missing"
        reading = taken.came.reading
        is_new = reading is not None and page.content_round == number
        return {
            "outcome": outcome,
            "status": taken.came.status,
            "media_type": reading.media_type if reading else None,
            "bytes": taken.came.took.bytes,
            "content": reading.lines if reading and is_new else None,
            "request_id": taken.request_id,
        }

    def _after(self, frontier: Frontier, iri: str, number: int) -> Page:
        """A page as it is known after the round."""
        before, known = self._pages.get(iri), frontier.known[iri]
        content_round = before.content_round if before and known.is_document else 0
        reading = self._reading(iri)
        if reading is not None and known.digest == reading.digest:
            is_new = before is None or before.known.digest != known.digest
            content_round = number if is_new else content_round
        is_suspect = iri in frontier.suspects
        return Page(known, frontier.members.get(iri), is_suspect, content_round)

    def _reading(self, iri: str) -> Reading | None:
        """What a page holds that came since the last round."""
        taken = self._taken.get(iri)
        return taken.came.reading if taken else None

    def _contents(self, touched: Mapping[str, Page]) -> dict[tuple[str, int], str]:
        """The content of pages by IRI and round, as far as a difference needs it."""
        wanted: dict[str, int] = {}
        contents: dict[tuple[str, int], str] = {}
        for iri, page in touched.items():
            reading = self._reading(iri)
            if reading is not None:
                contents[iri, page.content_round] = reading.lines
            before = self._pages.get(iri)
            if before is not None and _adds_or_removes(before, page):
                wanted[iri] = before.content_round
        stored = contents_of(self.lake, self.declared.traversal.name, wanted)
        return {(iri, wanted[iri]): text for iri, text in stored.items()} | contents

    def _difference(
        self, iri: str, page: Page, contents: Mapping[tuple[str, int], str]
    ) -> tuple[str, str]:
        """The quads that appear and vanish, as N-Quads."""
        before = self._pages.get(iri)
        had, has = self._quads(iri, before, contents), self._quads(iri, page, contents)
        return _lines(has - had), _lines(had - has)

    def _quads(
        self, iri: str, page: Page | None, contents: Mapping[tuple[str, int], str]
    ) -> frozenset[str]:
        if page is None or page.member is None or not page.known.is_document:
            return frozenset()
        # Nothing is read of a page whose content is the same before and after.
        content = contents.get((iri, page.content_round), "")
        name = self.declared.traversal.name
        return frozenset(quads_of(name, iri, content, page.member.aliases))

    @property
    def _read_by(self) -> str:
        """What links and hints are read by: fingerprint of the rules, and predicates."""
        return " ".join((self.rules.fingerprint, *sorted(self.declared.hints())))

    def _read_again(self, frontier: Frontier) -> None:
        """Read links and hints of all contents by the rules of today."""
        rounds = {iri: page.content_round for iri, page in self._pages.items()}
        contents = contents_of(self.lake, self.declared.traversal.name, rounds)
        for iri, text in contents.items():
            triples = triples_of(text)
            stated = statements_of(triples, iri, self.declared.hints())
            frontier.read_again(iri, self.rules.links(triples), stated)

    def _seconds(self) -> float:
        return seconds_since_1970(self.now())


def _adds_or_removes(before: Page, page: Page) -> bool:
    """Whether a round may add triples of a document, or remove them."""
    is_other = before.content_round != page.content_round
    return is_other or (before.member is None) != (page.member is None)


def _at_most_of_host(iris: Iterable[str], most: int) -> list[str]:
    """The first pages of each host, in their order."""
    of_host = Counter[str]()
    kept = []
    for iri in iris:
        host = host_of(iri)
        of_host[host] += 1
        if of_host[host] <= most:
            kept.append(iri)
    return kept


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in sorted(lines))
