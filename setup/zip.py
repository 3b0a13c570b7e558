"""`make zip`: our packages as one file, for executors on other machines (`WEIR_PY_FILES`)."""

from __future__ import annotations

import zipfile

from setup.steps import ROOT

PACKAGES = ("jobs", "lake", "expectations")
ARCHIVE = ROOT / "dist" / "weir.zip"


def write_archive() -> None:
    """Write the packages' Python and data files to `dist/weir.zip`."""
    ARCHIVE.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(ARCHIVE, "w", zipfile.ZIP_DEFLATED) as archive:
        for package in PACKAGES:
            for file in sorted((ROOT / package).rglob("*")):
                if file.is_file() and file.suffix != ".pyc":
                    archive.write(file, file.relative_to(ROOT))
    print(f"zip: {ARCHIVE.relative_to(ROOT)}: {ARCHIVE.stat().st_size / 1024:.0f} KiB")


if __name__ == "__main__":
    write_archive()
