"""Paths of shapes: their text reads back, and what takes no step is split off."""

from __future__ import annotations

import random

import pytest

from weir.shacl.paths import sparql, split
from weir.shacl.report import report_lines
from weir.sparql.algebra.paths import (
    Alternative,
    Closure,
    Inverse,
    Link,
    Path,
    Sequence,
    ZeroOrOne,
    may_have_length_zero,
)


def _random_path(rng: random.Random, depth: int) -> Path:
    if depth == 0:
        return Link(f"<http://x/{rng.choice('pqr')}>")

    def inner() -> Path:
        return _random_path(rng, depth - 1)

    match rng.randrange(6):
        case 0:
            return Inverse(inner())
        case 1:
            return Sequence(inner(), inner())
        case 2:
            return Alternative(inner(), inner())
        case 3:
            return ZeroOrOne(inner())
        case 4:
            return Closure(inner(), rng.randrange(2))
        case _:
            return inner()


def _pairs(path: Path, edges: set[tuple[str, str, str]], nodes: str) -> set[tuple[str, str]]:
    """What a path connects, by its definition."""
    match path:
        case Link(predicate):
            return {(s, o) for s, p, o in edges if p == predicate}
        case Inverse(inner):
            return {(o, s) for s, o in _pairs(inner, edges, nodes)}
        case Sequence(first, second):
            after = _pairs(second, edges, nodes)
            return {(a, d) for a, b in _pairs(first, edges, nodes) for c, d in after if b == c}
        case Alternative(left, right):
            return _pairs(left, edges, nodes) | _pairs(right, edges, nodes)
        case ZeroOrOne(inner):
            return _pairs(inner, edges, nodes) | {(node, node) for node in nodes}
        case Closure(inner, minimum):
            step = _pairs(inner, edges, nodes)
            reached = step | (set() if minimum else {(node, node) for node in nodes})
            while True:
                more = reached | {(a, d) for a, b in reached for c, d in step if b == c}
                if more == reached:
                    return reached
                reached = more
        case _:
            raise AssertionError(path)


@pytest.mark.parametrize("seed", range(200))
def test_a_path_is_its_empty_word_and_the_rest(seed: int) -> None:
    rng = random.Random(seed)
    path = _random_path(rng, 3)
    nodes = "abcd"
    edges = {
        (rng.choice(nodes), f"<http://x/{rng.choice('pqr')}>", rng.choice(nodes)) for _ in nodes
    }
    is_empty, rest = split(path)
    pairs = set() if rest is None else _pairs(rest, edges, nodes)
    empty_word = {(node, node) for node in nodes} if is_empty else set()
    assert pairs | empty_word == _pairs(path, edges, nodes)
    assert rest is None or not may_have_length_zero(rest, both_ends=True)


@pytest.mark.parametrize("seed", range(50))
def test_a_path_in_a_report_has_the_triples_of_its_text(seed: int) -> None:
    path = _random_path(random.Random(seed), 3)
    escaped = sparql(path).replace("\\", "\\\\").replace('"', '\\"')
    term = sparql(path) if isinstance(path, Link) else f'"{escaped}"'
    row = ("<http://x/a>", term, None, None, "<http://x/c>", None, "<http://x/s>", None, None)
    lines = [*report_lines([(row, 1)])]
    leaves = sum(
        "http://x/p" in line or "http://x/q" in line or "http://x/r" in line for line in lines
    )
    assert leaves == sparql(path).count("<http://x/") or isinstance(path, Link)
    assert len(lines) == len({*lines})
