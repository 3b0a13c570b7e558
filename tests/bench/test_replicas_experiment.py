"""The experiment of refresh policies, in small."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from bench.replicas.__main__ import main
from bench.replicas.boxes import box, compared
from bench.replicas.cases import TestData
from bench.replicas.parameters import CASES, DS, TENS, Variant, variants
from bench.replicas.replay import THRESHOLD, replay, schedule
from bench.replicas.runs import HEADER, Task, run_task
from bench.replicas.speed import election_times
from bench.replicas.synthetic import rng, shifted, synthetic_trace
from bench.replicas.traces import Trace, TraceError, read_trace, written_trace
from tests.support.oracles.replicas import History, simulated
from weir.remotes.policies.policy_text import NAMES, policy_of

SMALL = TestData(users=60)
POLICIES: tuple[tuple[str, Mapping[str, object]], ...] = (
    ("LRU", {}),
    ("Filter", {}),
    ("WBM", {}),
    ("LRU.F", {"fdt": 500}),
    ("WBM.F", {"fdt": 500}),
    ("LRU.F+", {"alpha": 0.167}),
    ("LRU.F+", {"alpha": 0.167, "mode": "positions"}),
    ("WBM.F+", {"alpha": 0.2}),
    ("WBM.F*", {"alpha": 0.2}),
    ("WBM.F*", {"alpha": 0.2, "mode": "positions"}),
    ("LRU+WBM+Filter", {}),
)


@pytest.mark.parametrize("written", POLICIES, ids=lambda written: f"{written[0]} {written[1]}")
@pytest.mark.parametrize("window", [100, 600])
def test_every_replayed_evaluation_gives_what_the_definitions_give(
    written: tuple[str, Mapping[str, object]], window: int
) -> None:
    data = TestData(users=40)
    trace = data.data_set("MIX40", 3)
    plan = schedule(trace, window, evaluations=40)
    run = replay(plan, policy_of(*written), 1, "oracle", answers=True)
    want = simulated(
        _history(trace),
        written,
        budget=1,
        window=window,
        filled_at=600,
        evaluations=40,
        intervals=_intervals(trace),
        threshold=THRESHOLD,
    )
    for index, evaluation in enumerate(want):
        assert {trace.users[user] for user in run.answers[index]} == evaluation.answer, index
        assert run.distance[index] == pytest.approx(float(evaluation.distance)), index
        assert (run.used[index], run.stale[index]) == (evaluation.used, evaluation.stale), index
    assert any(evaluation.distance for evaluation in want)


def _history(trace: Trace) -> History:
    return History(
        [
            (user, int(t), int(value))
            for t, values in zip(trace.times, trace.values, strict=True)
            for user, value in zip(trace.users, values, strict=True)
        ],
        [
            (int(t), trace.users[user])
            for t, user in zip(trace.mentioned_at, trace.mentioned, strict=True)
        ],
        {user: tie for tie, user in enumerate(trace.users)},
    )


def _intervals(trace: Trace) -> dict[str, int | None]:
    """Seconds between changes over the whole trace, in whole minutes."""
    intervals: dict[str, int | None] = {}
    for index, user in enumerate(trace.users):
        series = [int(values[index]) for values in trace.values]
        changes = sum(one != other for one, other in pairwise(series))
        intervals[user] = (len(series) - 1) // changes * 60 if changes else None
    return intervals


@pytest.mark.parametrize("case", ["DS10", "DS90", "INC40", "DEC70", "MIX70"])
def test_a_budget_for_all_candidates_gives_distance_zero(case: str) -> None:
    plan = schedule(SMALL.data_set(case, 0), 600, evaluations=30)
    for text, options in POLICIES:
        if text.endswith(".F"):  # the band leaves keys out, however large the budget
            options = {"fdt": float("inf")}
        run = replay(plan, policy_of(text, options), 60, "online")
        assert run.cumulative == 0, text
        assert not run.stale.any(), text
    never = replay(plan, policy_of("LRU"), 0, "online")
    assert never.cumulative > 0 or not never.stale.any()


def test_given_data_replay_equals_the_run_over_the_generators_own(tmp_path: Path) -> None:
    arguments = ["--users", "60", "--sets", "2"]
    assert main(["--write-data", str(tmp_path / "data"), *arguments]) == 0
    some = ["--cases", "DS40", "INC70", "--windows", "100", "--evaluations", "20"]
    for name, data in (("own", []), ("given", ["--data", str(tmp_path / "data")])):
        out = ["--out", str(tmp_path / name), "--processes", "1"]
        assert main([*out, *some, *arguments, *data]) == 0
    own, given = (sorted((tmp_path / name / "evaluations").iterdir()) for name in ("own", "given"))
    assert [file.name for file in own] == [file.name for file in given]
    assert len(own) == 4
    for one, other in zip(own, given, strict=True):
        assert one.read_bytes() == other.read_bytes()


def test_data_sets_that_are_given_by_case_are_not_shifted(tmp_path: Path) -> None:
    trace = synthetic_trace(5, users=8, minutes=20)
    written_trace(trace, tmp_path / "DS40" / "7")
    written_trace(synthetic_trace(6, users=8, minutes=20), tmp_path)
    data = TestData(tmp_path)
    assert np.array_equal(data.data_set("DS40", 7).values, trace.values)
    assert not np.array_equal(data.data_set("DS40", 6).values, data.trace(6).values)


def test_a_written_trace_is_read_as_it_was(tmp_path: Path) -> None:
    trace = synthetic_trace(1, users=30, minutes=40)
    written_trace(trace, tmp_path)
    again = read_trace(tmp_path)
    assert again.users == trace.users
    for name in ("times", "values", "mentioned_at", "mentioned"):
        assert np.array_equal(getattr(again, name), getattr(trace, name)), name


def test_a_value_holds_until_the_users_next_snapshot(tmp_path: Path) -> None:
    (tmp_path / "followers.csv").write_text("user,t,value\nb,0,5\na,0.5,6\nb,60,7\na,0,1\n")
    (tmp_path / "mentions.csv").write_text("t,user\n9,b\n3.5,a\n4,nobody\n")
    trace = read_trace(tmp_path)
    assert trace.users == ("a", "b")
    assert trace.times.tolist() == [0, 0.5, 60]
    assert trace.values.tolist() == [[1, 5], [6, 5], [6, 7]]
    assert [*zip(trace.mentioned_at.tolist(), trace.mentioned.tolist(), strict=True)] == [
        (3.5, 0),
        (9, 1),
    ]
    (tmp_path / "ties.csv").write_text("user,tie\nb,0\na,4\n")
    assert read_trace(tmp_path).users == ("b", "a")


@pytest.mark.parametrize(
    ("followers", "mentions", "message"),
    [
        (None, None, "followers.csv does not exist; its columns are user,t,value"),
        ("user,value\n", None, "followers.csv:1: write the header user,t,value"),
        ("user,t,value\n", None, "followers.csv has no rows"),
        ("user,t,value\na,0,1\nb,soon,1\n", None, "followers.csv:3: 'soon' is not a number"),
        ("user,t,value\na,0,1.5\n", None, "followers.csv:2: '1.5' is not a whole number"),
        ("user,t,value\na,0,1\nb,9,1\n", None, "followers.csv: b has no value at 0.0"),
        ("user,t,value\na,0,1\n", None, "mentions.csv does not exist"),
        ("user,t,value\na,0,1\n", "t,user\n1\n", "mentions.csv:2: 1 columns, not 2"),
    ],
)
def test_files_that_cannot_be_used_are_refused_with_their_line(
    tmp_path: Path, followers: str | None, mentions: str | None, message: str
) -> None:
    for name, text in (("followers.csv", followers), ("mentions.csv", mentions)):
        if text is not None:
            (tmp_path / name).write_text(text)
    with pytest.raises(TraceError) as raised:
        read_trace(tmp_path)
    assert message in str(raised.value)


def test_every_evaluation_of_every_run_has_a_row(tmp_path: Path) -> None:
    task = Task(SMALL, "DS90", 0, 100.0, 5, tmp_path)
    runs = run_task(task)
    with gzip.open(tmp_path / "100s-DS90-0.csv.gz", "rt", newline="") as file:
        rows = [*csv.reader(file)]
    assert tuple(rows[0]) == HEADER
    assert len(rows) == 1 + 5 * len(runs) == 1 + 5 * len(variants("DS90"))


def test_a_tiny_grid_runs_and_its_report_has_all_tables(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tiny = ["--users", "30", "--sets", "1", "--evaluations", "3", "--windows", "100"]
    main([*tiny, "--out", str(tmp_path), "--processes", "1"])
    text = (tmp_path / "report.md").read_text()
    for title in ("What must hold", "Table 1", "Table 2", "The claims in the text", "What differs"):
        assert f"\n## {title}" in text
    assert "| LRU.F | paper | 156 | 1000 | 250 | 625 | 500 | 500 |" in text
    assert len([*tmp_path.glob("*.svg")]) == 4 * 5
    assert len([*(tmp_path / "evaluations").iterdir()]) == len(CASES)
    assert "LRU.F+ against LRU.F" in capsys.readouterr().out


def test_selectivity_is_the_share_that_stays_below_the_threshold() -> None:
    trace = synthetic_trace(0)
    assert (trace.values.max(axis=0) < THRESHOLD).all()
    for selectivity in TENS:
        moved = shifted(trace.values, selectivity, THRESHOLD, rng(0, 9, selectivity))
        reached = (moved.max(axis=0) > THRESHOLD).mean()
        assert reached == pytest.approx(1 - selectivity / 100, abs=0.08)
        assert (moved.min(axis=0) <= THRESHOLD + 1).all()


def test_the_synthetic_trace_has_the_statistics_it_is_named_for() -> None:
    traces = [synthetic_trace(number) for number in range(10)]
    rates = np.concatenate([(np.diff(trace.values, axis=0) != 0).mean(axis=0) for trace in traces])
    assert 0.028 < np.median(rates) < 0.040
    assert 19 < np.mean([len(trace.mentioned) / 180 for trace in traces]) < 25
    silent = [400 - len(set(trace.mentioned.tolist())) for trace in traces]
    assert all(length >= 116 for length in silent)


def test_values_of_inc_only_rise_of_dec_only_fall_and_of_mix_do_both() -> None:
    for case, signs in (("INC40", {0, 1}), ("DEC40", {0, -1}), ("MIX40", {0, 1, -1})):
        values = SMALL.data_set(case, 0).values
        assert {*np.unique(np.sign(np.diff(values, axis=0))).tolist()} == signs
    assert len(DS) == 10


def test_boxes_that_overlap_are_comparable() -> None:
    low, middle, high = box([1, 2, 3]), box([2, 3, 4]), box([5, 6, 7])
    assert (low.first, low.median, low.third) == (1.5, 2, 2.5)
    assert compared(low, middle) == "comparable"
    assert compared(low, high) == "better"
    assert compared(high, low) == "worse"


def test_every_policy_is_timed() -> None:
    times = dict(election_times(count=50))
    assert {*NAMES} < {*times}


def test_variants_are_read_as_policies() -> None:
    declared = {variant for case in CASES for variant in variants(case)}
    for variant in declared - {replace(of_case, text="WST") for of_case in declared}:
        policy_of(variant.text, variant.options)
    assert Variant("LRU.F+", 3, alpha=0.167, mode="minmax") in declared
