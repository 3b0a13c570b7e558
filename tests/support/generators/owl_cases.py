"""Random ontologies and data of OWL 2 RL that change. A seed gives the same case everywhere.

Lists never change: what a broken list means, implementations do not agree on. There are no
literals: other implementations let them be subjects.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from tests.support.generators.basic_cases import NODES, PREDICATES, Quad, Triple, iri
from tests.support.generators.grammar_cases import History
from tests.support.oracles.histories import Change

RDF, RDFS, OWL = (
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "http://www.w3.org/2000/01/rdf-schema#",
    "http://www.w3.org/2002/07/owl#",
)
TYPE = f"<{RDF}type>"
CLASSES = tuple(iri(name) for name in "ABCDEF")
_LISTS = {
    iri("l1"): CLASSES[:2],
    iri("l2"): CLASSES[1:4],
    iri("l3"): NODES[:2],
    iri("l4"): PREDICATES[:2],
    iri("l5"): PREDICATES[1:3],
}


def owl_case(seed: int) -> History:
    """The history of a seed."""
    rng = random.Random(f"owl {seed}")
    lists = {("", *triple) for triple in _cells()}
    pool = {("", *_statement(rng)) for _ in range(rng.randint(6, 14))}
    pool |= {("", *_fact(rng)) for _ in range(rng.randint(8, 14))}
    present = frozenset(quad for quad in sorted(pool) if rng.random() < 0.7)
    epochs: list[Change] = [(frozenset(), present | lists)]
    for _ in range(4):
        vanish = frozenset(quad for quad in sorted(present) if rng.random() < 0.12)
        absent = sorted(pool - present)
        appear = frozenset(quad for quad in absent if rng.random() < 0.4)
        epochs.append((vanish, appear))
        present = (present - vanish) | appear
    return tuple(epochs)


def _cells() -> Sequence[Triple]:
    cells: list[Triple] = []
    for name, members in _LISTS.items():
        nodes = [name, *(f"{name[:-1]}_{i}>" for i in range(1, len(members)))]
        for node, after, member in zip(nodes, [*nodes[1:], f"<{RDF}nil>"], members, strict=True):
            cells += [(node, f"<{RDF}first>", member), (node, f"<{RDF}rest>", after)]
    return cells


def _fact(rng: random.Random) -> Triple:
    if rng.random() < 0.4:
        return rng.choice(NODES), TYPE, rng.choice(CLASSES)
    return rng.choice(NODES), rng.choice(PREDICATES), rng.choice(NODES)


def _statement(rng: random.Random) -> Triple:
    one, other = rng.choice(CLASSES), rng.choice(CLASSES)
    p, q = rng.choice(PREDICATES), rng.choice(PREDICATES)
    of_classes, of_nodes, of_properties = [*_LISTS][:2], [*_LISTS][2], [*_LISTS][3:]
    return rng.choice(
        (
            (one, f"<{RDFS}subClassOf>", other),
            (one, f"<{RDFS}subClassOf>", other),
            (one, f"<{OWL}equivalentClass>", other),
            (p, f"<{RDFS}domain>", one),
            (p, f"<{RDFS}range>", one),
            (p, f"<{RDFS}subPropertyOf>", q),
            (p, f"<{OWL}equivalentProperty>", q),
            (p, f"<{OWL}inverseOf>", q),
            (p, TYPE, f"<{OWL}SymmetricProperty>"),
            (p, TYPE, f"<{OWL}TransitiveProperty>"),
            (p, f"<{OWL}propertyChainAxiom>", rng.choice(of_properties)),
            (one, f"<{OWL}intersectionOf>", rng.choice(of_classes)),
            (one, f"<{OWL}unionOf>", rng.choice(of_classes)),
            (one, f"<{OWL}oneOf>", of_nodes),
            (one, f"<{OWL}onProperty>", p),
            (one, f"<{OWL}onProperty>", p),
            (one, f"<{OWL}someValuesFrom>", rng.choice((other, other, f"<{OWL}Thing>"))),
            (one, f"<{OWL}allValuesFrom>", other),
            (one, f"<{OWL}hasValue>", rng.choice(NODES)),
        )
    )


def graph_of(quads: frozenset[Quad]) -> set[Triple]:
    """The triples of some quads."""
    return {(s, p, o) for _, s, p, o in quads}
