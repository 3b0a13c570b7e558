"""Random queries over schemas and data of RDFS that change.

Schemas have cycles; some say something of rdf:type or of the predicates of schemas themselves. A
seed gives the same case everywhere.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tests.support.generators.basic_cases import NODES, PREDICATES, Quad, iri
from tests.support.generators.grammar import Writer
from tests.support.generators.grammar_cases import History, random_quad
from tests.support.oracles.histories import Change
from tests.support.oracles.rdfs_closure import (
    DOMAIN,
    RANGE,
    SCHEMA,
    SUBCLASS,
    SUBPROPERTY,
    TYPE,
    Triple,
    closure,
)

CLASSES = tuple(iri(name) for name in "ABCD")
_GRAPHS = ("", "", iri("g1"), iri("g2"))


@dataclass(frozen=True)
class EntailedCase:
    """A query under entailment, and the history that it is maintained over."""

    seed: int
    query: str
    default_graph: str
    history: History


def entailed_case(seed: int) -> EntailedCase:
    """The case of a seed: a third each of basic graph patterns, these with OPTIONAL or EXISTS or a
    path, and queries of the whole grammar.
    """
    rng = random.Random(f"entailed {seed}")
    default_graph = rng.choice(("union", "union", "default"))
    pool = sorted(_pool(rng))
    writer = Writer(rng, _readable(pool, default_graph))
    match seed % 3:
        case 0:
            query = f"SELECT * {{ {writer.block(0)} }}"
        case 1:
            parts = (writer.optional, writer.exists, writer.path, writer.in_graph)
            body = f"{writer.block(0)} {rng.choice(parts)(0)} {rng.choice(parts)(0)}"
            query = f"SELECT * {{ {body} }}"
        case _:
            query = writer.query()
    return EntailedCase(seed, query, default_graph, _history(rng, pool))


def entailed_dataset(quads: Iterable[Quad], from_graphs: Iterable[str] | None) -> list[Quad]:
    """The closure of each graph by itself.

    Args:
        quads: the dataset.
        from_graphs: the graphs whose merge is the default graph; None for all.
    """
    graphs: dict[str, set[Triple]] = {"": set()}
    for graph, *triple in quads:
        if graph:
            graphs.setdefault(graph, set()).add(tuple(triple))  # type: ignore[arg-type]
        if from_graphs is None or graph in from_graphs:
            graphs[""].add(tuple(triple))  # type: ignore[arg-type]
    return [(graph, *triple) for graph, read in graphs.items() for triple in closure(read)]


def _history(rng: random.Random, pool: Sequence[Quad]) -> History:
    """Most quads of the pool at first; then some vanish, and some come back."""
    present = frozenset(quad for quad in pool if rng.random() < 0.7)
    epochs: list[Change] = [(frozenset(), present)]
    for _ in range(rng.randint(2, 5)):
        vanish = frozenset(quad for quad in sorted(present) if rng.random() < 0.15)
        absent = sorted(frozenset(pool) - present)
        appear = frozenset(quad for quad in absent if rng.random() < 0.4)
        epochs.append((vanish, appear))
        present = (present - vanish) | appear
    return tuple(epochs)


def _pool(rng: random.Random) -> set[Quad]:
    pool = {random_quad(rng, NODES) for _ in range(rng.randint(5, 12))}
    return pool | {(rng.choice(_GRAPHS), *_statement(rng)) for _ in range(rng.randint(6, 16))}


def _statement(rng: random.Random) -> Triple:
    """A type, or a statement of a schema."""
    property_, other, class_ = rng.choice(PREDICATES), rng.choice(PREDICATES), rng.choice(CLASSES)
    choices: dict[Triple, int] = {
        (rng.choice(NODES), TYPE, class_): 6,
        (rng.choice(CLASSES), SUBCLASS, class_): 6,
        (property_, SUBPROPERTY, other): 6,
        (property_, DOMAIN, class_): 3,
        (property_, RANGE, class_): 3,
        (property_, SUBPROPERTY, TYPE): 1,
        (rng.choice((TYPE, *SCHEMA)), rng.choice((DOMAIN, RANGE)), class_): 1,
        (rng.choice((TYPE, *SCHEMA)), SUBPROPERTY, property_): 1,
        (property_, SUBPROPERTY, rng.choice((*SCHEMA, "_:b", '"x"@en'))): 1,
        (class_, SUBCLASS, rng.choice(("_:b", '"x"@en'))): 1,
        ("_:b", rng.choice((SUBPROPERTY, SUBCLASS)), rng.choice((property_, class_))): 1,
    }
    return rng.choices(list(choices), list(choices.values()))[0]


def _readable(pool: Iterable[Quad], default_graph: str) -> dict[str, list[Triple]]:
    quads = entailed_dataset(pool, None if default_graph == "union" else ("",))
    read: dict[str, list[Triple]] = {}
    for graph, s, p, o in sorted(quads):
        if not any(term.startswith("_:") for term in (s, o)):
            read.setdefault(graph, []).append((s, p, o))
    return read
