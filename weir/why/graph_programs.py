"""What is around an epoch of a program over epochs: all that it reads; rules may lead anywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from weir.compute.engine import Engine
from weir.compute.protocol import SqlEngine
from weir.compute.relations import Statement
from weir.compute.sql import (
    alias,
    all_of,
    column,
    columns,
    number,
    rows_of,
    select,
    subquery,
)
from weir.definitions.definition import Definition
from weir.definitions.graph_program import GraphProgramBody
from weir.engine.graph import POSITIONS
from weir.engine.interval_fixpoint import Names
from weir.engine.read_graph import open_graph, read_whole
from weir.engine.relations import EpochRange
from weir.lars.program import Program
from weir.progress.completion import Completion
from weir.rules.atoms import predicates_read
from weir.rules.held_atoms import arity_of, stored_atoms
from weir.rules.relations import arguments
from weir.why.epoch_derivations import DURING, EpochSearch, Held
from weir.why.explanation import Cause, ChangedRow, Match, Part
from weir.why.graph import MOST_CHANGES, around_changes, make_changes, too_many_changes
from weir.why.graph_changes import newest
from weir.why.marked import Mark, MarkedRows
from weir.why.plan_surroundings import PlanSurroundings
from weir.why.surroundings import Surroundings
from weir.why.worlds import STORED, Worlds


@dataclass(frozen=True, slots=True)
class GraphProgramSurroundings(Surroundings[Part]):
    """The triples that a program reads, before and after the changes of an epoch.

    Attributes:
        definition: the program.
        around: the triples; its engine has the embeddings as `STORED`.
    """

    definition: Definition
    around: PlanSurroundings

    def changed(self, row: ChangedRow) -> Sequence[Part]:
        """The triples that may have changed a row."""
        return self.around.changed(row)

    def undone_after(self, row: ChangedRow, steps: Sequence[Part]) -> int | None:
        """After how many of the triples are as before the row does not change; None if it does."""
        return self.around.undone_after(row, steps)

    def causes(self, steps: Sequence[Part]) -> Sequence[Cause]:
        """The quads of the changes that have one of some triples."""
        return self.around.causes(steps)

    def match(self, row: ChangedRow, first: Sequence[Part]) -> Match | None:
        """One derivation of the triple by rules, where it is."""
        del first
        where: Mark = "after" if row.weight > 0 else "before"
        program = _body(self.definition).program
        subject, predicate, object_ = (cell or "" for cell in row.row)
        with self.around.worlds.engine.scope() as engine:
            held = Held(engine, self._graph(engine, where), self._atoms(engine, program, where))
            search = EpochSearch(program, self.definition.rules, self.definition.file.name, held)
            derivation = search.derivation((subject, predicate, object_))
        return None if derivation is None else Match(derivation.parts, True, False, derivation)

    def _graph(self, engine: SqlEngine, where: Mark) -> str:
        """The relation of the triples that are read."""
        (content,) = self.around.content.values()
        assert isinstance(content, MarkedRows), "it reads no stream"
        held = select(
            *columns(POSITIONS),
            *_during(),
            from_=rows_of(content.relation),
            where=[column(where)],
        )
        engine.make(Statement("why_held", held))
        return "why_held"

    def _atoms(self, engine: SqlEngine, program: Program, where: Mark) -> Names:
        """By predicate, the relation of what rules derive."""
        relations, known = {}, self.around.known[where]
        assert known is not None, "there is a row"
        for name in program.rules.derived:
            atoms = stored_atoms(program, name, STORED).where(*(one.copy() for one in known))
            held = select(
                *columns(arguments(arity_of(program, name))),
                *_during(),
                from_=subquery(atoms, "atoms"),
            )
            relations[name] = f"why_held_{name}"
            engine.make(Statement(relations[name], held, "cache"))
        return relations


def around_program(
    completion: Completion, engine: Engine, definition: Definition, epoch: int
) -> GraphProgramSurroundings:
    """Read what an epoch changed for a program over epochs, and all that it reads.

    Args:
        completion: of the lake.
        engine: has the embeddings up to the epoch as `STORED`.
        definition: the program.
        epoch: the epoch.

    Raises:
        WeirError: the epoch has more than `MOST_CHANGES` changes.
    """
    body = _body(definition)
    epochs, known = EpochRange(epoch - 1, epoch), predicates_read(body.program.read_patterns)
    at = all_of([column("epoch") > number(epoch - 1), column("epoch") <= number(epoch)])
    for table, relation in open_graph(engine, [body.scope]).items():
        engine.open(newest(relation), table, where=at.copy())
    make_changes(engine, "why_changes0", body.scope, epochs, known)
    if engine.count("why_changes0") > MOST_CHANGES:
        raise too_many_changes(completion, definition.name, epoch)
    return around_opened(engine, definition, epoch)


def around_opened(
    engine: SqlEngine, definition: Definition, epoch: int
) -> GraphProgramSurroundings:
    """The same, where the log of the graph, and that of the epoch (`newest`), are open."""
    body = _body(definition)
    known = predicates_read(body.program.read_patterns)
    epochs = EpochRange(epoch - 1, epoch)
    read = read_whole(engine, body.scope, epochs, "why_graph0", known, reason="rules")
    shown = [stored for _, stored in definition.columns]
    worlds = Worlds(engine, body, definition.width, shown, read.keep)
    around = around_changes(worlds, {body.scope: read.relation}, epoch, None)
    return GraphProgramSurroundings(definition, around)


def _body(definition: Definition) -> GraphProgramBody:
    assert isinstance(definition.body, GraphProgramBody), "it is a program over epochs"
    return definition.body


def _during() -> list[exp.Expr]:
    return [alias(number(at), name) for name, at in DURING.items()]
