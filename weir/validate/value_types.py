"""The check that new values fit the types that the columns of `current/<name>` have.

A text has any term. Of the other columns, each new value is looked at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weir.compute.engine import Engine
from weir.compute.relations import LakeQuery, StoredTable
from weir.compute.sql import all_of, column, columns, number, rows_of, select, sum_of, text
from weir.definitions.definition import Definition
from weir.expectations.suite import QualityResult
from weir.lake.tables import EMBEDDINGS
from weir.plan.plan import ANSWER
from weir.progress.backlog import Backlog
from weir.progress.completion import Completion
from weir.settings import Limits
from weir.typed.column_type import TermType
from weir.typed.rows import WrongType, cell_of, distinct

VALUES_FIT = "values_fit_their_types"
_SENTENCE = "Each value fits the type that its column has in the table `current/<name>`."
_SHOWN = 2


def type_results(
    engine: Engine,
    completion: Completion,
    work: Mapping[str, tuple[Definition, Backlog]],
    limits: Limits,
) -> dict[str, QualityResult]:
    """The results by query; those without such a table, or with texts alone, have none.

    Args:
        engine: reads the new values.
        completion: of the lake.
        work: the definition and the unpublished rows of each query.
        limits: an answer with more new rows than `current_rows` has no such table.
    """
    results = {}
    for name, (query, item) in work.items():
        types = _types(completion, query, limits) if limits.current_rows else {}
        names = dict(item.columns)
        typed = {names[own]: (own, type_) for own, type_ in types.items() if own in names}
        if not typed:
            continue
        rows = _values(engine, item, [f"v{number}" for number in typed], limits)
        if rows is not None:
            results[name] = _result(query, rows, typed)
    return results


def _types(completion: Completion, query: Definition, limits: Limits) -> dict[str, TermType]:
    """The types of the columns that cannot have any term; none if no table is there or made."""
    said, published = query.current, completion.published(query.name)
    if not said.is_wanted:
        return {}
    if (
        published is not None
        and completion.current(query.name) is None
        and not completion.may_be_built(query.name, published, limits.current_rows)
    ):
        return {}
    layout = completion.layout(query.name)
    types = {**({} if layout is None else layout.types), **said.pins}
    return {name: type_ for name, type_ in types.items() if type_.name != "text"}


def _values(engine: Engine, item: Backlog, names: list[str], limits: Limits) -> Any:
    """The new values of some columns as Arrow; None if they are too many."""
    stored, relation = f"values_of_{item.query}", f"distinct_values_of_{item.query}"
    wanted = [
        column("node").eq(text(ANSWER)),
        column("epoch") > number(item.from_epoch),
        column("epoch") <= number(item.to_epoch),
    ]
    table = StoredTable(stored, EMBEDDINGS.name(item.query), item.snapshot, all_of(wanted))
    # A value that was added and has gone again is not in the answer.
    remains = sum_of(column("weight")) > number(0)
    values = select(*columns(names), from_=rows_of(stored), group_by=columns(names), having=remains)
    with engine.scope() as own:
        own.query(relation, LakeQuery(values, (table,)), "small")
        count = own.count(relation)
        most = limits.current_rows
        return None if count > most else own.fetch_few(relation, count, most=most)


def _result(
    query: Definition, rows: Any, typed: Mapping[int, tuple[str, TermType]]
) -> QualityResult:
    said = []
    for position, (name, type_) in typed.items():
        for term in distinct(rows[f"v{position}"]):
            try:
                cell_of(name, type_, term)
            except WrongType as wrong:
                hint = f"`weir retype {query.name}` has the types decided again"
                if name in query.current.pins:
                    hint = "its front matter says so"
                said.append(f"{wrong}; {hint}")
    return QualityResult(
        suite="answers",
        scope=query.name,
        expectation=VALUES_FIT,
        sentence=_SENTENCE,
        success=not said,
        unexpected_rows=len(said),
        examples=tuple(said[:_SHOWN]),
        detail=said[0] if said else "",
    )
