"""Distinct: each solution once, for as long as its multiplicity is positive.

    delta Distinct(C) = differentiate( segments of C's touched rows whose running sum is positive )

Touched: the rows that occur in C's delta. https://www.w3.org/TR/sparql11-query/#defn_algDistinct
"""

from __future__ import annotations

from sqlglot import exp

from jobs.engine.relations import EpochRange
from jobs.engine.sweep import Key, differentiate, presence


def distinct_delta(touched_log: exp.Query, key: Key, epochs: EpochRange) -> exp.Select:
    """The log of the distinct rows within `epochs`, not netted.

    Args:
        touched_log: the child's log of all touched rows, from the beginning on.
        key: the columns of a row.
        epochs: the range.
    """
    return differentiate(presence(touched_log, key), key, epochs)
