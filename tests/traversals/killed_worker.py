"""The worker of a pool that a document kills while it is read."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any

from weir.traversals import pool_worker, reading

PATH = "deadly"
_read = reading.read


def read(content: bytes, content_type: str, url: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """End the process, when another request is under way, if the URL says so."""
    if url.endswith(PATH):
        time.sleep(0.1)
        os._exit(3)
    return _read(content, content_type, url, options)


if __name__ == "__main__":
    reading.read = read
    pool_worker.main()
