"""When each quad of a stream happened: by a column, a triple or the commit that brought it.

Relations and their columns, QUAD = graph, subject, predicate, object:

    numbered   ordinal, file, source_line, line, insert, QUAD, time
    dated      ordinal, file, source_line, line, QUAD, instant, reason

file, source_line: where the quad stands. line: its place in the order of its change set, from 1;
documents have no lines, so that their quads are in the order of their text. reason: why a quad has
no instant, else null.
"""

from __future__ import annotations

from typing import assert_never

from sqlglot import exp

from weir.compute.sql import (
    alias,
    any_of,
    as_text,
    ascending,
    bigint,
    case,
    coalesce,
    column,
    columns,
    equal,
    inner_join,
    is_not_null,
    is_null,
    left_join,
    negated,
    row_number,
    rows_of,
    select,
    subquery,
    text,
)
from weir.ingest.instants import NO_TIME, with_instants
from weir.ingest.netting import QUAD
from weir.ingest.sources.stream import EventTime, TimeOfGraph, TimeOfSubject

TWO_TIMES = "it has two different times"
DELETION = "a stream has no deletions"
"""Why a quad is no event."""

_PLACE = ("ordinal", "file", "source_line", "line")


def numbered(changes: str, ordinals: str, documents: str) -> exp.Select:
    """The quads of some change sets in their order.

    Args:
        changes: `CHANGE_COLUMNS`.
        ordinals: ordinal: the change sets.
        documents: document, file: names of documents; others have none.
    """
    order = ("document", "line", *QUAD, "time")
    line = row_number(
        columns(["ordinal"], "changes"), [ascending(key) for key in columns(order, "changes")]
    )
    return select(
        column("ordinal", "changes"),
        alias(coalesce(column("file", "documents"), text("")), "file"),
        alias(column("line", "changes"), "source_line"),
        alias(bigint(line), "line"),
        *columns(("insert", *QUAD, "time"), "changes"),
        from_=rows_of(changes, "changes"),
        joins=[
            inner_join(rows_of(ordinals, "ordinals"), *equal(["ordinal"], "changes", "ordinals")),
            left_join(
                rows_of(documents, "documents"), *equal(["document"], "changes", "documents")
            ),
        ],
    )


def dated(numbered: str, time: EventTime, moments: str, offsets: str) -> exp.Select:
    """The inserted quads with their instants.

    Args:
        numbered: relation as above.
        time: where the time stands.
        moments: ordinal, moment: the instant of each change set, null if it has none.
        offsets: the relation of `instants.zone_offsets`.
    """
    match time:
        case "transaction":
            return _by_change_set(numbered, moments)
        case "column":
            return with_instants(_inserted(numbered, "time"), (*_PLACE, *QUAD), offsets)
        case TimeOfSubject(predicate):
            return _by_key(numbered, predicate, column("subject"), offsets)
        case TimeOfGraph(predicate):
            # The triple that dates a graph need not be in it.
            is_dating = column("predicate").eq(text(predicate))
            key = case((is_dating, column("subject")), otherwise=column("graph"))
            return _by_key(numbered, predicate, key, offsets)
        case _:
            assert_never(time)


def undated(numbered: str, dated: str, raw_characters: int) -> exp.Query:
    """The quads that are no events: `REJECTION_COLUMNS`."""
    deleted = select(
        *columns(("ordinal", "file", "source_line", *QUAD)),
        alias(text(DELETION), "reason"),
        from_=rows_of(numbered),
        where=[negated(column("insert"))],
    )
    without_time = select(
        *columns(("ordinal", "file", "source_line", *QUAD, "reason")),
        from_=rows_of(dated),
        where=[is_null(column("instant"))],
    )
    quad = exp.func("concat_ws", text(" "), *columns((*QUAD[1:], QUAD[0])))
    raw = exp.Left(this=exp.Trim(this=quad), expression=exp.Literal.number(raw_characters))
    return select(
        *columns(("ordinal", "file")),
        alias(column("source_line"), "line"),
        alias(bigint(exp.Literal.number(0)), "column"),
        column("reason"),
        alias(raw, "raw"),
        from_=subquery(exp.Union(this=deleted, expression=without_time, distinct=False), "undated"),
    )


def _inserted(numbered: str, *others: str) -> exp.Select:
    return select(
        *columns((*_PLACE, *QUAD, *others)), from_=rows_of(numbered), where=[column("insert")]
    )


def _by_change_set(numbered: str, moments: str) -> exp.Select:
    has_none = is_null(column("moment", "moments"))
    return select(
        *columns((*_PLACE, *QUAD), "rows"),
        alias(column("moment", "moments"), "instant"),
        alias(as_text(case((has_none, text(NO_TIME)))), "reason"),
        from_=subquery(_inserted(numbered), "rows"),
        joins=[inner_join(rows_of(moments, "moments"), *equal(["ordinal"], "rows", "moments"))],
    )


def _by_key(numbered: str, predicate: str, key: exp.Expr, offsets: str) -> exp.Select:
    """The quads dated by the objects of `predicate` among those with the same `key`."""
    keyed = select(
        *columns((*_PLACE, *QUAD)), alias(key, "key"), from_=subquery(_inserted(numbered), "rows")
    )
    dating = select(
        *columns(("ordinal", "key")),
        alias(column("object"), "time"),
        from_=subquery(keyed.copy(), "keyed"),
        where=[column("predicate").eq(text(predicate))],
    )
    times = select(
        *columns(("ordinal", "key")),
        alias(exp.Min(this=column("instant")), "first"),
        alias(exp.Max(this=column("instant")), "last"),
        alias(exp.Min(this=column("reason")), "reason"),
        from_=subquery(with_instants(dating, ("ordinal", "key"), offsets), "read"),
        group_by=columns(("ordinal", "key")),
    )
    reason = case(
        (
            any_of([is_not_null(column("reason", "times")), is_null(column("first", "times"))]),
            coalesce(column("reason", "times"), text(NO_TIME)),
        ),
        (
            exp.NEQ(this=column("first", "times"), expression=column("last", "times")),
            text(TWO_TIMES),
        ),
    )
    timed = select(
        *columns((*_PLACE, *QUAD), "keyed"),
        column("first", "times"),
        alias(as_text(reason), "reason"),
        from_=subquery(keyed, "keyed"),
        joins=[left_join(subquery(times, "times"), *equal(["ordinal", "key"], "keyed", "times"))],
    )
    return select(
        *columns((*_PLACE, *QUAD)),
        alias(case((is_null(column("reason")), column("first"))), "instant"),
        column("reason"),
        from_=subquery(timed, "found"),
    )
