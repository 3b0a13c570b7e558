"""Fixtures of the tests of fetching."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.certificates import Certificates, make_certificates
from tests.support.hostile_server import HostileServer


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    """Certificates of a test authority."""
    folder: Path = tmp_path_factory.mktemp("certificates")
    return make_certificates(folder)


@pytest.fixture(scope="module")
def hostile(certificates: Certificates) -> Iterator[HostileServer]:
    """The hostile server."""
    with HostileServer(certificates) as server:
        yield server
