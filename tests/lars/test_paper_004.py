"""The definition-level evaluator against the fixtures of paper 004, with the paper's errors marked.

It is the oracle of rules over streams; nothing of the project is used here but in the refusals.
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, combinations
from pathlib import Path
from typing import TypeVar

import pytest

from tests.support.lars.definitions import (
    DataStream,
    Structure,
    answer_stream,
    is_counted,
    negative_cycle,
    output,
)
from tests.support.lars.fixtures import REPLAYS, LarsFixture, fixture, read_fixtures, replays
from tests.support.lars.notation import read_program, shown
from tests.support.lars.programs import At, Element, GroundAtom, Program, Window

T = TypeVar("T")
ROOT = Path(__file__).parent.parent.parent
PACKAGES = ("weir", "lake", "expectations", "jobs", "dags")

PRINTED_OUTPUTS_ARE_WRONG = (4, 5, 8, 18, 19, 20, 21)
"""Fixtures in which the paper's algorithms, as printed or repaired, depart from its definitions."""


@pytest.fixture(scope="module")
def examples(shared: Path) -> Path:
    """The folder of the fixtures."""
    return shared / "papers" / "examples"


def outputs(example: LarsFixture) -> dict[int, frozenset[GroundAtom]]:
    """The outputs of a fixture by the definitions."""
    return {t: output(example.program, example.data(t)) for t in example.outputs}


def test_the_oracle_imports_nothing_of_the_project() -> None:
    modules = "tests.support.lars.cases, tests.support.lars.fixtures"
    ours = f"[m for m in sys.modules if m.split('.')[0] in {PACKAGES}]"
    program = f"import sys, {modules}; print({ours})"
    run = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "[]"


def test_there_are_22_fixtures_and_19_replays(examples: Path) -> None:
    assert len(read_fixtures(examples)) == 22
    assert len(replays(examples)) == REPLAYS


def test_outputs_of_the_replays_are_those_of_definition_6(examples: Path) -> None:
    for replay in replays(examples):
        assert outputs(replay) == replay.outputs, replay.name


def test_answer_streams_of_the_replays_are_those_of_definition_5(examples: Path) -> None:
    compared = 0
    for replay in replays(examples):
        for t, expected in replay.answer_streams.items():
            stream = answer_stream(replay.program, replay.data(t))
            assert stream == expected, f"{replay.name} at {t}"
            compared += 1
    assert compared > 100


def test_output_intervals_and_deltas_of_the_replays_follow_from_the_outputs(
    examples: Path,
) -> None:
    for replay in replays(examples):
        derived = outputs(replay)
        if "output_intervals" in replay.expected:
            assert _intervals(derived) == replay.expected["output_intervals"], replay.name
        before: frozenset[GroundAtom] = frozenset()
        for step in replay.expected.get("steps", ()):
            now = derived[step["t"]]
            signed = Counter({shown(atom): 1 for atom in now - before})
            signed.update({shown(atom): -1 for atom in before - now})
            assert signed == Counter({d["atom"]: d["delta"] for d in step["deltas"]}), replay.name
            before = now


def test_the_windows_of_example_1_are_those_of_definitions_3_and_4(examples: Path) -> None:
    """004-1: a window of n points of the past has n + 1 points, not n; the caption says 41."""
    example = fixture(examples, 1)
    for name, expected in example.expected["windows"].items():
        kind, _, size, _, at = name.split()[:5]
        data = example.data(int(at))
        points, v = Structure(data, ()).window(Window(int(size), kind == "tuple"))
        assert [points[0], points[-1]] == expected["timeline"], name
        atoms_by_time = {str(u): sorted(map(shown, atoms)) for u, atoms in v.items() if atoms}
        assert atoms_by_time == expected["atoms"], name


def test_example_4_of_the_paper_is_wrong_at_42(examples: Path) -> None:
    example = fixture(examples, 2)
    (claim,) = (s["paper_claim"] for s in example.expected["steps"] if "paper_claim" in s)
    assert claim != sorted(map(shown, outputs(example)[42]))


def test_a_tuple_window_counts_events_so_004_6_has_an_answer(examples: Path) -> None:
    """Of Definition 5 to the letter, with derived tuples, 004-6 has no answer stream."""
    example = fixture(examples, 6)
    assert example.expected["answer_streams"] == 0
    assert outputs(example) == example.outputs


def test_the_printed_algorithms_depart_from_the_definitions_where_the_fixtures_say(
    examples: Path,
) -> None:
    departing = []
    for replay in replays(examples):
        for step in replay.expected.get("steps", ()):
            printed = step.get("printed_algorithm_output")
            if printed is not None and sorted(printed) != sorted(step["output"]):
                departing.append(int(replay.name.split("-")[1]))
    assert tuple(sorted({*departing})) == PRINTED_OUTPUTS_ARE_WRONG


def test_the_equivalences_of_negation_hold_but_for_at_outside_of_the_window(
    examples: Path,
) -> None:
    """004-13: not win @t a is win @t not a only if the window has the point t."""
    example = fixture(examples, 13)
    for row in example.expected["rows"]:
        size = row["window"].removeprefix("win^")
        window = Window(int(size.removeprefix("#")), size.startswith("#"))
        structure = Structure(example.data(row["t"]), ())
        points, v = structure.window(window)
        assert [points[0], points[-1]] == row["timeline"]
        absent = [u for u in points if ("a", ()) not in v.get(u, ())]

        def negated(
            modality: str | At, window: Window = window, s: Structure[GroundAtom] = structure
        ) -> bool:
            return s.holds(Element("a", (), window, modality, negated=True), {})

        assert row["not win diamond a"] is negated("diamond")
        assert row["win box not a"] is (len(absent) == len(points)) is negated("diamond")
        assert row["not win box a"] is negated("box")
        assert row["win diamond not a"] is bool(absent) is negated("box")
        for u in (2, 3):
            assert row[f"not win @{u} a"] is negated(At(u))
            assert row[f"win @{u} not a"] is (u in absent)


def test_a_loop_through_negation_has_no_unique_answer_stream(examples: Path) -> None:
    """004-14: the two candidates, and the predicates of the cycle."""
    example = fixture(examples, 14)
    data: DataStream[GroundAtom] = DataStream(0, 0, {}, frozenset, is_counted)
    candidates = [
        {
            "candidate": sorted(map(shown, atoms)),
            "answer_set": _is_answer_stream(example.program, data, {0: {*atoms}}),
        }
        for atoms in _subsets([("a", ()), ("b", ())])
    ]
    assert candidates == example.expected["candidates"]
    assert negative_cycle(example.program) == frozenset({"a", "b"})
    with pytest.raises(ValueError, match="not stratified"):
        answer_stream(example.program, data)


@pytest.mark.parametrize(
    "text",
    [
        "a <- win^1 diamond e. b <- not a.",
        "@0 a <- e. b <- win^2 box a.",
        "a <- win^1 box e. a <- win^1 diamond b. b <- win^2 diamond a.",
        "b <- not win^1 diamond a. @1 a <- win^2 diamond e.",
        "a <- win^#1 diamond e. b <- a, not e.",
    ],
)
def test_the_model_of_the_strata_is_the_only_answer_stream(text: str) -> None:
    """Definition 5 by enumerating every interpretation stream."""
    program = read_program(text.replace(". ", ".\n"))
    e: GroundAtom = ("e", ())
    data: DataStream[GroundAtom] = DataStream(0, 2, {0: [e], 1: [e]}, frozenset, is_counted)
    everywhere: list[tuple[int, GroundAtom]] = [
        (u, (name, ())) for u in range(3) for name in ("a", "b")
    ]
    models = []
    for chosen in _subsets(everywhere):
        derived: dict[int, set[GroundAtom]] = {}
        for u, atom in chosen:
            derived.setdefault(u, set()).add(atom)
        if _is_answer_stream(program, data, derived):
            models.append(derived)
    assert models == [answer_stream(program, data)]


def test_the_parameters_of_the_benchmark_are_those_of_the_rules(examples: Path) -> None:
    """004-22: the rules of the micro-benchmarks are those of 004-10, 11 and 12, with any n."""
    programs = fixture(examples, 22).expected["programs"]
    for number, name in ((10, "diamond"), (11, "box"), (12, "join")):
        rule = fixture(examples, number).text.strip().removesuffix(".")
        assert rule.replace("win^2", "win^n") == programs[name]


def _is_answer_stream(
    program: Program, data: DataStream[GroundAtom], derived: dict[int, set[GroundAtom]]
) -> bool:
    """Definition 5 for a ground program: a minimal model of the reduct at the last point."""

    def body_holds(structure: Structure[GroundAtom], number: int) -> bool:
        return all(structure.holds(element, {}) for element in program.rules[number].elements)

    def is_model(structure: Structure[GroundAtom], rules: list[int]) -> bool:
        for number in rules:
            rule = program.rules[number]
            at = data.last if rule.point is None else rule.point
            assert isinstance(at, int), "the program is ground"
            if body_holds(structure, number) and (rule.predicate, ()) not in structure.derived.get(
                at, ()
            ):
                return False
        return True

    model = Structure(data, (), derived)
    reduct = [number for number in range(len(program.rules)) if body_holds(model, number)]
    if not is_model(model, reduct):
        return False
    atoms = [(u, atom) for u, of_point in derived.items() for atom in of_point]
    for chosen in _subsets(atoms):
        if len(chosen) < len(atoms):
            smaller: dict[int, set[GroundAtom]] = {}
            for u, atom in chosen:
                smaller.setdefault(u, set()).add(atom)
            if is_model(Structure(data, (), smaller), reduct):
                return False
    return True


def _subsets(items: Sequence[T]) -> Iterator[tuple[T, ...]]:
    return chain.from_iterable(combinations(items, k) for k in range(len(items) + 1))


def _intervals(by_time: dict[int, frozenset[GroundAtom]]) -> dict[str, list[list[int]]]:
    """The maximal intervals of each atom."""
    intervals: dict[str, list[list[int]]] = {}
    for t, atoms in sorted(by_time.items()):
        for atom in sorted(map(shown, atoms)):
            known = intervals.setdefault(atom, [])
            if known and known[-1][1] == t - 1:
                known[-1][1] = t
            else:
                known.append([t, t])
    return intervals
