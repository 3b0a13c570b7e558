"""How a fetch ends: an answer, or a failure of one of a closed set of kinds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Literal, TypeVar, get_args

Value = TypeVar("Value")

FailureKind = Literal[
    # nothing was sent
    "url_refused",
    "address_refused",
    "secret_refused",
    "name_unresolved",
    "not_connected",
    "tls_failed",
    # a limit of the request
    "deadline_passed",
    "too_many_bytes",
    "head_too_large",
    "too_much_decoded",
    "too_many_bindings",
    "too_much_memory",
    # what the server sent
    "connection_lost",
    "malformed_http",
    "malformed_encoding",
    "redirected",
    "throttled",
    "client_error",
    "server_error",
    "unusable_status",
    "not_results",
    "incomplete",
    # the child process
    "worker_failed",
    "interrupted",
]
FAILURE_KINDS: tuple[FailureKind, ...] = get_args(FailureKind)
REFUSALS: frozenset[FailureKind] = frozenset({"url_refused", "address_refused", "secret_refused"})
"""What is not sent as long as the project does not allow it: this says nothing of the server."""


@dataclass(frozen=True, slots=True)
class Response(Generic[Value]):
    """A complete answer of status 200, read within all limits.

    value: what was read from the body.
    content_type: the header as sent, "" without one.
    """

    value: Value
    content_type: str


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no answer.

    reason: one sentence; text of the server in it is quoted (`quotation.quote`).
    status: the status of the answer, None if none came.
    retry_after: seconds for which the server asks to be left alone, at most 3,600.

    Of a request that was interrupted, another one of the same child process is the reason.
    """

    kind: FailureKind
    reason: str
    status: int | None = None
    retry_after: float | None = None


class FetchError(Exception):
    """Ends a fetch at once; `fetch` returns it as a `Failure`."""

    def __init__(self, kind: FailureKind, reason: str) -> None:
        self.kind, self.reason = kind, reason
        super().__init__(kind, reason)
