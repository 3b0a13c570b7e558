"""Where the time of a run goes: functions of the stages, timed from outside.

The stages are not changed for it. A probe names a function by its module and labels it in the
report; a function that no longer exists is an error.
"""

from __future__ import annotations

import functools
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any


@dataclass(frozen=True, slots=True)
class Probe:
    """A function to time; `label` gives the name of a call, or None for a call that is left out."""

    stage: str
    module: str
    function: str
    label: Callable[..., str | None]


def _always(name: str) -> Callable[..., str]:
    return lambda *_, **__: name


_HOP = re.compile(r"g\d+_(keys|rows)(\d+)")


def _hop(engine: Any, statement: Any) -> str | None:
    del engine
    hop = _HOP.fullmatch(statement.name)
    return hop and f"  hop {hop[2]}, {hop[1]}"


WITHIN = "within a stage: "
"""Labels of times that the seconds of the stages include."""

PROBES = (
    Probe("start", "weir.compute.session", "_start", _always(f"{WITHIN}start of Spark")),
    Probe("start", "weir.ingest.stage", "is_anything_pending", _always("look for change sets")),
    Probe("start", "weir.pipeline", "_is_work", _always("look for pending work")),
    Probe("ingest", "weir.ingest.batch", "read_batch", _always("parse")),
    Probe("ingest", "weir.ingest.graph_target", "_written_graphs", _always("ownership of graphs")),
    Probe("ingest", "weir.ingest.graph_target", "_net", _always("net changes")),
    Probe("ingest", "weir.ingest.journal", "Journal.commit_quads", _always("commits")),
    Probe("maintain", "weir.maintain.stage", "tasks_behind", _always("watermarks and plans")),
    Probe("maintain", "weir.maintain.epoch_course", "EpochCourse.open", _always("read the graph")),
    Probe("maintain", "weir.maintain.epoch_course", "read_touched", _always("read changes")),
    Probe("maintain", "weir.maintain.epoch_course", "read_neighbourhood", _always("neighbourhood")),
    Probe("maintain", "weir.maintain.epoch_course", "read_whole", _always("whole graph")),
    Probe("maintain", "weir.compute.engine", "Engine.make", _hop),
    Probe(
        "maintain", "weir.maintain.new_rows", "NewRows.commit", _always("all queries (4 threads)")
    ),
    Probe(
        "maintain",
        "weir.maintain.new_rows",
        "NewRows._commit",
        lambda _, task, *__: f"  {task.name}",
    ),
    Probe(
        "maintain",
        "weir.maintain.new_rows",
        "rows_of_members",
        lambda _, tasks, *__: f"  {tasks[0].name} and others of its shape",
    ),
    Probe(
        "maintain",
        "weir.maintain.new_rows",
        "NewRows._write_or_report",
        _always("  commits of queries of one shape (summed)"),
    ),
    Probe("validate", "weir.validate.stage", "validate_graph", _always("the graph")),
    Probe("validate", "weir.validate.stage", "validate_queries", _always("the queries")),
    Probe("validate", "weir.validate.validation", "run_checks", _always("  of both, the checks")),
    Probe(
        "validate",
        "weir.expectations.run",
        "library",
        _always("  of these, loading Great Expectations"),
    ),
    Probe("publish", "weir.publish.stage", "_work", _always("backlog")),
    Probe("publish", "weir.publish.stage", "publish", _always("all queries (4 threads)")),
)


@dataclass(slots=True)
class Spans:
    """Seconds per (stage, label), summed over calls, in the order in which calls began."""

    seconds: dict[tuple[str, str], float] = field(default_factory=dict)


@contextmanager
def timed(probes: tuple[Probe, ...] = PROBES) -> Iterator[Spans]:
    """Time the probes' functions while the block runs.

    A module is not imported for this: what imports it pays for it, as without probes.

    Raises:
        AttributeError: a probe names nothing.
    """
    spans = Spans()
    put_back: list[tuple[Any, str, Any]] = []

    def install(module: ModuleType) -> None:
        for probe in probes:
            if probe.module == module.__name__:
                owner: Any = module
                *path, name = probe.function.split(".")
                for step in path:
                    owner = getattr(owner, step)
                original = getattr(owner, name)
                put_back.append((owner, name, original))
                setattr(owner, name, _timed(original, probe, spans))

    awaited = {probe.module for probe in probes}
    for name in awaited & {*sys.modules}:
        install(sys.modules[name])
    finder = _AfterImport(awaited - {*sys.modules}, install)
    sys.meta_path.insert(0, finder)
    try:
        yield spans
    finally:
        sys.meta_path.remove(finder)
        for owner, name, original in reversed(put_back):
            setattr(owner, name, original)


class _AfterImport(MetaPathFinder):
    """Calls `then` with each of the modules `names` right after it was imported."""

    def __init__(self, names: set[str], then: Callable[[ModuleType], None]) -> None:
        self._names, self._then = names, then

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del target
        if fullname not in self._names:
            return None
        spec = PathFinder.find_spec(fullname, path)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self._then)
        return spec


class _Loader(Loader):
    def __init__(self, loader: Loader, then: Callable[[ModuleType], None]) -> None:
        self._loader, self._then = loader, then

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        self._then(module)


def _timed(function: Callable[..., Any], probe: Probe, spans: Spans) -> Callable[..., Any]:
    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        label = probe.label(*args, **kwargs)
        if label is None:
            return function(*args, **kwargs)
        key = (probe.stage, label)
        spans.seconds.setdefault(key, 0.0)
        started = time.monotonic()
        try:
            return function(*args, **kwargs)
        finally:
            spans.seconds[key] += time.monotonic() - started

    return run
