"""Explains how a program is maintained: points, streams, look-back, strata, windows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from weir.cli.window_explanation import explain_streams
from weir.definitions.definition import Definition
from weir.definitions.graph_program import GraphProgramBody
from weir.definitions.program import ProgramBody
from weir.lake.instants import instant_text
from weir.lake.tables import DERIVED, EMBEDDINGS
from weir.lars.program import Program
from weir.lars.reads import LookBack
from weir.sparql.algebra.expressions import Constant, Variable
from weir.text.durations import duration_text
from weir.timeline.axis import Instants


def explain_program(
    registered: Definition,
    *,
    starts: Mapping[str, int | None] | None = None,
    kept_from: Mapping[str, int] | None = None,
) -> str:
    """The explanation of a program as text.

    Args:
        registered: the program.
        starts: the first instant of each stream; None before its first event.
        kept_from: of each stream with deleted events, the first instant whose events are kept.
    """
    body, axis = registered.body, registered.axis
    assert isinstance(body, ProgramBody), "its kind says so"
    assert isinstance(axis, Instants), "it reads streams"
    program = body.program
    unit = duration_text(axis.grid.unit)
    lines = [
        f"{registered.name}: {registered.description or registered.file.name}",
        "answer: at each point the atoms of "
        + ", ".join(
            _signature(name, derived.arguments) for name, derived in registered.predicates.items()
        ),
        f"points: of {unit}; the point 0 begins at {instant_text(axis.grid.origin)}",
        "",
        *explain_streams(axis, starts or {}, kept_from),
        f"look-back: {_look_back(program.look_back, axis.grid.unit)}",
        *_graph(body, registered),
        f"corrects back: {duration_text(axis.corrects_back)}, after changes of the graph",
        f"stored: the answer alone, in embeddings/{registered.name}",
        "",
        "strata, in order of evaluation:",
        *_strata(program),
        "",
        *_windows(program),
        *_atoms(program, {*body.front_matter.atoms}),
    ]
    if program.written_stream is not None:
        written = ", ".join(dict.fromkeys(atom.predicate for atom in program.written))
        lines.append(f"stream out of the program: {program.written_stream}, with {written}")
    return "\n".join(lines).rstrip()


def _graph(body: ProgramBody, registered: Definition) -> Iterator[str]:
    """Which triples its atoms of the graph are made of."""
    if registered.logs:
        yield f"graph: {body.scope.name}"


def explain_graph_program(registered: Definition) -> str:
    """The explanation of a program that gives a graph as text."""
    body = registered.body
    assert isinstance(body, GraphProgramBody), "it gives a graph"
    program = body.program
    lines = [
        f"{registered.name}: {registered.description or registered.file.name}",
        f"answer: at each epoch the triples of the graph {registered.graph}",
        f"reads: {body.scope.name}",
        f"stored: in {EMBEDDINGS.name(registered.name)}; the triples also in"
        f" {DERIVED.name(registered.name)}",
        "",
        "a run derives again what the changes may concern; if that is most atoms, all of them",
        "",
        "strata, in order of evaluation:",
        *_strata(program),
        "",
        *_atoms(program, body.declared),
    ]
    return "\n".join(lines).rstrip()


def _signature(name: str, arguments: tuple[str, ...]) -> str:
    return f"{name}({', '.join(arguments)})" if arguments else name


def _look_back(back: LookBack, unit: int) -> str:
    if back.points is None:
        return "all events: `@T` stands without a window"
    if back.tuples:
        points = f", and {back.points} points" if back.points else ""
        return f"the last {back.tuples} tuples{points}; all events are read to count them"
    return f"{back.points} points, {duration_text(back.points * unit)}" if back.points else "none"


def _strata(program: Program) -> Iterator[str]:
    for number, stratum in enumerate(program.rules.strata, start=1):
        how = "together, until there is nothing new" if stratum.recursive else "once"
        count = len(stratum.rules)
        rules = "1 rule" if count == 1 else f"{count} rules"
        yield f"  {number}: {', '.join(stratum.predicates)}: {rules}, evaluated {how}"


def _windows(program: Program) -> Iterator[str]:
    if not program.window_reads:
        return
    yield "windows, each evaluated once:"
    for read in program.window_reads:
        yield f"  {read}: {', '.join(f'line {place.line}' for place in read.places)}"
    yield ""


def _atoms(program: Program, signatures: Iterable[str]) -> Iterator[str]:
    """The triples of each atom that is read, so that misspelt names show."""
    declared = {signature.partition("(")[0].strip() for signature in signatures}
    at = "epoch" if program.answer else "point"
    yield "atoms that are read:"
    for pattern in program.read_patterns:
        where = f"of the graph, as of the {at}" if pattern.origin == "graph" else "of the stream"
        default = "" if pattern.predicate in declared else ", by default"
        triples = " . ".join(" ".join(map(_node, triple.nodes)) for triple in pattern.triples)
        yield f"  {_signature(pattern.predicate, pattern.arguments)} {where}{default}: {triples}"


def _node(node: Variable | Constant) -> str:
    return f"?{node.name}" if isinstance(node, Variable) else node.term
