"""`weir test`: runs the tests of queries, without a lake and without Spark."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from weir.cli.listing import Exclude, Select
from weir.cli.options import Options, Output
from weir.cli.output import print_json, print_line, print_rows
from weir.cli.progress import progress

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weir.project import Project
    from weir.review.query_tests import Mismatch, QueryTest


@dataclass(frozen=True, slots=True)
class _Result:
    test: QueryTest
    mismatches: Sequence[Mismatch]
    error: str
    seconds: float

    @property
    def passed(self) -> bool:
        return not self.mismatches and not self.error


def test_(  # a command
    context: typer.Context,
    select: Select = None,  # noqa: PT028
    exclude: Exclude = None,  # noqa: PT028
) -> None:
    """Run the tests of queries, `tests/*.yml`.

    A test has triples, perhaps a change of them, and the expected rows. The lake of the project is
    not read. One that fails ends with exit code 1.
    """
    options = Options.of(context)
    with options.project() as project, progress("test") as report:
        results = []
        for result in _results(project, select or (), exclude or ()):
            report(f"{result.test.query}: {result.test.name}")
            results.append(result)
    if options.output is Output.json:
        print_json([_json(result) for result in results])
    else:
        _print(options, results)
    raise typer.Exit(0 if all(result.passed for result in results) else 1)


def _results(project: Project, select: Sequence[str], exclude: Sequence[str]) -> Iterator[_Result]:
    from weir.definitions.catalog import Catalog
    from weir.errors import ConfigurationError, WeirError
    from weir.review.query_tests import computed_together, mismatches, query_tests
    from weir.selection import declared_names_of

    settings = project.settings
    catalog = Catalog.of(settings)
    tests = query_tests(settings, catalog)
    if select or exclude:
        names = {*declared_names_of(project, catalog, select, exclude)}
        tests = [test for test in tests if test.query in names]
    started = time.monotonic()
    with computed_together(project, catalog, tests) as made:
        for test in tests:
            differing: list[Mismatch] = []
            error = ""
            try:
                differing = mismatches(project, catalog, test, made)
            except ConfigurationError:
                raise
            except WeirError as failure:
                error = str(failure)
            yield _Result(test, differing, error, time.monotonic() - started)
            started = time.monotonic()


def _print(options: Options, results: Sequence[_Result]) -> None:
    from weir.review.query_tests import summary

    for result in results:
        test, said = result.test, "passed" if result.passed else "FAILED"
        print_line(f"{test.query}: {test.name}: {said}, {result.seconds:.1f} s")
        if result.error:
            print_line(f"    {result.error}")
        for mismatch in result.mismatches:
            title = " ".join(filter(None, (test.place, mismatch.when)))
            rows = [*_rows(mismatch, "missing"), *_rows(mismatch, "unexpected")]
            print_rows(options.output, ("row", *mismatch.columns), rows, title=title)
    if not results:
        print_line("There are no tests: write them into the folder `tests`.")
        return
    print_line(summary([result.passed for result in results]))


def _rows(mismatch: Mismatch, kind: str) -> list[dict[str, Any]]:
    rows = mismatch.missing if kind == "missing" else mismatch.unexpected
    return [{"row": kind, **dict(zip(mismatch.columns, row, strict=True))} for row in rows]


def _json(result: _Result) -> dict[str, Any]:
    def rows(mismatch: Mismatch, kind: str) -> list[dict[str, Any]]:
        return [{k: v for k, v in row.items() if k != "row"} for row in _rows(mismatch, kind)]

    return {
        "query": result.test.query,
        "name": result.test.name,
        "success": result.passed,
        "seconds": round(result.seconds, 3),
        "error": result.error or None,
        "mismatches": [
            {
                "when": mismatch.when or None,
                "missing": rows(mismatch, "missing"),
                "unexpected": rows(mismatch, "unexpected"),
            }
            for mismatch in result.mismatches
        ],
    }
