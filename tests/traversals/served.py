"""Answers of a random web to an evaluation, without a network."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from tests.traversals.webs import Described, Web
from weir.remotes.budget import Amount
from weir.remotes.http.caching import Stored
from weir.traversals.evaluation import Ask, Came
from weir.traversals.known import Answer, Content, Missing, NotModified, Redirect
from weir.traversals.reading import Reading, ReadingOptions, read_document_of


def until(seconds: float) -> Stored:
    """What is kept of an answer that may be used up to an instant, in seconds since 1970."""
    return Stored(datetime.fromtimestamp(seconds, UTC), False, "", "", "", "", "")


@dataclass(slots=True)
class Served:
    """Asks the servers of a web (`weir.traversals.evaluation.Fetch`).

    Attributes:
        web: what they answer.
        options: how documents are read.
        now: the time.
        lifetime: of answers, in seconds.
        asked: the pages that were asked for, in order.
    """

    web: Web
    options: ReadingOptions
    now: datetime
    lifetime: float = 0.0
    asked: list[str] = field(default_factory=list)

    def __call__(self, asks: Sequence[Ask], most: Amount) -> Iterator[Came]:
        assert len(asks) <= most.requests
        for ask in asks:
            self.asked.append(ask.iri)
            answer, reading, status = self._answer(ask)
            took = Amount(1, 1, 100, 0.001)
            yield Came(ask.iri, answer, reading, status, took, "answered", "127.0.0.1", self.now)

    def _answer(self, ask: Ask) -> tuple[Answer, Reading | None, int]:
        expires_at = self.now.timestamp() + self.lifetime
        says = self.web.at(ask.iri)
        if isinstance(says, int):
            return Missing(says == 410, expires_at), None, says
        if isinstance(says, str):
            by_header = isinstance(says, Described)
            return Redirect(says, expires_at, by_header), None, 200 if by_header else 303
        content = "".join(f"{s} {p} {o} .\n" for s, p, o in says).encode()
        reading = read_document_of(content, "application/n-triples", ask.iri, self.options)
        if ask.known.digest == reading.digest:
            return NotModified(until(expires_at)), None, 304
        return Content(reading.digest, reading.links, until(expires_at)), reading, 200
