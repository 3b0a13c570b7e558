"""Elections with exact fractions, from the definitions of the paper; shares no code with Weir.

A policy is its text and its options. Every order is made by asking, for each candidate, how many
others come before it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, inf

Value = Fraction | float  # floats: infinities only
Before = Callable[["Key", "Key"], bool]


@dataclass(frozen=True)
class Key:
    """A candidate; times and distances are whole numbers."""

    name: str
    asked: int | None
    seen: int | None
    interval: int | None
    distances: tuple[int | None, ...]
    tie: int


@dataclass(frozen=True)
class Instant:
    """An evaluation."""

    at: int
    window: int | None
    slide: int


def elected(
    text: str, options: Mapping[str, object], keys: Sequence[Key], now: Instant, budget: int
) -> list[str]:
    """The names that are elected, in order. Not for RND, whose order is not defined."""
    share = Fraction(str(options.get("first_share", "0.5")))
    never = _sorted(
        [key for key in keys if key.asked is None],
        lambda a, b: (a.tie, -_seen(a), a.name) < (b.tie, -_seen(b), b.name),
    )
    others = ordered(text, options, [key for key in keys if key.asked is not None], now)
    quota = min(budget, max(1, int(share * budget))) if share else 0
    first = never[: max(quota, budget - len(others))]
    return [key.name for key in (first + others[: budget - len(first)])[:budget]]


def ordered(
    text: str, options: Mapping[str, object], keys: Sequence[Key], now: Instant
) -> list[Key]:
    """All keys that the policy would refresh, best first."""
    head, _, kind = text.partition(".")
    if "+" in text and not kind:
        names = text.split("+")
        weights = options.get("weights", dict.fromkeys(names, 1))
        assert isinstance(weights, Mapping)
        return _borda([(Fraction(str(weights[n])), n) for n in names], options, keys, now)
    if kind == "":
        return _alone(head, options, keys, now)
    if kind == "F":
        band = Fraction(str(options["fdt"])) if options["fdt"] != inf else inf
        inside = [key for key in keys if _distance(key) <= band]
        unknown = [key for key in keys if key not in inside and _distance(key) == inf]
        return _alone(head, options, inside, now) + _alone(head, options, unknown, now)
    alpha = Fraction(str(options.get("alpha", "0.2")))
    mode = options.get("mode", "minmax")
    side = options.get("alpha_on", "acqua" if mode == "minmax" else "filter")
    acqua = alpha if side == "acqua" else 1 - alpha
    weighted = [(1 - acqua, "Filter"), (acqua, head)]
    if kind == "F+":
        return _borda(weighted, options, keys, now)
    expired = [key for key in keys if _expired(key, now)]
    fresh = [key for key in keys if not _expired(key, now)]
    rest = _borda(weighted, options, fresh, now) if options.get("fill", True) else []
    return _borda(weighted, options, expired, now) + rest


def _alone(
    name: str, options: Mapping[str, object], keys: Sequence[Key], now: Instant
) -> list[Key]:
    if name != "WBM":
        return _ranked(name, keys, now)
    expired = _ranked(name, [key for key in keys if _expired(key, now)], now)
    fresh = [key for key in keys if not _expired(key, now)]
    by_time = _by(fresh, lambda key: -_until(key))
    return expired + (by_time if options.get("fill", True) else [])


def _ranked(name: str, keys: Sequence[Key], now: Instant) -> list[Key]:
    if name != "WBM":
        return _by(keys, lambda key: _value(name, key, now))

    def before(a: Key, b: Key) -> bool:
        return (-_value(name, a, now), _until(a)) < (-_value(name, b, now), _until(b))

    return _stable(keys, before)


def _borda(
    weighted: Sequence[tuple[Fraction, str]],
    options: Mapping[str, object],
    keys: Sequence[Key],
    now: Instant,
) -> list[Key]:
    having = [(weight, name) for weight, name in weighted if weight]
    if len(having) == 1:
        return _ranked(having[0][1], keys, now)
    scores = {key.name: Fraction(0) for key in keys}
    for weight, name in having:
        if options.get("mode", "minmax") == "positions":
            for place, key in enumerate(_ranked(name, keys, now)):
                scores[key.name] += weight * (len(keys) - place)
        else:
            values = {key.name: _value(name, key, now) for key in keys}
            for key in keys:
                scores[key.name] += weight * _scaled(values[key.name], list(values.values()))
    return _by(keys, lambda key: scores[key.name])


def _scaled(value: Value, values: Sequence[Value]) -> Fraction:
    if min(values) == max(values):
        return Fraction(1)
    finite = [number for number in values if isinstance(number, Fraction)]
    if not isinstance(value, Fraction):
        return Fraction(int(value > 0))
    if min(finite) == max(finite):
        return Fraction(int(max(values) != inf))
    return (value - min(finite)) / (max(finite) - min(finite))


def _value(name: str, key: Key, now: Instant) -> Value:
    if name == "LRU":
        return Fraction(_age(key, now))
    if name == "Filter":
        return -_distance(key)
    assert name == "WBM", name
    return min(_remaining(key, now), _useful(key, now))


def _age(key: Key, now: Instant) -> int:
    assert key.asked is not None
    return max(0, now.at - key.asked)


def _until(key: Key) -> Value:
    assert key.asked is not None
    return inf if key.interval is None else Fraction(key.asked + key.interval)


def _expired(key: Key, now: Instant) -> bool:
    return _until(key) <= now.at


def _remaining(key: Key, now: Instant) -> Value:
    if now.window is None or key.seen is None:
        return inf
    return Fraction(ceil(Fraction(key.seen + now.window - now.at, now.slide)))


def _useful(key: Key, now: Instant) -> Value:
    if key.interval is None:
        return inf
    intervals = ceil(Fraction(_age(key, now), key.interval))
    renewed = now.at - _age(key, now) + intervals * key.interval
    return Fraction(ceil(Fraction(renewed + key.interval - now.at, now.slide)))


def _distance(key: Key) -> Value:
    return min((Fraction(d) for d in key.distances if d is not None), default=inf)


def _seen(key: Key) -> float:
    return inf if key.seen is None else key.seen


def _by(keys: Sequence[Key], value: Callable[[Key], Value]) -> list[Key]:
    return _stable(keys, lambda a, b: value(a) > value(b))


def _stable(keys: Sequence[Key], before: Before) -> list[Key]:
    def first(a: Key, b: Key) -> bool:
        return before(a, b) or (not before(b, a) and (a.tie, a.name) < (b.tie, b.name))

    return _sorted(keys, first)


def _sorted(keys: Sequence[Key], before: Before) -> list[Key]:
    return sorted(keys, key=lambda key: sum(before(other, key) for other in keys))
