"""The JavaScript libraries of pages: locked by npm, and copied to where pages are made from.

They are not in the repository. A wheel has them, so that its users need no npm.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path
from typing import Final

from setup.steps import CACHE, ROOT, VENV, Step, call, ensure, text_of

LIBRARIES: Final = {
    "cytoscape.js": "cytoscape/dist/cytoscape.min.js",
    "cytoscape-dagre.js": "cytoscape-dagre/dist/cytoscape-dagre.min.js",
    "tabulator.js": "tabulator-tables/dist/js/tabulator.min.js",
    "tabulator.css": "tabulator-tables/dist/css/tabulator_simple.min.css",
    "vega.js": "vega/build/vega.min.js",
    "vega-embed.js": "vega-embed/build/vega-embed.min.js",
    "vega-lite.js": "vega-lite/build/vega-lite.min.js",
}
"""What pages load, and the file of a package that it is. All are under MIT or BSD licences."""
_CLIENT: Final = CACHE / "ldes_client"
FOLDER: Final = ROOT / "weir" / "pages" / "javascript"
# The maps of sources are not there, and a browser would look for them.
_MAP: Final = re.compile(r"/[/*]# sourceMappingURL=\S+?(?:\*/|$)", re.MULTILINE)


def _packages(folder: str) -> tuple[str, str]:
    return f"setup/{folder}/package.json", f"setup/{folder}/package-lock.json"


def step() -> Step:
    """Download the locked packages, and copy what pages load."""
    return Step(
        "javascript",
        "JavaScript of pages",
        lambda: f"{text_of(*_packages('javascript'))}\0{LIBRARIES}",
        lambda: all((FOLDER / name).is_file() for name in LIBRARIES),
        _install,
    )


def client_step() -> Step:
    """Download the locked packages of a public client of event streams, for tests."""
    return Step(
        "ldes-client",
        "a public client of event streams, for tests",
        lambda: text_of(*_packages("ldes_client")),
        (_CLIENT / "node_modules" / "ldes-client").is_dir,
        lambda: _download("ldes_client", _CLIENT),
    )


def installed_client() -> Path:
    """The folder of the client, which is downloaded if it is missing (60 MB).

    Raises:
        SetupError: it cannot be downloaded, or is not the locked one.
    """
    ensure(client_step())
    return _CLIENT


def _install() -> None:
    work = CACHE / "javascript"
    _download("javascript", work)
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    for name, path in LIBRARIES.items():
        text = (work / "node_modules" / path).read_text()
        (FOLDER / name).write_text(_MAP.sub("", text))


def _download(packages: str, work: Path) -> None:
    """Have npm download locked packages into a folder."""
    work.mkdir(parents=True, exist_ok=True)
    for file in _packages(packages):
        shutil.copy(ROOT / file, work)
    # In an image, what sets up has an environment of its own.
    folders = (VENV / "bin", Path(sys.executable).parent)
    npm = next(folder / "npm" for folder in folders if (folder / "npm").exists())
    # No package runs anything: all that is wanted are files.
    call(
        [npm, "ci", "--prefix", work, "--ignore-scripts", "--no-audit", "--no-fund"],
        "Is the npm registry reachable?",
    )
