"""`weir init`, `doctor`, `drop`, `rename`, `retype`: create, check, remove, rename, type again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weir.cli.options import Options, Output, QueryName, named, query_argument
from weir.cli.output import print_json, print_line
from weir.cli.progress import progress
from weir.lake.counted import counted
from weir.lake.names import Name
from weir.lake.tables import ANSWERS, CURRENT
from weir.lake.whole_files import write_whole
from weir.project import open_lake

if TYPE_CHECKING:
    from weir.lake.lake import Lake
    from weir.project import Project
    from weir.settings import Settings

FILES = {
    "weir.toml": """\
# Paths are relative to this folder. Environment variables override settings: WEIR_LAKE,
# WEIR_SPARK__MASTER, ...
lake = "lake"
queries = "queries"
sources = "sources.yml"

[spark]
master = "local[2]"
driver_memory = "2g"

[limits]
# An answer of at most so many rows is also a table with types, lake/current/NAME, for DuckDB,
# pandas, Spark and others (docs/types.md). Up to this size it adds less than a tenth to a run; with
# 1000000, a run that changes large answers can take twice as long. 0: no such tables.
current_rows = 100000
""",
    "sources.yml": """\
# Every file in data/versions is a version of the graph, in the order of file names.
sources:
  - name: museum
    kind: snapshots
    location: data/versions
""",
    "traversals.yml": """\
# Documents that are found by following links over the Web, as graphs that queries can read:
# FROM <urn:weir:web:authorities>. `weir refresh` asks for them (docs/linked-data.md).
#
# traversals:
#   - name: authorities
#     seeds: ["https://www.wikidata.org/entity/Q1524"]   # or {query: NAME}: the IRIs in its answer
#     follow: none                                       # or match, all, [ex:knows], a path
#     contact: you@example.org                           # who answers for the requests
""",
    "queries/exhibits.rq": """\
#+ description: What is on show, and where.
PREFIX : <http://example.org/>
SELECT ?title ?room WHERE {
  ?exhibit :title ?title ; :room ?room .
}
""",
    "data/versions/001.ttl": """\
@prefix : <http://example.org/> .
:vase  :title "Greek vase"@en ; :room "1" .
:coin  :title "Roman coin"@en ; :room "2" .
:mask  :title "Bronze mask"@en .
""",
    "README.md": """\
# A Weir project

    weir run                  # ingests data/versions and updates the answers of queries/*.rq
    weir show exhibits        # the answer
    cp data/versions/001.ttl data/versions/002.ttl
    # now edit data/versions/002.ttl: move the vase to room 2, give the mask a room
    weir run
    weir log exhibits         # rows that vanished (-) or appeared (+), by epoch
    weir sql "SELECT room, count(*) FROM exhibits_current GROUP BY room"

A query is a file in `queries/`; add, edit or remove files as you like. `weir status` shows how
up to date every answer is. A version is read once: a change or a correction is a new file with a
later name. `lake/current/exhibits` is the answer as it is now, as a Delta table with types: DuckDB,
pandas, Spark and others read it without Weir.
""",
    ".gitignore": "/lake/\n/target/\n/weir.html\n",
}


NEW_QUERY = """\
#+ description: What a row says, in one sentence.
#+ owner: you@example.org
#+ tags: []
PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
SELECT ?thing ?type WHERE {
  ?thing rdf:type ?type .
}
"""
"""What `weir new` writes."""


def init(
    folder: Annotated[
        Path, typer.Argument(help="An empty folder, or one that does not exist yet.")
    ] = Path(),
) -> None:
    """Write a sample project: configuration, a small graph, a query."""
    from weir.errors import ConfigurationError

    present = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    if [name for name in present if name != ".git"]:
        raise ConfigurationError(
            f"the folder is not empty: it has {present[0]}",
            str(folder.absolute()),
            "Choose another folder.",
        )
    for name, text in FILES.items():
        write_whole(folder / name, text)
    where = "" if folder == Path() else f"cd {folder} && "
    print_line(f"Wrote {len(FILES)} files. Next: {where}weir run && weir show exhibits")


def new(
    context: typer.Context,
    name: Annotated[Name, typer.Argument(parser=named, help="Of the query.", show_default=False)],
) -> None:
    """Write a query file with front matter, to be edited."""
    from weir.definitions.kinds import QUERY
    from weir.definitions.names import Declaration, declarations, folders_of
    from weir.errors import ConfigurationError

    settings = Options.of(context).settings()
    folders = folders_of(settings)
    file = folders[QUERY] / f"{name}{QUERY.suffix}"
    Declaration(name, QUERY, file).check_name()
    others = declarations(folders) if folders[QUERY].is_dir() else ()
    rival = next((other.file for other in others if other.name == name), None)
    if rival is not None:
        raise ConfigurationError(f"{name} is declared already", str(rival), "Take another name.")
    write_whole(file, NEW_QUERY)
    print_line(f"Wrote {file}. Edit it; `weir check` and `weir try {file}` say what it gives.")


def doctor(context: typer.Context) -> None:
    """Check versions, Java, Spark's jars, the project and the lake; print how to fix problems."""
    from weir.cli.doctor import examine

    options = Options.of(context)
    findings = examine(options)
    if options.output is Output.json:
        print_json(
            [
                {"check": f.check, "ok": f.ok, "found": f.observed, "fix": "" if f.ok else f.fix}
                for f in findings
            ]
        )
    else:
        # Not a table: sentences beside each other are wider than any screen.
        for f in findings:
            print_line(f"{'ok' if f.ok else 'WRONG':<7}{f.check}: {f.observed}")
            if not f.ok and f.fix:
                print_line(f"       {f.fix}")
    raise typer.Exit(0 if all(finding.ok for finding in findings) else 1)


def drop(
    context: typer.Context,
    query: Annotated[Name | None, query_argument("Name of a query.")] = None,
    source: Annotated[
        Name | None,
        typer.Option(parser=named, metavar="NAME", help="Retract the quads of this source."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do it without asking.")] = False,
) -> None:
    """Delete the tables of a query, or retract what was ingested of a source.

    Removing the file of a query stops its maintenance and keeps its tables: its answers, their
    history, its embeddings, its stream; this deletes them. A source that is declared no longer
    leaves its quads in the graph; `--source NAME` retracts them as an epoch.
    """
    from weir.errors import ConfigurationError

    if (query is None) == (source is None):
        raise ConfigurationError(
            "it drops a query or a source", "", "`weir drop QUERY`, or `weir drop --source NAME`."
        )
    with Options.of(context).project() as project:
        if query is not None:
            _drop_query(project.settings, query, yes=yes)
        if source is not None:
            _drop_source(project, source, yes=yes)


def _drop_source(project: Project, source: Name, *, yes: bool) -> None:
    from weir.ingest.source_names import drop_source, quads_to_retract
    from weir.stage import new_run_id

    quads = quads_to_retract(project, source)
    if not yes:
        typer.confirm(f"Retract {counted(quads, 'quad')} of {source}?", abort=True)
    run_id = new_run_id("drop")
    with progress("drop") as report:
        done = drop_source(project, run_id, report, name=source)
    print_line(
        f"Retracted {counted(done.deleted, 'quad')} of {source} as epoch {done.epoch}."
        " `weir run` brings the answers up to date."
    )


def rename(
    context: typer.Context,
    name: Annotated[
        Name,
        query_argument("A query or program; with --source, the new name of the source.", "OLD"),
    ],
    new: Annotated[
        Name | None,
        typer.Argument(parser=named, help="Its new name.", show_default=False),
    ] = None,
    source: Annotated[
        Name | None,
        typer.Option(
            parser=named,
            metavar="OLD",
            help="Rename a source: the name under which it was ingested.",
        ),
    ] = None,
) -> None:
    """Rename a query with its file, tables and history; or go on with a source under a new name.

    A source has its new name in the file of sources already: its quads stay in the graph in which
    they are, and later ones come there.
    """
    from weir.errors import ConfigurationError
    from weir.ingest.source_names import rename_source
    from weir.maintain.query_names import rename_query
    from weir.stage import new_run_id

    if (new is None) == (source is None):
        raise ConfigurationError(
            "it renames a query or a source",
            "",
            "`weir rename OLD NEW`, or `weir rename --source OLD NEW`.",
        )
    run_id = new_run_id("rename")
    with Options.of(context).project() as project, progress("rename") as report:
        if source is not None:
            done = rename_source(project, run_id, report, old=source, new=name)
            print_line(f"{source} goes on as {name} from epoch {done.epoch}.")
            return
        assert new is not None, "one of the two"
        file = rename_query(project, run_id, old=name, new=new)
    print_line(f"{name} goes on as {new}, {file}. `weir check` names the files that say {name}.")


def retype(
    context: typer.Context,
    query: QueryName,
) -> None:
    """Decide the types of `current/QUERY` again, at the next run.

    Otherwise a type stays as it was first decided: a value that does not fit holds the answer.
    """
    from weir.lake.ledger.runs import RETYPED
    from weir.progress.completion import ABOUT_CURRENT, Completion
    from weir.stage import claimed, new_run_id

    settings = Options.of(context).settings()
    lake, table = open_lake(settings), CURRENT.name(query)
    _require_table(settings, lake, query)
    with claimed(lake, "publish", new_run_id("retype"), settings.limits.lease_seconds) as run:
        stored = Completion.read(lake).current(query)
        version = None if stored is None else stored.version
        run.note(ABOUT_CURRENT, query, mode=RETYPED, table_version=version)
    print_line(f"The next run decides the types of {table} again.")


def _require_table(settings: Settings, lake: Lake, query: Name) -> None:
    """Check that a query has a table whose types can be decided again.

    Raises:
        ConfigurationError: there is no such query, its file is wrong, it is to have no table, or
            its types are not decided yet.
    """
    from weir.definitions.catalog import registered
    from weir.definitions.current_table import no_tables
    from weir.errors import ConfigurationError
    from weir.progress.completion import Completion
    from weir.settings import CONFIG_FILE

    definition, no_table = registered(settings, query), f"there is no table {CURRENT.name(query)}"
    if not settings.limits.current_rows:
        what, hint = no_tables(query)
        raise ConfigurationError(what, str(settings.project / CONFIG_FILE), hint)
    if not definition.current.is_wanted:
        raise ConfigurationError(
            f"{no_table}, as {query} says so", str(definition.file), "Delete `materialize: none`."
        )
    if Completion.read(lake).layout(query) is None:
        hint = "The next run decides its types."
        raise ConfigurationError(f"{no_table} yet", settings.lake, hint)


def _drop_query(settings: Settings, query: Name, *, yes: bool) -> None:
    from weir.definitions.names import folders_of, is_declared
    from weir.errors import ConfigurationError
    from weir.maintain.query_names import delete_tables, tables_of
    from weir.stage import claimed, new_run_id
    from weir.text.near import meant

    lake, lease = open_lake(settings), settings.limits.lease_seconds
    tables = tables_of(lake, query)
    if not tables:
        known = meant(query, lake.owners(ANSWERS))
        raise ConfigurationError(
            f"{query} has no tables", settings.lake, f"{known}`weir status` lists the queries."
        )
    if is_declared(folders_of(settings), query):
        print_line(f"{query} is still registered: the next run will compute it again from scratch.")
    if not yes:
        typer.confirm(f"Delete {' and '.join(tables)}, with their history?", abort=True)
    run_id = new_run_id("drop")
    # A run in progress would create a table again, with the rows of its own range only.
    # Compaction would go on with tables that are gone.
    with (
        claimed(lake, "maintain", run_id, lease) as maintain,
        claimed(lake, "publish", run_id, lease) as publish,
        claimed(lake, "compact", run_id, lease),
    ):
        delete_tables(lake, maintain, publish, query, lambda table: print_line(f"Deleted {table}."))
