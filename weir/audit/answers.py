"""Checks that stored rows are well formed, and that answers equal their embeddings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from weir.audit.checked import CheckOf
from weir.audit.unexpected import unexpected
from weir.compute.engine import Engine
from weir.compute.relations import LakeQuery
from weir.compute.sql import column, number, select, subquery
from weir.definitions.catalog import Catalog
from weir.expectations.suite import QualityResult
from weir.lake.lake import Lake
from weir.lake.tables import ANSWERS
from weir.progress.backlog import Backlog
from weir.progress.completion import Completion
from weir.publish.epoch_times import epoch_times
from weir.publish.publication_query import published_columns, rows_to_publish, stored_columns
from weir.validate.answer_rows import AnswerRules, Checked
from weir.validate.validation import validate_queries

EQUAL = CheckOf(
    "equals_the_embeddings",
    "Up to its watermark the answer is that of the embeddings, with its multiplicities.",
)


def comparable(completion: Completion, names: Sequence[str]) -> list[Backlog]:
    """The queries whose published answers must equal their present embeddings.

    Left out are queries that were edited or recomputed, until the difference is published, and
    queries with an unreadable log, which the checks of files report.
    """
    backlogs = []
    damaged = completion.damaged(names)
    for query in (name for name in names if name not in damaged):
        maintained, published = completion.maintained(query), completion.published(query)
        if maintained is None or published is None or maintained.epoch < published.epoch:
            continue
        waiting = completion.backlog([query])
        if not (waiting and waiting[0].rebuilt):
            backlogs.append(Backlog(query, maintained, published, rebuilt=True, reason=""))
    return backlogs


def embeddings_results(
    engine: Engine, catalog: Catalog, work: Sequence[Backlog]
) -> Iterator[QualityResult]:
    """Run the suites `embeddings` and `answers` over all stored rows."""
    checked: list[Checked] = []
    for item in work:
        if not catalog.is_usable(item.query):
            continue
        output = catalog.member(item.query).output
        is_set = bool(item.maintained.metadata.extra["is_set"])
        # Without limits: these are checked before publication.
        checked.append((item, AnswerRules(output.form, is_set)))
    for validation in validate_queries(engine, checked):
        yield from validation.results


def answer_results(engine: Engine, lake: Lake, item: Backlog) -> Iterator[QualityResult]:
    """Check that an answer equals its embeddings."""
    assert item.published is not None, "it is comparable"
    stored = stored_columns(lake, item.query)
    times = f"times_{item.query}"
    engine.load(times, epoch_times(lake, item.from_epoch))
    query = rows_to_publish(item, published_columns(item, stored), stored, times)
    until = max(item.published.epoch, item.maintained.metadata.base)
    published = column("epoch") <= number(until)
    wrong = select("*", from_=subquery(query.select, "difference"), where=[published])
    total, examples = unexpected(engine, f"wrong_{item.query}", LakeQuery(wrong, query.tables))
    yield EQUAL.result(ANSWERS.name(item.query), examples, total)


def in_one_state(lake: Lake, item: Backlog) -> bool:
    """Whether a query was neither maintained nor published since `item` was read."""
    lake.refresh()
    now = Completion.read(lake)
    maintained, published = now.maintained(item.query), now.published(item.query)
    assert item.published is not None, "it is comparable"
    return (
        maintained is not None
        and published is not None
        and replace(maintained, epoch=0) == replace(item.maintained, epoch=0)
        and replace(published, epoch=0) == replace(item.published, epoch=0)
    )
