"""What follows by OWL 2 RL, by owlrl, without what Weir's rules leave out."""

from __future__ import annotations

from collections.abc import Collection

import rdflib
from owlrl import DeductiveClosure, OWLRL_Semantics

from tests.support.generators.basic_cases import Triple
from tests.support.generators.owl_cases import OWL, RDFS, TYPE

_REFLEXIVE = {
    f"<{RDFS}subClassOf>",
    f"<{RDFS}subPropertyOf>",
    f"<{OWL}equivalentClass>",
    f"<{OWL}equivalentProperty>",
    f"<{OWL}sameAs>",
}
_CONCLUDED = {*_REFLEXIVE, TYPE, f"<{RDFS}domain>", f"<{RDFS}range>"} - {f"<{OWL}sameAs>"}
_ENDS = {f"<{OWL}Thing>", f"<{OWL}Nothing>"}


def owl_closure(triples: Collection[Triple]) -> set[Triple]:
    """The triples, and those of their own terms that follow; see `without_trivial`."""
    graph = rdflib.Graph()
    graph.parse(data="".join(f"{s} {p} {o} .\n" for s, p, o in triples), format="nt")
    DeductiveClosure(OWLRL_Semantics).expand(graph)
    terms = {term for triple in triples for term in triple}
    every = ((s.n3(), p.n3(), o.n3()) for s, p, o in graph)
    follows = {
        (s, p, o)
        for s, p, o in every
        if terms.issuperset((s, o)) and (p in terms or p in _CONCLUDED)
    }
    return without_trivial(follows) | without_trivial(triples)


def without_trivial(triples: Collection[Triple]) -> set[Triple]:
    """Triples without those that say that something is below itself, or about owl:Thing."""
    return {
        (s, p, o)
        for s, p, o in triples
        if not (s == o and p in _REFLEXIVE) and _ENDS.isdisjoint((s, o))
    }
