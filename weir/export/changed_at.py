"""When a published answer changed, and at which epochs an edit of the query changed it, too."""

from __future__ import annotations

from datetime import datetime

from sqlglot import exp

from weir.answers.logs import AnswerLog
from weir.compute.sql import column, columns, is_not_null, number, rows_of, select
from weir.lake.delta.bindings import Bindings
from weir.lake.lake import Lake
from weir.lake.tables import ANSWERS
from weir.progress.answer_commits import publications
from weir.progress.backlog import DIFFERENCE_AT

_WITHOUT_DIFFERENCE = ("initial", "incremental")
"""Of the other modes, commits of earlier versions do not say at which epoch."""


def was_edited_at(lake: Lake, query: str, epoch: int) -> bool:
    """Whether a difference was published at an epoch, perhaps after its other changes.

    An edit of the query does that, and a rebuild of its answer. True also if it is not known, as
    the commits of that time are gone.
    """
    for metadata in publications(lake, query):
        at = metadata.extra.get(DIFFERENCE_AT)
        if at == epoch or (at is None and metadata.mode not in _WITHOUT_DIFFERENCE):
            return True
        if metadata.watermark < epoch or metadata.mode == "initial":
            return False
    return True


def change_times(
    bindings: Bindings, lake: Lake, log: AnswerLog, first: int, last: int
) -> dict[int, datetime]:
    """By epoch from `first` to `last`, when its changes happened.

    Nothing if an edit of the query made them all. Of a query over streams, it is the last of the
    instants.
    """
    rows = select(
        column("epoch"),
        exp.Max(this=column("event_time")),
        from_=rows_of(log.relation),
        where=[
            column("epoch") >= number(first),
            column("epoch") <= number(last),
            is_not_null(column("event_time")),
        ],
        group_by=columns(["epoch"]),
    )
    with lake.using(ANSWERS.name(log.query)):
        return dict(bindings.connection.execute(rows.sql(dialect="duckdb")).fetchall())
