"""Runs the checks that a project writes, on what would be published.

What a row decides alone is looked at once: if the answer passed the same check before, only the
rows that appear are. All others look at the answer as it would be, or at what changes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc

from weir.checks.arguments import (
    CURRENT,
    DELTA,
    Arguments,
    CompoundUnique,
    OfColumn,
    OfDelta,
    RowCount,
    UnexpectedRows,
)
from weir.checks.declared import SUITE, AnswerChecks, Check
from weir.checks.rows import (
    Outcome,
    column_outcome,
    compound_outcome,
    count_outcome,
    delta_outcome,
)
from weir.checks.unexpected_query import (
    CannotCompute,
    UnknownName,
    answers_named,
    query_outcome,
)
from weir.compute.engine import Engine
from weir.definitions.catalog import Catalog
from weir.definitions.definition import Definition
from weir.errors import ConfigurationError
from weir.expectations.suite import QualityResult
from weir.progress.backlog import Backlog
from weir.progress.completion import Completion
from weir.progress.verdicts import DELTA_CHECK, OWN_CHECK, UNREADABLE_CHECKS, PassedChecks
from weir.validate.whole_rows import (
    TooManyRows,
    appeared,
    changes_of,
    rebased_changes,
    state_of,
    typed,
    typed_changes,
)

_EXAMPLE_CHARACTERS = 2000


@dataclass(frozen=True, slots=True)
class CheckedAnswer:
    """The results of the checks of an answer.

    passed: the checks that each of its rows passed.
    """

    results: tuple[QualityResult, ...]
    passed: PassedChecks


@dataclass
class OwnChecks:
    """The checks of a run of validate.

    Attributes:
        engine: reads the rows.
        completion: of the lake.
        catalog: of the project.
        checks: by the name of the answer.
    """

    engine: Engine
    completion: Completion
    catalog: Catalog
    checks: Mapping[str, AnswerChecks]
    _typed: dict[str, pa.Table] = field(default_factory=dict, init=False)

    def results(self, works: Sequence[Backlog]) -> dict[str, CheckedAnswer]:
        """The results of the answers that have checks, by name."""
        return {
            work.query: self._checked(work, self.checks[work.query])
            for work in works
            if work.query in self.checks
        }

    def _checked(self, work: Backlog, own: AnswerChecks) -> CheckedAnswer:
        checks = own.checks
        rows = _Rows(self, work, self.catalog.member(work.query))
        verdict = self.completion.verdicts.get(work.query)
        before = None if verdict is None else verdict.passed
        known = frozenset[str]()
        if before is not None and not work.rebuilt and before.epoch <= work.from_epoch:
            known = before.checks
        outcomes = [_outcome(check, rows, is_known=check.fingerprint in known) for check in checks]
        passed = {
            check.fingerprint
            for check, outcome in zip(checks, outcomes, strict=True)
            if outcome.success and check.arguments.reads == "rows"
        }
        results = (
            *map(_result, [work.query] * len(checks), checks, outcomes),
            *(_mistake(work.query, error) for error in own.mistakes),
        )
        if all(result.may_pass for result in results):
            return CheckedAnswer(results, PassedChecks(work.to_epoch, frozenset(passed)))
        # If it is published nevertheless, only what passed now is known of its rows.
        return CheckedAnswer(results, PassedChecks(work.from_epoch, known & passed))

    def typed_answer(self, name: str, epoch: int) -> pa.Table:
        """Another answer as it would be published.

        Args:
            name: of the answer.
            epoch: up to which it has to be known.

        Raises:
            TooManyRows: it is too large.
            CannotCompute: it is not computed up to there yet.
        """
        maintained = self.completion.maintained(name)
        if maintained is None:
            raise CannotCompute(f"{name} has no answer yet")
        if maintained.epoch < epoch:
            raise CannotCompute(f"{name} is known at epoch {maintained.epoch}, not at {epoch}")
        if name not in self._typed:
            definition = self.catalog.member(name)
            rows = state_of(self.engine, name, maintained)
            self._typed[name] = typed(self.completion, definition, rows)
        return self._typed[name]


@dataclass
class _Rows:
    """The rows of an answer that its checks read; none is read before one does."""

    of: OwnChecks
    work: Backlog
    definition: Definition

    @cached_property
    def whole(self) -> pa.Table:
        """The answer as it would be."""
        return state_of(self.of.engine, self.work.query, self.work.maintained)

    @cached_property
    def all(self) -> pa.Table:
        """The rows of the answer; over streams, those that it has or had at any instant."""
        if not self.work.is_over_streams:
            return self.whole
        return appeared(changes_of(self.of.engine, self.work, after=-1))

    @cached_property
    def new(self) -> pa.Table:
        """The rows that appear."""
        return appeared(self.changes)

    @cached_property
    def changes(self) -> pa.Table:
        """What changes, by epoch; nothing where no answer of this text was published before."""
        if self.work.mode == "rebased":
            return rebased_changes(self.of.engine, self.work, self.whole)
        if self.work.rebuilt:
            empty = self.whole.slice(0, 0)
            return empty.append_column("epoch", pa.array([], pa.int64()))
        return changes_of(self.of.engine, self.work)

    def relations(self, said: UnexpectedRows) -> dict[str, pa.Table]:
        """What a query reads."""
        whole = typed(self.of.completion, self.definition, self.whole)
        changes = typed_changes(self.of.completion, self.definition, self.whole, self.changes)
        others = answers_named(said, self.of.catalog.names) - {CURRENT, DELTA}
        return {CURRENT: whole, DELTA: changes} | {
            name: self.of.typed_answer(name, self.work.to_epoch) for name in sorted(others)
        }


def _outcome(check: Check, rows: _Rows, *, is_known: bool) -> Outcome:
    try:
        return _computed(check.arguments, rows, is_known=is_known)
    except (CannotCompute, TooManyRows) as error:
        reason = f"it cannot be computed: {error}"
        return Outcome(False, 0, (), reason, is_mistake=isinstance(error, UnknownName))


def _computed(said: Arguments, rows: _Rows, *, is_known: bool) -> Outcome:
    match said:
        case OfColumn():
            return column_outcome(said, rows.new if is_known else rows.all)
        case CompoundUnique():
            return compound_outcome(said, rows.whole)
        case RowCount():
            return count_outcome(said, pc.sum(rows.whole["weight"]).as_py() or 0)
        case OfDelta():
            return delta_outcome(said, rows.changes, rows.work.rows_published)
        case UnexpectedRows():
            return query_outcome(said, rows.relations(said))
        case _:
            raise AssertionError(f"unknown arguments {said!r}")


def _result(query: str, check: Check, outcome: Outcome) -> QualityResult:
    is_delta = isinstance(check.arguments, OfDelta)
    # A sentence about several failures is cut at semicolons.
    detail = outcome.detail.replace(";", ",")
    return QualityResult(
        suite=SUITE,
        scope=query,
        expectation=check.name,
        sentence=check.description or _sentence(check),
        success=outcome.success,
        unexpected_rows=outcome.unexpected,
        examples=tuple(
            json.dumps(row, ensure_ascii=False, default=str)[:_EXAMPLE_CHARACTERS]
            for row in outcome.examples
        ),
        detail="" if outcome.success else f"{detail} ({check.place})",
        is_warning=check.severity == "warn" and not outcome.is_mistake,
        label=f"{DELTA_CHECK} {OWN_CHECK}" if is_delta else OWN_CHECK,
    )


def _mistake(query: str, error: ConfigurationError) -> QualityResult:
    """The failure of a check that cannot be understood: what it would say is not known."""
    return QualityResult(
        suite=SUITE,
        scope=query,
        expectation=UNREADABLE_CHECKS,
        sentence="The checks of the answer can be read.",
        success=False,
        # A sentence about several failures is cut at semicolons.
        detail="; ".join(map(str, (error, *error.others))).replace(";", ","),
    )


def _sentence(check: Check) -> str:
    said = check.arguments.model_dump(exclude_defaults=True)
    return f"{check.type}: {', '.join(f'{key} {value}' for key, value in said.items())}"
