"""Data sets of test cases: DSx, and the trends INC, DEC and MIX, at selectivity x %.

Given data are a folder of `bench.replicas.traces`' files. With folders `<case>/<set>/` in it, those
are the data sets, as they are. Otherwise the cases are derived as they are from synthetic traces:
from the trace in `<set>/`, or from the one trace in the folder itself for every set.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from bench.replicas.replay import THRESHOLD
from bench.replicas.synthetic import MINUTES, USERS, rng, shifted, synthetic_trace, trend
from bench.replicas.traces import Trace, read_trace

_SHIFT, _TREND = 1, 2
_KINDS = ("DS", "INC", "DEC", "MIX")


@dataclass(frozen=True, slots=True)
class TestData:
    """Where data sets come from: a folder, or else the generator.

    Attributes:
        users: of synthetic traces; so `minutes`.
    """

    __test__ = False  # not a test

    folder: Path | None = None
    users: int = USERS
    minutes: int = MINUTES

    def data_set(self, case: str, number: int) -> Trace:
        """A data set of a test case such as `DS40`.

        Raises:
            TraceError: of given data.
        """
        if self.folder is not None and (given := self.folder / case / str(number)).is_dir():
            return read_trace(given)
        kind, selectivity = case[:-2], int(case[-2:])
        trace = self.trace(number)
        which = _KINDS.index(kind)
        values = trace.values
        if kind != "DS":
            values = trend(kind, values[0], len(trace.times), rng(number, _TREND, which))
        random = rng(number, _SHIFT, which, selectivity)
        return replace(trace, values=shifted(values, selectivity, THRESHOLD, random))

    def trace(self, number: int) -> Trace:
        """What the test cases of a set are derived from."""
        if self.folder is None:
            return synthetic_trace(number, self.users, self.minutes)
        own = self.folder / str(number)
        return read_trace(own if own.is_dir() else self.folder)

    def __str__(self) -> str:
        return "synthetic data" if self.folder is None else f"data of {self.folder.name}"
