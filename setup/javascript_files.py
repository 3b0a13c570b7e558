"""The JavaScript libraries of pages: locked by npm, and copied to where pages are made from.

They are not in the repository. A wheel has them, so that its users need no npm.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path
from typing import Final

from setup.steps import CACHE, ROOT, VENV, Step, call, text_of

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
FOLDER: Final = ROOT / "weir" / "pages" / "javascript"
# The maps of sources are not there, and a browser would look for them.
_MAP: Final = re.compile(r"/[/*]# sourceMappingURL=\S+?(?:\*/|$)", re.MULTILINE)
_PACKAGES: Final = ("setup/javascript/package.json", "setup/javascript/package-lock.json")


def step() -> Step:
    """Download the locked packages, and copy what pages load."""
    return Step(
        "javascript",
        "JavaScript of pages",
        lambda: f"{text_of(*_PACKAGES)}\0{LIBRARIES}",
        lambda: all((FOLDER / name).is_file() for name in LIBRARIES),
        _install,
    )


def _install() -> None:
    work = CACHE / "javascript"
    work.mkdir(parents=True, exist_ok=True)
    for file in _PACKAGES:
        shutil.copy(ROOT / file, work)
    # In an image, what sets up has an environment of its own.
    folders = (VENV / "bin", Path(sys.executable).parent)
    npm = next(folder / "npm" for folder in folders if (folder / "npm").exists())
    # No package runs anything: all that is wanted are files.
    call(
        [npm, "ci", "--prefix", work, "--ignore-scripts", "--no-audit", "--no-fund"],
        "Is the npm registry reachable?",
    )
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    for name, path in LIBRARIES.items():
        text = (work / "node_modules" / path).read_text()
        (FOLDER / name).write_text(_MAP.sub("", text))
