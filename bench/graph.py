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

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import cycle, islice
from pathlib import Path

import duckdb
import pyarrow as pa

from weir.lake.delta.commit import create_if_missing, write
from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake
from weir.lake.tables import GRAPHS, QUADS, REJECTED, TRANSACTIONS, TRIPLES

NAMESPACE = "http://example.org/"
_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
SMALLEST = 5_000
"""Quads below which the changes would not find a thousand different triples."""
PIECE = 1_000_000
"""Rows per file."""
_SHARES = {"knows": 30, "memberOf": 40, "org name": 10, "name": 10, "leads": 6, "inPlace": 4}
"""Of 100 pairs of changes, those of a kind."""
_IN_ORDER = [kind for kind, share in _SHARES.items() for _ in range(share)]
_KINDS = [_IN_ORDER[i * 37 % 100] for i in range(100)]
"""The kinds of 100 pairs, mixed."""


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

    def changes(self, sizes: Sequence[int]) -> list[list[Change]]:
        """Change sets of so many changes, even numbers: as many retractions as assertions.

        Of 100 pairs, 30 are acquaintances, 40 memberships, 10 names of organizations (the
        first of them the greatest hub), 10 names of people, 6 leaders, 4 places of organizations.
        No triple is changed twice.

        Raises:
            ValueError: the graph has not so many different triples.
        """
        most = self.most_changes
        if sum(sizes) > most:
            raise ValueError(f"at most {most} changes of {self.quads} quads, not {sum(sizes)}")
        kinds = cycle(_KINDS)
        begun = Counter[str]()
        sets = []
        for size in sizes:
            lines: list[Change] = []
            for kind, count in Counter(islice(kinds, size // 2)).items():
                lines += self._pairs(kind, begun[kind], begun[kind] + count)
                begun[kind] += count
            sets.append(lines)
        return sets

    @property
    def most_changes(self) -> int:
        """How many changes concern different triples."""
        return min(self._subjects(kind) // share for kind, share in _SHARES.items()) * 200

    def _subjects(self, kind: str) -> int:
        """How many subjects have triples of a kind."""
        if kind == "leads":
            return self.people // 20
        return self.organizations if kind in ("org name", "inPlace") else self.people

    def _pairs(self, kind: str, begin: int, end: int) -> Iterator[Change]:
        """The changes of a kind with these numbers: one triple goes, another comes."""
        subjects = self._subjects(kind)
        subject = f"(n * 7919 % {subjects})"
        formulas: dict[str, Callable[[str], str]] = {
            "knows": self._acquaintance,
            "memberOf": self._membership,
            "leads": self._led,
            "inPlace": lambda i: f"({i} * 7919) % {self.places}",
        }
        value = formulas[kind](subject) if kind in formulas else subject
        numbers = duckdb.execute(
            f"SELECT {subject}, {value} FROM range({begin}, {end}) AS numbers(n) ORDER BY n"
        ).fetchall()
        predicate = f"<{NAMESPACE}{'name' if kind == 'org name' else kind}>"
        for number, old in numbers:
            term, objects = self._pair(kind, number, old)
            yield Change(False, term, predicate, objects[0])
            yield Change(True, term, predicate, objects[1])

    def _pair(self, kind: str, number: int, old: int) -> tuple[str, tuple[str, str]]:
        """The subject with a number, its old object, which has the number `old`, and a new one."""
        match kind:
            case "knows":
                # Neither the hub nor the next person.
                new = next(
                    n for n in (number + 2, number + 3, number + 4) if n % self.people != old
                )
                objects = _term("person", old), _term("person", new % self.people)
                return _term("person", number), objects
            case "memberOf":
                return _term("person", number), self._neighbours("organization", old)
            case "leads":
                return _term("person", number * 20), self._neighbours("organization", old)
            case "inPlace":
                return _term("organization", number), self._neighbours("place", old)
            case "org name":
                objects = f'"Organization {number}"', f'"Organization {number} Ltd"'
                return _term("organization", number), objects
            case _:
                return _term("person", number), (f'"Person {number}"', f'"Person {number} Jr"')

    def _neighbours(self, kind: str, number: int) -> tuple[str, str]:
        count = self.places if kind == "place" else self.organizations
        return _term(kind, number), _term(kind, (number + 1) % count)


def patch(number: int, changes: list[Change]) -> str:
    """A change set as RDF Patch; the unnamed graph."""
    head = [f"H id <urn:bench:{number}> ."]
    if number > 1:
        head.append(f"H prev <urn:bench:{number - 1}> .")
    body = [
        f"{'A' if change.insert else 'D'} {change.subject} {change.predicate} {change.object} ."
        for change in changes
    ]
    return "\n".join([*head, "TX .", *body, "TC .", ""])


def source(changes: Path) -> dict[str, str]:
    """The declaration of the source whose change sets are in the folder `changes`."""
    return {
        "name": "generated",
        "kind": "patches",
        "location": str(changes),
        "graph": "default",
    }


def write_graph(lake: Path, graph: Graph) -> None:
    """Write the graph as epoch 1 of a new lake: a commit and a file per piece."""
    root, metadata = str(lake), Metadata("generated", "ingest", 1)
    for table in (GRAPHS, REJECTED):
        create_if_missing(Lake(root), table)
    owner = {"graph": "", "source": "generated", "run_id": "generated"}
    write(Lake(root), GRAPHS, [owner], metadata)
    versions = (0, 0)
    count = 0
    for piece in graph.pieces():
        rows = piece.append_column("epoch", pa.repeat(pa.scalar(1, pa.int64()), len(piece)))
        rows = rows.append_column("weight", pa.repeat(pa.scalar(1, pa.int32()), len(piece)))
        quads = rows.append_column("graph", pa.repeat(pa.scalar(""), len(piece)))
        versions = (
            write(Lake(root), QUADS, quads, metadata),
            write(Lake(root), TRIPLES, rows, metadata),
        )
        count += len(piece)
    transaction = {
        "epoch": 1,
        "source": "generated",
        "position": "0000.rdfp",
        "ingested_at": datetime(2026, 1, 1, tzinfo=UTC),
        "inserted": count,
        "deleted": 0,
        "rejected": 0,
        "quads_version": versions[0],
        "triples_version": versions[1],
        "run_id": "generated",
    }
    write(Lake(root), TRANSACTIONS, [transaction], metadata)


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
