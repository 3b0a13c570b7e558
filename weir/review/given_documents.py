"""Traversals of a test: their links are followed over documents that are given, without a network.

It is done by the code of a run, as `traversals.yml` declares it. A page that is not given is gone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from weir.errors import WeirError
from weir.refresh.stage import Surroundings
from weir.remotes.budget import Amount
from weir.remotes.http.caching import Stored
from weir.traversals.declarations import Declared, Traversal
from weir.traversals.evaluation import Ask, Came, Fetch
from weir.traversals.known import Answer, Content, Missing
from weir.traversals.reading import Broken, Reading, ReadingOptions, read_document_of

_SAID: Final = {"name", "seeds", "follow", "hosts", "limits", "statements", "ignore", "contact"}
"""What a test has of a declaration: which documents are reached, and what counts of them."""
_MANY: Final = 1_000_000
_SECONDS: Final = 3_600
_LIFETIME: Final = timedelta(days=1)
"""Longer than all rounds of a test, on their clock: no page is asked for twice."""

Documents = Mapping[str, Mapping[str, str]]
"""By traversal, the Turtle or TriG of each document, by its IRI."""


def traversal_declarations(declared: Iterable[Declared]) -> Mapping[str, Any]:
    """Traversals as `traversals.yml` declares them, without what a network needs.

    Of `follow: match`, the patterns of the queries that the test computes count.
    """
    prefixes: dict[str, str] = {}
    traversals = []
    for one in declared:
        prefixes |= one.prefixes
        said = one.traversal.model_dump(mode="json", include=_SAID, exclude_unset=True)
        budget = {"requests": _MANY, "bytes": _MANY * 1_000, "seconds": _SECONDS}
        traversals.append(said | {"every": "PT1M", "pause": "PT0S", "budget": budget})
    return {"prefixes": prefixes, "traversals": traversals}


def seed_queries(declared: Mapping[str, Declared], names: Iterable[str]) -> tuple[str, ...]:
    """The definitions in whose answers traversals begin.

    Args:
        declared: traversals by name.
        names: of those that count; others may be declared or not.
    """
    queries = (declared[name].traversal.seed_query for name in names if name in declared)
    return tuple(dict.fromkeys(query for query in queries if query is not None))


@dataclass(slots=True)
class GivenSurroundings(Surroundings):
    """What a refresh takes from outside of the project, with documents that are given."""

    documents: Documents = field(default_factory=dict)

    def following_links(
        self, traversal: Traversal, options: ReadingOptions, seeds: Sequence[str], cache: Path
    ) -> AbstractContextManager[Fetch]:
        """What gives the documents of a traversal."""
        del seeds, cache
        pages = self.documents.get(traversal.name, {})
        return nullcontext(_Pages(pages, options, self.clock.now()))


@dataclass(frozen=True, slots=True)
class _Pages:
    """Answers with documents (`weir.traversals.evaluation.Fetch`), each time at one instant."""

    documents: Mapping[str, str]
    options: ReadingOptions
    now: datetime

    def __call__(self, asks: Sequence[Ask], most: Amount) -> Iterator[Came]:
        took = Amount(1, 1, 0, 0.0)
        for ask in asks[: most.requests]:
            answer, reading = self._answer(ask.iri)
            status = 410 if reading is None else 200
            yield Came(ask.iri, answer, reading, status, took, "answered", "", self.now)

    def _answer(self, iri: str) -> tuple[Answer, Reading | None]:
        until = self.now + _LIFETIME
        if iri not in self.documents:
            return Missing(True, until.timestamp()), None
        content = self.documents[iri].encode()
        try:
            reading = read_document_of(content, "application/trig", iri, self.options)
        except Broken as error:
            raise WeirError(f"the document {iri} cannot be read: {error}", "") from error
        validity = Stored(until, False, "", "", "", "", "")
        return Content(reading.digest, reading.links, validity), reading
