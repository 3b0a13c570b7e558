"""BNODE: its node is the same for the same solution and label, at every epoch and in every run.

https://www.w3.org/TR/sparql11-query/#func-bnode
"""

from __future__ import annotations

from weir.sparql.algebra.expressions import Call, Constant, Expression, Variable
from weir.sparql.algebra.traversal import map_arguments

# Hashed into every stored blank node: another text would be another node.
_SEED_PREFIX = Constant('"label"')


def with_solution_seeds(expression: Expression, solution: tuple[str, ...]) -> Expression:
    """`expression` with the terms of the columns `solution` as first argument of each BNODE.

    Its second argument distinguishes the calls of one solution; translation gives each call without
    a label a label of its own.
    """
    seeded = map_arguments(expression, lambda part: with_solution_seeds(part, solution))
    if isinstance(seeded, Call) and seeded.function == "BNODE":
        seed = Call("SOLUTION", (_SEED_PREFIX, *map(Variable, solution)))
        return Call("BNODE", (seed, *seeded.arguments))
    return seeded
