"""`weir export`: published answers as files of rows, of triples, and of changes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weir.cli.answers import AsOf, At
from weir.cli.listing import Exclude, Select
from weir.cli.options import Options, Output, QueryName
from weir.cli.output import print_json, print_line
from weir.export.formats import Dialect, Format, TableFormat, format_of, table_format_of
from weir.files.destination import require_writable_file, require_writable_folder
from weir.lake.counted import counted

if TYPE_CHECKING:
    from weir.project import Project


def _file(path: Path | None) -> Path | None:
    """The file to write; None: standard output, for which `-` stands, too."""
    return None if path == Path("-") else path


To = Annotated[
    Path | None,
    typer.Option(
        "--to",
        callback=_file,
        help="The file to write, as a whole; default, or `-`: standard output.",
    ),
]
export = typer.Typer(help="Write published answers as files.", no_args_is_help=True)


@export.command("rdf")
def rdf(
    context: typer.Context,
    query: QueryName,
    file: To = None,
    format_: Annotated[
        Format | None,
        typer.Option(
            "--format",
            help="How triples are written; default: that of the file's ending (.ttl, .nt), or"
            " turtle. A CONSTRUCT makes no named graphs.",
        ),
    ] = None,
    at: Annotated[
        int | None, typer.Option(min=0, help="Answer at this epoch instead of the newest.")
    ] = None,
) -> None:
    """Write the published answer of a CONSTRUCT, or the report of shapes, as Turtle or N-Triples.

    Equal answers give equal bytes. Of a query over streams, it is the last answer that is final.
    """
    from weir.export.rdf import write_rdf
    from weir.lake.whole_files import whole_file

    options = Options.of(context)
    chosen = format_ or (Format.turtle if file is None else format_of(file))
    if file is not None:
        require_writable_file(file)
    with options.project() as project:
        if file is None:
            write_rdf(project, query, sys.stdout.buffer, chosen, at)
            return
        with whole_file(file) as output:
            written = write_rdf(project, query, output, chosen, at)
    if options.output is Output.json:
        print_json({"file": str(file), "epoch": written.epoch, "triples": written.triples})
        return
    triples = counted(written.triples, "triple")
    print_line(f"Wrote {triples} at epoch {written.epoch} to {file}.")


@export.command("data")
def data(
    context: typer.Context,
    query: QueryName,
    file: To = None,
    format_: Annotated[
        TableFormat | None,
        typer.Option(
            "--format",
            help="How rows are written; default: that of the file's ending (.csv, .jsonl, .parquet,"
            " .arrow), or csv.",
        ),
    ] = None,
    terms: Annotated[
        bool, typer.Option("--terms", help="With columns of languages and exact terms.")
    ] = False,
    at: At = None,
    epoch: AsOf = None,
) -> None:
    """Write the published answer of a query as CSV, JSON lines, Parquet or Arrow.

    Values of the newest answer have the types of the table `current/QUERY`, if there is one; others
    are text. Equal answers give equal files.
    """
    from weir.export.tables import write_table
    from weir.lake.whole_files import whole_file

    options = Options.of(context)
    chosen = format_ or (TableFormat.csv if file is None else table_format_of(file))
    if file is not None:
        require_writable_file(file)
    with options.project() as project:
        write = partial(
            write_table, project, query, format_=chosen, terms=terms, at=at, as_of=epoch
        )
        if file is None:
            write(output=sys.stdout.buffer)
            return
        with whole_file(file) as output:
            rows = write(output=output)
    if options.output is Output.json:
        print_json({"file": str(file), "rows": rows})
        return
    print_line(f"Wrote {counted(rows, 'row')} to {file}.")


@export.command("duckdb")
def duckdb(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="The file to write, as a whole.")],
    select: Select = None,
    exclude: Exclude = None,
) -> None:
    """Write published answers as tables of a DuckDB file, for JDBC and tools of analysts."""
    from weir.export.tables import write_duckdb

    options = Options.of(context)
    require_writable_file(file)
    with options.project() as project:
        rows = write_duckdb(project, _published(project, select, exclude), file)
    if options.output is Output.json:
        print_json({"file": str(file), "tables": rows})
        return
    print_line(f"Wrote {counted(len(rows), 'table')} to {file}.")


def _published(
    project: Project, select: Sequence[str] | None, exclude: Sequence[str] | None
) -> list[str]:
    """The names of the published answers, of all or of a selection."""
    from weir.definitions.catalog import Catalog
    from weir.lake.tables import ANSWERS
    from weir.selection import declared_names_of

    published = project.open_lake().owners(ANSWERS)
    if not (select or exclude):
        return published
    catalog = Catalog.of(project.settings)
    only = declared_names_of(project, catalog, select or (), exclude or ())
    return [name for name in published if name in only]


@export.command("views")
def views(
    context: typer.Context,
    dialect: Annotated[Dialect, typer.Option(help="Whose statements.")] = Dialect.duckdb,
    select: Select = None,
    exclude: Exclude = None,
) -> None:
    """Print the statements by which another engine reads the tables `current/*` in the lake."""
    from weir.export.tables import statements

    with Options.of(context).project() as project:
        for statement in statements(project, _published(project, select, exclude), dialect):
            print_line(statement)


@export.command("patch")
def patch(
    context: typer.Context,
    query: QueryName,
    folder: Annotated[
        Path, typer.Option("--to", help="The folder; files that it has are not written again.")
    ],
    first: Annotated[
        int | None,
        typer.Option(
            "--from",
            min=0,
            help="First epoch, where the folder is empty; default: the first of the answer.",
        ),
    ] = None,
    last: Annotated[
        int | None, typer.Option("--until", min=0, help="Last epoch; default: the newest.")
    ] = None,
) -> None:
    """Write the published changes of a CONSTRUCT as RDF Patch, a file per epoch.

    A later call adds the epochs since. Each file names the one before it.
    """
    from weir.export.patches import write_patches

    options = Options.of(context)
    require_writable_folder(folder)
    with options.project() as project:
        patches = [*write_patches(project, query, folder, first, last)]
    if options.output is Output.json:
        print_json(
            [
                {"file": str(p.file), "epoch": p.epoch, "added": p.added, "deleted": p.deleted}
                for p in patches
            ]
        )
        return
    if not patches:
        print_line(f"{folder} has all changes of {query}.")
        return
    epochs = f"epoch {patches[0].epoch}"
    if patches[-1].epoch > patches[0].epoch:
        epochs = f"epochs {patches[0].epoch} to {patches[-1].epoch}"
    print_line(f"Wrote {counted(len(patches), 'file')} of {epochs} to {folder}.")


@export.command("ldes")
def ldes(
    context: typer.Context,
    query: QueryName,
    folder: Annotated[
        Path, typer.Option("--to", help="The folder; full pages of it are not written again.")
    ],
    base: Annotated[
        str,
        typer.Option(
            help="The IRI at which the folder is served; default: IRIs relative to its files."
        ),
    ] = "",
) -> None:
    """Write the published changes of a query as a Linked Data Event Stream, in TREE pages.

    A later call adds the epochs since. Any web server can serve the folder; readers begin at index.
    """
    from weir.export.ldes import write_stream

    options = Options.of(context)
    require_writable_folder(folder)
    with options.project() as project:
        written = write_stream(project, query, folder, base)
    if options.output is Output.json:
        print_json(
            {
                "root": str(written.root),
                "epoch": written.epoch,
                "members": written.members,
                "pages": written.pages,
            }
        )
        return
    if not written.members:
        print_line(f"{folder} has all changes of {query}.")
        return
    members, pages = counted(written.members, "member"), counted(written.pages, "page")
    print_line(f"Wrote {members} on {pages}, up to epoch {written.epoch}; begin at {written.root}.")
