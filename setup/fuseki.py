"""Apache Jena Fuseki, a SPARQL endpoint for tests: downloaded when the first test asks for it.

It runs as a process of its own. Its jar contains libraries that Spark has in other versions, so it
stays in a folder of its own and is never on Spark's class path.
"""

from __future__ import annotations

from pathlib import Path

from setup.maven import Artifact
from setup.steps import CACHE, Step, one_at_a_time, run_pending, text_of

FUSEKI = Artifact("org.apache.jena:jena-fuseki-server:5.6.0", "setup/fuseki.lock", CACHE / "fuseki")


def step() -> Step:
    """Download the locked jar."""
    return Step(
        "fuseki", "Fuseki for tests", lambda: text_of(FUSEKI.lock), _is_installed, FUSEKI.obtain
    )


def installed() -> Path:
    """The jar, which is downloaded if it is missing (56 MB).

    Raises:
        SetupError: it cannot be downloaded, or is not the locked one.
    """
    with one_at_a_time():
        if not step().is_done():
            run_pending([step()])
    return _file()


def _is_installed() -> bool:
    # The size only: this runs at every start, and the content was verified when downloaded.
    (jar,) = FUSEKI.jars()
    return _file().is_file() and _file().stat().st_size == jar.size


def _file() -> Path:
    (jar,) = FUSEKI.jars()
    return jar.resolved_in(FUSEKI.folder)
