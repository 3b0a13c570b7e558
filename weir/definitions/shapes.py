"""Shapes graphs: `shapes/*.ttl`, SHACL in Turtle with a `#+` YAML front matter."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from weir.checks.declared import Names
from weir.definitions.compilation_cache import CompilationCache
from weir.definitions.current_table import CurrentTable, TableFrontMatter, check_columns
from weir.definitions.definition import Definition, Door, Gate, Guards, Output
from weir.definitions.derived_keys import REWRITTEN, Entailment, Reads, derived_of
from weir.definitions.front_matter import MaxRows, MinRows, read_head
from weir.definitions.kinds import SHAPES
from weir.definitions.names import Declaration
from weir.definitions.plan_body import CompiledPlan, PlanBody, compiled_or_cached
from weir.files.text import decoded_text
from weir.rdf.terms import iri
from weir.shacl.vocabulary import NAMESPACE

Severity = Literal["Info", "Warning", "Violation"]
_SEVERITIES: tuple[Severity, ...] = get_args(Severity)


_ALL = "all"
"""In the place of names: all that there are."""


class _OfSeverity(BaseModel):
    """Results of a severity, or a higher one."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    severity: Severity = "Violation"

    @property
    def severities(self) -> tuple[str, ...]:
        """The IRIs of this severity and of higher ones, without brackets."""
        higher = _SEVERITIES[_SEVERITIES.index(self.severity) :]
        return tuple(f"{NAMESPACE}{severity}" for severity in higher)


class GateKey(_OfSeverity):
    """Which answers are held while there are such results."""

    stops: Names


class DoorKey(_OfSeverity):
    """Whose change sets must not open such results."""

    sources: Names = (_ALL,)


class ShapesFrontMatter(TableFrontMatter):
    """What the `#+` lines of a shapes graph may say."""

    description: str = Field("", description="what the shapes are for, one sentence")
    default_graph: Literal["union", "default"] = Field(
        "union", description="the data that is validated: all graphs merged, or the unnamed one"
    )
    entailment: Entailment = "none"
    reads: Reads = ()
    history: Literal["current", "full"] = Field(
        "current", description="on first registration: the current report, or one delta per epoch"
    )
    subclasses: Literal["data", "shapes"] = Field(
        "data",
        description="where `rdfs:subClassOf` counts: in the data, at each epoch; or in this file"
        " alone, which costs less",
    )
    gate: GateKey | None = Field(
        None,
        description="answers that are held while a result of this severity, or a higher one, is"
        " open: `{stops: [a, b], severity: Violation}`, or `stops: all`",
    )
    door: DoorKey | None = Field(
        None,
        description="a change set that would open such a result stops its source, before anything"
        " is committed: `{sources: [a], severity: Violation}`; without `sources` any source",
    )
    max_rows: MaxRows = None
    min_rows: MinRows = None


class CompiledShapes(CompiledPlan):
    """The result of compiling shapes: what stages need of them, in the form it is cached.

    Attributes:
        front_matter: the `#+` lines.
        lines: the lines of those keys of it that hold answers.
        is_entailed: whether the data is what follows from it, too.
    """

    front_matter: ShapesFrontMatter
    lines: dict[str, int]
    is_entailed: bool


@dataclass(frozen=True)
class ShapesBody(PlanBody):
    """The plan of a report; text, file: where it is compiled from."""

    compiled: CompiledShapes
    text: str
    file: Path

    def compile(self) -> CompiledShapes:
        """The compiled text."""
        return compile_shapes_graph(self.text, str(self.file))


def read(
    declaration: Declaration, source: bytes, cache: CompilationCache | None = None
) -> Definition:
    """The report of the shapes that a file declares.

    Args:
        declaration: the file.
        source: its content.
        cache: compiled shapes of earlier runs; missing ones are added.

    Raises:
        ConfigurationError: the first thing that is wrong with front matter or shapes.
    """
    file, name = declaration.file, declaration.name
    text = decoded_text(source, file)
    compiled = compiled_or_cached(
        CompiledShapes, name, source, cache, lambda: compile_shapes_graph(text, str(file))
    )
    said = compiled.front_matter
    guards = Guards.of(file, compiled.lines, said.max_rows, said.min_rows)
    return Definition(
        name=name,
        kind=SHAPES,
        file=file,
        text=text,
        description=said.description,
        fingerprint=compiled.fingerprint,
        columns=compiled.columns,
        width=compiled.width,
        is_set=compiled.is_set,
        output=Output(tuple(column for column, _ in compiled.columns), "report", guards),
        reads=compiled.reads,
        # A class or a property that is entailed may have no triple of its own.
        patterns=()
        if compiled.is_entailed
        else tuple((frozenset[str](), seed.shape) for seed in compiled.seeds),
        body=ShapesBody(compiled, text, file),
        history=said.history,
        owner=said.owner,
        tags=said.tags,
        current=CurrentTable.of(said),
        is_entailed=compiled.is_entailed,
        gate=None if said.gate is None else _gate(declaration, said.gate, compiled),
        door=None if said.door is None else _door(declaration, said.door, compiled),
    )


def _gate(declaration: Declaration, said: GateKey, compiled: CompiledShapes) -> Gate:
    terms = ", ".join(f"'{iri}'" for iri in said.severities)
    columns = "focus_node, result_path, value, message"
    return Gate(
        stops=None if said.stops == (_ALL,) else said.stops,
        rows=f"SELECT {columns} FROM {declaration.name} WHERE severity IN ({terms})",
        what=f"The report {declaration.name} has no open result of severity {said.severity}.",
        place=_place(declaration, compiled, "gate"),
    )


def _door(declaration: Declaration, said: DoorKey, compiled: CompiledShapes) -> Door:
    return Door(
        sources=None if said.sources == (_ALL,) else said.sources,
        severities=tuple(map(iri, said.severities)),
        place=_place(declaration, compiled, "door"),
    )


def _place(declaration: Declaration, compiled: CompiledShapes, key: str) -> str:
    file = declaration.file
    return f"{file.parent.name}/{file.name}:{compiled.lines[key]}"


def compile_shapes_graph(text: str, file: str) -> CompiledShapes:
    """Read the shapes of a text and plan their report.

    Raises:
        ConfigurationError: the first thing that is wrong with front matter or shapes.
    """
    # The parser of Turtle takes longer to import than all that a run without new texts does.
    from weir.plan.lower import lower
    from weir.shacl.compile import REPORT_COLUMNS, compile_shapes
    from weir.shacl.entailment import is_over_rdfs
    from weir.shacl.read import read_shapes
    from weir.sparql.algebra.queries import Dataset
    from weir.sparql.algebra.rdfs import entailed

    head = read_head(text, file, ShapesFrontMatter, SHAPES.comment)
    said = head.values
    check_columns(head, REPORT_COLUMNS)
    shapes = read_shapes(text, file, said.subclasses)
    query = compile_shapes(
        shapes, Dataset(said.default_graph, derived=derived_of(said.entailment, said.reads))
    )
    is_entailed = is_over_rdfs(text, file) or said.entailment == REWRITTEN
    if is_entailed:
        query = entailed(query)
    plan = lower(query, allow_product=True)
    return CompiledShapes(
        front_matter=said,
        lines=head.lines("max_rows", "min_rows", "gate", "door"),
        is_entailed=is_entailed,
        **CompiledShapes.fields_of(plan),
    )
