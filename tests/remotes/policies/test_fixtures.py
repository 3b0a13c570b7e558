"""The fixtures of the paper about replicas, replayed (003-1 to 003-7).

What the paper contradicts itself about is printed by `python -m bench.replicas`, not asserted.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench.replicas.parameters import ALPHAS, BUDGETS, PAPER, SELECTIVITIES
from bench.replicas.replay import EVALUATIONS, SLIDE, THRESHOLD, jaccard_distance
from weir.remotes.policies.aggregation import score
from weir.remotes.policies.candidates import Candidate, Evaluation, columns_of
from weir.remotes.policies.election import elect
from weir.remotes.policies.policies import FilterDistance, Lru, Mode, Ranking, Wbm
from weir.remotes.policies.policy_text import policy_of
from weir.remotes.policies.rankings import best_before, ranked
from weir.sparql.algebra.filter_distances import Bound, conjunction_distance

Fixture = Mapping[str, Any]
MINUTE = Evaluation(20.0, 10.0, 1.0)
FT = 100_000
ALPHA_TEXTS = ("0.167", "0.2", "0.333", "0.5", "0.667", "0.833")


def expected(shared: Path, name: str) -> Fixture:
    (folder,) = (shared / "papers/examples").glob(f"003-{name}-*")
    fixture: Fixture = json.loads((folder / "expected.json").read_text())
    return fixture


def candidates_of(fixture: Fixture) -> list[Candidate]:
    return [
        Candidate(
            row["user"],
            row["last_refresh"],
            row["last_mention"],
            row["change_interval"],
            (conjunction_distance([Bound("x", ">", FT)], {"x": row["replica"]}),),
        )
        for row in fixture["table"]
    ]


@pytest.fixture(scope="module")
def policies(shared: Path) -> Fixture:
    """Fixture 003-2."""
    return expected(shared, "2")


def elected_by(
    fixture: Fixture, text: str, budget: int, options: Mapping[str, object] | None = None
) -> list[str]:
    policy = policy_of(text, options)
    return [candidate.key for candidate in elect(policy, candidates_of(fixture), MINUTE, budget)]


def test_distances_and_times_of_every_candidate_are_those_of_the_table(policies: Fixture) -> None:
    candidates = candidates_of(policies)
    times = best_before(columns_of(candidates), MINUTE)
    rows = zip(policies["table"], candidates, strict=True)
    for index, (row, candidate) in enumerate(rows):
        assert candidate.distances == (row["FD"],)
        assert times.until[index] == row["best_before"]
        assert times.expired[index] == row["expired"]
        assert times.value[index] == row["wbm_score"]


@pytest.mark.parametrize("name", ["LRU", "FILTER", "WBM"])
def test_single_rankings_order_the_candidates_as_the_fixture_does(
    policies: Fixture, name: str
) -> None:
    ranking: Ranking = Wbm() if name == "WBM" else ranking_of(name)
    order = ranked(ranking, columns_of(candidates_of(policies)), MINUTE).order
    assert [f"u{row + 1}" for row in order] == policies["orders"][name]


def ranking_of(name: str) -> Ranking:
    return Lru() if name == "LRU" else FilterDistance()


@pytest.mark.parametrize(
    ("name", "text", "options"),
    [
        ("FILTER", "Filter", {}),
        ("LRU", "LRU", {}),
        ("WBM", "WBM", {"fill": True}),
        ("WBM (Expired only, as the seed words it)", "WBM", {"fill": False}),
    ],
)
def test_single_policies_elect_the_users_of_the_fixture_for_every_budget(
    policies: Fixture, name: str, text: str, options: Mapping[str, object]
) -> None:
    for budget, users in policies["policies"][name].items():
        assert elected_by(policies, text, int(budget), options) == users


def test_banded_policies_elect_the_users_of_the_fixture_within_each_threshold(
    policies: Fixture,
) -> None:
    for fdt, want in policies["pipe"].items():
        inside = elected_by(policies, "LRU.F", 8, {"fdt": int(fdt)})
        assert sorted(inside) == want["candidates"]
        for text in ("LRU.F", "WBM.F"):
            assert elected_by(policies, text, 3, {"fdt": int(fdt)}) == want[text]


@pytest.mark.parametrize("index", range(6), ids=ALPHA_TEXTS)
@pytest.mark.parametrize(
    ("reading", "mode", "side"),
    [
        ("positions, alpha on filter", "positions", "filter"),
        ("min-max, alpha on ACQUA", "minmax", "acqua"),
    ],
)
@pytest.mark.parametrize("text", ["LRU.F+", "WBM.F+"])
def test_aggregated_scores_and_elections_are_the_fixtures_in_both_readings(
    policies: Fixture, index: int, text: str, reading: str, mode: Mode, side: str
) -> None:
    row = policies["aggregation"][index]
    want, alpha = row[f"{text} {reading}"], row["alpha"]
    options = {"alpha": alpha, "mode": mode, "alpha_on": side}
    assert elected_by(policies, text, 3, options) == want["elected_gamma3"]
    assert elected_by(policies, text, 8, options) == [*want["scores"]]
    columns = columns_of(candidates_of(policies))
    acqua: Ranking = ranking_of("LRU") if text == "LRU.F+" else Wbm()
    of_filter = score(ranked(FilterDistance(), columns, MINUTE), mode)
    of_acqua = score(ranked(acqua, columns, MINUTE), mode)
    weight = alpha if side == "filter" else 1 - alpha
    scores = weight * of_filter + (1 - weight) * of_acqua
    assert {
        f"u{row + 1}": pytest.approx(of_row, abs=1e-6) for row, of_row in enumerate(scores)
    } == (want["scores"])


@pytest.mark.parametrize("index", range(6), ids=ALPHA_TEXTS)
@pytest.mark.parametrize("mode", ["positions", "minmax"])
def test_expired_keys_are_elected_first_as_in_the_fixture_in_both_readings(
    policies: Fixture, index: int, mode: Mode
) -> None:
    row = policies["aggregation"][index]
    want = row["WBM.F*"]
    options = {"alpha": row["alpha"], "mode": mode}
    for budget, users in want["elected_by_gamma"][mode].items():
        assert elected_by(policies, "WBM.F*", int(budget), options) == users
    lists = [[*want["aggregated"][part][mode]] for part in ("Expired", "NotExpired")]
    assert elected_by(policies, "WBM.F*", 8, options) == lists[0] + lists[1]
    only_expired = options | {"fill": False}
    assert elected_by(policies, "WBM.F*", 8, only_expired) == lists[0]


def test_distances_of_answers_are_the_jaccard_distances_of_the_fixture(shared: Path) -> None:
    """Fixture 003-3."""
    total = 0.0
    for row in expected(shared, "3")["iterations"]:
        total += distance_of(row["answer"], row["oracle"])
        assert distance_of(row["answer"], row["oracle"]) == pytest.approx(Fraction(row["d_J"]))
        assert total == pytest.approx(Fraction(row["d_J_cumulative"]))


def distance_of(answer: Iterable[str], oracle: Iterable[str]) -> float:
    members = sorted({*answer, *oracle})
    return jaccard_distance(np.isin(members, [*answer]), np.isin(members, [*oracle]))


@pytest.mark.parametrize(
    ("name", "text", "options", "budget"),
    [
        ("WST", "LRU", {}, 0),
        ("LRU gamma 1", "LRU", {}, 1),
        ("LRU gamma 2", "LRU", {}, 2),
        ("FILTER gamma 1", "Filter", {}, 1),
        ("FILTER gamma 2", "Filter", {}, 2),
        ("LRU.F FDT 500 gamma 1", "LRU.F", {"fdt": 500}, 1),
        ("LRU.F FDT 500 gamma 2", "LRU.F", {"fdt": 500}, 2),
        ("Oracle", "LRU", {}, 5),
    ],
)
def test_every_evaluation_of_a_run_is_that_of_the_fixture(
    shared: Path, name: str, text: str, options: Mapping[str, object], budget: int
) -> None:
    """Fixture 003-4: candidates, elected, stale before and after, answer and distance of each."""
    fixture = expected(shared, "4")
    remote, inside = _remote(shared)
    replica = {user: start["replica"] for user, start in fixture["initial"].items()}
    asked = {user: start["last_refresh"] for user, start in fixture["initial"].items()}
    total = 0.0
    for row in fixture["runs"][name]:
        k = row["k"]
        distances = {user: abs(replica[user] - FT) for user in inside[k]}
        candidates = [
            Candidate(user, asked[user], distances=(float(distances[user]),)) for user in inside[k]
        ]
        assert [candidate.key for candidate in candidates] == row["candidates"]
        stale = sum(replica[user] != remote[k][user] for user in inside[k])
        elected = elect(policy_of(text, options), candidates, Evaluation(k, None, 1), budget)
        for candidate in elected:
            replica[candidate.key], asked[candidate.key] = remote[k][candidate.key], float(k)
        names = [candidate.key for candidate in elected]
        assert (sorted(names) if name == "Oracle" else names) == row["elected"]
        assert distances == row["FD"]
        answer = {user for user in inside[k] if replica[user] > FT}
        oracle = {user for user in inside[k] if remote[k][user] > FT}
        total += distance_of(answer, oracle)
        assert (sorted(answer), sorted(oracle)) == (row["answer"], row["oracle"])
        assert (len(elected), stale) == (row["used"], row["stale_before"])
        after = sum(replica[user] != remote[k][user] for user in inside[k])
        assert after == row["stale_after"]
        assert total == pytest.approx(Fraction(row["d_J_cumulative"]))


def _remote(shared: Path) -> tuple[dict[int, dict[str, int]], dict[int, list[str]]]:
    (folder,) = (shared / "papers/examples").glob("003-4-*")
    remote: dict[int, dict[str, int]] = {}
    inside: dict[int, list[str]] = {}
    with (folder / "data.csv").open() as file:
        for row in csv.DictReader(file):
            k = int(row["evaluation"])
            remote.setdefault(k, {})[row["user"]] = int(row["remote_value"])
            inside.setdefault(k, [])
            if row["in_window"] == "1":
                inside[k].append(row["user"])
    return remote, inside


def test_listing_1_with_budget_1_has_the_distances_of_the_fixture(shared: Path) -> None:
    """Fixture 003-1: its answers against its oracle's, as sets."""
    total = 0.0
    for step in expected(shared, "1")["steps"]:
        distance = distance_of(step["answer_set"], step["oracle_set"])
        total += distance
        assert distance == pytest.approx(Fraction(step["jaccard_distance"]))
        assert total == pytest.approx(Fraction(step["cumulative"]))


def test_the_experiment_has_the_printed_claims_and_parameters(shared: Path) -> None:
    """Fixtures 003-5 to 003-7."""
    table1, table2, setting = (expected(shared, name) for name in "567")
    assert {name: table1[name] for name in ("LRU.F", "WBM.F")} == PAPER["best FDT"]
    assert table2["table2"] == PAPER["Table 2"]
    parameters = setting["parameters"]
    assert tuple(parameters["alpha_meant"]) == ALPHAS
    assert tuple(parameters["selectivity_percent"]) == SELECTIVITIES
    assert tuple(parameters["budget"]["experiment_2_real"]) == BUDGETS
    assert parameters["iterations"] == EVALUATIONS
    assert parameters["filter_threshold"] == THRESHOLD
    assert parameters["slide"] == f"{SLIDE / 60:.0f} minute"
