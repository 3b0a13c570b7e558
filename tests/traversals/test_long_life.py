"""Thirty days of a traversal: hosts are down for hours, one is gone for good, documents change.

The servers and the time are simulated; an evaluation costs no more in the last week than in the
first one.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.support.opened import call
from tests.support.projects.project import Project
from tests.traversals.test_stages import held
from weir.compact.stage import delete_commits
from weir.ingest.stage import ingest_changes
from weir.lake.lake import Lake
from weir.lake.tables import DOCUMENT_SUMMARIES, DOCUMENTS, SHARED_TABLES
from weir.lake.upkeep.maintenance import compact_files
from weir.project import Project as OpenProject
from weir.rdf.reserved_graphs import document_graph
from weir.refresh.stage import Surroundings, refresh_remotes
from weir.remotes import freshness_log, inbox, request_log
from weir.remotes.evaluation import Clock
from weir.remotes.fetching import sleep_for
from weir.remotes.http.outcomes import Failure
from weir.remotes.http.pages import Manner, Page
from weir.traversals import evaluation
from weir.traversals import inbox as documents
from weir.traversals.declarations import load_traversals
from weir.traversals.fetching import PageFetcher
from weir.traversals.frontier import hosts_of
from weir.traversals.messages import FetchTask, PoolOptions, Usage
from weir.traversals.pool import Fetched, Pool
from weir.traversals.reading import ReadingOptions, options_text, read
from weir.traversals.search import host_of
from weir.traversals.turns import HostRecord, Turns

pytestmark = pytest.mark.usefixtures("slow")
NAME, DAYS, EVERY = "life", 30, timedelta(hours=6)
START = datetime(2026, 1, 1, tzinfo=UTC)
STEADY, SHAKY, MORTAL, LASTING = "a.example", "b.example", "c.example", "d.example"
HOSTS = (STEADY, SHAKY, MORTAL, LASTING)
PAGES = 12
"""Of each host."""
OUTAGE = timedelta(hours=7)
OUTAGES = tuple(START + timedelta(days=day, minutes=-1) for day in (3, 13, 25))
"""When the shaky host begins to be down."""
DEATH = START + timedelta(days=10)
LIFETIME = timedelta(hours=12)
"""Of documents of the lasting host."""
WARN_AFTER, ERROR_AFTER = timedelta(hours=6), timedelta(days=2)
LATENCY = timedelta(seconds=0.05)
MOST_GROWTH = 1.5


@dataclass(slots=True)
class World:
    """The servers and the time.

    Attributes:
        now: the time; it goes on with each request.
        versions: of the documents.
        served: by IRI, the content that was served or confirmed last, and when.
        requests: that were sent.
    """

    now: datetime = START
    versions: Counter[str] = field(default_factory=Counter)
    served: dict[str, tuple[str, datetime]] = field(default_factory=dict)
    requests: int = 0

    def is_up(self, host: str) -> bool:
        """Whether a host answers now."""
        if host == MORTAL:
            return self.now < DEATH
        return host != SHAKY or not any(at <= self.now < at + OUTAGE for at in OUTAGES)

    def answer(self, task: FetchTask) -> Page | Failure:
        """What a server says."""
        self.now += LATENCY
        self.requests += 1
        host = host_of(task.url)
        if not self.is_up(host):
            return Failure("not_connected", "Connection refused")
        if task.url.endswith("/robots.txt"):
            return Page(404, {}, b"")
        content, etag = self.content(task.url), f'"{self.versions[task.url]}"'
        self.served[task.url] = content, self.now
        headers = {"content-type": "text/turtle", "etag": etag}
        if host == LASTING:
            headers["cache-control"] = f"max-age={int(LIFETIME.total_seconds())}"
        if dict(task.conditions).get("If-None-Match") == etag:
            return Page(304, headers, b"")
        return Page(200, headers, content.encode())

    def content(self, iri: str) -> str:
        """A document: the first one of a host leads to the others."""
        links = [f"https://{host_of(iri)}/{page}" for page in range(1, PAGES)]
        links += [f"https://{host}/0" for host in HOSTS if host_of(iri) == STEADY]
        lines = [f"<{iri}> <http://e/p> <{link}> ." for link in links if iri.endswith("/0")]
        return "\n".join((*lines, f'<{iri}> <http://e/version> "{self.versions[iri]}" .', ""))


class SimulatedPool(Pool):
    """Asks the servers of a world, politely, as a pool does."""

    def __init__(self, world: World, options: ReadingOptions) -> None:
        super().__init__(PoolOptions(Manner("tests@example.org"), options_text(options)))
        self._world, self._hosts = world, dict[str, HostRecord]()

    def fetch(
        self,
        tasks: Sequence[FetchTask],
        most_bytes: int | None = None,
        most_seconds: float | None = None,
    ) -> Generator[Fetched, None, None]:
        """Answer each task, or give it back."""
        known = [(host_of(task.url), task) for task in tasks]
        turns = Turns(known, self.hosts, most_bytes, most_seconds, self._hosts)
        while task := turns.take(self._world.now.timestamp()):
            asked_at = self._world.now
            outcome = self._world.answer(task)
            usage = Usage(True, 300, 300, LATENCY.total_seconds(), "192.0.2.1")
            value, failure = None, outcome if isinstance(outcome, Failure) else None
            if isinstance(outcome, Page) and outcome.status == 200 and not task.unread:
                value = read(outcome.body, "text/turtle", task.url, self._options.reading)
            yield Fetched(task, outcome, value, usage, asked_at, self._world.now)
            left = turns.ended(task.id, 600, usage.seconds, failure, self._world.now.timestamp())
            for other in left:
                assert failure is not None
                yield Fetched(other, failure, None, Usage(True, 0, 0, 0.0, ""), None, None)
        assert turns.is_over


@dataclass(slots=True)
class Evaluated:
    """An evaluation: when it was, its rows of `freshness` by host, and the work it took."""

    at: datetime
    rows: dict[str, Mapping[str, Any]]
    oldest: dict[str, float]
    work: Counter[str]


@contextmanager
def counted(patched: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    """Rows that are read and written, commits that are made and read."""
    work: Counter[str] = Counter()

    def write(lake: Any, table: Any, rows: Any, *rest: Any, own: Any, **more: Any) -> Any:
        work["commits made"] += 1
        work["rows written"] += len(rows)
        return own(lake, table, rows, *rest, **more)

    def rows_of(*arguments: Any, own: Any, **more: Any) -> Any:
        table = own(*arguments, **more)
        work["statements"] += 1
        work["rows read"] += table.num_rows
        return table

    def commits(*arguments: Any, own: Any) -> Iterator[Any]:
        for commit in own(*arguments):
            work["commits read"] += 1
            yield commit

    def contents_of(*arguments: Any, own: Any) -> Any:
        contents = own(*arguments)
        work["contents read"] += len(contents)
        return contents

    def wrap(place: Any, name: str, wrapper: Any) -> None:
        own = getattr(place, name)
        patched.setattr(place, name, lambda *given, **more: wrapper(*given, own=own, **more))

    for module in (inbox, request_log, documents, freshness_log):
        wrap(module, "write", write)
    for module in (inbox, request_log):
        wrap(module, "appended_rows", rows_of)
    wrap(Lake, "rows", rows_of)
    wrap(Lake, "commits", commits)
    wrap(evaluation, "contents_of", contents_of)
    yield work


def oldest(world: World, host: str) -> float:
    """How long it is not known of the oldest document of a host whether it is the same."""
    lifetime = LIFETIME if host == LASTING else timedelta()
    times = [at for iri, (_, at) in world.served.items() if host_of(iri) == host]
    return max((world.now - min(times) - lifetime).total_seconds(), 0.0)


def upkeep(project: Project) -> None:
    """What is done once a day: ingest, and of `compact_lake` what needs no Spark."""
    call(ingest_changes, project.settings, "ingest")
    lake = Lake(project.settings.lake)
    shared = [table.name for table in SHARED_TABLES]
    for name in (*shared, DOCUMENTS.name(NAME), DOCUMENT_SUMMARIES.name(NAME)):
        compact_files(lake, name, project.settings.limits.file_bytes)
    delete_commits(lake, [NAME])


@dataclass(slots=True)
class Life:
    """All evaluations, and the quads at the end."""

    world: World
    evaluations: list[Evaluated]
    held: set[tuple[str, ...]]

    def at(self, host: str, start: datetime, end: datetime) -> Iterator[Mapping[str, Any]]:
        """The rows of a host between two instants."""
        return (made.rows[host] for made in self.evaluations if start <= made.at < end)

    def week(self, first_day: int) -> Counter[str]:
        """The work of seven days, without the first evaluation of all."""
        start = START + timedelta(days=first_day)
        total: Counter[str] = Counter()
        for made in self.evaluations[1:]:
            if start <= made.at < start + timedelta(days=7):
                total += made.work
        return total


@pytest.fixture(scope="module")
def life(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Life]:
    """Thirty days."""
    project = Project(tmp_path_factory.mktemp("life"))
    project.write("sources.yml", "sources: []\n")
    project.write(
        "traversals.yml",
        f"traversals: [{{name: {NAME}, seeds: ['https://{STEADY}/0'], hosts: any, pause: PT0S,"
        " follow: ['<http://e/p>'], contact: a@b.example, every: PT6H, warn_after: PT6H,"
        " error_after: P2D}]\n",
    )
    world, rng = World(), random.Random(1)
    with pytest.MonkeyPatch.context() as patched, counted(patched) as work:
        evaluations = []
        for number in range(DAYS * timedelta(days=1) // EVERY):
            at = world.now = START + number * EVERY
            work.clear()
            evaluations.append(evaluated(project, world, at, work))
            for _ in range(2):
                world.versions[f"https://{rng.choice(HOSTS)}/{rng.randrange(PAGES)}"] += 1
            if number % 4 == 3:
                upkeep(project)
        yield Life(world, evaluations, held(project))


def evaluated(project: Project, world: World, at: datetime, work: Counter[str]) -> Evaluated:
    declared = load_traversals(project.settings.traversals)[NAME]
    traversal, rules = declared.traversal, declared.rules()
    pool = SimulatedPool(world, ReadingOptions(NAME, rules))
    any_host = hosts_of("any", ())
    fetch = PageFetcher(traversal, pool, frozenset(), any_host, None, lambda: world.now)
    around = Surroundings(clock=Clock(lambda: world.now, sleep_for), fetch=fetch)
    sent = world.requests
    # Each evaluation in a project of its own, as in a process that has just started.
    with OpenProject(project.settings) as opened:
        (made,) = refresh_remotes(opened, "run", surroundings=around).traversals
    assert made.mark is not None, made.error
    work["requests"] = world.requests - sent
    rows: dict[str, Mapping[str, Any]] = {row["pattern"]: row for row in made.mark.rows}
    ages = {host: oldest(world, host) for host in HOSTS}
    return Evaluated(at, rows, ages, Counter(work))


def test_each_row_of_freshness_says_how_old_the_documents_of_a_host_are(life: Life) -> None:
    for made in life.evaluations:
        assert made.rows.keys() == {*HOSTS}
        for host, row in made.rows.items():
            assert (row["candidates"], row["never_asked"]) == (PAGES, 0)
            assert row["oldest_seconds"] == pytest.approx(made.oldest[host], abs=60.0)


@pytest.mark.parametrize("host", [STEADY, LASTING])
def test_a_host_that_answers_is_fresh(life: Life, host: str) -> None:
    assert {made.rows[host]["state"] for made in life.evaluations} == {"fresh"}


@pytest.mark.parametrize("start", OUTAGES)
def test_a_host_that_is_down_is_said_to_be_so_until_it_answers_again(
    life: Life, start: datetime
) -> None:
    down = [*life.at(SHAKY, start, start + OUTAGE)]
    assert len(down) == OUTAGE // EVERY + 1
    assert all(row["state"] in ("backing_off", "warn") for row in down)
    assert all(row["reason"] for row in down)
    # It is left alone at most twice as long as it did not answer.
    after = start + OUTAGE + OUTAGE
    later = [*life.at(SHAKY, after, after + timedelta(days=1))]
    assert {row["state"] for row in later} == {"fresh"}


def test_a_host_that_is_gone_for_good_is_an_error_and_keeps_its_documents(life: Life) -> None:
    end = START + timedelta(days=DAYS)
    rows = [*life.at(MORTAL, DEATH + ERROR_AFTER + EVERY, end)]
    assert {row["state"] for row in rows} == {"error"}
    assert "Connection refused" in rows[-1]["reason"]
    assert len({quad for quad in life.held if quad[0] == of_document(f"https://{MORTAL}/1")}) == 1


def test_a_host_that_is_gone_for_good_is_asked_less_and_less(life: Life) -> None:
    end = START + timedelta(days=DAYS)
    waits = [row["not_before"] for row in life.at(MORTAL, DEATH + timedelta(days=5), end)]
    assert None not in waits or waits.count(None) <= len(waits) // 12
    assert len({*waits}) <= 25 - 5


def test_the_graph_has_what_each_server_answered_last(life: Life) -> None:
    for iri, (content, _) in life.world.served.items():
        lines = {" ".join((s, p, o, ".")) for g, s, p, o in life.held if g == of_document(iri)}
        assert lines == {*content.splitlines()}


def test_an_evaluation_of_the_last_week_takes_no_more_than_one_of_the_first(life: Life) -> None:
    first, last = life.week(0), life.week(DAYS - 7)
    assert first.keys() == last.keys()
    for what, amount in first.items():
        assert last[what] <= MOST_GROWTH * amount, what


def of_document(iri: str) -> str:
    return document_graph(NAME, iri)
