"""The tables of docs/reference.md and docs/testing.md, rendered from what they describe."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, get_args

import typer
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from tests.support.laws import LAWS
from weir.catalog.front_matter import FrontMatter
from weir.catalog.program_front_matter import ProgramFrontMatter
from weir.cli.app import app
from weir.ingest.sources.declared import AnySource
from weir.ingest.sources.stream import Stream
from weir.lake.tables import SHARED_TABLES, Table, answers, embeddings, replica, stream
from weir.remotes.declarations import Budget, Remote
from weir.settings import Settings

Row = Sequence[str]


def settings() -> str:
    """Every setting by its name in weir.toml, with its default and its meaning."""
    rows = []
    for name, field in Settings.model_fields.items():
        section = field.annotation
        if isinstance(section, type) and issubclass(section, BaseModel):
            rows += [
                (f"`{name}.{key}`", _default(one), one.description or "")
                for key, one in section.model_fields.items()
            ]
        elif name != "project":  # the folder of weir.toml itself
            rows.append((f"`{name}`", _default(field), field.description or ""))
    return _table(("setting", "default", "meaning"), rows)


def front_matter() -> str:
    """Every key of a query's front matter."""
    return _keys(FrontMatter)


def program_front_matter() -> str:
    """Every key of a program's front matter."""
    return _keys(ProgramFrontMatter)


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
    found: dict[str, tuple[list[str], FieldInfo]] = {}
    for kind, model in kinds.items():
        for name, field in model.model_fields.items():
            found.setdefault(name, ([], field))[0].append(kind)
    rows = []
    for name, (having, field) in found.items():
        some = "all" if len(having) == len(kinds) else ", ".join(having)
        what = " or ".join(f"`{kind}`" for kind in kinds) if name == "kind" else field.description
        rows.append((f"`{name}`", some, _default(field), what or ""))
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
    group: Any = typer.main.get_command(app)
    rows = []
    for name, command in _all_commands(group):
        options = [each for each in command.params if each.opts[0].startswith("-")]
        arguments = [_argument(each) for each in command.params if each not in options]
        rows.append((f"`{' '.join([name, *arguments])}`", command.help.partition("\n")[0]))
        rows += [(_option(each), _help(each)) for each in options]
    rows.append(("every command", ""))
    rows += [(_option(each), _help(each)) for each in group.params if "completion" not in each.name]
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


def tables() -> str:
    """Every table of the lake with its columns."""
    parts = []
    others = (
        stream("<stream>"),
        replica("<remote>"),
        embeddings("<query>", 1),
        answers("<query>", ("<variable>",)),
    )
    for table in (*SHARED_TABLES, *others):
        columns = [(f"`{each.name}`", each.type, each.comment) for each in table.columns]
        parts += [f"### `{table.name}`", "", *_wrapped(_comment(table)), ""]
        parts += [_table(("column", "type", "holds"), columns), ""]
    return "\n".join(parts).rstrip()


def laws() -> str:
    """Every law of random cases."""
    rows = [(name, f"{law.size:,}", law.cases) for name, law in LAWS.items()]
    return _table(("law", "seeds", "a seed is"), rows)


SECTIONS: Mapping[str, Callable[[], str]] = {
    "settings": settings,
    "sources": sources,
    "streams": streams,
    "remotes": remotes,
    "budgets": budgets,
    "front matter": front_matter,
    "front matter of programs": program_front_matter,
    "commands": commands,
    "tables": tables,
    "laws": laws,
}
PAGES: Mapping[str, str] = dict.fromkeys(SECTIONS, "docs/reference.md") | {
    "laws": "docs/testing.md"
}
"""The page of each section."""

_BEGIN, _END = "<!-- generated: {} -->", "<!-- end -->"
_INDENT = "\u00a0\u00a0"


def section_of(page: str, name: str) -> str:
    """The generated section `name` of a page, without its marks.

    Raises:
        ValueError: the page has no such section.
    """
    found = _section(name).search(page)
    if found is None:
        raise ValueError(f"{_BEGIN.format(name)} is missing")
    return found[1]


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
            pairs = ", ".join(f"{key}: {each}" for key, each in value if each is not None)
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
