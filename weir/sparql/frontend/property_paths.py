"""Property paths, and their expansion into triple patterns.

https://www.w3.org/TR/sparql11-query/#sparqlTranslatePathExpressions
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from typing import assert_never

from weir.sparql.algebra.expressions import Constant, Variable
from weir.sparql.algebra.paths import (
    Alternative,
    Closure,
    Inverse,
    Link,
    Negated,
    Pairs,
    Path,
    Sequence,
    ZeroOrOne,
)
from weir.sparql.algebra.patterns import Node, PathPattern, TriplePattern
from weir.sparql.frontend.refusals import refusal
from weir.sparql.frontend.source import Source
from weir.sparql.frontend.tree import Branch, Leaf, Tree

MAX_STEPS = 64


def read_path(branch: Branch, source: Source) -> Path | Variable:
    """The path or the variable of a verb.

    Raises:
        UnsupportedQuery: it has too many steps.
    """
    if isinstance(branch, Leaf) and isinstance(branch.node, Variable):
        return branch.node
    steps = _steps(branch)
    if steps > MAX_STEPS:
        raise source.unsupported(
            "property path",
            source.first_token(branch),
            f"{steps} steps are more than {MAX_STEPS}",
            "Split it into several triple patterns.",
        )
    return _path(branch, source)


def expand(
    subject: Node, path: Path | Variable, object_: Node, fresh: Callable[[], str]
) -> Iterator[TriplePattern | PathPattern]:
    """The triple patterns that are equivalent to a path pattern, and the path patterns that remain.

    The steps of a sequence are joined by variables from `fresh`. `X ^P Y` is `Y P X`.
    https://www.w3.org/TR/sparql11-query/#sparqlTranslatePathPatterns
    """
    match path:
        case Variable():
            yield TriplePattern(subject, path, object_)
        case Link(predicate):
            yield TriplePattern(subject, Constant(predicate), object_)
        case Inverse(inner):
            yield from expand(object_, inner, subject, fresh)
        case Sequence(first, second):
            between = Variable(fresh())
            yield from expand(subject, first, between, fresh)
            yield from expand(between, second, object_, fresh)
        case Alternative() | Negated() | ZeroOrOne() | Closure() | Pairs():
            yield PathPattern(subject, path, object_)
        case _:
            assert_never(path)


def _steps(branch: Branch | None) -> int:
    if isinstance(branch, Tree):
        return sum(_steps(part) for part in branch.all("part"))
    return 1


def _path(branch: Branch, source: Source) -> Path:
    if isinstance(branch, Leaf):
        assert isinstance(branch.node, Constant), "a path is made of IRIs"
        return Link(branch.node.term)
    assert isinstance(branch, Tree), "a path is a production or an IRI"
    if branch.name not in _PRODUCTIONS:
        raise refusal(branch.name, source)
    return _PRODUCTIONS[branch.name](branch, source)


def _alternative(tree: Tree, source: Source) -> Path:
    return reduce(Alternative, (_path(part, source) for part in tree.all("part")))


def _sequence(tree: Tree, source: Source) -> Path:
    return reduce(Sequence, (_path(part, source) for part in tree.all("part")))


def _element(tree: Tree, source: Source) -> Path:
    inner = _path(tree.parts["part"], source)
    match tree.get("mod"):
        case None:
            return inner
        case "?":
            return ZeroOrOne(inner)
        case symbol:
            return Closure(inner, 1 if symbol == "+" else 0)


def _inverse(tree: Tree, source: Source) -> Path:
    return Inverse(_path(tree.parts["part"], source))


def _negated(tree: Tree, _: Source) -> Path:
    """`!(...)`; `!()` is any forward step."""
    forward: list[str] = []
    inverse: list[str] = []
    for part in tree.all("part"):
        leaf = part.parts["part"] if isinstance(part, Tree) else part
        assert isinstance(leaf, Leaf), "a negated set is made of IRIs"
        assert isinstance(leaf.node, Constant), "a negated set is made of IRIs"
        (inverse if isinstance(part, Tree) else forward).append(leaf.node.term)
    return Negated(
        tuple(dict.fromkeys(forward)) if forward or not inverse else None,
        tuple(dict.fromkeys(inverse)) if inverse else None,
    )


_PRODUCTIONS: dict[str, Callable[[Tree, Source], Path]] = {
    "PathAlternative": _alternative,
    "PathSequence": _sequence,
    "PathElt": _element,
    "PathEltOrInverse": _inverse,
    "PathNegatedPropertySet": _negated,
}
