"""Operators without memory: they map their children's deltas, or have none.

Filter, extend, project, union and instantiate are linear: op(a + b) = op(a) + op(b), so op(delta)
is the delta of op.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from jobs.compute.sql import column, columns, null_text, number, select, text, union_all
from jobs.engine.conditions import condition_sql, value_sql
from jobs.engine.relations import EpochRange
from jobs.engine.terms import FALSE, TRUE, begins
from jobs.plan.leaves import Values
from jobs.plan.operators import Ask, Extend, Filter, Instantiate, Project, Union
from jobs.sparql.algebra.expressions import Constant, Variable
from jobs.sparql.algebra.patterns import Node, TriplePattern

_LOG = ("epoch", "weight")


def filter_delta(node: Filter, child: exp.Query) -> exp.Select:
    """https://www.w3.org/TR/sparql11-query/#defn_algFilter."""
    return (
        select(*columns((*node.variables, *_LOG)))
        .from_(child.subquery("child", copy=False), copy=False)
        .where(condition_sql(node.condition, frozenset(node.variables)), copy=False)
    )


def project_delta(node: Project, child: exp.Query) -> exp.Select:
    """https://www.w3.org/TR/sparql11-query/#defn_algProjection; a bag, so nothing is merged."""
    return _in_columns(node.variables, node.child.variables, child)


def extend_delta(node: Extend, child: exp.Query) -> exp.Select:
    """https://www.w3.org/TR/sparql11-query/#defn_extend."""
    value = value_sql(node.expression, frozenset(node.child.variables))
    return (
        select(*columns(node.child.variables), value.as_(node.variable, quoted=True))
        .select(*columns(_LOG), copy=False)
        .from_(child.subquery("child", copy=False), copy=False)
    )


def union_delta(node: Union, children: Sequence[exp.Query]) -> exp.Query:
    """https://www.w3.org/TR/sparql11-query/#defn_algUnion; a bag."""
    return union_all(
        [
            _in_columns(node.variables, child.variables, delta)
            for child, delta in zip(node.children, children, strict=True)
        ]
    )


def values_delta(node: Values, epochs: EpochRange) -> exp.Query:
    """Inline data holds from the first epoch on; https://www.w3.org/TR/sparql11-query/#inline-data."""
    rows = node.rows if epochs.from_nothing else ()
    if not rows:
        nothing = [null_text(name) for name in node.variables]
        log = [number(0).as_(name, quoted=True) for name in _LOG]
        return select(*nothing, *log).where(exp.false(), copy=False)
    return union_all([_constants(node.variables, row, epochs) for row in rows])


def _constants(
    names: tuple[str, ...], row: tuple[str | None, ...], epochs: EpochRange
) -> exp.Select:
    cells = (exp.cast(exp.null() if term is None else text(term), "TEXT") for term in row)
    return select(
        *(cell.as_(name, quoted=True) for cell, name in zip(cells, names, strict=True)),
        number(epochs.start).as_("epoch", quoted=True),
        number(1).as_("weight", quoted=True),
    )


def _in_columns(names: tuple[str, ...], available: tuple[str, ...], child: exp.Query) -> exp.Select:
    kept = [column(name) if name in available else null_text(name) for name in names]
    return select(*kept, *columns(_LOG)).from_(child.subquery("child", copy=False), copy=False)


def ask_delta(node: Ask, child: exp.Query, epochs: EpochRange) -> exp.Query:
    """`true` while the empty solution is there, `false` otherwise, from the first epoch on.

    Its child is the set of empty solutions: when that appears, true appears and false vanishes.
    """
    truth = exp.Case().when(column("sign").eq(1), text(TRUE)).else_(text(FALSE))
    signs = exp.Explode(this=exp.array(exp.Literal.number(1), exp.Literal.number(-1)))
    signed = select(*columns(_LOG), exp.alias_(signs, "sign", quoted=True))
    flips = select(
        truth.as_(node.variable, quoted=True),
        column("epoch"),
        (column("sign") * column("weight")).as_("weight", quoted=True),
    ).from_(
        signed.from_(child.subquery("child", copy=False), copy=False).subquery(
            "signed", copy=False
        ),
        copy=False,
    )
    if not epochs.from_nothing:
        return flips
    at_first = select(
        text(FALSE).as_(node.variable, quoted=True),
        number(epochs.start).as_("epoch", quoted=True),
        number(1).as_("weight", quoted=True),
    )
    return union_all([flips, at_first])


def instantiate_delta(node: Instantiate, child: exp.Query) -> exp.Query:
    """The triples that each solution makes; https://www.w3.org/TR/sparql11-query/#construct.

    A triple with an unbound part, a literal subject or a predicate that is no IRI is left out.
    """
    return union_all([_triples(node, pattern, child) for pattern in node.template])


def _triples(node: Instantiate, pattern: TriplePattern, child: exp.Query) -> exp.Select:
    terms = [_template_term(node, part) for part in pattern.nodes]
    made = select(
        *(term.as_(name, quoted=True) for term, name in zip(terms, node.targets, strict=True)),
        *columns(_LOG),
    ).from_(child.subquery("child", copy=False), copy=False)
    subject, predicate, object_ = (column(name) for name in node.targets)
    return (
        select(*columns((*node.targets, *_LOG)))
        .from_(made.subquery("made", copy=False), copy=False)
        .where(
            exp.or_(begins(subject, "<"), begins(subject, "_")),
            begins(predicate, "<"),
            object_.is_(exp.null()).not_(),
            copy=False,
        )
    )


def _template_term(node: Instantiate, part: Node) -> exp.Expr:
    match part:
        case Constant(term):
            return text(term)
        case Variable(name) if name in node.blank_nodes:
            return _blank_node(name, node.child.variables)
        case Variable(name):
            return column(name) if name in node.child.variables else exp.cast(exp.null(), "TEXT")


def _blank_node(name: str, solution: tuple[str, ...]) -> exp.Expr:
    """A label from the template's blank node and the solution's terms, each with its length."""
    described: exp.Expr = text(name)
    for variable in solution:
        length = exp.cast(exp.func("LENGTH", column(variable)), "TEXT")
        term = _concatenated(_concatenated(text(" "), length), text(":"))
        term = _concatenated(term, column(variable))
        described = _concatenated(described, exp.func("COALESCE", term, text(" -")))
    return _concatenated(text("_:b"), exp.func("MD5", described))


def _concatenated(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    # Not CONCAT: it skips nulls on DuckDB and yields null on Spark.
    return exp.DPipe(this=left, expression=right)
