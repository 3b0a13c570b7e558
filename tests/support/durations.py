"""Seconds of the tests by folder, beside their shares by the budgets of docs/testing.md."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.support.lanes import LANES, OPTION

PAGE = Path(__file__).parents[2] / "docs" / "testing.md"
_ROW = re.compile(r"\| `(\w+)` \|" + r" *(\d+) \|" * 2)

MOST, ROUNDING = 1.5, 5.0
"""A folder is over its share by so many times, and so many seconds: other cases are sampled in each
commit.
"""


def pytest_configure(config: pytest.Config) -> None:
    """Lanes are summed up, in the process that reports."""
    if config.getoption(OPTION) and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Durations(config.getoption(OPTION)))


@dataclass(slots=True, eq=False)
class Durations:
    """What was spent in set-up, call and teardown of tests.

    Attributes:
        lane: the lane that runs.
        seconds: of each folder below `tests`.
    """

    lane: str
    seconds: Counter[str] = field(default_factory=Counter)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[folder_of(report.nodeid)] += report.duration  # type: ignore[assignment]

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self.seconds:
            return
        terminalreporter.section("seconds by folder, and their share by docs/testing.md")
        budgets = read_budgets().get(self.lane, {})
        spent = sum(self.seconds.values())
        planned = sum(budgets.get(folder, 0) for folder in self.seconds)
        # A machine that is slow, or busy, is so in all folders.
        pace = spent / planned if planned else 1.0
        for folder, seconds in self.seconds.most_common():
            share = budgets.get(folder, 0) * pace
            over = "  over its share" if budgets and seconds > share * MOST + ROUNDING else ""
            terminalreporter.write_line(f"{folder:14}{seconds:8.1f}{share:8.0f}{over}")
        terminalreporter.write_line(f"{'all':14}{spent:8.1f}{planned:8}")


def folder_of(test: str) -> str:
    """The folder below `tests` of a test; that of a file directly in it is `tests`."""
    _, *folders, _ = test.partition("::")[0].split("/")
    return folders[0] if folders else "tests"


def read_budgets() -> dict[str, dict[str, int]]:
    """Seconds on quiet cores, by lane and folder; none of `deep`."""
    budgets: dict[str, dict[str, int]] = {lane: {} for lane in LANES}
    for folder, test, rest in _ROW.findall(PAGE.read_text()):
        budgets["test"][folder], budgets["rest"][folder] = int(test), int(rest)
    return budgets
