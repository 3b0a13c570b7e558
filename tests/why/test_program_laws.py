"""The laws of explanations of programs, by the definitions of LARS.

Without the events and the changes of the graph that an explanation names, the atom is not in the
log; what a derivation reads is there, and what it needs to be absent is not.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator
from copy import copy
from dataclasses import dataclass, replace

import pytest

from tests.support.generators.basic_cases import Triple
from tests.support.harness import LOOKED_UP
from tests.support.lars.definitions import DataStream, output
from tests.support.lars.programs import GroundAtom
from tests.support.laws import Seeds
from tests.support.rules.cases import RuleCase, rule_case
from tests.support.rules.given import GIVEN, given_case
from tests.support.rules.laws import ProgramMeaning
from tests.support.rules.memory import LogRow, memory_of, table_of
from tests.support.rules.vocabulary import atoms_of, counts, value
from tests.support.streams.histories import GraphChange, StreamBatch
from weir.compute.relations import Statement
from weir.compute.sql import alias, column, columns, number, rows_of, select
from weir.definitions.definition import Body
from weir.engine.plan_delta import PlanDelta
from weir.engine.windows import EVENT, LastElements
from weir.lars.columns import predicate_term
from weir.plan.plan import ANSWER
from weir.rules.leg_rows import Rules, program_rows
from weir.timeline.evaluation import InstantInputs, LegInputs
from weir.timeline.graph_log import GraphLog
from weir.why.explanation import Change, ChangedRow, Event, Explanation, MovedEvent
from weir.why.moments import Moment
from weir.why.programs import ProgramSurroundings
from weir.why.windows import StreamReads
from weir.why.worlds import STORED, Worlds

ROWS = 2
"""Atoms of the log that are explained of a case, and as many of corrections."""


@dataclass(frozen=True, slots=True)
class RuleBody(Body):
    """The body of a program without a file."""

    rules: Rules

    def delta(self, leg: LegInputs) -> PlanDelta:
        """The new rows of a leg."""
        assert isinstance(leg, InstantInputs), "it reads streams"
        return program_rows(self.rules, leg)


class Explained:
    """A random program, maintained over its history, whose atoms are explained."""

    def __init__(self, case: RuleCase) -> None:
        self.case = case
        self.memory = memory_of(self.case)
        self.memory.run(0, len(self.case.epochs))
        self.rng = random.Random(f"why {case.seed}")

    def rows(self) -> list[LogRow]:
        """Some rows of the log, of corrections if there are any."""
        log = self.memory.log()
        some = self.rng.sample(log, len(log))
        timeline = self.memory.timeline(len(self.case.epochs))
        horizons = {epoch: timeline.horizon(epoch - 1) for epoch, *_ in log}
        rest = [row for row in some if row[1] > (horizons[row[0]] or row[1] - 1)]
        corrections = [row for row in some if row not in rest]
        return [*corrections[:ROWS], *rest[:ROWS]]

    def explain(self, row: LogRow) -> tuple[Moment, Explanation]:
        """Why an atom is in the log."""
        epoch, instant, weight, (predicate, *terms) = row
        case, memory = self.case, self.memory
        timeline = memory.timeline(epoch)
        moment = Moment.of(timeline, instant, epoch)
        names = [f"v{i}" for i in range(len(memory.row))]
        with memory.engine.scope() as engine:
            for name, rows in memory.inputs.items():
                engine.load(name, rows)
            events = {}
            for stream in case.checked.streams:
                events[stream] = f"known_{stream}"
                known = select(
                    *columns(EVENT),
                    alias(number(1).eq(number(1)), "known"),
                    alias(column("epoch") < number(epoch), "known_undone"),
                    from_=rows_of(f"all_events_{stream}"),
                    where=[column("epoch") <= number(epoch)],
                )
                engine.make(Statement(events[stream], known, "cache"))
            stored = [(ANSWER, *cells) for cells in memory.stored if int(str(cells[-2])) <= epoch]
            engine.load(STORED, table_of(stored, ("node", *names, "instant", "epoch", "weight")))
            graph = GraphLog(memory.logs, memory.logs, moment.graph.settled, moment.graph.times)
            rules = Rules(case.checked, case.axis, memory.scope, "program")
            worlds = Worlds(engine, RuleBody(rules), len(names), names)
            reads = StreamReads(
                {name: LastElements(10**9) for name in events},
                {name: name for name in events},
                events,
                graph if case.checked.reads_graph else None,
                LOOKED_UP,
            )
            around = ProgramSurroundings.read(worlds, rules, reads, timeline, moment)
            cells = [predicate_term(predicate), *terms]
            padded = (*cells, *[None] * (len(names) - len(cells)))
            return moment, around.explain(ChangedRow(padded, weight, instant))


def without(case: RuleCase, explanation: Explanation) -> RuleCase:
    """The case without the events that an explanation names."""
    events = {
        (moved.event.stream, moved.event.epoch, moved.event.line)
        for moved in explanation.changes
        if isinstance(moved, MovedEvent)
    }
    epochs: list[StreamBatch | GraphChange] = []
    for number_, epoch in enumerate(case.epochs, start=1):
        if isinstance(epoch, StreamBatch):
            kept = tuple(
                event
                for i, event in enumerate(epoch.events)
                if (epoch.stream, number_, i) not in events
            )
            epochs.append(replace(epoch, events=kept))
        else:
            epochs.append(epoch)
    return replace(case, epochs=tuple(epochs))


def eventless(case: RuleCase, moment: Moment) -> RuleCase:
    """The case without any event, or without those of the epoch that corrects it."""
    epochs = tuple(
        replace(epoch, events=())
        if isinstance(epoch, StreamBatch) and (number_ == moment.epoch or not moment.corrects)
        else epoch
        for number_, epoch in enumerate(case.epochs, start=1)
    )
    return replace(case, epochs=epochs)


class Outputs:
    """The output of a case at points, with or without what is named; the times are those with."""

    def __init__(self, case: RuleCase) -> None:
        self.meaning = ProgramMeaning(case)

    def change(
        self,
        atom: GroundAtom,
        epoch: int,
        point: int,
        case: RuleCase,
        gone: Collection[tuple[int, Triple]] = (),
    ) -> int:
        """By how much an atom changes at a point, as known at an epoch, without some changes."""
        meaning = copy(self.meaning)
        meaning.case = case
        meaning.times = self.meaning.times.without(set(), gone)
        origin = meaning.times.origin
        assert origin is not None, "there is a row"
        before = atom in meaning.output(epoch, point - 1) if point > origin else False
        return (atom in meaning.output(epoch, point)) - before


def broken_laws(case: RuleCase) -> Iterator[str]:
    """Which atoms would be in the log without what their explanations name."""
    own = Explained(case)
    outputs = Outputs(case)
    for log_row in own.rows():
        epoch, instant, weight, (predicate, *terms) = log_row
        moment, explanation = own.explain(log_row)
        atom: GroundAtom = (predicate, tuple(map(value, terms)))
        yield from broken_derivations(case, log_row, atom, explanation)
        if not explanation.is_all:
            continue
        point, by = case.axis.point(instant), 1 if weight > 0 else -1
        before = outputs.change(atom, epoch - 1, point, case) if moment.corrects else 0
        # A rule may derive something of the graph, or of time, alone; then no event is named.
        named = without(case, explanation) if explanation.changes else eventless(case, moment)
        gone = {(c.epoch, c.triple) for c in explanation.changes if isinstance(c, Change)}
        left = by * (outputs.change(atom, epoch, point, named, gone) - before)
        is_broken = left > 0 if explanation.changes else left <= 0 and not moment.is_first
        if is_broken:
            yield f"seed {case.seed}: {log_row} is named {explanation.changes}"


def broken_derivations(
    case: RuleCase, log_row: LogRow, atom: GroundAtom, explanation: Explanation
) -> Iterator[str]:
    """Whether an atom has no derivation, or is not derived from what its derivation reads.

    Only of rules in which more events cannot take anything away.
    """
    where = f"seed {case.seed}: {log_row}"
    match = explanation.match
    if match is None or match.derivation is None:
        yield f"{where} has no derivation"
        return
    elements = [element for rule in case.program.rules for element in rule.elements]
    if any(element.negated or (element.window and element.window.tuples) for element in elements):
        return
    origin = ProgramMeaning(case).times.origin
    assert origin is not None, "there is a row"
    assert match.derivation.instant is not None, "it is over streams"
    point = case.axis.point(match.derivation.instant)
    content: dict[int, list[Triple]] = {}
    graph: set[Triple] = set()
    for part in match.parts:
        if isinstance(part, Event):
            content.setdefault(case.axis.point(part.instant), []).append(part.triple)
        else:
            graph.add(part)
    tuples = {at: tuple(triples) for at, triples in content.items()}
    data = DataStream(origin, point, tuples, atoms_of, counts)
    if atom not in output(case.program, data, atoms_of(graph)):
        yield f"{where} is not derived from {match.parts}"


@pytest.mark.law("explanations of programs")
def test_without_what_is_named_an_atom_is_not_in_the_log(seeds: Seeds) -> None:
    seeds.check(lambda seed: broken_laws(rule_case(seed)))


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("name", GIVEN)
def test_atoms_of_written_programs_keep_the_laws(name: str) -> None:
    assert [*broken_laws(given_case(name))] == []
