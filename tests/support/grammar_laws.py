"""The laws that hold for any query of the grammar and any history.

The oracle is pyoxigraph. Where it is known to depart from the specification (`grammar_cases`), or
answers otherwise than Weir, the reference evaluator decides, which follows the specification's
equations; the law `oracles` holds it against pyoxigraph and rdflib.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

from tests.support.generators.grammar_cases import WholeCase
from tests.support.harness import WHOLE, LogRow, Memory, run_in_cuts, state
from tests.support.oracles import reference
from tests.support.oracles.answers import comparable
from tests.support.oracles.histories import states
from tests.support.oracles.oxigraph import Oxigraph
from weir.plan.lower import lower
from weir.plan.plan import Plan
from weir.sparql.algebra.queries import Query
from weir.sparql.frontend.translate import translate

SINGLE = 3
"""Runs over one epoch in each case."""


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

    def compare(law: str, rows: list[LogRow], expected: list[LogRow] = log) -> None:
        if rows != expected:
            extra = [row for row in rows if row not in expected]
            missing = [row for row in expected if row not in rows]
            broken.append(f"{law}: {extra[:5]} too many, {missing[:5]} missing")

    # Runs over one epoch each read the stored state most often.
    first = rng.randint(1, last - 1)
    cuts = range(first, min(last, first + SINGLE))
    cut = run_in_cuts(Memory(plan, history, optimized=False), last, cuts)
    compare(f"split invariance with runs up to {[*cuts]}", cut.log())
    if Counter(cut.new_rows(cuts[-1], last)) - Counter(cut.stored()):
        broken.append(f"replay: the run over ({cuts[-1]}, {last}] gives rows that are not stored")
    base = rng.randint(1, last - 1)
    late = Memory(plan, history, optimized=False)
    until = rng.randint(base, last - 1)
    late.run(base - 1, until, initial=True)
    if state(late.log(), base) != state(log, base):
        broken.append(f"registration at epoch {base}: not the state at that epoch")
    late.run(until, last, thresholds=WHOLE)
    after = [row for row in log if row[0] > base]
    rows = [row for row in late.log() if row[0] > base]
    compare(f"registration at {base} up to {until}, then whole-graph reads", rows, after)
    return [f"seed {case.seed}: {case.query} [{case.default_graph}]: {what}" for what in broken]


def _snapshot(case: WholeCase, query: Query, plan: Plan, log: list[LogRow]) -> Iterator[str]:
    """At every epoch the state of the log is the batch evaluation on the dataset at that epoch."""
    columns = [name for name, _ in plan.columns]
    oracle = Oxigraph(case.default_graph)
    for epoch, (change, quads) in enumerate(
        zip(case.history, states(case.history), strict=True), 1
    ):
        answer = comparable(state(log, epoch))
        if case.departure is None:
            oracle.apply(change)
            if answer == comparable(oracle.answer(case.query, columns)):
                continue
        wanted = comparable(reference.rows(query, quads, columns))
        if answer != wanted:
            yield (
                f"snapshot at epoch {epoch}: {answer - wanted} too many, {wanted - answer} missing"
            )
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
