"""Where the terms of a program's answer come from: from the heads of its rules to the atoms that
are read.

A variable of a head has the terms of each argument that it is in a literal of the body that is not
negated. Rules may read what they derive: what is known grows until nothing is added.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from weir.lars.columns import PREDICATE, TRIPLE_COLUMNS, argument_columns
from weir.lars.program import Program, WrittenAtom
from weir.lars.syntax import Assignment, Head, Rule
from weir.plan.origins import MADE, WRITTEN, Of, Origin, Origins, of_expression, of_pattern
from weir.plan.scope import Scope
from weir.sparql.algebra.expressions import Constant, Variable

_NOTHING: Of = frozenset()
Arguments = Mapping[str, Sequence[Of]]
"""By predicate, where the terms of each of its arguments come from."""


@dataclass(frozen=True, slots=True)
class Reads:
    """What the atoms that a program reads are made of.

    Attributes:
        graph: the triples of those of the graph.
        streams: of those of its streams, one for each.
    """

    graph: Scope
    streams: tuple[Scope, ...] = ()


def program_origins(program: Program, reads: Reads) -> Origins:
    """Where the columns of the answer come from; of what decides on its rows nothing is said.

    Args:
        program: the program.
        reads: the triples of its atoms.
    """
    arguments = _arguments(program, reads)
    if program.answer is not None:
        own = arguments[program.answer]
        return Origins(dict(zip(program.answer_columns, own, strict=True)))
    columns = argument_columns(len(program.answer_columns) - 1)
    of_output = [arguments.get(name, ()) for name in program.output]
    by_column = {
        column: _NOTHING.union(*(own[i] for own in of_output if i < len(own)))
        for i, column in enumerate(columns)
    }
    written = _of_written(program.written, arguments) if program.written else None
    return Origins({PREDICATE: WRITTEN, **by_column}, elements=written)


def _of_written(atoms: Iterable[WrittenAtom], arguments: Arguments) -> Mapping[str, Of]:
    """Where the triples come from that a program writes as a stream."""
    columns: dict[str, Of] = dict.fromkeys(TRIPLE_COLUMNS, _NOTHING)
    for atom in atoms:
        bound = dict(zip(atom.arguments, arguments[atom.predicate], strict=True))
        for triple in atom.triples:
            for column, term in zip(TRIPLE_COLUMNS, triple.nodes, strict=True):
                columns[column] |= WRITTEN if isinstance(term, Constant) else bound[term.name]
    return columns


def _arguments(program: Program, reads: Reads) -> Arguments:
    known: dict[str, list[Of]] = {}
    for name, pattern in program.patterns.items():
        scopes = reads.streams if pattern.origin == "stream" else (reads.graph,)
        bound: dict[str, set[Origin]] = {}
        for scope in scopes:
            for triple in pattern.triples:
                for variable, origin in of_pattern(triple, scope):
                    bound.setdefault(variable, set()).add(origin)
        known[name] = [frozenset(bound[argument]) for argument in pattern.arguments]
    for fact in program.rules.facts:
        known[fact.predicate] = [WRITTEN for _ in fact.arguments]
    is_growing = True
    while is_growing:
        is_growing = False
        for rule in program.rules.rules:
            derived = _derived(rule, known, reads)
            before = known.get(rule.head.atom.predicate, [_NOTHING for _ in derived])
            after = [one | two for one, two in zip(before, derived, strict=True)]
            is_growing |= after != known.get(rule.head.atom.predicate)
            known[rule.head.atom.predicate] = after
    return known


def _derived(rule: Rule, known: Arguments, reads: Reads) -> list[Of]:
    """Where the arguments of the head come from, as far as it is known."""
    bound: dict[str, Of] = {}
    times = frozenset(Origin("transformation", scope, "instant") for scope in reads.streams)
    for literal in (literal for literal in rule.literals if not literal.negated):
        own = known.get(literal.atom.predicate, [_NOTHING for _ in literal.atom.arguments])
        for term, origins in zip(literal.atom.arguments, own, strict=True):
            if isinstance(term, Variable):
                bound[term.name] = bound.get(term.name, _NOTHING) | origins
        if isinstance(literal.time, Variable):
            bound[literal.time.name] = bound.get(literal.time.name, _NOTHING) | times
    for element in rule.body:
        if isinstance(element, Assignment):
            made = of_expression(element.expression, bound)
            bound[element.variable] = bound.get(element.variable, _NOTHING) | made
    return _of_head(rule.head, bound)


def _of_head(head: Head, bound: Mapping[str, Of]) -> list[Of]:
    return [
        WRITTEN if isinstance(term, Constant) else bound.get(term.name, MADE)
        for term in head.atom.arguments
    ]
