"""One evaluation of a remote: elect keys, ask for them, commit what was found as a round.

| committed | killed after it, the next run |
| --- | --- |
| `services`: new patterns | starts over |
| `requests`: reserved | counts what was reserved as spent |
| `requests`: settled | knows what was spent; the keys stay candidates |
| `replicas/<remote>`: the round | has nothing to ask for; ingest takes the round |
| `freshness` | has nothing to do |
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from weir.compute.engine import Engine
from weir.compute.sql import columns, equal, rows_of, select, semi_join
from weir.definitions.services import AskedBlock
from weir.lake.instants import microseconds, time_at
from weir.lake.lake import Lake
from weir.rdf.numbers import number_of
from weir.remotes.asking import Asked, Asking, AskingLimits, Elected, Fetch
from weir.remotes.budget import Amount, spent
from weir.remotes.candidates import Place, Proposed, block_of, places_table, propose
from weir.remotes.declarations import Remote
from weir.remotes.inbox import in_mark
from weir.remotes.key_rows import (
    NEVER,
    History,
    RoundOf,
    dropped_rows,
    histories,
    key_of,
    key_text,
    round_rows,
)
from weir.remotes.known_keys import KnownKeys, known_keys, summarize
from weir.remotes.measures import Evaluated, freshness_rows
from weir.remotes.policies.candidates import Candidate, Evaluation
from weir.remotes.policies.dynamic_alpha import Arms, at_arms, equal_arms, learn
from weir.remotes.policies.election import elect
from weir.remotes.policies.policies import Aggregated, FilterDistance, Policy
from weir.remotes.questions import Row
from weir.remotes.replica_inbox import ATTEMPTS, PastAttempt, RoundMark, StoredRound, replica_inbox
from weir.remotes.request_log import RequestLog, version_of_requests
from weir.remotes.rounds import KeyRound, round_of
from weir.remotes.unused import answered_patterns, unused_keys, unused_patterns
from weir.remotes.waits import Wait, is_address_of, wait_of
from weir.remotes.wanted import Asker, make_wanted
from weir.sparql.algebra.filter_distances import all_hold
from weir.sparql.algebra.windows import TimeWindow

_OF_KEY = (
    *("pattern", "key", "status", "content", "rows_round", "first_round"),
    *("failures", "answered_at"),
    *("answers", "changes", "seconds"),
)
_OF_MAPPING = ("pattern", "key", "mapping", "multiplicity")


@dataclass(frozen=True, slots=True)
class Clock:
    """Time as an evaluation sees it: `now`, and `sleep` until later."""

    now: Callable[[], datetime]
    sleep: Callable[[timedelta], None]


Open = Callable[[Remote, Sequence[datetime]], Fetch]
"""What sends requests to a remote, given when earlier ones were sent."""


@dataclass(slots=True)
class RemoteEvaluation:
    """An evaluation that is going on.

    Attributes:
        engine: makes relations.
        lake: has the tables.
        remote: who is asked.
        askers: the blocks of queries that are about it.
        last: the round before, None if this is the first one.
        log: its requests.
        clock: the time.
        open: makes what sends requests.
    """

    engine: Engine
    lake: Lake
    remote: Remote
    askers: Sequence[Asker]
    last: StoredRound | None
    log: RequestLog
    clock: Clock
    open: Open

    def run(self) -> RoundMark:
        """Evaluate, and commit the round."""
        evaluation, run_id = self.log.evaluation, self.log.run_id
        blocks = [asker.block for asker in self.askers]
        make_wanted(self.engine, self.askers)
        known = known_keys(self.engine, self.lake, self.remote.name)
        policy, arms = self._policy()
        at = self._at()
        proposed = propose(self.engine, known, blocks, policy.rate, at.at)
        wait = self._wait()
        elected: list[Candidate] = []
        sampled: list[Candidate] = []
        asked = Asked((), "not_before")
        if wait is None:
            budget = self.remote.budget.keys - self.remote.explore
            elected = [*elect(policy, proposed.candidates, at, budget)]
            seed = microseconds(evaluation)
            sampled = proposed.sampled(elected, self.remote.explore, seed)
            asked = self._ask([*elected, *sampled], proposed, blocks)
        places = [proposed.places[candidate.key] for candidate in (*elected, *sampled)]
        before = self._known_of(places, known)
        key_rounds = round_of(
            asked.outcomes, lambda block, key: before[block.pattern, key_text(key)].known
        )
        width = {block.pattern: len(block.key) for block in blocks}
        drawn = frozenset(
            (pattern, key_of(text, width[pattern]))
            for pattern, text in (proposed.places[candidate.key] for candidate in sampled)
        )
        last = self.last.mark if self.last else None
        unused = unused_patterns(self.remote, last, width.keys(), self.clock.now())
        dropped = self._known_of(unused_keys(self.engine, known, unused), known)
        number = last.round + 1 if last else 1
        evaluated = Evaluated(
            number,
            evaluation,
            self.clock.now(),
            tuple(width),
            proposed,
            (*elected, *sampled),
            key_rounds,
            drawn,
            spent(self.log.entries()),
            asked.stop,
            asked.refusal,
            self._wait(),
            _alpha(policy),
        )
        flips = _flips(key_rounds, blocks)
        learned = learn(policy, arms, proposed.candidates, at, flips)
        is_changed = any(asked_key.before != asked_key.rows for asked_key in key_rounds) or any(
            history.known.rows for history in dropped.values()
        )
        answered = answered_patterns(last, key_rounds, unused, dropped)
        mark = self._mark(evaluated, learned, answered, is_changed=is_changed)
        round_ = RoundOf(number, evaluation, run_id)
        of_keys = [
            (asked_key, before[asked_key.block.pattern, key_text(asked_key.key)])
            for asked_key in key_rounds
        ]
        rows = [*round_rows(round_, of_keys, drawn), *dropped_rows(round_, dropped)]
        replica_inbox(self.remote.name).append(self.lake, mark, rows, run_id)
        summarize(self.engine, self.lake, self.remote.name, known, run_id)
        return mark

    def _policy(self) -> tuple[Policy, Arms]:
        """The policy with the alpha that was learned so far."""
        policy = self.remote.rule
        arms = equal_arms(policy)
        if self.last is not None and len(self.last.mark.weights) == len(arms.weights):
            arms = Arms(self.last.mark.weights)
        return at_arms(policy, arms), arms

    def _at(self) -> Evaluation:
        """The instant, with the widest window of the queries."""
        contents = [window.content for asker in self.askers for window in asker.query.axis.windows]
        ranges = [content.range_us for content in contents if isinstance(content, TimeWindow)]
        return Evaluation(
            self.clock.now().timestamp(),
            max(ranges) / 1e6 if ranges else None,
            self.remote.every_us / 1e6,
        )

    @property
    def _last_here(self) -> RoundMark | None:
        """The round before, unless the remote is asked elsewhere than then."""
        mark = self.last.mark if self.last else None
        return mark if mark is not None and is_address_of(self.remote, mark.address) else None

    def _wait(self) -> Wait | None:
        """Until when the remote must not be asked, and why; None if it may be."""
        return wait_of(self._asked_until(), self._attempts(), self._failure(), self.clock.now())

    def _asked_until(self) -> datetime | None:
        """Until when the remote asked to be left alone."""
        stored = self._last_here.not_before if self._last_here else None
        # A run that was killed after its requests has left no round that says so.
        known = [time_at(stored) if stored is not None else None, self.log.not_before()]
        return max((time for time in known if time is not None), default=None)

    def _attempts(self) -> tuple[PastAttempt, ...]:
        """The last requests, the oldest first."""
        return (*(self._last_here.attempts if self._last_here else ()), *self.log.attempts())

    def _failure(self) -> str:
        """Why the newest of the requests failed that did."""
        return self.log.failure() or (self._last_here.failure if self._last_here else "")

    def _ask(
        self, keys: Sequence[Candidate], proposed: Proposed, blocks: Sequence[AskedBlock]
    ) -> Asked:
        by_pattern = {block.pattern: block_of(block) for block in blocks}
        wanted = []
        for candidate in keys:
            pattern, text = proposed.places[candidate.key]
            block = by_pattern[pattern]
            wanted.append(Elected(block, key_of(text, len(block.key)), candidate.tie))
        budget = self.remote.budget
        asking = Asking(
            AskingLimits(
                Amount(budget.requests, budget.keys, budget.bytes, budget.seconds),
                self.remote.keys_of_request,
                self.remote.max_rows,
            ),
            self.log,
            self.open(self.remote, [time_at(past.at) for past in self._attempts()]),
            self.clock.sleep,
            self.clock.now,
            lambda: uuid.uuid4().hex,
        )
        return asking.ask(wanted)

    def _known_of(self, places: Sequence[Place], known: KnownKeys) -> Mapping[Place, History]:
        """What is known of some keys."""
        never: dict[Place, History] = dict.fromkeys(places, NEVER)
        if not places or known.version < 0:
            return never
        with self.engine.scope() as engine:
            engine.load("some", places_table(places))
            keys = self._rows_of_some(engine, known.keys, _OF_KEY)
            mappings = self._rows_of_some(engine, known.mappings, _OF_MAPPING)
        return never | histories(keys, mappings)

    def _rows_of_some(
        self, engine: Engine, relation: str, names: Sequence[str]
    ) -> list[dict[str, Any]]:
        query = select(
            *columns(names, "r"),
            from_=rows_of(relation, "r"),
            joins=[semi_join(rows_of("some", "e"), *equal(["pattern", "key"], "r", "e"))],
        )
        return [dict(zip(names, row, strict=True)) for row in engine.rows(query)]

    def _mark(
        self, evaluated: Evaluated, arms: Arms, answered: Mapping[str, int], *, is_changed: bool
    ) -> RoundMark:
        changed_before = self.last.mark.changed_round if self.last else 0
        not_before = self._asked_until()
        rows = freshness_rows(self.remote, evaluated, self.log.run_id)
        return RoundMark(
            evaluated.round,
            microseconds(evaluated.evaluation),
            evaluated.round if is_changed else changed_before,
            changed_before,
            version_of_requests(self.lake),
            None if not_before is None else microseconds(not_before),
            self._attempts()[-ATTEMPTS:],
            arms.weights,
            tuple(map(in_mark, rows)),
            answered,
            self.remote.address,
            self._failure(),
        )


def _alpha(policy: Policy) -> float | None:
    """The weight of the ranking beside that of the filter; None for a policy without the two."""
    match policy.rule:
        case Aggregated(weighted=((_, FilterDistance()), (weight, _))):
            return weight
        case _:
            return None


def _flips(key_rounds: Sequence[KeyRound], blocks: Sequence[AskedBlock]) -> dict[str, bool]:
    """Of each key that was answered, by its name as a candidate, whether it flipped.

    It did if it passes the filters of a query and did not before, or the other way round.
    """
    flipped = {}
    for asked_key in key_rounds:
        if not asked_key.is_taken:
            continue
        own = [
            block for block in blocks if block.pattern == asked_key.block.pattern and block.bounds
        ]
        flips = (
            _passes(block, asked_key.before) != _passes(block, asked_key.rows) for block in own
        )
        flipped["\n".join((asked_key.block.pattern, key_text(asked_key.key)))] = (
            any(flips) if own else asked_key.before != asked_key.rows
        )
    return flipped


def _passes(block: AskedBlock, rows: Mapping[Row, int]) -> bool:
    return any(
        all_hold(block.bounds, {n: number for n, t in row if (number := number_of(t)) is not None})
        for row in rows
    )
