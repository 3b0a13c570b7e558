"""The child process of a fetch: it sends, receives and parses with little memory and no files.

`isolated` starts it, sends one task and receives frames. Secrets come by the pipe only. Nothing is
written to standard error, because a traceback may show what it must not.
"""

from __future__ import annotations

import resource
import time
from pathlib import Path
from typing import IO

from weir.remotes.http.client import Body, fetch
from weir.remotes.http.messages import End, Part, Solutions, Task, decode_task, encode_frame
from weir.remotes.http.metering import Deadline, Meter
from weir.remotes.http.outcomes import Failure, Response
from weir.remotes.http.sparql_results import Solution, read_results
from weir.sandbox.frames import write_frame
from weir.sandbox.serving import serve

_BATCH_CHARACTERS = 256 << 10
_BATCH_SOLUTIONS = 2000


def main() -> None:
    """Run one task."""
    serve(_answer)


def _answer(message: bytes, output: IO[bytes]) -> None:
    write_frame(output, encode_frame(_run(decode_task(message), output)))


def _run(task: Task, output: IO[bytes]) -> End:
    began = time.monotonic()
    meter = Meter(task.request.limits.bytes)
    deadline = Deadline(task.deadline)
    writer = _Writer(output, deadline)

    def read(body: Body) -> tuple[str, ...]:
        match task.want:
            case "solutions":
                variables = read_results(body, task.request.limits.bindings, writer.solution)
                writer.flush()
                return variables
            case "body":
                for chunk in body.chunks:
                    write_frame(output, encode_frame(Part(chunk)))
                return ()

    answer: Response[tuple[str, ...]] | Failure
    try:
        answer = fetch(task.request, meter, deadline, read)
    except MemoryError:
        writer.drop()
        memory, _ = resource.getrlimit(resource.RLIMIT_AS)
        answer = Failure("too_much_memory", f"it needs more than {memory >> 20} MiB of memory")
    except Exception as error:  # noqa: BLE001 - its text may have a secret, its type has none
        answer = Failure("worker_failed", f"{type(error).__name__} in the child process")
    failure, good = (answer, None) if isinstance(answer, Failure) else (None, answer)
    return End(
        failure,
        good.content_type if good else "",
        good.value if good else (),
        meter.sent,
        meter.received,
        time.monotonic() - began,
        meter.peer,
        _peak_memory(),
    )


class _Writer:
    """Collects solutions into frames."""

    def __init__(self, output: IO[bytes], deadline: Deadline) -> None:
        self._output, self._deadline = output, deadline
        self._batch: list[Solution] = []
        self._characters = 0

    def solution(self, solution: Solution) -> None:
        self._batch.append(solution)
        self._characters += sum(len(term) for term in solution.values())
        if len(self._batch) >= _BATCH_SOLUTIONS or self._characters >= _BATCH_CHARACTERS:
            self.flush()

    def flush(self) -> None:
        self._deadline.left()
        if self._batch:
            write_frame(self._output, encode_frame(Solutions(self._batch)))
        self.drop()

    def drop(self) -> None:
        self._batch, self._characters = [], 0


def _peak_memory() -> int:
    """Resident bytes at most since the process started (`ru_maxrss` would count the parent's)."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    return int(status.split("VmHWM:")[1].split()[0]) << 10


if __name__ == "__main__":
    main()
