"""SPARQL expressions as frozen values: https://www.w3.org/TR/sparql11-query/#expressions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from weir.sparql.algebra.patterns import Pattern


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable, without its question mark; a blank node of a query is named `_:label`."""

    name: str

    def __post_init__(self) -> None:
        if not self.name:
            raise ValueError("a variable needs a name")


@dataclass(frozen=True, slots=True)
class Constant:
    """An RDF term in N-Triples form: `<iri>`, `"x"`, `"x"@en`, `"1"^^<datatype>`."""

    term: str


@dataclass(frozen=True, slots=True)
class Call:
    """An operator or function applied to expressions.

    `function` is the keyword of the SPARQL grammar in upper case (`BOUND`, `REGEX`, `IN`), an
    operator symbol (`&&`, `||`, `!`, `=`, `!=`, `<`, `>`, `<=`, `>=`, `+`, `-`, `*`, `/`, unary
    `NEG` and `POS`), or the IRI of a cast in N-Triples form. `IN` and `NOT IN` have the tested
    expression first. No query can write `SORTKEY` and `SORTKEY DESC`, which translation adds.
    """

    function: str
    arguments: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class Exists:
    """`EXISTS { pattern }`; NOT EXISTS is its negation with `!`.

    The values of the solution that the expression is evaluated for are substituted in the pattern:
    https://www.w3.org/TR/sparql11-query/#defn_substitute.
    """

    pattern: Pattern


Expression = Variable | Constant | Call | Exists


def conjunction(conditions: Sequence[Expression]) -> Expression | None:
    """All of `conditions`; None, which is true, of none."""
    if len(conditions) < 2:
        return conditions[0] if conditions else None
    return Call("&&", tuple(conditions))


def conjuncts(condition: Expression) -> tuple[Expression, ...]:
    """The conditions of which `condition` is the conjunction; none of them is one itself."""
    if isinstance(condition, Call) and condition.function == "&&":
        return tuple(part for argument in condition.arguments for part in conjuncts(argument))
    return (condition,)
