"""The figures for monitors: what they say is what `weir status` says."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.support.projects.command_line import Weir
from tests.support.projects.museum import Museum
from tests.support.serving import serving
from weir.metrics.figures import NAMES
from weir.settings import CONFIG_FILE, Settings

Values = dict[tuple[str, ...], float]


def values(text: str) -> Values:
    """The values of a text of Prometheus, by the name of the metric and its labels."""
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


@pytest.fixture
def museum(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Museum:
    museum = Museum(tmp_path / "museum")
    monkeypatch.chdir(museum.folder)
    return museum


def test_answers_sources_and_stages_have_their_figures(museum: Museum, weir: Weir) -> None:
    museum.live(2)
    said = values(weir("metrics").out)
    assert said["weir_graph_epoch",] == 2
    assert said["weir_answer_state", "rooms", "current"] == 1
    assert said["weir_answer_epoch", "rooms"] == 2
    assert said["weir_answer_rows", "exhibits"] == len(museum.exhibits)
    assert said["weir_answer_lag_epochs", "rooms"] == 0
    assert said["weir_source_state", "register", "current"] == 1
    assert said["weir_stage_failed", "publish"] == 0
    assert 0 < time.time() - said["weir_stage_end_timestamp_seconds", "publish"] < 600
    assert {name for name, *_ in said} <= {*NAMES}


def test_what_is_wrong_is_counted_by_kind(museum: Museum, weir: Weir) -> None:
    museum.live(1)
    museum.exhibits[4]["insured"] = -5
    museum.live(1)
    said = values(weir("metrics").out)
    assert said["weir_faults", "held"] == 1
    assert said["weir_faults", "stale"] == 0
    assert said["weir_answer_state", "exhibits", "held"] == 1
    assert said["weir_answer_lag_epochs", "exhibits"] == 1
    assert said["weir_stage_failed", "validate"] == 1


@pytest.mark.usefixtures("museum")
def test_before_the_first_run_there_are_no_figures_of_answers(weir: Weir) -> None:
    called = weir("metrics")
    assert called.code == 0
    said = values(called.out)
    assert said["weir_graph_epoch",] == 0
    assert said["weir_answer_state", "rooms", "new"] == 1
    assert ("weir_answer_rows", "rooms") not in said


def test_a_run_replaces_the_file_of_the_setting(museum: Museum) -> None:
    config = museum.folder / CONFIG_FILE
    config.write_text(f'metrics = "out/weir.prom"\n{config.read_text()}')
    museum.live(1)
    first = values((museum.folder / "out/weir.prom").read_text())
    museum.live(1)
    second = values((museum.folder / "out/weir.prom").read_text())
    assert (first["weir_graph_epoch",], second["weir_graph_epoch",]) == (1, 2)
    assert [file.name for file in (museum.folder / "out").iterdir()] == ["weir.prom"]


def test_a_server_gives_them_to_who_scrapes_it(museum: Museum, weir: Weir) -> None:
    museum.live(1)
    with serving(Settings.load(museum.folder / CONFIG_FILE)) as client:
        reply = client.get("/metrics")
    assert (reply.status, reply.media) == (200, "text/plain")
    known = values(weir("metrics").out)
    assert {*values(reply.text)} == {*known}


@pytest.mark.parametrize("name", NAMES)
def test_each_metric_is_named_by_the_conventions_and_documented(name: str) -> None:
    assert name.startswith("weir_")
    assert not name.endswith(("_total", "_count", "_sum", "_bucket"))
    page = (Path(__file__).parents[2] / "docs/operations.md").read_text()
    assert f"`{name}`" in page
