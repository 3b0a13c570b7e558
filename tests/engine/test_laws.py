"""The laws of the engine on DuckDB, compared with pyoxigraph.

Every law is checked on the same random pairs of a query and a history; a seed names a pair.
"""

from __future__ import annotations

import random
from collections import Counter

import pytest

from tests.support.generators.basic_cases import Case, case
from tests.support.harness import WHOLE, LogRow, Memory, run_in_cuts, state
from tests.support.laws import Seeds
from tests.support.oracles.answers import Row, anonymous
from tests.support.oracles.oxigraph import answers
from weir.plan.lower import lower
from weir.plan.plan import Plan
from weir.sparql.frontend.translate import translate


def plan_of(pair: Case) -> Plan:
    """The plan of a pair's query."""
    return lower(translate(pair.query, pair.default_graph))  # type: ignore[arg-type]


def broken_laws(seed: int) -> list[str]:
    """Which laws the pair of `seed` breaks, and how; none if all hold."""
    pair = case(seed)
    plan, last = plan_of(pair), len(pair.history)
    rng = random.Random(seed)
    at_once = run_in_cuts(Memory(plan, pair.history), last, ())
    log = at_once.log()
    broken = [*_snapshot(pair, plan, log), *_multiplicities(plan, log, last)]
    cuts = sorted(rng.sample(range(1, last + 1), rng.randint(0, min(3, last))))
    cut = run_in_cuts(Memory(plan, pair.history, optimized=False), last, cuts)
    if cut.log() != log:
        broken.append(f"split invariance with runs up to {cuts}: {_difference(cut.log(), log)}")
    whole = run_in_cuts(Memory(plan, pair.history), last, cuts[:1], thresholds=WHOLE)
    if whole.log() != log:
        broken.append(f"neighbourhood: {_difference(whole.log(), log)}")
    base = rng.randint(1, last)
    late = Memory(plan, pair.history, optimized=False)
    until = rng.randint(base, last)
    late.run(base - 1, until, initial=True)
    if until < last:
        late.run(until, last)
    if [row for row in late.log() if row[0] > base] != [row for row in log if row[0] > base]:
        broken.append(f"registration at epoch {base} changes later deltas")
    if state(late.log(), base) != state(log, base):
        broken.append(f"registration at epoch {base}: not the state at that epoch")
    return [f"seed {seed}: {pair.query} [{pair.default_graph}]: {what}" for what in broken]


def _snapshot(pair: Case, plan: Plan, log: list[LogRow]) -> list[str]:
    """At every epoch the state of the log is the batch evaluation on the graph at that epoch."""
    columns = [name for name, _ in plan.columns]
    batch = answers(pair.query, pair.default_graph, pair.history, columns)
    for epoch, expected in enumerate(batch, 1):
        actual: Counter[Row] = anonymous(state(log, epoch))
        if actual != anonymous(expected):
            extra, missing = actual - expected, expected - actual
            return [f"snapshot at epoch {epoch}: {extra} too many, {missing} missing"]
    return []


def _multiplicities(plan: Plan, log: list[LogRow], last: int) -> list[str]:
    """Multiplicities are never negative; those of a set answer are 0 or 1."""
    broken = []
    if len({(epoch, row) for epoch, _, row in log}) != len(log):
        broken.append("a row has two weights in one epoch")
    for epoch in range(1, last + 1):
        counts = state(log, epoch).values()
        if any(count < 0 for count in counts):
            broken.append(f"a negative multiplicity at epoch {epoch}")
        if plan.is_set and any(count != 1 for count in counts):
            broken.append(f"a set answer with multiplicities {sorted(counts)} at epoch {epoch}")
    return broken


def _difference(log: list[LogRow], expected: list[LogRow]) -> str:
    extra = [row for row in log if row not in expected]
    missing = [row for row in expected if row not in log]
    return f"{extra} too many, {missing} missing"


@pytest.mark.law("graph patterns")
def test_random_queries_over_random_histories_keep_the_laws(seeds: Seeds) -> None:
    """Snapshot, split invariance, neighbourhood, multiplicities, and registration at any epoch.

    `python -m tests.support.regressions simple` adds what breaks one.
    """
    seeds.check(broken_laws)


@pytest.mark.usefixtures("sampled")
def test_the_random_queries_are_of_every_kind_and_their_answers_change() -> None:
    """A generator that only makes trivial queries would make every law pass."""
    kinds: Counter[str] = Counter()
    changed = 0
    for seed in range(200):
        pair = case(seed)
        plan = plan_of(pair)
        kinds.update({component.kind for component in plan.components})
        kinds.update({type(node).__name__ for node in plan.stored})
        kinds["filter"] += "FILTER" in pair.query
        changed += len(run_in_cuts(Memory(plan, pair.history), len(pair.history), ()).log()) > 1
    assert changed > 100
    assert all(kinds[kind] >= 5 for kind in ("ground", "simple var-centric star", "Distinct"))
    assert kinds["connected-variable"] >= 50
    assert kinds["filter"] >= 50
