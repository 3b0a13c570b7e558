"""A generated graph of any size, the same every time: people in organizations in places.

For n quads there are n/5 people, n/50 organizations and n/100 places:

    inPlace   organization -> place, evenly spread
    knows     person -> person: half of them the next person (chains), the others prefer few (hubs)
    leads     every 20th person -> organization
    memberOf  person -> organization, preferring few (hubs)
    name      of everything, literals
    partOf    place -> place, a tree of ten branches each
    rdf:type  of everything, three classes (hubs)

Nothing is random: numbers come from multiplication modulo a prime, so the graph needs no seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import duckdb
import pyarrow as pa

NAMESPACE = "http://example.org/"
_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
SMALLEST = 5_000
"""Quads below which the changes would not find a thousand different triples."""
PIECE = 1_000_000
"""Rows per file."""


@dataclass(frozen=True, slots=True)
class Change:
    """One line of a change set: a triple that appears or vanishes."""

    insert: bool
    subject: str
    predicate: str
    object: str


@dataclass(frozen=True, slots=True)
class Graph:
    """The graph of about `quads` quads."""

    quads: int

    def __post_init__(self) -> None:
        if self.quads < SMALLEST:
            raise ValueError(f"at least {SMALLEST} quads, not {self.quads}")

    @property
    def people(self) -> int:
        """Number of people."""
        return self.quads // 5

    @property
    def organizations(self) -> int:
        """Number of organizations."""
        return self.quads // 50

    @property
    def places(self) -> int:
        """Number of places."""
        return self.quads // 100

    def pieces(self) -> Iterator[pa.Table]:
        """subject, predicate, object; sorted by predicate and subject, a piece per file."""
        connection = duckdb.connect()
        for select, count in self._parts():
            for start in range(0, count, PIECE):
                upto = min(start + PIECE, count)
                rows = connection.sql(select.format(start=start, upto=upto)).to_arrow_table()
                yield rows.select(["subject", "predicate", "object"])

    def _parts(self) -> Iterator[tuple[str, int]]:
        """Per predicate and kind of subject: SQL over the numbers {start}.., and how many."""
        person, organization, place = (
            _iri(kind, "i") for kind in ("person", "organization", "place")
        )

        def one(predicate: str, subject: str, value: str, where: str = "TRUE") -> str:
            return (
                f"SELECT {subject} AS subject, '<{predicate}>' AS predicate, {value} AS object"
                f" FROM range({{start}}, {{upto}}) AS numbers(i) WHERE {where} ORDER BY i"
            )

        def own(name: str) -> str:
            return NAMESPACE + name

        sizes = (
            (organization, "Organization", self.organizations),
            (person, "Person", self.people),
            (place, "Place", self.places),
        )
        in_place = f"(i * 7919) % {self.places}"
        yield one(own("inPlace"), organization, _iri("place", in_place)), self.organizations
        hub, following = self._acquaintance("i"), f"(i + 1) % {self.people}"
        # Every second person also knows the next one; a set has no triple twice.
        both = (
            f"SELECT {person} AS subject, '<{own('knows')}>' AS predicate,"
            f" {_iri('person', 'target')} AS object FROM (SELECT i, unnest(CASE WHEN i % 2 = 0"
            f" AND {hub} <> {following} THEN [{hub}, {following}] ELSE [{hub}] END) AS target"
            " FROM range({start}, {upto}) AS numbers(i)) ORDER BY i, target"
        )
        yield both, self.people
        leader = _iri("person", "i * 20")
        led = _iri("organization", self._led("i"))
        yield one(own("leads"), leader, led), self.people // 20
        member = _iri("organization", self._membership("i"))
        yield one(own("memberOf"), person, member), self.people
        for subject, kind, count in sizes:
            yield one(own("name"), subject, _name(kind, "i")), count
        yield one(own("partOf"), place, _iri("place", "i // 10"), "i > 0"), self.places
        for subject, kind, count in sizes:
            yield one(_TYPE, subject, f"'<{NAMESPACE}{kind}>'"), count

    def _acquaintance(self, i: str) -> str:
        return f"CAST(floor({self.people} * {_spread(i, 1)} * {_spread(i, 1)}) AS BIGINT)"

    def _membership(self, i: str) -> str:
        return f"CAST(floor({self.organizations} * {_spread(i, 2)} * {_spread(i, 2)}) AS BIGINT)"

    def _led(self, i: str) -> str:
        return f"CAST(floor({self.organizations} * {_spread(i, 3)}) AS BIGINT)"

    def changes(self, epochs: int, per_epoch: int = 100) -> list[list[Change]]:
        """Change sets of `per_epoch` changes each: as many retractions as assertions.

        Of fifty pairs: 15 acquaintances, 20 memberships, 5 names of organizations (the first of
        them the greatest hub), 5 names of people, 3 leaders, 2 places of organizations. No triple
        is changed twice.
        """
        shares = {"knows": 30, "memberOf": 40, "org name": 10, "name": 10, "leads": 6, "inPlace": 4}
        sets = []
        for epoch in range(epochs):
            lines: list[Change] = []
            for kind, share in shares.items():
                count = per_epoch * share // 200
                for nth in range(epoch * count, (epoch + 1) * count):
                    lines += self._pair(kind, nth)
            sets.append(lines)
        return sets

    def _pair(self, kind: str, nth: int) -> tuple[Change, Change]:
        """The nth change of a kind: one triple goes, another comes."""
        person = nth * 7919 % self.people
        organization = nth * 7919 % self.organizations
        match kind:
            case "knows":
                subject, old = _term("person", person), self._value(self._acquaintance, person)
                # Neither the hub nor the next person.
                new = next(
                    n for n in (person + 2, person + 3, person + 4) if n % self.people != old
                )
                objects = _term("person", old), _term("person", new % self.people)
            case "memberOf":
                subject, old = _term("person", person), self._value(self._membership, person)
                new = (old + 1) % self.organizations
                objects = _term("organization", old), _term("organization", new)
            case "org name":
                subject = _term("organization", organization)
                objects = f'"Organization {organization}"', f'"Organization {organization} Ltd"'
                kind = "name"
            case "name":
                subject = _term("person", person)
                objects = f'"Person {person}"', f'"Person {person} Jr"'
            case "leads":
                leader = nth * 7919 % (self.people // 20)
                subject, old = _term("person", leader * 20), self._value(self._led, leader)
                new = (old + 1) % self.organizations
                objects = _term("organization", old), _term("organization", new)
            case "inPlace":
                subject, old = _term("organization", organization), organization * 7919
                objects = (
                    _term("place", old % self.places),
                    _term("place", (old + 1) % self.places),
                )
            case _:
                raise ValueError(kind)
        predicate = f"<{NAMESPACE}{kind}>"
        return (
            Change(False, subject, predicate, objects[0]),
            Change(True, subject, predicate, objects[1]),
        )

    @staticmethod
    def _value(formula: Callable[[str], str], i: int) -> int:
        """A formula of the graph at one number, by the arithmetic that made the graph."""
        query = f"SELECT {formula(f'CAST({i} AS BIGINT)')}"
        ((value,),) = duckdb.execute(query).fetchall()
        return int(value)


def patch(number: int, changes: list[Change]) -> str:
    """A change set as RDF Patch; the unnamed graph."""
    head = [f"H id <urn:bench:{number}> ."]
    if number > 1:
        head.append(f"H prev <urn:bench:{number - 1}> .")
    body = [
        f"{'A' if each.insert else 'D'} {each.subject} {each.predicate} {each.object} ."
        for each in changes
    ]
    return "\n".join([*head, "TX .", *body, "TC .", ""])


def _spread(i: str, salt: int) -> str:
    """A number in [0, 1) that looks like chance; steps of about one in a million."""
    return f"((({i}) * 2654435761 + {salt} * 40503) % 1000003 / 1000003.0)"


def _iri(kind: str, number: str) -> str:
    # Padded, so that the order of the terms is that of the numbers.
    return f"'<{NAMESPACE}{kind}/' || lpad(CAST({number} AS VARCHAR), 8, '0') || '>'"


def _term(kind: str, number: int) -> str:
    return f"<{NAMESPACE}{kind}/{number:08d}>"


def _name(kind: str, number: str) -> str:
    return f"'\"{kind} ' || CAST({number} AS VARCHAR) || '\"'"
