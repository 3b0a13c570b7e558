"""The scenario of choices: regret by its definition, the rule of the settings, one small run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from bench import choices
from bench.both_ways import LOOKED_UP, WHOLE, WayRun, processor_seconds
from bench.choices import RULES, THE_RULE, Choices, Subject, by_paper, cases_of
from bench.costs import OperandChange
from bench.processes import RunFailed
from bench.regret import Case, Regret, regret
from bench.results import Scenario

UNCHANGED = OperandChange(100, 0, 0)


def case(looked_up: float, whole: float, changes: int = 1, quads: int = 1_000_000) -> Case:
    return Case("g", "q", changes, quads, UNCHANGED, looked_up, whole)


def test_regret_is_what_a_choice_costs_beyond_the_better_one() -> None:
    cases = [case(1, 2), case(2, 1), case(1, 1.05), case(1, 1.2)]
    assert regret(cases, lambda _: False) == Regret(
        share=1 / 4, right=0.75, clearly_wrong=1, worst=1
    )
    whole = regret(cases, lambda _: True)
    assert whole.share == pytest.approx(1.25 / 4)
    assert (whole.right, whole.clearly_wrong, whole.worst) == (0.5, 1, 1)
    assert regret(cases, lambda one: one.whole < one.looked_up) == Regret(0, 1, 0, 0)


@pytest.mark.parametrize(
    ("changes", "quads", "whole"),
    [(30_000, 10**6, False), (30_001, 10**6, True), (1, 99_999, True)],
)
def test_the_rule_of_the_bench_is_that_of_the_settings(
    changes: int, quads: int, whole: bool
) -> None:
    assert RULES[THE_RULE](case(1, 1, changes, quads)) is whole


def test_the_formulas_of_the_paper_choose_by_the_changes_of_the_answer() -> None:
    few, many = OperandChange(100, 1, 5), OperandChange(100, 60, 60)
    assert not by_paper(Case("g", "q", 1, 1, few, 1, 1))
    assert by_paper(Case("g", "q", 1, 1, many, 1, 1))


def run(query: str, mode: str, seconds: float, changes: int = 7) -> WayRun:
    return WayRun(query, mode, changes, 0, 0.0, seconds)


def test_a_case_has_the_least_seconds_of_each_way_of_the_queries_that_are_touched() -> None:
    runs = [
        (LOOKED_UP, [run("a", "incremental", 2), run("b", "untouched", 9, changes=0)]),
        (WHOLE, [run("a", "full", 4), run("b", "untouched", 9, changes=0)]),
        (LOOKED_UP, [run("a", "incremental", 1)]),
        (WHOLE, [run("a", "full", 5)]),
    ]
    (case,) = cases_of("g", 50, lambda _: UNCHANGED, runs)
    assert case == Case("g", "a", 7, 50, UNCHANGED, 1, 4)


def test_a_run_that_did_not_take_its_way_is_an_error() -> None:
    with pytest.raises(RunFailed, match="a: the whole graph was not read"):
        cases_of("g", 50, lambda _: UNCHANGED, [(WHOLE, [run("a", "incremental", 1)])])


def test_the_seconds_of_the_processor_grow_with_work() -> None:
    before = processor_seconds()
    assert sum(number % 7 for number in range(2_000_000))
    assert processor_seconds() > before


def changes_of(folder: Path, sets: Sequence[Sequence[str]]) -> list[Path]:
    """RDF Patches, each after the one before."""
    folder.mkdir()
    files = []
    for number, lines in enumerate(sets, start=1):
        head = [f"H id <urn:{number}> ."]
        head += [f"H prev <urn:{number - 1}> ."] if number > 1 else []
        file = folder / f"{number:04}.rdfp"
        file.write_text("\n".join([*head, "TX .", *lines, "TC .", ""]), "utf-8")
        files.append(file)
    return files


def test_both_ways_are_measured_over_the_same_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choices, "WORK", tmp_path / "work")
    queries = tmp_path / "queries"
    queries.mkdir()
    (queries / "pairs.rq").write_text("SELECT * WHERE { ?a <urn:p> ?b . ?b <urn:q> ?c }")
    (queries / "other.rq").write_text("SELECT * WHERE { ?a <urn:r> ?b }")
    sets = [
        ["A <urn:a> <urn:p> <urn:b> .", "A <urn:b> <urn:q> <urn:c> ."],
        ["A <urn:d> <urn:p> <urn:b> ."],
        ["D <urn:a> <urn:p> <urn:b> ."],
    ]
    base, *later = changes_of(tmp_path / "changes", sets)
    nquads = tmp_path / "base.nq"
    lines = [line[2:] for line in base.read_text().splitlines() if line.startswith("A ")]
    nquads.write_text("\n".join([*lines, ""]))
    source = {"name": "s", "kind": "patches", "base": str(nquads), "base_id": "urn:1"}
    subject = Subject("small", queries, source, later, (1, 2))
    scenario = Choices(1, lambda _: None, (subject,)).run()
    assert scenario.sizes["cases"] == 4
    assert [timing.what for timing in scenario.timings] == [
        "pairs, 1 changes, looked_up",
        "pairs, 1 changes, whole",
        "all together, 1 changes, looked_up",
        "all together, 1 changes, whole",
        "pairs, 2 changes, looked_up",
        "pairs, 2 changes, whole",
        "all together, 2 changes, looked_up",
        "all together, 2 changes, whole",
    ]
    assert len(scenario.summary) == 1 + len(RULES)
    assert not scenario.full
    assert Scenario.load(scenario.save(tmp_path)) == scenario
