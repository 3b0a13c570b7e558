"""The checks of each answer: of the files `expectations/*.yml`, and of its own front matter."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from pydantic import ConfigDict

from weir.checks.arguments import CURRENT, DELTA, UnexpectedRows
from weir.checks.declared import (
    Check,
    Entry,
    Suite,
    require_distinct_names,
)
from weir.checks.unexpected_query import answers_named, unknown_name
from weir.definitions.catalog import Catalog
from weir.definitions.current_table import checks_of_head
from weir.definitions.definition import Definition
from weir.definitions.front_matter import FrontMatter, read_head
from weir.errors import ConfigurationError, first_of
from weir.files.yaml_file import yaml_files
from weir.text.near import meant
from weir.typed.column_type import UNDECIDED
from weir.typed.layout import Layout


class _WithChecks(FrontMatter):
    model_config = ConfigDict(extra="ignore", frozen=True)

    checks: tuple[Entry, ...] = ()


def checks_by_answer(
    folder: Path, catalog: Catalog, names: Collection[str]
) -> Mapping[str, tuple[Check, ...]]:
    """The checks of some answers that have any, by name; those of the front matter come first.

    Args:
        folder: has the files; it need not exist.
        catalog: of the project.
        names: of usable definitions.

    Raises:
        ConfigurationError: the first mistake; the further ones are its `others`.
    """
    checks, mistakes = _read(folder, catalog, names)
    if mistakes:
        raise first_of(mistakes)
    return checks


def mistakes_of_checks(
    folder: Path, catalog: Catalog, names: Collection[str]
) -> Iterator[ConfigurationError]:
    """All mistakes of the checks of some answers; also names in queries that there are not.

    The arguments are those of `checks_by_answer`.
    """
    checks, mistakes = _read(folder, catalog, names)
    yield from mistakes
    for answer, own in checks.items():
        for check in own:
            if isinstance(check.arguments, UnexpectedRows):
                yield from _unknown_names(check, check.arguments, answer, catalog, names)


def _read(
    folder: Path, catalog: Catalog, names: Collection[str]
) -> tuple[Mapping[str, tuple[Check, ...]], list[ConfigurationError]]:
    """The checks that can be understood, by answer, and all that is wrong with others."""
    checks, mistakes = defaultdict[str, list[Check]](list), list[ConfigurationError]()
    for name in names:
        try:
            checks[name] += _own(catalog.member(name))
        except ConfigurationError as error:
            mistakes.append(error)
    for file in yaml_files(folder):
        try:
            suite = Suite(file)
        except FileNotFoundError:
            # It went while the folder was listed.
            continue
        except ConfigurationError as error:
            mistakes.append(error)
            continue
        mistakes += suite.mistakes
        mistakes += _undeclared(suite, catalog)
        answers = [name for name, _ in suite.answers if name in names]
        for name in answers:
            usable, wrong = suite.read([column for column, _ in catalog.member(name).columns])
            checks[name] += usable
            mistakes += wrong
        if not answers:
            mistakes += suite.read(None)[1]
    for own in checks.values():
        try:
            require_distinct_names(own)
        except ConfigurationError as error:
            mistakes.append(error)
    return {name: tuple(own) for name, own in checks.items() if own}, mistakes


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
    unknown = unknown_name(said, relations)
    if unknown is not None:
        known = f"{{current}} has {', '.join(layout.names)}; {{delta}} epoch and weight, too."
        what = f"unexpected_rows_query: {unknown}"
        yield ConfigurationError(what, check.place_of_arguments, known)


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
    # Mostly there are none, and the YAML need not be read again.
    if "checks" not in definition.text:
        return ()
    head = read_head(definition.text, str(definition.file), _WithChecks, definition.kind.comment)
    columns = [name for name, _ in definition.columns]
    return checks_of_head(head.values.checks, head, columns)
