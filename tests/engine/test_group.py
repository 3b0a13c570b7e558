"""Group: aggregates of touched groups, by running sums or from the rows."""

from __future__ import annotations

import pytest

from tests.support.harness import Memory, state
from tests.support.notation import deltas, history, plan_of, touched_rows
from weir.plan.operators import Group


def _by_subject(aggregate: str) -> str:
    return f"SELECT ?s ({aggregate} AS ?n) {{ ?s :p ?a }} GROUP BY ?s"


def _of_all(aggregate: str) -> str:
    return f"SELECT ({aggregate} AS ?n) {{ ?s :p ?a }}"


def test_a_group_appears_with_its_first_solution_and_vanishes_with_its_last() -> None:
    epochs = ("+x p 1", "+x p 2", "-x p 1; -x p 2")
    changes = deltas(_by_subject("COUNT(*)"), *epochs, node=Group)
    assert changes == [["+x 1"], ["+x 2", "-x 1"], ["-x 2"]]


def test_a_group_whose_aggregates_stay_the_same_has_no_delta() -> None:
    assert deltas(_by_subject("COUNT(*)"), "+x p 1", "-x p 1; +x p 2", node=Group)[1] == []


@pytest.mark.parametrize(
    ("aggregate", "value"),
    [
        ("COUNT(*)", "0"),
        ("SUM(?a)", "0"),
        ("AVG(?a)", "0"),
        ("GROUP_CONCAT(?a)", '""'),
        ("MAX(?a)", "_"),
        ("SAMPLE(?a)", "_"),
    ],
)
def test_without_keys_there_is_a_group_of_no_solutions(aggregate: str, value: str) -> None:
    changes = deltas(_of_all(aggregate), "+x q 1", "+x p 1", "-x p 1", node=Group)
    assert changes[0] == [f"+{value}"]
    assert f"-{value}" in changes[1]
    assert f"+{value}" in changes[2]


def test_an_unbound_key_is_a_group_of_its_own() -> None:
    query = "SELECT ?b (COUNT(*) AS ?n) { ?s :p ?a OPTIONAL { ?s :q ?b } } GROUP BY ?b"
    epochs = ("+x p 1; +y p 1; +y q 7", "+x q 7")
    assert deltas(query, *epochs, node=Group) == [["+7 1", "+_ 1"], ["+7 2", "-7 1", "-_ 1"]]


def test_count_of_an_expression_leaves_out_unbound_and_errors() -> None:
    query = "SELECT (COUNT(?b) AS ?n) (COUNT(1 + ?a) AS ?m) { ?s :p ?a OPTIONAL { ?s :q ?b } }"
    epochs = ('+x p 1; +y p "b"', "+y q 2")
    assert deltas(query, *epochs, node=Group) == [["+0 1"], ["+1 1", "-0 1"]]


def test_count_distinct_counts_a_value_until_its_last_solution_vanishes() -> None:
    epochs = ("+x p 1; +y p 1; +z p 2", "-x p 1", "-y p 1")
    changes = deltas(_of_all("COUNT(DISTINCT ?a)"), *epochs, node=Group)
    assert changes == [["+2"], [], ["+1", "-2"]]


def test_a_row_counts_as_often_as_it_occurs() -> None:
    query = "SELECT (COUNT(?a) AS ?n) (SUM(?a) AS ?m) { { SELECT ?a { ?s :p ?a } } }"
    changes = deltas(query, "+x p 2; +y p 2; +z p 3", "-x p 2", node=Group)
    assert changes == [["+3 7"], ["+2 5", "-3 7"]]


def test_a_sum_of_decimals_is_exact_and_in_canonical_form() -> None:
    query = "SELECT (SUM(?d) AS ?n) { ?s :p ?a BIND(?a / 10 AS ?d) }"
    assert deltas(query, "+x p 1; +y p 2", "-x p 1; -y p 2; +z p 30", node=Group) == [
        ["+0.3"],
        ["+3", "-0.3"],
    ]


def test_an_average_divides_by_the_present_number() -> None:
    changes = deltas(_of_all("AVG(?a)"), "+x p 1; +y p 2; +z p 6", "-z p 6", "+w p 3; +v p 4")
    assert changes == [["+3"], ["+1.5", "-3"], ["+2.5", "-1.5"]]


def test_a_sum_with_an_error_is_unbound_until_the_error_vanishes() -> None:
    epochs = ("+x p 1", '+y p "no number"', '-y p "no number"')
    changes = deltas(_of_all("SUM(?a)"), *epochs, node=Group)
    assert changes == [["+1"], ["+_", "-1"], ["+1", "-_"]]


def test_a_sum_of_doubles_does_not_depend_on_the_history() -> None:
    """0.1 + 0.2 - 0.2 is not 0.1: the sum is computed from the remaining values."""
    query = "SELECT (SUM(?d) AS ?n) { ?s :p ?a BIND(xsd:double(?a) / 10 AS ?d) }"
    changes = deltas(query, "+x p 1", "+y p 2", "-y p 2", node=Group)
    assert changes[2][0].removeprefix("+") == changes[0][0].removeprefix("+")


@pytest.mark.parametrize(
    ("aggregate", "gone", "first", "then"),
    [("MAX", "-z p 3", "3", "2"), ("MIN", "-x p 1", "1", "2")],
)
def test_when_the_extreme_vanishes_the_next_takes_its_place(
    aggregate: str, gone: str, first: str, then: str
) -> None:
    changes = deltas(_of_all(f"{aggregate}(?a)"), "+x p 1; +y p 2; +z p 3", gone, node=Group)
    assert changes == [[f"+{first}"], [f"+{then}", f"-{first}"]]


def test_group_concat_joins_the_present_values_in_order() -> None:
    query = "SELECT (GROUP_CONCAT(?a; SEPARATOR='|') AS ?n) { ?s :p ?a }"
    changes = deltas(query, '+x p "b"; +y p "c"', '+z p "a"', '-x p "b"', node=Group)
    assert [f for f in changes[2] if f.startswith("+")] == ['+"a|c"']


def test_a_group_appears_and_vanishes_by_having() -> None:
    query = "SELECT ?s { ?s :p ?a } GROUP BY ?s HAVING(COUNT(*) > 1)"
    changes = deltas(query, "+x p 1", "+x p 2", "-x p 1", node=Group)
    assert changes == [[], ["+x"], ["-x"]]


def test_only_the_rows_of_touched_groups_are_read() -> None:
    many = "; ".join(f"+{s} p {i}" for s in "abcdef" for i in range(3))
    assert touched_rows(_by_subject("MAX(?a)"), many, "+a p 9") == {"state": 3}


def test_all_rows_are_read_without_keys() -> None:
    many = "; ".join(f"+{s} p {i}" for s in "abcdef" for i in range(3))
    # Per value, once: the group needs no more than values and multiplicities.
    assert touched_rows(_of_all("MAX(?a)"), many, "+a p 9") == {"state": 3}


def test_a_sum_counts_a_row_that_occurs_a_thousand_million_times() -> None:
    values = " ".join(map(str, range(1000)))
    many = " ".join(
        f"{{ SELECT (1 AS ?k{i}) {{ VALUES ?v{i} {{ {values} }} }} }}" for i in range(3)
    )
    plan = plan_of(
        f"SELECT (SUM(?y) AS ?s) (AVG(?y) AS ?a) (COUNT(?y) AS ?n) {{ ?x :p ?y {many} }}"
    )
    memory = Memory(plan, history("+a p 1", "+b p 2", "-a p 1"))
    for epoch in range(3):
        memory.run(epoch, epoch + 1)
    (row,) = state(memory.log(), 3)
    assert [value.split('"')[1] for value in row if value] == ["2000000000", "2", "1000000000"]
