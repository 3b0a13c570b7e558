"""The builder of SQL: text for both engines, without copies."""

from __future__ import annotations

import duckdb
import pytest
from sqlglot import exp

from weir.compute.sql import (
    alias,
    all_of,
    anti_join,
    any_of,
    ascending,
    case,
    coalesce,
    column,
    columns,
    concatenated,
    descending,
    greatest,
    inner_join,
    is_not_null,
    is_null,
    least,
    left_join,
    negated,
    number,
    one_of,
    over,
    padded_columns,
    rows_of,
    same_row,
    select,
    semi_join,
    small_number,
    subquery,
    sum_of,
    text,
    union_all,
)


def rows(query: exp.Query) -> list[tuple[object, ...]]:
    """The rows of a query over `t`: a, n."""
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT * FROM (VALUES ('x', 1), ('x', 2), (NULL, 3)) AS t(a, n)"
        )
        return connection.execute(query.sql(dialect="duckdb")).fetchall()


def test_the_clauses_of_a_select_are_those_that_are_given() -> None:
    query = select(
        column("a"),
        alias(sum_of(column("n")), "total"),
        from_=rows_of("t"),
        where=[column("n") > number(0), column("n") < number(9)],
        group_by=columns(("a",)),
        having=sum_of(column("n")).neq(0),
        limit=5,
    )
    assert query.sql(dialect="spark") == (
        "SELECT `a`, SUM(`n`) AS `total` FROM t"
        " WHERE `n` > CAST(0 AS BIGINT) AND `n` < CAST(9 AS BIGINT)"
        " GROUP BY `a` HAVING SUM(`n`) <> 0 LIMIT 5"
    )


def test_arguments_become_parts_of_the_tree() -> None:
    """Not copies of them: a plan has thousands of expressions."""
    inner = select(column("a"), from_=rows_of("t"))
    condition = is_null(column("a"))
    outer = select("*", from_=subquery(inner, "s"), where=[condition])
    assert outer.find(exp.Subquery).this is inner  # type: ignore[union-attr]
    assert outer.args["where"].this is condition
    assert inner.parent is outer.find(exp.Subquery)


def test_a_connective_inside_another_is_parenthesised() -> None:
    either = any_of([column("a").eq(1), column("b").eq(2)])
    assert all_of([either, column("c").eq(3)]).sql() == '("a" = 1 OR "b" = 2) AND "c" = 3'
    assert negated(any_of([column("a"), column("b")])).sql() == 'NOT ("a" OR "b")'


def test_no_condition_is_true_for_all_and_false_for_any() -> None:
    assert (all_of([]).sql(), any_of([]).sql()) == ("TRUE", "FALSE")


def test_the_rows_of_a_union_are_a_bag() -> None:
    part = [select(column("n"), from_=rows_of("t")) for _ in range(3)]
    assert len(rows(union_all(part))) == 9


def test_joins_keep_pairs_left_rows_or_rows_with_or_without_a_match() -> None:
    def joined(kind: exp.Join, *cells: exp.Expr) -> list[tuple[object, ...]]:
        return sorted(rows(select(*cells, from_=rows_of("t", "l"), joins=[kind])), key=repr)

    next_one = column("n", "l").eq(column("n", "r") - small_number(1))
    pairs = joined(inner_join(rows_of("t", "r"), next_one.copy()), *columns(("n",), "l"))
    assert pairs == [(1,), (2,)]
    left = joined(left_join(rows_of("t", "r"), next_one.copy()), column("n", "r"))
    assert left == [(2,), (3,), (None,)]
    semi = joined(semi_join(rows_of("t", "r"), next_one.copy()), column("n", "l"))
    assert semi == [(1,), (2,)]
    assert joined(anti_join(rows_of("t", "r"), next_one), column("n", "l")) == [(3,)]


def test_unbound_equals_unbound_in_the_same_row() -> None:
    def pairs(certain: frozenset[str]) -> int:
        on = same_row(("a",), "l", "r", certain)
        joins = [inner_join(rows_of("t", "r"), *on)]
        return len(rows(select("*", from_=rows_of("t", "l"), joins=joins)))

    assert pairs(frozenset()) == 5
    assert pairs(frozenset({"a"})) == 4


def test_missing_columns_are_unbound() -> None:
    (row,) = rows(select(*padded_columns(("a", "b"), {"a"}), from_=rows_of("t"), limit=1))
    assert row == ("x", None)


def test_concatenation_with_a_null_is_null() -> None:
    joined = concatenated(text("<"), column("a"), text(">"))
    query = select(alias(joined, "shown"), from_=rows_of("t"))
    assert [row[0] for row in rows(query)] == ["<x>", "<x>", None]


def test_a_case_without_a_true_condition_is_null_or_the_default() -> None:
    is_one = column("n").eq(1)
    bare, full = (
        case((is_one, text("one"))),
        case((is_one.copy(), text("one")), otherwise=text("-")),
    )
    query = select(alias(bare, "b"), alias(full, "f"), from_=rows_of("t"))
    assert rows(query) == [("one", "one"), (None, "-"), (None, "-")]


def test_a_window_runs_over_its_partition_in_order() -> None:
    running = over(sum_of(column("n")), [column("a")], [descending(column("n"))])
    query = select(column("n"), alias(running, "s"), from_=rows_of("t"))
    assert sorted(rows(query)) == [(1, 3), (2, 2), (3, 3)]
    ranked = over(exp.RowNumber(), [], [ascending(column("n"))])
    assert [row[0] for row in rows(select(alias(ranked, "r"), from_=rows_of("t")))] == [1, 2, 3]


def test_extremes_of_one_value_are_the_value() -> None:
    assert greatest(column("n")).sql() == least(column("n")).sql() == '"n"'


@pytest.mark.parametrize("dialect", ["duckdb", "spark"])
def test_every_function_has_the_same_meaning_in_both_dialects(dialect: str) -> None:
    """Text that differs by more than quotes, types and escapes would be a surprise."""
    query = select(
        alias(greatest(column("n"), number(2)), "g"),
        alias(coalesce(column("a"), text("none")), "c"),
        alias(one_of(column("a"), ["x", "y"]), "o"),
        alias(is_not_null(column("a")), "b"),
        from_=rows_of("t"),
    )
    plain = query.sql(dialect=dialect).replace("`", '"')
    assert plain == (
        'SELECT GREATEST("n", CAST(2 AS BIGINT)) AS "g", COALESCE("a", \'none\') AS "c",'
        ' "a" IN (\'x\', \'y\') AS "o", NOT "a" IS NULL AS "b" FROM t'
    )


def test_a_backslash_is_the_same_text_on_both_engines() -> None:
    assert text("a\\b").sql(dialect="spark") == "'a\\\\b'"
    assert text("a\\b").sql(dialect="duckdb") == "'a\\b'"
