"""The options that all commands share."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weir.lake.names import InvalidNameError, Name

if TYPE_CHECKING:
    from weir.project import Project
    from weir.settings import Settings


class Output(StrEnum):
    """How results are printed."""

    table = "table"
    json = "json"
    markdown = "markdown"


@dataclass(frozen=True, slots=True)
class Options:
    """The global options of one call."""

    config: Path | None
    output: Output
    debug: bool

    @classmethod
    def of(cls, context: typer.Context) -> Options:
        """The options of the call that `context` belongs to."""
        options = context.find_object(cls)
        assert options is not None, "set by the callback of the application"
        return options

    def settings(self) -> Settings:
        """The configuration.

        Raises:
            ConfigurationError: the folder is not a project, or its configuration is invalid.
        """
        from weir.errors import ConfigurationError
        from weir.settings import CONFIG_FILE, Settings

        settings = Settings.load(self.config)
        if self.config is not None:
            return settings
        has_any = (settings.project / CONFIG_FILE, settings.sources, settings.queries)
        if not any(path.exists() for path in has_any):
            config = _first_of_ours(Path.cwd().parents)
            if config is not None:
                return Settings.load(config)
            raise ConfigurationError(
                f"this folder is not a project, nor in one: it has no {CONFIG_FILE}, no sources and"
                " no queries",
                str(settings.project),
                "Change to a project, name its configuration by --config, or run `weir init`.",
            )
        return settings

    def config_file(self) -> Path:
        """The configuration file, which may have mistakes.

        Raises:
            ConfigurationError: there is none, and the folder is not a project.
        """
        from weir.settings import CONFIG_FILE

        if self.config is not None and self.config.is_file():
            return self.config.absolute()
        here = Path.cwd()
        config = _first_of_ours((here, *here.parents)) if self.config is None else None
        # No file: it says so, unless the folder is a project without one.
        return config or self.settings().project / CONFIG_FILE

    def project(self) -> Project:
        """The project, which a command closes at its end.

        Raises:
            ConfigurationError: as `settings`.
        """
        from weir.project import Project

        return Project(self.settings())


def _first_of_ours(folders: Iterable[Path]) -> Path | None:
    """The first configuration file in some folders that is of this user."""
    from weir.settings import CONFIG_FILE

    return next((file for folder in folders if _is_ours(file := folder / CONFIG_FILE)), None)


def _is_ours(file: Path) -> bool:
    """Whether a file is there and of this user: the settings of others could run their programs."""
    return file.is_file() and file.stat().st_uid in (os.getuid(), 0)


def named(text: str) -> Name:
    """Parse a name on the command line.

    Raises:
        ConfigurationError: it cannot be a name.
    """
    from weir.errors import ConfigurationError

    try:
        return Name(text)
    except InvalidNameError as error:
        hint = "`weir status` lists the queries and sources, `weir remotes` the remotes."
        raise ConfigurationError(str(error), "", hint) from None


_BEFORE = re.compile(r"(?:.*[\s,])?\+?", re.DOTALL)
"""What stands before the last name of a selection: other criteria, and a sign."""


def declared_names(context: typer.Context, incomplete: str) -> list[str]:
    """The words that complete a word with the names of queries, programs and shapes.

    They are the names of files: nothing else is read but the settings, and no engine is imported. A
    shell asks while a line is typed: an error gives no words, and no message.
    """
    match = _BEFORE.match(incomplete)
    assert match is not None, "it may be empty"
    declared = _names(context, _of_definitions)
    return [word for name in declared if (word := match[0] + name).startswith(incomplete)]


def source_names(context: typer.Context, incomplete: str) -> list[str]:
    """The names of sources that complete a word, as sources.yml has them; none if it has errors."""
    return [name for name in _names(context, _of_sources) if name.startswith(incomplete)]


def _names(context: typer.Context, of: Callable[[Settings], Sequence[str]]) -> Sequence[str]:
    """Names in the project of a line that is typed; none if they cannot be read."""
    try:
        config = context.find_root().params.get("config")
        return of(Options(config, Output.table, False).settings())
    except Exception:  # noqa: BLE001  (a message would tear the line)
        return ()


def _of_definitions(settings: Settings) -> Sequence[str]:
    from weir.definitions import names

    return names.declared_names(names.folders_of(settings))


def _of_sources(settings: Settings) -> Sequence[str]:
    from weir.files.yaml_file import YamlFile

    file = settings.sources
    declared = YamlFile.of(file, file.read_text(encoding="utf-8")).content["sources"]
    return [str(source["name"]) for source in declared]


def all_names(context: typer.Context, incomplete: str) -> list[str]:
    """The names of sources and of definitions that complete a word, each once."""
    both = (*source_names(context, incomplete), *declared_names(context, incomplete))
    return [*dict.fromkeys(both)]


def query_argument(text: str, metavar: str | None = None) -> Any:
    """An argument of a command that is the name of a query, program or shapes graph."""
    return typer.Argument(
        parser=named,
        autocompletion=declared_names,
        metavar=metavar,
        help=text,
        show_default=False,
    )


QueryName = Annotated[Name, query_argument("Name of a query.")]
"""The query that a command is about."""


_WITH_VALUE = ("--config", "--output")


def global_options_first(arguments: Sequence[str]) -> list[str]:
    """`arguments` with the global options moved before the command."""
    first: list[str] = []
    rest: list[str] = []
    remaining = iter(arguments)
    for argument in remaining:
        if argument == "--":
            return [*first, *rest, argument, *remaining]
        if argument in _WITH_VALUE:
            first += [argument, *([value] if (value := next(remaining, None)) is not None else [])]
        elif argument == "--debug" or argument.startswith(tuple(f"{o}=" for o in _WITH_VALUE)):
            first.append(argument)
        else:
            rest.append(argument)
    return [*first, *rest]
