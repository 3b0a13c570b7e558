"""The laws of queries with SERVICE: at every epoch the answer over the mappings of the replicas."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tests.support.generators.basic_cases import Quad
from tests.support.harness import WHOLE, LogRow, Memory, run_in_cuts, state
from tests.support.oracles import reference
from tests.support.oracles.answers import Row, comparable
from tests.support.oracles.histories import states
from tests.support.oracles.oxigraph import Oxigraph
from tests.support.services.cases import Bag, ServiceCase, pushed_case
from weir.plan.lower import lower
from weir.plan.operators import PlanNode
from weir.plan.plan import Plan
from weir.sparql.algebra.services import pattern_id
from weir.sparql.frontend.translate import translate


def broken_laws(case: ServiceCase) -> list[str]:
    """Which laws a case breaks, and how; none if all hold.

    A third of the cases is also registered at a later epoch, and reads the graph whole from then.
    """
    plan = lower(translate(case.query, case.default_graph), allow_product=True)  # type: ignore[arg-type]
    rng = random.Random(case.seed)
    last = len(case.history)
    cuts = sorted(rng.sample(range(1, last), rng.choice((1, 2))))
    cut = run_in_cuts(Memory(plan, case.history, optimized=False), last, cuts)
    broken = [*_snapshots(case, plan, cut)]
    if case.seed % 3 == 0:
        log, base = cut.log(), rng.randint(1, last - 1)
        late = Memory(plan, case.history, optimized=False)
        until = rng.randint(base, last - 1)
        late.run(base - 1, until, initial=True)
        late.run(until, last, thresholds=WHOLE)
        if [row for row in late.log() if row[0] > base] != [row for row in log if row[0] > base]:
            broken.append(f"registration at {base}: other deltas than with runs up to {cuts}")
    return _shown(case, broken)


def broken_laws_of_pushing(case: ServiceCase) -> list[str]:
    """Which laws a case breaks if remotes are given filters, and how; none if all hold.

    The answer is that over the mappings that pass, and that without. If there is no filter to give,
    nothing is computed.
    """
    plain = lower(translate(case.query, case.default_graph), allow_product=True)  # type: ignore[arg-type]
    given, query = pushed_case(case)
    if given.services == case.services:
        return []
    plan = lower(query, allow_product=True)
    cuts = sorted(random.Random(case.seed).sample(range(1, len(case.history)), 1))
    cut = run_in_cuts(Memory(plan, given.history, optimized=False), len(given.history), cuts)
    broken = [*_snapshots(given, plan, cut)]
    log = cut.log()
    log_without = run_in_cuts(
        Memory(plain, case.history, optimized=False), len(case.history), []
    ).log()
    for epoch in range(1, len(case.history) + 1):
        one, other = comparable(state(log, epoch)), comparable(state(log_without, epoch))
        if one != other:
            broken.append(f"epoch {epoch}: {one - other} too many, {other - one} missing")
            break
    return _shown(case, broken)


def _shown(case: ServiceCase, broken: Iterable[str]) -> list[str]:
    return [f"seed {case.seed}: {case.query} [{case.default_graph}]: {what}" for what in broken]


def _snapshots(case: ServiceCase, plan: Plan, memory: Memory) -> Iterator[str]:
    """At every epoch the answer is that over all mappings, and over those that are asked for."""
    columns = [name for name, _ in plan.columns]
    oxigraph, log = Oxigraph(case.default_graph), memory.log()
    keys = {pattern: _Keys.of(plan, node, memory) for pattern, node in plan.asked}
    for epoch, (change, quads) in enumerate(zip(case.own, states(case.own), strict=True), 1):
        oxigraph.apply(change)

        bags = {block: by_epoch[epoch - 1] for block, by_epoch in case.bags.items()}
        answer = comparable(state(log, epoch))
        wanted = _answer(case, bags, oxigraph, quads, columns, answer)
        if answer != wanted:
            yield f"epoch {epoch}: {answer - wanted} too many, {wanted - answer} missing"
            return
        asked = {
            block: keys[pattern_id(service)].asked(service.key, bags[block], epoch)
            for block, service in case.services.items()
            if service.key
        }
        if _answer(case, bags | asked, oxigraph, quads, columns, wanted) != wanted:
            yield f"epoch {epoch}: the answer needs mappings that are not asked for"
            return


def _answer(
    case: ServiceCase,
    bags: dict[str, Bag],
    oxigraph: Oxigraph,
    quads: Iterable[Quad],
    columns: Sequence[str],
    claimed: Counter[Row],
) -> Counter[Row]:
    """The answer by an oracle, with these mappings in the place of blocks.

    As in `grammar_laws`, the reference evaluator decides if pyoxigraph's is not the claimed one.
    """
    text = case.text(bags)
    if case.departure is None and comparable(oxigraph.answer(text, columns)) == claimed:
        return claimed
    query = translate(text, case.default_graph)  # type: ignore[arg-type]
    return comparable(reference.rows(query, quads, columns))


@dataclass(frozen=True)
class _Keys:
    """The keys that a block asks for: the log of their node, and the place of each variable."""

    log: list[LogRow]
    places: dict[str, int]

    @classmethod
    def of(cls, plan: Plan, node: PlanNode, memory: Memory) -> _Keys:
        numbers = [int(column[1:]) for column in node.variables]
        return cls(memory.log(plan.ids[node]), {plan.names[i]: i for i in numbers})

    def asked(self, key: tuple[str, ...], bag: Bag, epoch: int) -> Bag:
        """The mappings with a key that is asked for at an epoch."""
        known = {tuple(row[self.places[name]] for name in key) for row in state(self.log, epoch)}
        answered: Bag = Counter()
        for mapping, number in bag.items():
            terms = dict(mapping)
            if tuple(terms[name] for name in key) in known:
                answered[mapping] = number
        return answered
