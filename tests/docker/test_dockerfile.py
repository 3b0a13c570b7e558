"""Properties of the image according to its Dockerfile; nothing is built."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from setup.lock import COMPILE
from tests.docker.files import DOCKER, ROOT, Stage, stages
from weir.spark_setup.java import SUPPORTED

BEFORE, STAGES = stages()
IMAGE = STAGES[-1]
BY_NAME = {stage.name: stage for stage in STAGES}
CODE = {"weir/", "lake/", "expectations/", "jobs/", "dags/"}


def test_the_image_runs_as_a_user_without_privileges() -> None:
    user, group = IMAGE.arguments("USER")[-1].split(":")
    assert int(user) > 0
    assert group == "0"  # as Airflow's own image, so that a cluster can choose any user
    assert f"--uid {user} " in IMAGE.arguments("RUN")[0]


def test_all_packages_are_locked_with_hashes() -> None:
    installs = [
        command
        for stage in STAGES
        for run in stage.arguments("RUN")
        for command in run.split("&&")
        if re.search(r"\bpip install\b", command)
    ]
    of_locks = [command for command in installs if "--requirement requirements/" in command]
    assert of_locks
    assert [command for command in of_locks if "--require-hashes --no-deps" not in command] == []
    (project,) = set(installs) - set(of_locks)
    assert "--no-build-isolation --no-deps" in project


def test_jars_and_javascript_are_those_of_the_locks() -> None:
    set_up = "/opt/setup/bin/python -m setup java jars javascript"
    assert set_up in BY_NAME["packages"].arguments("RUN")


def test_the_environment_of_the_image_has_the_packages_of_production_alone() -> None:
    packages = BY_NAME["packages"].arguments("RUN")
    (into,) = [run for run in packages if "--python .venv" in run]
    assert "venv --without-pip .venv" in into
    assert re.findall(r"requirements/\S+", into) == ["requirements/weir.txt"]


def test_the_code_in_the_image_can_be_imported_though_it_is_copied_last() -> None:
    (run,) = [command for command in BY_NAME["project"].arguments("RUN") if "--editable" in command]
    assert run.endswith("--editable .")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    # Without it, an editable install finds no packages in an empty folder, and names no path.
    assert project["tool"]["hatch"]["build"]["dev-mode-dirs"] == ["."]


def test_no_build_tool_is_left_in_the_image() -> None:
    assert not re.search(r"apt-get|pip|\buv\b|gcc|curl", " ".join(IMAGE.arguments("RUN")))
    copied_from = [
        argument for argument in IMAGE.arguments("COPY") if argument.startswith("--from")
    ]
    assert copied_from == [
        "--from=java /opt/java /opt/java",
        "--from=packages /opt/weir/.venv .venv",
        "--from=project /opt/project .venv",
        "--from=packages /opt/weir/weir/pages/javascript weir/pages/javascript",
    ]
    assert set(IMAGE.copied()) >= CODE
    assert set(IMAGE.copied()) - CODE == {
        f"docker/{program}.py" for program in ("entrypoint", "first_start", "health")
    }


def test_a_change_of_the_code_rebuilds_no_packages() -> None:
    assert CODE.isdisjoint(BY_NAME["base"].copied() + BY_NAME["packages"].copied())
    copies = IMAGE.arguments("COPY")
    first_code = min(index for index, copy in enumerate(copies) if copy.split()[0] in CODE)
    assert all(index < first_code for index, copy in enumerate(copies) if "--from" in copy)


def test_lists_of_apt_do_not_stay_in_a_layer() -> None:
    runs = [run for stage in STAGES for run in stage.arguments("RUN") if "apt-get" in run]
    assert runs
    assert all(
        run.startswith("apt-get update")
        and "--no-install-recommends" in run
        and run.endswith("rm -rf /var/lib/apt/lists/*")
        for run in runs
    )


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name or "image")
def test_every_copied_path_exists_and_is_sent_to_the_builder(stage: Stage) -> None:
    sent = (DOCKER / "Dockerfile.dockerignore").read_text().splitlines()
    assert "*" in sent
    for path in stage.copied():
        if path == "./":
            continue
        assert (ROOT / path).exists(), path
        assert f"!{path.rstrip('/')}" in sent, path


def test_every_path_sent_to_the_builder_exists() -> None:
    sent = (DOCKER / "Dockerfile.dockerignore").read_text().splitlines()
    assert [line for line in sent if line.startswith("!") and not (ROOT / line[1:]).exists()] == []


def test_python_is_the_version_that_packages_are_locked_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (argument,) = [instruction.argument for instruction in BEFORE if instruction.keyword == "ARG"]
    image = re.fullmatch(r"PYTHON_IMAGE=python:(\d+)\.(\d+)-slim-\w+", argument)
    assert image
    python = ".".join(image.groups())
    assert project["requires-python"].startswith(f">={python},")
    assert COMPILE[-2:] == ("--python-version", python)
    assert BY_NAME["base"].base == "${PYTHON_IMAGE}"


def test_java_is_one_that_spark_supports() -> None:
    package = re.search(r"openjdk-(\d+)-jdk-headless", BY_NAME["java"].arguments("RUN")[0])
    assert package
    assert int(package[1]) in SUPPORTED


def test_hadolint_accepts_the_dockerfile() -> None:
    done = subprocess.run(
        [Path(sys.prefix) / "bin" / "hadolint", "--config", DOCKER / "hadolint.yaml", "Dockerfile"],
        cwd=DOCKER,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_image_contains_no_secret() -> None:
    for stage in STAGES:
        for keyword in ("ENV", "ARG", "LABEL"):
            for argument in stage.arguments(keyword):
                assert not re.search(r"password|secret|token|_key", argument, re.IGNORECASE)
