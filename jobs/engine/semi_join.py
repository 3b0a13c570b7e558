"""Match: left solutions by whether a compatible right one exists; OPTIONAL's rest, MINUS, EXISTS.

Per left row, two measures are swept: how often the row is there, and how many matches it has:

    unmatched L = differentiate( segments with left > 0 and matches = 0, weight left )
    matched L   = differentiate( segments with left > 0 and matches > 0, weight left )

Touched: the left rows that occur in the left side's delta, or whose key occurs in the right side's.
https://www.w3.org/TR/sparql11-query/#defn_algMinus and #defn_evalExists; the corrected equations of
001, Section 3 (fixtures 001-12 and 001-13).
"""

from __future__ import annotations

from typing import Literal

from sqlglot import exp

from jobs.compute.sql import column, columns, number, rows_of, select, text, union_all
from jobs.engine.conditions import condition_sql
from jobs.engine.join import Pair
from jobs.engine.relations import EpochRange
from jobs.engine.sweep import Key, differentiate, ends, sweep
from jobs.engine.terms import FALSE, TRUE
from jobs.sparql.algebra.expressions import Expression

Which = Literal["matched", "unmatched", "all"]


def match_delta(
    pair: Pair,
    epochs: EpochRange,
    which: Which,
    condition: Expression | None = None,
    overlapping: tuple[str, ...] = (),
    flag: str | None = None,
) -> exp.Select:
    """The log of the left rows within `epochs`, not netted.

    Args:
        pair: the sides.
        epochs: the range.
        which: the rows that are kept.
        condition: what a match must satisfy, over the merged solution.
        overlapping: variables of which a match must bind one on both sides, if there are any.
        flag: the column that says whether the row is matched, if all are kept.
    """
    key = pair.sides.left
    left = select(
        *columns((*key, "epoch")),
        column("weight").as_("present", quoted=True),
        number(0).as_("matches", quoted=True),
    ).from_(rows_of(pair.left_log), copy=False)
    matches = _matches(pair, condition, overlapping)
    found = select(
        *columns((*key, "epoch")),
        number(0).as_("present", quoted=True),
        column("weight").as_("matches", quoted=True),
    ).from_(ends(matches, key).subquery("found", copy=False), copy=False)
    events = union_all([left, found])
    segments = sweep(events, key, {"present": column("present"), "matches": column("matches")})
    has_match = column("matches") > 0
    kept = select(*columns((*key, "since", "until"))).select(
        column("present").as_("weight", quoted=True), copy=False
    )
    output: Key = key
    if flag is not None:
        value = exp.Case().when(has_match, text(TRUE)).else_(text(FALSE))
        kept = kept.select(value.as_(flag, quoted=True), copy=False)
        output = (*key, flag)
    kept = kept.from_(segments.subquery("segments", copy=False), copy=False).where(
        column("present") > 0, copy=False
    )
    match which:
        case "matched":
            kept = kept.where(has_match.copy(), copy=False)
        case "unmatched":
            kept = kept.where(column("matches") <= 0, copy=False)
        case "all":
            pass
    return differentiate(kept, output, epochs)


def _matches(pair: Pair, condition: Expression | None, overlapping: tuple[str, ...]) -> exp.Select:
    """The intervals of the pairs that match, in the columns of the left row."""
    sides = pair.sides
    own = sides.left if condition is None else tuple(f"own_{name}" for name in sides.left)
    since = exp.func("GREATEST", column("since", "l"), column("since", "r"))
    until = exp.func("LEAST", column("until", "l"), column("until", "r"))
    conditions = sides.compatible("l", "r")
    if overlapping:
        conditions.append(
            exp.or_(
                *(
                    exp.and_(
                        column(name, "l").is_(exp.null()).not_(),
                        column(name, "r").is_(exp.null()).not_(),
                    )
                    for name in overlapping
                )
            )
        )
    conditions.append(column("since", "l") < column("until", "r"))
    conditions.append(column("since", "r") < column("until", "l"))
    weight = column("weight", "l") * column("weight", "r")
    found = (
        select(
            *(
                column(name, "l").as_(named, quoted=True)
                for name, named in zip(sides.left, own, strict=True)
            )
        )
        .select(
            since.as_("since", quoted=True),
            until.as_("until", quoted=True),
            weight.as_("weight", quoted=True),
            copy=False,
        )
        .from_(rows_of(pair.left_intervals).as_("l"), copy=False)
        .join(
            rows_of(pair.right_intervals).as_("r"),
            on=exp.and_(*conditions),
            join_type="inner",
            copy=False,
        )
    )
    if condition is None:
        return found
    # The condition speaks of the merged solution, whose columns have the plain names.
    found = found.select(*sides.merged("l", "r"), copy=False)
    return (
        select(
            *(
                column(named).as_(name, quoted=True)
                for name, named in zip(sides.left, own, strict=True)
            )
        )
        .select(*columns(("since", "until", "weight")), copy=False)
        .from_(found.subquery("pairs", copy=False), copy=False)
        .where(condition_sql(condition, frozenset(sides.variables)), copy=False)
    )
