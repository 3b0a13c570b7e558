"""Programs: `programs/*.lars`, rules over streams or at epochs, with a `%+` YAML front matter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weir.definitions.compilation_cache import CompilationCache
from weir.definitions.current_table import CurrentTable, check_columns
from weir.definitions.definition import Body, Definition, DerivedPredicate, Guards, Output
from weir.definitions.fingerprint import fingerprint
from weir.definitions.front_matter import read_head
from weir.definitions.graph_program import graph_program, scope_of_atoms, seeds_of_atoms
from weir.definitions.kinds import PROGRAM
from weir.definitions.names import Declaration
from weir.definitions.plan_body import logs_of
from weir.definitions.predicate_views import VIEW_COLUMNS, VIEW_ENDINGS, view_of
from weir.definitions.program_form import program_form
from weir.definitions.program_keys import ProgramFrontMatter, check_program_keys, declarations
from weir.errors import ConfigurationError
from weir.files.text import decoded_text
from weir.lake.instants import microseconds
from weir.lake.tables import RESERVED_NAMES
from weir.lars.errors import UnsupportedProgram
from weir.lars.program import Program, read_program
from weir.lars.reads import reach
from weir.lars.syntax import PointWindow
from weir.plan.lookups import Seed, Shape
from weir.plan.scope import Scope
from weir.sparql.algebra.windows import (
    CountWindow,
    Registration,
    TimeWindow,
    WindowClause,
    WindowContent,
)
from weir.sparql.frontend.rspql.names import STREAM_IRI
from weir.timeline.axis import Axis, Grid, Instants

if TYPE_CHECKING:
    from sqlglot import exp

    from weir.engine.plan_delta import PlanDelta
    from weir.plan.origins import Origins
    from weir.rules.leg_rows import Rules
    from weir.timeline.evaluation import LegInputs

PROGRAM_FORMAT = 1
"""Raised to have all programs recomputed, where an earlier version stored wrong rows."""

_LONGEST = 3_000 * 365 * 86_400_000_000
"""Microseconds of the longest window."""
_ALL = 2**31 - 1
"""Elements of a window that holds all events."""


@dataclass(frozen=True)
class ProgramBody(Body):
    """The rules of a program, and how they read streams and graph.

    file: its name, for errors.
    """

    program: Program
    front_matter: ProgramFrontMatter
    file: str

    @property
    def scope(self) -> Scope:
        """Which triples its atoms of the graph are made of."""
        return scope_of_atoms(self.front_matter)

    @property
    def seeds(self) -> Sequence[Seed]:
        """The patterns of the atoms of the graph."""
        return seeds_of_atoms(self.program, self.scope)

    @property
    def origins(self) -> Origins:
        """Where the arguments of the published atoms come from."""
        from weir.definitions.program_origins import Reads, program_origins

        streams = (Scope(window=f"<{STREAM_IRI}{name}>") for name in self.program.streams)
        return program_origins(self.program, Reads(self.scope, tuple(streams)))

    def delta(self, leg: LegInputs) -> PlanDelta:
        """The new rows of the answer: what the rules derive, less what is stored."""
        # What only reads definitions does not need the engine.
        from weir.rules.leg_rows import program_rows
        from weir.timeline.evaluation import InstantInputs

        assert isinstance(leg, InstantInputs), "it reads streams"
        return program_rows(self.rules, leg)

    @property
    def rules(self) -> Rules:
        """The program, and how it is read."""
        from weir.rules.leg_rows import Rules
        from weir.rules.points import PointAxis

        said = self.front_matter
        axis = PointAxis(said.unit_us, said.origin_us, said.time_terms)
        return Rules(self.program, axis, self.scope, self.file)

    def elements(self, embeddings: str, columns: Sequence[tuple[str, str]]) -> exp.Query:
        """The triples of the atoms that it writes as a stream."""
        from weir.rules.written_atoms import written_triples

        return written_triples(self.program, dict(columns), embeddings)


def read(declaration: Declaration, source: bytes, _: CompilationCache | None = None) -> Definition:
    """The program that a file declares.

    Args:
        declaration: the file.
        source: its content.

    Raises:
        ConfigurationError: the first thing that is wrong with front matter or program.
    """
    file, name = declaration.file, declaration.name
    text = decoded_text(source, file)
    head = read_head(text, str(file), ProgramFrontMatter, PROGRAM.comment)
    said = head.values
    check_program_keys(head)
    program = read_program(text, declarations(head), str(file))
    if not said.stream:
        check_columns(head, program.answer_columns)
        return graph_program(declaration, text, head, program)
    if not program.reads_graph:
        why = "is about atoms of the graph, and the rules read none"
        hint = 'Delete the line, or declare one: atoms: {"p(X,Y)": {graph: "?X :p ?Y"}}.'
        head.refuse({"reads": f"reads {why}"}, hint)
    _check_windows(program, said.unit_us, str(file))
    _check_views(name, program, str(file))
    check_columns(head, program.answer_columns)
    axis, written = _axis(program, said), program.written_stream
    streams = frozenset(clause.name for clause in axis.windows)
    guards = Guards.of(file, head.lines("max_rows", "min_rows"), said.max_rows, said.min_rows)
    return Definition(
        name=name,
        kind=PROGRAM,
        file=file,
        text=text,
        description=said.description,
        fingerprint=program_fingerprint(program, axis, said),
        columns=tuple((column, f"v{i}") for i, column in enumerate(program.answer_columns)),
        width=len(program.answer_columns),
        # An atom holds at a point or does not.
        is_set=True,
        output=Output(program.answer_columns, "select", guards),
        reads=logs_of([scope_of_atoms(said)]) if program.reads_graph else frozenset(),
        patterns=tuple(
            (streams if pattern.origin == "stream" else frozenset(), Shape.of(triple))
            for pattern in program.read_patterns
            for triple in pattern.triples
        ),
        body=ProgramBody(program, said, file.name),
        axis=axis,
        # Its log has every point, from the first one on.
        history="full",
        predicates={
            predicate: DerivedPredicate(
                program.argument_names(predicate, VIEW_COLUMNS),
                str(program.predicates[predicate].place),
            )
            for predicate in program.output
        },
        registration=None
        if written is None
        else Registration("rstream", f"<{STREAM_IRI}{written}>"),
        writes_triples=True,
        owner=said.owner,
        tags=said.tags,
        current=CurrentTable.of(said),
    )


def _axis(program: Program, said: ProgramFrontMatter) -> Instants:
    """Its streams as windows that hold what its rules look back at, on the grid of points."""
    content = _content(program, said)
    iris = [f"<{STREAM_IRI}{name}>" for name in program.streams]
    return Instants(
        windows=tuple(WindowClause(iri, iri, content) for iri in iris),
        t0=said.origin_us,
        first="full",
        bounds="[)",
        report="close",
        corrects_back=said.corrects_back_us,
        output="rstream" if program.written_stream else None,
        points=Grid(said.unit_us, said.origin_us),
        starts=None if said.starts is None else microseconds(said.starts),
    )


def _content(program: Program, said: ProgramFrontMatter) -> WindowContent:
    back = program.look_back
    if back.points is None or back.tuples:
        return CountWindow(_ALL)
    return TimeWindow((back.points + 1) * said.unit_us)


def program_fingerprint(program: Program, axis: Axis, said: ProgramFrontMatter) -> str:
    """The fingerprint of a program.

    Args:
        program: the program.
        axis: what it reads of its streams.
        said: its front matter.
    """
    derived = scope_of_atoms(said).derived
    literals = [literal for rule in program.rules.rules for literal in rule.literals]
    read = {literal.atom.predicate for literal in literals}
    read |= {atom.predicate for counts in program.counted_reads for atom in counts.counted}
    return fingerprint(
        [
            PROGRAM_FORMAT,
            program_form(program.rules),
            [
                program_form(program.patterns[name])
                for name in sorted(read & program.patterns.keys())
            ],
            [*program.output],
            [*program.answer_columns],
            program_form(program.written),
            said.time_terms,
            said.default_graph if program.reads_graph else "",
            *axis.identity,
            *derived,
        ]
    )


def _check_windows(program: Program, unit: int, file: str) -> None:
    """Check that no window is longer than the time that instants can count.

    Raises:
        UnsupportedProgram: one is.
    """
    for rule in program.rules.rules:
        for literal in rule.literals:
            window = literal.window
            if isinstance(window, PointWindow) and reach(window) * unit > _LONGEST:
                raise UnsupportedProgram(
                    str(window),
                    file,
                    literal.place,
                    "longer than 3,000 years with this `unit`",
                    "Write a smaller window, or leave the window out: @T p(X) looks back to the"
                    " beginning.",
                )


def _check_views(name: str, program: Program, file: str) -> None:
    """Check that the view of each predicate has a name of its own.

    Raises:
        ConfigurationError: another view has it.
    """
    for predicate in program.output:
        view = view_of(name, predicate)
        if view.endswith(tuple(f"_{ending}" for ending in VIEW_ENDINGS)) or view in RESERVED_NAMES:
            place = program.predicates[predicate].place
            raise ConfigurationError(
                f"{predicate}: its view would be {view}, which is another one",
                f"{file}:{place}",
                "Rename the predicate, or leave it out of `output`.",
            )
