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

from jobs.engine.conditions import condition_sql
from jobs.engine.join import Pair
from jobs.engine.relations import (
    FOREVER,
    EpochRange,
    column,
    columns,
    number,
    rows_of,
    select,
    text,
    union_all,
)
from jobs.engine.sweep import Key, differentiate, sweep
from jobs.engine.terms import FALSE, TRUE
from jobs.sparql.expressions import Expression

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
    events = union_all([left, _ends(_matches(pair, condition, overlapping), key)])
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
    """The intervals of the pairs that match, in the columns `own_..` of the left row."""
    sides = pair.sides
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
        select(*(column(name, "l").as_(f"own_{name}", quoted=True) for name in sides.left))
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
    found = found.select(*sides.merged("l", "r"), copy=False)
    return (
        select(*columns(tuple(f"own_{name}" for name in sides.left)))
        .select(*columns(("since", "until", "weight")), copy=False)
        .from_(found.subquery("pairs", copy=False), copy=False)
        .where(condition_sql(condition, frozenset(sides.variables)), copy=False)
    )


def _ends(matches: exp.Select, key: Key) -> exp.Select:
    """The ends of the matches as events of the left rows: columns key, epoch, present, matches."""
    signs = exp.Explode(this=exp.array(exp.Literal.number(1), exp.Literal.number(-1)))
    signed = (
        select("*")
        .select(exp.alias_(signs, "sign", quoted=True), copy=False)
        .from_(matches.subquery("matches", copy=False), copy=False)
    )
    end = exp.Case().when(column("sign").eq(1), column("since")).else_(column("until"))
    events = select(
        *(column(f"own_{name}").as_(name, quoted=True) for name in key),
        end.as_("epoch", quoted=True),
        number(0).as_("present", quoted=True),
        exp.cast(column("sign") * column("weight"), "BIGINT").as_("matches", quoted=True),
    ).from_(signed.subquery("signed", copy=False), copy=False)
    return (
        select(*columns((*key, "epoch", "present", "matches")))
        .from_(events.subquery("ends", copy=False), copy=False)
        .where(column("epoch") < number(FOREVER), copy=False)
    )
