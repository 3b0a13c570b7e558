"""`make screenshots`: the pictures of the site that README and docs/site.md show."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Literal

from bench.browser import CHROMIUM, browser
from tests.site.browser import opened
from tests.support.projects.museum import Museum
from weir.project import Project
from weir.settings import CONFIG_FILE, Settings
from weir.site.writing import write_site

FOLDER: Final = Path(__file__).parents[2] / "docs" / "pictures"
_PICTURES: Final[dict[str, tuple[str, int, int, Literal["light", "dark"]]]] = {
    "start": ("index.html", 1100, 860, "light"),
    "answer": ("answers/exhibits.html", 1100, 1500, "light"),
    "dark": ("answers/rooms.html", 1100, 900, "dark"),
    "phone": ("index.html", 360, 760, "light"),
}
"""By the name of a picture: page, width, height in pixels, colours."""


def main() -> int:
    """Write the pictures of a museum whose register was delivered fourteen times."""
    if CHROMIUM is None:
        print("screenshots: this machine has no Chromium", file=sys.stderr)
        return 1
    FOLDER.mkdir(exist_ok=True)
    with TemporaryDirectory() as folder:
        museum = Museum(Path(folder) / "museum", exhibits=60)
        museum.live(13)
        museum.exhibits[4]["insured"] = -5
        museum.live(1)
        site = write_site(Project(Settings.load(museum.folder / CONFIG_FILE)))
        with browser() as running:
            for name, (path, width, height, scheme) in _PICTURES.items():
                page, _ = opened(running, site.folder / path, width, scheme)
                page.set_viewport_size({"width": width, "height": height})
                page.wait_for_timeout(1000)
                page.screenshot(path=FOLDER / f"{name}.png")
                page.close()
                print(f"screenshots: docs/pictures/{name}.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
