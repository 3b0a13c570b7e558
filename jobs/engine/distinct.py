"""Distinct: each solution once, for as long as its multiplicity is positive.

    delta Distinct(C) = differentiate( segments of C's touched rows whose running sum is positive )

Touched: the rows that occur in C's delta. https://www.w3.org/TR/sparql11-query/#defn_algDistinct
"""

from __future__ import annotations

from sqlglot import exp

from jobs.engine.relations import EpochRange, column, columns, number, select
from jobs.engine.sweep import Key, differentiate, sweep


def distinct_delta(touched_log: exp.Query, key: Key, epochs: EpochRange) -> exp.Select:
    """The log of the distinct rows within `epochs`, not netted.

    Args:
        touched_log: the child's log of all touched rows, from the beginning on.
        key: the columns of a row.
        epochs: the range.
    """
    segments = sweep(touched_log, key, {"multiplicity": column("weight")})
    present = (
        select(*columns(key), column("since"), column("until"))
        .select(number(1).as_("weight", quoted=True), copy=False)
        .from_(segments.subquery("segments", copy=False), copy=False)
        .where(column("multiplicity") > 0, copy=False)
    )
    return differentiate(present, key, epochs)
