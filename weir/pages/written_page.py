"""The page about freshness, written below the folder of the lake."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from weir.compute.connection import connect
from weir.lake.delta.bindings import Bindings
from weir.lake.lake import local_folder
from weir.lake.whole_files import write_whole
from weir.pages.history import remote_history
from weir.pages.page import freshness_page
from weir.project import open_lake
from weir.remotes.freshness import RemoteState
from weir.settings import Settings

PAGE = "reports/freshness.html"
"""Where the page is, below the lake's folder."""


def write_page(settings: Settings, states: Sequence[RemoteState], now: datetime) -> Path | None:
    """Write the page and return its file; None if the lake is no folder, or there is no remote."""
    folder = local_folder(settings.lake)
    if folder is None or not states:
        return None
    lake, shown = open_lake(settings), []
    for state in states:
        with connect(settings) as connection:
            shown.append((state, remote_history(Bindings(connection), lake, state, now)))
    page = folder / PAGE
    write_whole(page, freshness_page(shown, now))
    return page
