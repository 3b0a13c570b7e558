"""The manifests for Kubernetes, by the schemas of Kubernetes; no cluster is started."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from typing import Any

import kubernetes_validate
import pytest
import yaml

from tests.docker.files import DOCKER, ROOT, stages

VERSIONS = ("1.33", "1.37")
"""The oldest and the newest version of Kubernetes whose schemas are asked."""
MANIFESTS: list[dict[str, Any]] = [
    manifest
    for file in sorted((DOCKER / "kubernetes").glob("*.yaml"))
    for manifest in yaml.safe_load_all(file.read_text())
]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda manifest: manifest["kind"])
def test_kubernetes_accepts_the_manifest(manifest: dict[str, Any], version: str) -> None:
    kubernetes_validate.validate(manifest, version, strict=True)


def test_a_wrong_key_of_a_manifest_is_noticed() -> None:
    wrong = {**MANIFESTS[0], "automount": False}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, VERSIONS[-1], strict=True)


def test_a_pod_runs_without_privileges() -> None:
    user, _ = stages()[1][-1].arguments("USER")[-1].split(":")
    pods = [*_pods(MANIFESTS)]
    assert len(pods) == 2
    for pod in pods:
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["runAsUser"] == int(user)
        assert pod["automountServiceAccountToken"] is False
        for container in pod["containers"]:
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }
            assert container["resources"]["limits"]["memory"]


def test_a_pod_runs_the_image_of_this_version() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    images = {container["image"] for pod in _pods(MANIFESTS) for container in pod["containers"]}
    assert images == {f"weir:{version}"}


def test_no_secret_is_in_a_manifest() -> None:
    assert "Secret" not in {manifest["kind"] for manifest in MANIFESTS}
    for pod in _pods(MANIFESTS):
        for container in pod["containers"]:
            names = [variable["name"] for variable in container["env"]]
            assert not [name for name in names if re.search(r"PASSWORD|SECRET|KEY|TOKEN", name)]


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
