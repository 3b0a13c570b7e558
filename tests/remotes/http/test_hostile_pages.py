"""No server can end a page otherwise than expected, or take more than its budget."""

from __future__ import annotations

import time

import pytest

from tests.support.hostile_server import BEHAVIOURS, GOOD, Behaviour, HostileServer
from tests.support.page_outcomes import expected_outcome, outcome_of
from weir.remotes.http.iri_urls import redirect_url
from weir.remotes.http.metering import Deadline, Meter
from weir.remotes.http.outcomes import Failure
from weir.remotes.http.pages import Connections, Manner, Page, PageRequest
from weir.remotes.http.request import FetchLimits
from weir.remotes.http.urls import UrlError

BYTES = 1 << 20


def manner(server: HostileServer) -> Manner:
    ports = tuple(server.port(behaviour) for behaviour in (GOOD, *BEHAVIOURS))
    return Manner("tests@example.org", ("127.0.0.1/32",), ports, str(server.certificates.authority))


def ask(kept: Connections, url: str, seconds: float) -> tuple[Page | Failure, Meter, float]:
    meter = Meter(BYTES)
    began = time.monotonic()
    request = PageRequest(url, "*/*", FetchLimits(BYTES, seconds))
    answer = kept.get(request, meter, Deadline.after(seconds))
    return answer, meter, time.monotonic() - began


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("behaviour", BEHAVIOURS, ids=lambda behaviour: behaviour.name)
def test_a_page_ends_as_expected_within_its_budget_twice(
    hostile: HostileServer, behaviour: Behaviour
) -> None:
    """The second request shows that nothing of the first one is left."""
    seconds = 0.8 if behaviour.expected == "deadline_passed" else 15.0
    with Connections(manner(hostile)) as kept:
        for _ in range(2):
            answer, meter, took = ask(kept, hostile.url(behaviour), seconds)
            assert outcome_of(answer) == expected_outcome(behaviour), answer
            assert took <= seconds + 0.5
            assert meter.total <= BYTES
            good, _, _ = ask(kept, hostile.url(GOOD), 15.0)
            assert outcome_of(good) == "page 200"


@pytest.mark.parametrize("name", ["redirect to loopback", "redirect to file:"])
def test_a_redirect_to_a_place_that_is_not_allowed_is_refused_at_the_hop(
    hostile: HostileServer, name: str
) -> None:
    behaviour = next(behaviour for behaviour in BEHAVIOURS if behaviour.name == name)
    with Connections(manner(hostile)) as kept:
        answer, _, _ = ask(kept, hostile.url(behaviour), 15.0)
        assert isinstance(answer, Page)
        try:
            hop = redirect_url(hostile.url(behaviour), answer.headers["location"])
        except UrlError:
            return
        refused, meter, _ = ask(kept, hop, 15.0)
    assert outcome_of(refused) == "url_refused"  # its port is not declared
    assert meter.total == 0
