"""What is known of a page between evaluations, and what an answer makes of it (pure).

Times are seconds since 1970. A page is an IRI without its fragment.

| answer | the page |
| --- | --- |
| content | is a document; equal content renews its lifetime only |
| 304 | has the content that it had, for another lifetime |
| redirect, or no RDF with a Link header that names some | leads on; content that it had goes |
| 410, or 404 for the `gone_after`th time in a row | has no content |
| anything else | keeps its last good content, and is left alone for a while |
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, assert_never

from weir.remotes.http.caching import Stored
from weir.traversals.hints import Statement
from weir.traversals.rules import Link
from weir.traversals.search import Page

_FIRST_PAUSE = 60.0
_LONGEST_PAUSE = 86_400.0

Change = Literal[
    "new",
    "changed",
    "unchanged",
    "not_modified",
    "moved",
    "redirect",
    "described",
    "gone",
    "missing",
    "failed",
    "refused",
    "robots",
    "too_large",
    "not_rdf",
    "broken",
]
"""What an answer was, beside what was known. described: it is no RDF, and its Link header names
some; missing: a 404 that is not believed yet.
"""

Fault = Literal["failed", "refused", "robots", "too_large", "not_rdf", "broken"]
"""Why there is no answer that can be used. refused: the project does not allow the request;
robots: robots.txt does not; broken: it has an error."""


@dataclass(frozen=True, slots=True)
class Content:
    """An answer of status 200 that is RDF.

    digest: of its triples. statements: what it states of other documents, as hints.
    """

    digest: str
    links: tuple[Link, ...]
    validity: Stored
    statements: tuple[Statement, ...] = ()


@dataclass(frozen=True, slots=True)
class NotModified:
    """An answer of status 304."""

    validity: Stored


@dataclass(frozen=True, slots=True)
class Redirect:
    """An answer that names another IRI.

    by_header: whether it is no redirect, but no RDF, and its Link header names that IRI.
    """

    target: str
    expires_at: float
    by_header: bool = False


@dataclass(frozen=True, slots=True)
class Missing:
    """An answer of status 404, or 410, which is for good."""

    is_for_good: bool
    recheck_at: float


@dataclass(frozen=True, slots=True)
class Failed:
    """No answer that can be used: why, and how long the server wants to be left alone."""

    reason: str
    retry_after: float = 0.0
    fault: Fault = "failed"


Answer = Content | NotModified | Redirect | Missing | Failed


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a page.

    Attributes:
        first_at: when it was asked for first; 0: never.
        asked_at: when it was asked for last.
        answered_at: when the last answer came that could be used; 0: none did.
        due_at: from when it may be asked for again.
        links: of its content; None if it has none.
        digest: of its content; empty if it has none.
        target: the IRI that it leads to in place of content; empty if it does not.
        by_header: whether the Link header of an answer that is no RDF names `target`.
        validity: how long its content may be used, and what it is asked for again with.
        failures: answers in a row that could not be used.
        misses: answers 404 in a row.
        answers: usable answers so far.
        changes: how many of them brought other content.
        reason: why the last answer could not be used, or that nearly each one is another; else
            empty.
        fault: the first in a word; empty if it could be used.
        statements: what its content states of other documents, as hints.
        hint: what was stated of it when it was answered last; empty if nothing was.
    """

    first_at: float = 0.0
    asked_at: float = 0.0
    answered_at: float = 0.0
    due_at: float = 0.0
    links: tuple[Link, ...] | None = None
    digest: str = ""
    target: str = ""
    by_header: bool = False
    validity: Stored | None = None
    failures: int = 0
    misses: int = 0
    answers: int = 0
    changes: int = 0
    reason: str = ""
    fault: Fault | Literal[""] = ""
    statements: tuple[Statement, ...] = ()
    hint: str = ""

    @property
    def page(self) -> Page:
        """What a search has to know of it."""
        return Page(self.links, self.target, self.by_header)

    @property
    def is_document(self) -> bool:
        """Whether it has content."""
        return self.links is not None

    @property
    def interval(self) -> float | None:
        """Estimated seconds between two changes; None if it is not known to change."""
        seconds = self.asked_at - self.first_at
        return seconds / self.changes if self.changes and seconds > 0 else None

    def age(self, now: float) -> float:
        """Seconds for which it is not known whether its content is still the same.

        Since the last answer, or since the end of the lifetime that the server gave its content.
        """
        known_until = self.answered_at
        if self.validity is not None and not self.validity.heuristic:
            known_until = max(known_until, self.validity.expires_at.timestamp())
        return max(now - known_until, 0.0)

    def after(self, answer: Answer, now: float, gone_after: int) -> tuple[Known, Change]:
        """What is known after an answer, and what the answer was.

        Args:
            answer: to the page.
            now: when it came.
            gone_after: as many answers 404 in a row are believed.
        """
        asked = replace(self, first_at=self.first_at or now, asked_at=now, reason="", fault="")
        match answer:
            case Content(digest, links, validity, statements):
                good = asked._good(validity.expires_at.timestamp())
                is_same = self.is_document and digest == self.digest
                changes = self.changes + (self.is_document and not is_same)
                changed = replace(
                    good,
                    digest=digest,
                    links=links,
                    validity=validity,
                    target="",
                    by_header=False,
                    statements=statements,
                    changes=changes,
                    reason=_restless(good.answers, changes),
                )
                word: Change = "unchanged" if is_same else "changed"
                return changed, word if self.is_document else "new"
            case NotModified() if not self.is_document:
                unasked = Failed("it answered 304, and was asked without a condition")
                return self.after(unasked, now, gone_after)
            case NotModified(validity):
                return replace(
                    asked._good(validity.expires_at.timestamp()), validity=validity
                ), "not_modified"
            case Redirect(target, expires_at, by_header):
                leads: Change = "described" if by_header else "redirect"
                after = asked._good(expires_at)._empty(target, by_header)
                return after, "moved" if self.is_document else leads
            case Missing(is_for_good, recheck_at):
                misses = self.misses + 1
                if is_for_good or misses >= gone_after:
                    good = replace(asked._good(recheck_at), misses=misses)
                    return good._empty(), "gone"
                return replace(asked, misses=misses, due_at=now, failures=0), "missing"
            case Failed(reason, retry_after, fault):
                failures = self.failures + 1
                pause = min(_FIRST_PAUSE * 2 ** min(failures - 1, 20), _LONGEST_PAUSE)
                due_at = now + max(pause, retry_after)
                failed = replace(
                    asked, failures=failures, due_at=due_at, reason=reason, fault=fault
                )
                return failed, fault
            case _:
                assert_never(answer)

    def _good(self, due_at: float) -> Known:
        return replace(
            self,
            due_at=due_at,
            failures=0,
            misses=0,
            answers=self.answers + 1,
            answered_at=self.asked_at,
        )

    def _empty(self, target: str = "", by_header: bool = False) -> Known:
        return replace(
            self,
            links=None,
            digest="",
            validity=None,
            target=target,
            by_header=by_header,
            statements=(),
            hint="",
        )


UNKNOWN = Known()
_ENOUGH = 8
"""Answers after which it is said of a document that it is another one nearly each time."""


def _restless(answers: int, changes: int) -> str:
    """That a document changes nearly each time, as one does that states the time of day."""
    if answers < _ENOUGH or 4 * changes <= 3 * answers:
        return ""
    return f"{changes:,} of {answers:,} answers were other content: `ignore` leaves out predicates"
