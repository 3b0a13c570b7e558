"""`weir artifacts`, and the artefacts that a run writes at its end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.artifacts import NAMES, Documents
from tests.support.projects.command_line import Weir
from weir.errors import EXIT_FAILED, EXIT_QUALITY, EXIT_USAGE
from weir.resident.rounds import Rounds
from weir.settings import Settings

FILES = {f"{name}.json" for name in NAMES}


def _set(value: str) -> None:
    config = Path("weir.toml")
    config.write_text(f"artifacts = {json.dumps(value)}\n{config.read_text()}")


def _written(folder: str) -> set[str]:
    return {file.name for file in Path(folder).glob("*")}


@pytest.mark.usefixtures("has_run")
def test_the_four_files_are_written_where_it_is_said_or_set_else_into_target(weir: Weir) -> None:
    assert weir("artifacts").out == "Wrote 4 files in target.\n"
    _set("out/set")
    assert weir("artifacts").out == "Wrote 4 files in set.\n"
    assert weir("artifacts", "--to", "said").code == 0
    assert _written("target") == _written("out/set") == _written("said") == FILES


@pytest.mark.usefixtures("has_run")
def test_a_run_writes_them_at_its_end_if_they_are_set_also_if_it_has_nothing_else_to_do(
    weir: Weir,
) -> None:
    assert weir("run").code == 0
    assert not Path("target").exists()
    _set("target")
    stages = weir("run", "--output", "json").json["stages"]
    assert [(stage["stage"], stage["result"]) for stage in stages][-1] == (
        "artifacts",
        "4 files in target",
    )
    assert Documents.read(Path("target")).result("exhibits").status.value == "success"


@pytest.mark.usefixtures("has_run")
def test_a_run_that_holds_an_answer_writes_that_and_fails_as_without_them(weir: Weir) -> None:
    _set("target")
    query, data = Path("queries/exhibits.rq"), Path("data/versions")
    query.write_text(f"#+ max_rows: 2\n{query.read_text()}")
    weir("run")
    more = (data / "001.ttl").read_text().replace("@en .", '@en; :room "3" .')
    (data / "002.ttl").write_text(more)
    called = weir("run")
    assert (called.code, "max_rows" in called.err) == (EXIT_QUALITY, True)
    held = Documents.read(Path("target")).result("exhibits")
    assert held.status.value == "error"
    assert held.message.startswith("row_count_is_within_max_rows: 3 rows")


@pytest.mark.usefixtures("has_run")
def test_a_round_writes_them_if_it_has_anything_to_do() -> None:
    _set("target")
    data = Path("data/versions")
    with Rounds(Settings.load, Path("weir.toml").absolute(), every=5) as rounds:
        assert rounds.next() is None
        assert not Path("target").exists()
        (data / "002.ttl").write_text((data / "001.ttl").read_text().replace('"1"', '"2"'))
        done = rounds.next()
        assert done is not None
        assert [stage.stage for stage in done.done][-2:] == ["publish", "artifacts"]
        assert _written("target") == FILES
        Path("target/manifest.json").unlink()
        assert rounds.next() is None
        assert _written("target") < FILES


@pytest.mark.usefixtures("has_run")
def test_that_they_cannot_be_written_is_an_error_after_all_other_stages(weir: Weir) -> None:
    _set("weir.toml")
    query = Path("queries/exhibits.rq")
    query.write_text(query.read_text().replace("?title ?room", "?room"))
    called = weir("run")
    assert (called.code, "weir.toml" in called.err) == (EXIT_FAILED, True)
    assert "published" in called.out
    assert "Traceback" not in called.err


@pytest.mark.usefixtures("has_run")
def test_a_wrong_file_of_sources_is_an_error_and_the_files_before_stay(weir: Weir) -> None:
    weir("artifacts")
    before = Path("target/manifest.json").read_bytes()
    Path("sources.yml").write_text("sources: 1")
    called = weir("artifacts")
    assert (called.code, "sources.yml:1" in called.err) == (EXIT_USAGE, True)
    assert Path("target/manifest.json").read_bytes() == before
