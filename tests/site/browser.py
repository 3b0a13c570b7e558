"""Pages in a real browser, as tests look at them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


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
