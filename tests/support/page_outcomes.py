"""How the behaviours of the hostile server end for a page, which is no SPARQL result."""

from __future__ import annotations

from tests.support.hostile_server import BEHAVIOURS, Behaviour
from weir.remotes.http.outcomes import Failure
from weir.remotes.http.pages import Page

_OTHERWISE = {
    # Whether a body is RDF is for its reader to say.
    "Content-Length too short": "page 200",
    "HTML 200": "page 200",
    "HTML 200 said to be JSON": "page 200",
    "truncated JSON": "page 200",
    "nested gzip": "page 200",
    "10^6 bindings": "too_many_bytes",
    # Where it leads is for the caller to check.
    "redirect loop": "page 302",
    "redirect to loopback": "page 307",
    "redirect to file:": "page 301",
}


def expected_outcome(behaviour: Behaviour) -> str:
    """The kind of failure, or the status of the page."""
    if behaviour.expected == "answered":
        return "page 200"
    return _OTHERWISE.get(behaviour.name, behaviour.expected)


def outcome_of(answer: Page | Failure) -> str:
    """The same of an answer."""
    return answer.kind if isinstance(answer, Failure) else f"page {answer.status}"


assert _OTHERWISE.keys() <= {behaviour.name for behaviour in BEHAVIOURS}
