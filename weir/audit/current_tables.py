"""The check that tables `current/<name>` equal the logs of their answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from weir.audit.checked import SHOWN, CheckOf
from weir.compute.engine import Engine
from weir.expectations.suite import QualityResult
from weir.lake.lake import Lake
from weir.lake.tables import CURRENT
from weir.progress.completion import Completion
from weir.publish.current_tables import published_state
from weir.typed.layout import Layout
from weir.typed.rows import typed_state

EQUAL = CheckOf("equals_the_log", "The table has the published answer, with its multiplicities.")


def table_results(
    engine: Engine, lake: Lake, completion: Completion, query: str, most: int
) -> Iterator[QualityResult]:
    """Check that a table equals the log that it follows; not if it has more than `most` rows."""
    published, layout = completion.published(query), completion.layout(query)
    stored, table = completion.current(query), CURRENT.name(query)
    if published is None or stored is None or layout is None:
        # Its types are about to be decided again.
        return
    state = published_state(engine, lake, query, layout.variables, most, published.snapshot)
    if state is None:
        return
    wanted, expected = typed_state(layout, state)
    content, newest = lake.existing(table), lake.last_metadata(table)
    if newest is None or newest[1] != stored.metadata:
        # It was published meanwhile.
        return
    names = list(wanted.names)
    if not {*names} <= {field.name for field in content.schema().fields}:
        yield EQUAL.result(table, ["it lacks columns of exact terms"])
        return
    rows, right = content.rows(names), expected.select(names)
    difference = _counts(right.to_pylist(), wanted)
    difference.subtract(_counts(rows.cast(right.schema).to_pylist(), wanted))
    wrong = [f"{number:+}: {row}" for row, number in difference.items() if number]
    yield EQUAL.result(table, wrong[:SHOWN], len(wrong))


def _counts(rows: list[dict[str, object]], layout: Layout) -> Counter[str]:
    """The multiplicity of each row; text, as NaN is not equal to itself."""
    counts: Counter[str] = Counter()
    for row in rows:
        number = 1 if layout.count is None else int(str(row.pop(layout.count)))
        counts[repr(row)] += number
    return counts
