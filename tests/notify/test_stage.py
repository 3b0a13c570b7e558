"""Channels are notified of each change of an answer at least once, in order, with an id."""

from __future__ import annotations

import hashlib
import hmac
import json
import shutil
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from itertools import count as natural_numbers
from pathlib import Path
from typing import Any

import pytest

import weir
from tests.support.counting_server import CountingServer, answer_of
from tests.support.dying import dies_after
from weir.cli import main
from weir.compact.stage import compact_lake
from weir.notify.stage import is_notification_due, notify_channels
from weir.progress.notifications import Notifications
from weir.project import Project
from weir.settings import Settings

FOLDER = '[notify.desk]\nfolder = "outbox"\n'


@pytest.fixture(scope="module")
def museum_that_began(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a channel that ran once; to be copied."""
    folder = tmp_path_factory.mktemp("museum")
    assert main(["init", str(folder)]) == 0
    configure(folder, FOLDER)
    with weir.Project(folder) as project:
        project.run()
    return folder


@pytest.fixture
def museum(museum_that_began: Path, tmp_path: Path) -> Path:
    shutil.copytree(museum_that_began, tmp_path, dirs_exist_ok=True)
    return tmp_path


def configure(museum: Path, channels: str) -> None:
    config = museum / "weir.toml"
    kept = config.read_text().partition("\n[notify")[0]
    config.write_text(f"{kept}\n{channels}")


def move(museum: Path, room: int) -> None:
    """A new version in which the vase is in another room."""
    versions = museum / "data/versions"
    text = (versions / "001.ttl").read_text().replace('"1"', f'"{room}"')
    (versions / f"{len([*versions.iterdir()]) + 1:03}.ttl").write_text(text)


def run(museum: Path) -> weir.Run:
    with weir.Project(museum) as project:
        return project.run()


def outbox(museum: Path) -> list[dict[str, Any]]:
    """The messages in the folder, in their order."""
    return [json.loads(file.read_text()) for file in sorted((museum / "outbox").glob("*.json"))]


def vase(message: Mapping[str, Any]) -> list[tuple[int, str]]:
    ((answer),) = message["answers"]
    return [(row["weight"], row["room"]) for row in answer["rows"]]


def test_a_channel_is_notified_of_nothing_that_was_there_before(museum: Path) -> None:
    assert outbox(museum) == []
    assert [done.stage for done in run(museum).stages] == ["ingest"]


def test_a_message_has_the_counts_the_epochs_and_the_rows_that_changed(museum: Path) -> None:
    move(museum, 3)
    run(museum)
    (message,) = outbox(museum)
    (answer,) = message["answers"]
    assert (answer["query"], answer["epochs"]) == ("exhibits", [2, 2])
    assert (answer["appeared"], answer["vanished"], answer["rows_left_out"]) == (1, 1, 0)
    assert vase(message) == [(-1, "1"), (1, "3")]
    assert answer["rows"][1]["title_term"] == '"Greek vase"@en'


def test_each_change_is_notified_once_and_in_order(museum: Path) -> None:
    for room in (3, 4, 5):
        move(museum, room)
        run(museum)
        run(museum)
    assert [vase(message)[1] for message in outbox(museum)] == [(1, "3"), (1, "4"), (1, "5")]
    assert len({message["id"] for message in outbox(museum)}) == 3


def test_changes_of_several_epochs_and_an_edit_are_one_message(museum: Path) -> None:
    move(museum, 3)
    move(museum, 4)
    query = museum / "queries/exhibits.rq"
    query.write_text(query.read_text().replace("?exhibit :title", "?exhibit :room ?r ; :title"))
    run(museum)
    (message,) = outbox(museum)
    assert message["answers"][0]["epochs"][1] == 3


def test_an_edit_at_the_epoch_that_was_notified_is_notified(museum: Path) -> None:
    query = museum / "queries/exhibits.rq"
    query.write_text(query.read_text().replace("?exhibit :title", '?exhibit :room "1" ; :title'))
    run(museum)
    (message,) = outbox(museum)
    assert message["answers"][0]["vanished"] == 1


def test_an_answer_that_does_not_change_is_not_notified(museum: Path) -> None:
    versions = museum / "data/versions"
    text = (versions / "001.ttl").read_text() + ":vase :height 12 .\n"
    (versions / "002.ttl").write_text(text)
    run(museum)
    assert outbox(museum) == []


def test_a_channel_is_notified_of_what_it_selects(museum: Path) -> None:
    (museum / "queries/vases.rq").write_text(
        "#+ tags: [vases]\nPREFIX : <http://example.org/>\nSELECT ?room { :vase :room ?room }\n"
    )
    configure(museum, FOLDER + 'select = ["tag:vases"]\nrows = 0\n')
    run(museum)
    move(museum, 3)
    run(museum)
    (message,) = outbox(museum)
    (answer,) = message["answers"]
    assert (answer["query"], answer["rows"], answer["rows_left_out"]) == ("vases", [], 2)


def test_a_run_that_dies_at_any_checkpoint_is_completed_with_the_same_message(
    museum: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    move(museum, 3)
    monkeypatch.setattr("weir.pipeline._is_notification_due", lambda _: False)
    run(museum)
    died = []
    for passed in natural_numbers():
        copy = tmp_path_factory.mktemp("copy")
        shutil.copytree(museum, copy, dirs_exist_ok=True)
        with dies_after(passed) as death:
            notify_channels(Project.load(copy / "weir.toml"), "killed")
        arrived = {message["id"] for message in outbox(copy)}
        notify_channels(Project.load(copy / "weir.toml"), "next")
        (message,) = outbox(copy)
        assert vase(message) == [(-1, "1"), (1, "3")]
        assert arrived <= {message["id"]}
        if not death.at:
            break
        died.append(death.at)
    assert died.count("notify:before:notifications") == 2


def test_a_failure_is_a_warning_and_stays_visible_until_it_is_delivered(museum: Path) -> None:
    command = museum / "alert.sh"
    command.write_text("#!/bin/sh\necho 'no mail today' >&2\nexit 7\n")
    command.chmod(0o755)
    configure(museum, '[notify.desk]\ncommand = ["./alert.sh"]\n')
    move(museum, 3)
    done = run(museum)
    assert not done.errors
    reason = "the command ended with 7: no mail today"
    assert done.warnings == (f"notify desk: {reason}; the next run tries again",)
    with weir.Project(museum) as project:
        assert [*project.status().faults()] == [("undelivered", "desk", reason)]
    command.write_text("#!/bin/sh\ncat > arrived.json\n")
    assert not run(museum).warnings
    assert vase(json.loads((museum / "arrived.json").read_text())) == [(-1, "1"), (1, "3")]
    with weir.Project(museum) as project:
        assert [*project.status().faults()] == []


def test_what_comes_after_a_failure_waits_and_arrives_after_it(museum: Path) -> None:
    command = museum / "alert.sh"
    command.write_text("#!/bin/sh\nexit 1\n")
    command.chmod(0o755)
    configure(museum, '[notify.desk]\ncommand = ["./alert.sh"]\n')
    for room in (3, 4, 5):
        move(museum, room)
        run(museum)
    command.write_text("#!/bin/sh\ncat >> arrived.txt\n")
    run(museum)
    arrived = (museum / "arrived.txt").read_text()
    assert arrived.index('"3"') < arrived.index('"4"') < arrived.index('"5"')
    assert arrived.count('"id"') == 2


def test_a_message_about_an_answer_that_was_dropped_since_says_that_nothing_is_known(
    museum: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(museum, '[notify.desk]\ncommand = ["false"]\n')
    move(museum, 3)
    run(museum)
    monkeypatch.chdir(museum)
    assert main(["drop", "exhibits", "--yes"]) == 0
    configure(museum, FOLDER)
    assert not run(museum).warnings
    first, second = (message["answers"][0] for message in outbox(museum))
    assert (first["epochs"], first["appeared"], first["vanished"]) == (None, None, None)
    assert (second["epochs"], second["appeared"], second["vanished"]) == ([2, 2], 2, 0)


def test_what_a_channel_that_is_gone_was_not_notified_is_no_fault(museum: Path) -> None:
    configure(museum, '[notify.desk]\ncommand = ["false"]\n')
    move(museum, 3)
    run(museum)
    configure(museum, "")
    with weir.Project(museum) as project:
        assert [*project.status().faults()] == []


def test_a_merge_of_files_is_no_change(museum: Path) -> None:
    configure(museum, '[notify.desk]\ncommand = ["false"]\n')
    for room in (3, 4):
        move(museum, room)
        run(museum)
    compact_lake(Project.load(museum / "weir.toml"), "compact")
    configure(museum, '[notify.desk]\ncommand = ["sh", "-c", "cat >> arrived.txt"]\n')
    run(museum)
    arrived = (museum / "arrived.txt").read_text()
    assert arrived.count('"weight"') == 4
    assert not run(museum).warnings
    assert (museum / "arrived.txt").read_text() == arrived


def test_one_channel_that_fails_does_not_keep_others(museum: Path) -> None:
    configure(museum, '[notify.broken]\ncommand = ["./none"]\n' + FOLDER)
    run(museum)
    move(museum, 3)
    done = run(museum)
    assert "cannot be started: No such file" in done.warnings[0]
    assert len(outbox(museum)) == 1


def test_a_process_that_runs_again_and_again_waits_longer_after_each_failure(
    museum: Path,
) -> None:
    configure(museum, '[notify.desk]\ncommand = ["false"]\n')
    move(museum, 3)
    run(museum)
    project = Project.load(museum / "weir.toml")
    now = datetime.now(UTC)
    assert is_notification_due(project)
    assert not is_notification_due(project, now + timedelta(seconds=5))
    assert is_notification_due(project, now + timedelta(seconds=11))
    notify_channels(project, "again")
    assert not is_notification_due(project, now + timedelta(seconds=15))


def test_a_command_has_no_variable_but_those_it_is_given(
    museum: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "c4n4ry")
    monkeypatch.setenv("MAIL_PASSWORD", "open")
    command = 'command = ["sh", "-c", "env > seen.txt"]\nenvironment = ["MAIL_PASSWORD"]\n'
    configure(museum, f"[notify.desk]\n{command}")
    move(museum, 3)
    assert not run(museum).warnings
    seen = (museum / "seen.txt").read_text()
    assert "c4n4ry" not in seen
    assert "MAIL_PASSWORD=open" in seen


def test_a_command_that_hangs_is_ended(museum: Path) -> None:
    configure(museum, '[notify.desk]\ncommand = ["sh", "-c", "sleep 60; true"]\nseconds = 0.2\n')
    move(museum, 3)
    assert run(museum).warnings == (
        "notify desk: the command took longer than 0.2 s; the next run tries again",
    )


@pytest.fixture
def server() -> Iterator[CountingServer]:
    with CountingServer(lambda _: answer_of(b"", status="204 No Content")) as running:
        yield running


def test_a_webhook_gets_the_message_its_id_and_its_signature(
    museum: Path, server: CountingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_DESK", "https://:k3y@desk.example")
    webhook(museum, server, 'connection = "desk"\nsign = true\n')
    move(museum, 3)
    assert not run(museum).warnings
    (request,) = server.requests
    head, _, body = request.partition(b"\r\n\r\n")
    assert vase(json.loads(body)) == [(-1, "1"), (1, "3")]
    mac = hmac.new(b"k3y", body, hashlib.sha256).hexdigest()
    assert f"X-Weir-Signature: sha256={mac}" in head.decode()
    assert f"Idempotency-Key: {json.loads(body)['id']}" in head.decode()
    assert b"k3y" not in request


def webhook(museum: Path, server: CountingServer, more: str = "") -> None:
    configure(
        museum,
        f'[notify.desk]\nwebhook = "{server.url}"\nallow = ["127.0.0.1/32"]\n'
        f"ports = [{server.port}]\n{more}",
    )


def test_an_address_that_is_not_public_is_refused(museum: Path, server: CountingServer) -> None:
    configure(museum, f'[notify.desk]\nwebhook = "{server.url}"\nports = [{server.port}]\n')
    move(museum, 3)
    (warning,) = run(museum).warnings
    assert "127.0.0.1" in warning
    assert server.requests == []


@pytest.mark.parametrize(
    ("channel", "mistake"),
    [
        ("", "exactly one of command, webhook and folder"),
        ('command = ["a"]\nfolder = "b"', "exactly one of command, webhook and folder"),
        ('folder = "b"\nsign = true', "sign needs a connection"),
        ('folder = "b"\nports = [1]', "are for a webhook"),
        ('folder = "b"\nenvironment = ["A"]', "environment is for a command"),
        ('folders = "b"', "folders: no such"),
    ],
)
def test_a_channel_that_cannot_be_understood_is_refused(
    museum: Path, channel: str, mistake: str
) -> None:
    configure(museum, f"[notify.desk]\n{channel}\n")
    with pytest.raises(weir.ConfigurationError, match=mistake):
        weir.Project(museum)


def test_a_criterion_that_nothing_is_like_is_an_error_of_the_stage(museum: Path) -> None:
    configure(museum, FOLDER + 'select = ["tag:none"]\n')
    move(museum, 3)
    with pytest.raises(weir.ConfigurationError, match="tag:none"):
        run(museum)
    with weir.Project(museum) as project:
        assert project.answers["exhibits"].epoch == 2


def test_without_channels_there_is_no_table(tmp_path: Path) -> None:
    assert main(["init", str(tmp_path)]) == 0
    run(tmp_path)
    assert Notifications.read(Project(Settings.load(tmp_path / "weir.toml")).lake).notified == {}
    assert not (tmp_path / "lake/notifications").exists()
