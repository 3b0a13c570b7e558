"""The newest epoch that changed such rows of an answer, and what is said where there is none."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from sqlglot import exp

from weir.compute.protocol import SqlEngine
from weir.compute.sql import (
    alias,
    column,
    columns,
    is_not_null,
    number,
    rows_of,
    select,
    subquery,
    sum_of,
)
from weir.definitions.definition import Definition
from weir.errors import ConfigurationError
from weir.text.near import near, near_iris
from weir.typed.column_type import TEXT, cell
from weir.why.rows import Chosen, Value, is_one_of, key_of, rows_of_answer
from weir.why.values import undeclared_prefix

_MOST_COMPARED = 10_000
"""So many terms of a column are compared with a value that it does not have."""
_MOST_NAMED = 2


def newest_change(
    engine: SqlEngine, log: str, definition: Definition, base: int, chosen: Chosen
) -> int | None:
    """The newest epoch after `base` that changed chosen rows of an answer; None if there is none.

    Args:
        engine: has the log.
        log: the relation of the embeddings.
        definition: whose answer it is.
        base: the epoch at which it was computed as a whole.
        chosen: which rows; where all are, none is compared with another.
    """
    key = ["epoch", *key_of(definition)]
    changes = select(
        *columns(key),
        from_=rows_of(log),
        where=[*rows_of_answer(definition, chosen), column("epoch") > number(base)],
    )
    if not chosen.is_all:
        # What came and went within the epoch is no change.
        changes = changes.group_by(*columns(key)).having(sum_of(column("weight")).neq(number(0)))
    newest = select(
        alias(exp.Max(this=column("epoch")), "epoch"), from_=subquery(changes, "changes")
    )
    ((epoch,),) = engine.rows(newest)
    return None if epoch is None else int(str(epoch))


def no_change(
    engine: SqlEngine, log: str, definition: Definition, base: int, chosen: Chosen, where: str
) -> ConfigurationError:
    """What is said if no epoch changed such a row: whether the answer had one, or what is near.

    Args:
        engine: has the log.
        log: the relation of the embeddings.
        definition: whose answer it is.
        base: the epoch at which it was computed as a whole.
        chosen: which rows.
        where: of the error.
    """
    name = definition.name
    since = f"since it was computed as a whole at epoch {base}"
    if chosen.is_all:
        what = f"no epoch has changed the answer of {name} {since}"
        return ConfigurationError(what, where, "What changes it from now on can be explained.")
    at_base = [*rows_of_answer(definition, chosen), column("epoch") <= number(base)]
    if _is_any(engine, log, at_base):
        hint = "It had such a row then, and what changes that from now on can be explained."
    else:
        values = chain(*chosen.values.values())
        hint = (
            f"{_question(engine, log, definition, chosen)}`weir log {name}` prints which rows"
            f" changed, and at which epochs.{undeclared_prefix(name, values)}"
        )
    return ConfigurationError(f"no epoch has changed such a row of {name} {since}", where, hint)


def _is_any(engine: SqlEngine, log: str, where: Sequence[exp.Expr]) -> bool:
    return bool(engine.rows(select(column("epoch"), from_=rows_of(log), where=where).limit(1)))


def _question(engine: SqlEngine, log: str, definition: Definition, chosen: Chosen) -> str:
    """A question with values that the answer has or had, near to those that it never had."""
    meant = list[str]()
    all_rows = rows_of_answer(definition, Chosen())
    for name, values in chosen.values.items():
        stored = dict(definition.columns)[name]
        if _is_any(engine, log, [*all_rows, is_one_of(stored, values)]):
            continue
        known = select(
            column(stored),
            from_=rows_of(log),
            where=[*all_rows, is_not_null(column(stored))],
        )
        terms = [str(term) for (term,) in engine.rows(known.distinct().limit(_MOST_COMPARED))]
        for value in values:
            meant += [f"{name}={other}" for other in _near(value, terms)]
    return f"Did you mean {' or '.join(meant)}? " if meant else ""


def _near(value: Value, terms: Sequence[str]) -> list[str]:
    """What to write for the terms that are near a value: IRIs by their local names."""
    iris = [term for term in terms if term.startswith("<")]
    texts = [str(cell(TEXT, term).value) for term in terms if not term.startswith("<")]
    # The last one is that with the namespace of its prefix.
    meant = next((term for term in reversed(value.terms) if term[:1] == "<"), value.written)
    return [*near_iris(meant, iris), *near(value.written.strip('"'), texts)][:_MOST_NAMED]
