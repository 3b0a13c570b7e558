"""Query levels, outermost and subqueries: GROUP BY, HAVING, trailing VALUES, SELECT expressions.

https://www.w3.org/TR/sparql11-query/#convertSolMod
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from weir.sparql.algebra.expressions import Expression, Variable
from weir.sparql.algebra.patterns import (
    Bgp,
    Extend,
    Filter,
    Group,
    Join,
    OrderKey,
    Pattern,
    Project,
)
from weir.sparql.algebra.scoping import is_hidden
from weir.sparql.algebra.traversal import arguments_of
from weir.sparql.frontend.aggregation import Aggregates
from weir.sparql.frontend.errors import QuerySyntaxError
from weir.sparql.frontend.expressions import read_expression
from weir.sparql.frontend.inline_data import read_values
from weir.sparql.frontend.solution_modifiers import finish_select, read_limits, sliced
from weir.sparql.frontend.source import Source
from weir.sparql.frontend.translation import Translation
from weir.sparql.frontend.tree import Branch, Leaf, Tree


def read_select(tree: Tree, translation: Translation) -> tuple[Pattern, tuple[str, ...]]:
    """The algebra of a SELECT query or subquery, and the variables it projects, each once.

    The solutions have a variable that SELECT names twice only once (PV is a set):
    https://www.w3.org/TR/sparql11-query/#sparqlSelectExpressions.
    """
    level = _read_level(tree, translation)
    pattern, names = level.pattern, [item.name for item in level.items]
    for item in level.items:
        if item.expression is not None:
            if item.name in pattern.in_scope:
                raise _in_use(item.leaf, translation.source)
            pattern = Extend(pattern, item.name, item.expression)
    if not level.items:
        names = _in_order_of_mention(pattern.in_scope, translation.source)
    variables = tuple(dict.fromkeys(names))
    modifier = tree.get("modifier")
    assert modifier is None or isinstance(modifier, str), "a keyword"
    limits = read_limits(tree, translation.source)
    return (
        finish_select(
            pattern, variables, modifier, level.order, limits, lambda: translation.fresh("first")
        ),
        variables,
    )


def read_modified(tree: Tree, translation: Translation) -> Pattern:
    """The algebra of the WHERE clause of an ASK or CONSTRUCT query with its modifiers."""
    level = _read_level(tree, translation)
    return sliced(level.pattern, level.order, read_limits(tree, translation.source))


@dataclass(frozen=True, slots=True)
class _Item:
    """A variable of SELECT, with its expression if it has one."""

    tree: Tree
    leaf: Leaf
    name: str
    expression: Expression | None


@dataclass(frozen=True, slots=True)
class _Level:
    """A query level without its SELECT expressions; `order` has the keys of ORDER BY."""

    pattern: Pattern
    items: tuple[_Item, ...]
    order: tuple[OrderKey, ...]


def _read_level(tree: Tree, translation: Translation) -> _Level:
    where = tree.get("where")
    pattern: Pattern = translation.group(where) if isinstance(where, Tree) else Bgp(())
    pattern, keys = _read_keys(tree, pattern, translation)
    aggregates = Aggregates(translation)
    items = _read_items(tree, translation, aggregates)
    having = [
        read_expression(condition, translation, aggregates)
        for condition in _conditions(tree, "having", translation)
    ]
    order = tuple(
        _order_key(condition, translation, aggregates)
        for condition in _conditions(tree, "orderby", translation)
    )
    if tree.get("groupby") is not None or aggregates.names:
        _check_projection(tree, items, keys, aggregates, translation.source)
        # A variable that has many values in a group is replaced by a sample of them.
        many = frozenset(pattern.in_scope) - set(keys)
        having = [aggregates.sampled(condition, many) for condition in having]
        many -= {item.name for item in items}
        order = tuple(replace(k, expression=aggregates.sampled(k.expression, many)) for k in order)
        pattern = Group(keys, aggregates.items(), _visible(pattern, keys, aggregates))
    for condition in having:
        pattern = Filter(condition, pattern)
    clause = tree.get("valuesClause")
    if isinstance(clause, Tree):
        values = read_values(clause, translation.source)
        pattern = values if pattern == Bgp(()) else Join(pattern, values)
    return _Level(pattern, items, order)


def _conditions(tree: Tree, clause: str, translation: Translation) -> Iterator[Branch]:
    branch = tree.get(clause)
    for condition in branch.all("condition") if isinstance(branch, Tree) else ():
        translation.count_part(condition)
        yield condition


def _read_keys(
    tree: Tree, pattern: Pattern, translation: Translation
) -> tuple[Pattern, tuple[str, ...]]:
    """GROUP BY: the pattern extended by the keys that are expressions, and the keys' variables."""
    keys: list[str] = []
    for condition in _conditions(tree, "groupby", translation):
        key, target = condition, None
        if isinstance(condition, Tree) and condition.name == "GroupAs":
            key, target = condition.parts["expr"], condition.get("var")
        value = read_expression(key, translation)
        if target is None and isinstance(value, Variable):
            keys.append(value.name)
            continue
        if target is None:
            name = translation.fresh("key")
        else:
            assert isinstance(target, Leaf), "AS names a variable"
            name = _name(target)
            if name in pattern.in_scope:
                raise _in_use(target, translation.source)
        pattern = Extend(pattern, name, value)
        keys.append(name)
    return pattern, tuple(dict.fromkeys(keys))


def _read_items(tree: Tree, translation: Translation, aggregates: Aggregates) -> tuple[_Item, ...]:
    items: list[_Item] = []
    for part in tree.all("projection"):
        assert isinstance(part, Tree), "the grammar has a production here"
        expression = part.get("expr")
        leaf = part.parts["var"] if expression is None else part.parts["evar"]
        assert isinstance(leaf, Leaf), "SELECT names variables"
        name = _name(leaf)
        for other in items:
            if other.name == name and (expression is not None or other.expression is not None):
                raise translation.source.malformed(
                    f"?{name}", leaf.token, "SELECT has this variable twice"
                )
        if expression is not None:
            translation.count_part(part)
        value = None if expression is None else read_expression(expression, translation, aggregates)
        items.append(_Item(part, leaf, name, value))
    return tuple(items)


def _order_key(condition: Branch, translation: Translation, aggregates: Aggregates) -> OrderKey:
    assert isinstance(condition, Tree), "the grammar has a production here"
    value = read_expression(condition.parts["expr"], translation, aggregates)
    return OrderKey(value, condition.get("order") == "DESC")


def _check_projection(
    tree: Tree,
    items: tuple[_Item, ...],
    keys: tuple[str, ...],
    aggregates: Aggregates,
    source: Source,
) -> None:
    """With groups, only keys and aggregates may be selected.

    https://www.w3.org/TR/sparql11-query/#aggregateRestrictions
    """
    if tree.name in ("SelectQuery", "SubSelect") and not items:
        raise source.malformed(
            "SELECT *",
            source.word_before(source.first_token(tree.get("groupby")), "SELECT"),
            "it is not allowed with GROUP BY or an aggregate",
            "Name the keys and aggregates.",
        )
    single = {*keys, *aggregates.names.values()}
    for item in items:
        expression = Variable(item.name) if item.expression is None else item.expression
        for name in _outside_exists(expression):
            if name not in single:
                raise source.malformed(
                    f"?{name}",
                    source.first_mention(name, item.tree),
                    "a group has many values of this variable: it is neither a key of GROUP BY nor "
                    "in an aggregate",
                    "Add it to GROUP BY, or write SAMPLE(...).",
                )
        single.add(item.name)


def _visible(pattern: Pattern, keys: tuple[str, ...], aggregates: Aggregates) -> Pattern:
    """`pattern` without blank nodes, by which COUNT(DISTINCT *) would distinguish solutions."""
    if not any(a.distinct and a.argument is None for a in aggregates.names):
        return pattern
    return Project(
        tuple(name for name in pattern.in_scope if name in keys or not is_hidden(name)), pattern
    )


def _outside_exists(expression: Expression) -> list[str]:
    """The variables of `expression` in their order, without those in the pattern of an EXISTS."""
    own = [expression.name] if isinstance(expression, Variable) else []
    inner = (name for part in arguments_of(expression) for name in _outside_exists(part))
    return [*own, *inner]


def _name(leaf: Leaf) -> str:
    assert isinstance(leaf.node, Variable), "the grammar has a variable here"
    return leaf.node.name


def _in_use(leaf: Leaf, source: Source) -> QuerySyntaxError:
    return source.malformed(
        f"?{_name(leaf)}",
        leaf.token,
        "AS assigns to a variable that has a value already",
        "Use a new variable.",
    )


def _in_order_of_mention(names: tuple[str, ...], source: Source) -> list[str]:
    """Those of `names` that the user can see, in the order of first mention in the text."""
    mentioned = {token.text[1:]: None for token in source.tokens if token.kind == "variable"}
    return [name for name in mentioned if name in names and not is_hidden(name)]
