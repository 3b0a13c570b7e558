"""The results as tables on the terminal and as Markdown pages."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from bench.comparison import FULL, OXIGRAPH, all_queries
from bench.recompute import COMPILED, DUCKDB, INTERPRETED
from bench.results import Scenario, Timing, seconds_text

Cells = tuple[str, ...]
_TIMES = ("", "cold, s", "warm, s", "least .. most, s")
_BYTES = ("table", "data, KiB", "log, KiB", "files")
_ROWS = ("answer", "Weir", "Spark", "pyoxigraph", "DuckDB")
_TARGETS = ("target", "aim", "reached", "")


def time_lines(timings: Sequence[Timing]) -> Iterator[Cells]:
    """A line per thing timed, cold and warm beside each other; parts below their whole."""
    whole = [t for t in timings if not t.part_of]
    names = {t.what for t in whole}
    parts = dict.fromkeys(t.part_of for t in timings if t.part_of)
    for what in dict.fromkeys(t.what for t in whole):
        yield _line(what, [t for t in whole if t.what == what])
        if what in parts:
            yield from _parts(what, timings)
    for part in parts:
        if part not in names:
            yield (f"{part}:", "", "", "")
            yield from _parts(part, timings)


def _parts(part_of: str, timings: Sequence[Timing]) -> Iterator[Cells]:
    some = [t for t in timings if t.part_of == part_of]
    for what in dict.fromkeys(t.what for t in some):
        yield _line(f"    {what}", [t for t in some if t.what == what])


def _line(what: str, timings: Sequence[Timing]) -> Cells:
    cold = next((t for t in timings if t.temperature in ("cold", "")), None)
    warm = next((t for t in timings if t.temperature == "warm"), None)
    shown = [f"{t.median:.2f}" if t else "" for t in (cold, warm)]
    spread = cold or warm
    assert spread is not None, "a line has a timing"
    return (what, *shown, f"{min(spread.seconds):.2f} .. {max(spread.seconds):.2f}")


def _tables(scenario: Scenario) -> Iterator[tuple[Cells, list[Cells]]]:
    """The tables of a scenario: heads and lines."""
    if scenario.targets:
        yield _TARGETS, list(_targets(scenario))
    if scenario.summary:
        head, *lines = scenario.summary
        yield head, lines
    if scenario.timings:
        yield _TIMES, list(time_lines(scenario.timings))
    if scenario.written:
        yield (
            _BYTES,
            [
                (w.table, f"{w.data / 1024:,.0f}", f"{w.log / 1024:,.0f}", str(w.files))
                for w in scenario.written
            ],
        )
    if scenario.rows:
        yield (
            _ROWS,
            [
                (r.query, *("" if n is None else f"{n:,}" for n in counts))
                for r in scenario.rows
                for counts in [(r.weir, r.spark, r.oxigraph, r.duckdb)]
            ],
        )


def show(console: Console, scenario: Scenario) -> None:
    """Print one scenario."""
    parts: list[RenderableType] = [Text(f"\n{scenario.title}", style="bold")]
    for head, lines in _tables(scenario):
        table = Table()
        for number, name in enumerate(head):
            table.add_column(name, justify="right" if number else "left", no_wrap=True)
        for line in lines:
            table.add_row(*(Text(cell) for cell in line))
        parts.append(table)
    parts += [Text(note) for note in scenario.notes]
    console.print(Group(*parts))


_PAGE = """\
# Benchmarks

Weir computes what changed in the answers; the alternative is to recompute them. Seconds of the
clock in a fresh process, medians. The figures in detail, with warm runs, single queries and bytes,
are in [bench/RESULTS.md](../bench/RESULTS.md).
"""
_CONDITIONS = """\
- **Deltas** is the stage *maintain*: the exact change of every answer at every epoch, committed.
  **Whole run** is `weir run` from the start of Python to the end of the process: ingest, maintain,
  validate, publish, and the start of Spark where it is needed.
- **DuckDB** and **Spark** recompute every answer at the newest epoch by one plain SQL statement per
  query over `triples`, and drop the rows: nothing is written, and what changed is not known. DuckDB
  has the memory, threads and reader of Weir's own; Spark runs in Weir's session, with the quicker
  of compiled and interpreted stages.
- **pyoxigraph** loads the graph at the newest epoch into memory, evaluates every query and drops
  the rows.
- All sides must find the same rows; if not, the benchmark fails. No time is ever a failure.
- The machine is shared and had other work at times. What a row compares was measured in one run, so
  ratios count more than seconds.
- nomisma is a real history of coin data (ten queries, patches of a git history). The other graph is
  generated, the same every time, and written into the tables directly.
"""
_RUN = """\
`make bench` measures all of it in some hours; `make bench ARGS='--only NAME'` one row.
`make bench ARGS='--write-docs --only'` writes this page from stored results.
"""
_DETAILS = """\
# Results of the benchmarks in detail

Generated by `make bench ARGS=--write-docs`; conditions are in
[docs/benchmarks.md](../docs/benchmarks.md). *cold*: a fresh process, from the start of Python to
its end. *warm*: the same session once more on a fresh copy of the lake at another path, so that
neither Spark nor Delta has anything of it in memory; the operating system may have the files.
Indented lines are parts of the line above; work in threads overlaps, so parts may add up to more
than their whole.
"""
_COMPARED = (
    "scenario",
    "`--only`",
    "rows of answers",
    "deltas, s",
    "whole run, s",
    "DuckDB, s",
    "Spark, s",
    "pyoxigraph, s",
)


def page(scenarios: Sequence[Scenario]) -> str:
    """The page docs/benchmarks.md: every scenario as one row, and the aims."""
    lines = [
        _PAGE,
        *_markdown(
            _COMPARED,
            [_compared(scenario) for scenario in scenarios if scenario.seconds("in all", "cold")],
        ),
    ]
    lines += ["", *_measured(scenarios), "## Conditions", "", _CONDITIONS, _RUN]
    if targets := [line for scenario in scenarios for line in _targets(scenario)]:
        lines += ["## Aims", "", *_markdown(_TARGETS, targets), ""]
    for scenario in scenarios:
        if scenario.summary:
            head, *rows = scenario.summary
            lines += [
                f"## {scenario.title}",
                "",
                _command(scenario),
                "",
            ]
            lines += [*_markdown(head, rows), ""]
            lines += [line for note in scenario.notes for line in (*_wrapped(note), "")]
    return "\n".join(lines)


def details(scenarios: Sequence[Scenario]) -> str:
    """The page bench/RESULTS.md: everything that was measured."""
    lines = [_DETAILS]
    lines += _measured(scenarios)
    for scenario in scenarios:
        lines += [f"## {scenario.title}", "", _command(scenario), ""]
        for head, rows in _tables(scenario):
            lines += [*_markdown(head, rows), ""]
        for note in scenario.notes:
            lines += [*_wrapped(note), ""]
    return "\n".join(lines)


def _compared(scenario: Scenario) -> Cells:
    """A scenario as a row: Weir's stage and run, and recomputing by each engine, all cold."""
    spark = [
        seconds
        for method in (COMPILED, INTERPRETED)
        if (seconds := scenario.seconds(all_queries(method), "cold", FULL)) is not None
    ]
    load = scenario.seconds("load", "", OXIGRAPH)
    evaluation = scenario.seconds("evaluation, all queries", "", OXIGRAPH)
    times = (
        scenario.seconds("maintain", "cold"),
        scenario.seconds("in all", "cold"),
        scenario.seconds(all_queries(DUCKDB), "cold", FULL),
        min(spark, default=None),
        None if load is None or evaluation is None else load + evaluation,
    )
    shown = map(seconds_text, times)
    rows = f"{sum(row.weir for row in scenario.rows):,}" if scenario.rows else ""
    return (scenario.title, f"`{scenario.name}`", rows, *shown)


def _targets(scenario: Scenario) -> Iterator[Cells]:
    for target in scenario.targets:
        yield (target.what, target.aim, target.reached, "met" if target.met else "missed")


def _sizes(scenario: Scenario) -> str:
    return ", ".join(f"{name}: {size:,}" for name, size in scenario.sizes.items() if size)


def _command(scenario: Scenario) -> str:
    return "\n".join(_wrapped(f"`--only {scenario.name}`, {scenario.date}; {_sizes(scenario)}."))


def _measured(scenarios: Sequence[Scenario]) -> list[str]:
    """The machines on which scenarios were measured, most often there is one."""
    machines: dict[str, list[str]] = {}
    for scenario in scenarios:
        about = ", ".join(f"{key}: {value}" for key, value in scenario.machine.items())
        machines.setdefault(about, []).append(scenario.name)
    lines = []
    for about, names in machines.items():
        which = "" if len(machines) == 1 else f" {', '.join(names)}:"
        lines += [*_wrapped(f"Measured on{which} {about}."), ""]
    return lines


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, 100, break_long_words=False, break_on_hyphens=False)


def _markdown(head: Cells, rows: Sequence[Cells]) -> list[str]:
    return [_row(head), "|---|" + "--:|" * (len(head) - 1), *map(_row, rows)]


def _row(cells: Cells) -> str:
    # Markdown drops spaces at the beginning of a cell; non-breaking ones stay.
    shown = [cell.replace(" ", "\u00a0", len(cell) - len(cell.lstrip())) for cell in cells]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in shown) + " |"
