"""RDFS entailment as a rewriting: a query over what follows from a graph, as one over the graph.

    ?x :near ?y  =  distinct of  ?x :near ?y
                            and  ?x ?p ?y . ?p rdfs:subPropertyOf+ :near

Each triple pattern becomes the ways in which such a triple is asserted or follows by the rules
rdfs2, rdfs3, rdfs5, rdfs7, rdfs9 and rdfs11 of https://www.w3.org/TR/rdf11-mt/#rdfs-entailment
(rho-df: Muñoz, Pérez and Gutierrez, Simple and Efficient Minimal RDFS, 2009). They need no
recursion but the two transitive closures: a superproperty, domain or range counts for the asserted
triples of all subproperties. For that

- of the four predicates of schemas only what is asserted, and rdfs5 and rdfs11, count: a property
  that is declared a subproperty of one of them adds nothing to the schema;
- a domain, a range or a superproperty of rdf:type, rdfs:subClassOf or rdfs:subPropertyOf counts for
  asserted triples only.

Patterns inside name their nodes alike for all triple patterns, so that a plan has what they share
(the lifted triples, the types) once. A pattern reads the graph that is active where it stands, as
entailment regimes do: each graph of GRAPH entails by itself.
https://www.w3.org/TR/sparql11-entailment/#RDFSEntRegime
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import reduce
from typing import assert_never

from weir.sparql.algebra import paths
from weir.sparql.algebra.expressions import Call, Constant, Exists, Expression, Variable
from weir.sparql.algebra.patterns import (
    Bgp,
    Distinct,
    Extend,
    Filter,
    Join,
    Node,
    PathPattern,
    Pattern,
    Project,
    TriplePattern,
    Union,
    variables_among,
)
from weir.sparql.algebra.queries import Query
from weir.sparql.algebra.traversal import map_arguments
from weir.sparql.recursion import deep_recursion

_RDFS = "http://www.w3.org/2000/01/rdf-schema#"
TYPE = Constant("<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>")
SUBCLASS, SUBPROPERTY, DOMAIN, RANGE = (
    Constant(f"<{_RDFS}{name}>") for name in ("subClassOf", "subPropertyOf", "domain", "range")
)
_SCHEMA = (SUBCLASS, SUBPROPERTY, DOMAIN, RANGE)

# A space: no query can write such a name.
_SUBJECT, _PREDICATE, _OBJECT, _CLASS, _OWN, _UP, _SUPER = (
    Variable(f"_:rdfs {name}")
    for name in ("subject", "predicate", "object", "class", "own", "up", "super")
)


@deep_recursion()
def entailed(query: Query) -> Query:
    """A query whose answer is that of `query` over the graph and what follows from it.

    The template of a CONSTRUCT stays as it is.

    Raises:
        ValueError: the query has windows, or SERVICE, which are not over the graph alone.
    """
    if query.windows or query.asked:
        raise ValueError("entailment is of the graph, and not of windows and remotes")
    return replace(query, form=replace(query.form, pattern=_entailed(query.form.pattern)))


def _entailed(pattern: Pattern) -> Pattern:
    match pattern:
        case Bgp(patterns):
            return _joined(patterns)
        case PathPattern(subject, path, object_):
            return PathPattern(subject, _entailed_path(path), object_)
        case _:
            return pattern.map_children(_entailed).map_expressions(_entailed_expression)


def _entailed_expression(expression: Expression) -> Expression:
    if isinstance(expression, Exists):
        return Exists(_entailed(expression.pattern))
    return map_arguments(expression, _entailed_expression)


def _entailed_path(path: paths.Path) -> paths.Path:
    """The path over the entailed triples; these have no other subjects and objects."""
    match path:
        case paths.Link(predicate):
            return _step(Constant(predicate))
        case paths.Inverse(inner):
            return paths.Inverse(_entailed_path(inner))
        case paths.Sequence(first, second):
            return paths.Sequence(_entailed_path(first), _entailed_path(second))
        case paths.Alternative(left, right):
            return paths.Alternative(_entailed_path(left), _entailed_path(right))
        case paths.ZeroOrOne(inner):
            return paths.ZeroOrOne(_entailed_path(inner))
        case paths.Closure(inner, minimum):
            steps = _entailed_path(inner)
            if isinstance(steps, paths.Closure) and steps.minimum:
                # One or more of one or more steps are one or more steps.
                steps = steps.path
            return paths.Closure(steps, minimum)
        case paths.Negated(None, None):
            return path
        case paths.Negated(forward, None) if forward is not None:
            return _any_but(forward)
        case paths.Negated(None, inverse) if inverse is not None:
            return paths.Inverse(_any_but(inverse))
        case paths.Negated(forward, inverse):
            assert forward is not None, "the cases above are without"
            assert inverse is not None, "the cases above are without"
            return paths.Alternative(_any_but(forward), paths.Inverse(_any_but(inverse)))
        case paths.Pairs():
            return path
        case _:
            assert_never(path)


def _step(predicate: Constant) -> paths.Path:
    if predicate in (SUBCLASS, SUBPROPERTY):
        return paths.Closure(paths.Link(predicate.term), 1)
    if predicate in _SCHEMA:
        return paths.Link(predicate.term)
    return paths.Pairs(_SUBJECT, _triples(_SUBJECT, predicate, _OBJECT), _OBJECT)


def _any_but(predicates: tuple[str, ...]) -> paths.Path:
    """A step along any predicate but these, as often as there are predicates."""
    pattern = _triples(_SUBJECT, _PREDICATE, _OBJECT)
    if predicates:
        others = Call("NOT IN", (_PREDICATE, *map(Constant, predicates)))
        pattern = Filter(others, pattern)
    return paths.Pairs(_SUBJECT, _shown(pattern, _SUBJECT, _OBJECT), _OBJECT)


def _joined(patterns: tuple[TriplePattern, ...]) -> Pattern:
    """The triple patterns of a basic graph pattern, joined along the variables that they share."""
    asserted = tuple(pattern for pattern in patterns if pattern.predicate in (DOMAIN, RANGE))
    parts: list[Pattern] = [_of_triple(p) for p in patterns if p not in asserted]
    if asserted or not parts:
        parts.append(Bgp(asserted))
    joined = parts.pop(0)
    while parts:
        names = {*joined.in_scope}
        following = next((part for part in parts if names & {*part.in_scope}), parts[0])
        parts.remove(following)
        joined = Join(joined, following)
    return joined


def _of_triple(pattern: TriplePattern) -> Pattern:
    subject, predicate, object_ = pattern.nodes
    if predicate in (SUBCLASS, SUBPROPERTY):
        assert isinstance(predicate, Constant), "it is one of two constants"
        return PathPattern(subject, _step(predicate), object_)
    places = (_SUBJECT, _PREDICATE, _OBJECT)
    nodes = [
        place if isinstance(node, Variable) else node
        for node, place in zip(pattern.nodes, places, strict=True)
    ]
    named = {
        place: node
        for node, place in zip(pattern.nodes, places, strict=True)
        if isinstance(node, Variable)
    }
    return _renamed(_triples(*nodes), named)


def _triples(subject: Node, predicate: Node, object_: Node) -> Pattern:
    """The entailed triples, each once.

    Args:
        subject: `_SUBJECT` or a constant.
        predicate: `_PREDICATE` or a constant that is no predicate of schemas.
        object_: `_OBJECT` or a constant.
    """
    if predicate == TYPE:
        ways = _typed(subject, object_)
    elif isinstance(predicate, Constant):
        above = Filter(_same(_SUPER, predicate), _above(subject, object_))
        ways = [_bgp(subject, predicate, object_), above]
    else:
        # A triple has an IRI as its predicate.
        conditions = (Call("ISIRI", (_SUPER,)), Call("NOT IN", (_SUPER, *_SCHEMA)))
        above = Filter(Call("&&", conditions), _above(subject, object_))
        own = [(TYPE, way) for way in _typed(subject, object_)]
        for term in (SUBCLASS, SUBPROPERTY):
            own.append((term, PathPattern(subject, _step(term), object_)))
        ways = [
            _bgp(subject, predicate, object_),
            Extend(above, predicate.name, _SUPER),
            *(Extend(way, predicate.name, term) for term, way in own),
        ]
    return Distinct(_union(_shown(way, subject, predicate, object_) for way in ways))


def _typed(subject: Node, object_: Node) -> list[Pattern]:
    """The ways in which a subject has a class: by rdfs9 from a class that it has anyway."""
    types = _types(subject)
    above = PathPattern(_CLASS, paths.Closure(paths.Link(SUBCLASS.term), 1), object_)
    if isinstance(object_, Variable):
        return [Extend(types, object_.name, _CLASS), Join(types, above)]
    # From a constant, the path without a step is that constant.
    above = replace(above, path=paths.Closure(paths.Link(SUBCLASS.term), 0))
    return [Join(types, above)]


def _types(subject: Node) -> Pattern:
    """The classes of a subject, as `_CLASS`, without their superclasses: rdfs2, rdfs3, rdfs7."""
    above = Filter(_same(_SUPER, TYPE), _above(subject, _OBJECT))
    ways = [
        _bgp(subject, TYPE, _CLASS),
        Extend(_shown(above, subject, _OBJECT), _CLASS.name, _OBJECT),
        Bgp((TriplePattern(subject, _OWN, _OBJECT), TriplePattern(_OWN, DOMAIN, _CLASS))),
        Join(_lifted(subject, _OBJECT), _declared(DOMAIN)),
    ]
    if isinstance(subject, Variable):
        triples = Bgp((TriplePattern(_SUBJECT, _OWN, _OBJECT), TriplePattern(_OWN, RANGE, _CLASS)))
        for way in (triples, Join(_lifted(_SUBJECT, _OBJECT), _declared(RANGE))):
            objects = Extend(_shown(way, _OBJECT, _CLASS), subject.name, _OBJECT)
            # What is no subject of a triple has no class.
            ways.append(Filter(Call("!", (Call("ISLITERAL", (subject,)),)), objects))
    elif not subject.term.startswith('"'):
        triples = Bgp((TriplePattern(_SUBJECT, _OWN, subject), TriplePattern(_OWN, RANGE, _CLASS)))
        ways += [triples, Join(_lifted(_SUBJECT, subject), _declared(RANGE))]
    return _union(_shown(way, subject, _CLASS) for way in ways)


def _lifted(subject: Node, object_: Node) -> Pattern:
    """The asserted triples whose predicate has superproperties, with each that is declared as
    `_UP`.
    """
    triples = Bgp((TriplePattern(subject, _OWN, object_), TriplePattern(_OWN, SUBPROPERTY, _UP)))
    return _shown(triples, subject, _UP, object_)


def _above(subject: Node, object_: Node) -> Pattern:
    """`_lifted`, with each property above `_UP` as `_SUPER`."""
    return Join(_lifted(subject, object_), _superproperties())


def _superproperties() -> Pattern:
    """The properties `_SUPER` above `_UP`, a superproperty, and itself."""
    itself = _shown(_bgp(_OWN, SUBPROPERTY, _UP), _UP)
    return Union(Extend(itself, _SUPER.name, _UP), PathPattern(_UP, _step(SUBPROPERTY), _SUPER))


def _declared(predicate: Constant) -> Pattern:
    """The domains or ranges `_CLASS` of the properties above `_UP`, and of itself."""
    classes = Join(_superproperties(), _bgp(_SUPER, predicate, _CLASS))
    return _shown(classes, _UP, _CLASS)


def _renamed(pattern: Pattern, names: dict[Variable, Variable]) -> Pattern:
    """The solutions with other names; where two have one name, they are the same term."""
    places: dict[Variable, Variable] = {}
    for place, name in names.items():
        if name in places:
            pattern = Filter(_same(places[name], place), pattern)
        places.setdefault(name, place)
    for name, place in places.items():
        pattern = Extend(pattern, name.name, place)
    return _shown(pattern, *places)


def _shown(pattern: Pattern, *nodes: Node) -> Pattern:
    return Project(tuple(dict.fromkeys(variables_among(*nodes))), pattern)


def _union(patterns: Iterable[Pattern]) -> Pattern:
    return reduce(Union, patterns)


def _same(left: Expression, right: Expression) -> Expression:
    return Call("SAMETERM", (left, right))


def _bgp(subject: Node, predicate: Node, object_: Node) -> Pattern:
    return Bgp((TriplePattern(subject, predicate, object_),))
