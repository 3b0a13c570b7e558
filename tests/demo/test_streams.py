"""The demo of streams, without Airflow: a late second, a tick, and what the graph says."""

from __future__ import annotations

import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyoxigraph as ox
import pytest

from demo.streams import __main__ as demo
from tests.support.projects.project import Project
from weir.lake.lake import Lake

Atoms = dict[str, set[str]]
"""By predicate the sensors."""
CLOSE = datetime.fromisoformat(demo.CLOSE)


def run() -> None:
    Project(demo.PROJECT).run()


def published(query: str, column: str, at: datetime) -> dict[str, int]:
    """The values of a column of an answer, each with its multiplicity."""
    answer: Counter[str] = Counter()
    for row in Lake(str(demo.PROJECT / "lake")).rows(f"answers/{query}").to_pylist():
        if row["event_time"].replace(tzinfo=UTC) <= at:
            answer[row[column]] += row["weight"]
    return {value: weight for value, weight in answer.items() if weight}


def silent(at: datetime) -> int:
    """The published number of silent thermometers."""
    (held,) = published("silent", "silent", at)
    return int(held.split('"')[1])


def hot_by_definition(window: list[Path]) -> dict[str, int]:
    """Sensors with observations of more than 90 degrees in some files, and how many."""
    store = ox.Store()
    for file in window:
        store.load(path=str(file), format=ox.RdfFormat.TURTLE)
    query = f"""PREFIX o: <{demo.OWL}>
SELECT ?sensor {{ ?x o:observedProperty ?p ; o:procedure ?sensor ; o:result/o:floatValue ?value
  FILTER (STRENDS(STR(?p), "_AirTemperature") && ?value > 90) }}"""
    result = store.query(query)
    assert isinstance(result, ox.QuerySolutions)
    return dict(Counter(str(solution["sensor"]) for solution in result))


def silent_by_definition(files: list[Path], window: list[Path]) -> int:
    """Thermometers of all files without an observation of temperature in those of the window."""

    def thermometers(some: list[Path]) -> set[str]:
        store = ox.Store()
        for file in some:
            store.load(path=str(file), format=ox.RdfFormat.TURTLE)
        observed = ox.NamedNode(f"{demo.OWL}observedProperty")
        by = ox.NamedNode(f"{demo.OWL}procedure")
        temperature = f"{demo.OWL.replace('sensor-observation', 'weather')}_AirTemperature"
        return {
            str(sensor.object)
            for quad in store.quads_for_pattern(None, observed, ox.NamedNode(temperature))
            for sensor in store.quads_for_pattern(quad.subject, by, None)
        }

    return len(thermometers(files) - thermometers(window))


def observed(files: list[Path]) -> dict[int, dict[str, set[float]]]:
    """By second since the first, the temperatures of each sensor."""
    query = f"""PREFIX o: <{demo.OWL}>
SELECT ?sensor ?value {{ ?x o:observedProperty ?p ; o:procedure ?sensor ;
  o:result/o:floatValue ?value FILTER STRENDS(STR(?p), "_AirTemperature") }}"""
    by_second: dict[int, dict[str, set[float]]] = {}
    for file in files:
        store = ox.Store()
        store.load(path=str(file), format=ox.RdfFormat.TURTLE)
        rows = store.query(query)
        assert isinstance(rows, ox.QuerySolutions)
        at = by_second.setdefault(int(file.stem.removeprefix("data_")), {})
        for row in rows:
            at.setdefault(str(row["sensor"]), set()).add(float(row["value"].value))
    return by_second


def alerts_by_definition(files: list[Path], everything: list[Path], second: int) -> Atoms:
    """What the rules derive at a second from some files; all files have all thermometers."""
    by_second = observed(files)
    before = {at: sensors for at, sensors in by_second.items() if at <= second}
    everyone = {sensor for sensors in observed(everything).values() for sensor in sensors}

    def within(points: int) -> set[str]:
        return {s for at, sensors in before.items() if second - points <= at for s in sensors}

    hot = {
        s
        for at, sensors in before.items()
        for s, values in sensors.items()
        if second - 10 <= at and max(values) > 90
    }
    both = {*before.get(second, ())} & {*before.get(second - 1, ())}
    return {"alarm": hot, "steady": both, "lost": everyone - within(9)}


def alerts(second: int) -> Atoms:
    """The published atoms at a second."""
    state: Counter[tuple[str, str]] = Counter()
    at = demo.BEGAN + timedelta(seconds=second)
    for row in Lake(str(demo.PROJECT / "lake")).rows("answers/alerts").to_pylist():
        if row["event_time"].replace(tzinfo=UTC) <= at:
            state[row["predicate"].strip('"'), row["a1"]] += row["weight"]
    assert {*state.values()} <= {0, 1}
    atoms: Atoms = {"alarm": set(), "steady": set(), "lost": set()}
    for (predicate, sensor), weight in state.items():
        if weight:
            atoms[predicate].add(sensor)
    return atoms


def test_the_late_second_corrects_the_answer_and_a_tick_closes_the_last_windows(
    shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "SHARED", shared / "data")
    monkeypatch.setattr(demo, "PROJECT", tmp_path / "project")
    demo.new_project()
    files = sorted((shared / "data/csrbench/data").glob("*.ttl"))
    late = files[demo.LATE_SECOND]
    demo.write_network(files)
    demo.arrive_commits([])
    (demo.PROJECT / "data/commits").mkdir()
    demo.arrive_observations(file for file in files[:25] if file != late)
    run()
    window = [file for file in files[10:20] if file != late]
    assert silent(CLOSE) == silent_by_definition(files, window)
    before = published("hot", "sensor", CLOSE)
    assert before == hot_by_definition(window)
    known = [file for file in files[:25] if file != late]
    early = {second: alerts(second) for second in (3, 14, 20)}
    assert early == {second: alerts_by_definition(known, files, second) for second in early}
    demo.arrive_observations([late, *files[25:]])
    run()
    for second in (3, 13, 14, 15, 20, 24, 30):
        assert alerts(second) == alerts_by_definition(files, files, second), second
    assert alerts(14) != early[14]
    assert silent(CLOSE) == silent_by_definition(files, files[10:20])
    assert published("hot", "sensor", CLOSE) == hot_by_definition(files[10:20]) != before
    everything = silent_by_definition(files, [])
    assert silent(datetime.now(UTC)) < everything
    time.sleep(1.1)  # `idle: PT1S`
    run()
    assert silent(datetime.now(UTC)) == everything
