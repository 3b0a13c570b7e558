"""The checks of each answer: of the files `expectations/*.yml`, and of its own front matter."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from pathlib import Path

from pydantic import ConfigDict

from weir.checks.declared import (
    Check,
    Entry,
    Suite,
    distinct_names,
    read_suite,
)
from weir.definitions.catalog import Catalog
from weir.definitions.current_table import checks_of_head
from weir.definitions.definition import Definition
from weir.definitions.front_matter import FrontMatter, read_head
from weir.errors import ConfigurationError
from weir.files.yaml_file import yaml_files
from weir.text.near import meant


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
        ConfigurationError: the first mistake of the first file that has one.
    """
    checks = defaultdict[str, list[Check]](list)
    for definition in map(catalog.member, names):
        checks[definition.name] += _own(definition)
    for file in yaml_files(folder):
        for name, read in read_checks(file, catalog).items():
            if name in names:
                columns = [column for column, _ in catalog.member(name).columns]
                checks[name] += read.read(columns)
    return {name: distinct_names(own) for name, own in checks.items() if own}


def read_checks(file: Path, catalog: Catalog) -> dict[str, Suite]:
    """The checks of a file, by the name of the answer.

    Raises:
        ConfigurationError: a key or value is wrong, or there is no such answer.
    """
    try:
        suite = read_suite(file)
    except FileNotFoundError:
        # It went while the folder was listed.
        return {}
    for name, place in suite.answers:
        require_declared(name, catalog, place)
    return {name: suite for name, _ in suite.answers}


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
