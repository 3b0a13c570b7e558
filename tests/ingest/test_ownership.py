"""Which source may write which graph, on DuckDB."""

from __future__ import annotations

import duckdb
import pytest

from weir.ingest import ownership


@pytest.fixture
def sql() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute(
        """
        CREATE TABLE sources AS SELECT * FROM (VALUES (0, 'a', ''), (1, 'a', ''), (2, 'b', ''),
            (3, 'b', ''), (4, 'r', '<urn:weir:replica:r>'), (5, 'w', '<urn:weir:web:w:'),
            (6, 'ww', '<urn:weir:web:ww:')) t(ordinal, source, reserved);
        CREATE TABLE owners AS SELECT * FROM (VALUES ('<old>', 'a')) t(graph, source);
        CREATE TABLE epochs AS SELECT * FROM (VALUES (0, 7), (2, 8)) t(ordinal, epoch);
        CREATE TABLE changes(ordinal INT, graph TEXT);
        """
    )
    return connection


def write(sql: duckdb.DuckDBPyConnection, *written: tuple[int, str]) -> None:
    for row in written:
        sql.execute("INSERT INTO changes VALUES (?, ?)", row)
    statement = ownership.written_graphs("changes", "sources", "owners").sql("duckdb")
    sql.execute(f"CREATE TABLE written AS {statement}")


def rows(sql: duckdb.DuckDBPyConnection, statement: str) -> list[tuple[object, ...]]:
    return sorted(sql.execute(statement).fetchall())


def test_the_owner_may_write_again_and_others_are_refused_at_their_first_attempt(
    sql: duckdb.DuckDBPyConnection,
) -> None:
    write(sql, (1, "<old>"), (2, "<mine>"), (3, "<old>"), (3, "<old>"))
    refused = rows(sql, ownership.refusals("written").sql("duckdb"))
    assert refused == [("b", 3, "<old>", "a")]


def test_of_two_that_write_a_new_graph_the_first_change_set_wins(
    sql: duckdb.DuckDBPyConnection,
) -> None:
    write(sql, (1, "<new>"), (2, "<new>"))
    refused = rows(sql, ownership.refusals("written").sql("duckdb"))
    assert refused == [("b", 2, "<new>", "a")]


def test_the_graph_of_a_replica_is_its_own(sql: duckdb.DuckDBPyConnection) -> None:
    write(
        sql, (0, "<urn:weir:replica:r>"), (2, "<urn:weir:replica:x>"), (4, "<urn:weir:replica:r>")
    )
    refused = rows(sql, ownership.refusals("written").sql("duckdb"))
    assert refused == [("a", 0, "<urn:weir:replica:r>", ""), ("b", 2, "<urn:weir:replica:x>", "")]


def test_the_documents_of_a_traversal_are_its_own(sql: duckdb.DuckDBPyConnection) -> None:
    write(
        sql,
        (0, "<urn:weir:web:w:http://a/>"),
        (2, "<urn:weir:web:w>"),
        (5, "<urn:weir:web:w:http://a/>"),
        (5, "<urn:weir:web:w:about:http://a/>"),
        (6, "<urn:weir:web:w:http://a/>"),
    )
    refused = rows(sql, ownership.refusals("written").sql("duckdb"))
    assert refused == [
        ("a", 0, "<urn:weir:web:w:http://a/>", ""),
        ("b", 2, "<urn:weir:web:w>", ""),
        ("ww", 6, "<urn:weir:web:w:http://a/>", ""),
    ]


def test_only_accepted_change_sets_own_graphs(sql: duckdb.DuckDBPyConnection) -> None:
    write(sql, (0, "<x>"), (1, "<x>"), (1, "<y>"), (2, "<z>"), (0, "<old>"), (0, "<http://x>"))
    new = rows(sql, ownership.new_graphs("written", "epochs").sql("duckdb"))
    assert new == [("<http://x>", "a"), ("<x>", "a"), ("<z>", "b")]
