"""Registered programs: `programs/*.lars`, rules over streams with a `%+` YAML front matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Literal

from weir.catalog.maintained import Limits, Output
from weir.catalog.names import Declaration, Kind
from weir.catalog.program_fingerprint import program_fingerprint
from weir.catalog.program_front_matter import (
    ProgramFrontMatter,
    declarations,
    read_program_front_matter,
)
from weir.catalog.services import NO_SERVICES, Services
from weir.catalog.windowing import Grid, Upstream, Windowing
from weir.catalog.yaml_head import places_of
from weir.errors import ConfigurationError
from weir.files.text import decoded_text
from weir.lake.instants import microseconds
from weir.lake.tables import ANSWERS, QUADS, RESERVED_NAMES, TRIPLES
from weir.lars.errors import UnsupportedProgram
from weir.lars.program import Program, read_program
from weir.lars.syntax import TimeWindow as PointWindow
from weir.plan.lookups import Shape
from weir.sparql.algebra.windows import (
    CountWindow,
    Registration,
    TimeWindow,
    WindowClause,
    WindowContent,
)
from weir.sparql.frontend.rspql.names import STREAM_IRI

VIEW_ENDINGS = ("current", "changes", "intervals", "stream", "events")
"""How the name of no derived predicate may end: other views have names with these endings."""

VIEW_COLUMNS = ("since", "until", "weight")
"""The columns of the view of a predicate besides its arguments."""

_LONGEST = 3_000 * 365 * 86_400_000_000
"""Microseconds of the longest window."""
_ALL = 2**31 - 1
"""Elements of a window that holds all events."""


@dataclass(frozen=True)
class RegisteredProgram:
    """A program that Weir maintains (`weir.catalog.maintained.Maintained`).

    upstreams: the definitions that give its streams, those of sources aside.
    """

    kind: ClassVar[Kind] = "program"

    name: str
    file: Path
    text: str
    front_matter: ProgramFrontMatter
    program: Program
    upstreams: tuple[Upstream, ...] = ()

    @property
    def description(self) -> str:
        """What it is for, one sentence, or empty."""
        return self.front_matter.description

    @property
    def presentation(self) -> tuple[str, ...]:
        """Nothing of a program is without effect."""
        return ()

    @property
    def history(self) -> Literal["current", "full"]:
        """Its log has every point, from the first one on."""
        return "full"

    @cached_property
    def fingerprint(self) -> str:
        """Of what the stored rows depend on."""
        said = self.front_matter
        return program_fingerprint(
            self.program, self.windowing, said.time_terms, said.default_graph
        )

    @property
    def columns(self) -> tuple[tuple[str, str], ...]:
        """The published columns in order, each with the column of the embedding table."""
        return tuple((name, f"v{i}") for i, name in enumerate(self.program.answer_columns))

    @property
    def width(self) -> int:
        """How many columns of terms the embedding table has."""
        return len(self.program.answer_columns)

    @property
    def is_set(self) -> bool:
        """An atom holds at a point or does not."""
        return True

    @property
    def predicates(self) -> Mapping[str, tuple[str, ...]]:
        """The names of the arguments of each published predicate, as its view has them."""
        found = self.program.output
        return {name: self.program.argument_names(name, VIEW_COLUMNS) for name in found}

    @property
    def outputs(self) -> tuple[Output, ...]:
        """The answer table."""
        columns, said = self.program.answer_columns, self.front_matter
        places = places_of(("max_rows", "min_rows"), self.text, "%", self.file)
        limits = Limits(said.max_rows, said.min_rows, places=places)
        return (Output(ANSWERS.name(self.name), columns, "select", limits),)

    @property
    def reads(self) -> frozenset[str]:
        """The log of the graph that atoms of the background are read in."""
        if not self.program.reads_graph:
            return frozenset()
        is_union = self.front_matter.default_graph == "union"
        return frozenset([TRIPLES.name if is_union else QUADS.name])

    @property
    def patterns(self) -> tuple[tuple[frozenset[str], Shape], ...]:
        """The shapes of the triples of its atoms: of its streams, or of the graph."""
        streams = frozenset(clause.name for clause in self.windowing.windows)
        return tuple(
            (streams if pattern.origin == "stream" else frozenset(), Shape.of(triple))
            for pattern in self.program.read_patterns
            for triple in pattern.triples
        )

    @cached_property
    def windowing(self) -> Windowing:
        """Its streams as windows that hold what its rules look back at, on the grid of points."""
        said, content = self.front_matter, self._content()
        clauses = [
            WindowClause(f"<{STREAM_IRI}{name}>", f"<{STREAM_IRI}{name}>", content)
            for name in self.program.streams
        ]
        return Windowing(
            windows=tuple(clauses),
            t0=said.origin_us,
            first="full",
            bounds="[)",
            report="close",
            corrects_back=said.corrects_back_us,
            output="rstream" if self.program.written_stream else None,
            upstreams=self.upstreams,
            points=Grid(said.unit_us, said.origin_us),
            starts=None if said.starts is None else microseconds(said.starts),
        )

    @property
    def registration(self) -> Registration | None:
        """The stream that it writes, None without one."""
        name = self.program.written_stream
        return None if name is None else Registration("rstream", f"<{STREAM_IRI}{name}>")

    @property
    def services(self) -> Services:
        """A program reads nothing of remotes."""
        return NO_SERVICES

    def _content(self) -> WindowContent:
        back = self.program.look_back
        if back.points is None or back.tuples:
            return CountWindow(_ALL)
        return TimeWindow((back.points + 1) * self.front_matter.unit_us)


def read_program_file(declaration: Declaration, source: bytes) -> RegisteredProgram:
    """The program that a file declares.

    Args:
        declaration: the file.
        source: its content.

    Raises:
        ConfigurationError: the first thing that is wrong with front matter or program.
    """
    file, text = str(declaration.file), decoded_text(source, declaration.file)
    head = read_program_front_matter(text, file)
    program = read_program(text, declarations(head, file), file)
    _check_windows(program, head.values.unit_us, file)
    _check_views(declaration.name, program, file)
    return RegisteredProgram(declaration.name, declaration.file, text, head.values, program)


def view_of(program: str, predicate: str) -> str:
    """The name of the view of a predicate; in names of views case does not matter."""
    return f"{program}_{predicate.lower()}"


def rival_views(programs: Sequence[RegisteredProgram]) -> Mapping[str, ConfigurationError]:
    """By name, what is wrong with the programs that have a view of the name of another's."""
    owners: dict[str, list[tuple[RegisteredProgram, str]]] = {}
    for program in programs:
        for predicate in program.predicates:
            owners.setdefault(view_of(program.name, predicate), []).append((program, predicate))
    found: dict[str, ConfigurationError] = {}
    for view, own in sorted(owners.items()):
        for program, predicate in own:
            other = next((each for each, _ in own if each.name != program.name), None)
            if other is None or program.name in found:
                continue
            place = program.program.predicates[predicate].place
            found[program.name] = ConfigurationError(
                f"{predicate}: its view would be {view}, as that of a predicate of"
                f" {other.file.name}",
                f"{program.file}:{place}",
                "Rename one of the predicates, or one of the programs.",
            )
    return found


def _check_windows(program: Program, unit: int, file: str) -> None:
    """Check that no window is longer than the time that instants can count.

    Raises:
        UnsupportedProgram: one is.
    """
    for rule in program.rules.rules:
        for literal in rule.literals:
            window = literal.window
            if isinstance(window, PointWindow) and window.size * unit > _LONGEST:
                raise UnsupportedProgram(
                    f"win^{window.size}",
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
        if view.endswith(tuple(f"_{each}" for each in VIEW_ENDINGS)) or view in RESERVED_NAMES:
            place = program.predicates[predicate].place
            raise ConfigurationError(
                f"{predicate}: its view would be {view}, which is another one",
                f"{file}:{place}",
                "Rename the predicate, or leave it out of `output`.",
            )
