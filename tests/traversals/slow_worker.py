"""The worker of a pool that takes long to start."""

from __future__ import annotations

import time

from weir.traversals import pool_worker

SECONDS = 4

if __name__ == "__main__":
    time.sleep(SECONDS)
    pool_worker.main()
