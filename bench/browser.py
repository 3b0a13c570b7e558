"""A real browser, driven by Playwright: the Chromium of the machine, if it has one."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser

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
