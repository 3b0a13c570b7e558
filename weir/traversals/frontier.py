"""An evaluation of a traversal, without network and tables: what to ask next (pure).

    while (wave := frontier.wave(now)):
        for iri in wave: frontier.take(iri, answer, now), or frontier.pass_over(iri)
    frontier.finish(now)

A wave is what the search over all that is known now comes to and does not know, or knows for too
long. What is asked for and answered in a wave may lead to another one; each page is asked for once
in an evaluation. Links of a page that is not asked for, or that failed, count as they were.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from weir.traversals.hints import Hints, Statement
from weir.traversals.hosts import Hosts
from weir.traversals.known import UNKNOWN, Answer, Change, Content, Known, NotModified
from weir.traversals.rules import Link, Rules
from weir.traversals.search import Page, Reach, SearchLimits, host_of, search

_FEW = 10
"""Of fewer documents of a host it is believed that more than half are gone."""


@dataclass(frozen=True, slots=True)
class Traversal:
    """What an evaluation follows, and for how long it keeps what it leads to no more.

    Attributes:
        seeds: IRIs.
        rules: which links lead on.
        limits: of the documents.
        may_ask: whether the host of an IRI belongs to the traversal.
        keep_unreachable: seconds for which a document stays that no link leads to any more.
        gone_after: as many answers 404 in a row are believed.
        hinted_for: seconds since its last answer for which a page is not asked for while another
            document states the same of it; 0: what documents state does not count.
    """

    seeds: tuple[str, ...]
    rules: Rules
    limits: SearchLimits
    may_ask: Callable[[str], bool]
    keep_unreachable: float = 86_400.0
    gone_after: int = 2
    hinted_for: float = 0.0


@dataclass(frozen=True, slots=True)
class Member:
    """A document of the dataset.

    Attributes:
        aliases: the IRIs that lead to it, with their fragments.
        depth: links from a seed to it.
        source: the document whose link led to it first; empty for a seed.
        unreachable_since: when the first search did not reach it any more; None if it is reached.
    """

    aliases: frozenset[str]
    depth: int
    source: str
    unreachable_since: float | None = None


@dataclass(slots=True)
class Frontier:
    """The state of an evaluation.

    Attributes:
        traversal: what is followed.
        known: what is known of each page.
        members: the documents of the dataset.
        suspects: documents that were said to be gone with so many of their host that it is not
            believed yet.
        hosts: those that are left alone.
        hinted: pages that are not asked for because of what other documents state of them.
        touched: pages of which something is known, or that are documents, otherwise than before.
    """

    traversal: Traversal
    known: dict[str, Known] = field(default_factory=dict)
    members: dict[str, Member] = field(default_factory=dict)
    suspects: frozenset[str] = frozenset()
    hosts: Hosts = field(default_factory=Hosts)
    hinted: set[str] = field(default_factory=set)
    touched: set[str] = field(default_factory=set)
    _reached: dict[bool, Reach] = field(default_factory=dict)
    _asked: set[str] = field(default_factory=set)
    _answered: set[str] = field(default_factory=set)
    _hints: Hints = field(init=False)
    _gone: dict[str, Known] = field(default_factory=dict)
    _gone_of_host: Counter[str] = field(default_factory=Counter)
    _still_suspect: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._hints = Hints.read({iri: known.statements for iri, known in self.known.items()})

    def search(self, *, expect_unknown: bool = False) -> Reach:
        """What is reached over all that is known; as before if no page leads elsewhere since."""
        reach = self._reached.get(expect_unknown)
        if reach is None:
            own = self.traversal
            reach = self._reached[expect_unknown] = search(
                own.seeds,
                own.rules,
                _Pages(self.known),
                own.limits,
                own.may_ask,
                expect_unknown=expect_unknown,
            )
        return reach

    def _know(self, iri: str, after: Known) -> None:
        """Take what is known of a page now."""
        before = self.known.get(iri)
        if before is None or before.page != after.page:
            self._reached.clear()
        self.known[iri] = after
        self._hints.take(iri, after.statements)
        self.touched.add(iri)

    def wave(self, now: float) -> list[str]:
        """The pages to ask for now, in the order of the search; empty if nothing is left."""
        wave = self._due(now)
        if not wave and self._gone:
            # What is gone makes room for what the limits had left out.
            self._believe()
            wave = self._due(now)
        return wave

    def _due(self, now: float) -> list[str]:
        asked = self.search(expect_unknown=True).asked
        due = [
            iri
            for iri in asked
            if iri not in self._asked and self.known.get(iri, UNKNOWN).due_at <= now
        ]
        wanted, waiting = self._by_hints(due, now)
        # What waits for pages that wait themselves, or may not be asked, is asked for.
        return self.hosts.admitted(wanted, now) or self.hosts.admitted(waiting, now)

    def _by_hints(self, due: list[str], now: float) -> tuple[list[str], list[str]]:
        """Of pages that are due, those to ask for, and those that wait for what is stated of them.

        Left out are those of which a document that is up to date states the same as before.
        """
        wanted, waiting, open_ = [], [], {*due}
        self.hinted.clear()
        for iri in due:
            known = self.known.get(iri, UNKNOWN)
            if not known.hint or now >= known.answered_at + self.traversal.hinted_for:
                wanted.append(iri)
            elif not open_.isdisjoint(self._hints.witnesses(iri)):
                waiting.append(iri)
            elif self._stated(iri, now) == known.hint:
                self.hinted.add(iri)
            else:
                wanted.append(iri)
        return wanted, waiting

    def _stated(self, iri: str, now: float) -> str:
        """What documents that are up to date, by an answer of their own, state of a page."""

        def is_current(witness: str) -> bool:
            if witness in self._asked or witness in self.suspects:
                return witness in self._answered
            known = self.known[witness]
            return known.due_at > now and not known.failures

        return self._hints.term(iri, is_current)

    def take(self, iri: str, answer: Answer, now: float) -> Change:
        """Take the answer to a page.

        That content is gone takes effect when nothing else is left to ask for: then it is known of
        how many documents of a host it was said.
        """
        self._asked.add(iri)
        before = self.known.get(iri, UNKNOWN)
        after, change = before.after(answer, now, self.traversal.gone_after)
        if isinstance(answer, Content | NotModified) and after.is_document:
            self._answered.add(iri)
            after = replace(after, hint=self._stated(iri, now))
        if change == "gone" and before.is_document:
            self._gone[iri] = after
            self._know(iri, replace(before, asked_at=now, due_at=after.due_at))
        else:
            self._know(iri, after)
        return change

    def pass_over(self, iri: str) -> None:
        """Leave a page that was not answered, and is still due, to the next evaluation."""
        self._asked.add(iri)

    def read_again(
        self, iri: str, links: tuple[Link, ...], statements: tuple[Statement, ...]
    ) -> None:
        """Take what a page that is known holds, by other rules than before."""
        self._know(iri, replace(self.known[iri], links=links, statements=statements))

    def grow(self) -> None:
        """Add the documents that are reached now; nothing leaves the dataset."""
        if False in self._reached:
            return
        for iri, reached in self.search().documents.items():
            before = self.members.get(iri)
            aliases = frozenset(reached.aliases) | (before.aliases if before else frozenset())
            after = Member(aliases, reached.depth, reached.source)
            if after != before:
                self.members[iri] = after
                self.touched.add(iri)

    def finish(self, now: float) -> Reach:
        """The dataset at the end of the evaluation."""
        self._believe()
        reach = self.search()
        members = {}
        for iri, reached in reach.documents.items():
            members[iri] = Member(frozenset(reached.aliases), reached.depth, reached.source)
        for iri, member in self.members.items():
            if iri in members or not self.known.get(iri, UNKNOWN).is_document:
                continue
            since = member.unreachable_since
            since = now if since is None else since
            if now - since < self.traversal.keep_unreachable:
                members[iri] = replace(member, unreachable_since=since)
        suspects = frozenset(self._still_suspect)
        self.touched |= suspects ^ self.suspects
        for iri in members.keys() | self.members.keys():
            if members.get(iri) != self.members.get(iri):
                self.touched.add(iri)
        self.members, self.suspects = members, suspects
        return reach

    def _believe(self) -> None:
        """Empty the documents that are gone, unless so many of a host are that it is suspect."""
        self._gone_of_host.update(map(host_of, self._gone))
        gone = self._gone_of_host
        documents = Counter(host_of(iri) for iri in self.members)
        suspects = set(self._still_suspect)
        for iri, after in self._gone.items():
            host = host_of(iri)
            is_suspect = documents[host] >= _FEW and 2 * gone[host] > documents[host]
            if is_suspect and iri not in self.suspects:
                suspects.add(iri)
            else:
                self._know(iri, after)
        self._still_suspect = suspects
        self._gone = {}


@dataclass(frozen=True, slots=True)
class _Pages(Mapping[str, Page]):
    """What is known, as a search reads it."""

    known: Mapping[str, Known]

    def __getitem__(self, iri: str) -> Page:
        return self.known[iri].page

    def __iter__(self) -> Iterator[str]:
        return iter(self.known)

    def __len__(self) -> int:
        return len(self.known)


def hosts_of(
    patterns: Iterable[str] | Literal["any"] | None, seeds: Iterable[str]
) -> Callable[[str], bool]:
    """Whether the host of an IRI is one of the declared.

    Args:
        patterns: names of hosts, `*.example.org` for all below one; or `any`. None: the hosts of
            the seeds.
        seeds: IRIs.
    """
    if patterns == "any":
        return lambda iri: bool(host_of(iri))
    names = {host_of(seed) for seed in seeds} if patterns is None else set(patterns)
    exact = {name for name in names if not name.startswith("*.")}
    below = tuple(name[1:] for name in names if name.startswith("*."))

    def is_declared(iri: str) -> bool:
        host = host_of(iri)
        return host in exact or host.endswith(below or ("\0",))

    return is_declared
