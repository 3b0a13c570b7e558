"""The law of programs that give a graph: their triples are what the rules derive, at each epoch."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from math import inf
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.support.generators.basic_cases import PREFIX, Quad, Triple
from tests.support.harness import History, run_in_cuts, state
from tests.support.laws import Seeds
from tests.support.oracles.histories import states
from tests.support.rules.graph_memory import ProgramMemory, SparkProgramMemory
from tests.support.rules.graph_programs import (
    GraphProgramCase,
    derived_triples,
    graph_program_case,
)
from weir.definitions.graph_program import GraphProgramBody
from weir.definitions.kinds import PROGRAM
from weir.definitions.names import Declaration
from weir.definitions.program import read
from weir.rules import epochs, held_atoms


def body_of_text(text: str) -> GraphProgramBody:
    file = Path("programs/rules.lars")
    body = read(Declaration("rules", PROGRAM, file), text.encode()).body
    assert isinstance(body, GraphProgramBody)
    return body


@pytest.mark.law("programs over epochs")
def test_the_triples_are_those_that_the_rules_derive_at_each_epoch(
    monkeypatch: pytest.MonkeyPatch, seeds: Seeds
) -> None:
    """However much is derived again, what changes may concern or all, and however much is read."""

    def broken_laws(seed: int) -> Iterator[str]:
        case = graph_program_case(seed)
        last, rng = len(case.history), random.Random(seed)
        cuts = sorted(rng.sample(range(1, last + 1), min(last, 3)))
        body, logs = body_of_text(case.text), {}
        few, most_keys = rng.choice((0, 2, 5)), rng.choice((0, 1, 2, 50_000))
        for most, at, least in (
            (inf, cuts, inf),
            (-1, cuts, inf),
            (inf, [1], 0),
            (inf, cuts, 0),
            (0.5, [*range(1, last)], 0),
        ):
            monkeypatch.setattr(epochs, "MOST_TOUCHED", most)
            monkeypatch.setattr(held_atoms, "LEAST", least)
            monkeypatch.setattr(held_atoms, "FEW", few)
            monkeypatch.setattr(held_atoms, "MOST_KEYS", most_keys)
            memory = ProgramMemory(body, case.history)
            logs[most, least, len(at)] = run_in_cuts(memory, last, at).log()
        first, *others = logs.values()
        if any(other != first for other in others):
            yield f"{seed}: other changes: {case.text}"
        yield from _broken(case, first)

    seeds.check(broken_laws)


def _broken(
    case: GraphProgramCase, log: Sequence[tuple[int, int, tuple[str | None, ...]]]
) -> Iterator[str]:
    for epoch, expected in enumerate(_expected(case), 1):
        if (computed := state(log, epoch)) != dict.fromkeys(expected, 1):
            yield (
                f"{case.seed}: {case.text} epoch {epoch}: {{*computed}} for {expected}: "
                f"{ {*computed} - expected } too many, {expected - {*computed}} missing"
            )
            return


def _expected(case: GraphProgramCase) -> Iterator[set[Triple]]:
    for quads in states(case.history):
        yield derived_triples(case, {(s, p, o) for _, s, p, o in quads})


@pytest.mark.law("programs over epochs on Spark")
def test_spark_stores_the_rows_that_duckdb_stores_of_a_program(
    quick_spark: SparkSession, monkeypatch: pytest.MonkeyPatch, seeds: Seeds
) -> None:
    monkeypatch.setattr(epochs, "MOST_TOUCHED", inf)
    for seed in seeds:
        case = graph_program_case(seed)
        body, last = body_of_text(case.text), len(case.history)
        cut = random.Random(seed).randint(1, last)
        by_duckdb = run_in_cuts(ProgramMemory(body, case.history), last, (cut,))
        by_spark = run_in_cuts(SparkProgramMemory(quick_spark, body, case.history), last, (cut,))
        assert by_spark.stored() == by_duckdb.stored()


def _edges(text: str) -> frozenset[Quad]:
    nodes = {name: f"<{PREFIX}{name}>" for name in (*text, "p")}
    return frozenset(("", nodes[edge[0]], nodes["p"], nodes[edge[1]]) for edge in text.split())


REACH = f"""%+ graph: urn:d:reach
%+ prefixes: {{"": "{PREFIX}"}}
reach(X,Y) <- p(X,Y).
reach(X,Z) <- reach(X,Y), p(Y,Z).
"""


def test_the_deleted_edge_of_a_cycle_takes_back_what_followed_by_it_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Conclusions of a cycle support each other; no count of derivations would notice."""
    monkeypatch.setattr(epochs, "MOST_TOUCHED", inf)
    nothing = frozenset[Quad]()
    history: History = ((nothing, _edges("ab bc ca xy")), (_edges("bc"), nothing))
    log = run_in_cuts(ProgramMemory(body_of_text(REACH), history), 2, (1,)).log()
    left = {"".join(str(term).split("/")[-1][0] for term in row[::2]) for row in state(log, 2)}
    assert left == {"ab", "ca", "cb", "xy"}
    assert sum(weight for epoch, weight, _ in log if epoch == 2) == -6


def test_what_changes_do_not_concern_is_not_derived_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(epochs, "MOST_TOUCHED", inf)
    nothing = frozenset[Quad]()
    history: History = ((nothing, _edges("ab bc xy yz zw")), (nothing, _edges("cd")))
    memory = ProgramMemory(body_of_text(REACH), history)
    memory.run(0, 1)
    with memory.running(1, 2):
        tables = memory.connection.execute(
            "SELECT DISTINCT name FROM (SHOW ALL TABLES) WHERE name LIKE 'q_again%new%'"
        ).fetchall()
        rows = {name: memory.engine.count(name) for (name,) in tables}
    # d is reached from a, b and c; as atoms of the rules, then as triples.
    assert sum(rows.values()) == 2 * 3


def test_programs_derive_triples_that_change() -> None:
    """A generator whose programs derive nothing would make the law pass."""
    changed = 0
    for seed in range(60):
        answers = [*_expected(graph_program_case(seed))]
        changed += len({frozenset(answer) for answer in answers}) > 1
    assert changed > 30


_HEAD = f'%+ graph: urn:d:g\n%+ prefixes: {{"": "{PREFIX}"}}\n'
_A, _B, _P, _Q = (f"<{PREFIX}{name}>" for name in "abpq")
_AB, _AB_Q = frozenset([("", _A, _P, _B)]), frozenset([("", _A, _Q, _B)])


@pytest.mark.parametrize(
    ("rules", "history", "counts"),
    [
        (
            "l(X,Y) <- p(X,Y), not q(X,Y).",
            [(frozenset(), _AB), (frozenset(), _AB_Q), (_AB_Q, frozenset())],
            [1, 0, 1],
        ),
        (
            "l(X,Y) <- p(X,Y).\nl(X,Z) <- l(X,Y), l(Y,Z).",
            [(frozenset(), _edges("xy")), (frozenset(), _edges("ab bc"))],
            [1, 4],
        ),
        (
            "l(Y,X) <- p(X,Y).",
            [(frozenset(), _AB), (frozenset(), frozenset([("", _A, _P, '"a literal"')]))],
            [1, 1],
        ),
    ],
    ids=["a negated atom changes", "two atoms of a body are new", "a literal is no subject"],
)
def test_each_epoch_has_what_follows_then(
    monkeypatch: pytest.MonkeyPatch, rules: str, history: History, counts: list[int]
) -> None:
    monkeypatch.setattr(epochs, "MOST_TOUCHED", inf)
    last = len(history)
    log = run_in_cuts(ProgramMemory(body_of_text(_HEAD + rules), history), last, range(1, last))
    assert [len(state(log.log(), epoch)) for epoch in range(1, last + 1)] == counts


def _quads(text: str) -> frozenset[Quad]:
    """Triples of names, as `apb bqc`."""
    iris = (tuple(f"<{PREFIX}{name}>" for name in triple) for triple in text.split())
    return frozenset(("", s, p, o) for s, p, o in iris)


_COPIES = "l(X,Y) <- p(X,Y).\nm(X,Y) <- q(X,Y).\ns(X) <- p(X,Y).\nd(X,u,Y) <- p(X,Y).\n"


@pytest.mark.parametrize(
    ("rule", "base", "new"),
    [
        ("e(X,Z) <- r(X,Y), l(Y,Z).", "bpc", "arb"),
        ("e(X,Z) <- l(X,Y), r(Y,Z).", "apb", "brc"),
        ("e(X,Y) <- s(X), r(X,Y).", "apb", "arc"),
        ("e(X,Z) <- d(X,P,Y), r(Y,Z).", "apb", "brc"),
        ("e(X,Z) <- r(X,Y), d(Y,u,Z).", "bpc", "arb"),
        ("e(X,W) <- r(X,Y), l(Y,Z), m(Z,W).", "bpc cqd", "arb"),
        ("e(X,Z) <- l(X,Y), r(Z,V).", "apb", "crd"),
    ],
    ids=["first", "second", "only", "object", "subject", "over another", "all"],
)
def test_atoms_of_a_large_state_are_looked_up_by_what_bodies_share(
    monkeypatch: pytest.MonkeyPatch, rule: str, base: str, new: str
) -> None:
    """Beside others, which do not match; what was there comes back after a deletion."""
    for name, value in (("LEAST", 0), ("FEW", 0)):
        monkeypatch.setattr(held_atoms, name, value)
    monkeypatch.setattr(epochs, "MOST_TOUCHED", inf)
    nothing, first = frozenset[Quad](), next(iter(sorted(_quads(base))))
    others = nothing if rule.count("V") else _quads("xpy yqz")
    history: History = (
        (nothing, _quads(base) | others),
        (nothing, _quads(new)),
        (frozenset([first]), nothing),
        (nothing, frozenset([first])),
    )
    body = body_of_text(f"{_HEAD}%+ output: [e]\n{_COPIES}{rule}")
    log = run_in_cuts(ProgramMemory(body, history), 4, (1, 2, 3)).log()
    assert [len(state(log, epoch)) for epoch in range(1, 5)] == [0, 1, 0, 1]


def test_what_was_read_whole_stays_whole_beside_what_is_looked_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In one round, a rule wants few triples by their subject, and another many by their object."""
    for name, value in (("LEAST", 0), ("FEW", 0), ("MOST_KEYS", 1)):
        monkeypatch.setattr(held_atoms, name, value)
    monkeypatch.setattr(epochs, "MOST_TOUCHED", inf)
    rules = "l(X,Y) <- p(X,Y).\ne(X,Z) <- r(X,Y), p(Y,Z).\nf(X,Z) <- q(X,Y), p(Z,Y)."
    nothing = frozenset[Quad]()
    history: History = ((nothing, _quads("bpc dpe fpg")), (nothing, _quads("arb xqe yqg")))
    body = body_of_text(f"{_HEAD}%+ output: [e, f]\n{rules}")
    log = run_in_cuts(ProgramMemory(body, history), 2, (1,)).log()
    assert len(state(log, 2)) == 3
