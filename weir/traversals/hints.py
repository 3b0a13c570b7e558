"""What documents state of others of their origin, by which these need not be asked for (pure).

A container says of each document in it when it was modified. While it says the same as when the
document was answered last, the document is taken to be the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

Statement = tuple[str, str]
"""A document, and the term that another one states of it, in N-Triples form."""


@dataclass(slots=True)
class Hints:
    """What is stated, by the document that it is of and the one that states it."""

    _of: dict[str, dict[str, str]] = field(default_factory=dict)
    _by: dict[str, tuple[Statement, ...]] = field(default_factory=dict)

    @classmethod
    def read(cls, statements: Mapping[str, tuple[Statement, ...]]) -> Hints:
        """From what each document states."""
        hints = cls()
        for iri, stated in statements.items():
            hints.take(iri, stated)
        return hints

    def take(self, iri: str, statements: tuple[Statement, ...]) -> None:
        """Take what a document states now, in place of what it has stated."""
        for document, _ in self._by.pop(iri, ()):
            self._of[document].pop(iri, None)
        if statements:
            self._by[iri] = statements
        for document, term in statements:
            self._of.setdefault(document, {})[iri] = term

    def witnesses(self, iri: str) -> Iterable[str]:
        """The documents that state something of one."""
        return self._of.get(iri, {}).keys()

    def term(self, iri: str, is_current: Callable[[str], bool]) -> str:
        """What the current documents state of one; empty if nothing, or not all the same."""
        stated = self._of.get(iri, {})
        terms = {term for witness, term in stated.items() if is_current(witness)}
        return terms.pop() if len(terms) == 1 else ""


def statements_of(
    triples: Iterable[tuple[str, str, str]], iri: str, predicates: frozenset[str]
) -> tuple[Statement, ...]:
    """What a document states by some predicates of other documents of its origin.

    Of one of which it states several terms, the greatest counts.
    """
    stated: dict[str, str] = {}
    for subject, predicate, term in triples:
        other = subject[1:-1]
        if predicate in predicates and other != iri and _origin(other) == _origin(iri):
            stated[other] = max(term, stated.get(other, ""))
    return tuple(sorted(stated.items()))


def _origin(iri: str) -> tuple[str, str]:
    try:
        parts = urlsplit(iri)
    except ValueError:  # brackets that hold no address
        return "", iri
    return parts.scheme, parts.netloc
