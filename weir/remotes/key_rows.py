"""Rounds as rows of `replicas/<remote>`, and what such rows say of a key."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from weir.remotes.policies.change_rate import Observed
from weir.remotes.questions import Key, Row
from weir.remotes.rounds import DROPPED, KeyRound, Known

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

    def common(self, pattern: str, key: str) -> dict[str, Any]:
        """What all its rows about a key have."""
        return {
            "round": self.number,
            "evaluation": self.evaluation,
            "pattern": pattern,
            "key": key,
            "run_id": self.run_id,
        }


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
    for key_round, history in key_rounds:
        common = round_.common(key_round.block.pattern, key_text(key_round.key)) | {
            "asked_at": key_round.asked_at,
            "request_id": key_round.request_id,
        }
        is_changed, is_answered = key_round.is_changed, key_round.is_taken
        observed = history.observed
        if is_answered:
            observed = observed.then(key_round.answered_at.timestamp(), is_changed)
        yield common | {
            "part": KEY,
            "status": key_round.status,
            "rows": sum(key_round.rows.values()),
            "rows_round": round_.number if is_changed else history.rows_round,
            "first_round": history.first_round or (round_.number if is_answered else None),
            "content": key_round.content or None,
            "failures": 0 if is_answered else history.failures + 1,
            "answers": observed.answers,
            "changes": observed.changed,
            "seconds": observed.seconds,
            "sampled": (key_round.block.pattern, key_round.key) in sampled,
            "answered_at": key_round.answered_at if is_answered else history.answered_at,
            "previous_at": history.answered_at,
            "reason": key_round.reason or None,
        }
        if is_changed:
            for row in dict.fromkeys((*key_round.before, *key_round.rows)):
                yield common | {
                    "part": MAPPING,
                    "mapping": _mapping_text(row),
                    "before": key_round.before.get(row, 0),
                    "multiplicity": key_round.rows.get(row, 0),
                }


def dropped_rows(
    round_: RoundOf, dropped: Mapping[tuple[str, str], History]
) -> Iterator[dict[str, Any]]:
    """The rows of a round that drop keys.

    Args:
        round_: the round.
        dropped: by pattern and text of the key what is known of it.
    """
    for (pattern, key), history in dropped.items():
        common = round_.common(pattern, key)
        yield common | {
            "part": KEY,
            "status": DROPPED,
            "rows_round": round_.number,
            **dict.fromkeys(("rows", "failures", "answers", "changes"), 0),
            "seconds": 0.0,
            "sampled": False,
            "previous_at": history.answered_at,
        }
        for row, multiplicity in history.known.rows.items():
            gone = {"mapping": _mapping_text(row), "before": multiplicity, "multiplicity": 0}
            yield common | {"part": MAPPING, **gone}


def _mapping_text(row: Row) -> str:
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
    for row in mappings:
        of_key = rows.setdefault((row["pattern"], row["key"]), {})
        of_key[mapping_of(row["mapping"])] = row["multiplicity"]
    known = {}
    for row in keys:
        place = row["pattern"], row["key"]
        known[place] = History(
            Known(rows.get(place, {}), row["content"] or "", row["status"] == "suspect"),
            row["rows_round"],
            row["first_round"],
            row["failures"],
            _observed(row),
            _in_utc(row["answered_at"]),
        )
    return known


def _in_utc(time: datetime | None) -> datetime | None:
    """A time in UTC; one of Spark is local and has no zone."""
    return None if time is None else time.astimezone(UTC)


def _observed(row: Mapping[str, Any]) -> Observed:
    at = _in_utc(row["answered_at"])
    if at is None:
        return Observed()
    return Observed(at.timestamp(), row["answers"], row["changes"], row["seconds"])
