"""Private interfaces of libraries that Weir uses: where, and for which version that was checked.

A new version may change what it never promised. Then the tests of the files that are named here are
run with it, and the version here is raised.
"""

from __future__ import annotations

import re
from importlib.metadata import version

import pytest

from setup.steps import ROOT

CHECKED = {"pyspark": "4.2", "deltalake": "1.6", "httpcore": "1.0"}
"""Major and minor version of each library with which the uses below were checked."""
OF_LIBRARY = {
    "_jvm": "pyspark",
    "_jsc": "pyspark",
    "_jdf": "pyspark",
    "_jsparkSession": "pyspark",
    "_gateway": "pyspark",
    "_active_spark_context": "pyspark",
    "_instantiatedSession": "pyspark",
    "_handler": "deltalake",
    "_h11_state": "httpcore",
}
USES = {
    "lake/delta/change_feed.py": {"_jvm", "_jsparkSession"},
    "lake/delta/session.py": {
        *("_jvm", "_jsc", "_gateway"),
        *("_active_spark_context", "_instantiatedSession"),
    },
    "lake/delta/staging.py": {"_jvm", "_jsparkSession"},
    "weir/remotes/http/connection.py": {"_h11_state"},
    "weir/compute/spark.py": {"_jdf", "_jsparkSession"},
}
_USE = re.compile(rf"(?<!self)\.({'|'.join(OF_LIBRARY)})\b")
_MODULE = re.compile(
    r"(?:import_module\(\"|^ *from |^ *import )([a-z_]+(?:\.[a-z_]+)*\._[a-z][a-z_.]*)", re.M
)


def test_private_interfaces_are_used_where_they_are_listed() -> None:
    uses = {}
    for folder in ("weir", "lake", "expectations", "dags", "jobs"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            names = set(_USE.findall(file.read_text()))
            if names:
                uses[str(file.relative_to(ROOT))] = names
    assert uses == USES


@pytest.mark.parametrize("library", CHECKED)
def test_a_library_has_the_version_with_which_its_private_interfaces_were_checked(
    library: str,
) -> None:
    assert version(library).startswith(f"{CHECKED[library]}.")


def test_the_private_modules_that_are_imported_are_those_of_regular_expressions() -> None:
    modules = set()
    for folder in ("weir", "lake", "expectations", "dags", "jobs"):
        for file in (ROOT / folder).rglob("*.py"):
            modules |= {name for name in _MODULE.findall(file.read_text()) if "weir" not in name}
    # Python 3.11 to 3.13 have them.
    assert modules == {"re._constants", "re._parser", "re._compiler"}
