"""The W3C suite of SHACL.

It lies beside the other suites, `data/w3c/shacl` of the shared folder, or where
`WEIR_SHACL_SUITE` says: the folder `data-shapes-test-suite/tests` of w3c/data-shapes.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.shacl.suite import SuiteCase, suite_cases


@pytest.fixture(scope="module")
def suite(shared: Path) -> list[SuiteCase]:
    """All tests."""
    folder = Path(os.environ.get("WEIR_SHACL_SUITE", shared / "data" / "w3c" / "shacl"))
    if not folder.is_dir():
        pytest.skip(f"{folder} does not exist (WEIR_SHACL_SUITE can name another folder)")
    return [*suite_cases(folder)]
