"""Channels are notified of each change of an answer at least once, in order, with an id."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import shutil
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from itertools import count as natural_numbers
from pathlib import Path
from typing import Any

import pytest

import weir
from tests.support.counting_server import CountingServer, answer_of
from tests.support.dying import dies_after
from weir.cli import main
from weir.compact.stage import compact_lake
from weir.lake.lake import Lake
from weir.notify.stage import is_notification_due, notify_channels, seconds_until_due
from weir.pipeline import RunOptions, run_pipeline
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


@pytest.mark.usefixtures("slow")
def test_each_change_is_notified_once_and_in_order(museum: Path) -> None:
    for room in (3, 4, 5):
        move(museum, room)
        run(museum)
        run(museum)
    assert [vase(message)[1] for message in outbox(museum)] == [(1, "3"), (1, "4"), (1, "5")]
    assert len({message["id"] for message in outbox(museum)}) == 3


@pytest.mark.usefixtures("slow")
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


@pytest.mark.usefixtures("slow")
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


@pytest.mark.usefixtures("slow")
def test_a_run_that_dies_at_any_checkpoint_is_completed_with_the_same_message(
    museum: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    move(museum, 3)
    monkeypatch.setattr("weir.pipeline._is_notification_due", lambda *_: False)
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


@pytest.mark.usefixtures("slow")
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


@pytest.mark.usefixtures("slow")
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
    (message,) = outbox(museum)
    (answer,) = message["answers"]
    assert (answer["epochs"], answer["appeared"], answer["vanished"]) == (None, None, None)


@pytest.mark.usefixtures("slow")
def test_what_a_channel_that_is_gone_was_not_notified_is_no_fault(museum: Path) -> None:
    configure(museum, '[notify.desk]\ncommand = ["false"]\n')
    move(museum, 3)
    run(museum)
    configure(museum, "")
    with weir.Project(museum) as project:
        assert [*project.status().faults()] == []


@pytest.mark.usefixtures("slow")
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
    assert is_notification_due(project)
    assert not is_notification_due(project, is_patient=True)
    assert 0 < seconds_until_due(project) <= 10
    assert notify_channels(project, "patient", is_patient=True).failed == {}
    assert [*notify_channels(project, "again").failed] == ["desk"]
    assert 10 < seconds_until_due(project) <= 20


@pytest.mark.usefixtures("slow")
def test_a_patient_run_leaves_a_channel_that_failed_alone(museum: Path) -> None:
    configure(museum, '[notify.desk]\ncommand = ["false"]\n')
    move(museum, 3)
    run(museum)
    move(museum, 4)
    patient = RunOptions(is_patient=True)
    with Project.load(museum / "weir.toml") as project:
        stages = [stage.stage for stage in run_pipeline(project, "patient", patient)]
    assert stages == ["ingest", "maintain", "validate", "publish"]


@pytest.mark.usefixtures("slow")
def test_an_answer_that_a_failing_channel_first_sees_is_not_lost_for_it(museum: Path) -> None:
    configure(museum, '[notify.desk]\ncommand = ["false"]\n')
    move(museum, 3)
    run(museum)
    query = "PREFIX : <http://example.org/>\nSELECT ?room { :vase :room ?room }\n"
    (museum / "queries/vases.rq").write_text(query)
    run(museum)
    move(museum, 4)
    run(museum)
    configure(museum, FOLDER)
    run(museum)
    *_, last = outbox(museum)
    assert [answer["query"] for answer in last["answers"]] == ["exhibits", "vases"]


@pytest.mark.usefixtures("slow")
def test_an_answer_that_is_computed_again_under_the_same_version_begins_again(
    museum: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(museum)
    assert main(["drop", "exhibits", "--yes"]) == 0
    run(museum)
    assert outbox(museum) == []
    move(museum, 3)
    run(museum)
    (message,) = outbox(museum)
    assert vase(message) == [(-1, "1"), (1, "3")]


@pytest.mark.usefixtures("slow")
def test_of_an_answer_that_is_computed_again_no_commit_is_taken_for_one_of_before(
    museum: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(museum)
    monkeypatch.setattr("weir.pipeline._is_notification_due", lambda *_: False)
    assert main(["drop", "exhibits", "--yes"]) == 0
    run(museum)
    move(museum, 3)
    run(museum)
    notify_channels(Project.load(museum / "weir.toml"), "later")
    assert outbox(museum) == []


def test_a_message_whose_files_are_gone_says_that_nothing_is_known(museum: Path) -> None:
    configure(museum, '[notify.desk]\ncommand = ["false"]\n')
    before = {*(museum / "lake/answers/exhibits").glob("*.parquet")}
    move(museum, 3)
    run(museum)
    for file in {*(museum / "lake/answers/exhibits").glob("*.parquet")} - before:
        file.unlink()
    configure(museum, FOLDER)
    notify_channels(Project.load(museum / "weir.toml"), "later")
    (message,) = outbox(museum)
    assert message["answers"][0]["appeared"] is None


@pytest.mark.usefixtures("slow")
def test_a_damaged_answer_fails_its_channels_alone(museum: Path) -> None:
    (museum / "queries/vases.rq").write_text(
        "PREFIX : <http://example.org/>\nSELECT ?room { :vase :room ?room }\n"
    )
    run(museum)
    configure(museum, '[notify.desk]\ncommand = ["false"]\nselect = ["exhibits"]\n')
    before = {*(museum / "lake/answers/exhibits").glob("*.parquet")}
    move(museum, 3)
    run(museum)
    for file in {*(museum / "lake/answers/exhibits").glob("*.parquet")} - before:
        content = bytearray(file.read_bytes())
        for place in range(4, len(content) // 2):
            content[place] ^= 0xFF
        file.write_bytes(content)
    others = '[notify.others]\nfolder = "outbox"\nselect = ["vases"]\n'
    configure(museum, '[notify.desk]\ncommand = ["true"]\nselect = ["exhibits"]\n' + others)
    result = notify_channels(Project.load(museum / "weir.toml"), "later")
    assert "answers/exhibits" in result.failed["desk"]
    assert [*result.failed] == ["desk"]


def test_of_two_machines_whose_clocks_differ_each_sees_what_the_other_sent() -> None:
    # Rows of a machine whose clock is ahead are the last by time.
    rows = [
        {"status": "due", "channel": "c", "query": "q", "message": m, "table_id": "t"}
        | {"from_version": v - 1, "to_version": v, "published_by": f"run-{v}", "reason": None}
        | {"recorded_at": datetime(2026, 1, 1, second=second, tzinfo=UTC)}
        for m, v, second in (("behind", 6, 10), ("ahead", 5, 50))
    ]
    assert Notifications.of(rows).notified["c", "q"].version == 6


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


def test_a_command_that_hangs_is_ended_with_its_children(museum: Path) -> None:
    command = "(sleep 1; touch late) & sleep 60"
    configure(museum, f'[notify.desk]\ncommand = ["sh", "-c", "{command}"]\nseconds = 0.2\n')
    move(museum, 3)
    assert run(museum).warnings == (
        "notify desk: the command took longer than 0.2 s; the next run tries again",
    )
    time.sleep(1.2)
    assert not (museum / "late").exists()


def test_a_reason_has_no_secret_that_a_command_printed(
    museum: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MAIL_PASSWORD", "correct-horse-battery")
    command = 'command = ["sh", "-c", "echo no, $MAIL_PASSWORD >&2; exit 1"]'
    configure(museum, f'[notify.desk]\n{command}\nenvironment = ["MAIL_PASSWORD"]\n')
    move(museum, 3)
    (warning,) = run(museum).warnings
    assert "ended with 1: no, [secret]" in warning


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


def test_a_reason_has_nothing_of_the_address(museum: Path) -> None:
    def refuse(request: bytes) -> bytes:
        path = request.split(b" ")[1]
        return answer_of(b"Cannot POST " + path, status="404 Not Found")

    with CountingServer(refuse) as server:
        configure(
            museum,
            f'[notify.desk]\nwebhook = "http://127.0.0.1:{server.port}/hooks/T0KEN-of-ours"\n'
            f'allow = ["127.0.0.1/32"]\nports = [{server.port}]\n',
        )
        move(museum, 3)
        (warning,) = run(museum).warnings
    assert "404" in warning
    assert "T0KEN" not in warning


def test_credentials_are_sent_unless_they_sign(
    museum: Path, server: CountingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_DESK", "https://ana:open@desk.example")
    webhook(museum, server, 'connection = "desk"\n')
    move(museum, 3)
    assert not run(museum).warnings
    pair = base64.b64encode(b"ana:open")
    assert b"Authorization: Basic " + pair in server.requests[0]


@pytest.mark.parametrize("connection", ["https://ana@desk.example", None])
def test_nothing_is_sent_without_a_key_to_sign_by(
    museum: Path,
    server: CountingServer,
    monkeypatch: pytest.MonkeyPatch,
    connection: str | None,
) -> None:
    if connection is not None:
        monkeypatch.setenv("AIRFLOW_CONN_DESK", connection)
    webhook(museum, server, 'connection = "desk"\nsign = true\n')
    move(museum, 3)
    (warning,) = run(museum).warnings
    assert "desk" in warning
    assert server.requests == []


def test_an_address_that_is_not_public_is_refused(museum: Path, server: CountingServer) -> None:
    configure(museum, f'[notify.desk]\nwebhook = "{server.url}"\nports = [{server.port}]\n')
    move(museum, 3)
    (warning,) = run(museum).warnings
    assert "127.0.0.1" in warning
    assert server.requests == []


@pytest.mark.parametrize(
    ("channel", "mistake"),
    [
        ('command = ["a"]\nfolder = "b"', "one of command, webhook and folder"),
        ('webhook = "https://a"\nallow = ["localhost"]', "localhost"),
        ('webhook = "https://a"\nallow = ["10.1.2.3/8"]', "10.1.2.3/8"),
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


def test_a_channel_without_a_way_is_a_warning_of_a_run_and_none_of_a_reader(museum: Path) -> None:
    # Its address may be in the environment of the process that runs.
    configure(museum, '[notify.desk]\nselect = ["exhibits"]\n')
    move(museum, 3)
    (warning,) = run(museum).warnings
    assert "no command, webhook or folder" in warning
    with weir.Project(museum) as project:
        assert project.answers["exhibits"].epoch == 2


def test_the_address_may_be_in_the_environment(
    museum: Path, server: CountingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    webhook(museum, server)
    config = museum / "weir.toml"
    config.write_text(re.sub("webhook = .*\n", "", config.read_text()))
    monkeypatch.setenv("WEIR_NOTIFY__DESK__WEBHOOK", server.url)
    move(museum, 3)
    assert not run(museum).warnings
    assert len(server.requests) == 1


def test_a_name_that_no_channel_can_have_is_refused(museum: Path) -> None:
    configure(museum, '[notify.The-Desk]\nfolder = "outbox"\n')
    with pytest.raises(weir.ConfigurationError, match="The-Desk"):
        weir.Project(museum)


def test_a_criterion_that_nothing_is_like_fails_its_channel_alone(museum: Path) -> None:
    configure(museum, '[notify.none]\nfolder = "no"\nselect = ["tag:none"]\n' + FOLDER)
    move(museum, 3)
    (warning,) = run(museum).warnings
    assert "tag:none" in warning
    assert len(outbox(museum)) == 1


def test_whether_anything_is_due_is_known_without_opening_an_answer(
    museum: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: set[str] = set()
    original = Lake.open

    def noting(lake: Lake, table: str, version: int | None = None) -> Any:
        opened.add(table)
        return original(lake, table, version)

    monkeypatch.setattr(Lake, "open", noting)
    assert not is_notification_due(Project.load(museum / "weir.toml"))
    assert "notifications" in opened
    assert not {table for table in opened if table.startswith(("answers/", "embeddings/"))}


def test_without_channels_there_is_no_table(tmp_path: Path) -> None:
    assert main(["init", str(tmp_path)]) == 0
    run(tmp_path)
    assert Notifications.read(Project(Settings.load(tmp_path / "weir.toml")).lake).notified == {}
    assert not (tmp_path / "lake/notifications").exists()
