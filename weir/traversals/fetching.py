"""Asks for the pages of a traversal over HTTP (`weir.traversals.evaluation.Fetch`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from weir.rdf.media_types import ACCEPT, format_of_type
from weir.remotes.budget import Amount
from weir.remotes.http.caching import conditions, renewed, stored
from weir.remotes.http.iri_urls import origin_of, redirect_url, url_of
from weir.remotes.http.links import read_links
from weir.remotes.http.outcomes import REFUSALS, Failure, FailureKind
from weir.remotes.http.pages import Credential, Manner, Page
from weir.remotes.http.request import Secret
from weir.remotes.http.robots import READ_BYTES, robots_of
from weir.remotes.http.urls import UrlError
from weir.text.durations import duration_seconds, parse_duration
from weir.traversals.declarations import Traversal
from weir.traversals.evaluation import Ask, Came
from weir.traversals.frontier import hosts_of
from weir.traversals.known import (
    Answer,
    Content,
    Failed,
    Fault,
    Missing,
    NotModified,
    Redirect,
)
from weir.traversals.known_robots import KnownRobots
from weir.traversals.messages import FetchTask, PoolOptions
from weir.traversals.pool import Fetched, Pool
from weir.traversals.reading import ACCEPT_HTML, Reading, ReadingOptions, options_text
from weir.traversals.rules import Link
from weir.traversals.search import MOST_REDIRECTS, host_of
from weir.traversals.turns import OVERTIME

AGENT = "Weir"
_MOST_SECONDS, _FEW_SECONDS = 30.0, 5.0
"""Of one request: at most, and at least where the budget has too few for all hosts at once."""
_HEADERS = 4_096
"""Bytes of a request and the head of an answer, beside its body."""
_REFUSED_SECONDS = timedelta(days=1).total_seconds()
"""For so long a page is left alone that may not be asked for."""
_RELATIONS = ("describedby", "alternate")
"""Link relations from what is no RDF to a description of it."""
_FAULTS: Mapping[FailureKind, Fault] = {
    **dict.fromkeys(REFUSALS, "refused"),
    "too_many_bytes": "too_large",
    "too_much_decoded": "too_large",
    "too_much_memory": "too_large",
}


@dataclass(frozen=True, slots=True)
class _Place:
    """A page, and where it is asked for."""

    ask: Ask
    url: str
    origin: str


@dataclass(slots=True)
class PageFetcher:
    """Sends the requests of an evaluation.

    Attributes:
        traversal: how it is asked.
        pool: the child process.
        origins: to which the secret is sent: those of the declared seeds, not of answers.
        may_ask: whether the host of an IRI belongs to the traversal.
        authorization: the header, None without one.
        clock: the time.
        robots: the rules of origins.
    """

    traversal: Traversal
    pool: Pool
    origins: frozenset[str]
    may_ask: Callable[[str], bool]
    authorization: Secret | None
    clock: Callable[[], datetime]
    robots: KnownRobots = field(default_factory=lambda: KnownRobots(None))
    _unreadable: set[str] = field(default_factory=set)
    _refusals: dict[str, Failure] = field(default_factory=dict)

    def __call__(self, asks: Sequence[Ask], most: Amount) -> Iterator[Came]:
        """Ask for pages, and before that for robots.txt where it is needed."""
        places: list[_Place] = []
        for ask in asks:
            try:
                url = url_of(ask.iri)
                places.append(_Place(ask, url, origin_of(url)))
            except UrlError as error:
                yield self._refused(ask, str(error), "refused", "url_refused")
        # The same time for all: rules do not end between two looks at them.
        now, left = self.clock(), most
        if self.traversal.robots:
            for came in self._read_robots({place.origin for place in places}, most, now):
                left = left.less(came.took)
                yield came
        allowed = []
        for place in places:
            if self._may_fetch(place, now):
                allowed.append(place)
            elif refusal := self._refusals.get(place.origin):
                yield self._refused(place.ask, refusal.reason, "refused", refusal.kind)
            elif place.origin in self._unreadable:
                yield self._came_not(place.ask, None, "robots")
            elif self.robots.of(place.origin, now):
                yield self._refused(place.ask, "robots.txt does not allow it", "robots", "robots")
        tasks = [self._task(i, place, now) for i, place in enumerate(allowed[: left.requests])]
        for fetched in self.pool.fetch(tasks, left.bytes, left.seconds):
            place, task = allowed[fetched.task.id], tasks[fetched.task.id]
            if fetched.is_unpaid:
                continue
            answer, reading = None, None
            if not self._says_nothing(task, fetched):
                answer, reading = self._answer(place, fetched)
            yield self._came(place.ask.iri, answer, reading, fetched)

    def _may_fetch(self, place: _Place, now: datetime) -> bool:
        """Whether a page may be asked for; not before robots.txt of its origin is known."""
        if not self.traversal.robots:
            return True
        known = self.robots.of(place.origin, now)
        return known is not None and known.may_fetch(place.url, AGENT)

    def _task(self, number: int, place: _Place, now: datetime) -> FetchTask:
        own, ask = self.traversal, place.ask
        validity = ask.known.validity if ask.known.is_document else None
        credential = None
        if self.authorization is not None and place.origin in self.origins:
            credential = Credential(place.origin, self.authorization)
        pause = duration_seconds(own.pause) or 0.0
        if own.robots and (known := self.robots.of(place.origin, now)):
            pause = max(pause, known.crawl_delay(AGENT))
        return FetchTask(
            number,
            ask.iri,
            place.url,
            self._accept,
            own.limits.document_bytes + _HEADERS,
            self._seconds,
            own.limits.document_bytes,
            () if validity is None else conditions(validity, self._accept),
            credential,
            pause,
        )

    @property
    def _seconds(self) -> float:
        """The most that one request may take, so that all hosts can be asked at once."""
        # Half of the budget is given out at a time.
        share = self.traversal.budget.seconds / 2 / self.pool.hosts - OVERTIME
        return min(max(share, _FEW_SECONDS), _MOST_SECONDS)

    @property
    def _accept(self) -> str:
        return ACCEPT_HTML if "html" in self.traversal.formats else ACCEPT

    def _read_robots(self, origins: Iterable[str], most: Amount, now: datetime) -> Iterator[Came]:
        """Read robots.txt of the origins whose rules are not known, as far as an amount allows."""
        left = most
        unknown = {
            origin: f"{origin}/robots.txt"
            for origin in sorted(origins)
            if self.robots.of(origin, now) is None
        }
        for hop in range(MOST_REDIRECTS + 1):
            names = [*unknown][: left.requests]
            tasks = [
                FetchTask(
                    number,
                    unknown[name],
                    unknown[name],
                    "text/plain",
                    READ_BYTES + _HEADERS,
                    self._seconds,
                    READ_BYTES,
                    unread=True,
                )
                for number, name in enumerate(names)
            ]
            redirected: dict[str, str] = {}
            for fetched in self.pool.fetch(tasks, left.bytes, left.seconds):
                origin, outcome = names[fetched.task.id], fetched.outcome
                came = self._came(fetched.task.iri, None, None, fetched)
                left = left.less(came.took)
                target = _target(fetched.task.url, outcome)
                if self._says_nothing(tasks[fetched.task.id], fetched):
                    pass
                elif target is not None and hop < MOST_REDIRECTS and self.may_ask(target):
                    redirected[origin] = target
                elif isinstance(outcome, Failure) and outcome.kind in REFUSALS and hop == 0:
                    self._refusals[origin] = outcome
                elif _is_readable(outcome):
                    self.robots.note(origin, robots_of(outcome), now)
                else:
                    self._unreadable.add(origin)
                    came = replace(came, unreadable=host_of(origin))
                yield came
            unknown = redirected
            if not unknown:
                return

    def _came(
        self, iri: str, answer: Answer | None, reading: Reading | None, fetched: Fetched
    ) -> Came:
        outcome, usage = fetched.outcome, fetched.usage
        requests = int(fetched.asked_at is not None)
        came = Came(
            iri,
            answer,
            reading,
            outcome.status,
            Amount(requests, 0, usage.sent + usage.received, usage.seconds),
            "answered",
            usage.peer,
            fetched.asked_at or fetched.answered_at or self.clock(),
        )
        if not isinstance(outcome, Failure):
            return came
        wait = outcome.retry_after or 0.0
        return replace(came, outcome=outcome.kind, retry_after=wait, reason=outcome.reason)

    def _answer(self, place: _Place, fetched: Fetched) -> tuple[Answer, Reading | None]:
        ask, url = place.ask, place.url
        at = fetched.answered_at or self.clock()
        outcome, own = fetched.outcome, self.traversal
        recheck = timedelta(microseconds=parse_duration(own.recheck_after))
        ttl = timedelta(microseconds=parse_duration(own.redirect_ttl))
        if isinstance(outcome, Failure):
            fault = _FAULTS.get(outcome.kind, "failed")
            return Failed(outcome.reason, outcome.retry_after or 0.0, fault), None
        match outcome.status:
            case 200:
                value = fetched.value or {}
                if value.get("fault") == "not_rdf":
                    link = _described_by(url, outcome.headers, self.may_ask)
                    if link is not None:
                        return Redirect(link, (at + ttl).timestamp(), by_header=True), None
                if "fault" in value:
                    return Failed(value["reason"], fault=value["fault"]), None
                reading = reading_of(value)
                validity = stored(outcome.headers, self._accept, at, recheck)
                statements = reading.statements
                return Content(reading.digest, reading.links, validity, statements), reading
            case 304 if ask.known.validity is not None:
                return NotModified(renewed(ask.known.validity, outcome.headers, at, recheck)), None
            case 404 | 410:
                recheck_at = (at + recheck).timestamp()
                return Missing(outcome.status == 410, recheck_at), None
            case status if 300 <= status < 400:
                target = _target(url, outcome)
                if target is None:
                    return Failed(f"the server answered {status} without a usable Location"), None
                return Redirect(target, (at + ttl).timestamp()), None
            case status:
                return Failed(f"the server answered {status}"), None

    def _says_nothing(self, wanted: FetchTask, fetched: Fetched) -> bool:
        """Whether an end says nothing of what was asked for, since too little was left for it.

        So it is, too, if nothing was sent because of how other requests to the host ended, or if
        another document ended the child process. What takes more than a quarter of the budget has
        failed: it will not fit the next time either.
        """
        budget, task = self.traversal.budget, fetched.task
        if not isinstance(fetched.outcome, Failure):
            return False
        match fetched.outcome.kind:
            case "url_refused":
                return False
            case "interrupted":
                return True
            case _ if fetched.asked_at is None:
                return True
            case "too_many_bytes":
                return task.most_bytes < min(wanted.most_bytes, budget.bytes // 4)
            case "deadline_passed":
                return task.seconds < min(wanted.seconds, budget.seconds / 4)
            case _:
                return False

    def _refused(self, ask: Ask, reason: str, fault: Fault, kind: str) -> Came:
        """What comes of a page that is not asked for."""
        return self._came_not(ask, Failed(reason, _REFUSED_SECONDS, fault), kind)

    def _came_not(self, ask: Ask, answer: Answer | None, kind: str) -> Came:
        return Came(ask.iri, answer, None, None, Amount(), kind, "", self.clock())


@contextmanager
def page_fetcher(
    traversal: Traversal,
    options: ReadingOptions,
    seeds: Sequence[str],
    authorization: Secret | None,
    clock: Callable[[], datetime],
    ca_file: str = "",
    robots: Path | None = None,
) -> Iterator[PageFetcher]:
    """A fetcher, whose child process ends with the block; `robots` is its `KnownRobots.folder`."""
    manner = Manner(traversal.contact, traversal.allow, traversal.ports, ca_file)
    with Pool(PoolOptions(manner, options_text(options)), clock) as pool:
        origins = frozenset(origin_of(url_of(seed)) for seed in traversal.own_seeds)
        may_ask = hosts_of(traversal.hosts, seeds)
        known = KnownRobots(robots)
        yield PageFetcher(traversal, pool, origins, may_ask, authorization, clock, known)


def reading_of(value: Mapping[str, Any]) -> Reading:
    """What the child read."""
    links = tuple(Link(*link) for link in value["links"])
    statements = tuple((iri, term) for iri, term in value["statements"])
    return Reading(
        value["lines"], value["digest"], links, value["media_type"], value["tampered"], statements
    )


def _is_readable(answer: Page | Failure) -> bool:
    """Whether it is known what robots.txt says: 5xx, no answer and 429 say nothing (section 2.3.1).

    https://www.rfc-editor.org/rfc/rfc9309
    """
    if isinstance(answer, Page):
        return True
    is_refused = answer.status is not None and 400 <= answer.status < 500
    return is_refused and answer.kind != "throttled"


def _target(url: str, answer: Page | Failure) -> str | None:
    """The IRI that a redirect names; None if it is none, or its target cannot be asked for."""
    if isinstance(answer, Failure) or not 300 <= answer.status < 400 or answer.status == 304:
        return None
    try:
        return redirect_url(url, answer.headers.get("location", ""))
    except UrlError:
        return None


def _described_by(
    url: str, headers: Mapping[str, str], may_ask: Callable[[str], bool]
) -> str | None:
    """The IRI of the document that describes what is no RDF, by its Link header; None without one.

    `describedby` comes before `alternate`, which has to say that it is RDF: as most servers use it,
    it is another page, or one in another language. A host that may be asked comes before others.
    """
    described = []
    for link in read_links(headers.get("link", ""), url):
        is_rdf = format_of_type(link.type, urlsplit(link.target).path) is not None
        is_open = link.rel == "describedby" and not link.type
        if link.rel in _RELATIONS and (is_rdf or is_open) and link.target != url:
            described.append((not may_ask(link.target), _RELATIONS.index(link.rel), link.target))
    return min(described, key=lambda link: link[:2])[2] if described else None
