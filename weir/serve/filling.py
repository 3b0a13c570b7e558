"""What makes a copy of the graph: lines of quads of the lake, and the child that stores them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http import HTTPStatus
from pathlib import Path

from sqlglot import exp

from weir.compute.connection import connect
from weir.compute.sql import (
    alias,
    bigint,
    column,
    columns,
    concatenated,
    number,
    rows_of,
    select,
    subquery,
    sum_of,
    text,
)
from weir.engine.graph import is_unreserved
from weir.lake.delta.bindings import Bindings
from weir.lake.delta.scan import attach
from weir.lake.lake import Lake
from weir.lake.tables import QUADS
from weir.rdf.terms import POSITIONS
from weir.sandbox.child import Child, ChildDied
from weir.sandbox.limits import ChildLimits
from weir.serve.problems import DamagedStore, Problem
from weir.settings import Settings

LINES = 250_000
"""Lines that the child is given at once; with more it takes more memory, with fewer more time."""
_MODULE = "weir.serve.store_worker"
_MEMORY = 4 << 30
"""Address space of the child that writes a copy, beyond what it starts with."""


def changed_lines(
    settings: Settings, lake: Lake, log: str, before: int, epoch: int, wanted: int
) -> Iterator[bytes]:
    """The net changes of a log from one epoch to another, as lines of N-Quads.

    Args:
        settings: of the project.
        lake: has the log.
        log: of named graphs, or of their union.
        before: the first of the epochs; 0 is the empty graph.
        epoch: the other one, which may be earlier.
        wanted: 1 for the quads that appear, -1 for those that vanish.
    """
    first, last = min(before, epoch), max(before, epoch)
    names = POSITIONS if log == QUADS.name else POSITIONS[1:]
    where: list[exp.Expr] = [column("epoch") > number(first), column("epoch") <= number(last)]
    if log == QUADS.name:
        # Quads without a graph are in the union only.
        where += [is_unreserved(), column("graph").neq(text(""))]
    net = select(
        *columns(names),
        alias(bigint(sum_of(column("weight"))), "weight"),
        from_=rows_of("log"),
        where=where,
        group_by=columns(names),
    )
    terms = [column(name) for name in (*POSITIONS[1:], *names[: len(names) - 3])]
    between = [part for term in terms for part in (term, text(" "))]
    weight = wanted if epoch > before else -wanted
    lines = select(
        alias(concatenated(*between, text(".")), "line"),
        from_=subquery(net, "net"),
        where=[column("weight").eq(number(weight))],
    )
    with closing(connect(settings)) as connection, lake.using(log):
        attach(Bindings(connection), "log", lake.existing(log), first)
        for batch in connection.sql(lines.sql(dialect="duckdb")).to_arrow_reader(LINES):
            yield "\n".join(map(str, batch["line"].to_pylist())).encode()


@contextmanager
def writer(folder: Path) -> Iterator[Callable[[bytes, bytes], None]]:
    """Gives lines to a child that changes the stores of a folder.

    Raises:
        DamagedStore: it found that they are not what was written.
        Problem: it died.
    """
    limits = ChildLimits(_MEMORY, "more", error_bytes=1 << 40, offline=True)
    with Child(_MODULE, limits) as child:

        def write(kind: bytes, content: bytes) -> None:
            child.send(kind + content)
            child.receive(bytes)

        try:
            write(b"o", str(folder).encode())
            yield write
            write(b"c", b"")
        except ChildDied as died:
            if "corruption" in died.death.errors.lower():
                raise DamagedStore(died.death.errors) from died
            what = f"the process that copies the graph {died.death.how}"
            raise Problem(HTTPStatus.INTERNAL_SERVER_ERROR, what) from died
