"""What the DAGs of a project with channels of notifications are, beside those of any project."""

from __future__ import annotations

import shutil
from typing import Any

import pytest

from tests.dags.installation import HERE, describe

CHANNELS = """
[notify.desk]
folder = "outbox"

[notify.chat]
webhook = "https://chat.example/hook"
connection = "chat_login"
"""


@pytest.fixture(scope="module")
def with_channels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("channels")
    shutil.copytree(HERE / "project", folder / "project")
    with (folder / "project/weir.toml").open("a") as config:
        config.write(CHANNELS)
    return describe(folder / "home", folder / "project")


def test_channels_are_notified_after_publication_whether_all_was_published_or_not(
    with_channels: dict[str, Any],
) -> None:
    assert with_channels["import_errors"] == {}
    tasks = with_channels["dags"]["maintain_queries"]["tasks"]
    assert "notify_channels" in tasks["publish_answers"]["downstream"]
    assert tasks["notify_channels"]["downstream"] == ["all_succeeded"]
    assert tasks["notify_channels"]["trigger_rule"] == "all_done"


def test_loading_the_dags_imports_no_engine(with_channels: dict[str, Any]) -> None:
    assert with_channels["heavy_modules"] == []
