"""Which hosts are left alone, and until when (pure).

A host that asks for it, that fails several times in a row, or whose robots.txt cannot be read is
asked no more for a while: its pages stay due, for it says nothing of them. Then one page is asked
for; an answer opens the host again, a failure doubles the time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from weir.remotes.http.outcomes import FailureKind
from weir.remotes.http.retries import RetryRules
from weir.traversals.search import host_of

OF_THE_HOST: frozenset[FailureKind] = frozenset(
    {
        "address_refused",
        "secret_refused",
        "name_unresolved",
        "not_connected",
        "tls_failed",
        "deadline_passed",
        "connection_lost",
        "malformed_http",
        "server_error",
    }
)
"""Failures that say something of other documents of the same host, too."""
RULES = RetryRules()
MOST_KEPT = 1_000
"""Hosts that are remembered between two evaluations."""
_LONGEST_PAUSE = 86_400.0


@dataclass(frozen=True, slots=True)
class HostState:
    """How a host has answered. Times are seconds since 1970.

    Attributes:
        failures: requests in a row that failed because of it.
        until: it is left alone until then.
        times: how often in a row it was left alone; 0 if it was not.
        reason: why the last request failed.
    """

    failures: int = 0
    until: float = 0.0
    times: int = 0
    reason: str = ""


@dataclass(slots=True)
class Hosts:
    """The hosts that did not answer last.

    Attributes:
        states: by name.
    """

    states: dict[str, HostState] = field(default_factory=dict)

    def admitted(self, iris: Iterable[str], now: float) -> list[str]:
        """The pages that may be asked for now, in their order.

        Of a host that was left alone until now there is one.
        """
        admitted, on_trial = [], set()
        for iri in iris:
            host = host_of(iri)
            state = self.states.get(host)
            if state is None or not state.times:
                admitted.append(iri)
            elif state.until <= now and host not in on_trial:
                on_trial.add(host)
                admitted.append(iri)
        return admitted

    def note(
        self, host: str, outcome: str, retry_after: float, now: float, reason: str = ""
    ) -> None:
        """Take note of how a request for a page ended.

        Args:
            host: its name.
            outcome: answered, or the kind of failure.
            retry_after: seconds for which the host asks to be left alone.
            now: when it ended.
            reason: of the failure.
        """
        before = self.states.get(host, HostState())
        if outcome == "throttled" or (outcome in OF_THE_HOST and before.times):
            self.leave_alone(host, retry_after, now, reason)
        elif outcome not in OF_THE_HOST:
            # That the child process failed says nothing of the host.
            if outcome not in ("worker_failed", "interrupted"):
                self.states.pop(host, None)
        elif before.failures + 1 < RULES.failures:
            self.states[host] = HostState(before.failures + 1, reason=reason)
        else:
            self.leave_alone(host, retry_after, now, reason)

    def leave_alone(self, host: str, retry_after: float, now: float, reason: str = "") -> None:
        """Ask a host no more for a while: each time twice as long, and no less than it asks for."""
        before = self.states.get(host, HostState())
        pause = RULES.pause.total_seconds() * 2 ** min(before.times, 16)
        until = now + max(min(pause, _LONGEST_PAUSE), retry_after)
        self.states[host] = HostState(before.failures + 1, until, before.times + 1, reason)

    def is_left_alone(self, iri: str, now: float) -> bool:
        """Whether the host of a page is left alone."""
        state = self.states.get(host_of(iri))
        return state is not None and state.until > now

    def kept(self) -> dict[str, dict[str, Any]]:
        """The hosts that are left alone, as `read` takes them: those for longest, if many are."""
        alone = [(name, state) for name, state in self.states.items() if state.times]
        alone.sort(key=lambda entry: (-entry[1].until, entry[0]))
        return {name: asdict(state) for name, state in alone[:MOST_KEPT]}

    @classmethod
    def read(cls, kept: Mapping[str, Mapping[str, Any]]) -> Hosts:
        """The hosts of an earlier evaluation."""
        return cls({name: HostState(**state) for name, state in kept.items()})
