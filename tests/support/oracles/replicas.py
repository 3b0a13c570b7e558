"""A run of the experiment from its definitions: dictionaries, no arrays, no code of Weir's.

Elections are those of `tests.support.oracles.elections`; only the policies it knows, and no online
change rates (give the intervals).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from tests.support.oracles.elections import Instant, Key, elected


@dataclass(frozen=True)
class History:
    """What happened: (user, t, value), (t, user), and the order of ties; whole seconds."""

    followers: Sequence[tuple[str, int, int]]
    mentions: Sequence[tuple[int, str]]
    ties: Mapping[str, int]


@dataclass(frozen=True)
class Evaluated:
    """What one evaluation gave."""

    answer: frozenset[str]
    oracle: frozenset[str]
    distance: Fraction
    used: int
    stale: int


def simulated(
    history: History,
    written: tuple[str, Mapping[str, object]],
    budget: int,
    window: int,
    filled_at: int,
    evaluations: int,
    intervals: Mapping[str, int | None],
    threshold: int,
) -> list[Evaluated]:
    """One evaluation a minute after `filled_at`, when the replica had all values of that time."""
    users = sorted({user for user, _, _ in history.followers})
    replica = {user: _value(history, user, filled_at) for user in users}
    asked = dict.fromkeys(users, filled_at)
    evaluated = []
    for number in range(1, evaluations + 1):
        at = filled_at + 60 * number
        seen = {
            user: max(t for t, who in history.mentions if who == user and at - window < t <= at)
            for user in users
            if any(who == user and at - window < t <= at for t, who in history.mentions)
        }
        keys = [
            Key(
                user,
                asked[user],
                seen[user],
                intervals[user],
                (abs(replica[user] - threshold),),
                history.ties[user],
            )
            for user in seen
        ]
        chosen = elected(*written, keys, Instant(at, window, 60), budget)
        for user in chosen:
            replica[user], asked[user] = _value(history, user, at), at
        answer = frozenset(user for user in seen if replica[user] > threshold)
        oracle = frozenset(user for user in seen if _value(history, user, at) > threshold)
        either = len(answer | oracle)
        distance = 1 - Fraction(len(answer & oracle), either) if either else Fraction(0)
        stale = sum(replica[user] != _value(history, user, at) for user in seen)
        evaluated.append(Evaluated(answer, oracle, distance, len(chosen), stale))
    return evaluated


def _value(history: History, user: str, at: int) -> int:
    """The latest value of a snapshot strictly before an instant."""
    return max((t, value) for who, t, value in history.followers if who == user and t < at)[1]
