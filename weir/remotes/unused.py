"""Answers about patterns that no query has any more: after a time they leave the graph.

A pattern whose query is edited or removed is another one, or none. Its answers are kept for a while
(`keep_unused`): the query may come back. Then a round says of its keys that they are `dropped`: as
if they had never been asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime

from weir.compute.engine import Engine
from weir.compute.sql import ascending, column, columns, is_not_null, one_of, rows_of, select
from weir.lake.instants import microseconds
from weir.remotes.candidates import Place
from weir.remotes.declarations import Remote
from weir.remotes.known_keys import KnownKeys
from weir.remotes.replica_inbox import RoundMark
from weir.remotes.rounds import KeyRound
from weir.text.durations import parse_duration

AT_ONCE = 10_000
"""Keys that one round drops at most."""


def unused_patterns(
    remote: Remote, last: RoundMark | None, asked: Collection[str], now: datetime
) -> list[str]:
    """The patterns whose answers are to be dropped.

    Args:
        remote: says how long they are kept.
        last: the newest round.
        asked: the patterns that queries have.
        now: the time.
    """
    if last is None:
        return []
    before = microseconds(now) - parse_duration(remote.keep_unused)
    return sorted(
        pattern for pattern, at in last.answered.items() if pattern not in asked and at <= before
    )


def unused_keys(engine: Engine, known: KnownKeys, patterns: Collection[str]) -> list[Place]:
    """Keys of patterns that are to be dropped, the first `AT_ONCE`."""
    if not patterns:
        return []
    query = select(
        *columns(("pattern", "key"), "k"),
        from_=rows_of(known.keys, "k"),
        where=[
            one_of(column("pattern", "k"), sorted(patterns)),
            # One that was dropped before has no answer.
            is_not_null(column("answered_at", "k")),
        ],
        order_by=[*map(ascending, columns(("pattern", "key"), "k"))],
        limit=AT_ONCE,
    )
    return [(str(pattern), str(key)) for pattern, key in engine.rows(query)]


def answered_patterns(
    last: RoundMark | None,
    key_rounds: Iterable[KeyRound],
    unused: Collection[str],
    dropped: Collection[Place],
) -> dict[str, int]:
    """By pattern that has answers after a round, when the newest one came.

    Args:
        last: the round before.
        key_rounds: what the round says of the keys that were asked for.
        unused: the patterns that are to be dropped.
        dropped: the keys of them that the round drops.
    """
    answered = dict(last.answered) if last is not None else {}
    for key_round in key_rounds:
        if key_round.is_taken:
            pattern, at = key_round.block.pattern, microseconds(key_round.answered_at)
            answered[pattern] = max(answered.get(pattern, at), at)
    if len(dropped) < AT_ONCE:
        for pattern in unused:
            answered.pop(pattern, None)
    return answered
