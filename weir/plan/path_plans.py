"""Property paths as plans: https://www.w3.org/TR/sparql11-query/#sparqlPropertyPaths.

Sequences, alternatives and negated sets are bags of pairs; `?`, `+` and `*` are sets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from weir.plan.context import Context
from weir.plan.decompose import classify
from weir.plan.filters import push_filter
from weir.plan.joins import joined
from weir.plan.leaves import UNIT, Component, Values
from weir.plan.lowering import Lowering
from weir.plan.operators import Closure, Distinct, Extend, Filter, PlanNode, Project, Union
from weir.sparql.algebra import paths
from weir.sparql.algebra.expressions import Call, Constant, Variable
from weir.sparql.algebra.patterns import Node, Pattern, TriplePattern


@dataclass(frozen=True, slots=True)
class PathLowering:
    """Lowers the paths of one query in one context; nodes are over columns."""

    lowering: Lowering
    context: Context

    def pattern(self, subject: Node, path: paths.Path, object_: Node) -> PlanNode:
        """The pairs that `path` connects; columns: the variables, and the carried columns.

        Inside EXISTS, an end that has a value outside is that value, as a constant would be: a
        zero-length path connects it with itself, in the graph or not.
        """
        # A path has no expressions: of the carried columns only the graph's name matters to it.
        steps = PathLowering(self.lowering, self.context.with_domain(None))
        names = (node.name for node in (subject, object_) if isinstance(node, Variable))
        ends = tuple(dict.fromkeys(names))
        given = tuple(name for name in ends if name in self.context.carried)
        if not given or not paths.may_have_length_zero(path, both_ends=True):
            return self.context.carry(steps.path(subject, path, object_))
        match path:
            case paths.Inverse(inner):
                return self.pattern(object_, inner, subject)
            case paths.Alternative(left, right):
                sides = (self.pattern(subject, side, object_) for side in (left, right))
                return Union(tuple(sides))
            case paths.Sequence(first, second):
                between = self._fresh()
                before = self.pattern(subject, first, between)
                after = self.pattern(between, second, object_)
                return self._without(joined(before, after), between)
            case (
                paths.Link() | paths.Negated() | paths.ZeroOrOne() | paths.Closure() | paths.Pairs()
            ):
                pairs = self.context.carry(steps.path(subject, path, object_))
                if isinstance(subject, Constant) or isinstance(object_, Constant):
                    # A path from a constant has connected it with itself.
                    return pairs
                return Distinct(Union((pairs, self._given_ends(given, ends, pairs))))
            case _:
                assert_never(path)

    def path(self, subject: Node, path: paths.Path, object_: Node) -> PlanNode:
        """The pairs that `path` connects; columns: the variables, and the graph's name."""
        match path:
            case paths.Link(predicate):
                return self._step(subject, Constant(predicate), object_)
            case paths.Inverse(inner):
                return self.path(object_, inner, subject)
            case paths.Sequence(first, second):
                between = self._fresh()
                both = joined(
                    self.path(subject, first, between), self.path(between, second, object_)
                )
                return self._without(both, between)
            case paths.Alternative(left, right):
                return Union(
                    (self.path(subject, left, object_), self.path(subject, right, object_))
                )
            case paths.Negated(forward, inverse):
                sides = []
                if forward is not None:
                    sides.append(self._any_but(forward, subject, object_))
                if inverse is not None:
                    sides.append(self._any_but(inverse, object_, subject))
                return sides[0] if len(sides) == 1 else Union(tuple(sides))
            case paths.ZeroOrOne(inner):
                once = self.path(subject, inner, object_)
                return Distinct(Union((once, self._no_step(subject, object_, once))))
            case paths.Closure(inner, minimum):
                pairs = self._closure(subject, inner, object_)
                if minimum and not paths.may_have_length_zero(inner):
                    return pairs
                return Distinct(Union((pairs, self._no_step(subject, object_, pairs))))
            case paths.Pairs(start, pattern, end):
                return self._solutions(pattern, (start, end), (subject, object_))
            case _:
                assert_never(path)

    def _step(self, subject: Node, predicate: Node, object_: Node) -> PlanNode:
        pattern = TriplePattern(subject, predicate, object_)
        context = self.context
        kind = classify((pattern,))
        return context.carry(Component((pattern,), context.scope, kind, (), context.graph))

    def _solutions(
        self, pattern: Pattern, ends: tuple[Node, Node], names: tuple[Node, Node]
    ) -> PlanNode:
        """The solutions of a pattern, with names in the place of two nodes of them."""
        node = self.context.carry(self.lowering.pattern(pattern, self.context))
        kept = self.context.carried
        for end, name in zip(map(self.lowering.columns.node, ends), names, strict=True):
            if isinstance(name, Variable) and name.name not in node.variables:
                node = Extend(name.name, end, node)
            else:
                node = push_filter(Call("SAMETERM", (end, name)), node)
            kept = (*kept, *((name.name,) if isinstance(name, Variable) else ()))
        return Project(tuple(dict.fromkeys(kept)), node)

    def _any_but(self, predicates: tuple[str, ...], subject: Node, object_: Node) -> PlanNode:
        predicate = self._fresh()
        steps = self._step(subject, predicate, object_)
        if predicates:
            condition = Call("NOT IN", (predicate, *map(Constant, predicates)))
            steps = push_filter(condition, steps)
        return self._without(steps, predicate)

    def _closure(self, subject: Node, inner: paths.Path, object_: Node) -> PlanNode:
        """One or more steps; from the end that is a constant, if one is."""
        carried = self.context.carried
        source = subject if isinstance(subject, Variable) else self._other_end(inner, object_)
        target = object_
        if not isinstance(object_, Variable) or object_ == source:
            target = self._other_end(inner, source)
        assert isinstance(target, Variable), "a constant has been replaced"
        steps = self.path(source, inner, target)
        forward = isinstance(subject, Constant) or not isinstance(object_, Constant)
        start, end = (subject, object_) if forward else (object_, subject)
        ends = (source, target) if forward else (target, source)
        pairs: PlanNode = Closure(
            ends[0].name,
            ends[1].name,
            steps,
            start.term if isinstance(start, Constant) else None,
            carried,
        )
        if isinstance(end, Constant) or subject == object_:
            wanted = end if isinstance(end, Constant) else source
            pairs = push_filter(Call("SAMETERM", (ends[1], wanted)), pairs)
        kept = {node.name for node in (subject, object_) if isinstance(node, Variable)}
        return Project(tuple(n for n in pairs.variables if n in kept or n in carried), pairs)

    def _other_end(self, steps: paths.Path, end: Node) -> Variable:
        """A hidden end of a closure, the same for the same steps and other end: closures to several
        constants have their steps in common.
        """
        ends = self.lowering.path_ends
        if (steps, end) not in ends:
            ends[steps, end] = self._fresh()
        return ends[steps, end]

    def _no_step(self, subject: Node, object_: Node, like: PlanNode) -> PlanNode:
        """The pairs of a term with itself, in the columns of `like`.

        The term is an end that is constant; without one, any subject or object of the graph.
        """
        ends = (subject, object_)
        constants = {node.term for node in ends if isinstance(node, Constant)}
        names = [node.name for node in ends if isinstance(node, Variable)]
        if constants:
            # Two different constants are never one term.
            rows = () if len(constants) > 1 else (tuple(constants) * len(names),)
            node = self.context.carry(Values(tuple(names), rows))
        else:
            node = self._terms(names[0])
            if names[1] != names[0]:
                node = Extend(names[1], Variable(names[0]), node)
        return Project(like.variables, node)

    def _given_ends(
        self, given: tuple[str, ...], ends: tuple[str, ...], like: PlanNode
    ) -> PlanNode:
        """A value from outside as both `ends`: the zero-length path of one of the `given` ends.

        If both are given and differ, that is a pair which no solution outside is compatible with.
        """
        value = self._fresh()
        either = Call("COALESCE", tuple(map(Variable, given)))
        node: PlanNode = Extend(value.name, either, self.context.carry(UNIT))
        node = Filter(Call("BOUND", (value,)), node)
        node = Project(tuple(name for name in node.variables if name not in given), node)
        for name in ends:
            node = Extend(name, value, node)
        return Project(like.variables, node)

    def _terms(self, name: str) -> PlanNode:
        """The subjects and objects of the graph, each once."""
        here = Variable(name)
        sides = (
            self._step(here, self._fresh(), self._fresh()),
            self._step(self._fresh(), self._fresh(), here),
        )
        kept = (*(n for n in self.context.carried if n != name), name)
        return Distinct(Union(tuple(Project(kept, side) for side in sides)))

    def _fresh(self) -> Variable:
        return Variable(self.lowering.columns.fresh("_:path"))

    def _without(self, node: PlanNode, variable: Variable) -> PlanNode:
        return Project(tuple(name for name in node.variables if name != variable.name), node)
