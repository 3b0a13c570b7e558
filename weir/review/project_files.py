"""Every mistake in the files of a project, each with its place."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from pydantic import ValidationError

from weir.definitions.catalog import Catalog
from weir.definitions.checks import mistakes_of_checks
from weir.definitions.definition import Definition
from weir.definitions.kinds import QUERY, SHAPES
from weir.definitions.names import Declaration, declarations, folders_of
from weir.door import mistakes_of_doors
from weir.errors import ConfigurationError
from weir.files.text import decoded_text, text_if_any
from weir.files.toml_places import place_in_toml
from weir.ingest.sources.all_sources import all_sources, check_names
from weir.ingest.sources.declared import load_sources
from weir.ingest.undeclared import unusable
from weir.remotes.declarations import load_remotes
from weir.review.finding import Finding
from weir.review.query_tests import query_tests
from weir.selection import queries_of
from weir.settings import Settings, wrong_setting
from weir.traversals.declarations import load_traversals


def read_settings(file: Path) -> tuple[Settings | None, list[Finding]]:
    """The settings of a configuration file, without those that are wrong, and what is wrong.

    None if the environment has wrong ones: then it is not known where the other files are.
    """
    try:
        return Settings.load(file if file.exists() else None), []
    except ConfigurationError as error:
        wrong = error.__cause__
        if not isinstance(wrong, ValidationError):
            # What the file says is not known: the others are looked for where they mostly are.
            return _settings_of(file, {}), [Finding.of(error)]
    text = text_if_any(file)
    findings, keys = [], set()
    for detail in wrong.errors():
        path = [str(part) for part in detail["loc"]]
        place = None if _is_of_environment(path) else place_in_toml(text, path)
        where = f"{file}:{place[0]}:{place[1]}" if place else "WEIR_* variables"
        keys.add(path[0])
        mistake = ConfigurationError(wrong_setting(detail), where, "Correct it and try again.")
        findings.append(Finding.of(mistake))
    content = {key: value for key, value in tomllib.loads(text).items() if key not in keys}
    return _settings_of(file, content), findings


def _is_of_environment(path: Sequence[str]) -> bool:
    """Whether a variable has a setting: it wins over the file, which may have the section."""
    variable = f"WEIR_{'__'.join(path)}".upper()
    return variable in map(str.upper, os.environ)


def _settings_of(file: Path, content: dict[str, object]) -> Settings | None:
    try:
        return Settings.of_content(file, content)
    except ValidationError:
        return None


def mistakes(settings: Settings) -> list[Finding]:
    """What is wrong with the files that settings name: sources, remotes, traversals, definitions.

    Of a definition, the parser stops at its first mistake; front matter and text are both read.
    """
    findings = [Finding.of(error) for error in _errors(settings)]
    # A file that several others depend on is read, and refused, several times.
    return sorted(dict.fromkeys(findings), key=lambda finding: finding.order)


def usable(settings: Settings) -> list[Definition]:
    """The definitions whose files have no mistake; none if there is no folder of queries."""
    try:
        catalog = Catalog.of(settings)
    except ConfigurationError:
        return []
    wrong = unusable(catalog, settings)
    return [member for member in catalog.members if member.name not in wrong]


def _errors(settings: Settings) -> Iterator[ConfigurationError]:
    yield from _of_reading(lambda: load_sources(settings.sources))
    yield from _of_reading(lambda: load_remotes(settings.remotes))
    yield from _of_reading(lambda: load_traversals(settings.traversals))
    yield from _of_reading(lambda: check_names(settings))
    try:
        catalog = Catalog.of(settings)
    except ConfigurationError as error:
        yield error
        return
    for mistake in unusable(catalog, settings).values():
        yield from (mistake, *mistake.others)
    usable_names = [member.name for member in catalog.members]
    for mistake in mistakes_of_checks(settings.expectations, catalog, usable_names):
        yield from (mistake, *mistake.others)
    yield from _of_reading(lambda: _check_doors(settings, catalog))
    yield from _of_reading(lambda: query_tests(settings, catalog))
    for channel in settings.notify:
        yield from _of_reading(partial(queries_of, channel, settings, catalog))
    for declared in declarations(folders_of(settings)):
        # A mistake of the front matter hides those of the text.
        if declared.kind == QUERY and declared.name in catalog.errors and declared.is_usable:
            yield from _of_reading(partial(_read_body, declared))


def _check_doors(settings: Settings, catalog: Catalog) -> None:
    sources = [source.name for source in all_sources(settings)]
    for mistake in mistakes_of_doors(catalog.of_kind(SHAPES), sources):
        raise mistake


def _read_body(declared: Declaration) -> None:
    from weir.sparql.frontend.translate import translate

    translate(decoded_text(declared.read(), declared.file), file=str(declared.file))


def _of_reading(read: Callable[[], object]) -> Iterator[ConfigurationError]:
    try:
        read()
    except ConfigurationError as error:
        yield from (error, *error.others)
