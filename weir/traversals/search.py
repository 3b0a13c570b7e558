"""The documents that a traversal reaches: one breadth-first search over what is known (pure).

Which documents are reached is a function of the seeds, the rules, the limits and what is known of
each page, and of nothing else: not of the order in which pages arrived, nor of earlier searches.
Counting links instead would keep a cycle of documents that nothing leads to any more.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from weir.traversals.rules import ANYWHERE, Link, Rules

MOST_REDIRECTS = 5


@dataclass(frozen=True, slots=True)
class Page:
    """What a search has to know of an IRI without its fragment.

    Attributes:
        links: of its content; None if it has none.
        target: the IRI that it leads to in place of content; empty if it does not.
        by_header: whether the Link header of an answer that is no RDF names `target`.
    """

    links: tuple[Link, ...] | None = None
    target: str = ""
    by_header: bool = False


@dataclass(frozen=True, slots=True)
class SearchLimits:
    """What bounds the dataset.

    Attributes:
        depth: links from a seed to a document, at most.
        documents: their number, at most.
        per_host: of one host, at most.
    """

    depth: int = 20
    documents: int = 100_000
    per_host: int = 10_000


@dataclass(slots=True)
class Reached:
    """A document that was reached.

    Attributes:
        depth: links from a seed to it, the fewest.
        source: the document whose link led to it first; empty for a seed.
        aliases: all IRIs that lead to it, with their fragments.
    """

    depth: int
    source: str
    aliases: set[str] = field(default_factory=set)


@dataclass(slots=True)
class Reach:
    """What a search came to.

    Attributes:
        documents: those that were reached, by IRI, in order.
        asked: the IRIs that have to be known for this, in order, with their depth and the document
            that leads to them: documents, redirects, and pages without content.
        left_out: by reason and host, the number of IRIs that were not gone to: depth, documents,
            per_host, host (not of the traversal), redirects (too many, from https to http, or a
            Link header of what a Link header had led to).
    """

    documents: dict[str, Reached] = field(default_factory=dict)
    asked: dict[str, Reached] = field(default_factory=dict)
    left_out: Counter[tuple[str, str]] = field(default_factory=Counter)


def search(
    seeds: Iterable[str],
    rules: Rules,
    pages: Mapping[str, Page],
    limits: SearchLimits,
    may_ask: Callable[[str], bool],
    *,
    expect_unknown: bool = False,
) -> Reach:
    """What is reached from the seeds.

    Args:
        seeds: IRIs.
        rules: which links lead on.
        pages: what is known, by IRI without its fragment.
        limits: of the documents.
        may_ask: whether the host of an IRI belongs to the traversal.
        expect_unknown: whether an IRI that nothing is known of counts as a document, so that no
            more are asked for than there is room for.
    """
    return _Search(rules, pages, limits, may_ask, expect_unknown).run(seeds)


def place_of(iri: str) -> str:
    """The IRI without its fragment: what is asked for."""
    return iri.partition("#")[0]


_PLAIN = re.compile(r"https?://([a-z0-9.-]+)(?::[0-9]*)?(?=[/?#]|$)")


def host_of(iri: str) -> str:
    """The host of an IRI; empty if it has none."""
    if plain := _PLAIN.match(iri):
        return plain[1]
    try:
        return urlsplit(iri).hostname or ""
    except ValueError:  # brackets that hold no address
        return ""


Visit = tuple[str, int]
"""An IRI, and the state of a path in which it was reached."""


@dataclass(slots=True)
class _Search:
    rules: Rules
    pages: Mapping[str, Page]
    limits: SearchLimits
    may_ask: Callable[[str], bool]
    expect_unknown: bool
    reach: Reach = field(default_factory=Reach)
    _of_host: Counter[str] = field(default_factory=Counter)
    _admitted: set[str] = field(default_factory=set)
    _visited: set[Visit] = field(default_factory=set)
    _places: dict[str, str | None] = field(default_factory=dict)
    _left_out: set[tuple[str, str]] = field(default_factory=set)
    _steps: dict[str, dict[str, list[Link]]] = field(default_factory=dict)

    def run(self, seeds: Iterable[str]) -> Reach:
        level = {(seed, state): "" for seed in seeds for state in self.rules.start}
        depth = 0
        while level:
            self._visited |= level.keys()
            following: dict[Visit, str] = {}
            for visit in sorted(level):
                for next_, source in self._visit(visit, depth, level[visit]):
                    if next_ not in self._visited and next_ not in following:
                        following[next_] = source
            if depth == self.limits.depth:
                for iri, _ in following:
                    self._leave_out("depth", iri)
                break
            level, depth = following, depth + 1
        return self.reach

    def _visit(self, visit: Visit, depth: int, source: str) -> Iterator[tuple[Visit, str]]:
        """Go to an IRI, and give what its document leads to."""
        iri, state = visit
        if iri not in self._places:
            self._places[iri] = self._document(iri, depth, source)
        place = self._places[iri]
        if place is None:
            return
        is_new = place not in self.reach.documents
        if is_new:
            self.reach.documents[place] = Reached(depth, source)
        self.reach.documents[place].aliases.add(iri)
        if is_new:
            for link in self.pages[place].links or ():
                if link.step is None:
                    yield (link.target, ANYWHERE), place
        if state != ANYWHERE:
            for link in self._steps_of(place).get(iri, ()):
                assert link.step is not None
                for next_state in self.rules.after(state, link.step):
                    yield (link.target, next_state), place

    def _document(self, iri: str, depth: int, source: str) -> str | None:
        """The document of an IRI; None if there is none, or none that is known."""
        place = place_of(iri)
        if not self._has_room(place):
            return None
        by_header = False
        for _ in range(MOST_REDIRECTS + 1):
            if not self.may_ask(place):
                self._leave_out("host", place)
                return None
            # What a redirect leads to is asked for beyond the limits, too: it may lead on.
            self.reach.asked.setdefault(place, Reached(depth, source))
            page = self.pages.get(place)
            if page is not None and page.target:
                if place.startswith("https:") and page.target.startswith("http:"):
                    break
                if page.by_header and by_header:
                    break
                by_header |= page.by_header
                place = place_of(page.target)
                continue
            if page is None:
                if self.expect_unknown:
                    self._admit(place)
                return None
            return place if page.links is not None and self._admit(place) else None
        self._leave_out("redirects", iri)
        return None

    def _admit(self, place: str) -> bool:
        """Whether there is room for a document, which is then taken."""
        if not self._has_room(place):
            return False
        if place not in self._admitted:
            self._admitted.add(place)
            self._of_host[host_of(place)] += 1
        return True

    def _has_room(self, place: str) -> bool:
        """Whether the limits let a document in.

        This is checked before it is known where an IRI leads to: else what is known would decide
        whether an IRI beyond the limits is one more alias.
        """
        if place in self._admitted:
            return True
        if len(self._admitted) >= self.limits.documents:
            self._leave_out("documents", place)
        elif self._of_host[host_of(place)] >= self.limits.per_host:
            self._leave_out("per_host", place)
        else:
            return True
        return False

    def _leave_out(self, reason: str, iri: str) -> None:
        if (reason, iri) not in self._left_out:
            self._left_out.add((reason, iri))
            self.reach.left_out[reason, host_of(iri)] += 1

    def _steps_of(self, place: str) -> dict[str, list[Link]]:
        """The links of paths of a document, by subject."""
        steps = self._steps.get(place)
        if steps is None:
            steps = self._steps[place] = {}
            for link in self.pages[place].links or ():
                if link.step is not None:
                    steps.setdefault(link.subject, []).append(link)
        return steps
