"""SPARQL expressions as frozen values (SPARQL 1.1, section 17)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, assert_never

if TYPE_CHECKING:
    from jobs.sparql.algebra.patterns import Pattern


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
    expression first.
    """

    function: str
    arguments: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class Exists:
    """`EXISTS { pattern }`; NOT EXISTS is its negation with `!`.

    The pattern sees the solution that the expression is evaluated for (SPARQL 1.1, section 18.6).
    """

    pattern: Pattern


Expression = Variable | Constant | Call | Exists


def variables_of(expression: Expression) -> frozenset[str]:
    """The names of the variables that `expression` mentions, in an EXISTS anywhere inside."""
    # Patterns contain expressions.
    from jobs.sparql.algebra.scoping import mentioned

    match expression:
        case Variable(name):
            return frozenset({name})
        case Constant():
            return frozenset()
        case Call(_, arguments):
            return frozenset().union(*(variables_of(argument) for argument in arguments))
        case Exists(pattern):
            return mentioned(pattern)
        case _:
            assert_never(expression)


def map_variables(expression: Expression, rename: Callable[[str], str]) -> Expression:
    """`expression` with every variable renamed.

    Raises:
        ValueError: it contains EXISTS, whose pattern is not renamed here.
    """
    match expression:
        case Variable(name):
            return Variable(rename(name))
        case Constant():
            return expression
        case Call(_, arguments):
            return replace(
                expression,
                arguments=tuple(map_variables(argument, rename) for argument in arguments),
            )
        case Exists():
            raise ValueError("EXISTS is a pattern, and not renamed with its expression")
        case _:
            assert_never(expression)
