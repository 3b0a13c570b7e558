"""Explain rows of an answer that changed at an epoch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import assert_never

from weir.compute.budget import Budget
from weir.compute.engine import Engine
from weir.compute.sql import column, number
from weir.definitions.definition import Definition
from weir.definitions.graph_program import GraphProgramBody
from weir.errors import ConfigurationError
from weir.lake.tables import EMBEDDINGS
from weir.maintain.tasks import states_until
from weir.progress.completion import Completion
from weir.progress.watermarks import Watermark
from weir.project import Project
from weir.timeline.axis import Epochs, Instants
from weir.why.explanation import ChangedRow, ExplainedEpoch, Explanation
from weir.why.graph import around_epoch
from weir.why.graph_programs import around_program
from weir.why.newest import newest_change, no_change
from weir.why.read_windows import StreamAnswer
from weir.why.rows import Chosen, Value, changed_rows
from weir.why.worlds import STORED


def explain_epoch(
    project: Project,
    definition: Definition,
    epoch: int | None,
    values: Mapping[str, Sequence[Value]],
    most: int,
    instant: int | None = None,
) -> ExplainedEpoch:
    """Explain rows of the answer that changed at an epoch, in the order of their values.

    Args:
        project: whose lake is read; nothing is written.
        definition: whose answer it is.
        epoch: whose rows; None for the newest that changed such rows of the answer.
        values: by column, of which a row must have one.
        most: so many rows at most.
        instant: of an answer over streams, at which rows changed; None for any.

    Raises:
        ConfigurationError: the epoch, or the instant, cannot be explained; or no epoch is given,
            and none changed such a row.
        QueryLimitError: it takes longer than a query may take.
        WeirError: too much changed.
    """
    if instant is not None and definition.axis.has_states:
        raise ConfigurationError(
            f"{definition.name} reads no stream, so its rows have epochs, not times",
            "",
            "`--epoch` chooses one; `weir log` prints them.",
        )
    completion = Completion.read(project.open_lake())
    stored = _stored(completion, definition)
    base = stored.metadata.base
    embeddings, chosen = EMBEDDINGS.name(definition.name), Chosen(values, instant)
    with project.engine("why") as unbounded:
        engine = unbounded.within(Budget(project.settings.limits.query_seconds))
        if epoch is None:
            engine.open("why_all", embeddings)
            epoch = newest_change(engine, "why_all", definition, base, chosen)
            if epoch is None:
                where = completion.lake.root
                raise no_change(engine, "why_all", definition, base, chosen, where)
        _require_known(completion, definition, epoch, stored)
        engine.open(STORED, embeddings, where=column("epoch") <= number(epoch))
        rows = changed_rows(engine, definition, epoch, chosen, most + 1)
        explained = []
        if rows:
            explained = [*_explained(project, completion, engine, definition, epoch, rows[:most])]
    published = completion.published(definition.name)
    is_published = published is not None and published.epoch >= epoch
    return ExplainedEpoch(epoch, explained, len(rows) > most, is_published)


def _explained(
    project: Project,
    completion: Completion,
    engine: Engine,
    definition: Definition,
    epoch: int,
    rows: Sequence[ChangedRow],
) -> Iterator[Explanation]:
    match definition.axis:
        case Epochs() if isinstance(definition.body, GraphProgramBody):
            yield from map(around_program(completion, engine, definition, epoch).explain, rows)
        case Epochs():
            around = around_epoch(project, completion, engine, definition, epoch)
            yield from map(around.explain, rows)
        case Instants() as axis:
            answer = StreamAnswer.read(project, completion, engine, definition, axis, epoch)
            for instant, at_instant in groupby(rows, key=lambda row: row.instant):
                assert instant is not None, "it is of an answer over streams"
                with engine.scope() as own:
                    yield from map(answer.around(own, instant).explain, at_instant)
        case _:
            assert_never(definition.axis)


def _stored(completion: Completion, definition: Definition) -> Watermark:
    """How far the stored rows of a definition are complete.

    Raises:
        ConfigurationError: they are not those of its text.
    """
    name = definition.name
    stored = completion.maintained(name)
    if stored is None or stored.metadata.fingerprint != definition.fingerprint:
        raise ConfigurationError(
            f"{name} was not computed yet as its file has it",
            completion.lake.root,
            "`weir run` computes it.",
        )
    return stored


def _require_known(
    completion: Completion, definition: Definition, epoch: int, stored: Watermark
) -> None:
    """Raise an error if the rows of an epoch cannot be explained."""
    name = definition.name
    where, base = completion.lake.root, stored.metadata.base
    if epoch > stored.epoch:
        raise ConfigurationError(
            f"{name} is computed up to epoch {stored.epoch}", where, "`weir run` computes the rest."
        )
    if epoch <= base:
        raise ConfigurationError(
            f"the answer of {name} was computed as a whole at epoch {base}",
            where,
            f"Epochs after {base} can be explained.",
        )
    until = states_until(completion) if definition.reads else 0
    if epoch <= until:
        raise ConfigurationError(
            f"the changes up to epoch {until} were compacted away",
            where,
            f"Epochs after {until} can be explained; `limits.keep_epochs` says how many are kept.",
        )
