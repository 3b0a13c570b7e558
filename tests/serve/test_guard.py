"""Who may ask, by which name, and what every response says."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.projects.command_line import Weir
from tests.support.projects.project import Project
from tests.support.serving import Client, serving

TOKEN = "t0k3n of a test"


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:1", "[::1]:8580", "LocalHost:80"])
def test_a_request_to_this_machine_is_answered(server: Client, host: str) -> None:
    assert server.get("/", Host=host).status == 200


@pytest.mark.parametrize(
    "host", ["", "evil.example", "127.0.0.1.evil.example", "localhost:x", "::1"]
)
def test_a_request_by_another_name_is_refused(server: Client, host: str) -> None:
    reply = server.get("/answers", Host=host)
    assert reply.status == 421
    assert "pairs" not in reply.text


def test_every_response_forbids_what_pages_could_do_to_a_reader(server: Client) -> None:
    for path in ("/", "/sparql", "/answers/pairs", "/nothing"):
        headers = server.get(path).headers
        assert "default-src 'self'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert "access-control-allow-origin" not in headers


def test_a_refusal_forbids_what_pages_could_do_to_a_reader(server: Client) -> None:
    refused = server.get("/answers", Host="evil.example")
    assert refused.status == 421
    assert "default-src 'self'" in refused.headers["content-security-policy"]


def test_another_origin_may_read_only_if_it_is_named(people: Project) -> None:
    ours, other = "https://a.example", "https://b.example"
    with serving(people.settings, origins=[ours]) as client:
        allowed = client.get("/sparql", Origin=ours).headers
        assert allowed["access-control-allow-origin"] == ours
        assert "access-control-allow-origin" not in client.get("/", Origin=other).headers
        asked = client.send("OPTIONS", "/sparql", Origin=ours, Access_Control_Request_Method="POST")
        assert (asked.status, asked.headers["access-control-allow-origin"]) == (200, ours)


def test_without_the_token_nothing_is_answered(people: Project) -> None:
    with serving(people.settings, token=TOKEN, is_loopback=False) as client:
        for authorization in ({}, {"Authorization": TOKEN}, {"Authorization": f"Bearer {TOKEN}x"}):
            reply = client.get("/answers", **authorization)
            assert (reply.status, reply.headers["www-authenticate"]) == (401, "Bearer")
            assert "pairs" not in reply.text
        right = client.get("/answers", Authorization=f"Bearer {TOKEN}", Host="any.example")
        assert right.status == 200


def test_a_folder_of_pages_is_served_beside_the_data(people: Project, tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site/index.html").write_text("<p>a page</p>")
    (tmp_path / "site/answers").mkdir()
    (tmp_path / "site/answers/pairs.html").write_text("<p>pairs</p>")
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "site/link").symlink_to(tmp_path / "secret")
    with serving(people.settings, site=tmp_path / "site") as client:
        assert client.get("/").text == "<p>a page</p>"
        assert client.get("/answers").status == 200
        assert client.get("/answers/pairs.html").text == "<p>pairs</p>"
        assert client.get("/answers/pairs").media == "application/json"
        for path in ("/../secret", "/%2e%2e/secret", "/link", "/none.html", "/answers/none.html"):
            reply = client.get(path)
            assert (reply.status, "secret\n" in reply.text) == (404, False), path


def test_other_machines_need_a_token(
    people: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("WEIR_TOKEN", raising=False)
    monkeypatch.chdir(people.folder)
    called = Weir(capsys)("serve", "--host", "0.0.0.0")
    assert called.code == 2
    assert "no token protects it" in called.err
    assert "WEIR_TOKEN" in called.err


def test_the_command_serves_until_it_is_interrupted(people: Project) -> None:
    code = "import sys; from weir.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", code, "serve", "--port", "0"]
    with subprocess.Popen(
        command, cwd=people.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        port = int(line.partition("/;")[0].rpartition(":")[2])
        assert Client(port).query("ASK {}").json["boolean"] is True
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
