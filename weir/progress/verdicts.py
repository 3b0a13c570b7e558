"""The results of the last validation of each query and of the graph (no Spark)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Self

import pyarrow.compute as pc

from weir.expectations.answers import GUARDS
from weir.lake.counted import counted
from weir.lake.lake import Lake
from weir.lake.tables import QUALITY
from weir.progress.backlog import Backlog

OWN_CHECK, DELTA_CHECK = "check", "delta"
"""The first word about a failed check of a project; and if it says how much may change at once."""
UNREADABLE_CHECKS = "checks_can_be_read"
"""The failure of an answer about whose checks something is wrong."""
OF_PROJECT = frozenset({OWN_CHECK, UNREADABLE_CHECKS})
"""Failures that do not mean that the stored state is wrong: they are about what it says.

After one about what changes, the difference to the published answer is computed again: it may have
become small.
"""
WARNED = "warned: "
"""Precedes the failures that only warn in the reason of a verdict that succeeded."""


@dataclass(frozen=True, slots=True)
class PassedChecks:
    """Checks of a project that each row of an answer passed, by fingerprint.

    epoch: of the answer.
    """

    epoch: int
    checks: frozenset[str]

    @classmethod
    def from_json(cls, text: str | None) -> Self | None:
        """The inverse of `to_json`; None for none."""
        if text is None:
            return None
        value = json.loads(text)
        return cls(value["epoch"], frozenset(value["checks"]))

    def to_json(self) -> str:
        """The form in the ledger."""
        return json.dumps({"epoch": self.epoch, "checks": sorted(self.checks)})


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of the last validation of a query.

    Attributes:
        version: the version of the embedding table whose rows were checked, a commit of maintain.
        run_id: the run of that commit; versions start again if a table is dropped.
        from_epoch: the rows after this epoch were checked, up to the watermark of that commit.
        success: whether all checks passed.
        reason: which checks failed.
        passed: what each row of the answer passed; None if the project has no checks of it.
        checks: the fingerprint of the checks and limits of the project; None if it had none of it.
    """

    version: int
    run_id: str | None
    from_epoch: int
    success: bool
    reason: str
    passed: PassedChecks | None = None
    checks: str | None = None

    @property
    def failed_checks(self) -> frozenset[str]:
        """The names of the checks that failed."""
        return failed_checks(self.reason)

    def is_about(self, backlog: Backlog) -> bool:
        """Whether exactly the rows of `backlog` were checked; or, without any, what is published.

        What is published was checked before.
        """
        rows = backlog.maintained
        is_same = (self.version, self.run_id) == (rows.version, rows.metadata.run_id)
        return is_same and (self.from_epoch == backlog.from_epoch or not backlog.has_rows)


def failed_checks(reason: str) -> frozenset[str]:
    """The names of the failed checks in a reason, which has a part for each."""
    return frozenset(part.split(" ")[0].removesuffix(":") for part in reason.split("; "))


def can_be_accepted(reason: str) -> bool:
    """Whether only guards and limits of changes failed, by the reason of a held answer."""
    return failed_checks(reason) <= {*GUARDS, DELTA_CHECK}


def graph_failure(lake: Lake, validated_to: int) -> str | None:
    """Which checks of the graph's epochs after `validated_to` failed in the last run.

    None if none is known to have failed.
    """
    if not lake.exists(QUALITY.name):
        return None
    columns = ["run_id", "query", "expectation", "unexpected_rows", "recorded_at"]
    filters = [("success", "=", False), ("from_epoch", ">=", validated_to)]
    failed = lake.rows(QUALITY.name, columns, filters)
    of_graph = failed.filter(pc.is_null(failed["query"])).sort_by("recorded_at").to_pylist()
    if not of_graph:
        return None
    last = of_graph[-1]["run_id"]
    what = [
        f"{row['expectation']} ({counted(row['unexpected_rows'], 'row')})"
        for row in of_graph
        if row["run_id"] == last
    ]
    return f"the graph: {'; '.join(what)}"
