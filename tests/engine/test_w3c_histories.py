"""The W3C evaluation tests as histories.

At each epoch the answer is that of a batch evaluation, at the end it is the expected result.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from tests.support.harness import Memory, run_in_cuts, state
from tests.support.laws import Seeds
from tests.support.oracles import reference
from tests.support.oracles.answers import FALSE, TRUE, Row
from tests.support.oracles.histories import Change, states
from tests.support.oracles.oxigraph import Oxigraph
from tests.support.oracles.results import Solution, as_csv, read_csv, read_result, same
from tests.support.w3c import Case, Quad, read_cases
from weir.plan.lower import lower
from weir.plan.operators import Slice, walk
from weir.plan.plan import Plan
from weir.sparql.algebra.queries import Ask, Construct, Query
from weir.sparql.frontend.errors import UnsupportedQuery
from weir.sparql.frontend.translate import translate
from weir.sparql.functions.values import Number, parse

_XSD = "http://www.w3.org/2001/XMLSchema#"
CHUNKS = 8
"""Into which the tests are divided."""
KINDS = ("QueryEvaluationTest", "CSVResultFormatTest")
REFUSED = {
    "functions/now01": "NOW",
    "functions/rand01": "RAND",
    "functions/struuid01": "STRUUID",
    "functions/uuid01": "UUID",
    "functions/uuid02": "UUID",
}
"""Tests of functions that have no stable value, which are refused."""

EXCEPTIONS: dict[str, str] = {}
"""Tests for which Weir departs from the expected result, with the reason."""


_GRAPH_NAME = "pyoxigraph leaves the graph's name unbound where the pattern reads no triple"
_ZERO_LENGTH = "pyoxigraph loses the zero-length path of a term that is not in the graph"
DEPARTURES = {
    "aggregates/agg-empty-group-count-graph": _GRAPH_NAME,
    "bindings/graph": _GRAPH_NAME,
    "functions/bnode01": "pyoxigraph makes one node of BNODE of one string, for all solutions",
    "negation/graph-minus": "pyoxigraph compares MINUS on the graph's name, which is joined after",
    "property-path/pp02": _ZERO_LENGTH,
    "property-path/pp28a": _ZERO_LENGTH,
    "property-path/pp37": _ZERO_LENGTH,
    "property-path/zero_or_more_set_end": _ZERO_LENGTH,
    "property-path/zero_or_more_set_start": _ZERO_LENGTH,
    "property-path/zero_or_one_set_end": _ZERO_LENGTH,
    "property-path/zero_or_one_set_start": _ZERO_LENGTH,
}
"""Tests in whose histories pyoxigraph departs from the specification: the oracle is the reference
evaluator.
"""


def evaluation_cases(shared: Path) -> list[Case]:
    """The evaluation tests that are maintained."""
    cases = [c for c in read_cases(shared / "data" / "w3c" / "sparql11") if c.kind in KINDS]
    return [case for case in cases if case.name not in REFUSED | EXCEPTIONS]


def history_to(quads: Iterable[Quad], seed: int) -> tuple[Change, ...]:
    """A random history that ends with `quads`, with deletions and re-insertions on the way."""
    rng = random.Random(seed)
    wanted = sorted(quads)
    last = rng.randint(3, 6)
    first_seen = {quad: rng.randint(1, last) for quad in wanted}
    present: frozenset[Quad] = frozenset()
    epochs: list[Change] = []
    for epoch in range(1, last + 1):
        there = {quad for quad in wanted if first_seen[quad] <= epoch and rng.random() < 0.75}
        state_ = frozenset(wanted if epoch == last else there)
        epochs.append((present - state_, state_ - present))
        present = state_
    return tuple(epochs)


def wrong_answers(case: Case, seed: int) -> list[str]:
    """Where the maintained answer differs from the batch evaluation or the expected result."""
    query = translate(case.text, "default")
    plan = lower(query, allow_product=True)
    history = history_to(case.quads, seed)
    last = len(history)
    cuts = sorted(random.Random(seed).sample(range(1, last), 2))
    log = run_in_cuts(Memory(plan, history), last, cuts).log()
    wrong = []
    for epoch, expected in enumerate(_batch(case, query, plan, history), 1):
        answer = solutions(plan, query, state(log, epoch))
        if not same(_coarse(answer), _coarse(solutions(plan, query, expected))):
            wrong.append(f"epoch {epoch}: {state(log, epoch)} and not {expected}")
    if not is_expected(case, plan, solutions(plan, query, state(log, last))):
        wrong.append(f"not the expected result: {state(log, last)}")
    return [f"{case.name}, seed {seed}, runs up to {cuts}: {what}" for what in wrong]


def _batch(case: Case, query: Query, plan: Plan, history: Sequence[Change]) -> list[Counter[Row]]:
    """By pyoxigraph; by the reference evaluator where the specification leaves a choice."""
    columns = [name for name, _ in plan.columns]
    if is_a_choice(case.text, plan) or case.name in DEPARTURES:
        return [reference.rows(query, quads, columns) for quads in states(history)]
    oxigraph = Oxigraph("default")
    answers = []
    for change in history:
        oxigraph.apply(change)
        answers.append(oxigraph.answer(case.text, columns))
    return answers


def is_a_choice(text: str, plan: Plan) -> bool:
    """Whether several answers are right: some rows of many, one of a group, or any order."""
    words = text.upper()
    picks = any(isinstance(node, Slice) for node in walk(plan.root))
    return picks or "SAMPLE" in words or "GROUP_CONCAT" in words


def solutions(plan: Plan, query: Query, rows: Counter[Row]) -> list[Solution]:
    """Rows in the form of the expected results."""
    names = [name for name, _ in plan.columns]
    if isinstance(query.form, Ask):
        return [{}] if (TRUE,) in rows else []
    if isinstance(query.form, Construct):
        names = ["s", "p", "o"]
    return [
        {name: term for name, term in zip(names, row, strict=True) if term is not None}
        for row in rows.elements()
    ]


def _coarse(answer: list[Solution]) -> list[Solution]:
    """Solutions with numbers to 15 digits and booleans as words: pyoxigraph cuts quotients after
    the 18th decimal and rewrites booleans.
    """
    return [{name: _coarse_term(term) for name, term in s.items()} for s in answer]


def _coarse_term(term: str) -> str:
    match parse(term):
        case Number(value=value, type=kind):
            return f'"{float(value):.15g}"^^<{_XSD}{kind}>'
        case _:
            return {f'"1"^^<{_XSD}boolean>': TRUE, f'"0"^^<{_XSD}boolean>': FALSE}.get(term, term)


def is_expected(case: Case, plan: Plan, answer: list[Solution]) -> bool:
    assert case.result is not None
    if case.result.suffix == ".csv":
        return as_csv(answer, [name for name, _ in plan.columns]) == read_csv(case.result)
    return same(answer, read_result(case.result))


def test_only_functions_without_a_stable_value_are_refused(shared: Path) -> None:
    cases = {c.name: c for c in read_cases(shared / "data" / "w3c" / "sparql11")}
    for name, function in REFUSED.items():
        with pytest.raises(UnsupportedQuery, match=rf"{function}\(\)"):
            translate(cases[name].text, "default")
    assert len(EXCEPTIONS) <= 5
    assert len(evaluation_cases(shared)) == 235 - len(REFUSED) - len(EXCEPTIONS)


@pytest.mark.law("w3c histories")
def test_every_w3c_evaluation_test_has_the_batch_answer_at_every_epoch(
    shared: Path, seeds: Seeds
) -> None:
    """Eight seeds in a row are a history of every test."""
    cases = evaluation_cases(shared)
    seeds.check(
        lambda seed: [
            line
            for case in cases[seed % CHUNKS :: CHUNKS]
            for line in wrong_answers(case, seed // CHUNKS)
        ]
    )
