"""What Weir has for Kubernetes, by schemas; no cluster is started.

The manifests of Kubernetes itself are compared with its own schemas. A SparkApplication and the
values of Airflow's chart have schemas beside this file: the fields that are used, as the published
definition (kubeflow/spark-operator, v1beta2) and the chart's `values.schema.json` have them. The
parts of pods in both are compared with the schema of a pod.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import kubernetes_validate
import pytest
import yaml

from tests.docker.files import DOCKER, ROOT, stages

VERSIONS = ("1.33", "1.37")
"""The oldest and the newest version of Kubernetes whose schemas are asked."""
ALL: list[dict[str, Any]] = [
    manifest
    for file in sorted((DOCKER / "kubernetes").glob("*.yaml"))
    for manifest in yaml.safe_load_all(file.read_text())
]
MANIFESTS = [manifest for manifest in ALL if not manifest["apiVersion"].startswith("sparkoperator")]
(SPARK,) = (manifest for manifest in ALL if manifest not in MANIFESTS)
VALUES: dict[str, Any] = yaml.safe_load((DOCKER / "airflow-values.yaml").read_text())
IMAGE = "weir:" + tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
USER, _ = stages()[1][-1].arguments("USER")[-1].split(":")
CLOSED = {
    "allowPrivilegeEscalation": False,
    "readOnlyRootFilesystem": True,
    "capabilities": {"drop": ["ALL"]},
}


@pytest.mark.parametrize("kubernetes", VERSIONS)
@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda manifest: manifest["kind"])
def test_kubernetes_accepts_the_manifest(manifest: dict[str, Any], kubernetes: str) -> None:
    kubernetes_validate.validate(manifest, kubernetes, strict=True)


@pytest.mark.parametrize("name", ["spark_application", "airflow_values"])
def test_the_schema_accepts_what_is_used_and_no_other_key(name: str) -> None:
    value = {"spark_application": SPARK, "airflow_values": VALUES}[name]
    schema = json.loads((Path(__file__).parent / f"{name}.schema.json").read_text())
    jsonschema.validate(value, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**value, "unknown": 1}, schema)


@pytest.mark.parametrize("kubernetes", VERSIONS)
@pytest.mark.parametrize("part", ["driver", "executor", "airflow"])
def test_kubernetes_accepts_the_pods_that_others_make_of_it(part: str, kubernetes: str) -> None:
    pod = _pod_of_chart() if part == "airflow" else _pod_of_spark(SPARK["spec"][part])
    kubernetes_validate.validate(pod, kubernetes, strict=True)
    mounted = {mount["name"] for mount in pod["spec"]["containers"][0]["volumeMounts"]}
    assert mounted <= {volume["name"] for volume in pod["spec"]["volumes"]}


def test_spark_runs_a_program_of_the_image_without_privileges() -> None:
    spec = SPARK["spec"]
    program = spec["mainApplicationFile"].removeprefix("local:///opt/weir/")
    assert (ROOT / program).is_file()
    assert spec["image"] == IMAGE
    assert spec["sparkVersion"] == version("pyspark")
    for part in ("driver", "executor"):
        assert spec[part]["securityContext"] == CLOSED
        assert spec[part]["podSecurityContext"]["runAsUser"] == int(USER)
    (role,) = (manifest for manifest in MANIFESTS if manifest["kind"] == "Role")
    accounts = {m["metadata"]["name"] for m in MANIFESTS if m["kind"] == "ServiceAccount"}
    assert spec["driver"]["serviceAccount"] in accounts
    assert role["metadata"]["name"] == spec["driver"]["serviceAccount"]


def test_the_chart_runs_airflow_of_the_image_and_its_dags() -> None:
    assert f"{VALUES['defaultAirflowRepository']}:{VALUES['defaultAirflowTag']}" == IMAGE
    assert VALUES["airflowVersion"] == version("apache-airflow")
    environment = dict(
        pair.split("=", 1) for pair in stages()[1][-1].arguments("ENV")[0].split() if "=" in pair
    )
    assert VALUES["airflowHome"] == environment["AIRFLOW_HOME"]
    assert VALUES["uid"] == int(USER)
    named = {variable["name"]: variable["value"] for variable in VALUES["env"]}
    assert named["AIRFLOW__CORE__DAGS_FOLDER"] == environment["AIRFLOW__CORE__DAGS_FOLDER"]


def test_a_wrong_key_of_a_manifest_is_noticed() -> None:
    wrong = {**MANIFESTS[0], "automount": False}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, VERSIONS[-1], strict=True)


def test_a_pod_runs_without_privileges() -> None:
    pods = [*_pods(MANIFESTS)]
    assert len(pods) == 2
    for pod in pods:
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["runAsUser"] == int(USER)
        assert pod["automountServiceAccountToken"] is False
        for container in pod["containers"]:
            assert container["securityContext"] == CLOSED
            assert container["resources"]["limits"]["memory"]


def test_a_pod_runs_the_image_of_this_version() -> None:
    images = {container["image"] for pod in _pods(MANIFESTS) for container in pod["containers"]}
    assert images == {IMAGE}


def test_no_secret_is_in_a_manifest() -> None:
    assert "Secret" not in {manifest["kind"] for manifest in MANIFESTS}
    for pod in (*_pods(MANIFESTS), _pod_of_spark(SPARK["spec"]["driver"])["spec"]):
        for container in pod["containers"]:
            names = [variable["name"] for variable in container["env"]]
            assert not [name for name in names if re.search(r"PASSWORD|SECRET|KEY|TOKEN", name)]


def _pod_of_spark(part: Mapping[str, Any]) -> dict[str, Any]:
    names = ("env", "envFrom", "securityContext", "volumeMounts")
    container = {name: part[name] for name in names if name in part}
    return _pod(container, SPARK["spec"]["volumes"], part["podSecurityContext"])


def _pod_of_chart() -> dict[str, Any]:
    secrets = [
        {
            "name": secret["envName"],
            "valueFrom": {
                "secretKeyRef": {"name": secret["secretName"], "key": secret["secretKey"]}
            },
        }
        for secret in VALUES["secret"]
    ]
    container = {
        "env": [*VALUES["env"], *secrets],
        "volumeMounts": VALUES["volumeMounts"],
        "resources": VALUES["scheduler"]["resources"],
    }
    return _pod(container, VALUES["volumes"], {})


def _pod(container: Mapping[str, Any], volumes: Any, context: Mapping[str, Any]) -> dict[str, Any]:
    containers = [{"name": "one", "image": IMAGE, **container}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "one"},
        "spec": {"containers": containers, "volumes": volumes, "securityContext": context},
    }


def _pods(value: Any) -> Iterator[dict[str, Any]]:
    """The specifications of pods anywhere in a manifest."""
    match value:
        case {"containers": _}:
            yield value
        case dict():
            for part in value.values():
                yield from _pods(part)
        case list():
            for part in value:
                yield from _pods(part)
