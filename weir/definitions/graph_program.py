"""Programs that give a graph: rules over triples, which are evaluated at each epoch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weir.definitions.current_table import CurrentTable
from weir.definitions.definition import Body, Definition, Guards, Output
from weir.definitions.fingerprint import fingerprint
from weir.definitions.front_matter import Head
from weir.definitions.kinds import PROGRAM
from weir.definitions.names import Declaration
from weir.definitions.plan_body import logs_of
from weir.definitions.program_form import program_form
from weir.definitions.program_keys import ProgramFrontMatter
from weir.lars.program import Program
from weir.plan.lookups import Seed, Shape
from weir.plan.scope import Scope

if TYPE_CHECKING:
    from weir.engine.plan_delta import PlanDelta
    from weir.plan.origins import Origins
    from weir.timeline.evaluation import LegInputs

GRAPH_PROGRAM_FORMAT = 1
"""Raised to have all of these programs recomputed, where an earlier version stored wrong rows."""


@dataclass(frozen=True)
class GraphProgramBody(Body):
    """The rules of a program, and the triples that they read.

    Attributes:
        program: its answer are triples.
        scope: which triples.
        declared: the atoms for which its front matter has a pattern.
    """

    program: Program
    scope: Scope
    declared: tuple[str, ...]

    @property
    def seeds(self) -> Sequence[Seed]:
        """The patterns of the atoms that are read."""
        return seeds_of_atoms(self.program, self.scope)

    @property
    def origins(self) -> Origins:
        """Where subject, predicate and object come from."""
        from weir.definitions.program_origins import Reads, program_origins

        return program_origins(self.program, Reads(self.scope))

    def delta(self, leg: LegInputs) -> PlanDelta:
        """The new rows: of the triples, and of the atoms that they are derived from."""
        # What only reads definitions does not need the engine.
        from weir.rules.epochs import graph_program_rows
        from weir.timeline.evaluation import EpochInputs

        assert isinstance(leg, EpochInputs), "it reads no stream"
        return graph_program_rows(self.program, self.scope, leg)


def graph_program(
    declaration: Declaration, text: str, head: Head[ProgramFrontMatter], program: Program
) -> Definition:
    """The definition of a program that gives a graph.

    Args:
        declaration: the file.
        text: of the file.
        head: its front matter.
        program: its rules.
    """
    file, said = declaration.file, head.values
    scope = scope_of_atoms(said)
    body = GraphProgramBody(program, scope, tuple(said.atoms))
    columns = tuple((name, f"v{i}") for i, name in enumerate(program.answer_columns))
    guards = Guards.of(file, head.lines("max_rows", "min_rows"), said.max_rows, said.min_rows)
    return Definition(
        name=declaration.name,
        kind=PROGRAM,
        file=file,
        text=text,
        description=said.description,
        fingerprint=fingerprint(
            [
                GRAPH_PROGRAM_FORMAT,
                program_form(program.rules),
                [program_form(pattern) for pattern in program.read_patterns],
                program.answer,
                said.default_graph,
                [*scope.derived],
            ]
        ),
        columns=columns,
        width=len(columns),
        is_set=True,
        output=Output(program.answer_columns, "construct", guards),
        reads=logs_of([scope]),
        patterns=tuple((frozenset[str](), seed.shape) for seed in body.seeds),
        body=body,
        writes_triples=True,
        owner=said.owner,
        tags=said.tags,
        current=CurrentTable.of(said),
        graph=said.graph,
        rules=said.rules,
    )


def scope_of_atoms(said: ProgramFrontMatter) -> Scope:
    """Which triples the atoms of the graph are made of."""
    derived = tuple(sorted({*said.reads}))
    return Scope(None if said.default_graph == "union" else ("",), derived=derived)


def seeds_of_atoms(program: Program, scope: Scope) -> Sequence[Seed]:
    """The patterns of the atoms of the graph, which are made of the triples of a scope."""
    patterns = (one for one in program.read_patterns if one.origin == "graph")
    shapes = (Shape.of(triple) for pattern in patterns for triple in pattern.triples)
    return [Seed(scope, shape) for shape in dict.fromkeys(shapes)]
