"""A round: what one evaluation says of the keys that it asked for.

A round is recorded whole, with the mappings that its keys had before. So it can be ingested without
a look at earlier rounds, and a network answer is never needed twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from weir.remotes.asking import KeyOutcome
from weir.remotes.questions import Block, Key, Row

Status = Literal["changed", "unchanged", "gone", "failed", "suspect", "too_large"]
"""What a round says of a key: other mappings than before, the same ones, no mappings any more, no
answer, an answer that is not believed yet, or more mappings than are taken."""

DROPPED = "dropped"
"""What a round says of a key that it does not ask for: it is as if it had never been asked for
(`weir.remotes.unused`)."""

LOST_KEYS = 10
LOST_SHARE = 0.5
"""If of so many keys with mappings more than this share come back empty, the remote may be loading
its data: nothing is taken until a second evaluation says the same."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a key.

    Attributes:
        rows: its mappings, each with its multiplicity.
        content: of them (`weir.remotes.questions.content_of`); empty if it was never answered.
        is_suspect: whether the evaluation before found it empty and was not believed.
    """

    rows: Mapping[Row, int]
    content: str = ""
    is_suspect: bool = False


@dataclass(frozen=True, slots=True)
class KeyRound:
    """What a round says of a key.

    Attributes:
        block: that was asked for.
        key: the key.
        status: what is said.
        before: its mappings before the round.
        rows: its mappings after the round.
        content: of `rows`; empty if it was never answered.
        asked_at: when it was asked for.
        answered_at: when that had ended.
        request_id: of the request.
        reason: of a failure, else empty.
    """

    block: Block
    key: Key
    status: Status
    before: Mapping[Row, int]
    rows: Mapping[Row, int]
    content: str
    asked_at: datetime
    answered_at: datetime
    request_id: str
    reason: str = ""

    @property
    def is_changed(self) -> bool:
        """Whether it has other mappings than before."""
        return self.status in ("changed", "gone")

    @property
    def is_taken(self) -> bool:
        """Whether an answer was given and believed."""
        return self.is_changed or self.status == "unchanged"


def round_of(
    outcomes: Sequence[KeyOutcome], known: Callable[[Block, Key], Known]
) -> tuple[KeyRound, ...]:
    """The round of an evaluation.

    Args:
        outcomes: of the keys that were asked.
        known: what is known of a key before.
    """
    before = [known(outcome.block, outcome.key) for outcome in outcomes]
    is_loss = _is_sudden_loss(outcomes, before)
    return tuple(
        _key_round(outcome, state, is_loss=is_loss)
        for outcome, state in zip(outcomes, before, strict=True)
    )


def _is_sudden_loss(outcomes: Iterable[KeyOutcome], before: Iterable[Known]) -> bool:
    answered = [
        (state, outcome.answer)
        for outcome, state in zip(outcomes, before, strict=True)
        if outcome.answer is not None and state.rows
    ]
    lost = sum(not answer.rows for _, answer in answered)
    return len(answered) >= LOST_KEYS and lost > LOST_SHARE * len(answered)


def _key_round(outcome: KeyOutcome, known: Known, *, is_loss: bool) -> KeyRound:
    status, rows, content, reason = _found(outcome, known, is_loss=is_loss)
    return KeyRound(
        outcome.block,
        outcome.key,
        status,
        known.rows,
        rows,
        content,
        outcome.asked_at,
        outcome.answered_at,
        outcome.request_id,
        reason,
    )


def _found(
    outcome: KeyOutcome, known: Known, *, is_loss: bool
) -> tuple[Status, Mapping[Row, int], str, str]:
    """Status, mappings and content after the round, and the reason of a failure."""
    answer = outcome.answer
    if answer is None:
        status: Status = "too_large" if outcome.status == "too_large" else "failed"
        return status, known.rows, known.content, outcome.reason
    if answer.rows == known.rows:
        return "unchanged", known.rows, answer.content, ""
    if is_loss and known.rows and not answer.rows and not known.is_suspect:
        reason = "many keys came back empty at once; a second evaluation has to say the same"
        return "suspect", known.rows, known.content, reason
    status = "gone" if known.rows and not answer.rows else "changed"
    return status, answer.rows, answer.content, ""
