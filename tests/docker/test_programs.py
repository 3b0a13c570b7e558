"""The programs in the image: what starts a container, the first start, and the health check."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.error import HTTPError

import pytest
from cryptography.fernet import Fernet

from docker import entrypoint, first_start, health
from docker.first_start import airflow_secrets, spark_secrets, write_missing


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the secrets of a first start."""
    write_missing({**airflow_secrets(tmp_path), **spark_secrets(tmp_path)})
    return tmp_path


def test_a_first_start_generates_every_secret_for_its_owner_alone(folder: Path) -> None:
    expected = {*airflow_secrets(folder), *spark_secrets(folder)}
    assert set(folder.iterdir()) == expected
    assert {file.stat().st_mode & 0o777 for file in expected} == {0o600}
    assert all(file.read_text() for file in expected)


def test_a_later_start_changes_no_secret(folder: Path) -> None:
    before = {file: file.read_text() for file in folder.iterdir()}
    assert write_missing({**airflow_secrets(folder), **spark_secrets(folder)}) == []
    assert {file: file.read_text() for file in folder.iterdir()} == before


def test_a_start_after_an_interrupted_one_generates_the_rest(folder: Path) -> None:
    key = folder / "fernet_key"
    key.rename(folder / ".fernet_key")
    assert write_missing(airflow_secrets(folder)) == [key]
    assert not (folder / ".fernet_key").exists()


def test_two_installations_share_no_secret(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    write_missing({**airflow_secrets(other), **spark_secrets(other)})
    assert not {file.read_text() for file in other.iterdir()} & {
        file.read_text() for file in folder.iterdir() if file.is_file()
    }


def test_airflow_connects_with_the_password_of_the_database(folder: Path) -> None:
    password = (folder / "postgres_password").read_text()
    connection = (folder / "sql_alchemy_conn").read_text()
    assert connection == f"postgresql+psycopg2://airflow:{password}@postgres/airflow"


def test_the_keys_have_the_form_that_airflow_needs(folder: Path) -> None:
    Fernet((folder / "fernet_key").read_text())
    assert len((folder / "jwt_secret").read_text()) >= 64
    assert list(json.loads((folder / "passwords.json").read_text())) == ["admin"]


def test_only_an_empty_project_gets_the_sample(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = folder / "project"
    project.mkdir()
    calls: list[list[str]] = []
    monkeypatch.setattr(first_start, "AIRFLOW", folder)
    monkeypatch.setattr(first_start, "SPARK", folder)
    monkeypatch.setattr(first_start, "PROJECT", project)
    monkeypatch.setattr("subprocess.run", lambda words, **_: calls.append(words))
    first_start.main()
    assert calls == [["weir", "init", str(project)]]
    (project / "weir.toml").touch()
    first_start.main()
    assert len(calls) == 1


@pytest.fixture
def url() -> Iterator[str]:
    """A service that answers with JSON at /health and with an error elsewhere."""

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path == "/health" else 503)
            self.end_headers()
            self.wfile.write(b'{"metadatabase": {"status": "healthy"}}')

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_service_that_answers_is_healthy(url: str) -> None:
    assert health.main([f"{url}/health"]) == 0


@pytest.mark.parametrize(("value", "code"), [("healthy", 0), ("unhealthy", 1)])
def test_a_service_is_healthy_if_its_answer_says_so(url: str, value: str, code: int) -> None:
    assert health.main([f"{url}/health", "metadatabase.status", value]) == code


def test_a_service_that_answers_with_an_error_is_not_healthy(url: str) -> None:
    with pytest.raises(HTTPError):
        health.main([f"{url}/other"])


def test_a_container_runs_the_command_that_it_is_given() -> None:
    assert entrypoint.command(["weir", "run"], {}, Path("/spark")) == ["weir", "run"]


def test_a_driver_on_kubernetes_is_submitted_where_it_is() -> None:
    given = ["driver", "--properties-file", "/opt/spark/conf/spark.properties", "local:///x.py"]
    line = entrypoint.command(given, {"SPARK_DRIVER_BIND_ADDRESS": "10.0.0.1"}, Path("/spark"))
    assert line[:3] == ["spark-submit", "--conf", "spark.driver.bindAddress=10.0.0.1"]
    assert line[3:] == ["--deploy-mode", "client", *given[1:]]


def test_an_executor_on_kubernetes_is_what_its_environment_says() -> None:
    environment = {
        **{name: name.lower() for name in entrypoint._FROM_ENVIRONMENT.values()},
        "SPARK_EXECUTOR_MEMORY": "600m",
        "SPARK_JAVA_OPT_10": "-Dlast",
        "SPARK_JAVA_OPT_2": "-Dfirst",
        "SPARK_CLASSPATH": "/more/*",
    }
    java, *line = entrypoint.command(["executor"], environment, Path("/spark"))
    assert java == "java"
    assert line[:4] == ["-Dfirst", "-Dlast", "-Xms600m", "-Xmx600m"]
    assert line[4:7] == ["-cp", "/more/*:/spark/jars/*", entrypoint.EXECUTOR]
    arguments = dict(zip(line[7::2], line[8::2], strict=True))
    assert arguments["--executor-id"] == "spark_executor_id"
    assert arguments["--podName"] == "spark_executor_pod_name"
