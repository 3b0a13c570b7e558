"""Random queries with blocks of SERVICE, each with histories of the dataset and of the replicas.

The histories of a case are one after another, as in `grammar_cases`: each begins with nothing.

A seed gives the same case everywhere. What a block stands for is the bag of mappings that its
replica has, so with these as inline data in its place the query is one that any engine answers.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import pyoxigraph as ox

from tests.support.generators.basic_cases import NODES, PREDICATES, Quad, Triple, iri
from tests.support.generators.grammar import LITERALS, NAMES, Writer
from tests.support.generators.grammar_cases import departure_of, random_quad
from tests.support.oracles.histories import Change
from weir.remotes.replica_quads import RowPattern
from weir.sparql.algebra.patterns import Service
from weir.sparql.algebra.queries import Query
from weir.sparql.algebra.services import pattern_id
from weir.sparql.frontend.errors import UnsupportedQuery
from weir.sparql.frontend.translate import translate

HISTORIES = 20
REMOTES = ("<http://remote.example/a>", "<http://remote.example/b>")
Solution = tuple[tuple[str, str], ...]
"""The variables that are bound, each with its term."""
Bag = Counter[Solution]


@dataclass(frozen=True)
class ServiceCase:
    """A query and a history.

    Attributes:
        seed: of the case.
        query: the text, with blocks of SERVICE.
        default_graph: as the query declares it.
        history: the quads of each epoch, those of replicas among them.
        own: the quads of each epoch without those.
        services: the blocks by their text, with their keys.
        bags: by the text of a block, at each epoch the mappings of its replica.
        departure: why pyoxigraph may depart from the specification; None if it is the oracle.
    """

    seed: int
    query: str
    default_graph: str
    history: tuple[Change, ...]
    own: tuple[Change, ...]
    services: dict[str, Service]
    bags: dict[str, list[Bag]]
    departure: str | None

    def text(self, bags: Mapping[str, Bag]) -> str:
        """The query with inline data in the place of each block: the mappings of its bag."""
        return _with_mappings(self.query, self.services, bags)


@dataclass
class ServiceWriter(Writer):
    """Writes a query with blocks.

    Attributes:
        blocks: the blocks so far, as they stand in the text.
    """

    blocks: list[str] = field(default_factory=list)

    def element(self) -> Callable[[int], str]:
        return self.service if self.rng.random() < 0.3 else super().element()

    def block(self, depth: int) -> str:
        if self.rng.random() < 0.2:
            return self.service(depth)
        return super().block(depth)

    def service(self, depth: int) -> str:
        del depth
        rng = self.rng
        known = [name for name in self.used if name in NAMES] or [*NAMES]
        x = rng.choice(known)
        y, z = rng.sample([name for name in NAMES if name != x], 2)
        # No two blocks are equal, so that each has mappings of its own.
        own = f"<http://remote.example/p{len(self.blocks)}>"
        other = "<http://remote.example/q>"
        block = rng.choice(
            (
                f"?{x} {own} ?{y}",
                f"?{x} {own} ?{y} . ?{y} {other} ?{z}",
                f"?{x} {own} 1 OPTIONAL {{ ?{x} {other} ?{y} }}",
                f"?{x} {own} ?{y} FILTER(?{y} > 1)",
                f"{{ ?{x} {own} ?{y} }} UNION {{ ?{x} {other} ?{z} }}",
                f"SELECT ?{x} (COUNT(*) AS ?{y}) {{ ?{x} {own} ?{z} }} GROUP BY ?{x}",
                f"OPTIONAL {{ ?{x} {own} ?{y} }}",
                f"GRAPH ?{y} {{ ?{x} {own} _:n }}",
                f"<http://remote.example/s> {own} 1",
            )
        )
        self.blocks.append(block)
        self.used += [name for name in (x, y, z) if f"?{name}" in block]
        silent = rng.choice(("", "", "SILENT "))
        return f"SERVICE {silent}{rng.choice(REMOTES)} {{ {block} }}"


@dataclass
class FilterWriter(ServiceWriter):
    """Writes a query with blocks, and FILTERs beside them."""

    def service(self, depth: int) -> str:
        rng, before = self.rng, {*self.used}
        block = super().service(depth)
        bound = [name for name in NAMES if f"?{name}" in block]
        if not bound:
            return block
        # What is bound before is the key mostly, which needs no filter.
        bound = [name for name in bound if name not in before] or bound
        condition = " && ".join(self._comparison(bound) for _ in range(rng.choice((1, 1, 2))))
        return rng.choice(
            (
                f"{block} FILTER({condition})",
                f"{block} FILTER({condition})",
                f"OPTIONAL {{ {block} FILTER({condition}) }}",
                f"OPTIONAL {{ {block} }} FILTER({condition})",
                f"MINUS {{ {block} FILTER({condition}) }}",
                f"MINUS {{ {block} }} FILTER({condition})",
                f"FILTER NOT EXISTS {{ {block} FILTER({condition}) }}",
                f"{{ {{ {block} }} UNION {{ {self.block(0)} }} FILTER({condition}) }}",
            )
        )

    def _comparison(self, names: Sequence[str]) -> str:
        rng, constants = self.rng, (*NODES[:2], *LITERALS)
        name = rng.choice(names)
        return rng.choice(
            (
                f"?{name} {rng.choice(('=', '!=', '<', '<=', '>', '>='))} {rng.choice(constants)}",
                f"?{name} {rng.choice(('<', '<=', '>', '>='))} {rng.choice((1, 2, 1.5))}",
                f"?{name} != {rng.choice(NODES[:3])}",
                f"?{name} IN ({', '.join(rng.sample(constants, 3))})",
            )
        )


def service_case(seed: int, writes: type[ServiceWriter] = ServiceWriter) -> ServiceCase:
    """The case of a seed, with a query by this kind of writer."""
    rng = random.Random(f"service {seed}")
    while True:
        default_graph = rng.choice(("union", "default"))
        pool = sorted({random_quad(rng, NODES) for _ in range(rng.randint(8, 20))})
        read: dict[str, list[Triple]] = {}
        for graph, s, p, o in pool:
            for name in {graph, ""} if default_graph == "union" else {graph}:
                read.setdefault(name, []).append((s, p, o))
        writer = writes(rng, read)
        query = writer.query()
        if not writer.blocks:
            continue
        try:
            asked = translate(query, default_graph).asked  # type: ignore[arg-type]
        except UnsupportedQuery:
            continue
        services = {node.service.block: node.service for node in asked}
        if services.keys() == set(writer.blocks):
            break
    lengths = [rng.randint(2, 4) for _ in range(HISTORIES)]
    own = _own_history(rng, pool, lengths)
    replicas = {
        block: [bag for length in lengths for bag in _replica(rng, writer, services[block], length)]
        for block in writer.blocks
    }
    history = _with_replicas(own, [(services[b], bags) for b, bags in replicas.items()])
    case = ServiceCase(seed, query, default_graph, history, own, services, replicas, None)
    texts = (
        case.text({block: bags[i] for block, bags in replicas.items()}) for i in range(len(own))
    )
    departure = next((d for d in (departure_of(t, writer, pool) for t in texts) if d), None)
    return replace(case, departure=departure)


def pushed_case(case: ServiceCase) -> tuple[ServiceCase, Query]:
    """The same case and query, but remotes are given the filters around blocks and apply them."""
    query = translate(case.query, case.default_graph, push_filters=True)  # type: ignore[arg-type]
    services, bags = dict(case.services), dict(case.bags)
    for service in (asked.service for asked in query.asked):
        for block in case.bags:
            if service.block.startswith(f"{{ {block} }} FILTER"):
                services[block] = service
                bags[block] = [_passing(block, service, bag) for bag in case.bags[block]]
    history = _with_replicas(case.own, [(services[block], bags[block]) for block in bags])
    return replace(case, history=history, services=services, bags=bags), query


def _passing(block: str, service: Service, bag: Bag) -> Bag:
    """The mappings of a bag that a remote sends of a block with filters."""
    data = _inline(service, bag)
    solutions = ox.Store().query(f"SELECT * {{ {service.block.replace(block, data, 1)} }}")
    assert isinstance(solutions, ox.QuerySolutions)
    passing: Bag = Counter()
    for solution in solutions:
        terms = ((name, solution[name]) for name in service.variables)
        passing[tuple((name, str(term)) for name, term in terms if term is not None)] += 1
    return passing


def _inline(service: Service, bag: Bag) -> str:
    rows, variables = [], service.variables
    for mapping, multiplicity in sorted(bag.items()):
        terms = dict(mapping)
        row = " ".join(terms.get(name, "UNDEF") for name in variables)
        rows += [f"({row})"] * multiplicity
    names = " ".join(f"?{name}" for name in variables)
    return f"{{ VALUES ({names}) {{ {' '.join(rows)} }} }}"


def _with_mappings(query: str, services: dict[str, Service], bags: Mapping[str, Bag]) -> str:
    for block, bag in bags.items():
        data = _inline(services[block], bag)
        for remote in REMOTES:
            for silent in ("", "SILENT "):
                query = query.replace(f"SERVICE {silent}{remote} {{ {block} }}", data)
    return query


def _own_history(
    rng: random.Random, pool: Sequence[Quad], lengths: Sequence[int]
) -> tuple[Change, ...]:
    present: frozenset[Quad] = frozenset()
    changes: list[Change] = []
    for length in lengths:
        for i in range(length):
            often = rng.choice((0.0, 0.2, 0.4)) if i else 1.0
            vanish = {quad for quad in sorted(present) if rng.random() < often}
            count = rng.choice((0, 1, 2, 4, 8)) if i else 8
            appear = set(rng.sample(pool, min(len(pool), count)))
            after = (present - vanish) | appear
            changes.append((present - after, after - present))
            present = after
    return tuple(changes)


def _replica(rng: random.Random, writer: ServiceWriter, service: Service, length: int) -> list[Bag]:
    """The bags of mappings of a replica over a history; some stay as they are."""

    def term(name: str) -> str:
        known = writer.witness.get(name)
        if known and known[0] != "_" and rng.random() < 0.5:
            return known
        return rng.choice((*NODES[:3], *LITERALS, PREDICATES[0], iri("g1")))

    def mapping() -> Solution:
        return tuple(
            (name, term(name))
            for name in service.variables
            if name in service.certain or rng.random() < 0.6
        )

    pool = [mapping() for _ in range(rng.randint(1, 6))]
    bags: list[Bag] = []
    bag: Bag = Counter()
    for _ in range(length):
        if rng.random() < 0.6:
            bag = Counter({row: rng.choice((1, 1, 2)) for row in pool if rng.random() < 0.6})
        bags.append(bag)
    return bags


def _with_replicas(
    own: Sequence[Change], replicas: Sequence[tuple[Service, list[Bag]]]
) -> tuple[Change, ...]:
    before: frozenset[Quad] = frozenset()
    changes: list[Change] = []
    for i, (vanish, appear) in enumerate(own):
        after = frozenset(
            quad
            for service, bags in replicas
            for mapping, multiplicity in bags[i].items()
            for quad in _pattern(service).quads_of(dict(mapping), range(1, multiplicity + 1))
        )
        changes.append((vanish | (before - after), appear | (after - before)))
        before = after
    return tuple(changes)


def _pattern(service: Service) -> RowPattern:
    return RowPattern(service.remote, pattern_id(service), not service.certain)
