"""Rounds: what is believed of answers, and the graph that follows from rounds alone."""

from __future__ import annotations

import random
from collections import Counter
from datetime import UTC, datetime

from weir.remotes.asking import KeyOutcome
from weir.remotes.key_rows import NEVER, RoundOf, round_rows
from weir.remotes.questions import Block, Key, KeyAnswer, Row, content_of
from weir.remotes.replica_quads import Quad, RowPattern, changes_of
from weir.remotes.rounds import KeyRound, Known, round_of

NOW = datetime(2026, 1, 1, tzinfo=UTC)
BLOCKS = (
    Block("<u:r>", "b", "?x <u:p> ?y", ("x", "y"), frozenset({"x", "y"}), ("x",)),
    Block("<u:r>", "o", "OPTIONAL { ?x <u:p> ?y }", ("x", "y"), frozenset(), ()),
)
Held = dict[tuple[Block, Key], Known]


def outcome(block: Block, key: Key, rows: dict[Row, int] | None) -> KeyOutcome:
    """An answer with these mappings; None: a failure."""
    answer = None if rows is None else KeyAnswer(rows, content_of(rows))
    status = "failed" if answer is None else "answered"
    return KeyOutcome(block, key, status, answer, NOW, NOW, "r")  # type: ignore[arg-type]


def after(held: Held, key_rounds: tuple[KeyRound, ...]) -> Held:
    """What is known after a round."""
    return held | {
        (key_round.block, key_round.key): Known(
            key_round.rows, key_round.content, key_round.status == "suspect"
        )
        for key_round in key_rounds
    }


def played(held: Held, outcomes: list[KeyOutcome]) -> tuple[KeyRound, ...]:
    return round_of(outcomes, lambda block, key: held.get((block, key), Known({})))


def changes(key_rounds: tuple[KeyRound, ...]) -> list[tuple[bool, Quad]]:
    """How the graph changes by the rows of a round."""
    rows = round_rows(RoundOf(1, NOW, "run"), [(key_round, NEVER) for key_round in key_rounds])
    patterns = {
        block.pattern: RowPattern(block.remote, block.pattern, not block.certain)
        for block in BLOCKS
    }
    return [*changes_of(rows, patterns)]


def test_the_graph_has_a_node_for_each_mapping_and_multiplicity_after_any_rounds() -> None:
    for seed in range(200):
        rng = random.Random(seed)
        pool: list[Row] = [(("x", "<u:a>"), ("y", f'"{i}"')) for i in range(4)]
        keys: list[tuple[Block, Key]] = [(BLOCKS[0], (f"<u:{i}>",)) for i in range(3)]
        keys.append((BLOCKS[1], ()))
        held: Held = {}
        graph: set[Quad] = set()
        for _ in range(6):
            outcomes = []
            for block, key in rng.sample(keys, rng.randint(1, 4)):
                some = rng.sample([*pool, ()], rng.randint(0, 3)) if not block.key else []
                if block.key:
                    some = [(("x", key[0]), row[1]) for row in rng.sample(pool, rng.randint(0, 3))]
                rows = {row: rng.randint(1, 3) for row in some}
                outcomes.append(outcome(block, key, None if rng.random() < 0.2 else rows))
            key_rounds = played(held, outcomes)
            for appears, quad in changes(key_rounds):
                assert (quad in graph) is not appears, seed
                (graph.add if appears else graph.remove)(quad)
            held = after(held, key_rounds)
        rows_in_graph: Counter[str] = Counter()
        terms: dict[str, set[tuple[str, str]]] = {}
        for _, row, predicate, term in graph:
            terms.setdefault(row, set()).add((predicate.rpartition("#")[2][:-1], term))
        for pairs in terms.values():
            rows_in_graph[repr(sorted(pair for pair in pairs if pair[0]))] += 1
        expected: Counter[str] = Counter()
        for known in held.values():
            for mapping, times in known.rows.items():
                expected[repr(sorted(mapping))] += times
        assert rows_in_graph == expected, seed


def test_an_answer_that_is_as_before_changes_nothing() -> None:
    rows: dict[Row, int] = {(("x", "<u:a>"), ("y", '"1"')): 2}
    first = played({}, [outcome(BLOCKS[0], ("<u:a>",), rows)])
    held = after({}, first)
    again = played(held, [outcome(BLOCKS[0], ("<u:a>",), dict(rows))])
    assert [key_round.status for key_round in (*first, *again)] == ["changed", "unchanged"]
    assert not changes(again)


def test_an_empty_answer_is_an_answer_and_changes_nothing() -> None:
    first = played({}, [outcome(BLOCKS[0], ("<u:a>",), {})])
    # No mapping of it is another one.
    assert (first[0].status, first[0].content) == ("unchanged", content_of({}))
    assert not changes(first)


def test_a_failure_keeps_the_rows_of_the_key() -> None:
    rows: dict[Row, int] = {(("x", "<u:a>"), ("y", '"1"')): 1}
    held = after({}, played({}, [outcome(BLOCKS[0], ("<u:a>",), rows)]))
    (failed,) = played(held, [outcome(BLOCKS[0], ("<u:a>",), None)])
    assert (failed.status, failed.rows) == ("failed", rows)


def test_a_sudden_loss_is_believed_when_a_second_evaluation_says_the_same() -> None:
    keys: list[Key] = [(f"<u:{i}>",) for i in range(10)]
    full = [outcome(BLOCKS[0], key, {(("x", key[0]), ("y", '"1"')): 1}) for key in keys]
    held = after({}, played({}, full))
    lost = [outcome(BLOCKS[0], key, {}) for key in keys[:6]] + full[6:]
    first = played(held, lost)
    assert [key_round.status for key_round in first] == ["suspect"] * 6 + ["unchanged"] * 4
    assert not changes(first)
    second = played(after(held, first), lost)
    assert [key_round.status for key_round in second] == ["gone"] * 6 + ["unchanged"] * 4
    assert len(changes(second)) == 12


def test_the_loss_of_half_of_the_keys_or_of_few_keys_is_believed() -> None:
    keys: list[Key] = [(f"<u:{i}>",) for i in range(10)]
    full = [outcome(BLOCKS[0], key, {(("x", key[0]), ("y", '"1"')): 1}) for key in keys]
    held = after({}, played({}, full))
    half = [outcome(BLOCKS[0], key, {}) for key in keys[:5]] + full[5:]
    assert {key_round.status for key_round in played(held, half)[:5]} == {"gone"}
    few = [outcome(BLOCKS[0], key, {}) for key in keys[:9]]
    assert {key_round.status for key_round in played(held, few)} == {"gone"}
