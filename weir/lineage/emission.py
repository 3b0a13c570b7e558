"""Emits the events of a run: into a file, or to an endpoint; what fails is a warning."""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from weir.artifacts.contents import read_contents
from weir.errors import ConfigurationError, WeirError
from weir.lake.counted import counted
from weir.lineage.done import done_by
from weir.lineage.events import Event, Events
from weir.notify.delivery import NotDelivered, deliver
from weir.project import Project
from weir.settings import Channel, OpenLineage
from weir.stage import StageResult
from weir.text.secret_values import public


@dataclass(frozen=True, slots=True)
class Emitted(StageResult):
    """The events that were written or sent.

    Attributes:
        events: their number.
        failure: why there are not more; None if all were.
    """

    events: int
    failure: str | None = None

    @property
    def summary(self) -> str:
        """How many."""
        return f"{counted(self.events, 'event')} of OpenLineage"

    @property
    def warnings(self) -> list[str]:
        """Why events were not emitted: that fails no run."""
        return [] if self.failure is None else [f"openlineage: {self.failure}"]


def emit_events(project: Project, run_id: str, stage: str | None = None) -> Emitted:
    """Emit what a run did, from the lake as it is now; no claim is taken.

    A run that did nothing has no event. After an event that cannot be sent, no other one is tried.

    Args:
        project: with the setting `openlineage`.
        run_id: of the run.
        stage: of which the events are; None for all. Two DAGs of Airflow can have runs of one id.
    """
    settings = project.settings.openlineage
    done = done_by(project.lake, run_id, stage)
    if not done.rows:
        return Emitted(0)
    wrong: list[ConfigurationError] = []
    try:
        # What is wrong with files of the project, other stages report.
        contents = read_contents(project, datetime.now(UTC), wrong)
    except WeirError as error:
        return Emitted(0, str(error))
    namespace = settings.namespace or f"weir.{project.settings.project.resolve().name}"
    events = [public(event) for event in Events(project.lake, contents, done, namespace)]
    if settings.file is not None:
        return _append(project.settings.project / settings.file, events)
    return _send(settings, events, project.settings.project)


def _append(file: Path, events: Sequence[Event]) -> Emitted:
    lines = "".join(f"{json.dumps(event)}\n" for event in events).encode()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        append_lines(file, lines)
    except OSError as error:
        return Emitted(0, f"{file} cannot be written: {error.strerror}")
    return Emitted(len(events))


def append_lines(file: Path, lines: bytes) -> None:
    """Append lines to a file: all of them, or none.

    Two processes do so one after the other. Half a line of one that was killed becomes a line of
    its own.

    Raises:
        OSError: they cannot be written; the file is as before.
    """
    with file.open("a+b", buffering=0) as output:
        fcntl.flock(output, fcntl.LOCK_EX)
        size = output.seek(0, os.SEEK_END)
        if size and os.pread(output.fileno(), 1, size - 1) != b"\n":
            lines = b"\n" + lines
        try:
            rest = memoryview(lines)
            while rest:
                rest = rest[output.write(rest) :]
        except OSError:
            with suppress(OSError):
                output.truncate(size)
            raise


def _send(settings: OpenLineage, events: Sequence[Event], project: Path) -> Emitted:
    end = time.monotonic() + settings.seconds
    channel = Channel(
        webhook=settings.url,
        connection=settings.connection,
        allow=settings.allow,
        ports=settings.ports,
    )
    for number, event in enumerate(events):
        left, rest = counted(len(events) - number, "event"), end - time.monotonic()
        if rest <= 0:
            why = f"sending takes longer than {settings.seconds:g} s"
            return Emitted(number, f"{why}; {left} of this run are not sent")
        within = channel.model_copy(update={"seconds": rest})
        try:
            message = f"{event['run']['runId']}-{event['eventType'].lower()}"
            deliver(within, message, json.dumps(event).encode(), project)
        except NotDelivered as error:
            return Emitted(number, f"{error}; {left} of this run are not sent")
    return Emitted(len(events))
