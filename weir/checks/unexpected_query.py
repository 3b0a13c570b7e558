"""The rows that a query of a check gives: DuckDB over relations in memory, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from datetime import date
from itertools import chain
from typing import Any

import duckdb
import pyarrow as pa
from sqlglot import exp

from weir.checks.arguments import UnexpectedRows, with_relations
from weir.checks.rows import SHOWN, Outcome
from weir.compute.sql import alias, select
from weir.lake.counted import counted
from weir.lake.delta.bindings import Bindings
from weir.text.near import meant

_ALONE: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": "false",
    "python_enable_replacements": "false",
    "lock_configuration": "true",
}
_UNKNOWN = re.compile("not found|does not have a column|does not exist|No matching columns")

# Of DuckDB; what it asks itself is about its own tables.
_TABLE = re.compile(r"Table with name (.+) does not exist")
_COLUMN = re.compile(r'(?:[Cc]olumn|column named) "(.+?)"')


class CannotCompute(Exception):  # noqa: N818  (named after what is wrong)
    """DuckDB cannot run the query; the message says why."""


class UnknownName(CannotCompute):
    """It names what is not there."""


def answers_named(said: UnexpectedRows, names: Collection[str]) -> set[str]:
    """The answers that a query may read by name."""
    words = {word.lower() for word in re.findall(r"\w+", said.unexpected_rows_query)}
    return {name for name in names if name.lower() in words}


def unknown_name(
    said: UnexpectedRows, relations: Mapping[str, Collection[str]], answers: Collection[str]
) -> tuple[str, str] | None:
    """What a query names that there is not, in the words of DuckDB, and a question with names that
    are near, or empty; None if there is all.

    Its columns have no types: whether they fit is only known of rows.

    Args:
        said: the query.
        relations: the columns of `current`, `delta` and other answers.
        answers: what it may read by name.
    """
    with duckdb.connect(config=_ALONE) as connection:
        for name, columns in relations.items():
            nothing = select(*(alias(exp.null(), column) for column in columns))
            Bindings(connection).view(name, nothing.sql(dialect="duckdb"))
        try:
            connection.execute(f"EXPLAIN {with_relations(said.unexpected_rows_query)}")
        except duckdb.Error as error:
            reason = str(error).splitlines()[0].partition(": ")[2]
            known = dict.fromkeys(chain(*relations.values()))
            return (reason, _question(reason, known, answers)) if _is_unknown(error) else None
    return None


def _question(reason: str, known: Collection[str], answers: Collection[str]) -> str:
    """A question with the names that are near to that of a table or a column in an error."""
    if table := _TABLE.search(reason):
        return meant(table[1], answers)
    name = _COLUMN.search(reason)
    return meant(name[1], known) if name else ""


def _is_unknown(error: duckdb.Error) -> bool:
    is_of_names = isinstance(error, duckdb.BinderException | duckdb.CatalogException)
    return is_of_names and _UNKNOWN.search(str(error).splitlines()[0]) is not None


def query_outcome(said: UnexpectedRows, relations: Mapping[str, pa.Table]) -> Outcome:
    """Whether a query gives no row.

    Args:
        said: the query.
        relations: `current`, `delta` and other answers, with typed columns.

    Raises:
        UnknownName: the query names what is not there.
        CannotCompute: it fails.
    """
    query = with_relations(said.unexpected_rows_query).strip().removesuffix(";")
    try:
        with duckdb.connect(config=_ALONE) as connection:
            bindings = Bindings(connection)
            for name, rows in relations.items():
                bindings.rows(name, rows)
            bindings.table("unexpected rows", query)
            ((number,),) = connection.sql('SELECT count(*) FROM "unexpected rows"').fetchall()
            shown = connection.sql(f'FROM "unexpected rows" LIMIT {SHOWN}')
            names = shown.columns
            rows_ = [dict(zip(names, map(_shown, row), strict=True)) for row in shown.fetchall()]
    except duckdb.Error as error:
        reason = str(error).splitlines()[0]
        raise (UnknownName if _is_unknown(error) else CannotCompute)(reason) from error
    detail = counted(number, "unexpected row") if number else ""
    return Outcome(number == 0, number, tuple(rows_), detail)


def _shown(value: Any) -> Any:
    if isinstance(value, bool | int | float | str | None):
        return value
    return value.isoformat() if isinstance(value, date) else str(value)
