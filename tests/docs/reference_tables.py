"""The tables of docs/reference*.md and docs/testing.md, rendered from what they describe.

docs/reference.md is the short level: the settings, commands and tables that people look up most.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from tests.support.laws import LAWS
from weir.cli.app import command_line
from weir.definitions.program_keys import ProgramFrontMatter
from weir.definitions.query_keys import QueryFrontMatter
from weir.definitions.shapes import ShapesFrontMatter
from weir.ingest.sources.declared import AnySource
from weir.ingest.sources.stream import Stream
from weir.lake.tables import (
    SHARED_TABLES,
    Column,
    Table,
    answers,
    current,
    derived_graph,
    embeddings,
    output_stream,
    replica,
    stream,
)
from weir.remotes.declarations import Budget, Remote
from weir.settings import Channel, Settings
from weir.traversals.declarations import Traversal, TraversalBudget, TraversalLimits

Row = Sequence[str]

COMMON_SETTINGS = (
    "lake",
    "queries",
    "programs",
    "sources",
    "remotes",
    "storage_options",
    "spark.master",
    "spark.driver_memory",
    "duckdb.memory",
    "limits.driver_rows",
    "limits.query_seconds",
    "limits.keep_epochs",
)
"""The settings that people change: those that the README, the operations and messages name."""

COMMON_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "ingest": ("--accept",),
    "run": ("--every", "--refresh", "--accept"),
    "status": ("--fail-on",),
    "show": ("--at", "--held", "--limit"),
    "log": ("--from", "--to"),
    "audit": ("--full",),
    "drop": ("--source",),
    "every command": ("--config", "--output"),
}
"""The options that people use most, by command."""

COMMON_TABLES = ("answers/<query>", "runs", "rejected")
"""The tables that people query most."""


def settings() -> str:
    """Every setting by its name in weir.toml, with its default and its meaning."""
    return _settings(dict(_fields_of_settings()))


def common_settings() -> str:
    """The settings that people change."""
    fields = dict(_fields_of_settings())
    return _settings({name: fields[name] for name in COMMON_SETTINGS})


def _settings(fields: Mapping[str, FieldInfo]) -> str:
    rows = [
        (f"`{name}`", _default(field), field.description or "") for name, field in fields.items()
    ]
    return _table(("setting", "default", "meaning"), rows)


def _fields_of_settings() -> Iterator[tuple[str, FieldInfo]]:
    for name, field in Settings.model_fields.items():
        section = field.annotation
        if isinstance(section, type) and issubclass(section, BaseModel):
            for key, setting in section.model_fields.items():
                yield f"{name}.{key}", setting
        elif name != "project":  # the folder of weir.toml itself
            yield name, field
        if name == "notify":
            for key, setting in Channel.model_fields.items():
                yield f"notify.<name>.{key}", setting


def front_matter() -> str:
    """Every key of a query's front matter."""
    return _keys(QueryFrontMatter)


def program_front_matter() -> str:
    """Every key of a program's front matter."""
    return _keys(ProgramFrontMatter)


def shapes_front_matter() -> str:
    """Every key of the front matter of a shapes graph."""
    return _keys(ShapesFrontMatter)


def _keys(model: type[BaseModel]) -> str:
    rows = [
        (f"`{name}`", _default(field), field.description or "")
        for name, field in model.model_fields.items()
    ]
    return _table(("key", "default", "meaning"), rows)


def sources() -> str:
    """Every key of a source, with the kinds that have it."""
    kinds = {
        get_args(model.model_fields["kind"].annotation)[0]: model for model in get_args(AnySource)
    }
    keys: dict[str, tuple[list[str], FieldInfo]] = {}
    for kind, model in kinds.items():
        for name, field in model.model_fields.items():
            keys.setdefault(name, ([], field))[0].append(kind)
    rows = []
    for name, (kinds_with_key, field) in keys.items():
        of_kinds = "all" if len(kinds_with_key) == len(kinds) else ", ".join(kinds_with_key)
        what = " or ".join(f"`{kind}`" for kind in kinds) if name == "kind" else field.description
        rows.append((f"`{name}`", of_kinds, _default(field), what or ""))
    return _table(("key", "kinds", "default", "meaning"), rows)


def streams() -> str:
    """Every key below `stream` of a source."""
    rows = []
    for name, field in Stream.model_fields.items():
        # The only integers are durations, in microseconds.
        is_duration = isinstance(field.default, int)
        default = f"`PT{field.default // 1_000_000}S`" if is_duration else _default(field)
        rows.append((f"`{name}`", default, field.description or ""))
    return _table(("key", "default", "meaning"), rows)


def commands() -> str:
    """Every command with its arguments and options, then the options that all have."""
    return _commands(None)


def common_commands() -> str:
    """Every command with the options that people use most."""
    return _commands(COMMON_OPTIONS)


def _commands(shown: Mapping[str, tuple[str, ...]] | None) -> str:
    """The table of commands with the options `shown` of each, or with all."""
    group: Any = command_line()
    rows: list[Row] = []
    for name, command in (*_all_commands(group), ("every command", None)):
        if shown is not None and command is not None and " " in name:
            # Those of a group, which is one row.
            continue
        if command is None:
            rows.append((name, ""))
            options = [option for option in group.params if "completion" not in option.name]
        else:
            options = [option for option in command.params if option.opts[0].startswith("-")]
            arguments = [_argument(param) for param in command.params if param not in options]
            rows.append((f"`{' '.join([name, *arguments])}`", command.help.partition("\n")[0]))
        rows += [
            (_option(option), _help(option))
            for option in options
            if shown is None or option.opts[0] in shown.get(name, ())
        ]
    return _table(("`weir ...`", "does"), rows)


def _all_commands(group: Any, parent: str = "") -> Iterator[tuple[str, Any]]:
    """The commands of a group, and those below them, by what is written after `weir`."""
    for name, command in group.commands.items():
        yield f"{parent}{name}", command
        yield from (
            _all_commands(command, f"{parent}{name} ") if hasattr(command, "commands") else ()
        )


def remotes() -> str:
    """Every key of a remote."""
    return _keys(Remote)


def budgets() -> str:
    """Every key below `budget` of a remote."""
    return _keys(Budget)


def traversals() -> str:
    """Every key of a traversal."""
    return _keys(Traversal)


def traversal_limits() -> str:
    """Every key below `limits` of a traversal."""
    return _keys(TraversalLimits)


def traversal_budgets() -> str:
    """Every key below `budget` of a traversal."""
    return _keys(TraversalBudget)


def tables() -> str:
    """Every table of the lake with its columns."""
    return _columns(_all_tables())


def common_tables() -> str:
    """The tables that people query most, with their columns."""
    by_name = {table.name: table for table in _all_tables()}
    return _columns(by_name[name] for name in COMMON_TABLES)


def list_of_tables() -> str:
    """Every table of the lake with what it holds."""
    return _table(
        ("table", "holds"), [(f"`{table.name}`", _comment(table)) for table in _all_tables()]
    )


def _columns(tables: Iterable[Table]) -> str:
    parts = []
    for table in tables:
        columns = [
            (f"`{column.name}`", str(column.type), column.comment) for column in table.columns
        ]
        parts += [f"### `{table.name}`", "", *_wrapped(_comment(table)), ""]
        parts += [_table(("column", "type", "holds"), columns), ""]
    return "\n".join(parts).rstrip()


_CURRENT = (
    Column("<variable>", "STRING", "value; its type is that of the values"),
    Column("count", "BIGINT", "how often the answer has the row; not if it is a set"),
    Column("<variable>_lang", "STRING", "language of a text; from the first one that has any"),
    Column("<variable>_term", "STRING", "RDF term; from the first one that its value does not say"),
)
"""The columns of `current/<query>`; the table itself says which of them it has."""


def _all_tables() -> tuple[Table, ...]:
    return (
        *SHARED_TABLES,
        stream("<stream>"),
        replica("<remote>"),
        embeddings("<query>", 1),
        output_stream("<query>", ("<variable>",)),
        derived_graph("<query>"),
        answers("<query>", ("<variable>",)),
        current("<query>", _CURRENT, ""),
    )


def laws() -> str:
    """Every law of random cases."""
    rows = [(name, f"{law.size:,}", law.cases) for name, law in LAWS.items()]
    return _table(("law", "seeds", "a seed is"), rows)


_SHORT, _LONG = "docs/reference.md", "docs/reference-{}.md"

SECTIONS: Mapping[str, tuple[str, Callable[[], str]]] = {
    "common settings": (_SHORT, common_settings),
    "common commands": (_SHORT, common_commands),
    "list of tables": (_SHORT, list_of_tables),
    "common tables": (_SHORT, common_tables),
    "settings": (_LONG.format("settings"), settings),
    "sources": (_LONG.format("declarations"), sources),
    "streams": (_LONG.format("declarations"), streams),
    "remotes": (_LONG.format("declarations"), remotes),
    "budgets": (_LONG.format("declarations"), budgets),
    "traversals": (_LONG.format("declarations"), traversals),
    "traversal limits": (_LONG.format("declarations"), traversal_limits),
    "traversal budgets": (_LONG.format("declarations"), traversal_budgets),
    "front matter": (_LONG.format("declarations"), front_matter),
    "front matter of programs": (_LONG.format("declarations"), program_front_matter),
    "front matter of shapes": (_LONG.format("declarations"), shapes_front_matter),
    "commands": (_LONG.format("commands"), commands),
    "tables": (_LONG.format("tables"), tables),
    "laws": ("docs/testing.md", laws),
}
"""The generated sections: the page of each, and what renders it."""

_BEGIN, _END = "<!-- generated: {} -->", "<!-- end -->"
_INDENT = "\u00a0\u00a0"


def section_of(page: str, name: str) -> str:
    """The generated section `name` of a page, without its marks.

    Raises:
        ValueError: the page has no such section.
    """
    section = _section(name).search(page)
    if section is None:
        raise ValueError(f"{_BEGIN.format(name)} is missing")
    return section[1]


def with_section(page: str, name: str, text: str) -> str:
    """The page with another text in the generated section `name`."""
    marked = f"{_BEGIN.format(name)}\n{text}\n{_END}"
    return _section(name).sub(lambda _: marked, page)


def _section(name: str) -> re.Pattern[str]:
    begin, end = re.escape(_BEGIN.format(name)), re.escape(_END)
    return re.compile(rf"{begin}\n(.*?)\n{end}", re.DOTALL)


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    match value:
        case None | {} | () | "":
            return "none"
        case bool():
            return f"`{value}`".lower()
        case int():
            return f"`{value:_}`"
        case datetime():
            return f"`{value:%Y-%m-%dT%H:%M:%SZ}`"
        case BaseModel():
            pairs = ", ".join(f"{key}: {amount}" for key, amount in value if amount is not None)
            return f"`{{{pairs}}}`"
        case _:
            return f"`{value}`"


def _argument(parameter: Any) -> str:
    name = parameter.name.upper()
    return name if parameter.required else f"[{name}]"


def _option(parameter: Any) -> str:
    is_flag = isinstance(parameter.default, bool)
    value = "" if is_flag else f" {parameter.name.partition('_')[0].upper()}"
    return f"{_INDENT}`{parameter.opts[0]}{value}`"


def _help(parameter: Any) -> str:
    text = str(parameter.help)
    if parameter.default is None or isinstance(parameter.default, bool):
        return text
    return f"{text} Default: `{parameter.default}`."


def _comment(table: Table) -> str:
    return table.comment.replace("<query>", "the query").replace("<stream>", "the stream")


def _wrapped(text: str) -> Iterator[str]:
    line = ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > 100:
            yield line
            line = word
        else:
            line = f"{line} {word}" if line else word
    yield line


def _table(head: Row, rows: Iterable[Row]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(text: str) -> str:
    """Text that Markdown shows as it is: outside of code, angle brackets would be HTML."""
    parts = text.replace("|", "\\|").split("`")
    parts[::2] = [part.replace("<", "&lt;").replace("*", "\\*") for part in parts[::2]]
    return "`".join(parts)
