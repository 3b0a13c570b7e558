"""A plan of many parts whose statements are made while others are planned."""

from __future__ import annotations

import pytest

from tests.support.harness import Memory
from tests.support.notation import history, plan_of

_PARTS = 12
_QUERY = " UNION ".join(
    f"{{ ?s a ?c{i} ; :p ?o FILTER(?c{i} IN (:C{i}, :D{i})) FILTER NOT EXISTS {{ ?s :q ?x }} }}"
    for i in range(_PARTS)
)
_FIRST = "; ".join(f"+s{i} {{type}} C{i}" for i in range(_PARTS))
_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"


def relations(change: str, after: int = 1) -> int:
    """How many relations a run makes of a query of twelve parts.

    Args:
        change: of one epoch.
        after: the epochs that are run before; from an odd one on, statements are made at once.
    """
    first = ["+z r z", _FIRST][-after:]
    made = history(*(text.format(type=_TYPE) for text in (*first, change)))
    memory = Memory(plan_of(f"SELECT * {{ {_QUERY} }}"), made)
    memory.run(0, after)
    with memory.running(after, after + 1):
        counted = memory.connection.execute(
            "SELECT count(*) FROM (SELECT table_name FROM duckdb_tables() WHERE database_name ="
            " current_database() UNION ALL SELECT view_name FROM duckdb_views() WHERE"
            " database_name = current_database()) WHERE table_name LIKE 'q_%'"
        )
        ((number,),) = counted.fetchall()
    return int(number)


def test_a_change_of_another_class_touches_no_part() -> None:
    assert relations(f"+x {_TYPE} E") == relations("+x r y")


@pytest.mark.parametrize("after", [1, 2])
def test_a_change_of_one_class_touches_one_part(after: int) -> None:
    all_parts = "; ".join(f"+x {_TYPE} C{i}" for i in range(_PARTS))
    assert relations(f"+x {_TYPE} D3", after) < relations(all_parts, after) / 3


def test_what_follows_from_empty_relations_is_not_planned() -> None:
    """The triple may be a match of each part; its subject is of one class."""
    assert relations("+s3 p 1", after=1) < relations("+s3 p 1", after=2) / 2
