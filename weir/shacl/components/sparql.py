"""Constraints that are queries: `sh:sparql`, and the components that a shapes graph declares.

https://www.w3.org/TR/shacl/#sparql-constraints, #sparql-constraint-components
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from weir.rdf.terms import Literal, literal, parse_term
from weir.shacl.components.reading import Read, Reading
from weir.shacl.errors import ShapesError, UnsupportedShapes
from weir.shacl.formulas import TRUE, Names, beside, call, negated, text
from weir.shacl.graph import ShapesGraph, is_iri
from weir.shacl.paths import read_path, sparql
from weir.shacl.prebinding import bound, bound_expression, matches
from weir.shacl.shapes import Constraint, Shape, Violation
from weir.shacl.vocabulary import IMPORTS, sh
from weir.sparql.algebra.expressions import Constant, Exists, Expression, Variable
from weir.sparql.algebra.patterns import (
    Bgp,
    Extend,
    Graph,
    Minus,
    PathPattern,
    Pattern,
    Project,
    Service,
    Slice,
    Values,
)
from weir.sparql.algebra.queries import Ask, Query, Select
from weir.sparql.algebra.traversal import map_arguments
from weir.sparql.frontend.errors import QueryError
from weir.sparql.frontend.translate import translate

_THIS, _VALUE, _PATH, _MESSAGE = "this", "value", "path", "message"
_SHAPES_GRAPH, _CURRENT_SHAPE = "shapesGraph", "currentShape"
_RESERVED = {_THIS, _VALUE, _PATH, _SHAPES_GRAPH, _CURRENT_SHAPE, "PATH"}
_PREFIXES = "Declare it: sh:prefixes [ sh:declare [ sh:prefix ..; sh:namespace .. ] ]."
_GRAPH_OF_SHAPES = "<urn:weir:shapes>"


@dataclass(frozen=True, slots=True)
class Selected(Constraint):
    """A query whose solutions are results.

    Attributes:
        component: of the constraint.
        message: of its results, if neither the constraint nor its shape has one.
        own_message: of the constraint: text, and in braces the variables of a solution.
        pattern: of the query; binds `this`.
        variables: of its solutions.
        source: the node that has the query, of `sh:sparql`.
    """

    component: str
    message: str
    own_message: str | None
    pattern: Pattern
    variables: tuple[str, ...]
    source: str | None = None

    def violations(self, shape: Shape, focus: Variable, names: Names) -> Iterator[Violation]:  # noqa: ARG002
        """A result for each solution."""
        value: Expression | None = focus if shape.path is None else None
        if _VALUE in self.variables:
            node = Variable(_VALUE)
            value = node if value is None else call("COALESCE", node, value)
        said = self.own_message or shape.message or self.message
        filled = bound_expression(_filled(said, self.variables), {_THIS: focus})
        if _MESSAGE in self.variables:
            filled = call("COALESCE", Variable(_MESSAGE), filled)
        yield Violation(
            TRUE,
            bound(self.pattern, {_THIS: focus}),
            value,
            path=Variable(_PATH) if _PATH in self.variables else None,
            message=filled,
            is_bag=True,
        )


@dataclass(frozen=True, slots=True)
class Asked(Constraint):
    """A query that has a solution for each value node that conforms."""

    component: str
    message: str
    pattern: Pattern

    def violations(self, shape: Shape, focus: Variable, names: Names) -> Iterator[Violation]:
        """The value nodes without a solution."""
        for nodes in shape.value_nodes(focus, names):
            pattern = bound(self.pattern, {_THIS: focus, _VALUE: nodes.node})
            yield nodes.violation(negated(Exists(pattern)))


@dataclass(frozen=True, slots=True)
class CustomComponent:
    """A component that a shapes graph declares.

    Attributes:
        node: its IRI.
        parameters: the predicates of its parameters, by the names of their variables.
        optional: those that a shape need not have.
    """

    node: str
    parameters: Mapping[str, str]
    optional: frozenset[str]

    def constraints(self, reading: Reading) -> Iterator[Constraint]:
        """The constraints of a shape by it, one for each value of a single parameter."""
        graph = reading.graph
        values = {
            name: graph.objects(reading.node, predicate)
            for name, predicate in self.parameters.items()
        }
        if not all(values[name] for name in values.keys() - self.optional):
            return
        if len(values) == 1:
            ((name, terms),) = values.items()
            for term in terms:
                yield self._constraint(reading, {name: term})
            return
        several = [name for name, terms in values.items() if len(terms) > 1]
        if several:
            what = f"{self.parameters[several[0]]} of {graph.shown(reading.node)}"
            raise UnsupportedShapes(
                what,
                graph.place(reading.node),
                "a component of several parameters has one value each",
            )
        yield self._constraint(reading, {name: terms[0] for name, terms in values.items() if terms})

    def _constraint(self, reading: Reading, values: Mapping[str, str]) -> Constraint:
        graph = reading.graph
        kind = sh("propertyValidator" if reading.is_property else "nodeValidator")
        validator = graph.one(self.node, kind) or graph.one(self.node, sh("validator"))
        if validator is None:
            raise graph.ill_formed(self.node, "validator", "the component has none for such shapes")
        source = _Source(reading, validator)
        terms = {
            name: Constant(reading.named("parameter", [term])[0]) for name, term in values.items()
        }
        default = literal(f"does not conform to {self.node}")
        own = source.message
        message = None if own is None else _with_values(own, values)
        if graph.objects(validator, sh("ask")):
            query = source.query("ask", Ask, self.parameters)
            pattern = bound(query.form.pattern, terms)
            return Asked(self.node, message or default, pattern)
        query = source.query("select", Select, self.parameters)
        assert isinstance(query.form, Select)
        pattern = bound(query.form.pattern, terms)
        return Selected(self.node, default, message, pattern, query.form.variables)


def custom_components(graph: ShapesGraph) -> tuple[CustomComponent, ...]:
    """The components that a shapes graph declares.

    Raises:
        ShapesSyntaxError: one is ill-formed.
    """
    components = []
    for node in graph.subjects:
        if not is_iri(node) or not graph.is_instance(node, sh("ConstraintComponent")):
            continue
        parameters, optional = {}, set()
        for parameter in graph.objects(node, sh("parameter")):
            path = graph.one(parameter, sh("path"), of=node)
            if path is None or not is_iri(path):
                raise graph.ill_formed(node, "parameter", "its sh:path is not an IRI")
            name = re.split("[#/:]", path[1:-1])[-1]
            parameters[name] = path
            if any(
                value.startswith('"true"') for value in graph.objects(parameter, sh("optional"))
            ):
                optional.add(name)
        if not parameters.keys() - optional:
            raise graph.ill_formed(node, "parameter", "a component has one that is not optional")
        taken = parameters.keys() & _RESERVED
        if taken:
            reason = f"${min(taken)} stands for something else in queries"
            raise graph.ill_formed(node, "parameter", reason, "Rename the parameter.")
        components.append(CustomComponent(node, parameters, frozenset(optional)))
    return tuple(components)


def _sparql(reading: Reading, node: str) -> Constraint | None:
    source = _Source(reading, node)
    if source.is_deactivated:
        return None
    query = source.query("select", Select)
    assert isinstance(query.form, Select)
    default = literal("is a solution of a query of the shape")
    component, name = sh("SPARQLConstraintComponent"), reading.graph.name(node)
    pattern, variables = query.form.pattern, query.form.variables
    return Selected(component, default, source.message, pattern, variables, name)


SPARQL: dict[str, Read] = {"sparql": _sparql}
"""The reader of the parameter, by its local name."""


@dataclass(frozen=True, slots=True)
class _Source:
    """A node of the shapes graph that has a query, and the shape that it is for."""

    reading: Reading
    node: str

    @property
    def is_deactivated(self) -> bool:
        values = self.reading.graph.objects(self.node, sh("deactivated"))
        return any(value.startswith('"true"') for value in values)

    @property
    def message(self) -> str | None:
        return self.reading.graph.message(self.node)

    def query(
        self, parameter: str, form: type[Select | Ask], bound_names: Iterable[str] = ()
    ) -> Query:
        reading, graph = self.reading, self.reading.graph
        texts = graph.objects(self.node, sh(parameter))
        if len(texts) != 1:
            raise self._error(parameter, f"there are {len(texts)} texts, and not one")
        term = parse_term(texts[0])
        if not isinstance(term, Literal):
            raise self._error(parameter, "its value is not a string")
        body = self._with_path(term.lexical)
        prologue = " ".join(f"PREFIX {name}: <{iri}>" for name, iri in self._prefixes())
        try:
            query = translate(f"{prologue} {body}", "union", graph.file)
        except QueryError as error:
            reason = f"{error.construct}: {error.reason} (line {error.line} of the query)"
            # The text has no head of its own.
            hint = _PREFIXES if "PREFIX" in error.hint else error.hint
            raise self._error(parameter, reason, hint) from error
        if not isinstance(query.form, form):
            raise self._error(parameter, f"it is no {parameter.upper()} query")
        self._check(query.form, parameter, bound_names)
        names = {
            _CURRENT_SHAPE: Constant(graph.name(reading.node)),
            _SHAPES_GRAPH: Constant(_GRAPH_OF_SHAPES),
        }
        pattern = self._in_shapes_graph(bound(query.form.pattern, names), parameter)
        if isinstance(query.form, Select):
            return Query(Select(pattern, query.form.variables), query.dataset)
        return Query(Ask(pattern), query.dataset)

    def _with_path(self, body: str) -> str:
        """The text with the path of a property shape in it."""
        graph, node = self.reading.graph, self.reading.node
        path = graph.one(node, sh("path"))
        if path is None or "PATH" not in body:
            return body
        shown = f"({sparql(read_path(graph, path, node))})"
        return re.sub(r"[$?]PATH(?![\w])", lambda _: shown, body)

    def _prefixes(self) -> Iterator[tuple[str, str]]:
        graph = self.reading.graph
        declaring = [*graph.objects(self.node, sh("prefixes"))]
        for ontology in declaring:
            declaring += [o for o in graph.objects(ontology, IMPORTS) if o not in declaring]
            for declared in graph.objects(ontology, sh("declare")):
                prefix = graph.one(declared, sh("prefix"), of=self.node)
                namespace = graph.one(declared, sh("namespace"), of=self.node)
                if prefix is not None and namespace is not None:
                    name, iri = parse_term(prefix), parse_term(namespace)
                    if isinstance(name, Literal) and isinstance(iri, Literal):
                        yield name.lexical, iri.lexical

    def _check(self, form: Select | Ask, parameter: str, bound_names: Iterable[str]) -> None:
        """Refuse what has no meaning with variables that have values before.

        Raises:
            UnsupportedShapes: the query has it.
        """
        if isinstance(form, Select) and _THIS not in form.variables:
            raise self._error(parameter, "it does not select $this")
        fixed = {_THIS, _SHAPES_GRAPH, _CURRENT_SHAPE, *bound_names}
        if isinstance(form, Ask):
            fixed.add(_VALUE)
        patterns, is_outermost = [form.pattern], isinstance(form, Select)
        for pattern in patterns:
            patterns += pattern.children
            patterns += [p for e in pattern.expressions for p in _patterns_in(e)]
            match pattern:
                case Minus():
                    raise self._error(parameter, "it has MINUS", "Write FILTER NOT EXISTS.")
                case Service():
                    raise self._error(parameter, "it has SERVICE")
                case Values():
                    raise self._error(parameter, "it has VALUES", "Write FILTER (?x IN (..)).")
                case Slice():
                    raise self._error(parameter, "it has LIMIT or OFFSET")
                case Extend(_, variable, _) if variable in fixed:
                    raise self._error(parameter, f"it assigns ${variable}")
                case Project(variables, _):
                    if not is_outermost and _THIS not in variables:
                        raise self._error(parameter, "a subquery does not select $this")
                    is_outermost = False
                case _:
                    pass

    def _in_shapes_graph(self, pattern: Pattern, parameter: str) -> Pattern:
        """A pattern with what it reads of the shapes graph written out as rows."""

        def within(expression: Expression) -> Expression:
            if isinstance(expression, Exists):
                return Exists(self._in_shapes_graph(expression.pattern, parameter))
            return map_arguments(expression, within)

        if not isinstance(pattern, Graph) or pattern.name != Constant(_GRAPH_OF_SHAPES):
            pattern = pattern.map_expressions(within)
            return pattern.map_children(lambda child: self._in_shapes_graph(child, parameter))
        triples = [*self.reading.graph.triples()]

        def written(inner: Pattern) -> Pattern:
            match inner:
                case Bgp(patterns):
                    return beside(*(matches(triple, triples) for triple in patterns))
                case PathPattern():
                    raise self._error(parameter, "it has a path in $shapesGraph")
                case _:
                    return inner.map_expressions(written_in).map_children(written)

        def written_in(expression: Expression) -> Expression:
            if isinstance(expression, Exists):
                return Exists(written(expression.pattern))
            return map_arguments(expression, written_in)

        return written(pattern.pattern)

    def _error(self, parameter: str, reason: str, hint: str = "") -> ShapesError:
        graph, node = self.reading.graph, self.reading.node
        what = f"sh:{parameter} of {graph.shown(node)}"
        return UnsupportedShapes(what, graph.place(self.node, f"sh:{parameter}"), reason, hint)


def _patterns_in(expression: Expression) -> Iterator[Pattern]:
    if isinstance(expression, Exists):
        yield expression.pattern
    for argument in getattr(expression, "arguments", ()):
        yield from _patterns_in(argument)


def _with_values(message: str, values: Mapping[str, str]) -> str:
    """A message with the values of parameters in it."""
    term = parse_term(message)
    assert isinstance(term, Literal), "messages are literals"

    def value(match: re.Match[str]) -> str:
        if match[1] not in values:
            return match[0]
        given = parse_term(values[match[1]])
        return given.lexical if isinstance(given, Literal) else values[match[1]]

    return literal(_IN_BRACES.sub(value, term.lexical), language=term.language)


_IN_BRACES = re.compile(r"\{[?$](\w+)\}")


def _filled(message: str, variables: tuple[str, ...]) -> Expression:
    """A message with the values of variables in it."""
    term = parse_term(message)
    assert isinstance(term, Literal), "messages are literals"
    parts = _IN_BRACES.split(term.lexical)
    if len(parts) == 1:
        return Constant(message)
    pieces: list[Expression] = []
    for i, part in enumerate(parts):
        if i % 2 == 0:
            pieces.append(text(part))
        elif part in variables:
            pieces.append(call("COALESCE", call("STR", Variable(part)), text(f"{{?{part}}}")))
        else:
            pieces.append(text(f"{{?{part}}}"))
    return call("CONCAT", *pieces)
