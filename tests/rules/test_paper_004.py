"""The worked examples of paper 004."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.rules.memory import ProgramMemory
from tests.support.rules.papers import PaperExample, atom_of, paper_example, program_of

REPLAYS = (
    "1-example1-windows",
    "2-examples-2-5-and-9-join-rule",
    "3-examples-6-7-overlapping-annotations",
    "4-example-8-box",
    "5-box-runs-and-stream-start",
    "8-fig4-cooling",
    "9-fig4-cooling-n0",
    "10-benchmark-window-diamond",
    "11-benchmark-window-box",
    "12-benchmark-data-join",
    "15-stratified-negation",
    "16-tuple-windows",
    "17-recursion-in-a-stratum",
    "18-theorem1-narrow-window-over-derived",
    "19-theorem1-wide-window-over-derived",
    "20-theorem1-empty-interval",
    "21-plain-and-at-heads",
)


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("at_once", [True, False], ids=["one-epoch", "an-epoch-per-point"])
@pytest.mark.parametrize("name", REPLAYS)
def test_the_log_has_the_deltas_of_the_paper(shared: Path, name: str, at_once: bool) -> None:
    example = _example(shared, name)
    assert _changes(example, at_once=at_once) == example.changes


@pytest.mark.parametrize("name", REPLAYS)
def test_atoms_hold_during_the_intervals_of_the_paper(shared: Path, name: str) -> None:
    example = _example(shared, name)
    held = _outputs(example)
    expected = {
        (point, atom)
        for atom, intervals in example.expected["output_intervals"].items()
        for first, last in intervals
        for point in range(first, last + 1)
    }
    assert held == expected


@pytest.mark.parametrize("name", REPLAYS[2:])
def test_derived_atoms_are_placed_where_the_answer_stream_of_the_paper_has_them(
    shared: Path, name: str
) -> None:
    """`@T p` without a window gives the points at which the answer stream at t has p.

    Atoms of three arguments, in the first two examples, have no place for another.
    """
    example = _example(shared, name)
    placed = {(t, atom) for t, atom in _outputs(_placing(example)) if atom.startswith("place_")}
    expected = {
        (step["t"], _place(atom, int(point)))
        for step in example.expected["steps"]
        for point, atoms in step["answer_stream"].items()
        for atom in atoms
    }
    assert placed == expected


def test_only_events_are_tuples_of_a_window(shared: Path) -> None:
    example = _example(shared, "6-tuple-window-over-derived-atoms")
    expected = example.expected["with_data_tuples_only"]
    assert _outputs(example) == {(int(t), atom) for t, atoms in expected.items() for atom in atoms}


def test_what_is_derived_for_a_later_point_is_seen_there_if_it_is_derived_there(
    shared: Path,
) -> None:
    example = _example(shared, "7-head-time-outside-timeline")
    last = example.expected["convention"]["timeline"][1]
    assert _outputs(replace(example, last=last)) == set()
    in_window = program_of("@5 a <- win^3 diamond b.", {"b"})
    assert _outputs(replace(example, program=in_window, last=last)) == {(5, "a")}


@pytest.mark.parametrize("window", ["win^2", "win^#2"])
def test_negated_windows_are_true_where_the_paper_says(shared: Path, window: str) -> None:
    folder = shared / "papers" / "examples" / "004-13-negation-equivalences"
    rows = json.loads((folder / "expected.json").read_text())["rows"]
    names = {"diamond a": "d", "box a": "b", "@2 a": "two", "@3 a": "three"}
    text = "\n".join(f"{name} <- not {window} {what}." for what, name in names.items())
    events = ((1, "a"), (3, "a"), (4, "a"), (6, "a"))
    example = PaperExample(program_of(text, {"a"}), events, 0, 7, {})
    expected = {
        (row["t"], name)
        for row in rows
        if row["window"] == window
        for what, name in names.items()
        if row[f"not win {what}"]
    }
    assert _outputs(example) == expected


def _example(shared: Path, name: str) -> PaperExample:
    return paper_example(shared / "papers" / "examples" / f"004-{name}")


def _changes(example: PaperExample, *, at_once: bool) -> set[tuple[int, int, str]]:
    """Instant, weight, atom of each row of the log."""
    epochs = example.epochs(at_once=at_once)
    memory = ProgramMemory(example.program, epochs, starts=example.first)
    for epoch in range(1, len(epochs) + 1):
        memory.run(epoch - 1, epoch)
    return {(instant, weight, atom_of(row)) for _, instant, weight, row in memory.log()}


def _outputs(example: PaperExample) -> set[tuple[int, str]]:
    """Every point with the atoms that hold at it."""
    changes = sorted(_changes(example, at_once=True))
    held: set[str] = set()
    outputs = set()
    for point in range(example.first, example.last + 1):
        held -= {atom for at, weight, atom in changes if at == point and weight < 0}
        held |= {atom for at, weight, atom in changes if at == point and weight > 0}
        outputs |= {(point, atom) for atom in held}
    return outputs


def _placing(example: PaperExample) -> PaperExample:
    """The example with rules that say at which points derived atoms are."""
    rules = example.program.rules
    names = {predicate: example.program.predicates[predicate].arity for predicate in rules.derived}
    more = []
    for name, arity in names.items():
        arguments = [f"X{i}" for i in range(arity)]
        atom = f"{name}({','.join(arguments)})" if arity else name
        more.append(f"place_{name}({','.join((*arguments, 'T'))}) <- @T {atom}.")
    text = "\n".join((example.text, *more))
    return replace(example, program=program_of(text, {atom for _, atom in example.events}))


def _place(atom: str, point: int) -> str:
    name, _, rest = atom.partition("(")
    return f"place_{name}({rest.removesuffix(')')}{',' if rest else ''}{point})"
