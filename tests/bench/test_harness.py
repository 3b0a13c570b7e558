"""The harness of the benchmark: probes, results, and one scenario on a tiny graph."""

from __future__ import annotations

import importlib
from functools import reduce
from pathlib import Path

import pytest

from bench import places, scale
from bench.__main__ import DETAILS, NAMES, PAGE, pages
from bench.report import details, time_lines
from bench.results import Rows, Scenario, Timing, Written
from bench.session import MeasuredRun
from bench.spans import PROBES, Probe, timed


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: f"{probe.module}.{probe.function}")
def test_every_probe_names_a_function(probe: Probe) -> None:
    module = importlib.import_module(probe.module)
    assert callable(reduce(getattr, probe.function.split("."), module))


def test_a_probed_function_is_restored() -> None:
    before = places.written
    with timed((Probe("", "bench.places", "written", lambda *_: "w"),)) as spans:
        places.written({}, {})
        assert places.written is not before
    assert places.written is before
    assert [*spans.seconds] == [("", "w")]


def test_a_copied_lake_shares_data_files_only(tmp_path: Path) -> None:
    log = tmp_path / "lake/quads/_delta_log"
    log.mkdir(parents=True)
    (tmp_path / "lake/quads/a.parquet").write_bytes(b"rows")
    (log / "1.checkpoint.parquet").write_bytes(b"state")
    places.copy_lake(tmp_path / "lake", tmp_path / "copy")
    quads = tmp_path / "copy/quads"
    assert (quads / "a.parquet").samefile(tmp_path / "lake/quads/a.parquet")
    state = "_delta_log/1.checkpoint.parquet"
    assert not (quads / state).samefile(tmp_path / "lake/quads" / state)


def test_written_files_are_those_that_are_new_or_changed() -> None:
    before = {Path("quads/old.parquet"): 5, Path("quads/_delta_log/_last_checkpoint"): 7}
    after = {
        **before,
        Path("quads/_delta_log/_last_checkpoint"): 8,
        Path("quads/new.parquet"): 100,
        Path("answers/q/_delta_log/0.json"): 20,
    }
    assert places.written(before, after) == [
        Written("answers", 0, 20, 1),
        Written("quads", 100, 8, 2),
    ]


def test_a_result_is_read_as_it_was_stored(tmp_path: Path) -> None:
    timings = (Timing("in all", "cold", (2.0, 1.0, 9.0)), Timing("parse", "cold", (0.5,), "ingest"))
    scenario = Scenario("s", "title", {"quads": 5}, True, timings, rows=(Rows("q", 1, 1, 2),))
    loaded = Scenario.load(scenario.save(tmp_path))
    assert loaded == scenario
    assert loaded.seconds("in all", "cold") == 2.0
    assert not loaded.rows[0].agree
    assert "title" in details([loaded])


def test_the_pages_show_what_ran_in_full_size_and_name_the_rest() -> None:
    timings = (Timing("in all", "cold", (2.0,)),)
    whole = Scenario("empty", "an empty run", {}, True, timings)
    small = Scenario("bulk", "a small bulk", {}, False, timings)
    for page in (PAGE, DETAILS):
        text = pages([whole, small])[page]
        assert "an empty run" in text
        assert "a small bulk" not in text
        missing = ", ".join(name for name in NAMES if name != "empty")
        assert f"Not measured in full size: {missing}." in " ".join(text.split())
    assert pages([small]) == {}


def test_the_page_compares_a_run_with_recomputing_by_the_quicker_spark() -> None:
    timings = (
        Timing("in all", "cold", (9.0, 8.0, 8.5)),
        Timing("maintain", "cold", (1.2,)),
        Timing("all queries, DuckDB", "cold", (5.8,), "full recomputation"),
        Timing("all queries, compiled stages", "cold", (38.7,), "full recomputation"),
        Timing("all queries, interpreted stages", "cold", (27.5,), "full recomputation"),
        Timing("load", "", (45.9,), "pyoxigraph"),
        Timing("evaluation, all queries", "", (42.0,), "pyoxigraph"),
    )
    text = pages([Scenario("bulk", "a graph", {}, True, timings)])[PAGE]
    assert "| a graph | `bulk` |  | 1.20 | 8.50 | 5.80 | 27.5 | 87.9 |" in text


def test_the_report_shows_cold_beside_warm_and_parts_below_their_whole() -> None:
    timings = [
        Timing("ingest", "cold", (3.0,)),
        Timing("maintain", "cold", (4.0,)),
        Timing("parse", "cold", (1.0,), "ingest"),
        Timing("ingest", "warm", (2.0,)),
    ]
    assert [line[:3] for line in time_lines(timings)] == [
        ("ingest", "3.00", "2.00"),
        ("    parse", "1.00", ""),
        ("maintain", "4.00", ""),
    ]


@pytest.mark.usefixtures("own_jvm")
def test_a_scenario_gives_times_and_answers_on_which_all_sides_agree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scale, "WORK", tmp_path)
    scenario = scale.Scale(5_000, 1, lambda _: None, changes=(100,)).run()
    assert {rows.query for rows in scenario.rows} == {f.stem for f in places.QUERIES.glob("*.rq")}
    assert all(r.agree and r.spark and r.oxigraph and r.duckdb for r in scenario.rows)
    head, *lines = scenario.summary
    assert [line[:2] for line in lines] == [("5,000", "100")]
    assert all(len(line) == len(head) and all(line) for line in lines)
    label = "5,000 quads, 100 changes"
    for temperature in ("cold", "warm"):
        assert scenario.seconds(label, temperature)
        for stage in ("ingest", "maintain", "validate", "publish"):
            assert scenario.seconds(stage, temperature, label)
    assert not scenario.full


def test_growth_is_that_of_a_graph_64_times_as_large() -> None:
    def measured(quads: int, seconds: float) -> scale.Measured:
        run = MeasuredRun({("", "in all"): seconds, ("", "maintain"): seconds / 2}, 1, 1.0)
        return scale.Measured(quads, 1_000, (run, run), 1)

    again = scale.Recomputation(
        tuple(
            Timing(f"all queries, {method}", "cold", (s,), "full recomputation")
            for method, s in (
                ("DuckDB", 12.0),
                ("compiled stages", 90.0),
                ("interpreted stages", 60),
            )
        ),
        (),
    )
    sizes = {160_000: 1.0, 2_500_000: 1.2, 10_000_000: 1.6}
    targets = scale.targets([measured(*one) for one in sizes.items()], dict.fromkeys(sizes, again))
    assert [(target.reached, target.met) for target in targets] == [
        ("1.60", False),
        ("1.6 s", False),
        ("15.0 (12.0 s / 0.80 s)", True),
        ("75.0 (60.0 s / 0.80 s)", True),
    ]
