"""The laws of the engine over the whole grammar of SPARQL 1.1 (DESIGN.md, section 8), on DuckDB.

A pair is a query and one of its histories; the histories of a query are maintained one after
another, as one long history. pyoxigraph judges, where it can be asked (`whole_cases`).
"""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from jobs.plan.lower import lower
from jobs.plan.operators import PlanNode
from jobs.plan.plan import Plan
from jobs.plan.structure import walk
from jobs.sparql import algebra
from jobs.sparql.translate import translate
from tests.engine.answers import comparable
from tests.engine.kept import kept_cases, read
from tests.engine.memory import WHOLE, LogRow, Memory, run_in_cuts, state
from tests.engine.oracle import Oxigraph, by_the_book, states
from tests.engine.whole_cases import HISTORIES, WholeCase, whole_case

QUERIES = int(os.environ.get("WEIR_WHOLE_LAW_PAIRS", "5000")) // HISTORIES
SINGLE = 3
"""Runs over one epoch in each case."""
PARTS = 20
"""Tests of their own, which the workers of pytest share."""


def broken_laws(case: WholeCase) -> list[str]:
    """Which laws a case breaks, and how; none if all hold."""
    query = translate(case.query, case.default_graph)  # type: ignore[arg-type]
    plan = lower(query, allow_product=True)
    rng = random.Random(case.seed)
    history = case.history
    last = len(history)
    at_once = run_in_cuts(Memory(plan, history), last, ())
    log = at_once.log()
    broken = [*_snapshot(case, query, plan, log), *_multiplicities(plan, log, last)]

    def compare(law: str, found: list[LogRow], expected: list[LogRow] = log) -> None:
        if found != expected:
            extra = [row for row in found if row not in expected]
            missing = [row for row in expected if row not in found]
            broken.append(f"{law}: {extra[:5]} too many, {missing[:5]} missing")

    # Runs of one epoch each read the stored state most.
    first = rng.randint(1, last - 1)
    cuts = range(first, min(last, first + SINGLE))
    cut = run_in_cuts(Memory(plan, history, optimized=False), last, cuts)
    compare(f"split invariance with runs up to {[*cuts]}", cut.log())
    if Counter(cut.new_rows(cuts[-1], last)) - Counter(cut.stored()):
        broken.append(f"replay: the run over ({cuts[-1]}, {last}] makes other rows again")
    base = rng.randint(1, last - 1)
    late = Memory(plan, history, optimized=False)
    late.run(0, base, initial=True)
    if state(late.log(), base) != state(log, base):
        broken.append(f"registration at epoch {base}: not the state at that epoch")
    late.run(base, last, thresholds=WHOLE)
    after = [row for row in log if row[0] > base]
    found = [row for row in late.log() if row[0] > base]
    compare(f"registration at {base}, and neighbourhood", found, after)
    return [f"seed {case.seed}: {case.query} [{case.default_graph}]: {what}" for what in broken]


def _snapshot(
    case: WholeCase, query: algebra.Query, plan: Plan, log: list[LogRow]
) -> Iterator[str]:
    """At every epoch the state of the log is the batch evaluation on the dataset at that epoch."""
    columns = [name for name, _ in plan.columns]
    judge = Oxigraph(case.default_graph)
    for epoch, (change, quads) in enumerate(
        zip(case.history, states(case.history), strict=True), 1
    ):
        if case.by_the_book is None:
            judge.take(change)
            expected = judge.answer(case.query, columns)
        else:
            expected = by_the_book(query, quads, columns)
        wanted = comparable(expected)
        found = comparable(state(log, epoch))
        if found != wanted:
            yield f"snapshot at epoch {epoch}: {found - wanted} too many, {wanted - found} missing"
            return


def _multiplicities(plan: Plan, log: list[LogRow], last: int) -> Iterator[str]:
    """Multiplicities are never negative; those of a set answer are 0 or 1."""
    if len({(epoch, row) for epoch, _, row in log}) != len(log):
        yield "a row has two weights in one epoch"
    for epoch in range(1, last + 1):
        counts = set(state(log, epoch).values())
        if any(count < 0 for count in counts) or (plan.is_set and counts - {1}):
            yield f"multiplicities {sorted(counts)} at epoch {epoch}"
            return


@pytest.mark.parametrize("file", kept_cases(), ids=lambda file: file.stem)
def test_a_case_that_once_broke_a_law_keeps_them(file: Path) -> None:
    assert broken_laws(read(file)) == []


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_random_queries_of_the_whole_grammar_keep_the_laws(part: int) -> None:
    """Snapshot, split invariance, replay, neighbourhood, multiplicities, and registration at any
    epoch.
    """
    seeds = range(part, QUERIES, PARTS)
    broken = [line for seed in seeds for line in broken_laws(whole_case(seed))]
    assert not broken, (
        f"{len(broken)} broken laws; keep them with `python -m tests.engine.kept whole`:\n"
        + "\n".join(broken[:20])
    )


def test_the_random_queries_have_every_operator_and_answers_that_change() -> None:
    """A generator that only makes trivial queries would make every law pass."""
    operators: Counter[str] = Counter()
    judged = changing = 0
    queries = 200
    for seed in range(queries):
        case = whole_case(seed)
        plan = lower(
            translate(case.query, case.default_graph),  # type: ignore[arg-type]
            allow_product=True,
        )
        operators.update({type(node).__name__ for node in walk(plan.root)})
        judged += case.by_the_book is None
        columns = [name for name, _ in plan.columns]
        judge, answers = Oxigraph(case.default_graph), set()
        for change in case.history:
            judge.take(change)
            answers.add(frozenset(judge.answer(case.query, columns).items()))
        changing += len(answers) > 1
    assert {name: operators[name] for name in _OPERATORS if operators[name] < queries // 20} == {}
    assert changing > 0.8 * queries
    assert judged > 0.5 * queries


_OPERATORS = [operator.__name__ for operator in get_args(PlanNode)]
