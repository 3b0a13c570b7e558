"""SERVICE in a query: by which keys a remote is asked, and where these come from.

A block is asked for the solutions of its *partner*, the nearest pattern that it is joined with: by
the variables that both bind in every solution, its *key*. Rows of other keys cannot be in the
answer. The keys to ask for are a query of their own over the partner (the proposer WSJ of 003,
Section 3.2). Without such a variable the remote is asked for the whole block. If the query wants
it, the remote is given FILTERs around the block, too (`pushed_filters`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import assert_never

from weir.sparql.algebra.bounds import Top, bounds_of, top_of
from weir.sparql.algebra.expressions import Call, Exists, Expression, Variable
from weir.sparql.algebra.filter_distances import Bound
from weir.sparql.algebra.patterns import (
    Distinct,
    Extend,
    Filter,
    Graph,
    Group,
    Join,
    Leaf,
    LeftJoin,
    Minus,
    Node,
    Pattern,
    Project,
    Selection,
    Service,
    Slice,
    Unary,
    Union,
)
from weir.sparql.algebra.pushed_filters import (
    NOTHING_PUSHED,
    Pushing,
    pushing_of,
    with_filters,
)
from weir.sparql.algebra.scoping import is_hidden, variables_of
from weir.sparql.algebra.traversal import has_exists, map_arguments


@dataclass(frozen=True, slots=True)
class Asked:
    """What a block asks a remote for.

    Attributes:
        service: the block, with its key and the filters that are given to the remote.
        keys: the pattern whose solutions are the keys to ask for, each once; None without a key.
        bounds: conditions on what the block binds, without which a solution is in no answer.
        top: the rows of the answer are those with the first values of what the block binds.
        pushing: what becomes of the filters around it.
    """

    service: Service
    keys: Pattern | None
    bounds: tuple[Bound, ...] = ()
    top: Top | None = None
    pushing: Pushing = NOTHING_PUSHED


def pattern_id(service: Service) -> str:
    """The id of what is asked: equal blocks with the same key share their rows."""
    asked = [service.remote, service.block, service.variables, service.key]
    return hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:16]


def with_keys(pattern: Pattern, *, push_filters: bool = False) -> tuple[Pattern, tuple[Asked, ...]]:
    """The pattern of a whole query with a key in each of its blocks, and what they ask for.

    push_filters: whether remotes are given the filters around blocks.
    """
    keys = _Keys(push_filters)
    keyed = keys.within(pattern, _Around())
    return keyed, tuple(keys.asked)


@dataclass(frozen=True, slots=True)
class _Around:
    """What surrounds a pattern.

    Attributes:
        partners: what it is joined with, the nearest first, as patterns of the outermost level.
        conditions: the filters over what it is a part of.
        graphs: the names of the GRAPH and WINDOW patterns around, the outermost first.
        top: which solutions a LIMIT leaves.
        optional: the conditions of the OPTIONALs that it is the right side of: what fails one of
            them is no match there.
        withheld: other conditions, each with why solutions that fail it may count.
    """

    partners: tuple[Pattern, ...] = ()
    conditions: tuple[Expression, ...] = ()
    graphs: tuple[Node, ...] = ()
    top: Top | None = None
    optional: tuple[Expression, ...] = ()
    withheld: tuple[tuple[Expression, str], ...] = ()

    def joined_with(self, partner: Pattern | None) -> _Around:
        """Inside a join with `partner`."""
        if partner is None:
            return self
        for name in reversed(self.graphs):
            partner = Graph(name, partner)
        return replace(self, partners=(partner, *self.partners))

    def beside(self, left: Pattern) -> _Around:
        """On the right of `left`: filters see what a solution of that has without a match, too."""
        bound = left.certain

        def kept(conditions: tuple[Expression, ...]) -> tuple[Expression, ...]:
            return tuple(condition for condition in conditions if variables_of(condition) <= bound)

        others = (
            (condition, "it sees solutions without a match, too")
            for condition in (*self.conditions, *self.optional)
            if not variables_of(condition) <= bound
        )
        return replace(
            self.joined_with(left),
            conditions=kept(self.conditions),
            optional=kept(self.optional),
            withheld=(*self.withheld, *others),
        )

    def matching(self, condition: Expression | None) -> _Around:
        """On the right of an OPTIONAL with this condition."""
        return self if condition is None else replace(self, optional=(condition, *self.optional))

    def showing(self, names: Collection[str]) -> _Around:
        """Inside a level whose variables are others, but for `names`."""
        shown = (
            Project(tuple(name for name in partner.in_scope if name in names), partner)
            for partner in self.partners
        )
        others = (
            (condition, "it is outside of a subquery or a group")
            for condition in (*self.conditions, *self.optional)
            if variables_of(condition) & {*names}
        )
        return replace(
            self,
            partners=tuple(shown),
            conditions=(),
            optional=(),
            withheld=(*self.withheld, *others),
        )


class _Keys:
    """Gives every block its key, from left to right: a partner has only blocks that have theirs."""

    def __init__(self, push_filters: bool) -> None:
        self.asked: list[Asked] = []
        self._push_filters = push_filters

    def within(self, pattern: Pattern, around: _Around) -> Pattern:
        match pattern:
            case Service():
                return self._keyed(pattern, around)
            case Join(left, right):
                keyed = self.within(left, around.joined_with(_without_blocks(right)))
                return Join(keyed, self.within(right, around.joined_with(keyed)))
            case LeftJoin(left, right, condition):
                keyed = self.within(left, around)
                inner = self.within(right, around.beside(keyed).matching(condition))
                if condition is not None:
                    condition = self._inside(condition, around.beside(keyed).joined_with(inner))
                return LeftJoin(keyed, inner, condition)
            case Minus(left, right):
                keyed = self.within(left, around)
                return Minus(keyed, self.within(right, around.beside(keyed)))
            case Filter(condition, inner):
                below = replace(around, conditions=(condition, *around.conditions))
                keyed = self.within(inner, below)
                return Filter(self._inside(condition, around.beside(keyed)), keyed)
            case Graph(name, inner):
                below = replace(around, graphs=(*around.graphs, name))
                return Graph(name, self.within(inner, below))
            case Project(variables, inner):
                return Project(variables, self.within(inner, around.showing(variables)))
            case Group(variables=variables):
                # Groups of other keys are not asked for; a group is asked for as a whole.
                return self._parts(pattern, replace(around.showing(variables), top=None))
            case Slice():
                # Which solutions are cut off depends on all of them.
                return self._parts(pattern, _Around(graphs=around.graphs, top=top_of(pattern)))
            case Extend(variable=variable):
                conditions = _without(around.conditions, variable)
                return self._parts(pattern, replace(around, conditions=conditions))
            case Leaf() | Selection() | Union():
                return self._parts(pattern, around)
            case _:
                assert_never(pattern)

    def _parts(self, pattern: Pattern, around: _Around) -> Pattern:
        keyed = pattern.map_children(lambda child: self.within(child, around))
        for child in keyed.children:
            around = around.beside(child)
        return keyed.map_expressions(lambda own: self._inside(own, around))

    def _inside(self, expression: Expression, around: _Around) -> Expression:
        """The expression with keys in the blocks of its EXISTS."""
        if isinstance(expression, Exists):
            return Exists(self.within(expression.pattern, around))
        return map_arguments(expression, lambda argument: self._inside(argument, around))

    def _keyed(self, service: Service, around: _Around) -> Service:
        for partner in around.partners:
            bound = partner.certain & service.certain
            key = tuple(n for n in service.variables if n in bound and not is_hidden(n))
            if key:
                return self._asked(replace(service, key=key), partner, around)
        return self._asked(service, None, around)

    def _asked(self, service: Service, partner: Pattern | None, around: _Around) -> Service:
        bounds = bounds_of(around.conditions, service.variables)
        top = around.top if around.top and around.top.variable in service.variables else None
        pushing = _pushing(service, partner, around) if self._push_filters else NOTHING_PUSHED
        given = with_filters(service, pushing.pushed)
        keys = None if partner is None else _keys_of(partner, service.key, around.conditions)
        self.asked.append(Asked(given, keys, bounds, top, pushing))
        return given


def _keys_of(partner: Pattern, key: tuple[str, ...], conditions: tuple[Expression, ...]) -> Pattern:
    """The distinct values of a key that can be asked for: a remote does not know blank nodes."""
    of_partner = [condition for condition in conditions if _is_of(partner, condition)]
    not_blank = [Call("!", (Call("ISBLANK", (Variable(name),)),)) for name in key]
    for condition in (*of_partner, *not_blank):
        partner = Filter(condition, partner)
    return Distinct(Project(key, partner))


def _is_of(partner: Pattern, condition: Expression) -> bool:
    """Whether the keys to ask for are those of solutions of the partner that meet the condition."""
    return not has_exists(condition) and variables_of(condition) <= partner.certain


def _pushing(service: Service, partner: Pattern | None, around: _Around) -> Pushing:
    """What becomes of the conditions around a block, but for those that its keys meet."""
    met = [c for c in around.conditions if partner is not None and _is_of(partner, c)]
    conditions = [c for c in (*around.conditions, *around.optional) if c not in met]
    by_keys = ((c, "the keys that are asked for meet it") for c in met)
    return pushing_of(service, conditions, (*around.withheld, *by_keys))


def _without_blocks(pattern: Pattern) -> Pattern | None:
    """A pattern without blocks that has the solutions of `pattern`, or more; None without any.

    A block that comes later has no key yet.
    """
    if not _has_block(pattern):
        return pattern
    match pattern:
        case Join(left, right):
            one, two = _without_blocks(left), _without_blocks(right)
            return Join(one, two) if one and two else one or two
        case LeftJoin(left, _) | Minus(left, _):
            return _without_blocks(left)
        case Filter(_, inner):
            return _without_blocks(inner)
        case Leaf() | Unary() | Union():
            return None
        case _:
            assert_never(pattern)


def _has_block(pattern: Pattern) -> bool:
    inside = any(map(_has_block, pattern.children))
    return inside or isinstance(pattern, Service) or any(map(_asks, pattern.expressions))


def _asks(expression: Expression) -> bool:
    if isinstance(expression, Exists):
        return _has_block(expression.pattern)
    return isinstance(expression, Call) and any(map(_asks, expression.arguments))


def _without(conditions: tuple[Expression, ...], variable: str) -> tuple[Expression, ...]:
    return tuple(condition for condition in conditions if variable not in variables_of(condition))
