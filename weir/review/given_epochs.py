"""Answers over many given graphs at once: each graph is an epoch of one lake.

To take data into a lake, and to compute a query, takes a third of a second however little there is.
The state of an answer at an epoch is its answer over the graph at that epoch, so that the graphs of
all tests are taken in together, as versions of a source, and each query is computed once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass

import pyarrow as pa

from weir.definitions.definition import Definition
from weir.errors import WeirError
from weir.lake.tables import REJECTED, TRANSACTIONS
from weir.lake.whole_files import write_whole
from weir.project import Project
from weir.review.computed import Computed, computed
from weir.review.given_data import Data, Given, folder_of_data, ingested, rows_of
from weir.stage import silent

MOST = 1_000_000
"""Characters of the graphs of one lake: what a query reads grows with all of them."""


@dataclass(frozen=True, slots=True)
class Together:
    """Answers over graphs of one lake.

    Attributes:
        epochs: of each graph, by its N-Quads.
        definitions: that are computed, by name.
        rows: their answers; None if there are none.
    """

    epochs: Mapping[str, int]
    definitions: Mapping[str, Definition]
    rows: Computed | None = None

    def answer(self, name: str, given: Given) -> pa.Table | None:
        """The answer of a definition: its columns, and `weight`; None if it is not among these."""
        epoch, definition = self.epochs.get(given.quads), self.definitions.get(name)
        if self.rows is None or epoch is None or definition is None or given.is_more:
            return None
        if name in self.rows.errors:
            # Computed alone, it has an error that is about its data alone.
            return None
        return rows_of(self.rows.lake, definition, epoch=epoch)


NOTHING = Together({}, {})


@contextmanager
def together(
    project: Project, definitions: Sequence[Definition], graphs: Collection[str]
) -> Iterator[Together]:
    """Compute definitions over graphs, of which some may be left out.

    Args:
        project: whose settings and parser are used.
        definitions: each after those that it reads.
        graphs: in N-Quads.
    """
    few = _few(graphs)
    with ExitStack() as stack:
        made = NOTHING
        if len(few) > 1:
            with suppress(WeirError):
                made = _computed(project, definitions, few, stack)
        yield made


def _computed(
    project: Project, definitions: Sequence[Definition], graphs: Sequence[str], stack: ExitStack
) -> Together:
    folder = stack.enter_context(folder_of_data())
    versions = folder / "given0"
    versions.mkdir()
    for number, graph in enumerate(graphs):
        write_whole(versions / _file(number), graph)
    source = {
        "name": "given0",
        "kind": "snapshots",
        "location": str(versions),
        # They have nothing to do with each other.
        "max_deleted_share": 1,
        "allow_empty": True,
    }
    data = Data((), (source,), Given(""))
    own = stack.enter_context(ingested(project, definitions, data, folder))
    epochs = _epochs(own, graphs)
    if epochs is None:
        return NOTHING
    rows = stack.enter_context(computed(own, definitions, silent, every_epoch=True))
    return Together(epochs, {one.name: one for one in definitions}, rows)


def _file(number: int) -> str:
    return f"{number:06}.nq"


def _few(graphs: Collection[str]) -> list[str]:
    """Different graphs, as many as one lake has."""
    few, size = [], 0
    for graph in dict.fromkeys(graphs):
        size += len(graph)
        if size > MOST:
            break
        few.append(graph)
    return few


def _epochs(project: Project, graphs: Sequence[str]) -> Mapping[str, int] | None:
    """The epoch of each graph; None if one was not taken as it is."""
    lake = project.lake
    if lake.exists(REJECTED.name) and lake.rows(REJECTED.name).num_rows:
        return None
    rows = lake.rows(TRANSACTIONS.name, ["epoch", "position"]).to_pylist()
    epochs = {row["position"]: int(row["epoch"]) for row in rows}
    files = [_file(number) for number in range(len(graphs))]
    if {*epochs} != {*files}:
        return None
    return {graph: epochs[file] for graph, file in zip(graphs, files, strict=True)}
