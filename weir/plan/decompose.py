"""Connected-variable decomposition of a basic graph pattern (000, Sections 4.1 and 4.2).

The variables of a pattern that occur together belong to one block; a block's segment is every
pattern that mentions one of its variables; the patterns without variables are the ground part.
Segments share no variable, so the solutions of the whole are the product of theirs. The paper's
definitions exclude self loops by oversight (fixtures 000-9, 000-10): `?X p ?X` is here one more
pattern of X's segment, tested by subject = object.
"""

from __future__ import annotations

from dataclasses import dataclass

from weir.plan.leaves import ComponentClass
from weir.sparql.algebra.expressions import Constant, Variable
from weir.sparql.algebra.patterns import Bgp, TriplePattern


@dataclass(frozen=True, slots=True)
class Segment:
    """One segment: its patterns in an order in which each shares a variable with an earlier one,
    and its class.
    """

    patterns: tuple[TriplePattern, ...]
    kind: ComponentClass

    @property
    def block(self) -> frozenset[str]:
        """The block of the partition P(V); empty for the ground part."""
        return frozenset(name for pattern in self.patterns for name in pattern.variables)


def partition(patterns: tuple[TriplePattern, ...]) -> tuple[frozenset[str], ...]:
    """The connected-variable partition P(V), in order of first appearance."""
    blocks: list[set[str]] = []
    for pattern in patterns:
        names = set(pattern.variables)
        if not names:
            continue
        touched = [block for block in blocks if block & names]
        merged = names.union(*touched)
        first = blocks.index(touched[0]) if touched else len(blocks)
        blocks = [block for block in blocks if block not in touched]
        blocks.insert(first, merged)
    return tuple(frozenset(block) for block in blocks)


def decompose(bgp: Bgp) -> tuple[Segment, ...]:
    """The segments of `bgp`: the ground part first, if any, then one per block. A repeated pattern
    counts once.
    """
    patterns = tuple(dict.fromkeys(bgp.patterns))
    ground = tuple(pattern for pattern in patterns if not pattern.variables)
    segments = [Segment(ground, "ground")] if ground else []
    for block in partition(patterns):
        own = tuple(pattern for pattern in patterns if block & set(pattern.variables))
        kind = classify(own)
        segments.append(Segment(join_order(own), kind))
    return tuple(segments)


def classify(patterns: tuple[TriplePattern, ...]) -> ComponentClass:
    """The class of one segment (000, Definitions 6, 10 and 12)."""
    block = {name for pattern in patterns for name in pattern.variables}
    if not block:
        return "ground"
    is_star = len(block) == 1 and all(
        isinstance(pattern.predicate, Constant) for pattern in patterns
    )
    return "simple var-centric star" if is_star else "connected-variable"


def join_order(patterns: tuple[TriplePattern, ...]) -> tuple[TriplePattern, ...]:
    """An order in which every pattern but the first shares a variable with an earlier one;
    constants first.
    """
    left = sorted(patterns, key=_free)
    ordered = [left.pop(0)]
    bound = set(ordered[0].variables)
    while left:
        joined = [pattern for pattern in left if bound & set(pattern.variables)] or left
        chosen = min(joined, key=lambda pattern: len(set(pattern.variables) - bound))
        left.remove(chosen)
        ordered.append(chosen)
        bound |= set(chosen.variables)
    return tuple(ordered)


def _free(pattern: TriplePattern) -> tuple[int, int]:
    variables = sum(isinstance(node, Variable) for node in pattern.nodes)
    return (variables, isinstance(pattern.predicate, Variable))
