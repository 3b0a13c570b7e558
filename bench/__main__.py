"""`make bench`: run the scenarios, print their tables, store the results in bench/results/.

    make bench                              all, in full size: hours
    make bench ARGS='--only empty'          one of initial, empty, nomisma20, spark, bulk,
                                            operators, scale, fleet, runs, resident, streams,
                                            streams_spark, rules, refreshes, traversal, formats,
                                            choices, classes, store, site, endpoint,
                                            shapes, current, train, lubm, load,
                                            review
    make bench ARGS='--only scale --quads 2500000 --repeats 1'
    make bench ARGS='--write-docs --only'   docs/benchmarks.md and bench/RESULTS.md from them

No time is ever a failure. Answers that are not the same rows on all sides are.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from textwrap import fill

from rich.console import Console

from bench.beside_spark import BesideSpark
from bench.choices import Choices
from bench.classes import FULL_QUADS as CLASSES_QUADS
from bench.classes import Classes
from bench.current_tables import FULL_ROWS, CurrentTables
from bench.endpoint import Endpoint
from bench.fleet import FULL_QUERIES, Fleet
from bench.formats import FULL_MEGABYTES, formats
from bench.late_rows import FULL_WINDOW
from bench.loads import Loads
from bench.lubm import FULL_UNIVERSITIES, Lubm
from bench.nomisma import CHANGE_SETS, FULL_REPEATS, Nomisma
from bench.operators import Operators
from bench.places import RESULTS, ROOT
from bench.processes import RunFailed
from bench.refreshes import FULL_EVALUATIONS, Refreshes
from bench.report import details, page, show
from bench.resident import FULL_PATCHES, Resident
from bench.results import Scenario
from bench.review import Review
from bench.rules import rules
from bench.runs import FULL_RUNS, Runs
from bench.scale import FULL_QUADS, Scale
from bench.shapes import FULL_THINGS, Shapes
from bench.site import FULL_SIZES, SitePages
from bench.store import FULL_QUERIES as STORE_QUERIES
from bench.store import Store
from bench.streams import FULL_SINGLE_RUNS, LONGER, Streams
from bench.train import FULL_TRIPLES, Train
from bench.traversal import FULL_PEOPLE, Traversals

NAMES = (
    "initial",
    "empty",
    "nomisma20",
    "spark",
    "bulk",
    "operators",
    "scale",
    "fleet",
    "runs",
    "resident",
    "streams",
    "streams_spark",
    "rules",
    "refreshes",
    "traversal",
    "formats",
    "choices",
    "classes",
    "store",
    "site",
    "endpoint",
    "shapes",
    "current",
    "train",
    "lubm",
    "load",
    "review",
)
PAGE = ROOT / "docs" / "benchmarks.md"
DETAILS = ROOT / "bench" / "RESULTS.md"
_WIDTH = 100


def arg_parser() -> argparse.ArgumentParser:
    """The options."""
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", nargs="*", choices=NAMES, help="scenarios to run (default: all)")
    parser.add_argument("--repeats", type=int, default=FULL_REPEATS, help="fresh processes each")
    parser.add_argument(
        "--quads", type=int, default=FULL_QUADS, help="of the largest generated graph"
    )
    parser.add_argument("--runs", type=int, default=FULL_RUNS, help="of the scenario runs")
    parser.add_argument(
        "--patches", type=int, default=FULL_PATCHES, help="of the scenario resident"
    )
    parser.add_argument(
        "--megabytes", type=int, default=FULL_MEGABYTES, help="of the files of the scenario formats"
    )
    parser.add_argument("--queries", type=int, default=FULL_QUERIES, help="of the scenario fleet")
    parser.add_argument(
        "--window", type=int, default=FULL_WINDOW, help="events in the window of late rows"
    )
    parser.add_argument(
        "--evaluations",
        type=int,
        default=FULL_EVALUATIONS,
        help="evaluations of a remote, one a minute",
    )
    parser.add_argument(
        "--people", type=int, default=FULL_PEOPLE, help="whose pods the scenario traversal has"
    )
    parser.add_argument(
        "--things", type=int, default=FULL_THINGS, help="that the campus of the scenario shapes has"
    )
    parser.add_argument(
        "--rows", type=int, default=FULL_ROWS, help="of the largest answer of the scenario current"
    )
    parser.add_argument(
        "--triples", type=int, default=FULL_TRIPLES, help="of the largest railway of train"
    )
    parser.add_argument(
        "--universities", type=int, default=FULL_UNIVERSITIES, help="of the largest graph of lubm"
    )
    parser.add_argument(
        "--change-sets",
        type=int,
        default=CHANGE_SETS,
        help="change sets of nomisma20 and of operators",
    )
    parser.add_argument(
        "--write-docs",
        action="store_true",
        help=f"write {PAGE.name} and {DETAILS.name} from the stored results in full size",
    )
    return parser


def pages(stored: Sequence[Scenario]) -> dict[Path, str]:
    """The pages of the scenarios in full size, which name those that are missing.

    None are written without any such scenario.
    """
    full = [scenario for scenario in stored if scenario.full]
    if not full:
        return {}
    missing = [name for name in NAMES if name not in {scenario.name for scenario in full}]
    names = fill(f"Not measured in full size: {', '.join(missing)}.", _WIDTH)
    note = f"\n{names}\n" if missing else ""
    return {PAGE: page(full) + note, DETAILS: details(full) + note}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the chosen scenarios; exit code 1 if a run failed or answers differ, 2 for bad usage."""
    options = arg_parser().parse_args(argv)
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 130)
    started = time.monotonic()

    def progress(line: str) -> None:
        console.print(f"bench: {time.monotonic() - started:6.0f} s: {line}", style="dim")

    nomisma = Nomisma(options.repeats, options.change_sets, progress)
    operators = Operators(options.repeats, options.change_sets, progress)
    fleet = Fleet(options.queries, options.repeats, progress)
    smaller = [size for size in FULL_SIZES if size < options.queries]
    is_full = options.queries == FULL_QUERIES
    sizes = FULL_SIZES if is_full else (*smaller, options.queries)
    site = SitePages(sizes, options.repeats, progress)
    runs = Runs(options.runs, nomisma, progress)
    streams = Streams(options.repeats, LONGER, FULL_SINGLE_RUNS, options.window, progress)
    # The first run over the base comes first: the lake it leaves is what the others start from.
    scenarios: dict[str, Callable[[], Scenario]] = {
        "initial": nomisma.initial,
        "empty": nomisma.empty,
        "nomisma20": nomisma.some,
        "spark": nomisma.spark,
        "bulk": nomisma.bulk,
        "operators": operators.run,
        "scale": Scale(options.quads, options.repeats, progress).run,
        "fleet": fleet.run,
        "site": site.run,
        "runs": runs.run,
        "resident": Resident(options.patches, nomisma, progress).run,
        "streams": streams.run,
        "streams_spark": BesideSpark(options.repeats, progress).run,
        "rules": lambda: rules(progress),
        "refreshes": Refreshes(options.evaluations, progress).run,
        "traversal": Traversals(options.people, progress).run,
        "formats": lambda: formats(options.megabytes, options.repeats, progress),
        "choices": Choices(options.repeats, progress).run,
        "classes": Classes(options.change_sets, CLASSES_QUADS, progress).run,
        "store": Store(STORE_QUERIES, progress).run,
        "endpoint": Endpoint(options.quads, progress).run,
        "shapes": Shapes(options.things, progress).run,
        "current": CurrentTables(options.rows, progress).run,
        "train": Train(options.triples, progress).run,
        "lubm": Lubm(options.universities, progress).run,
        "load": Loads(options.quads, progress).run,
        "review": Review(options.repeats, progress).run,
    }
    wanted = NAMES if options.only is None else options.only
    failed = False
    for name, run in scenarios.items():
        if name not in wanted:
            continue
        try:
            scenario = run()
        except (RunFailed, FileNotFoundError) as error:
            console.print(f"bench: {name}: {error}", style="red", markup=False)
            failed = True
            continue
        progress(f"stored: {scenario.save(RESULTS).relative_to(ROOT)}")
        show(console, scenario)
        for rows in scenario.rows:
            if not rows.agree:
                console.print(f"bench: {name}: the answers of {rows.query} differ", style="red")
                failed = True
    files = (RESULTS / f"{name}.json" for name in NAMES)
    stored = [Scenario.load(file) for file in files if file.is_file()]
    if options.write_docs:
        written = pages(stored)
        for file, text in written.items():
            file.write_text(text, encoding="utf-8")
            progress(f"written: {file.relative_to(ROOT)}")
        if not written:
            console.print(
                f"bench: {PAGE.name} is not written: there are no results in full size; run without"
                " --quads, --repeats and --change-sets.",
                style="red",
            )
            return 2
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
