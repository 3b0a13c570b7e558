"""The budget of one evaluation: reserved before a request is sent, settled when it has ended.

What was reserved and not settled, because the run died, counts as spent. So an evaluation may spend
less than its budget, and never more, however often it is begun again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

Phase = Literal["reserved", "settled"]


@dataclass(frozen=True, slots=True)
class Amount:
    """An amount of requests, keys, bytes on the wire, and seconds."""

    requests: int = 0
    keys: int = 0
    bytes: int = 0
    seconds: float = 0.0

    def __add__(self, other: Amount) -> Amount:
        return Amount(
            self.requests + other.requests,
            self.keys + other.keys,
            self.bytes + other.bytes,
            self.seconds + other.seconds,
        )

    def less(self, other: Amount) -> Amount:
        """The amount less another one; a unit that is overspent becomes 0."""
        return Amount(
            max(self.requests - other.requests, 0),
            max(self.keys - other.keys, 0),
            max(self.bytes - other.bytes, 0),
            max(self.seconds - other.seconds, 0.0),
        )

    def covers(self, other: Amount) -> bool:
        """Whether the amount is at least as much as another one in every unit."""
        return other.less(self) == Amount()


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of `requests`, as far as it concerns the budget."""

    request_id: str
    phase: Phase
    amount: Amount


def spent(entries: Iterable[Entry]) -> Amount:
    """What the requests of an evaluation have spent, as far as that is known; else reserved."""
    reserved: dict[str, Amount] = {}
    settled: dict[str, Amount] = {}
    for entry in entries:
        (settled if entry.phase == "settled" else reserved)[entry.request_id] = entry.amount
    total = Amount()
    for amount in (reserved | settled).values():
        total += amount
    return total


def shares(
    left: Amount, batches: Sequence[int], least_bytes: int, least_seconds: float
) -> list[Amount]:
    """What the next requests may spend at most: as many of them as there is budget for.

    Half of the bytes and seconds that are left are divided equally among the requests: if the run
    is killed, the next one has the other half.

    Args:
        left: of the budget.
        batches: the number of keys of each request, in order.
        least_bytes: a request with less cannot be sent.
        least_seconds: neither can one with less time.
    """
    number = min(
        len(batches),
        left.requests,
        left.bytes // least_bytes,
        int(left.seconds / least_seconds),
    )
    while number and sum(batches[:number]) > left.keys:
        number -= 1
    return [
        Amount(
            1,
            keys,
            max(left.bytes // (2 * number), least_bytes),
            max(left.seconds / (2 * number), least_seconds),
        )
        for keys in batches[:number]
    ]
