"""A remote that is a document: it is fetched at most once per evaluation and queried here."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from urllib.parse import urlsplit

from weir.rdf.media_types import ACCEPT, format_of_type, media_type_of
from weir.rdf.records import Format
from weir.rdf.terms import TermError, canonical_term
from weir.remotes.asking import Fetched
from weir.remotes.budget import Amount
from weir.remotes.declarations import Remote
from weir.remotes.fetching import manner_of
from weir.remotes.http.decoding import DecodingLimits
from weir.remotes.http.isolated import fetch_body, output_bytes
from weir.remotes.http.outcomes import Failure
from weir.remotes.http.request import FetchLimits, FetchRequest, Secret
from weir.remotes.questions import Solution
from weir.sandbox.child import Child, ChildDied, DeadlinePassed
from weir.sandbox.death import Cause, Death
from weir.sandbox.frames import ProtocolError, decode_json
from weir.sandbox.limits import ChildLimits

_OVERHEAD = 0.5
"""Seconds of a request for what is neither fetching nor searching."""
_MEMORY = 1 << 30
"""Address space of a child, in bytes."""
_OUTPUT = output_bytes(DecodingLimits())
"""Bytes of all solutions; as many as an endpoint may send."""


@dataclass(frozen=True, slots=True)
class _Document:
    content: bytes
    format: Format


@dataclass(slots=True)
class DocumentFetcher:
    """Answers queries from the document of a remote (`weir.remotes.asking.Fetch`).

    Attributes:
        remote: whose document it is.
        authorization: the header, None without one.
        clock: the time.
        ca_file: certificates of the authorities to trust in place of the public ones.
    """

    remote: Remote
    clock: Callable[[], datetime]
    authorization: Secret | None = None
    ca_file: str = ""
    _document: _Document | None = field(default=None, init=False)
    _unusable: Failure | None = field(default=None, init=False)

    def __call__(self, text: str, most: Amount, bindings: int) -> Fetched:
        """Answer a query; the first one fetches the document."""
        started_at, began = self.clock(), time.monotonic()
        used, peer, requests = 0, "", 0
        result: Sequence[Solution] | Failure | None = self._unusable
        if result is None and self._document is None:
            requests = 1
            fetched, used, peer = self._fetch(most)
            if isinstance(fetched, Failure):
                result = fetched
            else:
                self._document = fetched
        if result is None:
            assert self._document is not None, "it was fetched"
            left = most.seconds - _OVERHEAD - (time.monotonic() - began)
            result = self._answer(self._document, text, bindings, left)
        if isinstance(result, Failure) and result.kind == "not_results":
            # It would be no other one for other keys.
            self._unusable = result
        took = Amount(requests, most.keys, used, time.monotonic() - began)
        return Fetched(result, took, started_at, "GET", peer)

    def _fetch(self, most: Amount) -> tuple[_Document | Failure, int, str]:
        request = FetchRequest(
            url=self.remote.url or self.remote.iri,
            accept=ACCEPT,
            limits=FetchLimits(bytes=most.bytes, seconds=max(most.seconds / 2, 0.1)),
            **manner_of(self.remote, self.authorization, self.ca_file),
        )
        outcome, usage = fetch_body(request)
        if isinstance(outcome, Failure):
            return outcome, usage.bytes, usage.peer
        media_type = media_type_of(outcome.content_type)
        syntax = format_of_type(media_type, urlsplit(request.url).path)
        if syntax is None:
            what = (
                f"{outcome.content_type or 'a document of no type'} is no RDF format that is read"
            )
            unread = Failure("not_results", f"the document cannot be read: {what}")
            return unread, usage.bytes, usage.peer
        return _Document(outcome.value, syntax), usage.bytes, usage.peer

    def _answer(
        self, document: _Document, text: str, bindings: int, seconds: float
    ) -> Sequence[Solution] | Failure:
        task = {
            "format": document.format,
            "base": self.remote.url or self.remote.iri,
            "query": text,
            "most": bindings,
        }
        given = json.dumps(task).encode() + b"\n" + document.content
        deadline = time.monotonic() + max(seconds, 0.1)
        limits = ChildLimits(_MEMORY, output_bytes=_OUTPUT, deadline=deadline)
        solutions: list[Solution] = []
        with Child("weir.remotes.document_worker", limits) as child:
            child.send(given)
            try:
                while (message := child.receive(_decoded, deadline)) is not None:
                    if isinstance(message, str):
                        what = f"the document cannot be read: {message}"
                        return Failure("not_results", what)
                    solutions.append(_canonical(message))
            except DeadlinePassed:
                return Failure("deadline_passed", "the document was not searched in time")
            except ChildDied as error:
                return _failure(error.death)
            except TermError as error:
                return Failure("not_results", f"the document has a term that is none: {error}")
        return solutions


def _failure(death: Death) -> Failure:
    """Why a child ended without all solutions."""
    if death.cause is Cause.MEMORY:
        what = f"searching the document needs more than {_MEMORY >> 20} MiB of memory"
        return Failure("too_much_memory", what)
    return Failure("worker_failed", f"the process that searches the document {death.how}")


def _decoded(frame: bytes) -> dict[str, str] | str | None:
    """A message of a child: a solution, or what is wrong with the document; None at the end.

    Raises:
        ProtocolError: it is none of these.
    """
    match decode_json(frame):
        case None:
            return None
        case {"unusable": str(what)}:
            return what
        case {"solution": dict(terms)} if all(isinstance(term, str) for term in terms.values()):
            return {**terms}
        case _:
            raise ProtocolError("an unknown frame")


def _canonical(solution: dict[str, str]) -> Solution:
    return {name: canonical_term(term, "object") for name, term in solution.items()}
