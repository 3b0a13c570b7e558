"""`make zip`: our packages as one file, for executors on other machines (`WEIR_PY_FILES`)."""

from __future__ import annotations

import zipfile
from pathlib import Path

from setup.steps import ROOT

PACKAGES = ("weir", "weir/lake", "weir/expectations", "weir/jobs")
ARCHIVE = ROOT / "dist" / "weir.zip"


def write_archive(archive: Path = ARCHIVE) -> Path:
    """Write the packages' Python and data files to `archive`, and return it."""
    archive.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as into:
        for package in PACKAGES:
            for file in sorted((ROOT / package).rglob("*")):
                if file.is_file() and file.suffix != ".pyc":
                    into.write(file, file.relative_to(ROOT))
    return archive


if __name__ == "__main__":
    written = write_archive()
    print(f"zip: {written.relative_to(ROOT)}: {written.stat().st_size / 1024:.0f} KiB")
