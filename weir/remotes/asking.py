"""Ask a remote for keys within a budget: batches, what follows a failure, what ends an evaluation.

Each chunk of requests is reserved before it is sent and settled when it has ended, in a store that
outlives the run (`weir.remotes.budget`). Nothing here knows of HTTP or of tables.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Literal, Protocol, assert_never

from weir.remotes.budget import Amount, Entry, shares, spent
from weir.remotes.http.outcomes import Failure, FailureKind
from weir.remotes.http.retries import GiveUp, NotBefore, Refused, Retry, RetryRules, after_failure
from weir.remotes.key_values import value_of
from weir.remotes.questions import (
    Block,
    ForeignAnswer,
    Key,
    KeyAnswer,
    Solution,
    answers_by_key,
    question,
)

CHUNK = 10
"""Requests that are reserved together: a run that is killed loses the budget of so many at most."""
LEAST_BYTES = 10_000
LEAST_SECONDS = 1.0
"""A request with less is not sent: it could not be answered."""

_MAY_BE_ONE_KEY: frozenset[FailureKind] = frozenset(
    {
        "not_results",
        "too_many_bytes",
        "too_much_decoded",
        "too_much_memory",
        "too_many_bindings",
        "incomplete",
    }
)
"""Failures that one key of a batch may cause: the batch is divided."""

_TOO_LARGE = "more mappings than max_rows"
NOT_AGAIN = "; it was not asked for again"
"""Follows the reason of a failure if the evaluation ended before another try."""

Status = Literal["answered", "failed", "too_large"]
Stop = Literal["done", "budget", "not_before", "refused"]
"""Why an evaluation ended: all was asked, the budget is spent, the remote must not be asked for
some time, the project allows no request to it."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A request: what it may take at most, and of how many keys it is."""

    request_id: str
    most: Amount
    attempt: int


@dataclass(frozen=True, slots=True)
class Fetched:
    """What came of a request.

    Attributes:
        result: the solutions, or why there are none.
        took: bytes and seconds as measured.
        started_at: when it was sent; None if nobody looked.
        method: GET or POST.
        peer: the address that it was sent to, empty if there was no connection.
    """

    result: Sequence[Solution] | Failure
    took: Amount
    started_at: datetime | None = None
    method: str = "GET"
    peer: str = ""


@dataclass(frozen=True, slots=True)
class KeyOutcome:
    """What came of a key.

    Attributes:
        block: that was asked for.
        key: the key.
        status: whether it was answered.
        answer: its mappings, if it was.
        asked_at: when the request was sent.
        answered_at: when it had ended.
        request_id: of the request.
        reason: why it was not answered, else empty.
    """

    block: Block
    key: Key
    status: Status
    answer: KeyAnswer | None
    asked_at: datetime
    answered_at: datetime
    request_id: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of an evaluation; keys without an outcome stay candidates.

    Attributes:
        outcomes: of the keys that were asked.
        stop: why it ended.
        refusal: why the project allows no request to it, else empty.
    """

    outcomes: tuple[KeyOutcome, ...]
    stop: Stop
    refusal: str = ""


class Store(Protocol):
    """Where the requests of an evaluation are recorded."""

    def entries(self) -> Sequence[Entry]:
        """The requests of the evaluation so far, those of runs that died among them."""

    def reserve(self, sent: Sequence[Sent]) -> None:
        """Record, in one commit, requests that may be sent from now on."""

    def settle(self, ended: Sequence[tuple[Sent, Fetched | None]]) -> None:
        """Record, in one commit, how requests ended; None: it was not sent."""


@dataclass(frozen=True, slots=True)
class AskingLimits:
    """The limits of an evaluation.

    Attributes:
        budget: what it may spend.
        batch_keys: keys of a request.
        max_rows: mappings of a key.
        rules: of retries.
    """

    budget: Amount
    batch_keys: int
    max_rows: int
    rules: RetryRules = field(default_factory=RetryRules)


@dataclass(frozen=True, slots=True)
class Elected:
    """A key that is to be asked for.

    Attributes:
        block: by which it is.
        key: the key.
        failures: evaluations in a row in which it was not answered.
    """

    block: Block
    key: Key
    failures: int = 0


@dataclass(frozen=True, slots=True)
class _Batch:
    """Keys of one request, and what came of an earlier one.

    Attributes:
        tried: how often just these keys were asked for.
        asked_at: when they were, alone or with others; None: not yet.
        request_id: of the last request.
        reason: why that gave no answer.
    """

    block: Block
    keys: tuple[Key, ...]
    tried: int = 0
    asked_at: datetime | None = None
    request_id: str = ""
    reason: str = ""

    @property
    def charge(self) -> int:
        """What asking costs of the budget of keys: each key is charged once."""
        return len(self.keys) if self.asked_at is None else 0

    def halves(self) -> tuple[_Batch, _Batch]:
        """Its keys in two batches, neither of which was asked for by itself."""
        middle = len(self.keys) // 2
        return (
            replace(self, keys=self.keys[:middle], tried=0),
            replace(self, keys=self.keys[middle:], tried=0),
        )


Fetch = Callable[[str, Amount, int], Fetched]
"""Sends a query: its text, the most it may take, and the most solutions that it may have."""


@dataclass(slots=True)
class Asking:
    """Asks for elected keys.

    Attributes:
        limits: of the evaluation.
        store: of its requests.
        fetch: sends a request.
        pause: waits until the next request may be sent, at least so long.
        clock: the time.
        new_id: a new id of a request.
    """

    limits: AskingLimits
    store: Store
    fetch: Fetch
    pause: Callable[[timedelta], None]
    clock: Callable[[], datetime]
    new_id: Callable[[], str]
    _outcomes: list[KeyOutcome] = field(default_factory=list)
    _pending: deque[_Batch] = field(default_factory=deque)

    def ask(self, elected: Sequence[Elected]) -> Asked:
        """Ask for keys in the order of their election, as far as the budget goes."""
        self._pending = deque(_batches(elected, self.limits.batch_keys))
        stop: Stop = "done"
        refusal = ""
        end: NotBefore | Refused | None = None
        while self._pending and end is None:
            chunk = self._reserved()
            if not chunk:
                stop = "budget"
                break
            end = self._send(chunk)
        match end:
            case NotBefore():
                stop = "not_before"
            case Refused(reason):
                stop, refusal = "refused", reason
            case None:
                pass
            case _:
                assert_never(end)
        for batch in self._pending:
            if batch.asked_at is not None:
                # They were asked for without an answer, and are not again.
                self._record(batch, "failed", f"{batch.reason}{NOT_AGAIN}")
        return Asked(tuple(self._outcomes), stop, refusal)

    def _reserved(self) -> list[tuple[_Batch, Sent]]:
        """The next batches that there is budget for, reserved."""
        left = self.limits.budget.less(spent(self.store.entries()))
        charges = [batch.charge for batch in [*self._pending][:CHUNK]]
        chunk = []
        for share in shares(left, charges, LEAST_BYTES, LEAST_SECONDS):
            batch = self._pending.popleft()
            chunk.append((batch, Sent(self.new_id(), share, batch.tried + 1)))
        if chunk:
            self.store.reserve([sent for _, sent in chunk])
        return chunk

    def _send(self, chunk: Sequence[tuple[_Batch, Sent]]) -> NotBefore | Refused | None:
        """Send a chunk and settle it; gives why no more is to be sent."""
        ended: list[tuple[Sent, Fetched | None]] = []
        again: list[_Batch] = []
        end: NotBefore | Refused | None = None
        for batch, sent in chunk:
            if end is not None:
                ended.append((sent, None))
                again.append(batch)
                continue
            most = self.limits.max_rows * len(batch.keys)
            tried = replace(
                batch, tried=sent.attempt, asked_at=self.clock(), request_id=sent.request_id
            )
            fetched = self.fetch(question(batch.block, batch.keys, most), sent.most, most + 1)
            ended.append((sent, fetched))
            if isinstance(fetched.result, Failure):
                end = self._failed(batch, tried, fetched.result, again)
            else:
                self._answered(tried, fetched.result, most, again)
        self.store.settle(ended)
        self._pending.extendleft(reversed(again))
        return end

    def _failed(
        self, batch: _Batch, tried: _Batch, failure: Failure, again: list[_Batch]
    ) -> NotBefore | Refused | None:
        if failure.kind in _MAY_BE_ONE_KEY and len(tried.keys) > 1:
            self._divided(tried, "failed", failure.reason, again)
            return None
        decision = after_failure(failure, tried.tried, self.clock(), self.limits.rules)
        match decision:
            case Refused():
                # Its keys were not asked for: this is no failure of theirs.
                again.append(batch)
                return decision
            case Retry(wait):
                self.pause(wait)
                again.append(replace(tried, reason=failure.reason))
            case GiveUp() | NotBefore():
                self._record(tried, "failed", failure.reason)
            case _:
                assert_never(decision)
        return decision if isinstance(decision, NotBefore) else None

    def _answered(
        self, tried: _Batch, solutions: Sequence[Solution], most: int, again: list[_Batch]
    ) -> None:
        if len(solutions) > most:
            # It was cut off: whose solutions are missing is not known.
            self._divided(tried, "too_large", _TOO_LARGE, again)
            return
        try:
            answers = answers_by_key(tried.block, tried.keys, solutions)
        except ForeignAnswer as error:
            # A remote that writes 01 as 1 gives one key of a batch another name.
            self._divided(tried, "failed", f"not believed: {error}", again)
            return
        for key, answer in answers.items():
            one = replace(tried, keys=(key,))
            if answer.size > self.limits.max_rows:
                self._record(one, "too_large", _TOO_LARGE)
            else:
                self._record(one, "answered", "", answer)

    def _divided(self, tried: _Batch, status: Status, reason: str, again: list[_Batch]) -> None:
        """Ask for each half by itself; of a single key, record what came of it."""
        if len(tried.keys) > 1:
            again += replace(tried, reason=reason).halves()
        else:
            self._record(tried, status, reason)

    def _record(
        self, tried: _Batch, status: Status, reason: str, answer: KeyAnswer | None = None
    ) -> None:
        at, now = tried.asked_at, self.clock()
        assert at is not None, "it was asked for"
        self._outcomes += [
            KeyOutcome(tried.block, key, status, answer, at, now, tried.request_id, reason)
            for key in tried.keys
        ]


def _batches(elected: Sequence[Elected], most: int) -> list[_Batch]:
    """The keys of each block in batches, in the order of the first key of each.

    What was not answered before is asked for in smaller batches, apart from the others: one key can
    be why a whole batch fails. Keys that a remote may take for one are in different batches.
    """
    by_kind: dict[tuple[Block, int], list[dict[Hashable, Key]]] = {}
    order: list[tuple[Block, dict[Hashable, Key]]] = []
    for one in elected:
        size, value = max(1, most >> 3 * one.failures), value_of(one.key)
        # Those with room.
        batches = by_kind.setdefault((one.block, size), [])
        batch = next((keys for keys in batches if value not in keys), None)
        if batch is None:
            batch = {}
            batches.append(batch)
            order.append((one.block, batch))
        batch[value] = one.key
        if len(batch) == size:
            batches.remove(batch)
    return [_Batch(block, tuple(keys.values())) for block, keys in order]
