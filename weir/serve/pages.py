"""The site that a server shows: written when it starts, and again when the lake has changed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

from weir.expected_errors import as_user_error
from weir.lake.ledger.claims import has_open_claim
from weir.lake.tables import RUNS
from weir.project import Project
from weir.site.writing import write_site
from weir.text.secret_values import without_secrets

_EVERY: Final = 5.0
"""Seconds between two looks at the lake."""


class Pages:
    """Keeps a folder of pages up to date, in a thread of its own.

    Args:
        project: it; nothing else uses this value.
        folder: of the pages.
        progress: called with what goes wrong.
    """

    def __init__(
        self, project: Project, folder: Path, progress: Callable[[str], None] = lambda _: None
    ) -> None:
        self._project, self._folder, self._progress = project, folder, progress
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._keep, daemon=True)

    def start(self) -> None:
        """Begin to write them."""
        self._thread.start()

    def close(self) -> None:
        """Write them no more; what is being written is completed."""
        self._ended.set()
        self._thread.join()
        self._project.close()

    def _keep(self) -> None:
        shown: object = None
        while not self._ended.is_set():
            try:
                lake = self._project.open_lake()
                newest = lake.version(RUNS.name)
                # Between two stages answers are behind, and would all be shown as such.
                if shown != (newest,) and not has_open_claim(lake):
                    write_site(self._project, self._folder)
                    shown = (newest,)
            except Exception as error:  # noqa: BLE001  (the thread would end, and nobody see it)
                # The pages stay as they are; what was wrong may be corrected.
                reason = as_user_error(error) or f"{type(error).__name__}: {error}"
                self._progress(without_secrets(f"the site was not written: {reason}"))
            self._ended.wait(_EVERY)
