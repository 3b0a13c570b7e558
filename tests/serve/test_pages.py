"""The site that a server shows and keeps up to date."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.projects.museum import Museum
from tests.support.serving import Client, serving
from weir.settings import CONFIG_FILE, Settings

_SECONDS = 60.0


def comes_true(condition: Callable[[], bool]) -> bool:
    """Whether a condition holds within a minute."""
    deadline = time.monotonic() + _SECONDS
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.2)
    return False


def becomes(client: Client, path: str, is_so: Callable[[str], bool]) -> bool:
    """Whether a page becomes so within a minute."""
    return comes_true(lambda: is_so(client.send("GET", path).text))


def test_the_site_is_shown_and_follows_runs(tmp_path: Path) -> None:
    museum = Museum(tmp_path / "museum")
    museum.live(1)
    with serving(Settings.load(museum.folder / CONFIG_FILE), site=None) as client:
        assert becomes(client, "/", lambda text: "right and up to date" in text)
        assert "insured" in client.send("GET", "/data/answers/exhibits.js").text
        assert client.send("GET", "/answers/exhibits.html").status == 200
        assert client.send("GET", "/assets/site.js").status == 200
        museum.exhibits[1]["room"] = 77
        museum.live(1)
        assert becomes(client, "/", lambda text: "Room 77" in text)


@pytest.mark.usefixtures("slow")
def test_what_is_wrong_with_the_project_is_said_and_the_server_goes_on(tmp_path: Path) -> None:
    museum = Museum(tmp_path / "museum")
    museum.live(1)
    said: list[str] = []
    (museum.folder / "queries").rename(museum.folder / "asked")
    settings = Settings.load(museum.folder / CONFIG_FILE)
    with serving(settings, site=None, progress=said.append) as client:
        # The endpoint reports its copy of the graph too, from a thread of its own.
        assert comes_true(lambda: any("the site was not written: " in text for text in said))
        assert client.send("GET", "/answers").status in (200, 404)
        (museum.folder / "asked").rename(museum.folder / "queries")
        assert becomes(client, "/", lambda text: "What changed lately" in text)
