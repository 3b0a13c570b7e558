"""The answer of a definition at an epoch, computed from the whole graph: no stored row is used."""

from __future__ import annotations

from weir.compute.engine import Engine
from weir.definitions.definition import Definition
from weir.engine.fixpoint import make
from weir.engine.read_graph import read_whole
from weir.engine.relations import EpochRange
from weir.lake.tables import QUADS, TRIPLES
from weir.maintain.products import make_delta
from weir.plan.lookups import Seed, predicates_of
from weir.plan.scope import Scope
from weir.timeline.evaluation import EpochInputs


def make_whole_answer(
    engine: Engine,
    definition: Definition,
    epoch: int,
    prefix: str,
    product_rows: int | None = None,
    *,
    reason: str,
) -> str:
    """Make the rows of a definition at an epoch; gives the relation (node, v0, .., epoch, weight).

    Args:
        engine: makes it.
        definition: on the axis of epochs.
        epoch: of the graph.
        prefix: begins the names of the relations that are made.
        product_rows: most rows of a product, and the predicates of its patterns alone are read of
            the graph; None for one that was computed before, which is to be checked.
        reason: why the whole graph is read.

    Raises:
        WeirError: a product exceeds the limit.
    """
    epochs = EpochRange(epoch - 1, epoch, from_nothing=True)
    for table in (QUADS, TRIPLES):
        engine.open(table.name, table.name)
    graphs = {}
    for number, (scope, seeds) in enumerate(_by_scope(definition).items()):
        known = None if product_rows is None else predicates_of(seeds)
        read = read_whole(engine, scope, epochs, f"{prefix}_{number}", known, reason=reason)
        graphs[scope] = read.relation
    delta = definition.body.delta(EpochInputs(engine, epochs, graphs, "", prefix, "cache"))
    if product_rows is not None:
        make_delta(engine, delta, product_rows, definition)
    else:
        for statement in (*delta.statements, delta.result):
            make(engine, statement)
    return delta.result.name


def _by_scope(definition: Definition) -> dict[Scope, list[Seed]]:
    by_scope: dict[Scope, list[Seed]] = {}
    for seed in definition.body.seeds:
        by_scope.setdefault(seed.scope, []).append(seed)
    return by_scope
