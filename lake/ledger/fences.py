"""Fences: a run that lost its claim commits nothing that the run after it has not seen.

A run whose process or machine was paused may resume after another run took over its claim. So
before each commit, a run checks the commits that the table got since the run first read it. Each
commit carries the number of the claim as a Delta transaction identifier, so that Delta refuses it
if another commit with the identifier comes between. If a commit carries another number of the same
claim, two runs believe that they hold it: the second one commits nothing and ends.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from deltalake import Transaction

from weir.lake.delta.commit_files import actions

Commit: TypeAlias = Callable[[int], bytes]
"""The content of a commit by its version; raises a `FileNotFoundError` if it is gone."""
_COMMITS = 1 << 20
"""The most commits of one run to one table: Spark needs increasing transaction numbers."""


class Superseded(Exception):  # noqa: N818  (named after what happened)
    """Another run holds, or held, the claim of this run."""


@dataclass(slots=True)
class Fence:
    """What a run that holds a claim knows of the tables it commits to.

    Attributes:
        name: of the claim.
        number: of the claim.
        looked_at: the version of each table up to which this run has checked its commits.
        lost: the error of all further commits, once another run has taken the claim over.
    """

    name: str
    number: int
    looked_at: dict[str, int] = field(default_factory=dict)
    lost: Superseded | None = None
    _commits: Counter[str] = field(default_factory=Counter)

    @property
    def application(self) -> str:
        """The identifier of the transactions of all runs that hold this claim."""
        return f"weir-commits-of-{self.name}"

    def next(self, table_name: str) -> Transaction:
        """The transaction of the next commit to a table."""
        self._commits[table_name] += 1
        version = self.number * _COMMITS + self._commits[table_name]
        return Transaction(self.application, version)

    def check(self, commit: Commit, table_name: str, version: int) -> None:
        """Check the commits of a table up to `version` that this run has not checked yet.

        Raises:
            Superseded: another run with the same claim made one of them, or of earlier ones.
        """
        if self.lost is not None:
            raise self.lost
        known = self.looked_at.setdefault(table_name, version)
        for later in range(known + 1, version + 1):
            number = self._number(commit, later)
            if number not in (None, self.number):
                raise self.give_up(table_name)
        self.looked_at[table_name] = max(known, version)

    def give_up(self, table_name: str) -> Superseded:
        """Refuse this and every later commit of the run; returns the error to raise."""
        self.lost = Superseded(
            f"another run of {self.name} committed to {table_name} while this one, number"
            f" {self.number}, was paused or cut off from the lake. What this run had committed"
            " stays, and nothing was committed twice. The next run goes on from there."
        )
        return self.lost

    def _number(self, commit: Commit, version: int) -> int | None:
        """The number of the claim in a commit; None if it has none, -1 if the commit is gone."""
        try:
            lines = commit(version).splitlines()
        except FileNotFoundError:
            # The log has been shortened: others have made hundreds of commits.
            return -1
        for kind, action in actions(lines):
            if kind == "txn" and action["appId"] == self.application:
                return int(action["version"]) // _COMMITS
        return None


@dataclass(frozen=True, slots=True)
class Guard:
    """The fences that a commit to a table has to pass; none if its process holds no claim."""

    fences: Sequence[Fence]
    commit: Commit
    table_name: str

    def check(self, version: int) -> None:
        """Check that a commit may follow a version of the table.

        Raises:
            Superseded: it may not: another run has taken a claim over.
        """
        for fence in self.fences:
            fence.check(self.commit, self.table_name, version)

    def transactions(self) -> list[Transaction]:
        """The Delta transactions that the commit carries."""
        return [fence.next(self.table_name) for fence in self.fences]
