"""The checks of each answer: of the files `expectations/*.yml`, and of its own front matter."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import chain
from pathlib import Path

from pydantic import ConfigDict

from weir.checks.arguments import CURRENT, DELTA, UnexpectedRows
from weir.checks.declared import (
    AnswerChecks,
    Check,
    Entry,
    Suite,
    checks_of,
    require_distinct_names,
)
from weir.checks.unexpected_query import answers_named, unknown_name
from weir.definitions.catalog import Catalog
from weir.definitions.current_table import checks_of_head
from weir.definitions.definition import Definition, Gate
from weir.definitions.front_matter import FrontMatter, Head, read_head
from weir.definitions.kinds import SHAPES
from weir.errors import ConfigurationError
from weir.files.text import decoded_text, read_bytes
from weir.files.yaml_file import yaml_files
from weir.text.near import meant
from weir.typed.column_type import UNDECIDED
from weir.typed.layout import Layout

_REMEMBERED = 1024
"""Files of checks that a process remembers between its stages."""


class _WithChecks(FrontMatter):
    model_config = ConfigDict(extra="ignore", frozen=True)

    checks: tuple[Entry, ...] = ()


@dataclass(frozen=True)
class DeclaredChecks:
    """The checks of a project, as far as they can be understood.

    Attributes:
        of_answers: of the answers that have any, or about which a file is wrong; by name.
        of_nothing: what is wrong with files about no answer that is known.
        limits: how many rows an answer may have, in words; of those that say so in front matter.
    """

    of_answers: Mapping[str, AnswerChecks] = field(default_factory=dict)
    of_nothing: tuple[ConfigurationError, ...] = ()
    limits: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def fingerprints(self) -> Mapping[str, str]:
        """Those of the checks and limits of each answer that has any."""
        checks = {name: own.fingerprint for name, own in self.of_answers.items()}
        return {
            name: " ".join(said[name] for said in (self.limits, checks) if name in said)
            for name in {**self.limits, **checks}
        }

    @property
    def usable(self) -> Mapping[str, tuple[Check, ...]]:
        """The checks that can be understood, of the answers that have any."""
        return {name: own.checks for name, own in self.of_answers.items() if own.checks}

    @property
    def mistakes(self) -> tuple[ConfigurationError, ...]:
        """All that is wrong, each once."""
        of_answers = (own.mistakes for own in self.of_answers.values())
        by_text = {str(error): error for error in (*chain(*of_answers), *self.of_nothing)}
        return tuple(by_text.values())


def declared_checks(
    folder: Path, catalog: Catalog, only: Collection[str] | None = None
) -> DeclaredChecks:
    """The checks of some answers; those of the front matter come first.

    A file that is wrong is wrong for the declared answers that it names. If it names none, or
    nothing can be read of it, it is for the answer with the name of the file.

    Args:
        folder: has the files; it need not exist.
        catalog: of the project.
        only: names of usable definitions; None for all.
    """
    members = catalog.members if only is None else map(catalog.member, only)
    by_name = {member.name: member for member in members}
    checks = defaultdict[str, list[Check]](list)
    wrong = defaultdict[str, list[ConfigurationError]](list)
    of_nothing = list[ConfigurationError]()
    for name, member in by_name.items():
        if member.current.key:
            checks[name] += _unique(member)
        # Mostly there are none, and the YAML need not be read again.
        if "checks" in member.text:
            try:
                checks[name] += _own(member)
            except ConfigurationError as error:
                wrong[name].append(error)
    for file in yaml_files(folder):
        try:
            suite, mistakes = _read(file)
        except FileNotFoundError:
            # It went while the folder was listed.
            continue
        mistakes = [*mistakes, *_undeclared(suite, catalog)]
        about = [name for name, _ in suite.answers if name in catalog.names]
        if not about and file.stem in catalog.names:
            about = [file.stem]
        if not about:
            of_nothing += [*mistakes, *suite.read(None)[1]]
        for name in about:
            if name in by_name:
                member = by_name[name]
                columns = [column for column, _ in member.columns]
                usable, unusable = suite.read(columns, member.current.pins)
                checks[name] += usable
                wrong[name] += [*mistakes, *unusable]
    reports = {declared.name for declared in catalog.declarations if declared.kind is SHAPES}
    for gate, check in _gates(catalog):
        for name in gate.stops or ():
            try:
                require_declared(name, catalog, gate.place)
            except ConfigurationError as error:
                of_nothing.append(error)
            if name in reports:
                what = f"gate: {name} is the report of shapes, which no gate holds"
                of_nothing.append(ConfigurationError(what, gate.place, "Name queries or programs."))
        for name in catalog.names if gate.stops is None else gate.stops:
            if name in by_name and name not in reports:
                checks[name].append(check)
    for name, own in checks.items():
        try:
            require_distinct_names(own)
        except ConfigurationError as error:
            wrong[name].append(error)
    return DeclaredChecks(
        {
            name: AnswerChecks(tuple(checks[name]), tuple(wrong[name]))
            for name in by_name
            if checks.get(name) or wrong.get(name)
        },
        tuple(of_nothing),
        {name: limits for name, member in by_name.items() if (limits := _limits(member))},
    )


def _gates(catalog: Catalog) -> Iterator[tuple[Gate, Check]]:
    """The gates of shapes, each with the check that it is of the answers that it holds."""
    for report in catalog.of_kind(SHAPES):
        if report.gate is not None:
            yield report.gate, _check_of(report.name, report.gate)


def _unique(member: Definition) -> tuple[Check, ...]:
    """The check that no two rows of an answer have the same key."""
    key = member.current.key
    entry = Entry(
        type="expect_compound_columns_to_be_unique",
        kwargs={"column_list": [*key], "ignore_row_if": "never"},
        name="key",
        description=f"its key is {', '.join(key)}",
    )
    place = _head(member.text, str(member.file), member.kind.comment).place(("key",))
    return checks_of([entry], lambda _: place, key)


def _check_of(report: str, gate: Gate) -> Check:
    return Check(
        name=f"gate_{report}",
        type="UnexpectedRowsExpectation",
        arguments=UnexpectedRows(unexpected_rows_query=gate.rows),
        severity="error",
        description=gate.what,
        place=gate.place,
        place_of_arguments=gate.place,
    )


def _limits(definition: Definition) -> str:
    guards = definition.output.guards
    limits = {"max_rows": guards.max_rows, "min_rows": guards.min_rows}
    return " ".join(f"{key}={limit}" for key, limit in limits.items() if limit is not None)


def mistakes_of_checks(
    folder: Path, catalog: Catalog, names: Collection[str]
) -> Iterator[ConfigurationError]:
    """All mistakes of the checks of some answers; also names in queries that there are not.

    The arguments are those of `declared_checks`.
    """
    declared = declared_checks(folder, catalog, names)
    yield from declared.mistakes
    for answer, own in declared.usable.items():
        for check in own:
            if isinstance(check.arguments, UnexpectedRows):
                yield from _unknown_names(check, check.arguments, answer, catalog, names)


def _read(file: Path) -> tuple[Suite, list[ConfigurationError]]:
    """The checks of a file, and what is wrong with it as a whole.

    Raises:
        FileNotFoundError: it is gone.
    """
    try:
        suite = _suite(file, read_bytes(file))
    except ConfigurationError as error:
        return Suite(file, ""), [error]
    return suite, suite.mistakes


@lru_cache(_REMEMBERED)
def _suite(file: Path, source: bytes) -> Suite:
    return Suite(file, decoded_text(source, file))


def _undeclared(suite: Suite, catalog: Catalog) -> Iterator[ConfigurationError]:
    for name, place in suite.answers:
        try:
            require_declared(name, catalog, place)
        except ConfigurationError as error:
            yield error


def _unknown_names(
    check: Check, said: UnexpectedRows, answer: str, catalog: Catalog, names: Collection[str]
) -> Iterator[ConfigurationError]:
    """A name in the query of a check of an answer that there is not, if any."""
    others = answers_named(said, catalog.names) - {CURRENT, DELTA}
    if not others <= {*names}:
        # The columns of an answer whose file is wrong are not known.
        return
    layout = _layout(catalog.member(answer))
    of_changes = [name for name in layout.names if name != layout.count]
    relations: dict[str, Sequence[str]] = {
        CURRENT: layout.names,
        DELTA: [*of_changes, "epoch", "weight"],
        **{other: _layout(catalog.member(other)).names for other in others},
    }
    unknown = unknown_name(said, relations, {*catalog.names, f"{{{CURRENT}}}", f"{{{DELTA}}}"})
    if unknown is not None:
        reason, question = unknown
        known = f"{{current}} has {', '.join(layout.names)}; {{delta}} epoch and weight, too."
        what = f"unexpected_rows_query: {reason}"
        yield ConfigurationError(what, check.place_of_arguments, f"{question}{known}")


def _layout(definition: Definition) -> Layout:
    """The columns that the typed answer of a definition has, or may have."""
    variables = [name for name, _ in definition.columns]
    layout = Layout.of(dict.fromkeys(variables, UNDECIDED), is_set=definition.is_set)
    return layout.with_columns(variables, variables)


def require_declared(name: str, catalog: Catalog, place: str) -> None:
    """Check that something is declared under a name.

    Raises:
        ConfigurationError: nothing is; with the place that names it.
    """
    if name not in catalog.names:
        what = f"nothing is declared under the name {name}"
        raise ConfigurationError(what, place, meant(name, catalog.names).strip())


def _own(definition: Definition) -> tuple[Check, ...]:
    head = _head(definition.text, str(definition.file), definition.kind.comment)
    columns = [name for name, _ in definition.columns]
    return checks_of_head(head.values.checks, head, columns, definition.current.pins)


@lru_cache(_REMEMBERED)
def _head(text: str, file: str, comment: str) -> Head[_WithChecks]:
    return read_head(text, file, _WithChecks, comment)
