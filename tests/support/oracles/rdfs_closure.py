"""What follows from triples by rho-df, computed from the definition, rule after rule.

The result has the triples themselves, and no triple with a literal as its subject or with anything
but an IRI as its predicate. It shares nothing with `weir.sparql.algebra.rdfs`, and is compared with
owlrl.
"""

from __future__ import annotations

from collections.abc import Iterable

Triple = tuple[str, str, str]

_RDFS = "http://www.w3.org/2000/01/rdf-schema#"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
SUBCLASS, SUBPROPERTY, DOMAIN, RANGE = (
    f"<{_RDFS}{name}>" for name in ("subClassOf", "subPropertyOf", "domain", "range")
)
SCHEMA = (SUBCLASS, SUBPROPERTY, DOMAIN, RANGE)


def closure(asserted: Iterable[Triple]) -> frozenset[Triple]:
    """The triples, and what follows from them."""
    triples = {*asserted}
    classes, properties = (
        _transitive({(s, o) for s, p, o in triples if p == predicate})
        for predicate in (SUBCLASS, SUBPROPERTY)
    )
    schema = {triple for triple in triples if triple[1] in SCHEMA}
    schema |= {(s, SUBCLASS, o) for s, o in classes}
    schema |= {(s, SUBPROPERTY, o) for s, o in properties}
    # rdfs7, rdfs2, rdfs3, rdfs9
    lifted = triples | {(x, q, y) for x, p, y in triples for r, q in properties if p == r}
    types = {(x, c) for x, p, c in lifted if p == TYPE}
    types |= {(x, c) for x, p, _ in lifted for q, d, c in schema if (q, d) == (p, DOMAIN)}
    types |= {(y, c) for _, p, y in lifted for q, r, c in schema if (q, r) == (p, RANGE)}
    types |= {(x, d) for x, c in types for e, d in classes if c == e}
    facts = {triple for triple in lifted if triple[1] not in SCHEMA}
    facts |= {(x, TYPE, c) for x, c in types}
    return frozenset(
        (s, p, o) for s, p, o in facts | schema if not s.startswith('"') and p.startswith("<")
    )


def _transitive(pairs: set[tuple[str, str]]) -> set[tuple[str, str]]:
    while True:
        longer = {(a, d) for a, b in pairs for c, d in pairs if b == c} - pairs
        if not longer:
            return pairs
        pairs = pairs | longer
