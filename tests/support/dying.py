"""Stages that die at a checkpoint within this process: much faster than a process that is killed.

What is lost is the same: from the checkpoint on nothing is committed, and the claim has no end. A
real SIGKILL also takes memory, threads, locks and child processes; see `tests.support.killed` and
`tests.torture`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from weir.lake.delta import commit


class Died(BaseException):
    """The end of a process, which nobody handles."""


@contextmanager
def dies_at(point: str) -> Iterator[None]:
    """A context that ends at the checkpoint `point`; for others, its claims are of a dead process.

    Raises:
        AssertionError: the checkpoint was not reached.
    """
    original, dead = commit.checkpoint, False

    def dying(name: str) -> None:
        nonlocal dead
        dead = dead or name == point
        if dead:
            raise Died(name)

    patches: list[Any] = [
        mock.patch.object(module, "checkpoint", dying)
        for module in [*sys.modules.values()]
        if getattr(module, "checkpoint", None) is original
    ]
    # Another process had this id before.
    patches.append(mock.patch("weir.lake.ledger.runs.identity", lambda pid: f"an earlier {pid}"))
    try:
        for patch in patches:
            patch.start()
        yield
    except Died:
        pass
    finally:
        for patch in patches:
            patch.stop()
    assert dead, f"{point} was not reached"
