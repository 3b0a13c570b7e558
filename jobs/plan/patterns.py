"""Graph patterns as plans."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import assert_never

from jobs.plan.binding_flags import marked
from jobs.plan.columns import Columns
from jobs.plan.context import Context, joined
from jobs.plan.correlation import seen_inside, surely_bound, terms_of_graph
from jobs.plan.decompose import decompose
from jobs.plan.expressions import (
    conjuncts,
    has_exists,
    mentioned,
    mentioned_in,
    with_seeds,
)
from jobs.plan.filters import push_filter
from jobs.plan.graph_names import graph_names, has_graph, needs_triple
from jobs.plan.grouping import grouped
from jobs.plan.leaves import UNIT, Component, Scope, Values
from jobs.plan.operators import (
    Aggregate,
    AntiJoin,
    Distinct,
    Extend,
    LeftJoin,
    MarkJoin,
    PlanNode,
    Project,
    SemiJoin,
    Slice,
    SortKey,
    Union,
)
from jobs.plan.path_plans import PathLowering
from jobs.plan.structure import shared
from jobs.sparql.algebra import patterns as algebra
from jobs.sparql.algebra.expressions import (
    Call,
    Constant,
    Exists,
    Expression,
    Variable,
    map_variables,
)
from jobs.sparql.algebra.scoping import in_scope

# No term of a graph: an IRI has no spaces.
_UNBOUND = "<not bound>"


@dataclass(slots=True)
class PatternLowering:
    """Lowers the patterns of one query.

    Attributes:
        columns: numbers the variables.
        named: the scope of GRAPH with a variable.
    """

    columns: Columns
    named: Scope
    _places: int = 0
    _graph_names: dict[str, PlanNode] = field(default_factory=dict)

    def pattern(self, pattern: algebra.Pattern, context: Context) -> PlanNode:
        """The plan of a pattern; its solutions carry what the context says."""
        match pattern:
            case algebra.Bgp():
                return self._bgp(pattern, context)
            case algebra.PathPattern(subject, path, object_):
                lowering = PathLowering(self.columns, context)
                start, end = (self.columns.node(node) for node in (subject, object_))
                return lowering.pattern(start, path, end)
            case algebra.Values(variables, rows):
                names = tuple(self.columns.column(name) for name in variables)
                return context.carry(Values(names, rows))
            case algebra.Join(left, right):
                return joined(self.pattern(left, context), self.pattern(right, context))
            case algebra.LeftJoin():
                return self._left_join(pattern, context)
            case algebra.Union(left, right):
                both = (self.pattern(left, context), self.pattern(right, context))
                flat = (side.children if isinstance(side, Union) else (side,) for side in both)
                return Union(tuple(part for side in flat for part in side))
            case algebra.Minus():
                return self._minus(pattern, context)
            case algebra.Graph():
                return self._graph(pattern, context)
            case algebra.Extend(inner, variable, expression):
                node = self.pattern(inner, context)
                return self._extended(node, self.columns.column(variable), expression, context)
            case algebra.Group():
                return self._group(pattern, context)
            case algebra.Slice():
                return self._slice(pattern, context)
            case algebra.Filter(condition, inner):
                return self._filtered(condition, self.pattern(inner, context), context)
            case algebra.Project(variables, inner):
                shown = tuple(self.columns.column(name) for name in variables)
                kept = tuple(dict.fromkeys((*context.carried, *shown)))
                # A variable that is not projected is another than the one outside.
                with self.columns.hidden({*context.carried} - {*shown}):
                    return Project(kept, self.pattern(inner, context))
            case algebra.Distinct(inner):
                return Distinct(self.pattern(inner, context))
            case algebra.Reduced(inner):
                return self.pattern(inner, context)
            case _:
                assert_never(pattern)

    def _bgp(self, bgp: algebra.Bgp, context: Context) -> PlanNode:
        renamed = algebra.Bgp(tuple(self.columns.pattern(pattern) for pattern in bgp.patterns))
        node: PlanNode = UNIT
        for segment in decompose(renamed):
            part = Component(segment.patterns, context.scope, segment.kind, (), context.graph)
            node = joined(node, part)
        return context.carry(node)

    def _left_join(self, pattern: algebra.LeftJoin, context: Context) -> PlanNode:
        left = self.pattern(pattern.left, context)
        right = self.pattern(pattern.right, context)
        if pattern.condition is None:
            return LeftJoin(left, right)
        condition = pattern.condition
        kept = tuple(dict.fromkeys((*left.variables, *right.variables)))
        if has_exists(condition):
            # EXISTS is decided on the right side, which is told what it sees of the left one.
            seen = mentioned(condition)
            told = tuple(
                column
                for column in left.variables
                if self.columns.variable(column) in seen and column not in right.certain
            )
            if told:
                left, domain = self._told(left, told)
                right = joined(right, domain)
            resolved, right = self._resolved(condition, right, context)
        else:
            resolved = self._renamed(condition)
        node: PlanNode = LeftJoin(left, right, resolved)
        return node if node.variables == kept else Project(kept, node)

    def _minus(self, pattern: algebra.Minus, context: Context) -> PlanNode:
        both = {*in_scope(pattern.left)} & {*in_scope(pattern.right)}
        sure = both & surely_bound(pattern.left) & surely_bound(pattern.right)
        # What is only carried is not shared: MINUS asks for variables of the patterns themselves.
        marks: dict[str, str] = {}
        for name in map(self.columns.variable, () if sure else context.carried):
            if name in both:
                self._places += 1
                marks[name] = f"_:own{self._places}"
        left = self.pattern(marked(pattern.left, marks), context)
        right = self.pattern(marked(pattern.right, marks), context)
        common = sorted(self.columns.column(marks.get(name, name)) for name in both)
        if not common:
            return left
        if any(name in left.certain and name in right.certain for name in common):
            common = []
        node = AntiJoin(left, right, overlapping=tuple(common))
        own = {*map(self.columns.column, marks.values())}
        if not own:
            return node
        return Project(tuple(name for name in node.variables if name not in own), node)

    def _graph(self, pattern: algebra.Graph, context: Context) -> PlanNode:
        match pattern.name:
            case Constant(term):
                known = self.named.graphs is None or term in self.named.graphs
                scope = Scope((term,) if known else ())
                node = self.pattern(pattern.pattern, context.inside(scope))
                if not needs_triple(node, scope):
                    node = joined(node, has_graph(self.columns, scope))
                return context.carry(node)
            case Variable(name):
                return context.carry(self._each_graph(name, pattern.pattern, context))
            case _:
                assert_never(pattern.name)

    def _each_graph(self, name: str, pattern: algebra.Pattern, around: Context) -> PlanNode:
        """The pattern in each named graph, and the variable bound to the graph's name.

        Inside, the variable is one like any other: it is joined with the name at the end.
        """
        own = self.columns.column(name)
        if name not in mentioned_in(pattern):
            return self.pattern(pattern, self._named_graphs(own, around))
        graph = self.columns.fresh(f"_:{name}")
        node = self.pattern(pattern, self._named_graphs(graph, around))
        bound = self._bound(node, own, graph)
        return Project(tuple(name for name in bound.variables if name != graph), bound)

    def _bound(self, node: PlanNode, own: str, value: str) -> PlanNode:
        """The solutions of `node` in which column `own` is what column `value` is, or one of them
        unbound; `own` is bound then if any is.
        """
        if own not in node.variables:
            return Extend(own, Variable(value), node)
        agree: Expression = Call("SAMETERM", (Variable(own), Variable(value)))
        if value not in node.certain:
            agree = Call("&&", (_is_bound(own), Call("||", (_is_free(value), agree))))
        same = push_filter(agree, node)
        if own in node.certain:
            return same
        without = Project(
            tuple(name for name in node.variables if name != own), push_filter(_is_free(own), node)
        )
        kept = node.variables
        return Union((same, Project(kept, Extend(own, Variable(value), without))))

    def _named_graphs(self, graph: str, around: Context) -> Context:
        """The context of a pattern in each named graph: those that have a triple."""
        if graph not in self._graph_names:
            self._graph_names[graph] = graph_names(self.columns, self.named, graph)
        return around.inside(self.named, graph).with_domain(self._graph_names[graph])

    def _filtered(self, condition: Expression, node: PlanNode, context: Context) -> PlanNode:
        kept = node.variables
        for part in conjuncts(condition):
            match part:
                case Exists(pattern):
                    node = self._exists(node, pattern, context, SemiJoin)
                case Call("!", (Exists(pattern),)):
                    node = self._exists(node, pattern, context, AntiJoin)
                case _:
                    resolved, node = self._resolved(part, node, context)
                    node = push_filter(resolved, node)
        return node if node.variables == kept else Project(kept, node)

    def _extended(
        self, node: PlanNode, column: str, expression: Expression, context: Context
    ) -> PlanNode:
        if column in node.variables:
            # A BIND below EXISTS, of a variable that has a value outside: as if joined with it.
            value = self.columns.fresh("_:bind")
            node = self._bound(self._extended(node, value, expression, context), column, value)
            return Project(tuple(name for name in node.variables if name != value), node)
        kept = node.variables
        resolved, node = self._resolved(expression, node, context)
        solution = node
        while isinstance(solution, Extend):
            solution = solution.child
        self._places += 1
        seeded = with_seeds(resolved, solution.variables, str(self._places))
        made = Extend(column, seeded, node)
        return made if node.variables == kept else Project((*kept, column), made)

    def _renamed(self, expression: Expression) -> Expression:
        return map_variables(expression, self.columns.column)

    def _resolved(
        self, expression: Expression, node: PlanNode, context: Context
    ) -> tuple[Expression, PlanNode]:
        """`expression` over columns, each EXISTS a flag, and the node that has the flags."""
        match expression:
            case Exists(pattern):
                flag = self.columns.fresh("_:exists")
                return Variable(flag), self._exists(
                    node, pattern, context, lambda left, right, on: MarkJoin(left, right, flag, on)
                )
            case Call() if has_exists(expression):
                arguments = []
                for argument in expression.arguments:
                    resolved, node = self._resolved(argument, node, context)
                    arguments.append(resolved)
                return replace(expression, arguments=tuple(arguments)), node
            case _:
                return self._renamed(expression), node

    def _exists(
        self,
        left: PlanNode,
        pattern: algebra.Pattern,
        context: Context,
        join: Callable[[PlanNode, PlanNode, Expression | None], PlanNode],
    ) -> PlanNode:
        """`left` joined with `pattern` by whether that has a compatible solution.

        EXISTS puts the values of the solution into the pattern (section 18.6). Mostly that is a
        join. Filters right at the top become the condition of the join, which sees both sides.
        Where a join would come too late (`seen_inside`), the pattern is evaluated for every
        combination of such values.
        """
        conditions: list[Expression] = []
        inner = pattern
        while isinstance(inner, algebra.Filter) and not has_exists(inner.condition):
            conditions.append(inner.condition)
            inner = inner.pattern
        # Looked up: a column that is made for a variable of `inner` would be made too early.
        outside = {column: self.columns.variable(column) for column in left.variables}
        in_graph = terms_of_graph(left, context)
        terms = frozenset(name for column in in_graph if (name := outside[column]) is not None)
        seen, known = seen_inside(inner, terms), context.certain
        told = tuple(sorted(c for c, name in outside.items() if name in seen and c not in known))
        own = left.variables
        if told:
            left, domain = self._told(left, told)
            context = context.with_domain(domain)
        right = self.pattern(inner, context)
        if not (conditions or shared(left, right)):
            # It matches every solution or none: one row tells.
            right = Distinct(Project((), right))
        everything = frozenset((*left.variables, *right.variables))
        condition = _all([self._renamed(part) for part in conditions])
        if condition is not None and not everything & (mentioned(condition) - right.certain):
            right = push_filter(condition, right)
            condition = None
        added = {*left.variables} - {*own}
        node = join(left, right, condition)
        kept = tuple(name for name in node.variables if name not in added)
        return node if node.variables == kept else Project(kept, node)

    def _told(self, left: PlanNode, told: tuple[str, ...]) -> tuple[PlanNode, PlanNode]:
        """`left`, and all combinations of values that it has for `told`.

        Unbound is compatible with every value, but what is evaluated for unbound is not for them.
        So both get a column in which unbound is a value like any other.
        """
        keys = []
        for name in told:
            if name not in left.certain:
                keys.append(self.columns.fresh("_:told"))
                value = Call("COALESCE", (Variable(name), Constant(_UNBOUND)))
                left = Extend(keys[-1], value, left)
        return left, Distinct(Project((*told, *keys), left))

    def _group(self, pattern: algebra.Group, context: Context) -> PlanNode:
        node = self.pattern(pattern.pattern, context)
        keys = tuple(self.columns.column(name) for name in pattern.variables)
        aggregates = []
        for name, aggregate in pattern.aggregates:
            argument: str | None = None
            match aggregate.argument:
                case None:
                    pass
                case Variable(variable):
                    argument = self.columns.column(variable)
                    if argument not in node.variables:
                        node = Project((*node.variables, argument), node)
                case expression:
                    argument = self.columns.fresh("_:argument")
                    node = self._extended(node, argument, expression, context)
            made = Aggregate(aggregate.function, argument, aggregate.distinct, aggregate.separator)
            aggregates.append((self.columns.column(name), made))
        missing = tuple(key for key in keys if key not in node.variables)
        if missing:
            node = Project((*node.variables, *missing), node)
        return grouped(node, keys, tuple(aggregates), context)

    def _slice(self, pattern: algebra.Slice, context: Context) -> PlanNode:
        node = self.pattern(pattern.pattern, context)
        kept = node.variables
        keys = []
        for key in pattern.keys:
            match key.expression:
                case Variable(name):
                    column = self.columns.column(name)
                    if column not in node.variables:
                        continue
                case expression:
                    column = self.columns.fresh("_:order")
                    node = self._extended(node, column, expression, context)
            keys.append(SortKey(column, key.descending))
        ties = tuple(sorted(kept, key=self.columns.place))
        node = Slice(tuple(keys), pattern.offset, pattern.limit, node, context.carried, ties)
        return node if node.variables == kept else Project(kept, node)


def _is_bound(name: str) -> Expression:
    return Call("BOUND", (Variable(name),))


def _is_free(name: str) -> Expression:
    return Call("!", (_is_bound(name),))


def _all(conditions: list[Expression]) -> Expression | None:
    if len(conditions) < 2:
        return conditions[0] if conditions else None
    return Call("&&", tuple(conditions))
