"""Apache Jena Fuseki, a SPARQL endpoint for tests: downloaded when the first test asks for it.

It runs as a process of its own. Its jar contains libraries that Spark has in other versions, so it
stays in a folder of its own and is never on Spark's class path.
"""

from __future__ import annotations

from pathlib import Path

from setup.jars import spark_submit
from setup.steps import CACHE, ROOT, Step, ensure
from weir.spark_setup.maven import Artifact

FUSEKI = Artifact(
    "Fuseki",
    ("org.apache.jena:jena-fuseki-server:5.6.0",),
    ROOT / "setup" / "fuseki.lock",
    CACHE / "fuseki",
)


def step() -> Step:
    """Download the locked jar."""
    return Step("fuseki", "Fuseki for tests", FUSEKI.lock.read_text, _is_installed, _install)


def installed() -> Path:
    """The jar, which is downloaded if it is missing (56 MB).

    Raises:
        SetupError: it cannot be downloaded, or is not the locked one.
    """
    ensure(step())
    return _file()


def _is_installed() -> bool:
    (jar,) = FUSEKI.jars()
    return jar.has_size_of(_file())


def _install() -> None:
    FUSEKI.obtain(spark_submit())


def _file() -> Path:
    (file,) = FUSEKI.files()
    return file
