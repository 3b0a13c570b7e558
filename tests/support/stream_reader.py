"""Reads a Linked Data Event Stream as its specifications say, without Weir: links, order, versions.

It knows of Weir only in which properties the columns of a row are, and the epoch of a member.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import pyoxigraph as ox

LDES, TREE = "https://w3id.org/ldes#", "https://w3id.org/tree#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
Bounds = Mapping[str, datetime]
"""By the type of a relation, its value."""
Row = frozenset[tuple[str, str]]
"""Of a row of a CONSTRUCT the triple; else names of columns with their terms."""


@dataclass(frozen=True, slots=True)
class _Member:
    """A member: its order, and what it says."""

    order: tuple[datetime, int]
    epoch: int
    entity: str
    kind: str
    row: Row
    times: int


@dataclass(slots=True)
class Reader:
    """A client that has read a stream.

    Attributes:
        fetch: gives the content at an address.
        root: where the stream begins.
        pages: the members of each page.
        immutable: the pages that say of themselves that they never change.
    """

    fetch: Callable[[str], bytes]
    root: str
    pages: dict[str, tuple[str, ...]] = field(default_factory=dict)
    immutable: set[str] = field(default_factory=set)
    _members: dict[str, _Member] = field(default_factory=dict)

    def states(self) -> Mapping[int, Mapping[Row, int]]:
        """By epoch with a member, how often the answer has a row after it."""
        stream, said = self._root()
        self._follow(self.root, stream, said, [])
        return _states(self._members.values(), said)

    def states_of(self, members: Mapping[str, ox.Store]) -> Mapping[int, Mapping[Row, int]]:
        """The same of members that another client has read: by name, what it has of each."""
        _, said = self._root()
        return _states((_member(store, name, said) for name, store in members.items()), said)

    def _root(self) -> tuple[str, Mapping[str, str]]:
        """The stream, and what its root says of it."""
        head = self._store(self.root)
        (stream,) = head.quads_for_pattern(None, _iri(TREE, "view"), ox.NamedNode(self.root), None)
        said = {
            quad.predicate.value.removeprefix(LDES): _text(quad.object)
            for quad in head.quads_for_pattern(stream.subject, None, None, None)
        }
        return _text(stream.subject), said

    def _follow(
        self, address: str, stream: str, said: Mapping[str, str], bounds: Sequence[Bounds]
    ) -> None:
        """Read a page, and those that it links to; what all relations on the way say holds."""
        assert address not in self.pages, "two relations lead to a page"
        store = self._store(address)
        members = store.quads_for_pattern(ox.NamedNode(stream), _iri(TREE, "member"), None, None)
        names = tuple(_text(quad.object) for quad in members)
        self.pages[address] = names
        for name in names:
            assert name not in self._members, "a member is on two pages"
            member = self._members[name] = _member(store, name, said)
            time = member.order[0]
            for bound in bounds:
                assert bound.get("GreaterThanOrEqualToRelation", time) <= time
                assert bound.get("LessThanOrEqualToRelation", time) >= time
        page = ox.NamedNode(address)
        if [*store.quads_for_pattern(page, _iri(LDES, "immutable"), None, None)]:
            self.immutable.add(address)
        links: dict[str, dict[str, datetime]] = {}
        for relation in store.quads_for_pattern(page, _iri(TREE, "relation"), None, None):
            assert isinstance(relation.object, ox.BlankNode)
            own = {
                quad.predicate.value: _text(quad.object)
                for quad in store.quads_for_pattern(relation.object, None, None, None)
            }
            assert own[f"{TREE}path"] == said["timestampPath"]
            kind = own[f"{RDF}type"].removeprefix(TREE)
            links.setdefault(own[f"{TREE}node"], {})[kind] = _time(own[f"{TREE}value"])
        for link, of_link in links.items():
            self._follow(link, stream, said, [*bounds, of_link])

    def _store(self, address: str) -> ox.Store:
        store = ox.Store()
        format_ = ox.RdfFormat.from_extension(address.rpartition(".")[2])
        store.load(self.fetch(address), format_, base_iri=address)
        return store


def _states(members: Iterable[_Member], said: Mapping[str, str]) -> Mapping[int, Mapping[Row, int]]:
    entities, states = dict[str, tuple[Row, int]](), dict[int, dict[Row, int]]()
    for member in sorted(members, key=lambda member: member.order):
        was_there = member.entity in entities
        match member.kind:
            case kind if kind == said["versionDeleteObject"]:
                assert was_there, member
                del entities[member.entity]
            case kind if kind == said["versionUpdateObject"]:
                assert was_there, member
                entities[member.entity] = member.row, member.times
            case kind:
                assert kind == said["versionCreateObject"], member
                assert not was_there, member
                entities[member.entity] = member.row, member.times
        states[member.epoch] = dict(entities.values())
    return states


def _member(store: ox.Store, name: str, said: Mapping[str, str]) -> _Member:
    own = [*store.quads_for_pattern(ox.NamedNode(name), None, None, ox.DefaultGraph())]
    values = {quad.predicate.value: quad.object for quad in own}
    assert len(values) == len(own), "a property has two values"
    payload = [*store.quads_for_pattern(None, None, None, ox.NamedNode(name))]
    row: Row = frozenset(
        (quad.predicate.value.rpartition("#column-")[2], str(quad.object))
        for quad in own
        if "#column-" in quad.predicate.value
    )
    if payload:
        (quad,) = payload
        terms = {"subject": quad.subject, "predicate": quad.predicate, "object": quad.object}
        row = frozenset((position, str(term)) for position, term in terms.items())
    (epoch,) = (v for name, v in values.items() if name.endswith("#epoch"))
    times = [v for name, v in values.items() if name.endswith("#multiplicity")]
    return _Member(
        (_time(_text(values[said["timestampPath"]])), int(_text(values[said["sequencePath"]]))),
        int(_text(epoch)),
        _text(values[said["versionOfPath"]]),
        _text(values[f"{RDF}type"]),
        row,
        int(_text(times[0])) if times else 1,
    )


def _iri(space: str, name: str) -> ox.NamedNode:
    return ox.NamedNode(f"{space}{name}")


def _time(text: str) -> datetime:
    """A time, which must have a zone."""
    time = datetime.fromisoformat(text)
    assert time.tzinfo is not None
    return time


def _text(term: object) -> str:
    return str(getattr(term, "value", ""))
