"""A shapes graph: the triples of a Turtle document, looked up by subject and predicate."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import sha256

import numpy as np

from weir.rdf.canonical_nquads import Lines, split_terms
from weir.rdf.documents import read_document
from weir.rdf.limits import ParseLimits
from weir.rdf.terms import Literal, parse_term
from weir.shacl.errors import ShapesError, ShapesSyntaxError
from weir.shacl.vocabulary import FIRST, NIL, REST, SUBCLASS, TYPE, local_name, sh

_BASE = "file:///shapes.ttl"
"""Of relative IRIs: a file that is moved keeps its shapes."""
_NAME_LENGTH = 16
Triple = tuple[str, str, str]


def is_blank(term: str) -> bool:
    """Whether a term is a blank node."""
    return term.startswith("_:")


def is_iri(term: str) -> bool:
    """Whether a term is an IRI."""
    return term.startswith("<")


def is_literal(term: str) -> bool:
    """Whether a term is a literal."""
    return term.startswith('"')


class ShapesGraph:
    """The triples of a document, terms in N-Triples form, in an order that its text decides.

    Blank nodes are named by what is written about them and by what they belong to: the labels of a
    parser differ from run to run.

    Args:
        text: the Turtle.
        file: its name, for errors.

    Raises:
        ShapesSyntaxError: it is not Turtle.
    """

    def __init__(self, text: str, file: str) -> None:
        self.text, self.file = text, file
        self._by_subject: defaultdict[str, defaultdict[str, list[str]]] = defaultdict(
            lambda: defaultdict(list)
        )
        self._parents: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
        triples = _triples(text, file)
        for subject, predicate, object_ in triples:
            self._by_subject[subject][predicate].append(object_)
            if is_blank(object_):
                self._parents[object_].append((subject, predicate))
        self._names: dict[str, str] = {}
        for objects in self._by_subject.values():
            for values in objects.values():
                if len(values) > 1:
                    values.sort(key=self.name)

    @cached_property
    def subjects(self) -> Sequence[str]:
        """All subjects but the cells of lists, by their names."""
        subjects = (subject for subject in self._by_subject if not self.objects(subject, FIRST))
        return sorted(subjects, key=self.name)

    def predicates(self, subject: str) -> Sequence[str]:
        """The predicates of a subject, sorted."""
        return sorted(self._by_subject.get(subject, ()))

    def triples(self) -> Iterator[Triple]:
        """All triples, blank nodes by their names."""
        for subject in sorted(self._by_subject, key=self.name):
            for predicate in self.predicates(subject):
                for object_ in self.objects(subject, predicate):
                    yield self.name(subject), predicate, self.name(object_)

    def objects(self, subject: str, predicate: str) -> Sequence[str]:
        """The objects of a subject and predicate, by their names."""
        return self._by_subject[subject][predicate] if subject in self._by_subject else ()

    def has(self, subject: str, predicate: str, object_: str) -> bool:
        """Whether there is a triple."""
        return object_ in self.objects(subject, predicate)

    def superclasses(self, term: str) -> Sequence[str]:
        """A class and those that it is a subclass of."""
        reached = [term]
        for above in reached:
            reached += [c for c in self.objects(above, SUBCLASS) if c not in reached]
        return reached

    def is_instance(self, node: str, *classes: str) -> bool:
        """Whether a node is an instance of one of some classes, or of a subclass."""
        types = self.objects(node, TYPE)
        return any(not {*classes}.isdisjoint(self.superclasses(term)) for term in types)

    def one(self, subject: str, predicate: str, *, of: str = "") -> str | None:
        """The only object, or None.

        Args:
            subject: of the triples.
            predicate: of the triples.
            of: the shape to blame; the subject, if it is empty.

        Raises:
            ShapesSyntaxError: there are several.
        """
        values = self.objects(subject, predicate)
        if len(values) > 1:
            raise self.ill_formed(of or subject, local_name(predicate), "it has several values")
        return values[0] if values else None

    def members(self, head: str, owner: str, parameter: str) -> tuple[str, ...]:
        """The members of a list.

        Raises:
            ShapesSyntaxError: it is not a well-formed list.
        """
        members, seen = [], set[str]()
        while head != NIL:
            first, rest = self.objects(head, FIRST), self.objects(head, REST)
            if len(first) != 1 or len(rest) != 1 or head in seen:
                raise self.ill_formed(owner, parameter, "its value is not a list")
            seen.add(head)
            members.append(first[0])
            head = rest[0]
        return tuple(members)

    def name(self, term: str) -> str:
        """A term, a blank node by a name that an edit elsewhere does not change."""
        if not is_blank(term):
            return term
        if term not in self._names:
            content = f"{self._owner(term, frozenset())}\n{self._content(term, frozenset())}"
            digest = sha256(content.encode()).hexdigest()[:_NAME_LENGTH]
            self._names[term] = f"<urn:weir:shape:{digest}>"
        return self._names[term]

    def _content(self, term: str, inside: frozenset[str]) -> str:
        """What a document says about a blank node, and about those in it."""
        if not is_blank(term):
            return term
        if term in inside:
            return "_:"
        inside |= {term}
        if self.objects(term, FIRST):
            cells = [*self._cells(term)]
            members = (value for cell in cells for value in self.objects(cell, FIRST))
            return f"({' '.join(self._content(member, inside) for member in members)})"
        said = sorted(
            f"{predicate} {self._content(value, inside)}"
            for predicate, values in self._by_subject.get(term, {}).items()
            for value in values
        )
        return f"[{';'.join(said)}]"

    def _owner(self, term: str, inside: frozenset[str]) -> str:
        """What a blank node is a value of, up to the first name."""
        if not is_blank(term):
            return term
        if term in inside:
            return ""
        seen = {term}
        # A list may be long: each of its cells has one parent, up to its head.
        while [by for _, by in self._parents[term]] == [REST]:
            term = self._parents[term][0][0]
            if term in seen:
                return ""
            seen.add(term)
        inside |= seen
        return min(
            (f"{self._owner(parent, inside)} {by}" for parent, by in self._parents[term]),
            default="",
        )

    def _cells(self, head: str) -> Iterator[str]:
        """The cells of a list, as far as it is one."""
        seen = set[str]()
        while head not in seen and self.objects(head, FIRST):
            seen.add(head)
            yield head
            head = next(iter(self.objects(head, REST)), NIL)

    def message(self, node: str) -> str | None:
        """The first message of a node: without a language, then English, then any.

        Raises:
            ShapesSyntaxError: one is no literal.
        """
        messages = self.objects(node, sh("message"))

        def order(message: str) -> tuple[int, str]:
            term = parse_term(message)
            if not isinstance(term, Literal):
                raise self.ill_formed(node, "message", "its value is not a literal")
            language = term.language or ""
            return (0 if not language else 1 if language.startswith("en") else 2), message

        return min(messages, key=order, default=None)

    def shown(self, term: str) -> str:
        """A shape as messages name it: its IRI, or the IRI that it belongs to."""
        owner = self._owner(term, frozenset()).partition(" ")[0]
        return term if not is_blank(term) else f"a shape of {owner or 'the file'}"

    def place(self, term: str, word: str = "") -> str:
        """File, line and column where a shape begins, or where a word follows its beginning."""
        start = self._start(self._owner(term, frozenset()).partition(" ")[0])
        if word:
            match = re.compile(rf"(?<![\w-]){re.escape(word)}(?![\w-])").search(self.text, start)
            start = match.start() if match else start
        line = self.text.count("\n", 0, start) + 1
        column = start - (self.text.rfind("\n", 0, start) + 1) + 1
        return f"{self.file}:{line}:{column}"

    def _start(self, term: str) -> int:
        """Where the text first begins a statement with a term, 0 if it is not seen."""
        text = term[1:-1]
        names = [re.escape(term)]
        for prefix, namespace in self.prefixes.items():
            if namespace and text.startswith(namespace):
                names.append(re.escape(f"{prefix}:{text[len(namespace) :]}"))
        match = re.search(rf"^\s*(?P<name>{'|'.join(names)})(?=[\s;])", self.text, re.MULTILINE)
        return match.start("name") if match else 0

    @cached_property
    def prefixes(self) -> Mapping[str, str]:
        """The namespaces of the document, by prefix."""
        return dict(_PREFIX.findall(self.text))

    def ill_formed(self, term: str, parameter: str, reason: str, hint: str = "") -> ShapesError:
        """That a shape is not one, because of one of its parameters."""
        what = f"sh:{parameter} of {self.shown(term)}"
        return ShapesSyntaxError(what, self.place(term, f"sh:{parameter}"), reason, hint)


_PREFIX = re.compile(r"(?i:@?prefix)\s+([\w.-]*):\s*<([^<>]*)>")


def _triples(text: str, file: str) -> Iterator[Triple]:
    try:
        batches = [*read_document(text.encode(), "turtle", _BASE, {}, ParseLimits())]
    except SyntaxError as error:
        where = f"{file}:{error.lineno or 1}:{error.offset or 1}"
        raise ShapesSyntaxError("shapes", where, f"not Turtle: {error.msg}") from error
    for batch in batches:
        assert isinstance(batch, bytes), "Turtle has no values that are not RDF"
        lines = Lines.of(batch)
        terms = split_terms(lines, np.arange(len(lines)))
        columns = (terms.subject, terms.predicate, terms.object)
        yield from zip(*(column.to_pylist() for column in columns), strict=True)
