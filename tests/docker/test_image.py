"""The image is built and run, where the tools for that are: `make deep` alone."""

from __future__ import annotations

import subprocess
import sys

import pytest

from docker import try_image
from tests.docker.files import DOCKER
from tests.support.lanes import OPTION


@pytest.mark.usefixtures("slow")
def test_the_image_is_built_and_run_without_privileges(request: pytest.FixtureRequest) -> None:
    if request.config.getoption(OPTION) != "deep":
        pytest.skip("building the image is for `make deep`")
    if missing := try_image.what_is_missing():
        pytest.skip(missing)
    done = subprocess.run(
        [sys.executable, DOCKER / "try_image.py"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
