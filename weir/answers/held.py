"""Reads the answer of a query that is held back, by DuckDB."""

from __future__ import annotations

from weir.answers.logs import Printed, Rows, fetch
from weir.compute.sql import (
    alias,
    bigint,
    column,
    columns,
    number,
    rows_of,
    select,
    sum_of,
    text,
)
from weir.definitions.catalog import Catalog
from weir.definitions.checks import declared_checks
from weir.definitions.names import folders_of, is_declared
from weir.errors import ConfigurationError
from weir.lake.tables import EMBEDDINGS
from weir.plan.plan import ANSWER
from weir.progress.completion import Completion
from weir.progress.held import held_reasons
from weir.project import open_lake
from weir.remotes.readiness import why_unpublished
from weir.settings import Settings

_HELD = "held"


def held_answer(settings: Settings, query: str, printed: Printed) -> tuple[Rows, str]:
    """The answer as it would be published, and why it is held back.

    Args:
        settings: of the project.
        query: its name.
        printed: how its rows are printed.

    Raises:
        ConfigurationError: the answer is not held back.
    """
    completion = Completion.read(open_lake(settings))
    answers = completion.answers([query])
    reason = held_reasons(completion, answers).get(query)
    is_known = is_declared(folders_of(settings), query)
    if reason is None and is_known and completion.backlog([query]):
        catalog = Catalog.of(settings)
        checks = declared_checks(settings.expectations, catalog, [query]).fingerprints
        why = why_unpublished(completion, answers[0], catalog.member(query), checks)
        reason = None if why is None else why.reason
    if reason is None:
        hint = f"`weir show {query}` prints its answer." if is_known else "`weir status` lists all."
        raise ConfigurationError(f"no rows of {query} are held back", settings.lake, hint)
    (held,) = answers
    table = completion.lake.open(EMBEDDINGS.name(query), held.snapshot)
    assert table is not None, "its rows were checked"
    bindings = printed.bindings(settings)
    bindings.rows(_HELD, table.to_pyarrow_dataset())
    shown = [
        printed.value(own, name)
        for own, (name, _) in zip(held.variables, held.columns, strict=True)
    ]
    rows = select(
        *shown,
        alias(bigint(sum_of(column("weight"))), "weight"),
        from_=rows_of(_HELD),
        where=[column("node").eq(text(ANSWER)), column("epoch") <= number(held.to_epoch)],
        group_by=columns(held.variables),
        having=sum_of(column("weight")).neq(0),
    )
    with completion.lake.using(EMBEDDINGS.name(query)):
        order = printed.order(held.variables, _HELD)
        return fetch(bindings.connection, rows, printed.limit, order=order), reason
