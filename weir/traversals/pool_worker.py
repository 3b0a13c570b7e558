"""The child process of a pool: it fetches documents and reads them, with little memory.

`pool` starts it, and sends options and then tasks. Secrets come by the pipe only. Nothing is
written to standard error, because a traceback may show what it must not.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from typing import IO, Any

from weir.remotes.http.metering import Deadline, Meter
from weir.remotes.http.outcomes import Failure, FetchError
from weir.remotes.http.pages import Connections, Page
from weir.sandbox.death import OUT_OF_MEMORY
from weir.sandbox.frames import write_frame
from weir.sandbox.serving import serve
from weir.traversals import reading
from weir.traversals.messages import (
    Ended,
    FetchTask,
    PoolOptions,
    Reading,
    Ready,
    Usage,
    decode_options,
    decode_task,
    encode_frame,
)


def main() -> None:
    """Run tasks until there are no more."""
    worker: _Worker | None = None

    def answer(message: bytes, output: IO[bytes]) -> None:
        nonlocal worker
        if worker is None:
            worker = _Worker(decode_options(message), output)
        else:
            worker.tasks.put(decode_task(message))

    serve(answer)


class _Worker:
    """A thread per host that is asked at once."""

    def __init__(self, options: PoolOptions, output: IO[bytes]) -> None:
        self._options, self._output = options, output
        self._connections = Connections(options.manner)
        self._writing = threading.Lock()
        # One document after another, so that the parent knows which one ended the process.
        self._reading = threading.Lock()
        self.tasks: queue.SimpleQueue[FetchTask] = queue.SimpleQueue()
        for _ in range(options.hosts):
            threading.Thread(target=self._work, daemon=True).start()
        self._write(encode_frame(Ready()))

    def _work(self) -> None:
        while True:
            task = self.tasks.get()
            try:
                self._write(self._run(task))
            except MemoryError:
                os._exit(OUT_OF_MEMORY)

    def _run(self, task: FetchTask) -> bytes:
        """Run a task; the frame of its end."""
        began = time.monotonic()
        meter = Meter(task.most_bytes)
        failure: Failure
        try:
            page, value = self._fetch(task, meter, Deadline(began + task.seconds))
            return encode_frame(Ended(task.id, page, value, _usage(meter, began)))
        except FetchError as stop:
            failure = Failure(stop.kind, stop.reason)
        except MemoryError:
            memory = self._options.memory >> 20
            failure = Failure("too_much_memory", f"it needs more than {memory} MiB of memory")
        except Exception as error:  # noqa: BLE001 - its text may have a secret, its type has none
            failure = Failure("worker_failed", f"{type(error).__name__} in the child process")
        return encode_frame(Ended(task.id, failure, None, _usage(meter, began)))

    def _fetch(
        self, task: FetchTask, meter: Meter, deadline: Deadline
    ) -> tuple[Page | Failure, dict[str, Any] | None]:
        page = self._connections.get(task.request, meter, deadline)
        if isinstance(page, Failure) or page.status != 200 or task.unread:
            return page, None
        if not self._reading.acquire(timeout=deadline.left()):
            return Failure("interrupted", "other documents were read until its deadline"), None
        try:
            self._write(encode_frame(Reading(task.id)))
            content_type = page.headers.get("content-type", "")
            value = reading.read(page.body, content_type, task.url, self._options.reading)
        finally:
            self._reading.release()
        return Page(page.status, page.headers, b""), value

    def _write(self, content: bytes) -> None:
        with self._writing:
            write_frame(self._output, content)
            self._output.flush()


def _usage(meter: Meter, began: float) -> Usage:
    seconds = time.monotonic() - began
    return Usage(True, meter.sent, meter.received, seconds, meter.peer)


if __name__ == "__main__":
    main()
