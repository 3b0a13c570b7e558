"""What happened to a row of an answer with a key: it was inserted, deleted, or updated.

The names are those of Delta's change data feed. The feed of `current/<query>` itself has insertions
and deletions only ([decision 86](../../docs/decisions/0086-updates-are-read-from-the-log.md)).
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from weir.compute.sql import column, columns, over, text
from weir.definitions.catalog import Catalog
from weir.settings import Settings


def key_of(settings: Settings, query: str) -> tuple[str, ...]:
    """The columns that identify a row of an answer; none if its file does not say, or is wrong."""
    catalog = Catalog.of(settings)
    if query not in catalog.names or not catalog.is_usable(query):
        return ()
    return catalog.member(query).current.key


def kind_of_change(key: Sequence[str]) -> exp.Expr:
    """insert, delete, update_preimage or update_postimage: what a row of a log says of its row.

    A row is updated if, at one epoch and time, one with its key appears and one vanishes.

    Args:
        key: the columns that identify a row.
    """
    rows = [*columns(("epoch", "event_time")), *columns(key)]
    weight = column("weight")
    gains, loses = (
        over(exp.func("bool_or", condition), rows) for condition in (weight > 0, weight < 0)
    )
    case = exp.Case()
    for condition, name in (
        (exp.and_(weight > 0, loses), "update_postimage"),
        (exp.and_(weight < 0, gains), "update_preimage"),
        (weight > 0, "insert"),
    ):
        case = case.when(condition, text(name))
    return case.else_(text("delete"))
