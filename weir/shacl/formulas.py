"""Building blocks of the algebra of shapes: conditions that are true or false, never an error."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

from weir.rdf.terms import literal
from weir.shacl.vocabulary import XSD
from weir.sparql.algebra.expressions import (
    Call,
    Constant,
    Exists,
    Expression,
    Variable,
    conjunction,
    conjuncts,
)
from weir.sparql.algebra.paths import Path
from weir.sparql.algebra.patterns import (
    Aggregate,
    Bgp,
    Distinct,
    Extend,
    Filter,
    Group,
    Join,
    Node,
    PathPattern,
    Pattern,
    Project,
    TriplePattern,
    Union,
    Values,
)
from weir.sparql.frontend.property_paths import expand

TRUE, FALSE = (Constant(literal(text, f"{XSD}boolean")) for text in ("true", "false"))
UNIT = Values((), ((),))
"""The one solution without values."""


class Names:
    """Names of variables, in the order in which a part of a report takes them.

    Parts that begin alike so name their variables alike, and share what they have in common. No
    query can write such a name.
    """

    def __init__(self, taken: int = 0) -> None:
        self.taken = taken

    def fresh(self) -> Variable:
        """Another variable."""
        self.taken += 1
        return Variable(f"node {self.taken}")


def integer(number: int) -> Constant:
    """A number."""
    return Constant(literal(str(number), f"{XSD}integer"))


def text(characters: str) -> Constant:
    """A string."""
    return Constant(literal(characters))


def call(function: str, *arguments: Expression) -> Call:
    """A function of some expressions."""
    return Call(function, arguments)


def sure(condition: Expression) -> Expression:
    """A condition that is false where it would be an error."""
    return call("COALESCE", condition, FALSE)


def negated(condition: Expression) -> Expression:
    """The opposite of a condition that is never an error."""
    match condition:
        case Call("!", (inner,)):
            return inner
        case Constant():
            return FALSE if condition == TRUE else TRUE
        case _:
            return call("!", condition)


def all_of(conditions: Iterable[Expression]) -> Expression:
    """Whether all of some conditions hold."""
    parts = [part for condition in conditions for part in conjuncts(condition) if part != TRUE]
    return FALSE if FALSE in parts else conjunction([*dict.fromkeys(parts)]) or TRUE


def any_of(conditions: Iterable[Expression]) -> Expression:
    """Whether at least one of some conditions holds."""
    parts = [part for part in dict.fromkeys(conditions) if part != FALSE]
    if TRUE in parts or not parts:
        return TRUE if parts else FALSE
    return parts[0] if len(parts) == 1 else Call("||", tuple(parts))


def same(left: Expression, right: Expression) -> Expression:
    """Whether two nodes are the same term."""
    return call("SAMETERM", left, right)


def where(pattern: Pattern, *conditions: Expression) -> Pattern:
    """The solutions of a pattern for which conditions hold."""
    condition = all_of(conditions)
    return pattern if condition == TRUE else Filter(condition, pattern)


def exists(pattern: Pattern, *conditions: Expression) -> Expression:
    """Whether a pattern has a solution for which conditions hold."""
    return FALSE if all_of(conditions) == FALSE else Exists(where(pattern, *conditions))


def triple(subject: Node, predicate: Node, object_: Node) -> Pattern:
    """A pattern of one triple."""
    return Bgp((TriplePattern(subject, predicate, object_),))


def steps(subject: Node, path: Path, object_: Node, names: Names) -> Pattern:
    """A pattern of two nodes that a path connects."""
    patterns = [*expand(subject, path, object_, lambda: names.fresh().name)]
    return beside(*(p if isinstance(p, PathPattern) else Bgp((p,)) for p in patterns))


def beside(*patterns: Pattern) -> Pattern:
    """The join of some patterns; triple patterns beside each other are one pattern."""

    def joined(left: Pattern, right: Pattern) -> Pattern:
        if isinstance(left, Bgp) and isinstance(right, Bgp):
            return Bgp((*left.patterns, *right.patterns))
        return Join(left, right)

    return reduce(joined, [pattern for pattern in patterns if pattern != UNIT] or [UNIT])


def union(patterns: Sequence[Pattern]) -> Pattern:
    """The solutions of all of some patterns."""
    return reduce(Union, patterns)


def distinct(variables: Iterable[Variable], pattern: Pattern) -> Pattern:
    """Some variables of the solutions of a pattern, each solution once."""
    names = tuple(dict.fromkeys(variable.name for variable in variables))
    read, seen = pattern, {*names}
    while isinstance(read, Filter | Extend):
        if isinstance(read, Extend) and isinstance(read.expression, Variable):
            seen.add(read.expression.name)
        read = read.pattern
    projected = Project(names, pattern)
    # Triples are a set, and so is what all of their variables are bound to.
    is_set = isinstance(read, Bgp) and {*read.in_scope} <= seen
    return projected if is_set else Distinct(projected)


def assigned(pattern: Pattern, variable: Variable, value: Expression | None) -> Pattern:
    """A pattern with a variable bound to a value, or left unbound."""
    return pattern if value is None else Extend(pattern, variable.name, value)


def have_many(number: int, focus: Variable, value: Variable, pattern: Pattern) -> Pattern:
    """The focus nodes with at least some number of different values, by a pattern of both."""
    counted = f"{value.name} count"
    groups = Group((focus.name,), ((counted, Aggregate("COUNT", value, distinct=True)),), pattern)
    enough = call(">=", Variable(counted), integer(number))
    return Project((focus.name,), Filter(enough, groups))
