"""Answers about patterns that no query has any more: after a time they leave the graph.

A pattern whose query is edited or removed is another one, or none. Its answers are kept for a while
(`keep_unused`): the query may come back. Then a round says of its keys that they are `dropped`: as
if they had never been asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from weir.compute.engine import Engine
from weir.compute.sql import ascending, column, columns, is_not_null, one_of, rows_of, select
from weir.lake.instants import microseconds
from weir.remotes.candidates import Place
from weir.remotes.declarations import Remote
from weir.remotes.inbox import RoundMark
from weir.remotes.key_rows import KEY, MAPPING, History, RoundOf, mapping_text
from weir.remotes.known_keys import KnownKeys
from weir.remotes.rounds import DROPPED, KeyRound
from weir.sparql.frontend.rspql.durations import parse_duration

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
    found = dict(last.answered) if last is not None else {}
    for each in key_rounds:
        if each.status in ("changed", "unchanged", "gone"):
            pattern, at = each.block.pattern, microseconds(each.answered_at)
            found[pattern] = max(found.get(pattern, at), at)
    if len(dropped) < AT_ONCE:
        for pattern in unused:
            found.pop(pattern, None)
    return found


def dropped_rows(round_: RoundOf, dropped: Mapping[Place, History]) -> Iterator[dict[str, Any]]:
    """The rows of a round that drop keys.

    Args:
        round_: the round.
        dropped: the keys with what is known of them.
    """
    for (pattern, key), history in dropped.items():
        common = {
            "round": round_.number,
            "evaluation": round_.evaluation,
            "pattern": pattern,
            "key": key,
            "run_id": round_.run_id,
        }
        yield common | {
            "part": KEY,
            "status": DROPPED,
            "rows": 0,
            "rows_round": round_.number,
            "failures": 0,
            "answers": 0,
            "changes": 0,
            "seconds": 0.0,
            "sampled": False,
            "previous_at": history.answered_at,
        }
        for row, multiplicity in history.known.rows.items():
            yield common | {
                "part": MAPPING,
                "mapping": mapping_text(row),
                "before": multiplicity,
                "multiplicity": 0,
            }
