"""Rounds as rows of `replicas/<remote>`: what such rows say of a key, and how the graph changes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from weir.remotes.answers import Row
from weir.remotes.policies.change_rate import Observed
from weir.remotes.questions import Key
from weir.remotes.rounds import KeyRound, Known
from weir.remotes.rows import Quad, RowPattern

KEY, MAPPING = "key", "mapping"
"""The parts of a round."""


@dataclass(frozen=True, slots=True)
class History:
    """What earlier rounds found of a key.

    Attributes:
        known: its mappings.
        rows_round: the newest round that has them; None before the first answer.
        first_round: the round of its first answer.
        failures: rounds in a row in which it was not answered.
        observed: its answers; times in seconds since 1970.
        answered_at: when it was last answered.
    """

    known: Known
    rows_round: int | None = None
    first_round: int | None = None
    failures: int = 0
    observed: Observed = field(default_factory=Observed)
    answered_at: datetime | None = None


NEVER = History(Known({}))
"""Of a key that was never asked for."""


@dataclass(frozen=True, slots=True)
class RoundOf:
    """What all rows of a round have: its number, its evaluation, the run."""

    number: int
    evaluation: datetime
    run_id: str


def key_text(key: Key) -> str:
    """A key as tables hold it; terms in N-Triples form have no line breaks."""
    return "\n".join(key)


def key_of(text: str, width: int) -> Key:
    """The key of such a text, of so many variables."""
    return tuple(text.split("\n")) if width else ()


def round_rows(
    round_: RoundOf,
    key_rounds: Iterable[tuple[KeyRound, History]],
    sampled: frozenset[tuple[str, Key]] = frozenset(),
) -> Iterator[dict[str, Any]]:
    """The rows of a round: one per key, and one per mapping of a key whose mappings changed.

    Args:
        round_: the round.
        key_rounds: what it says of each key, with what earlier rounds found.
        sampled: pattern and key of those that were drawn at random.
    """
    for each, history in key_rounds:
        common = {
            "round": round_.number,
            "evaluation": round_.evaluation,
            "pattern": each.block.pattern,
            "key": key_text(each.key),
            "asked_at": each.asked_at,
            "request_id": each.request_id,
            "run_id": round_.run_id,
        }
        is_changed = each.status in ("changed", "gone")
        is_answered = is_changed or each.status == "unchanged"
        observed = history.observed
        if is_answered:
            observed = observed.then(each.answered_at.timestamp(), is_changed)
        yield common | {
            "part": KEY,
            "status": each.status,
            "rows": sum(each.rows.values()),
            "rows_round": round_.number if is_changed else history.rows_round,
            "first_round": history.first_round or (round_.number if is_answered else None),
            "content": each.content or None,
            "failures": 0 if is_answered else history.failures + 1,
            "answers": observed.answers,
            "changes": observed.changed,
            "seconds": observed.seconds,
            "sampled": (each.block.pattern, each.key) in sampled,
            "answered_at": each.answered_at if is_answered else history.answered_at,
            "previous_at": history.answered_at,
            "reason": each.reason or None,
        }
        if is_changed:
            for row in dict.fromkeys((*each.before, *each.rows)):
                yield common | {
                    "part": MAPPING,
                    "mapping": mapping_text(row),
                    "before": each.before.get(row, 0),
                    "multiplicity": each.rows.get(row, 0),
                }


def changes_of(
    rows: Iterable[Mapping[str, Any]], patterns: Mapping[str, RowPattern]
) -> Iterator[tuple[bool, Quad]]:
    """The quads that appear (True) and vanish (False) by a round.

    Args:
        rows: of the round.
        patterns: by id, what the rows of each pattern have.

    Raises:
        KeyError: a row is of another pattern.
    """
    for row in rows:
        if row["part"] != MAPPING:
            continue
        before, after = row["before"], row["multiplicity"]
        ordinals = range(min(before, after) + 1, max(before, after) + 1)
        mapping = dict(mapping_of(row["mapping"]))
        for quad in patterns[row["pattern"]].quads_of(mapping, ordinals):
            yield after > before, quad


def mapping_text(row: Row) -> str:
    """A mapping as a JSON object."""
    return json.dumps(dict(row), ensure_ascii=False, separators=(",", ":"))


def mapping_of(text: str) -> Row:
    """The mapping of such a text."""
    return tuple(sorted(json.loads(text).items()))


def histories(
    keys: Sequence[Mapping[str, Any]], mappings: Iterable[Mapping[str, Any]]
) -> dict[tuple[str, str], History]:
    """What is known of keys, by pattern and text of the key.

    Args:
        keys: the newest row of part `key` of each.
        mappings: their mappings: pattern, key, mapping, multiplicity.
    """
    rows: dict[tuple[str, str], dict[Row, int]] = {}
    for each in mappings:
        found = rows.setdefault((each["pattern"], each["key"]), {})
        found[mapping_of(each["mapping"])] = each["multiplicity"]
    return {
        (each["pattern"], each["key"]): History(
            Known(
                rows.get((each["pattern"], each["key"]), {}),
                each["content"] or "",
                each["status"] == "suspect",
            ),
            each["rows_round"],
            each["first_round"],
            each["failures"],
            _observed(each),
            _in_utc(each["answered_at"]),
        )
        for each in keys
    }


def _in_utc(time: datetime | None) -> datetime | None:
    """A time in UTC; one of Spark is local and has no zone."""
    return None if time is None else time.astimezone(UTC)


def _observed(row: Mapping[str, Any]) -> Observed:
    at = _in_utc(row["answered_at"])
    if at is None:
        return Observed()
    return Observed(at.timestamp(), row["answers"], row["changes"], row["seconds"])
