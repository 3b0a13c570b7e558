"""Reads the lake for requests: one at a time, in a thread, with the errors that clients see."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import TypeVar

import anyio
import anyio.to_thread

from weir.errors import ConfigurationError
from weir.expected_errors import as_user_error
from weir.project import Project
from weir.serve.problems import Problem

Read = TypeVar("Read")


class Reader:
    """A project that answers read, one after the other.

    Args:
        project: it; nothing else uses this value.
    """

    def __init__(self, project: Project) -> None:
        self._project = project
        self._lock = anyio.Lock()

    async def read(self, function: Callable[[Project], Read]) -> Read:
        """What a function gives.

        Raises:
            Problem: what a `WeirError` says: 404 for what is not there, 409 for what is held back.
        """
        async with self._lock:
            return await anyio.to_thread.run_sync(self._read, function)

    async def close(self) -> None:
        """Close the project."""
        async with self._lock:
            await anyio.to_thread.run_sync(self._project.close)

    def _read(self, function: Callable[[Project], Read]) -> Read:
        try:
            return function(self._project)
        except Problem:
            raise
        except Exception as error:
            expected = as_user_error(error)
            if expected is None:
                raise
            is_missing = isinstance(expected, ConfigurationError)
            status = HTTPStatus.NOT_FOUND if is_missing else HTTPStatus.INTERNAL_SERVER_ERROR
            raise Problem.of(expected, status) from error
