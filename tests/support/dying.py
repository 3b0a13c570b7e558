"""Stages that die at a checkpoint within this process: much faster than a process that is killed.

What is lost is the same: from the checkpoint on nothing is committed, and the claim has no end. A
real SIGKILL also takes memory, threads, locks and child processes; see `tests.support.killed` and
`tests.torture`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
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
    with _dying(lambda name, _: name == point) as death:
        yield
    assert death.at, f"{point} was not reached"


@contextmanager
def dies_after(passed: int) -> Iterator[Death]:
    """A context that ends at the next checkpoint after so many, if it comes to it."""
    with _dying(lambda _, number: number > passed) as death:
        yield death


@contextmanager
def passed() -> Iterator[list[str]]:
    """A context that lives; gives the checkpoints that it has passed."""
    names: list[str] = []

    def passes(name: str, _: int) -> bool:
        names.append(name)
        return False

    with _dying(passes):
        yield names


@dataclass(slots=True)
class Death:
    """at: the checkpoint at which a context ended; empty if it came to its own end."""

    at: str = ""


@contextmanager
def _dying(is_last: Callable[[str, int], bool]) -> Iterator[Death]:
    """A context that ends at the first checkpoint, by its name and number from 1, that is last."""
    original, death, numbers = commit.checkpoint, Death(), count(1)

    def dying(name: str) -> None:
        # What is cleaned up on the way out commits nothing either.
        if death.at or is_last(name, next(numbers)):
            death.at = death.at or name
            raise Died(name)

    patches: list[Any] = [
        mock.patch.object(module, "checkpoint", dying)
        for module in [*sys.modules.values()]
        if vars(module).get("checkpoint") is original
    ]
    # Another process had this id before.
    patches.append(mock.patch("weir.lake.ledger.runs.identity", lambda pid: f"an earlier {pid}"))
    try:
        for patch in patches:
            patch.start()
        yield death
    except Died:
        pass
    finally:
        for patch in patches:
            patch.stop()
