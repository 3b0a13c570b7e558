"""A project that has lived for some steps with everything, and what it must be after the next."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from deltalake import DeltaTable

from tests.support.oxigraph_endpoint import OxigraphEndpoint
from tests.support.projects.project import Project
from tests.torture.life import Features, Step, Work, apply, broken_queries, declare, steps
from tests.torture.worker import Disturbance, Ended, Worker
from weir.lake.delta.commit_files import LOG

EVERYTHING = Features(stream=True, remote=True)
STEPS = 8
"""So many steps are lived before the one in which something is attacked."""
_SINCE_CHECKPOINTS = 3
"""So many of them after every table got a checkpoint: older commits are not read any more."""


class Unwell(Exception):  # noqa: N818  (named after what is wrong)
    """An undisturbed project did not do what it was asked for."""


@dataclass(frozen=True, slots=True)
class Lived:
    """What is attacked in copies.

    Attributes:
        before: a project after some steps.
        step: the next one.
        twin: the same project after that step, undisturbed.
        remote: that all copies ask.
    """

    before: Project
    step: Step
    twin: Project
    remote: OxigraphEndpoint

    def copied(self, folder: Path) -> Project:
        """A copy, with the inputs of the next step, which no run has taken yet."""
        project = self.before.copy(folder)
        apply(self.step, (project,), self.remote)
        return project


@contextmanager
def lived(folder: Path, seed: str, count: int = STEPS, **limits: int) -> Iterator[Lived]:
    """Live some steps, which a seed gives."""
    with OxigraphEndpoint() as remote:
        project = Project(folder / "before")
        declare((project,), EVERYTHING, remote, **limits)
        worker = Worker(project.folder, keeps_open=True)
        *first, last = steps(seed, EVERYTHING, count + 1)
        for at, step in enumerate(first):
            if at == count - _SINCE_CHECKPOINTS:
                for log in (project.folder / "lake").rglob(LOG):
                    DeltaTable(log.parent).create_checkpoint()
            apply(step, (project,), remote)
            for work in _works(step):
                in_peace(project, work, step, worker)
        worker.close()
        twin = project.copy(folder / "twin")
        apply(last, (twin,), remote)
        in_peace(twin, "run", last)
        yield Lived(project, last, twin, remote)


def in_peace(project: Project, work: Work, step: Step, worker: Worker | None = None) -> None:
    """Have a project work.

    Raises:
        Unwell: something was wrong.
    """
    ended = once(project, work, step, worker=worker)
    if ended.killed or ended.busy or unexpected(project, ended):
        raise Unwell(f"{work} in peace: {ended}")


def once(
    project: Project,
    work: Work,
    step: Step,
    disturbance: Disturbance | None = None,
    worker: Worker | None = None,
) -> Ended:
    """Have a project work, by default in a process of its own."""
    own = worker or Worker(project.folder, keeps_open=False)
    try:
        own.begin(work, step.query, disturbance or Disturbance(), step.evaluation)
        return own.end()
    finally:
        if worker is None:
            own.close()


def unexpected(project: Project, ended: Ended) -> list[str]:
    """The errors other than those about queries whose text is nonsense."""
    broken = len(broken_queries(project))
    noun = "query" if broken == 1 else "queries"
    return [e for e in ended.errors if not e.startswith(f"{broken} {noun} could not be")]


def _works(step: Step) -> list[Work]:
    """What is done at a step: nothing is damaged yet, so nothing is repaired."""
    if step.work == "drop":
        return ["drop", "run"]
    return ["run", "compact"] if step.work == "compact" else ["run"]
