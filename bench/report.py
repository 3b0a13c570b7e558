"""The results as tables on the terminal and as a Markdown page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from bench.results import Scenario, Timing

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
        yield (
            _TARGETS,
            [(t.what, t.aim, t.reached, "met" if t.met else "missed") for t in scenario.targets],
        )
    if scenario.summary:
        head, *lines = scenario.summary
        yield head, lines
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


_HOW = """\
Made by `make bench`, see `bench/`. Seconds of the clock, medians. *cold*: a fresh process, from
the start of Python to its end, with the start of Spark where it is needed. *warm*: the same session
once more on a fresh copy of the lake at another path, so that neither Spark nor Delta has anything
of it in memory; the operating system may have the files. Indented lines are parts of the line
above; work in threads overlaps, so parts may add up to more than their whole.

The recomputation is one plain SQL statement per query over `triples` (asserted and not retracted
since), one scan per pattern: by Spark in Weir's own session to the `noop` sink, with compiled and
with interpreted stages (ratios take the quicker one), and by DuckDB with the memory, the threads
and the reader that Weir gives its own, fetched and dropped. pyoxigraph loads the head as N-Triples
into memory and serializes every answer to nowhere, in a process of its own."""


def markdown(scenarios: Sequence[Scenario]) -> str:
    """The page of results."""
    lines = ["# Benchmarks", "", _HOW, ""]
    if scenarios and (found := scenarios[0].machine):
        lines += ["Measured on " + ", ".join(f"{key}: {value}" for key, value in found.items()), ""]
    for scenario in scenarios:
        sizes = ", ".join(f"{name}: {size:,}" for name, size in scenario.sizes.items() if size)
        lines += [f"## {scenario.title}", "", f"`--only {scenario.name}`; {sizes}.", ""]
        for head, rows in _tables(scenario):
            lines += [_row(head), "|---|" + "--:|" * (len(head) - 1)]
            lines += [*map(_row, rows), ""]
        for note in scenario.notes:
            lines += [note, ""]
    return "\n".join(lines)


def _row(cells: Cells) -> str:
    # Markdown drops spaces at the beginning of a cell; non-breaking ones stay.
    kept = [cell.replace(" ", "\u00a0", len(cell) - len(cell.lstrip())) for cell in cells]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in kept) + " |"
