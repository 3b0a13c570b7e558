"""`weir notify`: what waits is delivered, and a channel can be tried."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.support.counting_server import CountingServer, answer_of
from tests.support.projects.command_line import Weir, files


@pytest.fixture
def call(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Weir:
    monkeypatch.chdir(tmp_path)
    weir = Weir(capsys)
    assert weir("init").code == 0
    return weir


def configure(channel: str) -> None:
    config = Path("weir.toml")
    config.write_text(config.read_text() + f"\n[notify.desk]\n{channel}\n")


def of_command(code: str) -> str:
    return f"command = {json.dumps([sys.executable, '-c', code])}"


def test_a_folder_gets_one_message_that_says_that_it_is_a_test(call: Weir) -> None:
    configure('folder = "outbox"')
    before = files("lake")
    called = call("notify", "--test", "desk", "--output", "json")
    assert called.code == 0
    (file,) = Path("outbox").iterdir()
    message = json.loads(file.read_text())
    known = {"id": file.stem, "channel": "desk", "test": True, "answers": []}
    assert message == {**known, "recorded_at": message["recorded_at"]}
    assert called.json["id"] == file.stem
    assert called.json["answer"] == f"{file.absolute()} is written"
    assert files("lake") == before


def test_the_status_and_the_text_of_a_webhook_are_printed(call: Weir) -> None:
    with CountingServer(lambda _: answer_of(b"queued\nas 5")) as server:
        configure(f'webhook = "{server.url}"\nallow = ["127.0.0.1/32"]\nports = [{server.port}]')
        called = call("notify", "--test", "desk")
        (request,) = server.requests
    assert called.code == 0
    assert called.out.endswith("to desk: status 200: queued.\n")
    assert json.loads(request.partition(b"\r\n\r\n")[2])["test"] is True


@pytest.mark.parametrize(
    ("code", "exit_code", "said"),
    [
        ("import sys; print('sent', file=sys.stderr)", 0, "the command ended with 0: sent"),
        ("pass", 0, "the command ended with 0."),
        ("import sys; sys.exit('no such list')", 1, "ended with 1: no such list"),
    ],
)
def test_how_a_command_ends_is_printed(call: Weir, code: str, exit_code: int, said: str) -> None:
    configure(of_command(code))
    called = call("notify", "--test", "desk")
    assert called.code == exit_code
    assert said in called.out + called.err


def test_a_failed_test_is_not_tried_again(call: Weir) -> None:
    configure(of_command("import sys; sys.exit(3)"))
    assert call("notify", "--test", "desk").code == 1
    assert call("status", "--output", "json").json["undelivered"] == []


def test_an_unknown_channel_is_refused_with_the_nearest_name(call: Weir) -> None:
    configure('folder = "outbox"')
    called = call("notify", "--test", "dsk")
    assert called.code == 2
    assert "there is no channel dsk" in called.err
    assert "Did you mean desk?" in called.err


def test_what_waits_is_delivered_without_a_run(call: Weir) -> None:
    configure('folder = "weir.toml"')
    assert call("run").code == 0
    version = Path("data/versions/001.ttl").read_text()
    Path("data/versions/002.ttl").write_text(version.replace('"1"', '"3"'))
    assert call("run").code == 0
    failed = call("notify")
    assert (failed.code, "warning: notify desk" in failed.out) == (1, True)
    config = Path("weir.toml")
    config.write_text(config.read_text().replace('folder = "weir.toml"', 'folder = "outbox"'))
    assert call("notify").out == "Notify: 1 message to desk.\n"
    (file,) = Path("outbox").iterdir()
    assert "test" not in json.loads(file.read_text())
    assert call("notify").out == "Notify: nothing new.\n"


@pytest.mark.parametrize(
    ("select", "warning"),
    [
        ('["exhibit"]', "exhibit: nothing is selected"),
        ('["exhibits,kind:program"]', "kind:program: nothing is selected"),
        ('["state:held"]', "nothing meets state:held"),
    ],
)
def test_a_channel_that_selects_nothing_is_a_warning_of_status(
    call: Weir, select: str, warning: str
) -> None:
    configure(f'folder = "outbox"\nselect = {select}')
    said = call("status")
    assert said.code == 0
    assert f"notify desk: warning: it is notified of no answer: {warning}" in said.out
    shown = call("status", "--output", "json").json["channels"]
    assert shown == [{"channel": "desk", "warning": warning}]


@pytest.mark.parametrize("select", ["[]", '["exhibits"]'])
def test_a_channel_that_selects_an_answer_is_none(call: Weir, select: str) -> None:
    configure(f'folder = "outbox"\nselect = {select}')
    assert call("status", "--output", "json").json["channels"] == []
