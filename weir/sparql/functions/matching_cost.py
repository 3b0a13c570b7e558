"""How long backtracking may take: a bound on the steps of a search by Python's `re`.

The cost of a pattern at a position, if the patterns after it take `k` steps:

    a character                  1 + k
    ab                           cost(a, cost(b, k))
    a|b                          1 + cost(a, k) + cost(b, k)
    a?                           1 + cost(a, k) + k
    a{m,}, a has one way         (n / width of a + 1) (cost(a, 0) + k)
    a{m,}, a has several ways    cost(a, cost(a, ... + k) + k), as many times as a text allows

A search tries every position of a text of `n` characters. The bound is exponential for patterns for
which `re` may be: `(a+)+$`.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

sre: Any = import_module("re._constants")
_parser: Any = import_module("re._parser")
_compiler: Any = import_module("re._compiler")

STEPS = 10_000_000
"""This number of steps takes less than a second."""
_LONGEST = 1 << 24
_REPEATS = frozenset({sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT})
_ONE_CHARACTER = frozenset({sre.LITERAL, sre.NOT_LITERAL, sre.ANY, sre.IN, sre.CATEGORY})


def parsed(text: str, flags: int) -> Any:
    """The syntax tree of a pattern of Python.

    Raises:
        re.error: it is not a pattern.
    """
    return _parser.parse(text, flags)


def compiled(tree: Any) -> re.Pattern[str]:
    """The pattern of a syntax tree.

    Raises:
        re.error: it cannot be compiled.
    """
    pattern: re.Pattern[str] = _compiler.compile(tree)
    return pattern


def short_length(tree: Any) -> int:
    """A length of texts up to which a search takes at most `STEPS`; 0 if there is none.

    Args:
        tree: the syntax tree of the pattern, from `parsed`.
    """
    length = 0
    following = 4
    while following <= _LONGEST and _search(tree, following) <= STEPS:
        length = following
        following *= 2
    return length


def _search(tree: Any, n: int) -> float:
    items = [*tree]
    # A pattern that begins with an anchor fails at once at all other positions.
    is_at_start = bool(items) and items[0] == (sre.AT, sre.AT_BEGINNING)
    positions = 1 if is_at_start else n + 1
    return n + positions * _sequence(items, n, 1.0)


def _sequence(items: list[Any], n: int, after: float) -> float:
    cost = after
    for item in reversed(items):
        cost = _cost(item, n, cost)
        if cost > STEPS:
            return cost
    return cost


def _cost(item: Any, n: int, after: float) -> float:
    kind, value = item
    if kind in _ONE_CHARACTER or kind is sre.AT:
        return 1 + _size(item) + after
    if kind is sre.SUBPATTERN:
        return _sequence([*value[-1]], n, after)
    if kind is sre.BRANCH:
        return 1 + sum(_sequence([*branch], n, after) for branch in value[1])
    if kind in _REPEATS:
        least, most, inner = value
        return _repeat(least, most, inner, n, after)
    if kind is sre.GROUPREF:
        return 1 + n + after
    if kind is sre.GROUPREF_EXISTS:
        _, yes, no = value
        return 1 + _sequence([*yes], n, after) + _sequence([*(no or ())], n, after)
    if kind in (sre.ASSERT, sre.ASSERT_NOT):
        return 1 + _sequence([*value[1]], n, 1.0) + after
    return float("inf")


def _repeat(least: int, most: int, inner: Any, n: int, after: float) -> float:
    items = [*inner]
    narrowest, _ = inner.getwidth()
    if most == 1:
        return 1 + _sequence(items, n, after) + (after if least == 0 else 0)
    # An iteration that matches the empty text ends the repetition.
    times = min(most, max(least, n // narrowest if narrowest else 2 * n) + 1)
    if _has_one_way(items):
        return (times + 1) * (_sequence(items, n, 0.0) + after)
    cost = after
    for _ in range(times):
        cost = 1 + _sequence(items, n, cost) + after
        if cost > STEPS:
            break
    return cost


def _has_one_way(items: list[Any]) -> bool:
    """Whether there is at most one way to match at a position."""
    return all(_is_one_way(item) for item in items)


def _is_one_way(item: Any) -> bool:
    kind, value = item
    if kind is sre.SUBPATTERN:
        return _has_one_way([*value[-1]])
    if kind in _REPEATS:
        least, most, inner = value
        return bool(least == most) and _has_one_way([*inner])
    return kind in _ONE_CHARACTER or kind in (
        sre.AT,
        sre.GROUPREF,
        sre.ASSERT,
        sre.ASSERT_NOT,
    )


def _size(item: Any) -> float:
    """The further steps that matching one character takes: one per eight ranges of its class."""
    kind, value = item
    return len(value) / 8 if kind is sre.IN else 0.0
