"""The child processes that evaluate queries: a few, each with limits, killed when one is late."""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from http import HTTPStatus
from pathlib import Path

import anyio

from weir.sandbox.child import Child, ChildDied, DeadlinePassed
from weir.sandbox.death import Cause, Death
from weir.sandbox.frames import ProtocolError, decode_json
from weir.sandbox.limits import ChildLimits
from weir.serve.problems import RETRY, DamagedStore, Problem
from weir.serve.query_worker import DAMAGED, Question
from weir.settings import Serve, bytes_of

_MODULE = "weir.serve.query_worker"
_QUERIES = 500
"""After so many queries a child is replaced, so that nothing can pile up in it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A query as a request has it.

    Attributes:
        text: of the query.
        default_graphs: IRIs.
        named_graphs: IRIs.
        results: the media type of solutions and truth values; None if none is accepted.
        graphs: the media type of triples; None if none is accepted.
    """

    text: str
    default_graphs: Sequence[str]
    named_graphs: Sequence[str]
    results: str | None
    graphs: str | None


@dataclass(frozen=True, slots=True)
class Result:
    """A whole result, and its media type."""

    media: str
    content: bytes


@dataclass(slots=True)
class _Worker:
    child: Child
    store: Path
    queries: int = 0


class Pool:
    """The children; `close` them.

    Args:
        limits: of queries, and how many run at once.
    """

    def __init__(self, limits: Serve) -> None:
        self._limits = limits
        self._running = anyio.Semaphore(limits.queries)
        self._waiting = 0
        self._idle: list[_Worker] = []
        self._lock = threading.Lock()

    def close(self) -> None:
        """Kill those that have nothing to do."""
        with self._lock:
            for worker in self._idle:
                worker.child.close()
            self._idle.clear()

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """A block in which one of the queries is answered that are at once.

        Raises:
            Problem: too many wait already.
        """
        if self._waiting >= self._limits.waiting + self._limits.queries:
            raise Problem(HTTPStatus.SERVICE_UNAVAILABLE, "too many queries wait", "", RETRY)
        self._waiting += 1
        try:
            async with self._running:
                yield
        finally:
            self._waiting -= 1

    def answer(self, store: Path, asked: Asked) -> Result:
        """The result of a query over a store.

        Raises:
            Problem: there is none.
            DamagedStore: the store cannot be read.
        """
        worker = self._worker(store)
        is_usable = False
        try:
            result = self._result(worker, asked)
            is_usable = True
            return result
        except Problem:
            is_usable = True
            raise
        except DeadlinePassed:
            raise self._too_long() from None
        except ChildDied as died:
            raise self._died(died.death) from None
        finally:
            worker.queries += 1
            if is_usable and worker.queries < _QUERIES:
                with self._lock:
                    self._idle.append(worker)
            else:
                worker.child.close()

    def _worker(self, store: Path) -> _Worker:
        """An idle child, if possible one that has the store open; else a new one."""
        with self._lock:
            for worker in sorted(self._idle, key=lambda one: one.store != store):
                self._idle.remove(worker)
                worker.store = store
                if not worker.child.has_ended:
                    return worker
                worker.child.close()
        limits = ChildLimits(
            bytes_of(self._limits.query_memory),
            "more",
            error_bytes=1 << 16,
            offline=True,
        )
        return _Worker(Child(_MODULE, limits), store)

    def _result(self, worker: _Worker, asked: Asked) -> Result:
        limits = self._limits
        question = Question(
            str(worker.store),
            **asdict(asked),
            seconds=math.ceil(limits.query_seconds),
            most_bytes=limits.result_bytes,
        )
        worker.child.send(json.dumps(asdict(question)).encode())
        deadline = time.monotonic() + limits.query_seconds
        parts: list[bytes] = []
        size = 0
        while (frame := worker.child.receive(bytes, deadline))[:1] == b"+":
            parts.append(frame[1:])
            size += len(frame)
            if size > 2 * limits.result_bytes:
                raise ChildDied(Death(Cause.PROTOCOL, 0, "too many bytes"))
        try:
            end = decode_json(frame[1:])
            if "media" in end:
                return Result(end["media"], b"".join(parts))
            if end["status"] == DAMAGED:
                raise DamagedStore(end["why"])
            problem = Problem(end["status"], end["why"])
        except (ProtocolError, KeyError, TypeError) as error:
            raise ChildDied(Death(Cause.PROTOCOL, 0, str(error))) from None
        raise problem

    def _too_long(self) -> Problem:
        seconds = f"{self._limits.query_seconds:g}"
        return Problem(
            HTTPStatus.SERVICE_UNAVAILABLE,
            f"the query took longer than {seconds} seconds, and was ended",
            "Ask for less; `serve.query_seconds` is the limit.",
            RETRY,
        )

    def _died(self, death: Death) -> Problem:
        match death.cause:
            case Cause.SECONDS | Cause.DEADLINE:
                return self._too_long()
            case Cause.MEMORY:
                return Problem(
                    HTTPStatus.SERVICE_UNAVAILABLE,
                    f"the query needed more than {self._limits.query_memory} of memory, and was"
                    " ended",
                    "Ask for less; `serve.query_memory` is the limit.",
                )
            case _:
                return Problem(
                    HTTPStatus.INTERNAL_SERVER_ERROR,
                    f"the process that evaluated the query {death.how}",
                    "A query that is nested too deeply does that.",
                )
