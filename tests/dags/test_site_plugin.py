"""The site as a page of Airflow: only for those who are logged in, and only its own files."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.dags.installation import HERE, describe
from weir.errors import ConfigurationError

# Airflow imports a test client of Starlette that warns of the one it uses.
pytestmark = pytest.mark.filterwarnings("ignore:Using `httpx`")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "weir.toml").write_text('lake = "lake"\nsite = "pages"\n')
    (tmp_path / "pages/answers").mkdir(parents=True)
    (tmp_path / "pages/index.html").write_text("the start page")
    (tmp_path / "pages/answers/rooms.html").write_text("the rooms")
    return tmp_path


def get(folder: Path, path: str, *, logged_in: bool = True) -> httpx.Response:
    """What the application answers to a request."""
    from airflow.api_fastapi.core_api.security import get_user

    from weir.airflow.site_plugin import SiteApplication

    application = SiteApplication(folder)
    if logged_in:
        application._application.dependency_overrides[get_user] = lambda: "somebody"

    async def answer() -> httpx.Response:
        transport = httpx.ASGITransport(application)
        async with httpx.AsyncClient(transport=transport, base_url="http://airflow") as client:
            return await client.get(path)

    return asyncio.run(answer())


def test_those_who_are_logged_in_see_the_pages(folder: Path) -> None:
    assert get(folder, "/index.html").text == "the start page"
    assert get(folder, "/").text == "the start page"
    assert get(folder, "/answers/rooms.html").text == "the rooms"
    assert get(folder, "/answers/others.html").status_code == 404
    assert get(folder, "/answers").status_code == 404


@pytest.mark.parametrize("path", ["index.html", "answers/rooms.html", "none.html"])
def test_others_see_nothing(folder: Path, path: str) -> None:
    assert get(folder, f"/{path}", logged_in=False).status_code == 401


@pytest.mark.parametrize("path", ["../weir.toml", "%2e%2e/weir.toml", "answers/../../weir.toml"])
def test_no_file_outside_of_the_site_is_served(folder: Path, path: str) -> None:
    assert get(folder, f"/{path}").status_code == 404


def test_before_the_first_site_a_page_says_what_makes_one(folder: Path) -> None:
    shutil.rmtree(folder / "pages")
    answer = get(folder, "/index.html")
    assert answer.status_code == 404
    assert "set `site` in weir.toml" in answer.text


def test_the_documents_are_written_after_publication_if_the_settings_say_so(
    tmp_path: Path,
) -> None:
    shutil.copytree(HERE / "project", tmp_path / "project")
    config = tmp_path / "project/weir.toml"
    config.write_text(f'site = "pages"\n{config.read_text()}')
    described = describe(tmp_path / "home", tmp_path / "project")
    assert described["import_errors"] == {}
    assert described["heavy_modules"] == []
    tasks = described["dags"]["maintain_queries"]["tasks"]
    assert "write_documents" in tasks["publish_answers"]["downstream"]
    assert tasks["write_documents"]["downstream"] == ["all_succeeded"]
    assert tasks["write_documents"]["trigger_rule"] == "all_done"


@pytest.fixture(scope="module")
def with_lineage(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The DAGs of a project with a remote that sends events of lineage."""
    folder = tmp_path_factory.mktemp("lineage")
    shutil.copytree(HERE / "project", folder / "project")
    (folder / "project/remotes.yml").write_text(
        "remotes:\n  - {name: wd, iri: 'http://remote.example/', contact: tests@example.org}\n"
    )
    with (folder / "project/weir.toml").open("a") as config:
        config.write('\n[openlineage]\nurl = "https://lineage.example"\nconnection = "catalogue"\n')
    described = describe(folder / "home", folder / "project")
    assert described["import_errors"] == {}
    assert described["heavy_modules"] == []
    dags: dict[str, Any] = described["dags"]
    return dags


def test_lineage_alone_is_reason_to_write_documents_of_the_run(
    with_lineage: dict[str, Any],
) -> None:
    words = with_lineage["maintain_queries"]["tasks"]["write_documents"]["command"]
    assert words.splitlines()[-2:] == ["--run-id", "'$RUN_ID'"]


@pytest.mark.parametrize(
    ("dag", "task", "stage"),
    [("ingest_changes", "ingest_changes", "ingest"), ("refresh_remotes", "refresh_wd", "refresh")],
)
def test_lineage_of_a_stage_is_sent_whether_it_succeeded_or_not(
    with_lineage: dict[str, Any], dag: str, task: str, stage: str
) -> None:
    tasks = with_lineage[dag]["tasks"]
    assert "send_lineage" in tasks[task]["downstream"]
    assert tasks["send_lineage"]["downstream"] == ["all_succeeded"]
    assert tasks["send_lineage"]["trigger_rule"] == "all_done"
    words = tasks["send_lineage"]["command"].splitlines()
    assert words[-4:] == ["--lineage-of", stage, "--run-id", "'$RUN_ID'"]


def test_the_log_of_each_stage_ends_with_the_address_of_the_page(tmp_path: Path) -> None:
    shutil.copytree(HERE / "project", tmp_path / "museum")
    config = tmp_path / "museum/weir.toml"
    config.write_text(f'site = "pages"\n{config.read_text()}')
    described = describe(
        tmp_path / "home", tmp_path / "museum", AIRFLOW__API__BASE_URL="https://airflow.example/"
    )
    tasks = described["dags"]["maintain_queries"]["tasks"]
    for task in ("maintain_queries", "validate_answers", "publish_answers", "write_documents"):
        words = tasks[task]["command"].splitlines()
        assert words[words.index("--page") + 1] == "https://airflow.example/weir/index.html"


def test_several_projects_have_dags_assets_and_pages_of_their_own(tmp_path: Path) -> None:
    for name in ("museum", "library"):
        shutil.copytree(HERE / "project", tmp_path / name)
    both = f"{tmp_path / 'museum'}{os.pathsep}{tmp_path / 'library'}"
    described = describe(tmp_path / "home", tmp_path / "museum", WEIR_PROJECT=both)
    assert described["import_errors"] == {}
    assert {"museum.maintain_queries", "library.maintain_queries"} <= {*described["dags"]}
    assert described["dags"]["museum.maintain_queries"]["schedule"] == ["museum/quads"]


def test_folders_of_the_same_name_are_refused() -> None:
    # Imports Airflow, which every process of tests would do if it were above.
    from weir.airflow.projects import projects

    with pytest.raises(ConfigurationError, match="folders of the same name"):
        projects(f"/a/museum{os.pathsep}/b/museum")
    assert projects("/a/museum") == {"": Path("/a/museum")}
    assert [*projects(f"/a/museum{os.pathsep}/b/library")] == ["museum", "library"]
