"""`weir check`: what is wrong with the files of a project, and what is probably not meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from weir.cli.listing import Exclude, Select
from weir.cli.options import Options, Output
from weir.cli.output import print_json, print_line
from weir.lake.counted import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weir.project import Project
    from weir.review.finding import Finding


def check(context: typer.Context, select: Select = None, exclude: Exclude = None) -> None:
    """Read every file of the project; print all mistakes, and hints about what may not be meant.

    A mistake ends with exit code 1, a hint does not. Hints about data are by the newest graph;
    without a lake, there are none. With a selection, only what is said of these queries and
    programs is printed.
    """
    options = Options.of(context)
    findings = _findings(options, select or (), exclude or ())
    if options.output is Output.json:
        print_json(
            [
                {
                    "level": finding.level,
                    "what": finding.what,
                    "file": finding.file,
                    "line": finding.line,
                    "column": finding.column,
                    "next": finding.hint or None,
                }
                for finding in findings
            ]
        )
    else:
        _print(findings)
    raise typer.Exit(1 if any(finding.level == "error" for finding in findings) else 0)


def _print(findings: Sequence[Finding]) -> None:
    for finding in findings:
        print_line(f"{finding.where}: {finding.level}: {finding.what}")
        if finding.hint:
            print_line(f"    {finding.hint}")
    errors = sum(finding.level == "error" for finding in findings)
    print_line(f"{counted(errors, 'mistake')}, {counted(len(findings) - errors, 'hint')}.")


def _findings(options: Options, select: Sequence[str], exclude: Sequence[str]) -> Sequence[Finding]:
    from weir.project import Project
    from weir.review.hints import hints
    from weir.review.project_files import mistakes, read_settings, usable

    settings, findings = read_settings(options.config_file())
    if settings is None:
        return findings
    findings += mistakes(settings)
    definitions = usable(settings)
    with Project(settings) as project:
        files = _selected(project, select, exclude) if select or exclude else None
        if files is not None:
            findings = [finding for finding in findings if finding.file in files]
            definitions = [one for one in definitions if str(one.file) in files]
        more = sorted(hints(project, definitions), key=lambda finding: finding.order)
    if files is not None:
        # Of sources, too.
        more = [finding for finding in more if finding.file in files]
    return [*findings, *dict.fromkeys(more)]


def _selected(project: Project, select: Sequence[str], exclude: Sequence[str]) -> set[str]:
    """The files of the selected definitions."""
    from weir.definitions.catalog import Catalog
    from weir.selection import declared_names_of

    catalog = Catalog.of(project.settings)
    names = {*declared_names_of(project, catalog, select, exclude)}
    return {str(declared.file) for declared in catalog.declarations if declared.name in names}
