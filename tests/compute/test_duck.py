"""The text of a statement is written without copying its tree."""

from __future__ import annotations

import pytest
from sqlglot import exp

from tests.support.generators.grammar_cases import whole_case
from weir.compute import duck
from weir.compute.relations import Statement
from weir.engine.plan_delta import plan_delta
from weir.engine.relations import EpochRange, Inputs
from weir.plan.lower import lower
from weir.sparql.frontend.translate import translate
from weir.sparql.recursion import deep_recursion


def statements(seed: int) -> list[Statement]:
    """The statements of a random query of the whole grammar."""
    case = whole_case(seed)
    plan = lower(translate(case.query, case.default_graph))  # type: ignore[arg-type]
    graphs = {component.scope: f"graph{i}" for i, component in enumerate(plan.components)}
    delta = plan_delta(plan, EpochRange(1, 2, False), Inputs(graphs, "stored"), "q")
    return [
        statement
        for statement in (*delta.statements, delta.result)
        if isinstance(statement, Statement)
    ]


def text(query: exp.Query, dialect: str) -> str:
    """The text of a copy of the tree."""
    with deep_recursion():
        return query.sql(dialect=dialect)


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("seed", range(20))
def test_writing_a_statement_leaves_its_meaning_in_both_dialects(seed: int) -> None:
    made = statements(seed)
    assert made
    for statement in made:
        before = {dialect: text(statement.select, dialect) for dialect in ("duckdb", "spark")}
        assert duck._sql(statement.select) == before["duckdb"]
        after = {dialect: text(statement.select, dialect) for dialect in before}
        assert after == before
