"""The random programs are a test of what they have: each form decides an answer in some of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from tests.support.lars.cases import LarsCase, lars_case
from tests.support.lars.definitions import negative_cycle
from tests.support.lars.programs import (
    At,
    Comparison,
    Counted,
    Element,
    GroundAtom,
    Program,
    Rule,
    Window,
)
from tests.support.streams.histories import GraphChange, StreamBatch

SEEDS = range(80)

States = dict[tuple[int, int], frozenset[GroundAtom]]


@pytest.fixture(scope="module")
def cases() -> list[LarsCase]:
    """The cases of some seeds."""
    return [*map(lars_case, SEEDS)]


def states(case: LarsCase) -> States:
    """The states at the last points of a case, by epoch and point."""
    meaning = case.meaning()
    last = len(case.epochs)
    final = meaning.finals[last]
    if meaning.first is None or final is None:
        return {}
    return {(last, point): meaning.state(last, point) for point in range(meaning.first, final + 1)}


def elements_changed(change: Callable[[Element], Element | None]) -> Callable[[Program], Program]:
    """A change of the elements of all bodies; None takes one out."""

    def of_rule(rule: Rule) -> Rule:
        changed = (
            element if isinstance(element, Comparison) else change(element) for element in rule.body
        )
        return replace(rule, body=tuple(element for element in changed if element is not None))

    return lambda program: replace(program, rules=tuple(map(of_rule, program.rules)))


def wider(element: Element, *, tuples: bool) -> Element:
    """The element with one more point or tuple in its window."""
    window = element.window
    if window is None or window.tuples != tuples:
        return element
    return replace(element, window=replace(window, size=window.size + 1))


def rewindowed(change: Callable[[Window], Window]) -> Callable[[Program], Program]:
    """A change of all windows."""
    return elements_changed(
        lambda e: e if e.window is None else replace(e, window=change(e.window))
    )


def without_recursion(program: Program) -> Program:
    """The program without the rules that read the predicate of their head."""
    rules = tuple(
        rule
        for rule in program.rules
        if all(element.predicate != rule.predicate for element in rule.elements)
    )
    return replace(program, rules=rules)


def without_arithmetic(program: Program) -> Program:
    """The program with every number in an expression of a comparison as it is."""

    def changed(rule: Rule) -> Rule:
        body = tuple(
            element
            for element in rule.body
            if not isinstance(element, Comparison) or element.symbol == "="
        )
        return replace(rule, body=body)

    return replace(program, rules=tuple(map(changed, program.rules)))


CHANGES: dict[str, Callable[[Program], Program]] = {
    "a time window has a point more": elements_changed(lambda e: wider(e, tuples=False)),
    "a tuple window has a tuple more": elements_changed(lambda e: wider(e, tuples=True)),
    "windows slide": rewindowed(lambda w: replace(w, step=None, after=0)),
    "a window hops a point further": rewindowed(
        lambda w: w if w.step is None else replace(w, step=w.step + 1)
    ),
    "no window has a point after its pivot": rewindowed(lambda w: replace(w, after=0)),
    "all tuples are counted": rewindowed(lambda w: replace(w, counted=())),
    "all atoms of a predicate are counted": rewindowed(
        lambda w: replace(w, counted=tuple(Counted(c.predicate) for c in w.counted))
    ),
    "box is diamond": elements_changed(
        lambda e: replace(e, modality="diamond") if e.modality == "box" else e
    ),
    "diamond is box": elements_changed(
        lambda e: replace(e, modality="box") if e.modality == "diamond" else e
    ),
    "windows are of the whole stream": elements_changed(
        lambda e: replace(e, window=Window(1000)) if isinstance(e.modality, At) else e
    ),
    "negation is left out": elements_changed(lambda e: None if e.negated else e),
    "comparisons are left out": without_arithmetic,
    "recursion is left out": without_recursion,
    "facts are left out": lambda program: replace(program, facts=()),
    "heads are plain": lambda program: replace(
        program, rules=tuple(replace(rule, point=None) for rule in program.rules)
    ),
}


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("name", CHANGES)
def test_a_change_of_any_form_changes_an_answer_of_some_cases(
    name: str, cases: list[LarsCase]
) -> None:
    changed = 0
    for case in cases:
        program = CHANGES[name](case.program)
        changed += program != case.program and states(replace(case, program=program)) != states(
            case
        )
    assert changed >= 3


def test_the_first_point_decides_an_answer_of_some_cases(cases: list[LarsCase]) -> None:
    changed = 0
    for case in cases:
        earlier = case.meaning()
        if earlier.first is not None:
            earlier.first -= 1
            answers = states(case)
            changed += any(earlier.state(*at) != state for at, state in answers.items())
    assert changed >= 3


def test_late_events_and_changes_of_the_graph_correct_answers_of_some_cases(
    cases: list[LarsCase],
) -> None:
    corrected: dict[type, int] = {StreamBatch: 0, GraphChange: 0}
    for case in cases:
        for kind in {*_kinds_of_corrections(case)}:
            corrected[kind] += 1
    assert corrected[StreamBatch] >= 10
    assert corrected[GraphChange] >= 3


def test_histories_have_tied_late_and_idle_events_and_units(cases: list[LarsCase]) -> None:
    batches = [[e for e in case.epochs if isinstance(e, StreamBatch)] for case in cases]
    assert sum(any(not e.events for e in batch) for batch in batches) > 25
    assert sum(any(len({*e.events}) < len(e.events) for e in batch) for batch in batches) > 5
    assert sum(case.axis.unit > 1 for case in cases) > 15
    assert sum(case.axis.origin > 0 for case in cases) > 15
    assert sum(case.starts is not None for case in cases) > 5
    assert sum(len(case.streams) > 1 for case in cases) > 5


def test_programs_have_atoms_of_every_arity_and_are_stratified(cases: list[LarsCase]) -> None:
    arities = {len(rule.arguments) for case in cases for rule in case.program.rules}
    assert arities == {0, 1, 2, 3}
    assert all(negative_cycle(case.program) is None for case in cases)


def test_a_seed_gives_the_same_case() -> None:
    assert lars_case(7) == lars_case(7)


def _kinds_of_corrections(case: LarsCase) -> Iterator[type]:
    """The kinds of the epochs that change a state that was final."""
    meaning = case.meaning()
    for epoch in range(2, len(case.epochs) + 1):
        final = meaning.finals[epoch - 1]
        if final is None or meaning.first is None:
            continue
        points = range(meaning.first, final + 1)
        if any(meaning.state(epoch, p) != meaning.state(epoch - 1, p) for p in points):
            yield type(case.epochs[epoch - 1])
