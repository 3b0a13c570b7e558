"""Random queries of basic graph patterns with filters, over random histories.

A seed gives the same case everywhere.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

PREFIX = "http://example.org/"
XSD = "http://www.w3.org/2001/XMLSchema#"

Quad = tuple[str, str, str, str]
"""Graph, subject, predicate, object; N-Triples forms, the unnamed graph is empty."""

Triple = tuple[str, str, str]


@dataclass(frozen=True)
class Case:
    """A query and a history: per epoch, the quads that vanish and those that appear."""

    seed: int
    query: str
    default_graph: str
    history: tuple[tuple[frozenset[Quad], frozenset[Quad]], ...]


def case(seed: int) -> Case:
    """The case of a seed."""
    rng = random.Random(seed)
    default_graph = rng.choice(("union", "union", "default"))
    history = _random_history(rng)
    seen = {quad for _, appear in history for quad in appear}
    read = sorted({quad[1:] for quad in seen if default_graph == "union" or not quad[0]})
    return Case(seed, _query(rng, read), default_graph, history)


def iri(name: str) -> str:
    return f"<{PREFIX}{name}>"


NODES = tuple(iri(name) for name in "abcd")
PREDICATES = tuple(iri(name) for name in "pqr")
# Numbers are in canonical form, because pyoxigraph's store rewrites any others.
LITERALS = (
    '"1"',
    '"x"@en',
    '"x"@en-gb',
    f'"1"^^<{XSD}integer>',
    f'"1"^^<{XSD}decimal>',
    f'"2.5"^^<{XSD}decimal>',
    '"a \\"quoted\\" \\\\ line\\nbreak"',
    f'"true"^^<{XSD}boolean>',
    '"v"^^<http://example.org/unknown>',
)
GRAPHS = ("", iri("g1"), iri("g2"))


def _quad(rng: random.Random) -> Quad:
    predicate = rng.choice(PREDICATES)
    subject = rng.choice(NODES)
    target = (
        rng.choice(LITERALS) if predicate == PREDICATES[2] else rng.choice((*NODES, *PREDICATES))
    )
    return (rng.choice(GRAPHS), subject, predicate, target)


def _random_history(rng: random.Random) -> tuple[tuple[frozenset[Quad], frozenset[Quad]], ...]:
    present: set[Quad] = set()
    epochs = []
    for _ in range(rng.randint(1, 8)):
        vanish = {quad for quad in sorted(present) if rng.random() < rng.choice((0.0, 0.2, 0.6))}
        appear = {_quad(rng) for _ in range(rng.choice((0, 2, 5, 12, 30)))} - present
        epochs.append((frozenset(vanish), frozenset(appear)))
        present = (present - vanish) | appear
    return tuple(epochs)


def _query(rng: random.Random, triples: Sequence[Triple]) -> str:
    names = rng.sample(("x", "y", "z", "w", "X"), 4)
    size = rng.choice((1, 1, 2, 2, 3, 3, 4))
    if triples and rng.random() < 0.9:
        patterns = _by_example(rng, names, triples, size)
    else:
        patterns = [_pattern(rng, names) for _ in range(size)]
    used = sorted({name for name in names for part in patterns if f"?{name} " in part})
    body = " ".join(f"{part}." for part in patterns)
    if used and rng.random() < 0.4:
        body += f" FILTER({_condition(rng, used, 2)})"
    form = rng.random()
    if form < 0.1:
        return f"ASK {{ {body} }}"
    if form < 0.2 and used:
        first, last = used[0], used[-1]
        template = (
            f"?{first} <{PREFIX}made> ?{last} . _:n <{PREFIX}of> ?{last} . ?{last} ?{first} 1"
        )
        return f"CONSTRUCT {{ {template} }} WHERE {{ {body} }}"
    distinct = rng.choice(("", "DISTINCT "))
    kept = rng.sample(used, rng.randint(1, len(used))) if used and rng.random() < 0.6 else []
    shown = " ".join(f"?{name}" for name in kept) if kept else "*"
    return f"SELECT {distinct}{shown} WHERE {{ {body} }}"


def _by_example(
    rng: random.Random, names: list[str], triples: Sequence[Triple], size: int
) -> list[str]:
    """Patterns made from triples of the history, so that most queries have answers."""
    chosen = [rng.choice(triples)]
    while len(chosen) < size:
        known = {term for s, _, o in chosen for term in (s, o)}
        joined = [t for t in triples if t[0] in known or t[2] in known]
        chosen.append(rng.choice(joined if rng.random() < 0.8 else triples))
    free = iter(names)
    kept: dict[str, str] = {}

    def node(term: str, variable: float) -> str:
        if term not in kept:
            name = next(free, None) if rng.random() < variable else None
            kept[term] = term if name is None else f"?{name}"
        return kept[term]

    return [f"{node(s, 0.8)} {node(p, 0.12)} {node(o, 0.8)} " for s, p, o in chosen]


def _pattern(rng: random.Random, names: list[str]) -> str:
    ground = rng.random() < 0.08

    def node(constants: tuple[str, ...], variable: float) -> str:
        if not ground and rng.random() < variable:
            return f"?{rng.choice(names)}"
        return rng.choice(constants)

    predicate = node(PREDICATES, 0.12)
    objects = LITERALS if predicate == PREDICATES[2] and rng.random() < 0.7 else NODES
    return f"{node(NODES, 0.8)} {predicate} {node(objects, 0.7)} "


def _condition(rng: random.Random, names: list[str], depth: int) -> str:
    variable = f"?{rng.choice(names)}"
    other = f"?{rng.choice(names)}"
    if depth and rng.random() < 0.4:
        left, right = _condition(rng, names, depth - 1), _condition(rng, names, depth - 1)
        return rng.choice((f"({left} && {right})", f"({left} || {right})", f"!({left})"))
    constant = rng.choice((*NODES, *LITERALS))
    return rng.choice(
        (
            f"{variable} = {constant}",
            f"{variable} != {constant}",
            f"{variable} = {other}",
            # Of numbers only: `<` of two IRIs is an error by the specification (17.3), and a value
            # for pyoxigraph.
            f"(isNumeric({variable}) && isNumeric({other}) && {variable} < {other})",
            f"{variable} >= 1",
            f"{variable} IN ({rng.choice(NODES)}, {rng.choice(NODES)})",
            f"{variable} NOT IN ({rng.choice(NODES)}, {constant})",
            f"isIRI({variable})",
            f"isLiteral({variable})",
            f"isNumeric({variable})",
            f"BOUND({variable})",
            f"sameTerm({variable}, {other})",
            f'LANG({variable}) = "en"',
            f'LANGMATCHES(LANG({variable}), "en")',
            f'LANGMATCHES(LANG({variable}), "*")',
            f"DATATYPE({variable}) = <{XSD}integer>",
            f'REGEX(STR({variable}), "[ab]$")',
            f'CONTAINS(STR({variable}), "x")',
            f"STRLEN(STR({variable})) > 3",
            # Of a string; the value of a language-tagged literal is true by the specification
            # (17.2.2, plain literals) and an error for pyoxigraph.
            f"STR({variable})",
        )
    )
