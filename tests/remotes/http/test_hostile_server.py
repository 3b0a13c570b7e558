"""A server can end a fetch only in the expected way, within its budget, and harms nobody else.

`WEIR_HOSTILE_REPORT` names a file for figures.
"""

from __future__ import annotations

import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.hostile_server import BEHAVIOURS, GOOD, Behaviour, HostileServer
from tests.support.laws import Seeds
from weir.remotes.http.isolated import Usage, fetch_solutions
from weir.remotes.http.outcomes import Failure, Response
from weir.remotes.http.request import FetchLimits, FetchRequest, query_request
from weir.remotes.http.sparql_results import SparqlResults

REPORT = os.environ.get("WEIR_HOSTILE_REPORT")
BYTES = 1 << 20
MEMORY = 300 << 20
QUERY = "SELECT ?k { VALUES ?k { <http://example.org/asked> } }"


@dataclass(frozen=True, slots=True)
class Run:
    """A fetch from a behaviour."""

    answer: Response[SparqlResults] | Failure
    usage: Usage
    seconds: float

    @property
    def outcome(self) -> str:
        return self.answer.kind if isinstance(self.answer, Failure) else "answered"


def request(server: HostileServer, behaviour: Behaviour) -> FetchRequest:
    # A behaviour that ends at the deadline should not last long; the others need none.
    seconds = 1.5 if behaviour.expected == "deadline_passed" else 15.0
    return query_request(
        server.url(behaviour),
        QUERY,
        contact="tests@example.org",
        limits=FetchLimits(bytes=BYTES, seconds=seconds, bindings=1000),
        allow=("127.0.0.1/32",),
        ports=(server.port(behaviour),),
        ca_file=str(server.certificates.authority),
    )


def run(server: HostileServer, behaviour: Behaviour) -> Run:
    began = time.monotonic()
    answer, usage = fetch_solutions(request(server, behaviour))
    return Run(answer, usage, time.monotonic() - began)


def test_all_24_behaviours_of_the_design_are_tried() -> None:
    assert {behaviour.number for behaviour in BEHAVIOURS} == set(range(1, 25))


@pytest.mark.law("hostile server")
@pytest.mark.parametrize("behaviour", BEHAVIOURS, ids=lambda behaviour: behaviour.name)
def test_a_behaviour_ends_as_expected_within_its_budget_beside_a_good_server(
    hostile: HostileServer, behaviour: Behaviour, seeds: Seeds
) -> None:
    limits = request(hostile, behaviour).limits
    runs = []
    with ThreadPoolExecutor(1) as beside:
        for _ in seeds:
            good = beside.submit(run, hostile, GOOD)
            runs.append(run(hostile, behaviour))
            assert good.result().outcome == "answered"
    assert [ended.outcome for ended in runs] == [behaviour.expected] * len(seeds), runs[0].answer
    assert max(ended.seconds for ended in runs) <= limits.seconds + 0.5
    assert max(ended.usage.bytes for ended in runs) <= BYTES
    assert max(ended.usage.peak_memory for ended in runs) <= MEMORY
    for ended in runs:
        if not isinstance(ended.answer, Failure):
            assert len(ended.answer.value.solutions) == behaviour.solutions
    if REPORT:
        figures = {
            "behaviour": behaviour.name,
            "outcome": behaviour.expected,
            "rounds": len(runs),
            "deadline": limits.seconds,
            "longest": round(max(ended.seconds for ended in runs), 3),
            "bytes": max(ended.usage.bytes for ended in runs),
            "measured": sum(ended.usage.measured for ended in runs),
            "peak_mib": max(ended.usage.peak_memory for ended in runs) >> 20,
        }
        with Path(REPORT).open("a") as report:
            report.write(json.dumps(figures) + "\n")


def test_a_wait_until_2099_is_one_hour(hostile: HostileServer) -> None:
    behaviour = next(known for known in BEHAVIOURS if known.name == "Retry-After in 2099")
    failure = run(hostile, behaviour).answer
    assert isinstance(failure, Failure)
    assert failure.retry_after == 3600.0
