"""A real browser, driven by Playwright: the Chromium of the machine, if it has one."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
"""The browser; None if there is none."""


@contextmanager
def browser() -> Iterator[Browser]:
    """The browser, without a window."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # The sandbox of Chromium does not start for root, as in containers.
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            yield running
        finally:
            running.close()


def opened(
    running: Browser,
    file: Path | str,
    width: int = 1200,
    scheme: Literal["light", "dark"] = "light",
) -> tuple[Page, list[str]]:
    """A page, and all that goes wrong on it: errors, and requests that are not of files."""
    page = running.new_page(
        viewport={"width": width, "height": 800},
        color_scheme=scheme,
        locale="en-GB",
        timezone_id="UTC",
    )
    wrong: list[str] = []
    page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on(
        "request",
        lambda request: (
            None if request.url.startswith(("file:", "data:")) else wrong.append(request.url)
        ),
    )
    page.goto(Path(file).as_uri() if isinstance(file, Path) else file)
    return page, wrong
