"""Properties of compose.yaml; no container is started."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml

from docker.first_start import airflow_secrets, spark_secrets
from tests.docker.files import DOCKER, ROOT, compose, ends_by_itself, services, stages, texts
from weir.settings import Settings

SERVICES = services()
IMAGE = stages()[1][-1]
OURS = {name: service for name, service in SERVICES.items() if service["image"].startswith("weir:")}
PERMANENT = sorted(name for name, service in SERVICES.items() if not ends_by_itself(service))
ONCE = sorted(name for name, service in SERVICES.items() if ends_by_itself(service))
WITH_TEMPORARY_VOLUME = ("scheduler", "spark-master", "spark-worker-1", "spark-worker-2", "weir")
"""What Spark and its drivers spill is larger than memory; what its master knows outlives it."""
AIRFLOW = ("api-server", "scheduler", "dag-processor", "migrate")
COMPOSE = Path(sys.prefix) / "bin" / "docker-compose"
AIRFLOW_HOME = "/var/lib/airflow"
GENERATED = {str(file) for file in airflow_secrets(Path("/secrets/airflow"))} | {
    str(file) for file in spark_secrets(Path("/secrets/spark"))
}


def test_the_services_are_airflow_its_database_and_a_spark_cluster() -> None:
    assert PERMANENT == [
        "api-server",
        "dag-processor",
        "postgres",
        "scheduler",
        "spark-master",
        "spark-worker-1",
        "spark-worker-2",
    ]
    assert ONCE == ["first-start", "migrate", "weir"]


def test_only_airflows_page_is_published_and_only_on_this_machine() -> None:
    published = {name: service["ports"] for name, service in SERVICES.items() if "ports" in service}
    assert published == {"api-server": ["127.0.0.1:8080:8080"]}


def test_the_database_is_reachable_by_airflow_alone() -> None:
    assert compose()["networks"]["database"] == {"internal": True}
    assert SERVICES["postgres"]["networks"] == ["database"]
    members = {
        name for name, service in SERVICES.items() if "database" in service.get("networks", ())
    }
    assert members == {"postgres", *AIRFLOW}


@pytest.mark.parametrize("name", PERMANENT)
def test_a_service_has_a_health_check_a_restart_policy_and_a_memory_limit(name: str) -> None:
    service = SERVICES[name]
    assert service["healthcheck"]["test"]
    assert service["restart"] == "unless-stopped"
    assert service["deploy"]["resources"]["limits"]["memory"]


@pytest.mark.parametrize("name", PERMANENT)
def test_the_program_of_a_health_check_is_in_the_image(name: str) -> None:
    program, *arguments = SERVICES[name]["healthcheck"]["test"][1:]
    assert program in ("python", "airflow", "pg_isready")
    if program == "python":
        assert (ROOT / arguments[0]).is_file()
        assert arguments[0] in IMAGE.copied()


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_a_service_writes_to_volumes_and_to_memory_alone(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    in_memory = {mount.split(":")[0] for mount in service["tmpfs"]}
    assert ("/tmp" in service["volumes"]) is (name in WITH_TEMPORARY_VOLUME)
    assert ("/tmp" in in_memory) is (name not in WITH_TEMPORARY_VOLUME)
    if name in OURS:
        assert AIRFLOW_HOME in in_memory
        of_user = {mount for mount in service["tmpfs"] if not mount.startswith("/tmp:")}
        assert all("uid=50000," in mount for mount in of_user)
    else:
        assert service["cap_drop"] == ["ALL"]
        assert "NET_RAW" not in service["cap_add"]


@pytest.mark.parametrize("name", sorted(OURS))
def test_a_service_of_ours_runs_without_privileges(name: str) -> None:
    assert "user" not in SERVICES[name]
    assert "privileged" not in SERVICES[name]
    assert SERVICES[name]["cap_drop"] == ["ALL"]
    assert SERVICES[name]["security_opt"] == ["no-new-privileges:true"]


def test_a_service_waits_for_what_it_needs() -> None:
    for name, service in SERVICES.items():
        for needed, how in service.get("depends_on", {}).items():
            completes = how["condition"] == "service_completed_successfully"
            assert completes == ends_by_itself(SERVICES[needed]), (name, needed)
            assert completes or how["condition"] == "service_healthy"


def test_all_services_of_ours_run_the_same_image_of_this_version() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert {service["image"] for service in OURS.values()} == {f"weir:{version}"}
    (build,) = {tuple(sorted(service["build"].items())) for service in OURS.values()}
    context = DOCKER / dict(build)["context"]
    assert (context / dict(build)["dockerfile"]).resolve() == DOCKER / "Dockerfile"


def test_every_volume_and_network_is_declared_and_used() -> None:
    used_volumes, used_networks = set(), set()
    for service in SERVICES.values():
        mounts = [mount.split(":") for mount in service.get("volumes", ())]
        # A mount without a name is the container's own.
        used_volumes |= {mount[0] for mount in mounts if len(mount) > 1}
        used_networks |= set(service.get("networks", ()))
    assert used_volumes == set(compose()["volumes"])
    assert used_networks == set(compose()["networks"])


def test_driver_and_executors_see_lake_and_project_at_the_same_paths() -> None:
    paths = {
        name: {path for mount in SERVICES[name]["volumes"] for path in mount.split(":")}
        & {"/lake", "/project"}
        for name in ("scheduler", "spark-worker-1", "spark-worker-2")
    }
    assert set(map(frozenset, paths.values())) == {frozenset({"/lake", "/project"})}


def test_the_lake_and_the_database_survive_the_containers() -> None:
    assert "postgres:/var/lib/postgresql/data" in SERVICES["postgres"]["volumes"]
    assert "lake:/lake" in SERVICES["scheduler"]["volumes"]


def test_no_secret_is_in_the_file() -> None:
    for service in SERVICES.values():
        for name, value in service.get("environment", {}).items():
            if re.search(r"PASSWORD|SECRET|_KEY|SQL_ALCHEMY_CONN", name):
                assert name.endswith(("_CMD", "_FILE")), name
                assert value.removeprefix("cat ") in GENERATED, name


def test_every_secret_that_is_read_is_generated_and_every_one_is_read() -> None:
    read = {
        path
        for text in texts(compose()["services"])
        for path in re.findall(r"/secrets/\w+/[\w.]+", text)
    }
    read |= {f"{folder}/spark-defaults.conf" for folder in _values("SPARK_CONF_DIR")}
    assert read == GENERATED


def test_spark_processes_cannot_read_the_secrets_of_airflow() -> None:
    for name, service in SERVICES.items():
        if name.startswith("spark-"):
            assert "airflow-secrets" not in " ".join(service["volumes"])


def test_airflow_knows_every_option_and_reads_secrets_from_files() -> None:
    spec = find_spec("airflow")
    assert spec is not None
    assert spec.origin is not None
    template = Path(spec.origin).parent / "config_templates" / "config.yml"
    sections = yaml.load(template.read_text(), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    for name in AIRFLOW:
        for variable in SERVICES[name]["environment"]:
            if variable.startswith("AIRFLOW__"):
                _, section, option = variable.lower().split("__")
                plain = option.removesuffix("_cmd")
                known: dict[str, Any] = sections[section]["options"][plain]
                assert option == plain or known.get("sensitive"), variable


def test_all_of_airflow_has_the_same_environment() -> None:
    environments = [SERVICES[name]["environment"] for name in AIRFLOW]
    assert all(environment == environments[0] for environment in environments)
    assert environments[0]["AIRFLOW__CORE__EXECUTOR"] == "LocalExecutor"
    url = environments[0]["AIRFLOW__CORE__EXECUTION_API_SERVER_URL"]
    assert url == "http://api-server:8080/execution/"


def test_tasks_run_as_drivers_of_the_cluster() -> None:
    connection = SERVICES["scheduler"]["environment"]["AIRFLOW_CONN_SPARK_DEFAULT"]
    assert connection == "spark://spark-master:7077?deploy-mode=client"
    (master,) = {
        SERVICES[name]["command"][-1] for name in SERVICES if name.startswith("spark-worker")
    }
    assert connection.startswith(f"{master}?")


def test_the_executors_reach_the_driver_by_a_name_of_their_network() -> None:
    (text,) = (make() for make in spark_secrets(Path("/secrets/spark")).values())
    (host,) = re.findall(r"^spark\.driver\.host (\S+)$", text, re.MULTILINE)
    assert SERVICES["scheduler"]["networks"]["spark"]["aliases"] == [host]
    assert "spark" in SERVICES["spark-worker-1"]["networks"]


def test_the_variables_of_weir_are_settings_or_those_of_the_dags(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dags = "".join(file.read_text() for file in (ROOT / "weir" / "airflow").glob("*.py"))
    for variable, value in SERVICES["scheduler"]["environment"].items():
        if variable.startswith("WEIR_SPARK__"):
            monkeypatch.setenv(variable, value)
            assert Settings.load().spark.driver_memory == value
        elif variable.startswith("WEIR_"):
            stage = variable.removeprefix("WEIR_").removesuffix("_SCHEDULE")
            assert f'schedule("{stage.lower()}"' in dags
            assert "WEIR_{stage.upper()}_SCHEDULE" in dags
            assert f'"{value}"' in dags, "the default of the DAG"


def test_every_service_and_variable_in_the_readme_exists() -> None:
    text = (DOCKER / "README.md").read_text()
    command = r"docker compose (?:exec|logs|stop|start|run --rm) (?:-\S+ )*([a-z-]+)"
    named = set(re.findall(command, text))
    assert named
    assert named <= set(SERVICES)
    for variable in set(re.findall(r"\bWEIR_[A-Z_]+\b", text)):
        assert variable in (DOCKER / "compose.yaml").read_text()


def test_compose_itself_accepts_the_file() -> None:
    """The real Compose; this needs no daemon."""
    done = subprocess.run(
        [COMPOSE, "--profile", "cli", "config", "--format", "json"],
        cwd=DOCKER,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    resolved = yaml.safe_load(done.stdout)["services"]
    assert set(resolved) == set(SERVICES)
    for name, service in resolved.items():
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name


def _values(variable: str) -> set[str]:
    environments = (service.get("environment", {}) for service in SERVICES.values())
    return {environment[variable] for environment in environments if variable in environment}
